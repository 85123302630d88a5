package plan

import (
	"slices"
	"strings"

	"github.com/pandodb/pando/catalog"
	"github.com/pandodb/pando/exec"
	"github.com/pandodb/pando/expr"
	"github.com/pandodb/pando/syntax"
	"github.com/pandodb/pando/types"
)

// from resolves a FROM clause. It fills the scope s, whose parent is the one around the block.
func (b *builder) from(e syntax.TableExpr, s *scope) (rel, error) {
	if e == nil {
		return &dual{}, nil
	}
	s.tables = map[tableName]bool{}
	r, cols, err := b.tableExpr(e, s)
	if err != nil {
		return nil, err
	}
	s.columns = cols
	return r, nil
}

// tableName names a table of a FROM clause.
type tableName struct{ schema, alias string }

// declare refuses two tables of one name in a FROM clause.
func (s *scope) declare(schema, alias string) error {
	n := tableName{schema, alias}
	if s.tables[n] {
		return types.Errorf(types.ErNonUniqTable, alias)
	}
	s.tables[n] = true
	return nil
}

// tableExpr resolves one operand of FROM and lists its columns. s is the scope that lateral references see: what stands to the left is in it.
func (b *builder) tableExpr(e syntax.TableExpr, s *scope) (rel, []column, error) {
	switch e := e.(type) {
	case *syntax.ParenTable:
		return b.tableExpr(e.Inner, s)
	case *syntax.TableRef:
		return b.tableRef(e, s, "SELECT")
	case *syntax.DerivedTable:
		return b.derived(e, s)
	case *syntax.Join:
		return b.joined(e, s)
	case *syntax.JSONTable:
		return b.jsonTable(e, s)
	}
	return nil, nil, unsupported("the table expression " + syntax.Brief(e))
}

// tableRef finds the table that a name in FROM means. verb is what the statement does with it.
func (b *builder) tableRef(ref *syntax.TableRef, s *scope, verb string) (rel, []column, error) {
	if len(ref.Partitions) > 0 || ref.AsOf != nil {
		return nil, nil, unsupported("PARTITION, AS OF and TABLESAMPLE")
	}
	alias := ref.Alias
	if alias == "" {
		alias = ref.Name
	}
	if ref.Schema == "" {
		if r, cols, err := b.cteReference(ref.Name, alias); r != nil || err != nil {
			return r, cols, firstError(err, s.declare("", alias))
		}
	}
	schema, err := b.env.schema(ref.Schema)
	if err != nil {
		return nil, nil, err
	}
	if err := s.declare(schema, alias); err != nil {
		return nil, nil, err
	}
	if t := b.env.Snapshot.Temporary(schema, ref.Name); t != nil {
		return b.temporarySource(t, ref, alias)
	}
	if b.env.System != nil {
		if system, known := b.env.System.SystemTable(schema, ref.Name); system != nil {
			return b.systemSource(system, alias)
		} else if known {
			return nil, nil, types.Errorf(types.ErNoSuchTable, schema, ref.Name)
		}
	}
	if b.freeze {
		ref.Schema = schema
	}
	if b.env.Sight != nil && len(b.views) == 0 && !catalog.IsSystemSchema(schema) && !b.env.Sight.Sees(schema, ref.Name) {
		// This comes before the table and its columns are looked up, so that the error does not tell which names exist.
		return nil, nil, types.Errorf(types.ErTableaccessDenied, verb, b.env.User, b.env.Host, ref.Name)
	}
	if b.env.Locked != nil && len(b.views) == 0 {
		if err := b.env.Locked.Reads(schema, ref.Name, alias); err != nil {
			return nil, nil, err
		}
	}
	table, err := b.env.Snapshot.Table(schema, ref.Name)
	if err != nil {
		return nil, nil, err
	}
	if table.View != nil {
		for _, h := range ref.Hints {
			for _, name := range h.Names {
				key := name.Name
				if strings.EqualFold(key, "primary") {
					key = "PRIMARY"
				}
				return nil, nil, types.Errorf(types.ErKeyDoesNotExist, key, alias)
			}
		}
		r, cols, err := b.viewRelation(table, alias)
		if err != nil {
			return nil, nil, err
		}
		return b.fencing(s.hints, r, alias), cols, nil
	}
	if err := b.checkTarget(table, alias); err != nil {
		return nil, nil, err
	}
	b.use(table, false)
	g := b.newGet(table, alias)
	g.hints = ref.Hints
	return g, b.columnsOf(g), nil
}

// columnsOf are the columns of a base table as the statement sees them.
func (b *builder) columnsOf(g *get) []column {
	return padChars(b.env.Build.Ctx.SQLMode, tableColumns(g.table, g.alias, g.first))
}

// temporarySource is a temporary table of the session, which needs no rights and no lock. As in MySQL a statement can name it once.
func (b *builder) temporarySource(t *catalog.Table, ref *syntax.TableRef, alias string) (rel, []column, error) {
	if b.freeze {
		return nil, nil, types.Errorf(types.ErViewSelectTmptable, t.Name)
	}
	if first := b.opened[t]; first == nil {
		if b.opened == nil {
			b.opened = map[*catalog.Table]*syntax.TableRef{}
		}
		b.opened[t] = ref
	} else if first != ref {
		return nil, nil, types.Errorf(types.ErCantReopenTable, firstOf(first.Alias, first.Name))
	}
	b.use(t, false)
	g := b.newGet(t, alias)
	g.hints = ref.Hints
	return g, b.columnsOf(g), nil
}

func (b *builder) newGet(t *catalog.Table, alias string) *get {
	g := &get{table: t, alias: alias, first: b.newIDs(getWidth(t))}
	b.gets = append(b.gets, g)
	return g
}

// systemRows is the estimate of the rows of a virtual table.
const systemRows = 100

// derived resolves a subquery in FROM. Only a lateral one sees the tables to its left.
func (b *builder) derived(e *syntax.DerivedTable, s *scope) (rel, []column, error) {
	if e.Alias == "" {
		return nil, nil, types.Errorf(types.ErDerivedMustHaveAlias)
	}
	if err := s.declare("", e.Alias); err != nil {
		return nil, nil, err
	}
	around := s.parent
	if e.Lateral {
		around = s
	}
	b.derivedDepth++
	before := len(b.gets)
	inner, err := b.query(e.Query, around)
	b.derivedDepth--
	if err != nil {
		return nil, nil, err
	}
	b.enclose(before)
	for _, g := range b.gets[before:] {
		delete(b.updatable, g)
	}
	cols, err := renamed(inner.cols, e.Alias, e.Columns)
	merged := mergedQuery(e.Query) && (s.hints == nil || !s.hints.about("NO_MERGE", e.Alias))
	for i := range cols {
		cols[i].zeroDate, cols[i].named = b.derivedZeroDate(&cols[i], merged), merged
		b.handOn(&cols[i], cols[i].id, merged)
	}
	return b.keptApart(b.fencing(s.hints, inner.rel, e.Alias), e.Alias), cols, err
}

// renamed gives the columns of a derived table or CTE its alias and, where there is a list, its names.
func renamed(inner []column, alias string, names []syntax.Ident) ([]column, error) {
	if len(names) > 0 && len(names) != len(inner) {
		return nil, types.Errorf(types.ErViewWrongList)
	}
	cols := make([]column, len(inner))
	seen := map[string]bool{}
	for i := range inner {
		info := inner[i].info
		if len(names) > 0 {
			info.Name = names[i].Name
		}
		if key := strings.ToLower(info.Name); seen[key] {
			return nil, types.Errorf(types.ErDupFieldName, info.Name)
		} else {
			seen[key] = true
		}
		info.OrgName, info.Table, info.Schema = info.Name, alias, ""
		cols[i] = column{id: inner[i].id, table: alias, info: info, coer: inner[i].outside()}
	}
	return cols, nil
}

// joined resolves a join. A right join is a left join the other way round; its columns keep their written order.
func (b *builder) joined(e *syntax.Join, s *scope) (rel, []column, error) {
	left, leftCols, err := b.tableExpr(e.Left, s)
	if err != nil {
		return nil, nil, err
	}
	lateral := &scope{parent: s.parent, columns: append(append([]column(nil), s.columns...), leftCols...), tables: s.tables, hints: s.hints}
	right, rightCols, err := b.tableExpr(e.Right, lateral)
	if err != nil {
		return nil, nil, err
	}
	j := &join{kind: exec.JoinInner, left: left, right: right, straight: e.Kind == syntax.JoinStraight}
	swapped := false
	switch e.Kind {
	case syntax.JoinLeft, syntax.JoinNaturalLeft:
		j.kind = exec.JoinLeft
	case syntax.JoinRight, syntax.JoinNaturalRight:
		j.kind, swapped = exec.JoinLeft, true
		j.left, j.right = right, left
	}
	if j.kind == exec.JoinLeft {
		padded := rightCols
		if swapped {
			padded = leftCols
		}
		for i := range padded {
			padded[i].info.NotNull = false
		}
	}
	if swapped && outputs(left).meets(free(right)) {
		if t, ok := e.Right.(*syntax.JSONTable); ok {
			if ref := unknownTable(t.Doc, s); ref != nil {
				return nil, nil, types.Errorf(types.ErUnknownTable, ref.Table, jsonTableClause)
			}
		}
		return nil, nil, types.NewError(3668, "INNER or LEFT JOIN must be used for LATERAL references made by '"+firstAlias(rightCols)+"'")
	}
	cols, err := b.joinColumns(e, j, leftCols, rightCols, swapped)
	if err != nil {
		return nil, nil, err
	}
	if e.On != nil {
		on := &scope{parent: s.parent, columns: cols}
		bind := &binder{env: b.env, build: b, scope: on, clause: onClause}
		bound, err := bind.bind(e.On)
		if err != nil {
			return nil, nil, err
		}
		conds, err := b.conjuncts(bound)
		if err != nil {
			return nil, nil, err
		}
		b.fixedDates(on, conds)
		j.on = append(j.on, conds...)
	}
	return j, cols, nil
}

func firstAlias(cols []column) string {
	if len(cols) == 0 {
		return ""
	}
	return cols[0].table
}

func (s idSet) meets(columns []expr.Expr) bool {
	for _, c := range columns {
		if s.touches(c) {
			return true
		}
	}
	return false
}

// joinColumns lists the columns of a join. USING and NATURAL put the common ones first, once each, in the order of the side that is never padded
// with NULLs, whose values they have; then come the others of that side. So a RIGHT JOIN shows the right side first, but only with USING or NATURAL.
func (b *builder) joinColumns(e *syntax.Join, j *join, left, right []column, swapped bool) ([]column, error) {
	names, natural, err := commonNames(e, left, right)
	if err != nil || len(names) == 0 {
		if natural && swapped {
			left, right = right, left
		}
		return append(append([]column(nil), left...), right...), err
	}
	first, second := append([]column(nil), left...), append([]column(nil), right...)
	if swapped {
		first, second = second, first
	}
	if names, err = inOrder(first, names); err != nil {
		return nil, err
	}
	var out []column
	for _, name := range names {
		f, err := common(first, name)
		if err != nil {
			return nil, err
		}
		s, err := common(second, name)
		if err != nil {
			return nil, err
		}
		l, r := first[f], second[s]
		if swapped {
			l, r = r, l
		}
		equal, err := expr.Call(b.env.Build, "=", l.expr(), r.expr())
		if err != nil {
			return nil, err
		}
		j.on = append(j.on, equal)
		if b.shown != nil {
			b.shown.joined[e] = append(b.shown.joined[e], [2]column{l, r})
		}
		kept := first[f]
		kept.coalesced = true
		out = append(out, kept)
		first, second = merge(first, f), merge(second, s)
	}
	return append(append(out, first...), second...), nil
}

// inOrder sorts the names of USING by the place of their columns.
func inOrder(cols []column, names []string) ([]string, error) {
	places := make(map[string]int, len(names))
	for _, name := range names {
		i, err := common(cols, name)
		if err != nil {
			return nil, err
		}
		places[name] = i
	}
	names = slices.Clone(names)
	slices.SortStableFunc(names, func(a, b string) int { return places[a] - places[b] })
	return names, nil
}

// merge leaves column i, which USING or NATURAL has merged, to references with its table's name. One that came from an earlier merge has no such
// name and is dropped.
func merge(cols []column, i int) []column {
	if cols[i].coalesced {
		return append(cols[:i], cols[i+1:]...)
	}
	cols[i].merged = true
	return cols
}

// commonNames are the names of USING, or those that NATURAL finds on both sides in the order of the left one; natural tells which.
func commonNames(e *syntax.Join, left, right []column) (names []string, natural bool, err error) {
	switch e.Kind {
	case syntax.JoinNaturalPlain, syntax.JoinNaturalInner, syntax.JoinNaturalLeft, syntax.JoinNaturalRight:
		for i := range left {
			if left[i].merged || left[i].hidden {
				continue
			}
			for k := range right {
				if !right[k].merged && !right[k].hidden && fold(left[i].info.Name, right[k].info.Name) {
					names = append(names, left[i].info.Name)
					break
				}
			}
		}
		return names, true, nil
	}
	names = make([]string, len(e.Using))
	for i := range e.Using {
		names[i] = e.Using[i].Name
	}
	return names, false, nil
}

// common finds the one column of a name on one side.
func common(cols []column, name string) (int, error) {
	found := -1
	for i := range cols {
		if cols[i].merged || !fold(cols[i].info.Name, name) {
			continue
		}
		if found >= 0 {
			return 0, types.Errorf(types.ErNonUniq, name, "from clause")
		}
		found = i
	}
	if found < 0 {
		return 0, types.Errorf(types.ErBadField, name, "from clause")
	}
	return found, nil
}
