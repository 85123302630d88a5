package session

import (
	"errors"
	"fmt"
	"strings"

	"github.com/pandodb/pando/catalog"
	"github.com/pandodb/pando/infoschema"
	"github.com/pandodb/pando/plan"
	"github.com/pandodb/pando/sqlapi"
	"github.com/pandodb/pando/syntax"
	"github.com/pandodb/pando/types"
)

// runShow answers SHOW, most forms of which are queries over virtual tables.
func (s *Session) runShow(stmt *syntax.Show, more bool, out Response) error {
	switch stmt.Kind {
	case syntax.ShowWarnings, syntax.ShowErrors:
		return s.showWarnings(stmt, more, out)
	case syntax.ShowCreateTable, syntax.ShowCreateView:
		return s.showCreateTable(stmt, more, out)
	case syntax.ShowCreateDB:
		return s.showCreateDatabase(stmt, more, out)
	case syntax.ShowGrants, syntax.ShowCreateUser:
		return s.showAccount(stmt, more, out)
	case syntax.ShowEngine:
		return s.showEngine(stmt, more, out)
	}
	if err := absentObject(stmt); err != nil {
		return s.fail(err)
	}
	db := stmt.From
	if db == "" {
		db = stmt.Table.Schema
	}
	if db == "" {
		db = s.db
	}
	if err := s.showTarget(stmt, db); err != nil {
		return s.fail(err)
	}
	if (stmt.Kind == syntax.ShowColumns || stmt.Kind == syntax.ShowIndex) && s.schema().Temporary(db, stmt.Table.Name) != nil {
		s.showsTemporary = true
		defer func() { s.showsTemporary = false }()
	}
	query, err := infoschema.ShowQuery(stmt, db)
	if err == nil && query == nil {
		err = types.Errorf(types.ErNotSupportedYet, "SHOW "+string(stmt.Kind))
	}
	if err != nil {
		return s.fail(err)
	}
	err = s.runOwnQuery(query, more, out)
	if stmt.Kind == syntax.ShowStatus {
		s.runtime.Work.Drop() // reading the counters does not change them, as in MySQL
	}
	return err
}

// showTarget checks that what SHOW is asked about exists.
func (s *Session) showTarget(stmt *syntax.Show, db string) error {
	snapshot := s.node.Catalog.Current()
	switch stmt.Kind {
	case syntax.ShowTables, syntax.ShowTableStatus, syntax.ShowTriggers, syntax.ShowEvents, syntax.ShowOpenTables:
		switch {
		case db == "" || catalog.IsSystemSchema(db):
		case !s.account().Sees(db, ""):
			return s.deniedDatabase(db)
		case snapshot.Database(db) == nil:
			return types.Errorf(types.ErBadDB, db)
		}
	case syntax.ShowColumns, syntax.ShowIndex:
		if db == "" {
			return types.Errorf(types.ErNoDB)
		}
		if catalog.IsSystemSchema(db) {
			return nil
		}
		if err := s.visibleTable(db, stmt.Table.Name); err != nil || stmt.Kind == syntax.ShowIndex {
			return err
		}
		return s.validView(db, stmt.Table.Name)
	}
	return nil
}

// validView fails with 1356 for a view whose query has become invalid: its columns are nobody's any more.
func (s *Session) validView(db, name string) error {
	t := s.schema().Lookup(db, name)
	if t == nil || t.View == nil {
		return nil
	}
	_, err := plan.ViewTables(s.planEnv(""), t)
	var e *types.Error
	if errors.As(err, &e) && e.Number == types.ErViewInvalid {
		return err
	}
	return nil
}

// visibleTable fails with 1142 for a table on which the account has no privilege at all, whether it exists or not, and with 1146 for one
// that does not exist.
func (s *Session) visibleTable(db, table string) error {
	if s.schema().Temporary(db, table) != nil {
		return nil
	}
	return s.visiblePublic(db, table)
}

// visiblePublic is visibleTable without regard to temporary tables.
func (s *Session) visiblePublic(db, table string) error {
	if a := s.account(); !a.Sees(db, table) {
		return types.Errorf(types.ErTableaccessDenied, "SELECT", a.User, s.client.Host, table)
	}
	_, err := s.node.Catalog.Current().Table(db, table)
	return err
}

// runOwnQuery runs a query that the server made. The process list shows the client's own text meanwhile.
func (s *Session) runOwnQuery(query *syntax.Query, more bool, out Response) error {
	s.params = s.params[:0]
	shown := s.Info()
	again := func() (*plan.Entry, error) {
		env := s.planEnv("")
		env.SelectLimit = -1
		entry, err := s.build1(env, query, nil)
		if err == nil {
			entry.Text, entry.Plan.Command = shown, uncounted
			for i := range entry.Plan.Columns { // of SHOW, not of the tables behind it: tools ask for the columns' own names
				entry.Plan.Columns[i].OrgName = entry.Plan.Columns[i].Name
			}
		}
		return entry, err
	}
	entry, err := again()
	if err != nil {
		return s.fail(err)
	}
	return s.runPlan(entry, 0, more, out, again)
}

func (s *Session) showWarnings(stmt *syntax.Show, more bool, out Response) error {
	list := s.diagnostics.list
	if stmt.Kind == syntax.ShowErrors {
		list = nil
		for _, w := range s.diagnostics.list {
			if w.Level == types.LevelError {
				list = append(list, w)
			}
		}
	}
	if stmt.Count {
		name := "@@session." + strings.ToLower(strings.TrimSuffix(string(stmt.Kind), "S")) + "_count"
		return s.keepDiagnostics([]sqlapi.ColumnInfo{numberColumn(name)}, [][]types.Value{{types.Int(int64(len(list)))}}, more, out)
	}
	offset, count, err := s.limits(stmt.Limit, len(list))
	if err != nil {
		return s.fail(err)
	}
	rows := make([][]types.Value, 0, len(list))
	for _, w := range list[offset : offset+count] {
		rows = append(rows, []types.Value{types.Text(w.Level.String()), types.Int(int64(w.Number)), types.Text(w.Message)})
	}
	return s.keepDiagnostics([]sqlapi.ColumnInfo{textColumn("Level", 7), numberColumn("Code"), textColumn("Message", 512)}, rows, more, out)
}

// limits evaluates LIMIT over n rows.
func (s *Session) limits(l *syntax.Limit, n int) (offset, count int, err error) {
	count = n
	if l == nil {
		return 0, n, nil
	}
	for _, part := range []struct {
		e  syntax.Expr
		to *int
	}{{l.Offset, &offset}, {l.Count, &count}} {
		if part.e == nil {
			continue
		}
		v, err := s.scalar(part.e)
		if err != nil {
			return 0, 0, err
		}
		*part.to = int(min(max(types.ToInt(&s.context, &v), 0), int64(n)))
	}
	offset = min(offset, n)
	return offset, min(count, n-offset), nil
}

// keepDiagnostics answers with rows and leaves the diagnostics area as it is.
func (s *Session) keepDiagnostics(columns []sqlapi.ColumnInfo, rows [][]types.Value, more bool, out Response) error {
	kept := s.diagnostics
	kept.list = append([]types.Warning(nil), kept.list...)
	s.context.ResetWarnings()
	err := s.sendRows(columns, rows, more, out)
	s.diagnostics = kept
	return err
}

func (s *Session) showCreateTable(stmt *syntax.Show, more bool, out Response) error {
	name, err := s.name(stmt.Name)
	if err != nil {
		return s.fail(err)
	}
	if catalog.IsSystemSchema(name.Schema) {
		return s.showSystemTable(stmt, name, more, out)
	}
	if t := s.findTemporary(stmt.Name); t != nil && stmt.Kind != syntax.ShowCreateView {
		return s.showTableText(t, more, out)
	}
	if err := s.visiblePublic(name.Schema, name.Table); err != nil {
		return s.fail(err)
	}
	if locks := s.tableLocks(); locks != nil {
		if err := locks.Reads(name.Schema, name.Table, name.Table); err != nil {
			return s.fail(err)
		}
	}
	t, err := s.node.Catalog.Current().Table(name.Schema, name.Table)
	if err != nil {
		return s.fail(err)
	}
	if t.View != nil {
		return s.showCreateView(t, more, out)
	}
	if stmt.Kind == syntax.ShowCreateView {
		return s.fail(types.Errorf(types.ErWrongObject, t.Schema, t.Name, "VIEW"))
	}
	return s.showTableText(t, more, out)
}

func (s *Session) showTableText(t *catalog.Table, more bool, out Response) error {
	next, _ := s.nextAutoIncrement(t)
	shown := s.shownTable(t)
	if shown != t {
		next = 0 // it numbers rows that show no number
	}
	text := catalog.ShowCreateTable(shown, next, &s.context, s.quotes())
	return s.sendRows([]sqlapi.ColumnInfo{textColumn("Table", 64), textColumn("Create Table", 1024)},
		[][]types.Value{{types.Text(t.Name), types.Text(text)}}, more, out)
}

func (s *Session) showCreateDatabase(stmt *syntax.Show, more bool, out Response) error {
	if !catalog.IsSystemSchema(stmt.Name.Name) && !s.account().Sees(stmt.Name.Name, "") {
		return s.fail(s.deniedDatabase(stmt.Name.Name))
	}
	db := s.node.Catalog.Current().Database(stmt.Name.Name)
	if catalog.IsSystemSchema(stmt.Name.Name) {
		db = &catalog.Database{Name: strings.ToLower(stmt.Name.Name), Coll: infoschema.SchemaCollation(stmt.Name.Name)}
	}
	if db == nil {
		return s.fail(types.Errorf(types.ErBadDB, stmt.Name.Name))
	}
	exists := ""
	if stmt.IfNotExists {
		exists = "/*!32312 IF NOT EXISTS*/ "
	}
	text := fmt.Sprintf("CREATE DATABASE %s%s /*!40100 DEFAULT CHARACTER SET %s%s */ /*!80016 DEFAULT ENCRYPTION='N' */",
		exists, s.quotes().Ident(db.Name), db.Coll.Charset().Name, collateClause(db.Coll))
	return s.sendRows([]sqlapi.ColumnInfo{textColumn("Database", 64), textColumn("Create Database", 1024)},
		[][]types.Value{{types.Text(db.Name), types.Text(text)}}, more, out)
}

// quotes is how SHOW CREATE writes names: sql_quote_show_create off leaves them bare where the text allows it.
func (s *Session) quotes() catalog.Quotes {
	q := catalog.Quotes{Double: s.parse.ANSIQuotes}
	if s.get("sql_quote_show_create") == "OFF" {
		q.Needed = infoschema.QuotesNeeded
	}
	return q
}

// collateClause is empty for a character set's default collation, but utf8mb4's, which MySQL always prints.
func collateClause(id types.CollationID) string {
	if id.IsDefault() && id.Charset().Name != "utf8mb4" {
		return ""
	}
	return " COLLATE " + id.Name()
}

// runDescribe is SHOW COLUMNS with a column's name or a pattern.
func (s *Session) runDescribe(stmt *syntax.Describe, more bool, out Response) error {
	show := &syntax.Show{Kind: syntax.ShowColumns, Table: stmt.Table}
	switch {
	case stmt.Pattern != nil:
		show.Like = stmt.Pattern
	case stmt.Column != "":
		show.Like = &syntax.Literal{Kind: syntax.LitString, Value: stmt.Column}
	}
	return s.runShow(show, more, out)
}

// fieldPatternCopies is how often a LIKE pattern is held: as text, and compiled.
const fieldPatternCopies = 3

// FieldList describes the columns of a table for COM_FIELD_LIST. pattern is a LIKE pattern, empty for all columns.
func (s *Session) FieldList(table, pattern string) ([]sqlapi.ColumnInfo, error) {
	s.startStatement()
	name, err := s.name(syntax.ObjectName{Name: table})
	if err != nil {
		return nil, s.fail(err)
	}
	if err := s.visibleTable(name.Schema, name.Table); err != nil {
		return nil, s.fail(err)
	}
	t, err := s.schema().Table(name.Schema, name.Table)
	if err != nil {
		return nil, s.fail(err)
	}
	columns := plan.TableColumns(t)
	if pattern == "" {
		return columns, nil
	}
	if err := s.memory.Grow(fieldPatternCopies * int64(len(pattern))); err != nil {
		return nil, s.fail(err)
	}
	like, err := types.NewLike([]byte(pattern), '\\', types.Utf8mb3GeneralCI, s.poll)
	if err != nil {
		return nil, s.fail(err)
	}
	var out []sqlapi.ColumnInfo
	for _, c := range columns {
		hit, err := like.Match([]byte(c.Name), s.poll)
		if err != nil {
			return nil, s.fail(err)
		}
		if hit {
			out = append(out, c)
		}
	}
	return out, nil
}
