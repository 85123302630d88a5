package plan

import (
	"cmp"
	"math"
	"strings"

	"github.com/pandodb/pando/exec"
	"github.com/pandodb/pando/expr"
	"github.com/pandodb/pando/syntax"
	"github.com/pandodb/pando/types"
)

// windowGroup is the window functions of a block that share a partition and an order.
type windowGroup struct {
	name      string // of the window of the first of them, for errors
	partition []expr.Expr
	order     []sortKey
	funcs     []windowed
	funcsLike lookalikes
}

// containsWindow reports whether a window function stands in e, outside subqueries.
func containsWindow(e syntax.Expr) bool {
	found := false
	walkSyntax(e, func(x syntax.Expr) bool {
		switch x := x.(type) {
		case *syntax.WindowCall:
			found = true
		case *syntax.AggCall:
			found = found || x.Over != nil
		}
		return !found
	})
	return found
}

// windowBlock is the block to which window functions may be added where the binder stands.
func (b *binder) windowBlock(name string) (*block, error) {
	blk := b.scope.block
	if blk == nil || b.inner || blk.clause != fieldListClause && blk.clause != orderClause || b.clause != blk.clause {
		return nil, types.Errorf(types.ErWindowFunctionInvalid, strings.ToLower(name))
	}
	return blk, nil
}

// windowAggregate binds an aggregate with OVER.
func (b *binder) windowAggregate(call *syntax.AggCall) (expr.Expr, error) {
	blk, err := b.windowBlock(call.Name)
	if err != nil {
		return nil, err
	}
	if call.Distinct && call.Name != "MIN" && call.Name != "MAX" { // of which it changes nothing
		return nil, unsupported("<window function>(DISTINCT ..)")
	}
	if call.Name == "GROUP_CONCAT" {
		return nil, unsupported("group_concat as window function")
	}
	spec, err := b.windowArguments(call)
	if err != nil {
		return nil, err
	}
	f := &exec.WindowFunc{Agg: spec, Type: spec.Type(), Desc: aggName(spec)}
	return b.addWindow(blk, f, call.Over, true)
}

// windowArguments binds the arguments of a windowed aggregate, which may be aggregates of the block themselves.
func (b *binder) windowArguments(call *syntax.AggCall) (*expr.AggSpec, error) {
	var args []expr.Expr
	if _, star := firstArg(call).(*syntax.Star); !star {
		for _, arg := range call.Args {
			if containsWindow(arg) {
				return nil, types.Errorf(types.ErWindowFunctionInvalid, strings.ToLower(call.Name))
			}
		}
		var err error
		if args, err = b.all(call.Args); err != nil {
			return nil, err
		}
	}
	return expr.NewAgg(b.env.Build, strings.ToLower(call.Name), false, args, expr.AggOptions{})
}

// windowCall binds a function that exists as a window function only.
func (b *binder) windowCall(call *syntax.WindowCall) (expr.Expr, error) {
	blk, err := b.windowBlock(call.Name)
	if err != nil {
		return nil, err
	}
	if call.Nulls == "IGNORE" {
		return nil, unsupported("IGNORE NULLS")
	}
	if call.FromLast {
		return nil, unsupported("FROM LAST")
	}
	for _, arg := range call.Args {
		if containsWindow(arg) {
			return nil, types.Errorf(types.ErWindowFunctionInvalid, strings.ToLower(call.Name))
		}
	}
	args, err := b.all(call.Args)
	if err != nil {
		return nil, err
	}
	f := &exec.WindowFunc{Name: strings.ToLower(call.Name), Args: args, Desc: strings.ToLower(call.Name)}
	framed, err := b.windowType(f)
	if err != nil {
		return nil, err
	}
	return b.addWindow(blk, f, call.Over, framed)
}

// windowType sets the type of a function's result and says whether the frame matters to it.
func (b *binder) windowType(f *exec.WindowFunc) (framed bool, err error) {
	switch f.Name {
	case "row_number", "rank", "dense_rank":
		f.Type = types.Type{ID: types.TypeBigInt, Unsigned: true, Length: 21}
	case "ntile":
		f.Type = types.Type{ID: types.TypeBigInt, Unsigned: true, Length: 21}
		if err := constantArgument(f.Args[0], "ntile"); err != nil {
			return false, err
		}
		if v, ok := f.Args[0].ConstValue(); ok && v.K == types.KindUint && v.Uint64() > math.MaxInt64 {
			return false, types.Errorf(types.ErWrongArguments, "ntile")
		}
	case "percent_rank", "cume_dist":
		f.Type = types.Type{ID: types.TypeDouble, Length: -1, Scale: -1}
	case "lag", "lead":
		if len(f.Args) > 1 {
			if err := constantArgument(f.Args[1], f.Name); err != nil {
				return false, err
			}
		}
		if len(f.Args) > 2 {
			both, t, _, err := expr.Unify(b.env.Build, f.Args[0], f.Args[2])
			if err != nil {
				return false, err
			}
			f.Args[0], f.Args[2], f.Type = both[0], both[1], t
			return false, nil
		}
		f.Type = f.Args[0].Type()
	case "nth_value":
		if err := constantArgument(f.Args[1], f.Name); err != nil {
			return false, err
		}
		f.Type = f.Args[0].Type()
		return true, nil
	default: // first_value, last_value
		f.Type = f.Args[0].Type()
		return true, nil
	}
	return false, nil
}

// constantArgument refuses an offset that differs from row to row, and a negative literal.
func constantArgument(e expr.Expr, name string) error {
	if !expr.IsConstInStatement(e) {
		return types.Errorf(types.ErWrongArguments, name)
	}
	if v, ok := e.ConstValue(); ok && !v.IsNull() && (v.K != types.KindInt && v.K != types.KindUint || v.K == types.KindInt && v.N < 0) {
		return types.Errorf(types.ErWrongArguments, name)
	}
	return nil
}

// addWindow adds a function to the block's group of its window and returns its column.
func (b *binder) addWindow(blk *block, f *exec.WindowFunc, over *syntax.Over, framed bool) (expr.Expr, error) {
	spec, err := blk.windowSpec(over, unnamedWindow)
	if err != nil {
		return nil, err
	}
	group := &windowGroup{name: unnamedWindow}
	if over.Spec == nil {
		group.name = over.Name
	}
	plain := *b
	for _, p := range spec.PartitionBy {
		if containsWindow(p) {
			if over.Spec != nil && over.Spec.Base != "" { // whose partition it is
				return nil, errNestedWindow(over.Spec.Base)
			}
			return nil, errNestedWindow(over.Name)
		}
		if _, ok := position(p); ok {
			return nil, errWindowPosition
		}
		plain.place = "window partition by"
		e, err := plain.bind(p)
		if err != nil {
			return nil, err
		}
		group.partition = append(group.partition, e)
	}
	for _, o := range spec.OrderBy {
		if containsWindow(o.Expr) {
			return nil, errNestedWindow(over.Name)
		}
		if _, ok := position(o.Expr); ok {
			return nil, errWindowPosition
		}
		plain.place = "window order by"
		e, err := plain.bind(o.Expr)
		if err != nil {
			return nil, err
		}
		group.order = append(group.order, sortKey{e, o.Order == syntax.OrderDesc})
	}
	frame, err := b.frame(spec, group)
	if err != nil {
		return nil, err
	}
	if framed {
		f.Frame = frame
	} else {
		f.Frame = exec.WindowFrame{Unit: exec.FrameRows, Start: exec.FrameBound{Kind: exec.UnboundedPreceding}, End: exec.FrameBound{Kind: exec.UnboundedFollowing}}
	}
	id, err := blk.windowFunc(group, f)
	return windowColumn(id, f), err
}

// windowFunc is the column of a function over a window, which is computed once if it stands in the block several times.
func (blk *block) windowFunc(group *windowGroup, f *exec.WindowFunc) (id int, err error) {
	hash := group.hash()
	at, err := blk.b.first(blk.windowsLike[hash], func(i int) bool { return blk.windows[i].same(group) })
	if err != nil {
		return 0, err
	}
	if at >= 0 {
		group = blk.windows[at]
	} else {
		blk.windowsLike.add(hash, len(blk.windows))
		blk.windows = append(blk.windows, group)
	}
	hash = windowHash(f)
	if at, err = blk.b.first(group.funcsLike[hash], func(i int) bool { return sameWindow(group.funcs[i].spec, f) }); err != nil {
		return 0, err
	}
	if at >= 0 {
		return group.funcs[at].id, nil
	}
	id = blk.b.newID()
	blk.made[id] = true
	blk.b.names[id] = f.Desc
	if blk.windowed == nil {
		blk.windowed = idSet{}
	}
	blk.windowed[id] = true
	group.funcsLike.add(hash, len(group.funcs))
	group.funcs = append(group.funcs, windowed{id, f})
	return id, nil
}

// windowColumn refers to the value of a function; its coercibility is that of the arguments whose values it returns.
func windowColumn(id int, f *exec.WindowFunc) expr.Expr {
	coer := expr.CoerIgnorable
	switch {
	case f.Agg != nil:
		coer = f.Agg.Coercibility()
	case len(f.Args) > 0:
		coer = f.Args[0].Coercibility()
		if len(f.Args) > 2 {
			coer = min(coer, f.Args[2].Coercibility())
		}
	}
	column := expr.ColumnOf(id, f.Type, coer, f.Desc)
	if f.Agg == nil && countsNothing[f.Name] || f.Agg != nil && countsNothing[f.Agg.Name()] {
		column = expr.NotNull(column)
	}
	return column
}

// sameWindow reports whether two functions over one window have one value.
func sameWindow(a, b *exec.WindowFunc) bool {
	if a.Name != b.Name || len(a.Args) != len(b.Args) || (a.Agg == nil) != (b.Agg == nil) || a.Agg != nil && !sameAggregate(a.Agg, b.Agg) {
		return false
	}
	for i := range a.Args {
		if !expr.Equal(a.Args[i], b.Args[i]) {
			return false
		}
	}
	return sameFrame(a.Frame, b.Frame)
}

func sameFrame(a, b exec.WindowFrame) bool {
	bound := func(x, y exec.FrameBound) bool {
		return x.Kind == y.Kind && (x.Offset == nil) == (y.Offset == nil) && (x.Offset == nil || expr.Equal(x.Offset, y.Offset))
	}
	return a.Unit == b.Unit && bound(a.Start, b.Start) && bound(a.End, b.End)
}

// windowHash is the same for two functions that sameWindow takes for one.
func windowHash(f *exec.WindowFunc) uint64 {
	hash := uint64(len(f.Name))
	if f.Agg != nil {
		hash = aggHash(f.Agg)
	}
	for _, arg := range f.Args {
		hash = hash*31 + expr.Hash(arg)
	}
	for _, bound := range []exec.FrameBound{f.Frame.Start, f.Frame.End} {
		if hash = hash*31 + uint64(bound.Kind); bound.Offset != nil {
			hash = hash*31 + expr.Hash(bound.Offset)
		}
	}
	return hash
}

// hash is the same for two windows that same takes for one.
func (g *windowGroup) hash() (hash uint64) {
	for _, e := range g.partition {
		hash = hash*31 + expr.Hash(e)
	}
	for i := range g.order {
		hash = hash*31 + expr.Hash(g.order[i].e)
	}
	return hash
}

func (g *windowGroup) same(o *windowGroup) bool {
	if len(g.partition) != len(o.partition) || len(g.order) != len(o.order) {
		return false
	}
	for i := range g.partition {
		if !expr.Equal(g.partition[i], o.partition[i]) {
			return false
		}
	}
	for i := range g.order {
		if g.order[i].desc != o.order[i].desc || !expr.Equal(g.order[i].e, o.order[i].e) {
			return false
		}
	}
	return true
}

// windowSpec resolves OVER name and OVER (name …) to a whole specification; name is what errors call the window.
func (blk *block) windowSpec(over *syntax.Over, name string) (*syntax.WindowSpec, error) {
	spec := over.Spec
	if spec == nil {
		spec = &syntax.WindowSpec{Base: over.Name}
	}
	merged := *spec
	for depth := 0; merged.Base != ""; depth++ {
		base := blk.namedWindow(merged.Base)
		if base == nil {
			return nil, types.Errorf(types.ErWindowNoSuchWindow, merged.Base)
		}
		if depth > len(blk.sel.Windows) {
			return nil, types.Errorf(types.ErWindowCircularity)
		}
		if over.Spec != nil || depth > 0 {
			if err := inherits(&merged, base, name); err != nil {
				return nil, err
			}
		} else {
			merged.Frame = base.Spec.Frame
		}
		if len(base.Spec.PartitionBy) > 0 {
			merged.PartitionBy = base.Spec.PartitionBy
		}
		if len(base.Spec.OrderBy) > 0 {
			merged.OrderBy = base.Spec.OrderBy
		}
		merged.Base = base.Spec.Base
	}
	return &merged, nil
}

// unnamedWindow is what errors call a window of OVER (…).
const unnamedWindow = "<unnamed window>"

// errNestedWindow is the error of a window function within the specification of a window.
func errNestedWindow(window string) error {
	return types.NewError(3595, "You cannot nest a window function in the specification of window '"+cmp.Or(window, unnamedWindow)+"'.")
}

// inherits checks what a window may add to the one that it refines.
func inherits(spec *syntax.WindowSpec, base *syntax.NamedWindow, name string) error {
	switch {
	case len(spec.PartitionBy) > 0:
		return types.NewError(3581, "A window which depends on another cannot define partitioning.")
	case len(spec.OrderBy) > 0 && len(base.Spec.OrderBy) > 0:
		return types.NewError(3583, "Window '"+name+"' cannot inherit '"+base.Name.Name+"' since both contain an ORDER BY clause.")
	case base.Spec.Frame != nil:
		return types.NewError(3582, "Window '"+base.Name.Name+"' has a frame definition, so cannot be referenced by another window.")
	}
	return nil
}

func (blk *block) namedWindow(name string) *syntax.NamedWindow {
	for i := range blk.sel.Windows {
		if fold(blk.sel.Windows[i].Name.Name, name) {
			return &blk.sel.Windows[i]
		}
	}
	return nil
}

// frame resolves the frame clause; without one it ends with the current row's peers, or with the partition if nothing is ordered.
func (b *binder) frame(spec *syntax.WindowSpec, g *windowGroup) (exec.WindowFrame, error) {
	out := exec.WindowFrame{Unit: exec.FrameRange, Start: exec.FrameBound{Kind: exec.UnboundedPreceding}, End: exec.FrameBound{Kind: exec.UnboundedFollowing}}
	if len(g.order) > 0 {
		out.End.Kind = exec.CurrentRow
	}
	f := spec.Frame
	if f == nil {
		return out, nil
	}
	if f.Unit == syntax.FrameGroups {
		return out, unsupported("GROUPS")
	}
	if f.Exclusion != "" {
		return out, unsupported("EXCLUDE")
	}
	if f.Unit == syntax.FrameRows {
		out.Unit = exec.FrameRows
	}
	end := syntax.FrameBound{Kind: syntax.CurrentRow}
	if f.End != nil {
		end = *f.End
	}
	var err error
	if out.Start, err = b.frameBound(&f.Start, g, out.Unit); err != nil {
		return out, err
	}
	if out.End, err = b.frameBound(&end, g, out.Unit); err != nil {
		return out, err
	}
	switch {
	case out.Start.Kind == exec.UnboundedFollowing:
		return out, types.NewError(3584, "Window '<unnamed window>': frame start cannot be UNBOUNDED FOLLOWING.")
	case out.End.Kind == exec.UnboundedPreceding:
		return out, types.NewError(3585, "Window '<unnamed window>': frame end cannot be UNBOUNDED PRECEDING.")
	case out.Start.Kind > out.End.Kind:
		return out, errFrameOffset
	}
	return out, nil
}

func (b *binder) frameBound(f *syntax.FrameBound, g *windowGroup, unit exec.FrameUnit) (exec.FrameBound, error) {
	out := exec.FrameBound{Kind: [...]exec.FrameBoundKind{syntax.CurrentRow: exec.CurrentRow, syntax.UnboundedPreceding: exec.UnboundedPreceding,
		syntax.UnboundedFollowing: exec.UnboundedFollowing, syntax.ValuePreceding: exec.OffsetPreceding, syntax.ValueFollowing: exec.OffsetFollowing}[f.Kind]}
	if f.Value == nil {
		return out, nil
	}
	if unit == exec.FrameRows {
		if _, interval := f.Value.(*syntax.Interval); interval {
			return out, types.NewError(3596, "Window '<unnamed window>': INTERVAL can only be used with RANGE frames.")
		}
		n, err := b.bind(f.Value)
		if err != nil {
			return out, err
		}
		if n.Flags()&(expr.FlagColumn|expr.FlagVolatile) != 0 || hasSubquery(n) {
			return out, errFrameConstant
		}
		if v, known := n.ConstValue(); known && (v.K != types.KindInt && v.K != types.KindUint || v.K == types.KindInt && v.N < 0) {
			return out, errFrameOffset
		}
		out.Offset = n
		return out, nil
	}
	var err error
	out.Offset, err = b.rangeBound(f, g)
	return out, err
}

// The errors of frames over ranges of values.
var (
	errFrameOffset    = types.NewError(3586, "Window '<unnamed window>': frame start or end is negative, NULL or of non-integral type")
	errFrameConstant  = types.NewError(3590, "Window '<unnamed window>' has a non-constant frame bound.")
	errRangeOrder     = types.NewError(3587, "Window '<unnamed window>' with RANGE N PRECEDING/FOLLOWING frame requires exactly one ORDER BY expression, of numeric or temporal type")
	errRangeTime      = types.NewError(3588, "Window '<unnamed window>' with RANGE frame has ORDER BY expression of datetime type. Only INTERVAL bound value allowed.")
	errWindowPosition = types.NewError(3592, "Window '<unnamed window>': ORDER BY or PARTITION BY uses legacy position indication which is not supported, use expression.")
	errRangeNumber    = types.NewError(3589, "Window '<unnamed window>' with RANGE frame has ORDER BY expression of numeric type, INTERVAL bound value not allowed.")
)

// rangeBound is the value of the ORDER BY key at a bound of a RANGE frame: the row's own plus or minus the offset.
func (b *binder) rangeBound(f *syntax.FrameBound, g *windowGroup) (expr.Expr, error) {
	if len(g.order) != 1 {
		return nil, errRangeOrder
	}
	key := &g.order[0]
	t := key.e.TypeRef()
	interval, isInterval := f.Value.(*syntax.Interval)
	back := (f.Kind == syntax.ValuePreceding) != key.desc
	switch {
	case isInterval && !t.IsTemporal():
		return nil, errRangeNumber
	case !isInterval && t.IsTemporal():
		return nil, errRangeTime
	case !t.IsNumeric() && !t.IsTemporal():
		return nil, errRangeOrder
	}
	if isInterval {
		n, err := b.bind(interval.Value)
		if err != nil {
			return nil, err
		}
		if n.Flags()&(expr.FlagColumn|expr.FlagVolatile) != 0 || hasSubquery(n) {
			return nil, errFrameConstant
		}
		name := "date_add"
		if back {
			name = "date_sub"
		}
		return b.call(name, key.e, n, word(interval.Unit))
	}
	n, err := b.bind(f.Value)
	if err != nil {
		return nil, err
	}
	if n.Flags()&(expr.FlagColumn|expr.FlagVolatile) != 0 || hasSubquery(n) {
		return nil, errFrameConstant
	}
	if v, known := n.ConstValue(); known && (v.IsNull() || !v.IsNumeric() || v.K == types.KindInt && v.N < 0) {
		return nil, errFrameOffset
	}
	op := "+"
	if back {
		op = "-"
	}
	if t.Unsigned {
		// A bound below zero is a bound, not an error.
		if key.e, err = expr.Cast(b.env.Build, key.e, types.Type{ID: types.TypeDecimal, Length: 30, Scale: max(t.Scale, 0)}); err != nil {
			return nil, err
		}
	}
	return b.call(op, key.e, n)
}

// checkWindows refuses a WINDOW clause that defines a window twice or in a circle, or refines one in a forbidden way, even if nothing uses it.
func (blk *block) checkWindows() error {
	for i := range blk.sel.Windows {
		w := &blk.sel.Windows[i]
		if blk.namedWindow(w.Name.Name) != w {
			return types.NewError(3591, "Window '"+w.Name.Name+"' is defined twice.")
		}
	}
	for i := range blk.sel.Windows {
		if _, err := blk.windowSpec(&syntax.Over{Spec: &blk.sel.Windows[i].Spec}, blk.sel.Windows[i].Name.Name); err != nil {
			return err
		}
	}
	return nil
}

// groupWindows rewrites the windows over grouped rows: what the functions are called with, which stands in other clauses, and then the windows.
func (blk *block) groupWindows() (err error) {
	for _, g := range blk.windows {
		for i := range g.funcs {
			g.funcs[i].spec = mapWindow(g.funcs[i].spec, func(e expr.Expr) expr.Expr {
				if e == nil || err != nil {
					return e
				}
				var out expr.Expr
				if out, err = blk.grouped(e, fieldListClause, 1); err != nil {
					clause, at := blk.placeOf(g.funcs[i].id)
					out, err = blk.grouped(e, clause, at)
				}
				return out
			})
		}
	}
	if err != nil {
		return err
	}
	for _, g := range blk.windows {
		clause := windowClause + " '" + g.name + "'"
		for i := range g.partition {
			if g.partition[i], err = blk.grouped(g.partition[i], clause, i+1); err != nil {
				return err
			}
		}
		for i := range g.order {
			if g.order[i].e, err = blk.grouped(g.order[i].e, clause, i+1); err != nil {
				return err
			}
		}
	}
	return err
}

// placeOf is the clause and the element of it that reads a column.
func (blk *block) placeOf(id int) (clause string, at int) {
	set := idSet{id: true}
	for i, it := range blk.items {
		if set.touches(it.bound) {
			return fieldListClause, i + 1
		}
	}
	for i := range blk.order {
		if blk.order[i].item < 0 && set.touches(blk.order[i].bound) {
			return orderClause, i + 1
		}
	}
	return fieldListClause, 1
}

// mapWindow returns the function with its expressions replaced.
func mapWindow(f *exec.WindowFunc, swap func(expr.Expr) expr.Expr) *exec.WindowFunc {
	c := *f
	c.Args = make([]expr.Expr, len(f.Args))
	for i, arg := range f.Args {
		c.Args[i] = swap(arg)
	}
	if f.Agg != nil {
		c.Agg = f.Agg.Map(swap)
	}
	if f.Frame.Start.Offset != nil {
		c.Frame.Start.Offset = swap(f.Frame.Start.Offset)
	}
	if f.Frame.End.Offset != nil {
		c.Frame.End.Offset = swap(f.Frame.End.Offset)
	}
	return &c
}

// addWindows adds the windows of the block, each group sorted for itself.
func (blk *block) addWindows(r rel) rel {
	for _, g := range blk.windows {
		r = &window{input: r, partition: g.partition, order: g.order, funcs: g.funcs}
	}
	return r
}
