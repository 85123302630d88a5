package plan

import (
	"slices"
	"strings"
	"unsafe"

	"github.com/pandodb/pando/catalog"
	"github.com/pandodb/pando/exec"
	"github.com/pandodb/pando/expr"
	"github.com/pandodb/pando/syntax"
	"github.com/pandodb/pando/types"
)

// target resolves the one table that a statement writes; ok is false if it names several. into is the statement if it is INSERT, and nil otherwise:
// its columns decide which of the tables of a view is written.
func (b *builder) target(from syntax.TableExpr, what string, into *syntax.Insert) (g *get, s *scope, ok bool, err error) {
	for {
		paren, is := from.(*syntax.ParenTable)
		if !is {
			break
		}
		from = paren.Inner
	}
	ref, is := from.(*syntax.TableRef)
	if !is {
		return nil, nil, false, nil
	}
	s = &scope{tables: map[tableName]bool{}}
	env := b.env
	if env.Target != nil {
		other := *env
		other.Snapshot = env.Target
		b.env = &other
	}
	r, cols, err := b.tableRef(ref, s, strings.ToUpper(what))
	b.env = env
	if err != nil {
		return nil, nil, false, err
	}
	g, base := r.(*get)
	if t, err := b.viewOf(ref); err != nil || t != nil {
		if what != "insert" && what != "load" || err != nil {
			return nil, nil, false, err
		}
		if g, err = b.insertable(r, cols, t, firstOf(ref.Alias, ref.Name), into); err != nil {
			if what == "load" {
				err = types.Errorf(types.ErNonUpdatableTable, ref.Name, "LOAD")
			}
			return nil, nil, false, err
		}
		base = true
	}
	if !base {
		if _, cte := r.(*cteRef); cte {
			return nil, nil, false, types.Errorf(types.ErNonUpdatableTable, firstOf(ref.Alias, ref.Name), strings.ToUpper(what))
		}
		return nil, nil, false, types.Errorf(types.ErDBAccessDenied, b.env.User, b.env.Host, firstOf(ref.Schema, b.env.Database))
	}
	s.columns = cols
	b.bindHints(b.verb, g, cols)
	b.useTarget(g, catalog.UseWrite)
	return g, s, true, b.mayChange(g)
}

// viewOf is the view that a name means, or nil.
func (b *builder) viewOf(ref *syntax.TableRef) (*catalog.Table, error) {
	schema, err := b.env.schema(ref.Schema)
	if err != nil {
		return nil, err
	}
	if t := b.env.Snapshot.Lookup(schema, ref.Name); t != nil && t.View != nil {
		return t, nil
	}
	return nil, nil
}

func firstOf(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

func (b *builder) insert(stmt *syntax.Insert) (err error) {
	g, s, _, err := b.target(&stmt.Table, "insert", stmt)
	if err != nil {
		return err
	}
	t := g.table
	node := &exec.Insert{Table: t, View: b.updatable[g]}
	node.Unseen = node.View != nil && t.AutoInc != nil && !slices.ContainsFunc(s.columns, func(c column) bool { return c.id == g.first+t.AutoInc.Ordinal })
	if node.Checks, err = b.rowChecks(g, nil); err != nil {
		return err
	}
	if node.Defaults, err = b.defaults(t); err != nil {
		return err
	}
	if node.Generated, err = b.generatedSet(t, 0, nil); err != nil {
		return err
	}
	markEarly(node)
	switch {
	case stmt.Replace:
		node.Mode = exec.InsertReplace
	case len(stmt.OnDup) > 0:
		node.Mode = exec.InsertUpdate
	case stmt.Ignore:
		node.Mode = exec.InsertIgnore
	}
	node.Ignore = stmt.Ignore && node.Mode == exec.InsertUpdate
	if node.Cols, err = insertColumns(g, s, stmt); err != nil {
		return err
	}
	defer func() {
		if err == nil {
			err = b.guardInsert(node)
		}
	}()
	if stmt.Query != nil {
		err = b.insertQuery(node, stmt, g, s)
	} else if err = checkRowAlias(node, stmt); err != nil {
		return err
	} else if err = b.insertSource(node, stmt, g, s); err == nil {
		err = b.onDuplicate(node, stmt, g, s, nil)
	}
	b.plan.Root = node
	return err
}

// insertQuery plans INSERT … SELECT. ON DUPLICATE KEY UPDATE may read what the SELECT's tables hold, too, unless it groups: such columns
// follow those to insert.
func (b *builder) insertQuery(node *exec.Insert, stmt *syntax.Insert, g *get, s *scope) error {
	b.keepDigits(stmt.Query)
	r, err := b.query(stmt.Query, nil)
	if err != nil {
		return err
	}
	if len(r.cols) != len(node.Cols) {
		return types.Errorf(types.ErWrongValueCountOnRow, 1)
	}
	for _, col := range node.Cols {
		if c := node.Table.Columns[col]; c.Generated != nil {
			return notDefault(node.Table, c)
		}
	}
	if err := b.onDuplicate(node, stmt, g, s, r); err != nil {
		return err
	}
	st, err := b.root(r)
	if err != nil {
		return err
	}
	node.Source = st.node
	if b.reads(node.Table) {
		// The rows read must not include the rows written.
		node.Source = &exec.Materialize{Input: st.node, Name: node.Table.Name}
	}
	return nil
}

// reads reports whether a query of the statement reads a table that it also writes.
func (b *builder) reads(t *catalog.Table) bool {
	n := 0
	for _, g := range b.gets {
		if g.table == t {
			n++
		}
	}
	return n > 1 // the first is the target itself
}

// insertColumns resolves the column list; without one all visible columns are meant.
func insertColumns(g *get, s *scope, stmt *syntax.Insert) ([]int, error) {
	var cols []int
	add := func(ref *syntax.ColumnRef) error {
		c, err := s.find(ref, fieldListClause)
		if c == nil {
			return firstError(err, unknownColumn(ref, fieldListClause))
		}
		ordinal := g.ordinal(c.id)
		for _, other := range cols {
			if other == ordinal {
				return types.Errorf(types.ErFieldSpecifiedTwice, c.info.Name)
			}
		}
		cols = append(cols, ordinal)
		return nil
	}
	for i := range stmt.Set {
		if err := add(&stmt.Set[i].Column); err != nil {
			return nil, err
		}
	}
	for i := range stmt.Columns {
		if err := add(&stmt.Columns[i]); err != nil {
			return nil, err
		}
	}
	if stmt.Set == nil && len(stmt.Columns) == 0 {
		if len(stmt.Rows) > 0 && len(stmt.Rows[0]) == 0 {
			return nil, nil // VALUES () stores defaults only
		}
		for i := range s.columns {
			if !s.columns[i].hidden {
				cols = append(cols, g.ordinal(s.columns[i].id))
			}
		}
	}
	return cols, nil
}

// insertSource binds VALUES or SET.
func (b *builder) insertSource(node *exec.Insert, stmt *syntax.Insert, g *get, s *scope) error {
	rows := stmt.Rows
	if stmt.Literals != nil {
		if taken, err := b.literalRows(node, stmt.Literals); taken || err != nil {
			return err
		}
		rows = stmt.Literals.Exprs()
	}
	if stmt.Set != nil {
		row := make([]syntax.Expr, len(stmt.Set))
		for i := range stmt.Set {
			row[i] = stmt.Set[i].Value
		}
		rows = [][]syntax.Expr{row}
	}
	if b.liftedRows(node, rows) {
		return nil
	}
	// Values may refer to columns: to those given earlier in the row, and to the literal defaults of the others.
	b.aim("INSERT", g, stmt.Table.Name)
	bind := &binder{env: b.env, build: b, scope: s, clause: fieldListClause}
	at := g.ordinals()
	node.Rows = make([][]expr.Expr, len(rows))
	for i, row := range rows {
		if len(row) != len(node.Cols) {
			return types.Errorf(types.ErWrongValueCountOnRow, i+1)
		}
		bound := make([]expr.Expr, len(row))
		for j, e := range row {
			if isDefault(e) {
				continue // nil is DEFAULT
			}
			value, err := bind.bind(e)
			if err != nil {
				return err
			}
			if c := node.Table.Columns[node.Cols[j]]; c.Generated != nil {
				if _, ok := e.(*syntax.Default); ok {
					continue // MySQL accepts DEFAULT(column) here, too
				}
				return notDefault(node.Table, c)
			}
			b.describeParam(value, node.Table.Columns[node.Cols[j]].Type)
			if bound[j], err = b.local(stored(value, node.Table.Columns[node.Cols[j]]), at); err != nil {
				return err
			}
			expr.Columns(bound[j], func(int) { node.Refers = true })
		}
		node.Rows[i] = bound
	}
	return nil
}

// stored adapts a value to the column in which it is stored: for a numeric one a hexadecimal literal is a number.
func stored(e expr.Expr, c *catalog.Column) expr.Expr {
	if c.Type.IsNumeric() {
		return expr.AsNumber(e)
	}
	return e
}

// liftedRows recognises rows that consist of the statement's parameters in order, as every normalised text and every
// driver's bulk insert does: then no expression per value is needed.
func (b *builder) liftedRows(node *exec.Insert, rows [][]syntax.Expr) bool {
	next := 0
	if givesGenerated(node) {
		return false
	}
	for _, row := range rows {
		if len(row) != len(node.Cols) || len(row) == 0 {
			return false
		}
		for i, e := range row {
			ordinal := -1
			switch e := e.(type) {
			case *syntax.Param:
				ordinal = int(e.Ordinal)
			case *syntax.Literal:
				if o, ok := b.env.Lifted[e.Pos]; ok {
					ordinal = o
				}
			}
			if ordinal != next {
				return false
			}
			if b.env.UnknownParams {
				b.describeOrdinal(ordinal, node.Table.Columns[node.Cols[i]].Type)
			}
			next++
		}
	}
	if b.env.UnknownParams {
		b.plan.Params = next
	} else if next != len(b.env.ParamTypes) {
		return false
	}
	node.ParamRows = len(rows)
	return true
}

// literalRows takes the values of a large VALUES list of nothing but literals straight from the text, in a plan that serves this one
// execution: loading dumps must not cost an expression for each value.
func (b *builder) literalRows(node *exec.Insert, rows *syntax.LiteralRows) (bool, error) {
	if len(b.env.ParamTypes) > 0 || b.env.UnknownParams {
		return false, nil
	}
	if rows.Width != len(node.Cols) {
		return false, types.Errorf(types.ErWrongValueCountOnRow, 1)
	}
	if givesGenerated(node) {
		return false, nil // insertSource refuses it
	}
	for i, c := range node.Cols {
		if rows.HasBits(i) && node.Table.Columns[c].Type.IsNumeric() {
			return false, nil // insertSource makes a number of it
		}
	}
	node.LiteralRows, b.private = rows.Rows(), true
	node.Literal = func(i int) (types.Value, error) {
		lit, negative := rows.At(i)
		return b.env.rowLiteral(&lit, negative)
	}
	return true, nil
}

// rowLiteral is a literal's value, with its sign. Strings share the memory of the text, which the tree keeps anyway.
func (e *Env) rowLiteral(lit *syntax.Literal, negative bool) (types.Value, error) {
	switch {
	case negative:
		v, _, err := negativeLiteral(lit) // the parser admits only literals that this takes
		return v, err
	case lit.Kind == syntax.LitString:
		return e.Build.Text(unsafe.Slice(unsafe.StringData(lit.Value), len(lit.Value))), nil
	}
	return e.literalValue(lit)
}

// checkRowAlias refuses names that the row to insert can't have.
func checkRowAlias(node *exec.Insert, stmt *syntax.Insert) error {
	if stmt.RowAlias != "" && stmt.RowAlias == stmt.Table.Name {
		return types.Errorf(types.ErNonUniqTable, stmt.RowAlias)
	}
	if len(stmt.ColAliases) > 0 && len(stmt.ColAliases) != len(node.Cols) {
		return types.Errorf(types.ErViewWrongList)
	}
	for i := range stmt.ColAliases {
		for j := range i {
			if fold(stmt.ColAliases[i].Name, stmt.ColAliases[j].Name) {
				return types.Errorf(types.ErDupFieldName, stmt.ColAliases[i].Name)
			}
		}
	}
	return nil
}

// onDuplicate binds the assignments over the existing row, followed by the row to insert and by the row of the SELECT r, if there is one.
// Columns of its tables that they read and that are not in the select list are added to r.
func (b *builder) onDuplicate(node *exec.Insert, stmt *syntax.Insert, g *get, s *scope, r *result) error {
	if len(stmt.OnDup) == 0 {
		return nil
	}
	width := len(node.Table.Columns)
	first := b.newIDs(width)
	values := &scope{columns: tableColumns(node.Table, stmt.RowAlias, first)}
	aliases := &scope{columns: values.columns}
	if len(stmt.ColAliases) > 0 {
		aliases.columns = append([]column(nil), values.columns...)
		for i, c := range node.Cols {
			aliases.columns[c].info.Name = stmt.ColAliases[i].Name
		}
	}
	seen := &scope{columns: append([]column(nil), s.columns...), insert: &insertedRow{s, g, first}}
	at := g.ordinals()
	for i := range width {
		at[first+i] = width + i
	}
	if r != nil {
		for _, c := range r.from {
			seen.columns = append(seen.columns, c)
		}
	} else if stmt.RowAlias != "" {
		seen.rowAlias = aliases
		// The names of a row alias' columns are found without it, unless the table has them, too.
		for _, c := range aliases.columns {
			if own, err := s.find(&syntax.ColumnRef{Column: c.info.Name}, fieldListClause); own == nil && err == nil {
				seen.columns = append(seen.columns, c)
			}
		}
	}
	b.aim("INSERT", g, stmt.Table.Name)
	bind := &binder{env: b.env, build: b, scope: seen, clause: fieldListClause}
	if err := b.assignable(g, s, stmt.OnDup); err != nil {
		return err
	}
	if b.rowClause = byRowValues; r != nil {
		b.rowClause = byRowKept
	}
	set, err := b.assignments(bind, s, node.Table, stmt.OnDup, nil)
	b.rowClause = byRowNone
	if err != nil {
		return err
	}
	if err := b.ownValues(g, s, set); err != nil {
		return err
	}
	if r != nil {
		b.sourceColumns(r, set, at, 2*width)
	}
	generated, err := b.generatedSet(node.Table, g.first, set)
	if err != nil {
		return err
	}
	node.OnDup = append(set, generated...)
	return b.localSet(node.OnDup, at)
}

// sourceColumns gives the columns of a SELECT that assignments read their positions in at, from base on, behind the row to insert.
func (b *builder) sourceColumns(r *result, set []exec.Assignment, at map[int]int, base int) {
	for i, c := range r.cols {
		if _, known := at[c.id]; !known {
			at[c.id] = base + i
		}
	}
	for i := range set {
		if set[i].Expr == nil {
			continue
		}
		for _, id := range addIDs(nil, set[i].Expr) {
			if _, known := at[id]; known {
				continue
			}
			for _, c := range r.from {
				if c.id == id {
					at[id] = base + len(r.cols)
					r.cols = append(r.cols, c)
					break
				}
			}
		}
	}
}

// assignments binds SET over ids; targets are the columns that may be assigned. Col is an ordinal of t. assigned are the ids of the columns that have
// been assigned before, to which those of list are added; nil if values do not see what is assigned.
func (b *builder) assignments(bind *binder, targets *scope, t *catalog.Table, list []syntax.Assignment, assigned idSet) ([]exec.Assignment, error) {
	out := make([]exec.Assignment, 0, len(list))
	for i := range list {
		c, err := targets.find(&list[i].Column, fieldListClause)
		if c == nil {
			return nil, firstError(err, unknownColumn(&list[i].Column, fieldListClause))
		}
		column := b.baseColumn(c.id) // a view's column may have another name
		a := exec.Assignment{Col: column.Ordinal}
		switch {
		case isDefault(list[i].Value):
			if column.Generated != nil {
				continue // it has no other value
			}
		case column.Generated != nil:
			return nil, notDefault(t, column)
		default:
			e, err := b.bindAssigned(bind, list[i].Value, assigned)
			if err != nil {
				return nil, err
			}
			if e.IsCall("row") {
				return nil, types.Errorf(types.ErOperandColumns, 1)
			}
			b.describeParam(e, column.Type)
			a.Expr = stored(e, column)
		}
		if assigned != nil {
			assigned[c.id] = true
		}
		out = append(out, a)
	}
	return out, nil
}

// localSet makes assignments over column ids into ones over the positions in at.
func (b *builder) localSet(set []exec.Assignment, at map[int]int) (err error) {
	for i := range set {
		if set[i].Expr != nil {
			if set[i].Expr, err = b.local(set[i].Expr, at); err != nil {
				return err
			}
		}
	}
	return nil
}

func (b *builder) update(stmt *syntax.Update) error {
	if stmt.With != nil {
		if err := b.with(stmt.With, nil); err != nil {
			return err
		}
	}
	g, s, single, err := b.target(stmt.Tables, "update", nil)
	if err != nil {
		return err
	}
	var shown []expr.Expr
	if !single && (len(stmt.OrderBy) > 0 || stmt.Limit != nil) {
		if g, s, shown, err = b.viewRows(stmt.Tables, "UPDATE", stmt.Limit); err != nil {
			return err
		}
	}
	if g == nil {
		return b.multiUpdate(stmt)
	}
	b.aim("UPDATE", g, targetName(stmt.Tables, g))
	bind := &binder{env: b.env, build: b, scope: s, clause: fieldListClause}
	if err := b.assignable(g, s, stmt.Set); err != nil {
		return err
	}
	set, err := b.assignments(bind, s, g.table, stmt.Set, idSet{})
	if err != nil {
		return err
	}
	for i := range set {
		set[i].Expr = b.unmade(set[i].Expr)
	}
	generated, err := b.generatedSet(g.table, g.first, set)
	if err != nil {
		return err
	}
	set = append(set, generated...)
	conds, err := b.where(bind.at(whereClause), stmt.Where)
	if err != nil {
		return err
	}
	conds = b.unmadeAll(append(shown, conds...))
	if done, err := b.updateJoined(g, conds, set, stmt); done || err != nil {
		return err
	}
	if b.readsOwn(set, []*catalog.Table{g.table}) {
		return b.updateCollected(g, bind, conds, set, stmt)
	}
	if err := b.localSet(set, g.ordinals()); err != nil {
		return err
	}
	input, keyCol, err := b.written(g, bind, conds, stmt.OrderBy, stmt.Limit, set)
	if err != nil {
		return err
	}
	node := &exec.Update{Table: g.table, Input: input, KeyCol: keyCol, Set: set, Ignore: stmt.Ignore}
	if node.Defaults, err = b.defaults(g.table); err != nil {
		return err
	}
	if node.Checks, err = b.rowChecks(g, written(g.table, set)); err != nil {
		return err
	}
	if node.Guard, err = b.guard(g.table, exec.Write{Set: written(g.table, set)}); err != nil {
		return err
	}
	b.plan.Root = node
	return nil
}

func (b *builder) delete(stmt *syntax.Delete) error {
	if stmt.With != nil {
		if err := b.with(stmt.With, nil); err != nil {
			return err
		}
	}
	if len(stmt.Targets) > 0 {
		return b.multiDelete(stmt)
	}
	g, s, single, err := b.target(stmt.From, "delete", nil)
	if err != nil {
		return err
	}
	var shown []expr.Expr
	if !single && (len(stmt.OrderBy) > 0 || stmt.Limit != nil) {
		if g, s, shown, err = b.viewRows(stmt.From, "DELETE", stmt.Limit); err != nil {
			return err
		}
	}
	if g == nil {
		return b.multiDelete(stmt)
	}
	b.aim("DELETE", g, targetName(stmt.From, g))
	bind := &binder{env: b.env, build: b, scope: s, clause: whereClause}
	conds, err := b.where(bind.at(whereClause), stmt.Where)
	if err != nil {
		return err
	}
	conds = b.unmadeAll(append(shown, conds...))
	if done, err := b.deleteJoined(g, conds, stmt); done || err != nil {
		return err
	}
	input, keyCol, err := b.written(g, bind, conds, stmt.OrderBy, stmt.Limit, nil)
	if err != nil {
		return err
	}
	node := &exec.Delete{Table: g.table, Input: input, KeyCol: keyCol, Ignore: stmt.Ignore}
	node.Guard, err = b.guard(g.table, exec.Write{Delete: true})
	b.plan.Root = node
	return err
}

// written builds the locking read that feeds UPDATE, or DELETE if set is nil: all columns by ordinal, then the row's key.
func (b *builder) written(g *get, bind *binder, conds []expr.Expr, orderBy []syntax.OrderItem, limit *syntax.Limit, set []exec.Assignment) (exec.Node, int, error) {
	conjuncts, err := b.localAll(conds, g.ordinals())
	if err != nil {
		return nil, 0, err
	}
	if limit != nil && limit.Offset != nil {
		return nil, 0, syntaxError("OFFSET")
	}
	count, _, err := b.limit(limit)
	if err != nil {
		return nil, 0, err
	}
	w := &want{table: g.table, alias: g.alias, hints: g.hints, merging: g.merging, conjuncts: conjuncts, limit: limitRows(count, nil), keyed: count == nil}
	keys, order, err := b.writtenOrder(g, bind, orderBy)
	if err != nil {
		return nil, 0, err
	}
	w.order = order
	cols := make([]int, len(g.table.Columns)+1)
	for i := range g.table.Columns {
		cols[i] = i
	}
	keyCol := len(g.table.Columns)
	cols[keyCol] = exec.RowKey
	lock, p, err := b.locked(w, exec.LockExclusive, exec.WaitDefault, cols, count, false)
	if err != nil {
		return nil, 0, err
	}
	b.useTarget(g, catalog.UseWrite)
	if count == nil && b.unsafe(p) {
		return nil, 0, types.Errorf(types.ErUpdateWithoutKeyInSafeMode)
	}
	lock.Collect = moves(p, g.table, set) || b.anyReads(conds, g.table)
	lock.Delete = set == nil
	if len(keys) == 0 || len(order) > 0 && p.ordered {
		return lock, keyCol, nil
	}
	// Rows must be ordered before the limit applies, so all that qualify are locked first.
	lock.Limit, lock.Collect = nil, true
	orderDocuments(keys)
	if count != nil {
		return &exec.TopN{Input: lock, Keys: keys, Count: count}, keyCol, nil
	}
	return &exec.Sort{Input: lock, Keys: keys}, keyCol, nil
}

// unsafe reports whether sql_safe_updates refuses to change the rows that a path finds: no key leads to them.
func (b *builder) unsafe(p *path) bool {
	return b.env.SafeUpdates && p.merge == nil && (p.index == nil || len(p.ranges) == 0)
}

func (b *builder) writtenOrder(g *get, bind *binder, orderBy []syntax.OrderItem) ([]exec.SortKey, []orderColumn, error) {
	var keys []exec.SortKey
	var order []orderColumn
	for _, o := range orderBy {
		e, err := bind.at(orderClause).bind(o.Expr)
		if err != nil {
			return nil, nil, err
		}
		if e, err = b.local(b.unmade(e), g.ordinals()); err != nil {
			return nil, nil, err
		}
		keys = append(keys, exec.SortKey{Expr: e, Desc: o.Order == syntax.OrderDesc})
		if c, ok := e.ColumnIndex(); ok {
			order = append(order, orderColumn{c, o.Order == syntax.OrderDesc})
		}
	}
	if len(order) != len(keys) {
		order = nil
	}
	return keys, order, nil
}

// moves reports whether the assignments could move a row to a place that the scan has yet to reach, where it would be met again.
func moves(p *path, t *catalog.Table, set []exec.Assignment) bool {
	if set == nil || p.points && len(p.ranges) == 1 {
		return false
	}
	if p.merge != nil {
		return true // which of its scans are at work when the first row is found is not known here
	}
	var scanned []catalog.IndexColumn
	if p.index != nil {
		scanned = p.index.Columns
	}
	var tail []catalog.IndexColumn // the primary key, in which all other entries end; it decides nothing behind a whole unique key
	if t.PK != nil && !(p.points && p.index != t.PK) {
		tail = t.PK.Columns
	}
	for i, c := range t.Columns {
		if (c.OnUpdateNow || assigns(set, i)) && (hasPart(scanned, i) || hasPart(tail, i)) {
			return true
		}
	}
	return false
}

func assigns(set []exec.Assignment, col int) bool {
	for i := range set {
		if set[i].Col == col {
			return true
		}
	}
	return false
}

func hasPart(parts []catalog.IndexColumn, col int) bool {
	for i := range parts {
		if parts[i].Col == col {
			return true
		}
	}
	return false
}
