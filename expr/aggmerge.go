package expr

import (
	"encoding/binary"
	"math"

	"github.com/pandodb/pando/types"
)

// merge adds group og of o to group g of a.
func (a *AggStates) merge(ctx *Ctx, g uint32, o *AggStates, og uint32) error {
	if a.spec.distinct {
		return a.mergeDistinct(ctx, g, o.seen[og])
	}
	switch a.spec.kind {
	case aggCount:
		a.count[g] += o.count[og]
	case aggSum, aggAvg:
		return a.mergeSum(g, o, og)
	case aggMin, aggMax, aggAny:
		if v := o.best[og]; !v.IsNull() {
			a.extreme(ctx, g, &v)
		}
	case aggBitAnd, aggBitOr, aggBitXor:
		a.count[g] += o.count[og]
		if !a.spec.bytewise {
			a.bit(g, o.bits[og])
		} else if v := &o.best[og]; !v.IsNull() {
			return a.bitBytes(g, v.B)
		}
	case aggVariance:
		a.mergeVariance(g, o.count[og], o.f[og], o.f2[og])
	default:
		return a.concatMerge(ctx, g, &o.texts[og], o.count[og])
	}
	return nil
}

// mergeDistinct adds those values of seen, of another group, that group g does not have.
func (a *AggStates) mergeDistinct(ctx *Ctx, g uint32, seen []types.Value) error {
	nargs := len(a.spec.args)
	for width := nargs + len(a.spec.order); len(seen) >= width; seen = seen[width:] {
		args, keys := seen[:nargs], seen[nargs:width]
		fresh, err := a.distinctAdd(ctx, g, args)
		if fresh {
			a.seen[g] = append(a.seen[g], keys...)
			err = a.add(ctx, g, args, keys)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (a *AggStates) mergeSum(g uint32, o *AggStates, og uint32) error {
	a.count[g] += o.count[og]
	if !a.spec.exact() {
		a.f[g] += o.f[og]
		return nil
	}
	a.add128(g, o.hi[og], o.lo[og])
	if wide := o.wideOf(og); !wide.IsNull() {
		return a.addWide(g, wide)
	}
	return nil
}

// mergeVariance combines two variances by the parallel algorithm of Chan, Golub and LeVeque (1979).
func (a *AggStates) mergeVariance(g uint32, n int64, mean, m2 float64) {
	if n == 0 {
		return
	}
	if a.count[g] == 0 {
		a.count[g], a.f[g], a.f2[g] = n, mean, m2
		return
	}
	na, nb := float64(a.count[g]), float64(n)
	delta := mean - a.f[g]
	a.f[g] += delta * nb / (na + nb)
	a.f2[g] += m2 + delta*delta*na*nb/(na+nb)
	a.count[g] += n
}

// appendState appends the count of group g and then what its aggregate needs besides; see AppendState.
func (a *AggStates) appendState(dst []byte, g uint32) []byte {
	dst = binary.AppendVarint(dst, a.count[g])
	switch {
	case a.spec.distinct:
		dst = binary.AppendUvarint(dst, uint64(len(a.seen[g])))
		for i := range a.seen[g] {
			dst = appendValue(dst, &a.seen[g][i])
		}
		return dst
	case a.hi != nil:
		dst = binary.AppendVarint(dst, a.hi[g])
		dst = binary.AppendUvarint(dst, a.lo[g])
		wide := a.wideOf(g)
		dst = appendValue(dst, &wide)
	case a.best != nil:
		dst = appendValue(dst, &a.best[g])
	case a.bits != nil:
		dst = binary.AppendUvarint(dst, a.bits[g])
	case a.texts != nil:
		dst = a.texts[g].appendState(dst)
	case a.f != nil:
		dst = binary.LittleEndian.AppendUint64(dst, math.Float64bits(a.f[g]))
		if a.f2 != nil {
			dst = binary.LittleEndian.AppendUint64(dst, math.Float64bits(a.f2[g]))
		}
	}
	return dst
}

func (a *AggStates) mergeState(ctx *Ctx, g uint32, state []byte) error {
	r := stateReader{state}
	o := a.spec.NewStates()
	o.grow(1)
	o.count[0] = r.varint()
	switch {
	case a.spec.distinct:
		for n := r.uvarint(); n > 0; n-- {
			o.seen[0] = append(o.seen[0], r.value())
		}
	case o.hi != nil:
		o.hi[0], o.lo[0] = r.varint(), r.uvarint()
		if wide := r.value(); !wide.IsNull() {
			if err := o.addWide(0, wide); err != nil {
				return err
			}
		}
	case o.best != nil:
		o.best[0] = r.value()
	case o.bits != nil:
		o.bits[0] = r.uvarint()
	case o.texts != nil:
		o.texts[0].readState(&r)
	case o.f != nil:
		o.f[0] = r.float()
		if o.f2 != nil {
			o.f2[0] = r.float()
		}
	}
	return a.merge(ctx, g, o, 0)
}

func appendValue(dst []byte, v *types.Value) []byte {
	dst = append(dst, byte(v.K), v.Scale)
	dst = binary.AppendUvarint(dst, uint64(v.Coll))
	dst = binary.AppendVarint(dst, v.N)
	if v.B == nil {
		return append(dst, 0)
	}
	dst = binary.AppendUvarint(dst, uint64(len(v.B))+1)
	return append(dst, v.B...)
}

// stateReader reads what appendState has written. It does not check lengths, because the same process has written it.
type stateReader struct{ b []byte }

func (r *stateReader) varint() int64 {
	n, used := binary.Varint(r.b)
	r.b = r.b[max(used, 0):]
	return n
}

func (r *stateReader) uvarint() uint64 {
	n, used := binary.Uvarint(r.b)
	r.b = r.b[max(used, 0):]
	return n
}

func (r *stateReader) float() float64 {
	n := binary.LittleEndian.Uint64(r.b)
	r.b = r.b[8:]
	return math.Float64frombits(n)
}

func (r *stateReader) bytes(n uint64) []byte {
	b := r.b[:n:n]
	r.b = r.b[n:]
	return b
}

func (r *stateReader) value() types.Value {
	v := types.Value{K: types.Kind(r.b[0]), Scale: r.b[1]}
	r.b = r.b[2:]
	v.Coll = types.CollationID(r.uvarint())
	v.N = r.varint()
	if n := r.uvarint(); n > 0 {
		v.B = r.bytes(n - 1)
	}
	return v
}
