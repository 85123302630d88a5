package exec

import (
	"sync"

	"github.com/pandodb/pando/catalog"
	"github.com/pandodb/pando/expr"
	"github.com/pandodb/pando/sqlapi"
	"github.com/pandodb/pando/table"
	"github.com/pandodb/pando/types"
)

// programKind is the shape of a direct program.
type programKind uint8

const (
	programPoint  programKind = iota // SELECT of one row by a unique key
	programRange                     // SELECT of ranges in key order
	programAgg                       // scalar aggregates over ranges
	programSort                      // SELECT [DISTINCT] of short ranges, sorted in memory
	programUpdate                    // UPDATE of one row by primary key
	programDelete                    // DELETE of one row by primary key
)

var programNames = [...]string{"point", "range", "aggregate", "sort", "update", "delete"}

// Program is a plan whose shape is one of a few that most OLTP statements have. It
// runs on the connection's own goroutine from stored bytes straight to the sink: no
// operators, no batches, no allocation per row. Everything a program does, the batch
// executor can do as well, and tests hold the two together (invariant X1).
//
// A Program is immutable and shared like its plan.
type Program struct {
	kind    programKind
	columns []sqlapi.ColumnInfo
	table   *catalog.Table
	index   *catalog.Index // nil or the primary key: the rows

	key      []expr.Expr // point, update, delete: one value per key column
	covering bool        // point: the entry of the unique index has all columns
	access   int         // of those of the plan: where it reads a row by its key
	change   int         // where it changes it
	scan     scanKind    // of ranges

	ranges  []Range // range, aggregate, sort
	reverse bool
	limit   expr.Expr

	shape  *table.Shape // of the columns read
	fields []int        // output column → field of shape
	types  []*types.Type

	plan *Plan // runs instead where the program can't: sorts that do not fit, ranges under SERIALIZABLE, long ranges for which there are workers

	shared bool // aggregate: the plan has workers for it

	aggs *aggProgram
	sort *sortProgram
	set  *updateProgram
}

// String names the program's shape, for EXPLAIN and tests.
func (p *Program) String() string { return programNames[p.kind] }

// aggProgram is what a programAgg adds: the aggregates and, per output column, which.
type aggProgram struct {
	specs   []*expr.AggSpec
	outputs []int
	// pool holds *aggState: aggregate states are per plan, while scratch memory is per
	// session, and a session has many plans.
	pool sync.Pool
}

// sortProgram is what a programSort adds.
type sortProgram struct {
	keys     []int // fields, in the order of ORDER BY
	desc     []bool
	distinct bool // the keys are all columns, so that equal rows become neighbours
}

// updateProgram is what a programUpdate or programDelete adds.
type updateProgram struct {
	set      []Assignment
	cols     []int // assigned ordinals
	defaults []expr.Expr
	read     []int // ordinals that expressions read, in the order of shape's fields
	// residual are the conditions besides the key's, over ordinals.
	residual []expr.Expr
}

// CompileProgram returns the direct program of a plan, or nil if its shape has none.
// Seal calls it.
func CompileProgram(p *Plan) *Program {
	if len(p.Subplans)+len(p.CTEs) > 0 || p.Slots > 0 || p.Root == nil {
		return nil
	}
	var prog *Program
	switch root := p.Root.(type) {
	case *Update:
		prog = compileUpdate(root)
	case *Delete:
		prog = compileDelete(root)
	default:
		if p.IsQuery && len(p.Columns) > 0 {
			prog = compileQuery(root)
		}
	}
	if prog != nil {
		prog.columns = p.Columns
		prog.plan = p
	}
	return prog
}

// compileQuery peels projection, limit, sort and aggregate off a scan.
func compileQuery(root Node) *Program {
	out, n, ok := peelProject(root)
	if !ok {
		return nil
	}
	switch n := n.(type) {
	case *PointGet:
		return compilePoint(n, out)
	case *Scan:
		return compileRange(n, out)
	case *Limit:
		scan, ok := n.Input.(*Scan)
		if !ok || n.Offset != nil || n.FoundRows || scan.Limit == nil || !sameExpr(scan.Limit, n.Count) {
			return nil
		}
		return compileRange(scan, out)
	case *StreamAgg:
		return compileAgg(n.Input, n.Keys, n.Aggs, out)
	case *HashAgg:
		if gather, ok := n.Input.(*Gather); ok && n.Phase == AggFinal {
			return compileSharedAgg(gather, out)
		}
		return compileAgg(n.Input, n.Keys, n.Aggs, out)
	case *Sort:
		return compileSort(n, out)
	}
	return nil
}

func sameExpr(a, b expr.Expr) bool { return a == b || a != nil && b != nil && expr.Equal(a, b) }

// peelProject removes a projection of plain columns. out maps output columns to the
// input's; nil is the identity.
func peelProject(n Node) (out []int, below Node, ok bool) {
	p, is := n.(*Project)
	if !is {
		return nil, n, true
	}
	for _, e := range p.Exprs {
		c, plain := e.ColumnIndex()
		if !plain {
			return nil, nil, false
		}
		out = append(out, c)
	}
	return out, p.Input, true
}

// project fills the output side of a program that yields columns of cols.
func (p *Program) project(l *rowLayout, out []int) bool {
	if l.key {
		return false
	}
	p.shape = l.shape
	if out == nil {
		out = make([]int, len(l.field))
		for i := range out {
			out[i] = i
		}
	}
	for _, c := range out {
		f := l.field[c]
		p.fields = append(p.fields, f)
		p.types = append(p.types, l.shape.Type(f))
	}
	return true
}

func compilePoint(n *PointGet, out []int) *Program {
	if len(n.Keys) != 1 || n.Filter != nil {
		return nil
	}
	p := &Program{kind: programPoint, table: n.Table, index: n.Index, key: n.Keys[0], access: n.access, covering: n.Covering || n.Index.Primary}
	if !p.project(&n.layout, out) {
		return nil
	}
	return p
}

// scanProgram starts a program over a scan without filter.
func scanProgram(kind programKind, n *Scan) *Program {
	if n.Filter != nil {
		return nil
	}
	return &Program{kind: kind, table: n.Table, index: n.Index, ranges: n.Ranges, reverse: n.Reverse, limit: n.Limit, scan: n.kind}
}

func compileRange(n *Scan, out []int) *Program {
	p := scanProgram(programRange, n)
	if p == nil || !p.project(&n.layout, out) {
		return nil
	}
	return p
}

func compileAgg(input Node, keys []expr.Expr, aggs []*expr.AggSpec, out []int) *Program {
	scan, ok := input.(*Scan)
	if !ok || len(keys) > 0 || scan.Limit != nil || len(scan.Ranges) == 0 {
		return nil
	}
	for _, a := range aggs {
		if a.Distinct() || a.Name() == "group_concat" {
			return nil // they hold what they have seen: memory to be accounted
		}
	}
	p := scanProgram(programAgg, scan)
	if p == nil || !p.project(&scan.layout, nil) {
		return nil
	}
	if out == nil {
		for i := range aggs {
			out = append(out, i)
		}
	}
	p.aggs = &aggProgram{specs: aggs, outputs: out}
	p.types = p.types[:0]
	for _, i := range out {
		t := aggs[i].Type()
		p.types = append(p.types, &t)
	}
	return p
}

// compileSharedAgg compiles an aggregation that the plan lets workers do: the range may
// turn out to be short.
func compileSharedAgg(n *Gather, out []int) *Program {
	partial, ok := n.Input.(*HashAgg)
	if !ok {
		return nil
	}
	p := compileAgg(partial.Input, partial.Keys, partial.Aggs, out)
	if p != nil {
		p.shared = true
	}
	return p
}

// compileSort accepts ORDER BY over the columns of a bounded scan, and DISTINCT below
// it when ORDER BY names every column.
func compileSort(n *Sort, out []int) *Program {
	below, distinct := n.Input, false
	if d, ok := below.(*Distinct); ok {
		below, distinct = d.Input, true
	}
	inner, below, ok := peelProject(below)
	if !ok {
		return nil
	}
	scan, ok := below.(*Scan)
	if !ok || len(scan.Ranges) == 0 || scan.Limit != nil {
		return nil
	}
	p := scanProgram(programSort, scan)
	if p == nil || !p.project(&scan.layout, inner) {
		return nil
	}
	s := &sortProgram{distinct: distinct}
	named := map[int]bool{}
	for _, k := range n.Keys {
		c, plain := k.Expr.ColumnIndex()
		if !plain || k.Lengths {
			return nil
		}
		s.keys, s.desc = append(s.keys, p.fields[c]), append(s.desc, k.Desc)
		named[c] = true
	}
	if distinct && len(named) < len(p.fields) {
		return nil
	}
	if out != nil {
		fields, ts := p.fields, p.types
		p.fields, p.types = nil, nil
		for _, c := range out {
			p.fields, p.types = append(p.fields, fields[c]), append(p.types, ts[c])
		}
	}
	p.sort = s
	return p
}

// compileKeyed accepts the locking read of one row by its primary key.
func compileKeyed(kind programKind, t *catalog.Table, input Node, change int) *Program {
	lock, ok := input.(*LockRows)
	if !ok || lock.Mode != LockExclusive || lock.Wait != WaitDefault || lock.Limit != nil || lock.Table != t {
		return nil
	}
	get, ok := lock.Input.(*PointGet)
	if !ok || !get.keysOnly || len(get.Keys) != 1 {
		return nil
	}
	p := &Program{kind: kind, table: t, index: get.Index, key: get.Keys[0], access: get.access, change: change, set: &updateProgram{}}
	for _, c := range expr.SplitAnd(nil, lock.Where) {
		if !isKeyEquality(c, get) {
			p.set.residual = append(p.set.residual, c)
		}
	}
	return p
}

// isKeyEquality reports whether c says only that a key column has the value that the
// key was made of: true of every version of a row with that key.
func isKeyEquality(c expr.Expr, get *PointGet) bool {
	if !c.IsCall("=") {
		return false
	}
	for i, ic := range get.Index.Columns {
		for side := range 2 {
			col, plain := c.Args()[side].ColumnIndex()
			if plain && col == ic.Col && sameExpr(c.Args()[1-side], get.Keys[0][i]) {
				return true
			}
		}
	}
	return false
}

// readColumns lists the ordinals that expressions read and makes the shape of them.
func (p *Program) readColumns(exprs []expr.Expr) bool {
	seen := make([]bool, len(p.table.Columns))
	ok := true
	for _, e := range exprs {
		expr.Columns(e, func(i int) {
			if i >= len(seen) {
				ok = false
				return
			}
			seen[i] = true
		})
	}
	for i, s := range seen {
		if s {
			p.set.read = append(p.set.read, i)
		}
	}
	if ok {
		p.shape = table.NewShape(p.table, nil, p.set.read)
	}
	return ok
}

func compileUpdate(n *Update) *Program {
	p := compileKeyed(programUpdate, n.Table, n.Input, n.access)
	if p == nil || n.Ignore || len(n.Checks) > 0 || n.Guard != nil {
		return nil
	}
	p.set.set, p.set.defaults = n.Set, n.Defaults
	exprs := append([]expr.Expr(nil), p.set.residual...)
	for i := range n.Set {
		if assigns(n.Set[:i], n.Set[i].Col) {
			return nil
		}
		p.set.cols = append(p.set.cols, n.Set[i].Col)
		if n.Set[i].Expr != nil {
			exprs = append(exprs, n.Set[i].Expr)
		} else if n.Defaults != nil && n.Defaults[n.Set[i].Col] != nil {
			exprs = append(exprs, n.Defaults[n.Set[i].Col])
		}
	}
	for _, c := range n.Table.Columns {
		if c.OnUpdateNow {
			return nil
		}
	}
	if !p.readColumns(exprs) {
		return nil
	}
	return p
}

func compileDelete(n *Delete) *Program {
	p := compileKeyed(programDelete, n.Table, n.Input, n.access)
	if p == nil || n.Ignore || n.Guard != nil || !p.readColumns(p.set.residual) {
		return nil
	}
	return p
}
