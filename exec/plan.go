package exec

import (
	"time"

	"github.com/pandodb/pando/catalog"
	"github.com/pandodb/pando/expr"
	"github.com/pandodb/pando/sqlapi"
	"github.com/pandodb/pando/types"
)

// TableRef names a descriptor that a plan was built on. The plan is valid as long
// as the catalog still has this version under this name.
type TableRef struct {
	Table   *catalog.Table
	Version uint64
	// Write says that the statement changes or locks the table's rows.
	Write bool
	// Use is how the statement uses the table, which must agree with the locks that others have on the whole table.
	Use catalog.UseMode
	// Via is the view through whose query the table is used, nil if the statement names
	// it itself.
	Via *catalog.Table
	// Foreign says that the statement does not name the table: foreign keys lead to it, which need no privileges.
	Foreign bool
	// Bytes are what a temporary table held when the statement was planned.
	Bytes int64
}

// Plan is one compiled statement. It is immutable after Seal and executed by many
// sessions at a time.
type Plan struct {
	Root Node
	// Columns describes the result set; one per output column of Root. Empty for
	// statements without one.
	Columns []sqlapi.ColumnInfo
	// IsQuery says that the statement yields a result set.
	IsQuery bool
	// OnlyWarns says that the statement yields no result set and writes nothing: errors of strict mode are warnings of it, as of a query.
	OnlyWarns bool
	// NeedsTxn says that the statement writes or locks; Seal derives it.
	NeedsTxn bool
	// MaxTime is what a MAX_EXECUTION_TIME hint allows, 0 without one. The session keeps to it.
	MaxTime time.Duration
	// Command is the kind of statement under which the session counts executions.
	Command uint8
	// Notices are about how the text is written. Executions give them, but for those of prepared statements, whose PREPARE has.
	Notices []types.Warning
	// Warnings are about the statement itself, such as a hint that is not followed; every execution gives them.
	Warnings []types.Warning
	// Dates are the lifted literals that a date is compared with; see CheckDates. DatesConvert says how one that is no date ends the statement.
	Dates        []DateParam
	DatesConvert bool
	// Fixed are other texts that have one value during the statement and that a date is compared with; the executor looks at them first.
	Fixed []FixedDate
	// Params is the number of the statement's parameters, lifted literals included.
	// Slots is the number of further parameters after them, which Apply and Subplans fill.
	Params, Slots int
	ParamTypes    []types.Type
	// LimitParams are the parameters that stand in LIMIT, for which not every value will do.
	LimitParams []int
	Tables      []TableRef
	// Subplans are the subqueries within expressions, at any depth, each once.
	Subplans []*Subplan
	// CTEs are the common table expressions that CTEScans read, each once.
	CTEs []*CTE
	// Program is the direct program of the statement, or nil; set by Seal.
	Program *Program
	// Accesses are where the plan reads and writes tables; set by Seal.
	Accesses []Access
	// Profile is how the plan reads and sorts; set by Seal.
	Profile Profile
	// Bytes is the plan's approximate memory, for the plan cache; the planner fills it.
	Bytes int

	nodes int // nodes numbered by Seal
}

// DateParam is a lifted literal that has to be a date.
type DateParam struct {
	Ordinal int
	Need    expr.DateNeed
}

// FixedDate is a text that has one value during a statement and has to be a date.
type FixedDate struct {
	Text expr.Expr
	Need expr.DateNeed
}

// checkFixed fails if one of the texts that have to be dates is none, whatever rows there are. What their evaluation warns of is told when the
// comparison is evaluated.
func (p *Plan) checkFixed(rt *Runtime) error {
	if len(p.Fixed) == 0 {
		return nil
	}
	told := rt.Ctx.Context
	quiet := told.Fork()
	defer func() { rt.Ctx.Context = told }()
	rt.Ctx.Context = quiet
	for i := range p.Fixed {
		v, err := p.Fixed[i].Text.Eval(rt.Ctx, nil)
		if err == nil {
			err = p.Fixed[i].Need.Check(told, v)
		}
		if err != nil {
			err, warning := expr.Settle(err, p.DatesConvert)
			if warning != nil {
				told.AddError(types.LevelWarning, warning)
			}
			return err
		}
	}
	return nil
}

// CheckDates fails if one of a statement's literals that have to be dates is none, whatever rows there are. A placeholder's text that is no date
// is no error: it is compared as the zero date, with a warning.
func (p *Plan) CheckDates(ctx *types.Context, params []types.Value) error {
	for i := range p.Dates {
		if err := p.Dates[i].Need.Check(ctx, params[p.Dates[i].Ordinal]); err != nil {
			err, warning := expr.Settle(err, p.DatesConvert)
			if warning != nil {
				ctx.AddError(types.LevelWarning, warning)
			}
			return err
		}
	}
	return nil
}

// Seal completes a plan after the planner has built it: it numbers the nodes, caches
// their output types and compiles the direct program. It must be called once, before
// the plan is shared.
func (p *Plan) Seal() *Plan {
	for _, s := range p.Subplans {
		p.seal(s.Root)
	}
	for _, c := range p.CTEs {
		p.seal(c.Root)
		if c.Recursive != nil {
			p.seal(c.Recursive)
		}
	}
	p.seal(p.Root)
	p.Program = CompileProgram(p)
	p.Profile = p.profile()
	return p
}

func (p *Plan) seal(n Node) {
	b := n.base()
	b.id = p.nodes
	p.nodes++
	for _, c := range n.Children() {
		p.seal(c)
	}
	b.out = n.outputs()
	if b.out == nil {
		b.out = []types.Type{}
	}
	if s, ok := n.(sealer); ok {
		s.seal()
	}
	p.number(n)
	switch n.(type) {
	case *Insert, *LockRows, *Update, *Delete:
		p.NeedsTxn = true
	}
}
