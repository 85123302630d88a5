package expr

import (
	"math"
	"math/bits"
	"unsafe"

	"github.com/pandodb/pando/types"
)

// AggStates holds the states of one aggregate for many groups in slabs: one slice per part of the state, indexed by group. Only the slices that
// the aggregate needs are allocated. It is for one goroutine at a time.
type AggStates struct {
	spec   *AggSpec
	groups int
	bytes  int64 // memory that the slabs point to: texts, values, sets

	count []int64       // values that were not NULL; for MIN and MAX, how often best was replaced
	hi    []int64       // high half of 128-bit sums
	lo    []uint64      // low half
	wide  []types.Value // sums of decimals that do not fit hi and lo, added to those at the end; allocated for the first such decimal
	f     []float64     // sums, means
	f2    []float64     // sums of squared differences from the mean
	bits  []uint64
	best  []types.Value // MIN, MAX, ANY_VALUE, BIT_AND of binary strings and so on; B is a copy that this owns
	texts []concat
	sets  []map[string]struct{} // of DISTINCT: the keys of the arguments so far
	seen  [][]types.Value       // of DISTINCT: arguments and sort keys one after the other, for Merge
	key   []byte                // scratch
}

func (a *AggStates) grow(n int) {
	if n <= a.groups {
		return
	}
	k := a.spec.kind
	a.count = extend(a.count, n)
	switch k {
	case aggSum, aggAvg:
		if a.spec.exact() {
			a.hi, a.lo = extend(a.hi, n), extend(a.lo, n)
			if len(a.wide) > 0 {
				a.wide = extend(a.wide, n)
			}
		} else {
			a.f = extend(a.f, n)
		}
	case aggMin, aggMax, aggAny:
		a.best = extend(a.best, n)
	case aggBitAnd, aggBitOr, aggBitXor:
		if a.spec.bytewise {
			a.best = extend(a.best, n)
			break
		}
		a.bits = extend(a.bits, n)
		if k == aggBitAnd {
			for i := a.groups; i < n; i++ {
				a.bits[i] = math.MaxUint64
			}
		}
	case aggVariance:
		a.f, a.f2 = extend(a.f, n), extend(a.f2, n)
	case aggGroupConcat, aggJSONArray, aggJSONObject:
		a.texts = extend(a.texts, n)
	}
	if a.spec.distinct {
		a.sets = extend(a.sets, n)
		a.seen = extend(a.seen, n)
	}
	a.groups = n
}

// extend returns s with length n; new elements are zero.
func extend[T any](s []T, n int) []T {
	if n <= cap(s) {
		old := len(s)
		s = s[:n]
		clear(s[old:])
		return s
	}
	grown := make([]T, n, max(n, 2*cap(s)))
	copy(grown, s)
	return grown
}

func (a *AggStates) fixedBytes() int64 {
	const value = int64(unsafe.Sizeof(types.Value{}))
	return 8*int64(cap(a.count)+cap(a.hi)+cap(a.lo)+cap(a.f)+cap(a.f2)+cap(a.bits)+cap(a.sets)) +
		value*int64(cap(a.wide)+cap(a.best)) + int64(unsafe.Sizeof(concat{}))*int64(cap(a.texts)) + 24*int64(cap(a.seen))
}

func (a *AggStates) reset() {
	spec := a.spec
	*a = AggStates{spec: spec, count: a.count[:0], hi: a.hi[:0], lo: a.lo[:0], wide: a.wide[:0], f: a.f[:0], f2: a.f2[:0],
		bits: a.bits[:0], best: a.best[:0], key: a.key[:0]}
}

// addRow evaluates the arguments over row and adds them to group g.
func (a *AggStates) addRow(ctx *Ctx, g uint32, row []types.Value) error {
	s := a.spec
	if len(s.args) == 0 {
		a.count[g]++
		return nil
	}
	var few [4]types.Value
	args := few[:0]
	for _, e := range s.args {
		// Not Eval, which would round an AVG or a long literal before it is added.
		v, err := e.eval(ctx, e, row)
		if err != nil {
			return err
		}
		if v.K == types.KindNull && s.kind != aggJSONArray && s.kind != aggJSONObject {
			return nil
		}
		args = append(args, v)
	}
	if s.distinct {
		if fresh, err := a.distinctAdd(ctx, g, args); !fresh {
			return err
		}
	}
	keys, err := a.sortKeys(ctx, row)
	if err != nil {
		return err
	}
	if s.distinct {
		a.seen[g] = append(a.seen[g], keys...)
	}
	return a.add(ctx, g, args, keys)
}

// sortKeys evaluates GROUP_CONCAT's ORDER BY and returns copies of the values.
func (a *AggStates) sortKeys(ctx *Ctx, row []types.Value) (keys []types.Value, err error) {
	for _, o := range a.spec.order {
		v, err := o.Expr.Eval(ctx, row)
		if err != nil {
			return nil, err
		}
		keys = append(keys, v.Clone())
		a.bytes += int64(v.MemSize())
	}
	return keys, nil
}

// distinctCopies is how many times the length of an argument of DISTINCT is allocated to add it: its key takes twice the length, the copy of the
// key in the set as much, and the copy in seen once.
const distinctCopies = 5

// distinctAdd adds copies of args to the set of group g and to seen, to which the caller appends the sort keys. fresh is false if the set had
// them already.
func (a *AggStates) distinctAdd(ctx *Ctx, g uint32, args []types.Value) (fresh bool, err error) {
	a.key = a.key[:0]
	long := 0
	for i := range args {
		long += len(args[i].B)
	}
	if long >= meterUnit && !ctx.charge(distinctCopies*long) {
		return false, ctx.failed
	}
	for i, v := range args {
		if a.key, err = types.AppendKeyPolled(a.key, a.fitKey(v, i), &a.spec.args[i].typ, false, 0, ctx.Poll); err != nil {
			return false, err
		}
	}
	set := a.sets[g]
	if set == nil {
		set = map[string]struct{}{}
		a.sets[g] = set
	}
	if _, ok := set[string(a.key)]; ok {
		return false, nil
	}
	set[string(a.key)] = struct{}{}
	a.bytes += int64(len(a.key)) + 48
	for _, v := range args {
		c := v.Clone()
		a.bytes += int64(c.MemSize())
		a.seen[g] = append(a.seen[g], c)
	}
	return true, nil
}

// fitKey rounds a decimal to the scale of argument i's type, which keys have.
func (a *AggStates) fitKey(v types.Value, i int) types.Value {
	t := &a.spec.args[i].typ
	if v.K == types.KindDecimal && t.ID == types.TypeDecimal && v.Scale != uint8(t.Scale) {
		return types.DecRound(v, int(t.Scale))
	}
	return v
}

// add adds arguments that are not NULL to group g; keys come from sortKeys.
func (a *AggStates) add(ctx *Ctx, g uint32, args, keys []types.Value) error {
	v := &args[0]
	switch a.spec.kind {
	case aggCount:
		a.count[g]++
	case aggSum, aggAvg:
		a.count[g]++
		return a.sum(ctx, g, v)
	case aggMin, aggMax, aggAny:
		a.extreme(ctx, g, v)
	case aggBitAnd, aggBitOr, aggBitXor:
		a.count[g]++
		if a.spec.bytewise {
			return a.bitBytes(g, v.B)
		}
		a.bit(g, ctx.bitOperand(v))
	case aggVariance:
		a.variance(g, ctx.float(v))
	case aggGroupConcat:
		a.concatAdd(ctx, g, args, keys)
	case aggJSONArray, aggJSONObject:
		return a.jsonAdd(ctx, g, args)
	}
	return nil
}

func (a *AggStates) bit(g uint32, n uint64) {
	switch a.spec.kind {
	case aggBitAnd:
		a.bits[g] &= n
	case aggBitOr:
		a.bits[g] |= n
	default:
		a.bits[g] ^= n
	}
}

// sum adds one value. Integers, and decimals of the argument's scale whose digits fit an int64, are added in 128 bits, which
// would take 2^63 rows to overflow.
func (a *AggStates) sum(ctx *Ctx, g uint32, v *types.Value) error {
	if !a.spec.exact() {
		a.f[g] += ctx.float(v)
		if math.IsInf(a.f[g], 0) {
			return types.Errorf(types.ErDataOutOfRange, "DOUBLE", a.spec.String())
		}
		return nil
	}
	switch v.K {
	case types.KindInt:
		a.add128(g, v.N>>63, uint64(v.N))
		return nil
	case types.KindUint, types.KindBit:
		a.add128(g, 0, uint64(v.N))
		return nil
	}
	d := ctx.decimal(v)
	if d.B == nil && int(d.Scale) == a.sumScale() {
		a.add128(g, d.N>>63, uint64(d.N))
		return nil
	}
	return a.addWide(g, d)
}

// addWide adds a decimal that cannot be added in 128 bits. The slab is allocated only when needed: it is three times as large as the others of a
// sum together, and few sums need it.
func (a *AggStates) addWide(g uint32, d types.Value) error {
	if len(a.wide) == 0 {
		a.wide = extend(a.wide, a.groups)
	}
	w := &a.wide[g]
	if w.IsNull() {
		*w = d.Clone()
		return nil
	}
	sum, err := types.DecAdd(*w, d)
	if err != nil {
		return types.Errorf(types.ErDataOutOfRange, "DECIMAL", a.spec.String())
	}
	*w = sum
	return nil
}

// wideOf returns the sum of g's decimals that were added by addWide, NULL if there were none.
func (a *AggStates) wideOf(g uint32) types.Value {
	if len(a.wide) == 0 {
		return types.Null()
	}
	return a.wide[g]
}

// sumScale returns the scale of the 128-bit sums.
func (a *AggStates) sumScale() int {
	if t := &a.spec.args[0].typ; t.ID == types.TypeDecimal {
		return int(t.Scale)
	}
	return 0
}

func (a *AggStates) add128(g uint32, hi int64, lo uint64) {
	s, carry := bits.Add64(a.lo[g], lo, 0)
	a.lo[g] = s
	a.hi[g] += hi + int64(carry)
}

// total returns the exact sum of g.
func (a *AggStates) total(g uint32) (types.Value, error) {
	d := types.DecimalFromInt128(a.hi[g], a.lo[g], uint8(a.sumScale()))
	wide := a.wideOf(g)
	if wide.IsNull() {
		return d, nil
	}
	return types.DecAdd(d, wide)
}

// variance adds x to the mean and the sum of squared differences by Welford's algorithm, as MySQL does.
func (a *AggStates) variance(g uint32, x float64) {
	a.count[g]++
	if a.count[g] == 1 {
		a.f[g], a.f2[g] = x, 0
		return
	}
	mean := a.f[g]
	a.f[g] = mean + (x-mean)/float64(a.count[g])
	a.f2[g] += (x - mean) * (x - a.f[g])
}

// extreme copies v into best if it is smaller or larger than the value there, depending on the aggregate.
func (a *AggStates) extreme(ctx *Ctx, g uint32, v *types.Value) {
	best := &a.best[g]
	if !best.IsNull() {
		if a.spec.kind == aggAny {
			return
		}
		order := a.order(ctx, v, best)
		if a.spec.kind == aggMin && order >= 0 || a.spec.kind == aggMax && order <= 0 {
			return
		}
	}
	a.bytes += int64(len(v.B)) - int64(len(best.B))
	keep := best.B
	*best = *v
	if v.B != nil {
		best.B = append(keep[:0], v.B...)
	}
	a.count[g]++
}

// order compares two values of the argument's type. ENUM and SET are compared as texts here, unlike in ORDER BY.
func (a *AggStates) order(ctx *Ctx, v, w *types.Value) int {
	t := &a.spec.args[0].typ
	if v.K == types.KindEnum || v.K == types.KindSet {
		return types.CompareStrings(v.B, w.B, t.Coll)
	}
	return ctx.compare(v, w, t.Coll)
}

// result computes the aggregate of g.
func (a *AggStates) result(ctx *Ctx, g uint32) (types.Value, error) {
	s := a.spec
	n := a.count[g]
	switch s.kind {
	case aggCount:
		return types.Int(n), nil
	case aggBitAnd, aggBitOr, aggBitXor:
		if s.bytewise {
			return a.bitBytesResult(g), nil
		}
		return types.Uint(a.bits[g]), nil
	case aggMin, aggMax, aggAny:
		return a.fit(a.best[g]), nil
	case aggGroupConcat:
		return a.concatResult(ctx, g)
	case aggJSONArray, aggJSONObject:
		return a.jsonResult(ctx, g)
	}
	if n == 0 {
		return types.Null(), nil
	}
	switch s.kind {
	case aggVariance:
		return a.varianceResult(g), nil
	case aggSum:
		if !s.exact() {
			return types.Float(a.f[g]), nil
		}
		d, err := a.total(g)
		if err != nil {
			return d, types.Errorf(types.ErDataOutOfRange, "DECIMAL", s.String())
		}
		return types.DecRound(d, int(s.typ.Scale)), nil
	}
	if !s.exact() {
		return types.Float(a.f[g] / float64(n)), nil
	}
	d, err := a.total(g)
	if err != nil {
		return d, types.Errorf(types.ErDataOutOfRange, "DECIMAL", s.String())
	}
	// As in MySQL, the quotient is cut off at a whole word of digits, and then rounded to the scale.
	scale := wholeWords(int(s.typ.Scale))
	q, _, err := types.DecDiv(d, types.Decimal(n, 0), scale-int(d.Scale), int(s.typ.Scale))
	if err != nil {
		return q, types.Errorf(types.ErDataOutOfRange, "DECIMAL", s.String())
	}
	return types.DecRound(q, int(s.typ.Scale)), nil
}

// fit rounds a decimal that was found among loose arguments to the scale of the result.
func (a *AggStates) fit(v types.Value) types.Value {
	if v.K == types.KindDecimal && IsLoose(a.spec.args[0]) {
		return types.DecRound(v, int(a.spec.typ.Scale))
	}
	return v
}

func (a *AggStates) varianceResult(g uint32) types.Value {
	shape := aggKinds[a.spec.name]
	n := float64(a.count[g])
	if shape.sample {
		n--
	}
	if n == 0 {
		return types.Null()
	}
	v := a.f2[g] / n
	if shape.root {
		v = math.Sqrt(v)
	}
	return types.Float(v)
}
