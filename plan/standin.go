package plan

import (
	"errors"
	"slices"

	"github.com/pandodb/pando/catalog"
	"github.com/pandodb/pando/clock"
	"github.com/pandodb/pando/expr"
	"github.com/pandodb/pando/types"
)

// A condition on an expression, or an ORDER BY, can use an index over the same expression: the generated column in the index stands in for the
// expression. As in MySQL both expressions must be equal, with the same types.

// ErrLifted says that a statement has to be planned again without lifting its literals, because an index may be over an expression that holds one.
var ErrLifted = errors.New("plan: the literals of the statement decide about its indexes")

// standIn is a generated column that an index holds.
type standIn struct {
	column int // ordinal
	e      expr.Expr
	// exact says that the column has the type of the expression. Others may store its values changed or cut, so that conditions are tested again.
	exact bool
}

// standIns lists the generated columns of t that its readable indexes hold.
func (b *builder) standIns(t *catalog.Table) []standIn {
	if list, known := b.generatedOf[t]; known {
		return list
	}
	var list []standIn
	for i, c := range t.Columns {
		if c.Generated == nil || !isIndexed(t, i) {
			continue
		}
		e, err := b.generated(t, c, 0)
		if err != nil || b.foreignZone(e, t) {
			continue
		}
		if _, plain := e.ColumnIndex(); plain {
			continue // it is a copy of a column, which needs no stand-in
		}
		exact := c.Type.Equal(e.TypeRef())
		if exact || !c.Hidden && holdsAlike(&c.Type, e.TypeRef()) {
			list = append(list, standIn{i, e, exact})
		}
	}
	if b.generatedOf == nil {
		b.generatedOf = map[*catalog.Table][]standIn{}
	}
	b.generatedOf[t] = list
	return list
}

func isIndexed(t *catalog.Table, col int) bool {
	return slices.ContainsFunc(t.Indexes, func(ix *catalog.Index) bool {
		return ix.State == catalog.StatePublic && ix.Visible && ix.Readable(clock.MaxTimestamp) &&
			slices.ContainsFunc(ix.Columns, func(part catalog.IndexColumn) bool { return part.Col == col })
	})
}

// holdsAlike reports whether a column of type c orders the values of an expression of type e as the expression does, where it has room for them.
func holdsAlike(c, e *types.Type) bool {
	switch {
	case c.IsInteger():
		return e.IsInteger() && c.Unsigned == e.Unsigned
	case c.IsStringType():
		return e.IsStringType() && c.ID != types.TypeBinary && (c.Coll == e.Coll || c.Coll.Charset() == e.Coll.Charset() && e.Coll == types.Utf8mb4Bin)
	}
	return false
}

// foreignZone reports whether an expression may have another value in the session's time zone than the column, which is computed in UTC.
func (b *builder) foreignZone(e expr.Expr, t *catalog.Table) bool {
	if b.env.Build.Ctx.Location().String() == "UTC" {
		return false
	}
	found := false
	expr.Walk(e, func(n expr.Expr) bool {
		found = found || n.TypeRef().ID == types.TypeTimestamp || n.IsCall("from_unixtime", "unix_timestamp")
		return !found
	})
	return found
}

// standsFor finds the column that stands in for e, an expression over t's columns by ordinal.
func (b *builder) standsFor(t *catalog.Table, e expr.Expr) *standIn {
	if _, plain := e.ColumnIndex(); plain || expr.IsConst(e) {
		return nil
	}
	list := b.standIns(t)
	for i := range list {
		if expr.Equal(list[i].e, e) {
			return &list[i]
		}
	}
	for i := range list {
		if len(b.env.Lifted) > 0 && expr.Resembles(e, list[i].e) {
			b.unlift = true
		}
	}
	return nil
}

// substitution are the conditions that access uses instead of the wanted ones.
type substitution struct {
	conjuncts []expr.Expr
	// was maps the new ones to those that they replace.
	was map[expr.Expr]expr.Expr
}

// substitute replaces expressions by the generated columns that stand in for them. If such a column is not exact, the original condition is tested,
// too.
func (b *builder) substitute(w *want) substitution {
	s := substitution{conjuncts: w.conjuncts}
	if len(b.standIns(w.table)) == 0 {
		return s
	}
	s.conjuncts = nil
	s.was = map[expr.Expr]expr.Expr{}
	for _, c := range w.conjuncts {
		exact := true
		instead := b.instead(w.table, c, &exact)
		if instead == nil {
			s.conjuncts = append(s.conjuncts, c)
			continue
		}
		s.conjuncts = append(s.conjuncts, instead)
		s.was[instead] = c
		if !exact {
			s.conjuncts = append(s.conjuncts, c)
		}
	}
	return s
}

// restored are the conditions that a path leaves to be tested on its rows: the original ones, unless the path reads nothing but its index.
func (s *substitution) restored(p *path) []expr.Expr {
	if len(s.was) == 0 {
		return p.rest
	}
	covering := p.index != nil && !p.index.Primary && p.cover // it was priced with the columns that stand in
	var out []expr.Expr
	for _, c := range p.rest {
		was := s.was[c]
		if was != nil && !covering {
			c = was
		}
		if !slices.Contains(out, c) {
			out = append(out, c)
		}
	}
	return out
}

// instead is a condition over generated columns that holds for the same rows as c, nil if there is none that an index could decide.
func (b *builder) instead(t *catalog.Table, c expr.Expr, exact *bool) expr.Expr {
	args := c.Args()
	switch {
	case c.IsCall("=", "<=>", "<", "<=", ">", ">="):
		equal := c.IsCall("=")
		if made := b.compared(t, c.Name(), args, 0, equal, exact); made != nil {
			return made
		}
		return b.compared(t, c.Name(), args, 1, equal, exact)
	case c.IsCall("between"):
		return b.compared(t, c.Name(), args, 0, false, exact)
	case c.IsCall("in"):
		return b.compared(t, c.Name(), args, 0, true, exact)
	case c.IsCall("is null", "is not null"):
		return b.compared(t, c.Name(), args, 0, false, exact)
	case c.IsCall("or"):
		changed := false
		parts := slices.Clone(args)
		for i := range parts {
			if made := b.instead(t, parts[i], exact); made != nil {
				parts[i], changed = made, true
			}
		}
		if changed {
			return b.rebuilt("or", parts)
		}
	}
	return nil
}

// compared is a comparison with the column that stands in for its argument at, nil without one. equal says that the comparison is an equality: a
// column with a coarser collation then only finds more rows.
func (b *builder) compared(t *catalog.Table, name string, args []expr.Expr, at int, equal bool, exact *bool) expr.Expr {
	if at >= len(args) {
		return nil
	}
	in := b.standsFor(t, expr.Unwrap(args[at]))
	if in == nil {
		return nil
	}
	column := t.Columns[in.column]
	if column.Type.IsStringType() && column.Type.Coll != in.e.TypeRef().Coll && !equal {
		return nil
	}
	parts := make([]expr.Expr, len(args))
	for i := range args {
		parts[i] = expr.Unwrap(args[i])
		if i != at && !expr.IsConstInStatement(parts[i]) {
			return nil // no index decides it
		}
	}
	parts[at] = expr.Column(in.column, column.Type, generatedLabel(column))
	made := b.rebuilt(name, parts)
	if made != nil && !in.exact {
		*exact = false
	}
	return made
}

// generatedLabel is what EXPLAIN shows for a generated column.
func generatedLabel(c *catalog.Column) string {
	if c.Hidden {
		return c.Generated.Expr
	}
	return c.Name
}

func (b *builder) rebuilt(name string, args []expr.Expr) expr.Expr {
	made, err := expr.Call(b.env.Build, name, args...)
	if err != nil {
		return nil
	}
	return made
}

// orderID is the id of the column by which rows are ordered if e is one, or one that stands in for e.
func (b *builder) orderID(e expr.Expr) (id int, ok bool) {
	if id, ok = e.ColumnIndex(); ok {
		return id, true
	}
	first := -1
	expr.Columns(e, func(id int) {
		if first < 0 {
			first = id
		}
	})
	g := b.getWith(first)
	if g == nil || len(b.standIns(g.table)) == 0 {
		return 0, false
	}
	own := true
	expr.Columns(e, func(id int) { own = own && g.owns(id) })
	if !own {
		return 0, false
	}
	in := b.standsFor(g.table, expr.MapColumns(e, g.ordinal))
	if in == nil || !in.exact {
		return 0, false
	}
	return g.id(in.column), true
}

// getWith is the base table that a column id belongs to, or nil.
func (b *builder) getWith(id int) *get {
	for _, g := range b.gets {
		if id >= 0 && g.owns(id) {
			return g
		}
	}
	return nil
}
