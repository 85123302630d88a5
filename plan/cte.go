package plan

import (
	"slices"

	"github.com/pandodb/pando/exec"
	"github.com/pandodb/pando/expr"
	"github.com/pandodb/pando/syntax"
	"github.com/pandodb/pando/types"
)

// cte is a common table expression. It is resolved when the first reference is met, and never without one, as in MySQL, where nothing in it can
// then be wrong; what refers to it reads a cteRef. One that depends on rows outside is resolved again for each reference, because each may stand
// at another depth.
type cte struct {
	def    *syntax.CTE
	named  bool // WITH RECURSIVE: its query may refer to it
	met    bool // it is resolved, or being so
	around *scope
	before []*cte // the CTEs that its query sees
	body   rel    // the whole, or the seed of a recursive one
	cols   []column
	out    []types.Type
	free   []expr.Expr
	flags  expr.Flags
	refs   int // in the statement, so far

	// recursive is what is repeated, over the columns steps; distinct drops rows seen before.
	recursive rel
	steps     []expr.Expr
	distinct  bool
	// count and offset are its LIMIT, which also ends the recursion.
	count, offset expr.Expr
	// open is set while the query of a recursive CTE is resolved: seeds must not refer to it, other parts must.
	open   cteState
	inside int // references from the part being resolved
	level  int // the builder's depth in the block being resolved: a reference at another one is in a subquery

	node *exec.CTE // once planned
	rows float64   // estimated
}

// againMax is how many queries of CTEs with outer references a statement resolves again, for each reference behind the first: their number grows
// exponentially where each refers to the one before it twice. MySQL, which does so for every CTE, ends between 1,000 and 3,000.
const againMax = 2000

type cteState uint8

const (
	cteDone cteState = iota
	cteSeed
	cteStep
)

// with makes the CTEs of a WITH clause visible. Those of a view are resolved in order, for its text.
func (b *builder) with(w *syntax.With, around *scope) error {
	// One list for all of them, which grows in here alone: whoever else adds to it, or to a part of it, has to make a copy.
	visible, names := slices.Clip(b.ctes), make(map[string]bool, len(w.CTEs))
	for i := range w.CTEs {
		def := &w.CTEs[i]
		if names[def.Name.Name] {
			return types.Errorf(types.ErNonUniqTable, def.Name.Name)
		}
		names[def.Name.Name] = true
		c := &cte{def: def, named: w.Recursive, around: around, before: slices.Clip(visible)}
		if b.freeze || b.shown != nil {
			c.met = true
			if err := b.resolveCTE(c); err != nil {
				return err
			}
		}
		visible = append(visible, c)
	}
	b.ctes = slices.Clip(visible)
	return nil
}

// reachCTE resolves a CTE to which the first reference has been met, and before it those that its query names, in the order of their definitions: each
// in the one before would nest as deeply as the chain is long.
func (b *builder) reachCTE(c *cte) error {
	c.met = true
	order := []*cte{c}
	for i := 0; i < len(order); i++ {
		for name := range tableNames(order[i].def.Query) {
			if err := b.step(); err != nil {
				return err
			}
			before := order[i].before
			for k := len(before) - 1; k >= 0; k-- {
				if before[k].def.Name.Name != name {
					continue
				}
				if !before[k].met {
					before[k].met = true
					order = append(order, before[k])
				}
				break
			}
		}
	}
	slices.SortFunc(order, func(a, b *cte) int { return len(a.before) - len(b.before) })
	for _, c := range order {
		if err := b.resolveCTE(c); err != nil {
			return err
		}
	}
	return nil
}

// resolveCTE resolves the query of a CTE.
func (b *builder) resolveCTE(c *cte) error {
	saved, depth := b.ctes, b.derivedDepth
	defer func() { b.ctes, b.derivedDepth = saved, depth }()
	b.ctes, b.derivedDepth = c.before, depth+1
	if name := c.def.Name.Name; c.named && references(c.def.Query, name) > 0 {
		q := withoutParens(c.def.Query)
		op, ok := q.Body.(*syntax.SetOp)
		if !ok || op.Op != syntax.Union {
			if references(q, name) > directReferences(q, name) {
				return types.Errorf(types.ErInvalidRequiresSingleReference, name)
			}
			return types.Errorf(types.ErCteRecursiveRequiresUnion, name)
		}
		within := refCounter{name: name}
		if hides := within.with(q.With); hides || within.n > 0 || references(op, name) == 0 { // in a CTE or in ORDER BY, not in a query block
			return types.Errorf(types.ErInvalidRequiresSingleReference, name)
		}
		if q.With != nil {
			if err := b.with(q.With, c.around); err != nil {
				return err
			}
		}
		return b.resolveRecursive(c, q, op)
	}
	r, err := b.query(c.def.Query, c.around)
	if err != nil {
		return err
	}
	return c.take(r)
}

// take makes r the CTE's result.
func (c *cte) take(r *result) (err error) {
	c.body = r.rel
	if c.cols, err = renamed(r.cols, c.def.Name.Name, c.def.Columns); err != nil {
		return err
	}
	for i := range c.cols {
		c.out = append(c.out, c.cols[i].info.Type)
	}
	c.free, c.flags = free(c.body), flagsOf(c.body)
	return nil
}

// resolveRecursive resolves seed UNION [ALL] step, the body op of q: the first operands do not refer to the CTE and give its columns their types.
func (b *builder) resolveRecursive(c *cte, q *syntax.Query, op *syntax.SetOp) error {
	parts, distinct := unionParts(op)
	b.ctes = append(b.ctes[:len(b.ctes):len(b.ctes)], c)
	var seed *result
	steps := 0
	for i, part := range parts {
		c.inside = 0
		refers := references(part, c.def.Name.Name) > 0
		if c.open = cteSeed; steps > 0 || refers {
			if i == 0 || !refers {
				return types.Errorf(types.ErCteRecursiveRequiresNonrecursiveFirst, c.def.Name.Name)
			}
			c.open = cteStep
		}
		if c.open == cteStep && steps == 0 {
			if err := c.take(seed); err != nil {
				return err
			}
			for k := range c.cols { // the recursive parts may make NULLs
				c.cols[k].info.NotNull, b.combined[c.cols[k].id] = false, true
			}
		}
		if c.open == cteStep {
			if err := recursiveBlock(part, c.def.Name.Name); err != nil {
				return err
			}
			c.level = b.depth + max(1, layers(part))
		}
		r, err := b.body(part, c.around)
		if err != nil {
			return err
		}
		switch {
		case c.open == cteStep:
			if err := b.addStep(c, r); err != nil {
				return err
			}
			if steps++; steps == 1 {
				c.distinct = slices.Contains(distinct[i:], true)
			} else if c.distinct && !slices.Contains(distinct[i:], true) {
				return unsupported("recursive query blocks with UNION DISTINCT then UNION ALL, in recursive Common Table Expression")
			}
		case seed == nil:
			seed = r
		default:
			quant := syntax.DistinctAll
			if distinct[i] {
				quant = syntax.Distinct
			}
			if seed, err = b.combine(&syntax.SetOp{Op: syntax.Union, Quant: quant}, seed, r); err != nil {
				return err
			}
		}
	}
	c.open = cteDone
	if len(q.OrderBy) > 0 {
		return unsupported("ORDER BY over UNION in recursive Common Table Expression")
	}
	var err error
	c.count, c.offset, err = b.limit(q.Limit)
	return err
}

// unionParts are the operands of a chain of UNION. An operand in parentheses that is itself such a chain counts as its operands; on the right it
// must be of UNION ALL alone. distinct[i] says that part i follows UNION without ALL, which removes duplicates from all parts up to it.
func unionParts(op syntax.QueryBody) (parts []syntax.QueryBody, distinct []bool) {
	s, ok := op.(*syntax.SetOp)
	if q, nested := op.(*syntax.Query); nested {
		if q = withoutParens(q); bare(q) {
			s, ok = q.Body.(*syntax.SetOp)
		}
	}
	if !ok || s.Op != syntax.Union {
		return []syntax.QueryBody{op}, []bool{false}
	}
	parts, distinct = unionParts(s.Left)
	right, quants := unionParts(s.Right)
	if slices.Contains(quants, true) {
		right, quants = []syntax.QueryBody{s.Right}, []bool{false}
	}
	quants[len(quants)-1] = s.Quant != syntax.DistinctAll
	return append(parts, right...), append(distinct, quants...)
}

// recursiveBlock refuses aggregation, set operations, ORDER BY, LIMIT and DISTINCT in a block that refers to its own CTE, of which it sees only the rows of one
// iteration.
func recursiveBlock(part syntax.QueryBody, name string) error {
	switch body := unwrapped(part).(type) {
	case *syntax.SetOp:
		if body.Op == syntax.Union {
			return unsupported("right nested recursive query blocks, in Common Table Expression")
		}
		if directReferences(body, name) > 0 {
			return types.NewError(4114, "Recursive table reference in EXCEPT or INTERSECT operand is not allowed.")
		}
	case *syntax.ValuesRows:
		return types.Errorf(types.ErInvalidRequiresSingleReference, name)
	}
	for {
		q, ok := part.(*syntax.Query)
		if !ok {
			break
		}
		if len(q.OrderBy) > 0 || q.Limit != nil {
			return unsupported("ORDER BY / LIMIT / SELECT DISTINCT in recursive query block of Common Table Expression")
		}
		part = q.Body
	}
	sel, ok := part.(*syntax.Select)
	if !ok {
		return nil
	}
	groups := len(sel.GroupBy) > 0 || containsAggregate(sel.Having)
	for i := range sel.Items {
		groups = groups || containsAggregate(sel.Items[i].Expr) || containsWindow(sel.Items[i].Expr)
	}
	switch {
	case groups:
		return types.Errorf(types.ErCteRecursiveForbidsAggregation, name)
	case sel.Distinct == syntax.Distinct:
		return unsupported("ORDER BY / LIMIT / SELECT DISTINCT in recursive query block of Common Table Expression")
	}
	return nil
}

// layers counts the parenthesised queries around a query block.
func layers(part syntax.QueryBody) (n int) {
	for {
		q, ok := part.(*syntax.Query)
		if !ok {
			return n
		}
		n, part = n+1, q.Body
	}
}

// bare reports whether a query is its body and nothing else.
func bare(q *syntax.Query) bool {
	return q.With == nil && len(q.OrderBy) == 0 && q.Limit == nil && q.Into == nil && len(q.Locks) == 0
}

// unwrapped removes the parentheses around a query block.
func unwrapped(part syntax.QueryBody) syntax.QueryBody {
	for {
		q, ok := part.(*syntax.Query)
		if !ok {
			return part
		}
		part = q.Body
	}
}

// deltaFirst refuses recursive parts with the CTE on the right of a left or straight join: the join could not begin with the new rows.
func (b *builder) deltaFirst(c *cte, step rel) error {
	r, err := b.simplify(step)
	if err != nil {
		return err
	}
	isDelta := func(r rel) bool {
		ref, ok := r.(*cteRef)
		return ok && ref.delta && ref.cte == c
	}
	if anyRel(r, func(r rel) bool {
		j, ok := r.(*join)
		return ok && (j.kind == exec.JoinLeft || j.straight) && anyRel(j.right, isDelta)
	}) {
		return types.Errorf(types.ErCteRecursiveForbiddenJoinOrder, c.def.Name.Name)
	}
	return nil
}

// addStep adds a recursive part; its columns are cast to the seed's types.
func (b *builder) addStep(c *cte, r *result) error {
	if len(r.cols) != len(c.out) {
		return types.Errorf(types.ErWrongNumberOfColumnsInSelect)
	}
	if c.inside > 1 {
		return types.Errorf(types.ErInvalidRequiresSingleReference, c.def.Name.Name)
	}
	if err := b.deltaFirst(c, r.rel); err != nil {
		return err
	}
	steps := make([]expr.Expr, len(r.cols))
	for i := range r.cols {
		if err := readable(&c.out[i], r.rel, r.cols[i].id); err != nil {
			return err
		}
		steps[i] = expr.CoerceTo(b.env.Build, r.cols[i].expr(), c.out[i])
	}
	if c.recursive == nil {
		c.recursive, c.steps = r.rel, steps
	} else {
		s := &setOp{kind: setUnion, all: true, first: b.newIDs(len(steps)), out: c.out, branches: []branch{{c.recursive, c.steps}, {r.rel, steps}}}
		c.recursive, c.steps = s, make([]expr.Expr, len(steps))
		for i := range steps {
			c.steps[i] = expr.ColumnOf(s.first+i, c.out[i], c.cols[i].coer, c.cols[i].info.Name)
		}
	}
	c.free = append(c.free, free(r.rel)...)
	c.flags |= flagsOf(r.rel)
	return nil
}

// cteReference finds the CTE that a name in FROM means; r is nil if there is none.
func (b *builder) cteReference(name, alias string) (r rel, cols []column, err error) {
	for i := len(b.ctes) - 1; i >= 0; i-- {
		if err := b.step(); err != nil {
			return nil, nil, err
		}
		c := b.ctes[i]
		if c.def.Name.Name != name {
			continue
		}
		if !c.met {
			if err := b.reachCTE(c); err != nil {
				return nil, nil, err
			}
		}
		if c.open == cteSeed {
			continue // in a seed the name means what it means outside of the CTE
		}
		if c.open == cteDone && len(c.free) > 0 && c.refs > 0 {
			again := &cte{def: c.def, named: c.named, met: true, around: c.around, before: c.before}
			if b.again++; b.again > againMax {
				return nil, nil, types.NewError(4169, "Common table expression expansion exceeded an implementation limit. Simplify the query.")
			}
			if err := b.resolveCTE(again); err != nil {
				return nil, nil, err
			}
			c = again
		}
		if c.open == cteStep && b.depth != c.level {
			return nil, nil, types.Errorf(types.ErInvalidRequiresSingleReference, name)
		}
		c.refs++
		c.inside++
		ref := &cteRef{cte: c, first: b.newIDs(len(c.out)), delta: c.open == cteStep}
		cols = make([]column, len(c.cols))
		merged := mergedQuery(c.def.Query)
		for k := range c.cols {
			cols[k] = column{id: ref.first + k, table: alias, info: c.cols[k].info, coer: c.cols[k].coer}
			cols[k].zeroDate, cols[k].named = b.derivedZeroDate(&cols[k], merged), merged
			cols[k].info.Table, cols[k].info.Schema = alias, ""
			b.handOn(&cols[k], c.cols[k].id, merged)
			if c.recursive != nil || c.open == cteStep {
				b.hand(cols[k].id, handedColumn{typ: cols[k].info.Type})
			}
			b.combined[cols[k].id] = b.combined[c.cols[k].id]
		}
		if !ref.delta {
			return b.keptApart(ref, alias), cols, nil
		}
		return ref, cols, nil
	}
	return nil, nil, nil
}
