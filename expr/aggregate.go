package expr

import (
	"github.com/pandodb/pando/types"
)

// AggSpec describes one aggregate of a query. It is immutable and shared like an Expr.
type AggSpec struct {
	name     string
	distinct bool
	args     []Expr
	order    []AggOrder
	sep      []byte
	typ      types.Type
	coer     Coercibility // of texts
	kind     aggKind
	bytewise bool // BIT_AND, BIT_OR and BIT_XOR of binary strings
}

// AggOrder is one ORDER BY item within GROUP_CONCAT.
type AggOrder struct {
	Expr Expr
	Desc bool
}

// AggOptions are GROUP_CONCAT's clauses.
type AggOptions struct {
	Order     []AggOrder
	Separator []byte // nil means ","
}

// Name returns the aggregate's lower-case name.
func (s *AggSpec) Name() string { return s.name }

// Args returns the arguments; COUNT(*) has none. Borrowed.
func (s *AggSpec) Args() []Expr { return s.args }

// Order returns GROUP_CONCAT's ORDER BY; borrowed.
func (s *AggSpec) Order() []AggOrder { return s.order }

// Distinct reports whether equal arguments count once.
func (s *AggSpec) Distinct() bool { return s.distinct }

// Type returns the type of the result.
func (s *AggSpec) Type() types.Type { return s.typ }

// Coercibility returns how strongly the collation of the result binds.
func (s *AggSpec) Coercibility() Coercibility { return coercibilityOf(&s.typ, s.coer) }

// NewAgg builds an aggregate: "count" (no argument is COUNT(*)), "sum", "avg", "min", "max", "group_concat", "bit_and", "bit_or", "bit_xor",
// "std", "stddev", "stddev_pop", "stddev_samp", "variance", "var_pop", "var_samp", "any_value", "json_arrayagg", "json_objectagg".
func NewAgg(b *BuildContext, name string, distinct bool, args []Expr, opts AggOptions) (*AggSpec, error) {
	return newAgg(b, name, distinct, args, opts)
}

// IsAggregate reports whether name (lower case) is an aggregate function.
func IsAggregate(name string) bool { return aggKinds[name].kind != aggNone }

// MapColumns returns s with its column positions replaced as MapColumns does for expressions.
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

// Empty is the aggregate of no rows.
func (s *AggSpec) Empty(b *BuildContext) (types.Value, error) {
	states := s.NewStates()
	states.Grow(1)
	v, err := states.Result(b.quietCtx(), 0)
	return v.Clone(), err
}

// NewStates returns an empty slab of states for one worker.
func (s *AggSpec) NewStates() *AggStates { return &AggStates{spec: s} }

// Grow makes groups 0..n-1 exist; new ones are empty. Groups are never removed but by Reset.
func (a *AggStates) Grow(n int) { a.grow(n) }

// Len returns the number of groups.
func (a *AggStates) Len() int { return a.groups }

// Bytes returns the memory that the states hold, for the executor's memory tracker. It is cheap to call per batch.
func (a *AggStates) Bytes() int64 { return a.bytes + a.fixedBytes() }

// Reset empties the slab and keeps its memory.
func (a *AggStates) Reset() { a.reset() }

// Add adds one row to group g.
func (a *AggStates) Add(ctx *Ctx, g uint32, row []types.Value) error { return a.addRow(ctx, g, row) }

// AddBatch adds the selected rows of b. groups is indexed by row position; nil puts all rows into group 0.
func (a *AggStates) AddBatch(ctx *Ctx, b *types.Batch, groups []uint32) error {
	return a.addBatch(ctx, b, groups)
}

// Merge adds group og of o, a slab of the same AggSpec, to group g. o stays usable and is not changed.
func (a *AggStates) Merge(ctx *Ctx, g uint32, o *AggStates, og uint32) error {
	return a.merge(ctx, g, o, og)
}

// Result returns the aggregate of group g. Its bytes live in the slab or the arena. An empty group gives what MySQL gives
// for no rows: 0 for COUNT, all ones for BIT_AND, NULL for most others.
func (a *AggStates) Result(ctx *Ctx, g uint32) (types.Value, error) { return a.result(ctx, g) }

// AppendState appends group g in a form that MergeState of the same AggSpec reads, for spilling. It is not a format on
// disk: nothing reads it after the statement.
func (a *AggStates) AppendState(dst []byte, g uint32) []byte { return a.appendState(dst, g) }

// MergeState adds what AppendState wrote to group g.
func (a *AggStates) MergeState(ctx *Ctx, g uint32, state []byte) error {
	return a.mergeState(ctx, g, state)
}
