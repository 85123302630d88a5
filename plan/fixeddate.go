package plan

import (
	"errors"
	"slices"

	"github.com/pandodb/pando/exec"
	"github.com/pandodb/pando/expr"
	"github.com/pandodb/pando/types"
)

// dateConst is the build context's DateConst: a text that is constant before the statement runs is looked at wherever it stands.
func (b *builder) dateConst(text expr.Expr, need expr.DateNeed) {
	if b.constantText(text, false) {
		b.fixed = append(b.fixed, exec.FixedDate{Text: text, Need: need})
	}
}

// fixedDates finds what a condition's columns of dates have to be equal to, if the condition is to hold: as in MySQL, variables and functions
// that have one value during the statement are then looked at before it runs. Elsewhere they warn, row by row, as they do where the table's one row
// is found by a key.
func (b *builder) fixedDates(s *scope, conds []expr.Expr) {
	if b.env.Build.NoDateFits {
		return
	}
	var equal func(list []expr.Expr)
	equal = func(list []expr.Expr) {
		for _, c := range list {
			args := c.Args()
			switch {
			case c.IsCall("and", "or"):
				equal(args)
			case c.IsCall("="):
				b.fixedDate(s, args[0], args[1], conds)
				b.fixedDate(s, args[1], args[0], conds)
			case c.IsCall("in") && len(args) == 2:
				b.fixedDate(s, args[0], args[1], conds)
			}
		}
	}
	equal(conds)
}

func (b *builder) fixedDate(s *scope, date, text expr.Expr, conds []expr.Expr) {
	text = expr.Unadapted(text)
	id, ok := date.ColumnIndex()
	if !ok || !expr.IsDateText(date, text) || b.constantText(text, false) || !b.constantText(text, true) {
		return
	}
	if !slices.ContainsFunc(s.columns, func(c column) bool { return c.id == id }) {
		return
	}
	if slices.ContainsFunc(b.gets, func(g *get) bool { return g.owns(id) && b.oneOf(g, conds, idSet{}) }) {
		return
	}
	b.fixed = append(b.fixed, exec.FixedDate{Text: text, Need: expr.NeedOf(date)})
}

// fixedColumn looks at the constants that column id of a subquery r consists of, as the comparison with x by op would: as in MySQL, a text that is
// compared with dates has to be one even if the subquery has no rows. It need not be in what MySQL computes once: blocks without tables, more than
// one row of VALUES, and set operations of which it wants the greatest or the least value.
func (b *binder) fixedColumn(op string, x expr.Expr, r rel, id int) error {
	if t := x.Type(); !t.IsTemporal() {
		return nil
	}
	if _, set := r.(*setOp); set && op != "=" && op != "<>" {
		return nil
	}
	for _, k := range constantsOf(r, id, nil) {
		if v, ok := r.(*valuesRel); readsNothing(k.block) && !(ok && len(v.rows) == 1) {
			continue
		}
		var none *expr.NoDate
		if _, err := b.call(op, x, k.e); errors.As(err, &none) {
			return err
		}
	}
	return nil
}

// numberColumn makes column i of the subquery r a number if it is a literal such as b'101' and compared with the number x.
func (b *binder) numberColumn(x expr.Expr, r *result, i int) {
	if t := x.Type(); !t.IsNumeric() && t.ID != types.TypeBit {
		return
	}
	k := constantsOf(r.rel, r.cols[i].id, nil)
	if len(k) != 1 || expr.AsNumber(k[0].e) == k[0].e {
		return
	}
	n := expr.AsNumber(k[0].e)
	c := computed{b.build.newID(), n}
	r.rel = &extend{r.rel, []computed{c}}
	r.cols = slices.Clone(r.cols)
	r.cols[i].id, r.cols[i].info.Type, r.cols[i].coer = c.id, n.Type(), n.Coercibility()
}

// constantText reports whether e is constant: before the statement runs, or in it, where functions of the session, placeholders and subqueries
// that read tables may stand, too.
func (b *builder) constantText(e expr.Expr, running bool) bool {
	constant := true
	expr.Walk(e, func(n expr.Expr) bool {
		if s := b.subqueryOf(n); s != nil {
			constant = constant && s.plan.Constant() && (running || readsNothing(s.rel))
			return false
		}
		if ordinal, ok := n.ParamOrdinal(); ok {
			constant = constant && (running || ordinal < len(b.env.Lifted))
		} else if n.IsCall() && !running && n.Flags()&expr.FlagStatement != 0 {
			made := slices.ContainsFunc(n.Args(), func(a expr.Expr) bool { return a.Flags()&expr.FlagStatement != 0 })
			constant = constant && (made || n.IsCall("database", "schema"))
		}
		return constant
	})
	away := expr.FlagColumn | expr.FlagVolatile | expr.FlagSideEffect | expr.FlagOpaque
	if !running {
		away |= expr.FlagSession
	}
	return constant && e.Flags()&away == 0
}

// readsNothing reports whether a relation is made of constants.
func readsNothing(r rel) bool {
	switch r := r.(type) {
	case *dual, *valuesRel:
		return true
	case *get, *rowSource:
		return false
	default:
		in := r.inputs()
		return len(in) > 0 && !slices.ContainsFunc(in, func(r rel) bool { return !readsNothing(r) })
	}
}

// placeFixed puts the texts that have to be dates into the plan.
func (b *builder) placeFixed() error {
	for _, f := range b.fixed {
		text, err := b.local(f.Text, nil)
		if err != nil {
			return err
		}
		b.plan.Fixed = append(b.plan.Fixed, exec.FixedDate{Text: text, Need: f.Need})
	}
	return nil
}
