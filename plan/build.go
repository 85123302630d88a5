package plan

import (
	"strconv"

	"github.com/pandodb/pando/catalog"
	"github.com/pandodb/pando/exec"
	"github.com/pandodb/pando/expr"
	"github.com/pandodb/pando/sqlapi"
	"github.com/pandodb/pando/syntax"
	"github.com/pandodb/pando/types"
)

// nestingMax bounds derived tables and subqueries within each other.
const nestingMax = 61

// builder collects what belongs to the statement as a whole while its blocks are built.
type builder struct {
	env     *Env
	plan    *exec.Plan
	depth   int
	private bool     // the plan depends on the session and must not be shared
	locks   bool     // plain reads lock: see LockReads
	outer   []*scope // of the blocks around the subquery that is being built
}

// Build compiles one statement to a physical plan. The plan is immutable and may be shared by sessions with an equal Env,
// if shareable. Errors are *types.Error; what is parsed and not yet executed gives 1235.
func Build(env *Env, stmt syntax.Statement) (p *exec.Plan, shareable bool, err error) {
	b := &builder{env: env, plan: &exec.Plan{Params: len(env.ParamTypes), ParamTypes: env.ParamTypes}}
	b.locks = env.LockReads == LockReadsOfAll || env.LockReads == LockReadsOfWrites && writes(stmt)
	switch stmt := stmt.(type) {
	case *syntax.Query:
		err = b.statementQuery(stmt)
	case *syntax.Insert:
		err = b.insert(stmt)
	case *syntax.Update:
		err = b.update(stmt)
	case *syntax.Delete:
		err = b.delete(stmt)
	case *syntax.Do:
		err = b.do(stmt)
	default:
		return nil, false, unsupported("this statement in this place")
	}
	if err != nil {
		return nil, false, err
	}
	b.plan.Bytes = planBytes(b.plan)
	return b.plan.Seal(), !b.private, nil
}

func writes(stmt syntax.Statement) bool {
	switch stmt.(type) {
	case *syntax.Query, *syntax.Do:
		return false
	}
	return true
}

// planBytes approximates the memory of a plan; its trees are small and of similar size, so counting nodes and columns does.
func planBytes(p *exec.Plan) int {
	total := 512 + len(p.Columns)*256 + len(p.Tables)*64
	var count func(n exec.Node)
	count = func(n exec.Node) {
		total += 1024
		if insert, ok := n.(*exec.Insert); ok {
			for _, row := range insert.Rows {
				total += 200 * len(row)
			}
		}
		for _, child := range n.Children() {
			count(child)
		}
	}
	count(p.Root)
	return total
}

// use records a table that the plan depends on.
func (b *builder) use(t *catalog.Table, write bool) {
	for i := range b.plan.Tables {
		if b.plan.Tables[i].Table == t {
			b.plan.Tables[i].Write = b.plan.Tables[i].Write || write
			return
		}
	}
	b.plan.Tables = append(b.plan.Tables, exec.TableRef{Table: t, Version: t.Version, Write: write})
}

// param returns the reference to placeholder or lifted literal number ordinal.
func (b *builder) param(ordinal int) (expr.Expr, error) {
	if b.env.UnknownParams {
		b.plan.Params = max(b.plan.Params, ordinal+1)
		return expr.Param(ordinal, types.Type{}), nil
	}
	if ordinal >= len(b.env.ParamTypes) {
		return nil, types.Errorf(types.ErWrongArguments, "parameter "+strconv.Itoa(ordinal+1))
	}
	return expr.Param(ordinal, b.env.ParamTypes[ordinal]), nil
}

func (b *builder) lifted(lit *syntax.Literal) bool {
	_, ok := b.env.Lifted[lit.Pos]
	return ok
}

// note remembers what an expression means for sharing the plan. Every expression that becomes part of the plan passes here.
func (b *builder) note(e expr.Expr) expr.Expr {
	if e != nil && !expr.IsCacheable(e) {
		b.private = true
	}
	return e
}

func (b *builder) statementQuery(q *syntax.Query) error {
	if q.Into != nil {
		return unsupported("SELECT … INTO")
	}
	block, err := b.query(q)
	if err != nil {
		return err
	}
	node := block.node
	if limit := b.env.SelectLimit; limit >= 0 && q.Limit == nil {
		node = &exec.Limit{Input: node, Count: expr.Literal(types.Int(limit))}
	}
	b.plan.Root = node
	b.plan.IsQuery = true
	b.plan.Columns = block.columns()
	return nil
}

// block is a built query: its node and the names of the node's columns.
type block struct {
	node  exec.Node
	scope *scope
	rows  float64
}

func (q *block) columns() []sqlapi.ColumnInfo {
	infos := make([]sqlapi.ColumnInfo, len(q.scope.columns))
	for i := range q.scope.columns {
		infos[i] = q.scope.columns[i].info
	}
	return infos
}

// query builds a query expression.
func (b *builder) query(q *syntax.Query) (*block, error) {
	b.depth++
	defer func() { b.depth-- }()
	if b.depth > nestingMax {
		return nil, types.Errorf(types.ErTooHighLevelOfNestingForSelect, nestingMax)
	}
	if q.With != nil {
		return nil, unsupported("WITH; use a derived table")
	}
	switch body := q.Body.(type) {
	case *syntax.Select:
		return b.selectBlock(body, q)
	case *syntax.Query:
		if len(q.OrderBy) == 0 && q.Limit == nil {
			return b.query(body)
		}
		return nil, unsupported("ORDER BY or LIMIT around a parenthesised query")
	case *syntax.TableQuery:
		all := &syntax.Select{Items: []syntax.SelectItem{{Expr: &syntax.Star{}}},
			From: &syntax.TableRef{Schema: body.Name.Schema, Name: body.Name.Name, Pos: body.Name.Pos}}
		return b.selectBlock(all, q)
	case *syntax.SetOp:
		return nil, unsupported("UNION, INTERSECT and EXCEPT; run the queries one by one")
	}
	return nil, unsupported("VALUES as a query")
}

// do evaluates expressions and sends nothing.
func (b *builder) do(stmt *syntax.Do) error {
	bind := &binder{env: b.env, build: b, scope: &scope{}, clause: "field list"}
	project := &exec.Project{Input: &exec.Dual{}}
	for _, item := range stmt.Exprs {
		e, err := bind.bind(item.Expr)
		if err != nil {
			return err
		}
		project.Exprs = append(project.Exprs, b.note(e))
	}
	b.plan.Root = project
	b.plan.Columns = make([]sqlapi.ColumnInfo, len(project.Exprs))
	return nil
}

// correlated tells a name that a block around the subquery would resolve from one that is unknown everywhere.
func (b *builder) correlated(e *syntax.ColumnRef, unknown error) error {
	for _, s := range b.outer {
		if _, err := s.find(e, ""); err == nil {
			return unsupported("correlated subqueries; run the inner query by itself")
		}
	}
	return unknown
}

// subquery builds an uncorrelated subquery, which runs at most once, when it is needed, and returns the expression of its value.
func (b *builder) subquery(q *syntax.Query, kind exec.SubplanKind, around *scope) (expr.Expr, error) {
	b.outer = append(b.outer, around)
	block, err := b.query(q)
	b.outer = b.outer[:len(b.outer)-1]
	if err != nil {
		return nil, err
	}
	t := types.Type{ID: types.TypeBigInt, Length: 1}
	if kind == exec.SubplanScalar {
		if len(block.scope.columns) != 1 {
			return nil, types.Errorf(types.ErOperandColumns, 1)
		}
		t = block.scope.columns[0].info.Type
	}
	sub := &exec.Subplan{Root: block.node, Kind: kind}
	b.plan.Subplans = append(b.plan.Subplans, sub)
	return sub.Expr("(subquery)", t, nil, nil, true), nil
}

// Scalar binds an expression outside any table, such as the value of SET.
func Scalar(env *Env, e syntax.Expr) (expr.Expr, error) {
	b := &builder{env: env, plan: &exec.Plan{}}
	bind := &binder{env: env, build: b, scope: &scope{}, clause: "field list"}
	bound, err := bind.bind(e)
	if err == nil && len(b.plan.Subplans) > 0 {
		return nil, unsupported("subqueries in SET")
	}
	return bound, err
}
