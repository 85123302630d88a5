package plan

import (
	"math"

	"github.com/pandodb/pando/exec"
	"github.com/pandodb/pando/expr"
	"github.com/pandodb/pando/types"
)

// readExtreme reads MIN or MAX of a column from one end of an index: the first row in the column's order is all that the aggregate needs.
// The stage is nil if the block is something else, or no index gives that order cheaply.
func (s *selection) readExtreme(w *want) (*stage, error) {
	column, desc, ok := s.extreme()
	if !ok {
		return nil, nil
	}
	first := *w
	first.order, first.limit = []orderColumn{{column, desc}}, 1
	if c := w.table.Columns[column]; !c.NotNull {
		present, err := expr.Call(s.b.env.Build, "is not null", s.from.scope.column(column))
		if err != nil {
			return nil, err
		}
		first.conjuncts = append(append([]expr.Expr(nil), w.conjuncts...), present)
	}
	p, err := s.b.access(&first)
	if err != nil || !p.ordered || s.b.locks && p.byEntries() {
		return nil, err
	}
	one := expr.Literal(types.Int(1))
	cols := s.outputColumns(w.needed, p.rest)
	node, err := s.b.node(&first, p, cols, one)
	if err != nil {
		return nil, err
	}
	return &stage{node: &exec.Limit{Base: exec.Base{EstRows: 1}, Input: node, Count: one}, rows: 1, remap: positions(cols)}, nil
}

// extreme recognises a block whose only aggregate is MIN or MAX of a column that an index orders as the aggregate does. An ENUM's index
// follows the members' numbers and MIN their names.
func (s *selection) extreme() (column int, desc, ok bool) {
	agg := s.bind.agg
	if agg == nil || len(agg.keys) > 0 || len(agg.aggs) != 1 {
		return 0, false, false
	}
	spec := agg.aggs[0]
	if spec.Name() != "min" && spec.Name() != "max" || len(spec.Args()) != 1 {
		return 0, false, false
	}
	column, ok = spec.Args()[0].ColumnIndex()
	if !ok || column >= len(s.from.table.Columns) {
		return 0, false, false
	}
	t := &s.from.table.Columns[column].Type
	switch t.ID {
	case types.TypeEnum, types.TypeSet, types.TypeBit, types.TypeJSON:
		return 0, false, false
	}
	return column, spec.Name() == "max", true
}

// takeConstants removes the conditions that don't depend on the row from what a scan tests. Points keep them: they are few, and direct
// programs run them.
func (p *path) takeConstants() []expr.Expr {
	if p.points {
		return nil
	}
	var gate, rest []expr.Expr
	for _, c := range p.rest {
		if expr.IsConstInStatement(c) && expr.IsDeterministic(c) {
			gate = append(gate, c)
		} else {
			rest = append(rest, c)
		}
	}
	p.rest = rest
	return gate
}

// gated reads nothing unless the constant conditions hold, so that WHERE 1 = 0 costs nothing. They become the count of a LIMIT, which is
// evaluated before the first row is read.
func (b *builder) gated(node exec.Node, gate []expr.Expr, rows float64) (exec.Node, error) {
	if len(gate) == 0 {
		return node, nil
	}
	condition, err := expr.JoinAnd(b.env.Build, gate)
	if err != nil {
		return nil, err
	}
	count, err := expr.Call(b.env.Build, "if", condition, expr.Literal(types.Int(math.MaxInt64)), expr.Literal(types.Int(0)))
	if err != nil {
		return nil, err
	}
	return &exec.Limit{Base: exec.Base{EstRows: rows}, Input: node, Count: count}, nil
}
