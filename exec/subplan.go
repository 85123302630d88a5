package exec

import (
	"github.com/pandodb/pando/expr"
	"github.com/pandodb/pando/types"
)

// Limits of the results that a correlated subquery keeps by its outer values.
const (
	subplanMemoEntries = 64 << 10
	subplanMemoBytes   = 4 << 20
	memoValueBytes     = 48 // of one result without its text
)

// SubplanKind says what value a subquery has.
type SubplanKind uint8

// The kinds of subqueries.
const (
	// SubplanScalar is the one column of the one row: NULL without row, 1242 with more.
	SubplanScalar SubplanKind = iota
	// SubplanExists is 1 if there is a row, else 0.
	SubplanExists
	// SubplanAny is true if Compare is true for one row, else NULL if it is NULL for
	// one, else false; so it is false without rows.
	SubplanAny
	// SubplanAll is false if Compare is false for one row, else NULL if it is NULL for
	// one, else true; so it is true without rows.
	SubplanAll
	// SubplanRow is Compare over the one row: NULL without row, 1242 with more.
	SubplanRow
)

// String names the kind for EXPLAIN.
func (k SubplanKind) String() string {
	return [...]string{"scalar", "exists", "any", "all", "row"}[k]
}

// Subplan is a subquery within an expression. It runs when the expression is evaluated
// and not before, so that a branch not taken costs nothing and fails with nothing.
type Subplan struct {
	Root Node
	Kind SubplanKind
	// Slots are the ordinals of Ctx.Params that the outer values are written to before
	// Root is opened. No other subquery and no Apply may use them.
	Slots []int
	// Operands is how many operands the expression has.
	Operands int
	// Compare is evaluated over the operands followed by Root's columns; nil for scalar
	// and exists.
	Compare expr.Expr
	// LeftKeys over the operands and RightKeys over Root's columns are of equal type
	// pairwise, and rows with unequal keys, none of them NULL, never compare as equal.
	// They may be given for ANY whose Compare is "=" and for ALL whose Compare is "<>";
	// a constant subquery is then hashed once.
	LeftKeys, RightKeys []expr.Expr
	// Extreme says that of all rows without NULL the one with the greatest (1) or least (-1) of RightKeys, in key order, decides alone: of a
	// constant ANY or ALL over one column whose Compare is an order. Then no more than that row and one with NULL are kept, and LeftKeys are
	// not used. 0 is for all others.
	Extreme int
	// Flags are what Root's expressions depend on besides columns and parameters:
	// FlagVolatile, FlagSession, FlagSideEffect. Without those it is deterministic, and
	// results are kept by the outer values and operands.
	Flags expr.Flags

	constant bool
}

// Expr returns the expression of the subquery; name is its text, coer how strongly its collation binds. Its arguments are
// outer, whose values go to Slots, then operands, which Compare reads first. constant
// says that there are no outer values and that Root is deterministic: it then runs at
// most once per execution. A subquery that reads slots of a subquery around it is not
// constant; it should have them among its own outer values (a Param each).
func (s *Subplan) Expr(name string, t types.Type, coer expr.Coercibility, outer, operands []expr.Expr, constant bool) expr.Expr {
	if len(outer) != len(s.Slots) || len(operands) != s.Operands || constant && len(outer) > 0 {
		panic("exec: a subquery's arguments do not fit its slots and operands")
	}
	s.constant = constant
	flags := s.Flags
	if !constant && len(outer) == 0 {
		flags |= expr.FlagVolatile // or it would be taken for a constant
	}
	args := append(append([]expr.Expr(nil), outer...), operands...)
	return expr.Subquery(name, t, coer, flags, args, s)
}

// SubplanOf returns the subquery that e is an expression of, or nil.
func SubplanOf(e expr.Expr) *Subplan {
	plan, _ := e.SubqueryPlan()
	s, _ := plan.(*Subplan)
	return s
}

// IsTruth reports whether the subquery is a condition, which JSON shows as true and false.
func (s *Subplan) IsTruth() bool { return s.Kind != SubplanScalar }

// Constant reports whether the subquery runs at most once per execution.
func (s *Subplan) Constant() bool { return s.constant }

// memoizable reports whether equal arguments always give the same result.
func (s *Subplan) memoizable() bool {
	const changing = expr.FlagVolatile | expr.FlagSession | expr.FlagSideEffect | expr.FlagOpaque
	return s.Flags&changing == 0 && (s.constant || len(s.Slots) > 0)
}

// subplanState is a subquery in one execution. Its operators are built once and opened
// for each evaluation, under a context of its own (invariant X4).
type subplanState struct {
	rt   *Runtime
	plan *Subplan
	ctx  *expr.Ctx
	op   operator
	// args are the outer values and the operands at hand, bytes the memory of their
	// texts: the slots refer to it while the operators run.
	args  []types.Value
	bytes []byte
	row   []types.Value // operands, then a row of Root: what Compare is evaluated over
	memo  subplanMemo
	// known says that a constant subquery has run; once is then its value or its row,
	// rows are the rows of ANY and ALL.
	known bool
	empty bool // a constant row subquery found none
	once  []types.Value
	rows  subplanRows
}

// EvalSubplan implements expr.Subplans.
func (x *execution) EvalSubplan(ctx *expr.Ctx, plan any, args []expr.Expr, row []types.Value) (types.Value, error) {
	p := plan.(*Subplan)
	st := x.subplans[p]
	if st == nil {
		st = &subplanState{rt: x.rt, plan: p, ctx: ctx.Child(), args: make([]types.Value, len(args))}
		st.row = make([]types.Value, p.Operands+len(Types(p.Root)))
		st.memo.init(x.rt)
		st.rows.init(st)
		x.subplans[p] = st
	}
	if st.known && len(args) == 0 {
		return st.once[0], nil
	}
	if err := st.bind(ctx, args, row); err != nil {
		return types.Null(), err
	}
	keep := p.memoizable() && len(args) > 0 && ctx.InsertValues == nil
	if keep {
		if v, ok := st.memo.get(st.args); ok {
			return v, nil
		}
	}
	st.ctx.Follow(ctx)
	for i, slot := range p.Slots {
		ctx.Params[slot] = st.args[i]
	}
	// Operators take the context from the runtime, so they run in the subquery's own.
	saved := x.rt.Ctx
	x.rt.Ctx = st.ctx
	v, err := st.eval()
	x.rt.Ctx = saved
	if err == nil && keep {
		st.memo.put(v)
	}
	return v, err
}

// bind evaluates the arguments and copies their texts, so that they outlive the
// caller's arena.
func (st *subplanState) bind(ctx *expr.Ctx, args []expr.Expr, row []types.Value) error {
	st.bytes = st.bytes[:0]
	for i, e := range args {
		var v types.Value
		var err error
		if i < len(st.plan.Slots) {
			v, err = e.Eval(ctx, row)
		} else {
			v, err = e.EvalFull(ctx, row) // comparisons see all digits of an AVG
		}
		if err != nil {
			return err
		}
		if len(v.B) > 0 {
			start := len(st.bytes)
			st.bytes = append(st.bytes, v.B...)
			v.B = st.bytes[start:len(st.bytes):len(st.bytes)]
		}
		st.args[i] = v
	}
	return nil
}

// eval runs the subquery for the arguments at hand. The value's bytes are its own.
func (st *subplanState) eval() (types.Value, error) {
	copy(st.row, st.args[len(st.plan.Slots):])
	switch st.plan.Kind {
	case SubplanScalar, SubplanRow:
		return st.one()
	case SubplanExists:
		found := false
		err := st.each(func(*types.Batch) (bool, error) {
			found = true
			return true, nil
		})
		return st.settle(types.Bool(found), err)
	}
	verdict := quantifier{all: st.plan.Kind == SubplanAll}
	if st.plan.constant {
		err := st.rows.judge(&verdict)
		return verdict.value(), err
	}
	err := st.each(func(b *types.Batch) (bool, error) { return st.judge(b, &verdict) })
	return verdict.value(), err
}

// each opens Root and calls f per batch until it is done.
func (st *subplanState) each(f func(*types.Batch) (done bool, err error)) error {
	if st.op == nil {
		b := builder{rt: st.rt}
		op, err := b.node(st.plan.Root)
		if err != nil {
			return err
		}
		st.op = op
	}
	if err := st.rt.poll(); err != nil {
		return err
	}
	if err := st.op.open(); err != nil {
		return err
	}
	for {
		b, err := st.op.next()
		if b == nil || err != nil {
			return err
		}
		if done, err := f(b); done || err != nil {
			return err
		}
	}
}

// one reads at most one row and returns its column, or Compare over it.
func (st *subplanState) one() (types.Value, error) {
	if !st.known {
		rows := 0
		err := st.each(func(b *types.Batch) (bool, error) {
			if rows += b.Rows(); rows > 1 {
				return true, types.Errorf(types.ErSubqueryNo1Row)
			}
			b.ReadRow(b.Row(0), st.row[st.plan.Operands:])
			for i := range st.row[st.plan.Operands:] {
				// The operator's memory is gone after its next call, which tells the end.
				v := &st.row[st.plan.Operands+i]
				*v = v.Clone()
			}
			return false, nil
		})
		if err != nil {
			return types.Null(), err
		}
		st.empty = rows == 0
		if st.plan.constant && st.plan.Kind == SubplanRow {
			st.known = true
			st.once = append([]types.Value(nil), st.row[st.plan.Operands:]...)
		}
	} else {
		copy(st.row[st.plan.Operands:], st.once)
	}
	switch {
	case st.plan.Kind == SubplanRow && !st.empty:
		st.ctx.ResetArena()
		return st.plan.Compare.Eval(st.ctx, st.row)
	case st.empty:
		return st.settle(types.Null(), nil)
	}
	return st.settle(st.row[0], nil)
}

// settle remembers the value of a constant subquery without operands.
func (st *subplanState) settle(v types.Value, err error) (types.Value, error) {
	if err == nil && st.plan.constant && len(st.args) == 0 {
		st.known, st.once = true, []types.Value{v}
	}
	return v, err
}

// judge compares the rows of b; done says that the result is certain.
func (st *subplanState) judge(b *types.Batch, q *quantifier) (done bool, err error) {
	st.ctx.ResetArena()
	for i, n := 0, b.Rows(); i < n; i++ {
		b.ReadRow(b.Row(i), st.row[st.plan.Operands:])
		if done, err := st.judgeRow(q); done || err != nil {
			return done, err
		}
	}
	return false, nil
}

// judgeRow compares the row at hand.
func (st *subplanState) judgeRow(q *quantifier) (done bool, err error) {
	v, err := st.plan.Compare.Eval(st.ctx, st.row)
	if err != nil {
		return false, err
	}
	return q.add(&v), nil
}

func (st *subplanState) close() {
	if st.op != nil {
		st.op.close()
	}
	st.ctx.ResetArena() // and what it counted is given back
	st.memo.close()
	st.rows.close()
}

// quantifier gathers the comparisons of ANY or ALL.
type quantifier struct {
	all     bool
	decided bool // one comparison was true for ANY, false for ALL
	unknown bool // one was NULL
}

// add takes the result of one comparison; done says that no other can change the value.
func (q *quantifier) add(v *types.Value) (done bool) {
	switch {
	case v.IsNull():
		q.unknown = true
	case v.N != 0 != q.all:
		q.decided = true
	}
	return q.decided
}

func (q *quantifier) value() types.Value {
	switch {
	case q.decided:
		return types.Bool(!q.all)
	case q.unknown:
		return types.Null()
	}
	return types.Bool(q.all)
}

// subplanMemo keeps results by arguments. It is emptied when it is full: outer values
// that repeat mostly do so soon.
type subplanMemo struct {
	table  keyTable
	values []types.Value
	bytes  int64 // of the values' texts
	key    []byte
	off    bool // the statement has no memory for it
	mem    account
}

func (m *subplanMemo) init(rt *Runtime) {
	m.table.init()
	m.mem = rt.account()
}

// get returns the result for args, and remembers args for put.
func (m *subplanMemo) get(args []types.Value) (types.Value, bool) {
	if m.off {
		return types.Null(), false
	}
	m.key = appendRow(m.key[:0], args)
	if id, ok := m.table.find(m.key, m.table.hash(m.key)); ok {
		return m.values[id], true
	}
	return types.Null(), false
}

// put keeps v, which is the memo's from now on, for the arguments that get missed.
func (m *subplanMemo) put(v types.Value) {
	if m.off {
		return
	}
	if len(m.values) >= subplanMemoEntries || m.used() >= subplanMemoBytes {
		m.table.reset()
		clear(m.values)
		m.values, m.bytes = m.values[:0], 0
	}
	m.table.insert(m.key, m.table.hash(m.key))
	m.values = append(m.values, v)
	m.bytes += int64(len(v.B))
	if m.mem.set(m.size()) != nil || m.mem.tight() {
		m.table, m.values, m.off = keyTable{}, nil, true
		m.mem.close()
	}
}

// size approximates the memory held: key table, values and their texts.
func (m *subplanMemo) size() int64 {
	return m.table.bytes() + int64(cap(m.values))*memoValueBytes + m.bytes
}

// used is the part of size that is taken. It decides when the memo is full: what an emptied one holds on to stays, and if that
// counted, a memo that has been full once would be emptied at every put.
func (m *subplanMemo) used() int64 {
	return int64(len(m.table.arena)) + int64(len(m.values))*memoValueBytes + m.bytes
}

func (m *subplanMemo) close() { m.mem.close() }
