package expr

import (
	"github.com/pandodb/pando/types"
)

// AggSpec describes one aggregate of a query. It is immutable, and safe for concurrent use like an Expr.
type AggSpec struct {
	name     string
	distinct bool
	args     []Expr
	order    []AggOrder
	sep      []byte
	typ      types.Type
	shown    types.Type   // typ without the digits that AggOptions.Digits adds
	coer     Coercibility // of a text result
	kind     aggKind
	bytewise bool // BIT_AND, BIT_OR and BIT_XOR of binary strings
}

// AggOrder is one ORDER BY item within GROUP_CONCAT.
type AggOrder struct {
	Expr Expr
	Desc bool
}

// AggOptions are the clauses of GROUP_CONCAT, and what becomes of the result.
type AggOptions struct {
	Order     []AggOrder
	Separator []byte // nil means ","
	// Digits makes a decimal result have all digits of an AVG, or of loose arguments, in its type.
	Digits bool
}

// Name returns the aggregate's lower-case name.
func (s *AggSpec) Name() string { return s.name }

// Args returns the arguments; COUNT(*) has none. The slice belongs to s.
func (s *AggSpec) Args() []Expr { return s.args }

// Order returns GROUP_CONCAT's ORDER BY. The slice belongs to s.
func (s *AggSpec) Order() []AggOrder { return s.order }

// Distinct reports whether equal arguments count once.
func (s *AggSpec) Distinct() bool { return s.distinct }

// Type returns the type of the result.
func (s *AggSpec) Type() types.Type { return s.typ }

// TypeRef is Type without copying it; it must not be written.
func (s *AggSpec) TypeRef() *types.Type { return &s.typ }

// Shown returns the type that MySQL says: Type without the digits of AggOptions.Digits.
func (s *AggSpec) Shown() types.Type { return s.shown }

// IsLoose reports whether the result may have more digits than the type that is shown.
func (s *AggSpec) IsLoose() bool {
	if s.typ.ID != types.TypeDecimal {
		return false
	}
	switch s.kind {
	case aggAvg:
		return true
	case aggSum, aggMin, aggMax:
		return IsLoose(s.args[0])
	}
	return false
}

// Coercibility returns how strongly the collation of the result binds.
func (s *AggSpec) Coercibility() Coercibility { return coercibilityOf(&s.typ, s.coer) }

// NewAgg builds an aggregate: "count" (no argument is COUNT(*)), "sum", "avg", "min", "max", "group_concat", "bit_and", "bit_or", "bit_xor",
// "std", "stddev", "stddev_pop", "stddev_samp", "variance", "var_pop", "var_samp", "any_value", "json_arrayagg", "json_objectagg". It keeps
// opts' slices. It fails with 1305 for other names, 1582 for a wrong number of arguments and 1241 for rows.
func NewAgg(b *BuildContext, name string, distinct bool, args []Expr, opts AggOptions) (*AggSpec, error) {
	return newAgg(b, name, distinct, args, opts)
}

// IsAggregate reports whether name (lower case) is an aggregate function.
func IsAggregate(name string) bool { return aggKinds[name].kind != aggNone }

// MapColumns returns s with its column positions replaced, as the function MapColumns does for expressions.
func (s *AggSpec) MapColumns(remap func(idx int) int) *AggSpec {
	c := *s
	c.args = make([]Expr, len(s.args))
	for i, a := range s.args {
		c.args[i] = MapColumns(a, remap)
	}
	c.order = make([]AggOrder, len(s.order))
	for i, o := range s.order {
		c.order[i] = AggOrder{MapColumns(o.Expr, remap), o.Desc}
	}
	return &c
}

// Empty returns the aggregate of no rows.
func (s *AggSpec) Empty(b *BuildContext) (types.Value, error) {
	states := s.NewStates()
	states.Grow(1)
	v, err := states.Result(b.quietCtx(), 0)
	return v.Clone(), err
}

// NewStates returns states without any group.
func (s *AggSpec) NewStates() *AggStates { return &AggStates{spec: s} }

// Grow makes groups 0 to n-1 exist; new ones are empty. Only Reset removes groups.
func (a *AggStates) Grow(n int) { a.grow(n) }

// Len returns the number of groups.
func (a *AggStates) Len() int { return a.groups }

// Bytes returns the memory of the states in bytes, for the executor's memory tracker. It is cheap enough to call per batch.
func (a *AggStates) Bytes() int64 { return a.bytes + a.fixedBytes() }

// Reset removes all groups and keeps the memory of the slabs.
func (a *AggStates) Reset() { a.reset() }

// Add adds one row to group g.
func (a *AggStates) Add(ctx *Ctx, g uint32, row []types.Value) error { return a.addRow(ctx, g, row) }

// AddBatch adds the selected rows of b. Row i belongs to group groups[i]; if groups is nil, all rows belong to group 0.
func (a *AggStates) AddBatch(ctx *Ctx, b *types.Batch, groups []uint32) error {
	return a.addBatch(ctx, b, groups)
}

// Merge adds group og of o, states of the same AggSpec, to group g. o is not changed.
func (a *AggStates) Merge(ctx *Ctx, g uint32, o *AggStates, og uint32) error {
	return a.merge(ctx, g, o, og)
}

// Result returns the aggregate of group g. It borrows from the states or the arena. An empty group gives MySQL's result for
// no rows: 0 for COUNT, all ones for BIT_AND, NULL for most others.
func (a *AggStates) Result(ctx *Ctx, g uint32) (types.Value, error) { return a.result(ctx, g) }

// AppendState appends the state of group g to dst for spilling to disk, in a format that MergeState of the same AggSpec reads. It is not
// versioned: nothing reads it after the statement.
func (a *AggStates) AppendState(dst []byte, g uint32) []byte { return a.appendState(dst, g) }

// MergeState adds the state that AppendState has written to group g. state must be intact: it panics on other bytes.
func (a *AggStates) MergeState(ctx *Ctx, g uint32, state []byte) error {
	return a.mergeState(ctx, g, state)
}
