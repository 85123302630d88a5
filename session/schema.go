package session

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/pandodb/pando/catalog"
	"github.com/pandodb/pando/ddl"
	"github.com/pandodb/pando/expr"
	"github.com/pandodb/pando/infoschema"
	"github.com/pandodb/pando/plan"
	"github.com/pandodb/pando/privilege"
	"github.com/pandodb/pando/sqlapi"
	"github.com/pandodb/pando/syntax"
	"github.com/pandodb/pando/types"
)

// runSchema executes statements that change the schema. They commit the open transaction first, as MySQL's do.
func (s *Session) runSchema(stmt syntax.Statement, text string) (sqlapi.Result, error) {
	if done, result, err := s.runTemporary(stmt, text); done {
		return result, err
	}
	if done, err := s.truncateSummary(stmt); done {
		return sqlapi.Result{}, err
	}
	run := s.schemaChange(stmt)
	if run == nil {
		return sqlapi.Result{}, types.Errorf(types.ErNotSupportedYet, unsupportedStatement(stmt))
	}
	if err := s.commit(); err != nil {
		return sqlapi.Result{}, err
	}
	if err := s.mayWrite(); err != nil {
		return sqlapi.Result{}, err
	}
	if s.readOnly {
		return sqlapi.Result{}, types.Errorf(types.ErCantExecuteInReadOnlyTransaction)
	}
	if err := s.checkSchema(stmt); err != nil {
		return sqlapi.Result{}, err
	}
	locked := s.held.Tables()
	if locked {
		if err := s.lockedChange(stmt); err != nil {
			return sqlapi.Result{}, err
		}
	}
	result, err := run(s.changeCall(text))
	if err != nil {
		return result, err
	}
	if locked {
		s.followChange(stmt)
	}
	return result, s.node.Stats.TrimHistograms()
}

// changeCall is what ddl needs to change tables.
func (s *Session) changeCall(text string) *ddl.Call {
	call := s.ddlCall(text)
	call.JudgeRows, call.JudgeIndex, call.JudgeCopy = s.judgeRows, s.judgeIndex, s.judgeCopy
	call.Unchecked, call.LooseParents = s.runtime.UncheckedForeign, s.looseParents
	call.Check = func(old, next *catalog.Table) error {
		if old == nil {
			if err := s.requirePrimaryKey(next.PK != nil); err != nil {
				return err
			}
		}
		if err := plan.CheckGenerated(s.planEnv(""), old, next); err != nil {
			return err
		}
		if err := plan.CheckDefaults(s.planEnv(""), old, next); err != nil {
			return err
		}
		return plan.CheckConstraints(s.planEnv(""), old, next)
	}
	call.Derive = func(t *catalog.Table, hidden *catalog.Column, index string) error {
		return plan.DeriveHidden(s.planEnv(""), t, hidden, index)
	}
	return call
}

// What sql_require_primary_key says of tables without a primary key.
const (
	errNoPrimaryKey = 3750
	noPrimaryKey    = "Unable to create or change a table without a primary key, when the system variable 'sql_require_primary_key' is set. Add a primary key to the table or unset this variable to avoid this message. Note that tables without a primary key can cause performance problems in row-based replication, so please consult your DBA before changing this setting."
)

// requirePrimaryKey is sql_require_primary_key.
func (s *Session) requirePrimaryKey(has bool) error {
	if has || s.get("sql_require_primary_key") == "OFF" {
		return nil
	}
	return types.NewError(errNoPrimaryKey, noPrimaryKey)
}

// keepsKeys refuses changes that sql_require_primary_key and a generated primary key forbid. Those that leave no column are refused elsewhere.
func (s *Session) keepsKeys(t *catalog.Table, actions []ddl.AlterSpec) error {
	after := keysAfter(t, actions)
	if len(after.Columns) == 0 {
		return nil
	}
	if err := s.requirePrimaryKey(hasPrimaryKey(after) || onlyRenames(actions)); err != nil {
		return err
	}
	if err := s.keepsRowKey(t, after); err != nil {
		return err
	}
	return keepsGeneratedKey(t, actions)
}

// onlyRenames reports whether changes are of the table's name alone.
func onlyRenames(actions []ddl.AlterSpec) bool {
	return !slices.ContainsFunc(actions, func(action ddl.AlterSpec) bool {
		_, renames := action.(ddl.RenameTo)
		return !renames
	})
}

func hasPrimaryKey(spec *ddl.TableSpec) bool {
	return slices.ContainsFunc(spec.Indexes, func(ix ddl.IndexSpec) bool { return ix.Primary })
}

// schemaChange returns the function that carries a statement out, or nil for a statement that is not supported.
func (s *Session) schemaChange(stmt syntax.Statement) func(*ddl.Call) (sqlapi.Result, error) {
	var run func(c *ddl.Call) error
	switch stmt := stmt.(type) {
	case *syntax.CreateDatabase:
		// MySQL counts the database as a row.
		return func(c *ddl.Call) (sqlapi.Result, error) {
			return sqlapi.Result{AffectedRows: 1}, s.createDatabase(c, stmt)
		}
	case *syntax.AlterDatabase:
		return func(c *ddl.Call) (sqlapi.Result, error) {
			return sqlapi.Result{AffectedRows: 1}, s.alterDatabase(c, stmt)
		}
	case *syntax.DropDatabase:
		return func(c *ddl.Call) (sqlapi.Result, error) { return s.dropDatabase(c, stmt) }
	case *syntax.CreateTable:
		if stmt.Query != nil && stmt.Like == nil {
			return func(c *ddl.Call) (sqlapi.Result, error) { return s.createSelect(c, stmt) }
		}
		run = func(c *ddl.Call) error { return s.createTable(c, stmt, nil) }
	case *syntax.DropTable:
		run = func(c *ddl.Call) error { return s.dropTable(c, stmt) }
	case *syntax.TruncateTable:
		run = func(c *ddl.Call) error { return s.truncateTable(c, stmt) }
	case *syntax.RenameTable:
		run = func(c *ddl.Call) error { return s.renameTable(c, stmt) }
	case *syntax.CreateIndex:
		return func(c *ddl.Call) (sqlapi.Result, error) { return s.createIndex(c, stmt) }
	case *syntax.DropIndex:
		return func(c *ddl.Call) (sqlapi.Result, error) { return s.dropIndex(c, stmt) }
	case *syntax.CreateView:
		run = func(c *ddl.Call) error { return s.createView(c, stmt) }
	case *syntax.DropObjects:
		if stmt.Kind != "VIEW" {
			run = func(*ddl.Call) error { return s.dropAbsent(stmt) }
			break
		}
		run = func(c *ddl.Call) error { return s.dropViews(c, stmt) }
	case *syntax.AlterTable:
		return func(c *ddl.Call) (sqlapi.Result, error) { return s.alterTable(c, stmt) }
	default:
		return nil
	}
	return func(c *ddl.Call) (sqlapi.Result, error) { return sqlapi.Result{}, run(c) }
}

// name resolves a table's name against the current database.
func (s *Session) name(n syntax.ObjectName) (ddl.Name, error) {
	schema := n.Schema
	if schema == "" {
		schema = s.db
	}
	if schema == "" {
		return ddl.Name{}, types.Errorf(types.ErNoDB)
	}
	return ddl.Name{Schema: schema, Table: n.Name}, nil
}

// databaseCollation reads the options of CREATE and ALTER DATABASE.
func (s *Session) databaseCollation(options []syntax.DatabaseOption, id types.CollationID) (types.CollationID, error) {
	clauses := charsetClauses{coll: id, build: &s.build}
	for _, o := range options {
		switch o.Kind {
		case "CHARACTER SET", "CHARSET", "CHAR SET":
			if err := clauses.charset(o.Value); err != nil {
				return 0, err
			}
		case "COLLATE":
			if err := clauses.collate(o.Value); err != nil {
				return 0, err
			}
		case "ENCRYPTION":
			if !strings.EqualFold(o.Value, "N") {
				return 0, types.Errorf(types.ErNotSupportedYet, "encryption at rest")
			}
		default:
			return 0, types.Errorf(types.ErNotSupportedYet, o.Kind+" of a database")
		}
	}
	return clauses.coll, nil
}

// charsetClauses are the CHARACTER SET and COLLATE clauses of one definition, in any order and number: all have to be of one character set, of which
// the last COLLATE counts.
type charsetClauses struct {
	coll  types.CollationID // so far
	named bool              // by a clause
	build *expr.BuildContext
}

func (c *charsetClauses) charset(name string) error {
	found, err := types.LookupCharset(name)
	if err != nil {
		return err
	}
	was := c.coll.Charset()
	if c.named && was != found {
		return types.Errorf(types.ErConflictingDeclarations, "CHARACTER SET ", was.Name, "CHARACTER SET ", found.Name)
	}
	if !c.named {
		c.coll, c.named = c.build.DefaultOf(found), true
	}
	return nil
}

func (c *charsetClauses) collate(name string) error {
	id, err := types.LookupCollation(name)
	if err != nil {
		return err
	}
	if was := c.coll.Charset(); c.named && was != id.Charset() {
		return types.Errorf(types.ErCollationCharsetMismatch, name, was.Name)
	}
	c.coll, c.named = id, true
	return nil
}

func (s *Session) serverCollation() types.CollationID {
	if id, err := types.LookupCollation(s.get("collation_server")); err == nil {
		return id
	}
	return types.DefaultCollation
}

func (s *Session) createDatabase(c *ddl.Call, stmt *syntax.CreateDatabase) error {
	id, err := s.databaseCollation(stmt.Options, s.serverCollation())
	if err != nil {
		return err
	}
	return s.node.DDL.CreateDatabase(c, stmt.Name.Name, id, stmt.IfNotExists)
}

func (s *Session) alterDatabase(c *ddl.Call, stmt *syntax.AlterDatabase) error {
	name := stmt.Name.Name
	if name == "" {
		if name = s.db; name == "" {
			return types.Errorf(types.ErNoDB)
		}
	}
	db := s.node.Catalog.Current().Database(name)
	if db == nil {
		return types.Errorf(types.ErBadDB, name)
	}
	id, err := s.databaseCollation(stmt.Options, db.Coll)
	if err != nil {
		return err
	}
	return s.node.DDL.AlterDatabase(c, name, id)
}

func (s *Session) dropDatabase(c *ddl.Call, stmt *syntax.DropDatabase) (sqlapi.Result, error) {
	tables, err := s.node.DDL.DropDatabase(c, stmt.Name.Name, stmt.IfExists)
	if err == nil && s.db == stmt.Name.Name {
		s.db = ""
		s.store("character_set_database", s.get("character_set_server"))
		s.store("collation_database", s.get("collation_server"))
		s.refreshContext()
	}
	return sqlapi.Result{AffectedRows: uint64(tables)}, err
}

// inQueryOrder adds the columns of a query to those that CREATE TABLE describes: a column of both has the description, and its name and
// place in the query, which comes after what is described alone.
func inQueryOrder(described, queried []ddl.ColumnSpec) []ddl.ColumnSpec {
	out := slices.Clone(described)
	for i := range queried {
		col := queried[i]
		if at := slices.IndexFunc(out[:len(out)-i], func(d ddl.ColumnSpec) bool { return strings.EqualFold(d.Name, col.Name) }); at >= 0 {
			col = out[at]
			col.Name = queried[i].Name
			out = slices.Delete(out, at, at+1)
		}
		out = append(out, col)
	}
	return out
}

// createTable creates a table with the columns of the statement, followed by those of a query.
func (s *Session) createTable(c *ddl.Call, stmt *syntax.CreateTable, queried []ddl.ColumnSpec) error {
	if stmt.Partition != nil {
		return types.Errorf(types.ErNotSupportedYet, "partitioning; leave it out, the key space splits by itself")
	}
	name, err := s.name(stmt.Name)
	if err != nil {
		return err
	}
	if stmt.Like != nil {
		return s.createLike(c, name, stmt)
	}
	db := s.node.Catalog.Current().Database(name.Schema)
	if db == nil {
		return types.Errorf(types.ErBadDB, name.Schema)
	}
	spec := &ddl.TableSpec{Name: name, IfNotExists: stmt.IfNotExists, Coll: db.Coll}
	if err := s.tableOptions(spec, stmt.Options); err != nil {
		return err
	}
	last := uint64(0)
	for _, element := range stmt.Elements {
		if err := s.tableElement(spec, element, &last); err != nil {
			return err
		}
	}
	spec.Columns = inQueryOrder(spec.Columns, queried)
	if err := s.addGeneratedKey(spec); err != nil {
		return err
	}
	return s.addTable(c, stmt, spec)
}

// addTable creates the table of a spec.
func (s *Session) addTable(c *ddl.Call, stmt *syntax.CreateTable, spec *ddl.TableSpec) error {
	if stmt.Temporary {
		return s.addTemporary(c, spec)
	}
	return s.node.DDL.CreateTable(c, spec)
}

// createLike copies the columns, keys and options of another table, without rows and without its AUTO_INCREMENT position.
func (s *Session) createLike(c *ddl.Call, name ddl.Name, stmt *syntax.CreateTable) error {
	from, err := s.name(*stmt.Like)
	if err != nil {
		return err
	}
	if from == name {
		return types.Errorf(types.ErNonUniqTable, name.Table)
	}
	t, err := s.schema().Table(from.Schema, from.Table)
	if err != nil {
		return err
	}
	spec := likeTable(t)
	spec.Name, spec.IfNotExists = name, stmt.IfNotExists
	for i, check := range t.Checks {
		check.Name = catalog.CheckName(name.Table, uint64(i)+1)
		spec.Checks = append(spec.Checks, check)
	}
	return s.addTable(c, stmt, spec)
}

// likeTable describes the columns, keys and options of a table.
func likeTable(t *catalog.Table) *ddl.TableSpec {
	spec := &ddl.TableSpec{Coll: t.Coll, Engine: t.Engine, Comment: t.Comment, Options: t.Options, Like: true}
	for _, col := range t.Visible() {
		spec.Columns = append(spec.Columns, ddl.ColumnSpec{Name: col.Name, Type: col.Type, NotNull: col.NotNull, AutoInc: col.AutoInc,
			Default: col.Default, NoDefault: col.Default == nil, Generated: col.Generated, OnUpdateNow: col.OnUpdateNow, ExplicitCollation: col.ExplicitCollation, Invisible: col.Invisible, Comment: col.Comment})
	}
	for _, index := range t.Indexes {
		if index.State == catalog.StatePublic {
			spec.Indexes = append(spec.Indexes, likeIndex(t, index))
		}
	}
	return spec
}

func likeIndex(t *catalog.Table, index *catalog.Index) ddl.IndexSpec {
	spec := ddl.IndexSpec{Name: index.Name, Unique: index.Unique, Primary: index.Primary, Invisible: !index.Visible, Using: index.Using, Comment: index.Comment}
	for _, part := range index.Columns {
		column := ddl.IndexColumnSpec{Column: t.Columns[part.Col].Name, PrefixLen: part.PrefixLen, HasPrefix: part.PrefixLen > 0, Desc: part.Desc}
		if c := t.Columns[part.Col]; c.Hidden {
			column.Column, column.Expr = "", c.Generated
		}
		spec.Columns = append(spec.Columns, column)
	}
	return spec
}

// tableElement adds an element of CREATE TABLE. last is the number of the last automatic name of a CHECK.
func (s *Session) tableElement(spec *ddl.TableSpec, element syntax.TableElement, last *uint64) error {
	switch element := element.(type) {
	case *syntax.ColumnDef:
		def, checks, err := s.columnChecks(spec.Name, element, last)
		if err != nil {
			return err
		}
		def, key := columnForeign(def)
		column, keys, err := s.columnSpec(spec.Name, def, spec.Coll)
		if err != nil {
			return err
		}
		spec.Checks = append(spec.Checks, checks...)
		spec.Columns = append(spec.Columns, column)
		spec.Indexes = append(spec.Indexes, keys...)
		if key == nil {
			return nil
		}
		return s.addForeign(spec, key)
	case *syntax.KeyDef:
		if element.Kind == syntax.KeyForeign {
			return s.addForeign(spec, element)
		}
		index, err := s.indexSpec(element)
		if err != nil {
			return err
		}
		spec.Indexes = append(spec.Indexes, index)
		return nil
	case *syntax.CheckDef:
		check, err := s.checkSpec(spec.Name, element, "", last)
		spec.Checks = append(spec.Checks, check)
		return err
	}
	return types.Errorf(types.ErNotSupportedYet, "this element of a table")
}

// indexSpec reads a key definition.
func (s *Session) indexSpec(def *syntax.KeyDef) (ddl.IndexSpec, error) {
	spec := ddl.IndexSpec{Name: def.Name, Using: strings.ToUpper(def.UsingFirst)}
	switch def.Kind {
	case syntax.KeyPrimary:
		spec.Primary, spec.Unique = true, true
	case syntax.KeyUnique:
		spec.Unique = true
	case syntax.KeyIndex:
	default:
		return spec, types.Errorf(types.ErNotSupportedYet, "FULLTEXT and SPATIAL indexes")
	}
	if spec.Name == "" && def.HasConstraint {
		spec.Name = def.Constraint
	}
	for _, part := range def.Parts {
		if part.Expr != nil {
			text, err := plan.GeneratedText(part.Expr, s.clientCharset())
			if err != nil {
				return spec, err
			}
			spec.Columns = append(spec.Columns, ddl.IndexColumnSpec{Expr: &catalog.Generated{Expr: text}, Desc: part.Order == syntax.OrderDesc})
			continue
		}
		column := ddl.IndexColumnSpec{Column: part.Column.Name, Desc: part.Order == syntax.OrderDesc}
		if part.Length >= 0 {
			column.PrefixLen, column.HasPrefix = int(min(part.Length, 1<<30)), true
		}
		spec.Columns = append(spec.Columns, column)
	}
	for _, o := range def.Options {
		switch o.Kind {
		case "USING", "TYPE":
			spec.Using = strings.ToUpper(o.Word)
		case "COMMENT":
			spec.Comment = s.comment(optionText(o.Word, o.Value), ddl.IndexCommentMax, types.ErTooLongIndexComment, spec.Name)
		case "INVISIBLE":
			spec.Invisible = true
		case "VISIBLE", "CLUSTERED":
		case "WITH PARSER", "NONCLUSTERED", "GLOBAL":
			return spec, types.Errorf(types.ErNotSupportedYet, o.Kind+" indexes")
		default:
			s.context.AddError(types.LevelWarning, types.NewError(types.ErNotSupportedYet, o.Kind+" of an index has no effect"))
		}
	}
	if spec.Using == "HASH" {
		s.context.AddError(types.LevelNote, types.NewError(types.ErNotSupportedYet, "HASH indexes are not available; an ordered index is used instead"))
		spec.Using = ""
	}
	return spec, nil
}

// erOptionRange is MySQL's warning of table options that are out of their range.
const erOptionRange = 4074

// rowsOption is the value of MAX_ROWS or MIN_ROWS, which is an unsigned INT at most.
func (s *Session) rowsOption(name string, number uint64) uint64 {
	if number <= math.MaxUint32 {
		return number
	}
	s.context.AddError(types.LevelWarning, types.NewError(erOptionRange, fmt.Sprintf("%s=%d is outside the valid range [0,%d]. %d will be used.", name, number, uint32(math.MaxUint32), uint32(math.MaxUint32))))
	return math.MaxUint32
}

// comment reads the comment of the table, column or index called name, in characters at most charsMax. Without strict mode the rest of a longer one
// is cut off; in strict mode ddl refuses it.
func (s *Session) comment(text string, charsMax int, tooLong uint16, name string) string {
	text = types.InUTF8(text, s.clientCharset())
	if s.context.SQLMode&types.ModeStrict != 0 || utf8.RuneCountInString(text) <= charsMax {
		return text
	}
	s.context.Warn(types.LevelWarning, tooLong, name, charsMax)
	return string([]rune(text)[:charsMax])
}

func optionText(word string, value syntax.Expr) string {
	if lit, ok := value.(*syntax.Literal); ok {
		return lit.Value
	}
	return word
}

func optionNumber(word string, value syntax.Expr) uint64 {
	n, err := strconv.ParseUint(optionText(word, value), 10, 64)
	if err != nil {
		return 0 // the grammar admits numbers and DEFAULT here
	}
	return n
}

// given is the word of an option, or nothing for DEFAULT, which is as if the option were not there.
func given(word string) string {
	if strings.EqualFold(word, "DEFAULT") {
		return ""
	}
	return word
}

// tableOptions reads the options after the column list. Those without a meaning here are kept for SHOW CREATE TABLE or warned about.
func (s *Session) tableOptions(spec *ddl.TableSpec, options []syntax.TableOption) error {
	clauses := charsetClauses{coll: spec.Coll, build: &s.build}
	for i := range options {
		o := &options[i]
		text, number := optionText(o.Word, o.Value), optionNumber(o.Word, o.Value)
		switch strings.ToUpper(o.Kind) {
		case "ENGINE":
			if err := s.engineOption(text, spec.Table); err != nil {
				return err
			}
		case "CHARSET", "CHARACTER SET", "CHAR SET":
			if err := clauses.charset(text); err != nil {
				return err
			}
			spec.Coll = clauses.coll
		case "COLLATE":
			if err := clauses.collate(text); err != nil {
				return err
			}
			spec.Coll = clauses.coll
		case "AUTO_INCREMENT":
			spec.AutoIncrement = number
		case "COMMENT":
			spec.Comment = s.comment(text, ddl.TableCommentMax, types.ErTooLongTableComment, spec.Table)
		case "MAX_ROWS":
			spec.Options.MaxRows = s.rowsOption("max_rows", number)
		case "MIN_ROWS":
			spec.Options.MinRows = s.rowsOption("min_rows", number)
		case "AVG_ROW_LENGTH":
			spec.Options.AvgRowLength = number
		case "ROW_FORMAT":
			spec.Options.RowFormat = strings.ToUpper(given(text))
		case "KEY_BLOCK_SIZE":
			spec.Options.KeyBlockSize = number
		case "CHECKSUM":
			spec.Options.Checksum = number != 0
		case "DELAY_KEY_WRITE":
			spec.Options.DelayKeyWrite = number != 0
		case "STATS_PERSISTENT":
			spec.Options.StatsPersist = given(text)
		case "STATS_AUTO_RECALC":
			spec.Options.StatsRecalc = given(text)
		case "STATS_SAMPLE_PAGES":
			spec.Options.StatsPages = number
		case "PACK_KEYS":
			spec.Options.PackKeys = given(text)
		default:
			s.context.AddError(types.LevelWarning, types.NewError(types.ErNotSupportedYet, "table option "+o.Kind+" has no effect"))
		}
	}
	return nil
}

// otherEngines are the engines that a MySQL server has besides InnoDB unless it is built or started otherwise.
var otherEngines = []string{"MyISAM", "MEMORY", "HEAP", "CSV", "ARCHIVE", "BLACKHOLE", "MRG_MYISAM", "MERGE"}

// knownEngine reports whether a MySQL server has an engine.
func knownEngine(name string) bool {
	return strings.EqualFold(name, "InnoDB") || slices.ContainsFunc(otherEngines, func(other string) bool { return strings.EqualFold(name, other) })
}

// engineOption accepts the names of MySQL's engines, since dumps and tools write them, and says so if it isn't InnoDB. Other names are
// an error under NO_ENGINE_SUBSTITUTION.
func (s *Session) engineOption(name, table string) error {
	if strings.EqualFold(name, "InnoDB") {
		return nil
	}
	if !knownEngine(name) && s.context.SQLMode&types.ModeNoEngineSubstitution != 0 {
		return types.Errorf(types.ErUnknownStorageEngine, name)
	}
	s.context.Warn(types.LevelWarning, types.ErUnknownStorageEngine, name)
	s.context.Warn(types.LevelWarning, types.ErWarnUsingOtherHandler, "InnoDB", table)
	return nil
}

func (s *Session) dropTable(c *ddl.Call, stmt *syntax.DropTable) error {
	names := make([]ddl.Name, len(stmt.Tables))
	for i, t := range stmt.Tables {
		var err error
		if names[i], err = s.name(t); err != nil {
			return err
		}
	}
	return s.node.DDL.DropTables(c, names, stmt.IfExists)
}

func (s *Session) truncateTable(c *ddl.Call, stmt *syntax.TruncateTable) error {
	name, err := s.name(stmt.Table)
	if err != nil {
		return err
	}
	return s.node.DDL.TruncateTable(c, name)
}

// truncateSummary is TRUNCATE TABLE of a table with the server's counters.
func (s *Session) truncateSummary(stmt syntax.Statement) (done bool, err error) {
	truncate, ok := stmt.(*syntax.TruncateTable)
	if !ok {
		return false, nil
	}
	name, err := s.name(truncate.Table)
	if err != nil || !strings.EqualFold(name.Schema, "performance_schema") || !infoschema.Truncates(strings.ToLower(name.Table)) {
		return false, nil
	}
	if err := s.commit(); err != nil {
		return true, err
	}
	if err := s.require(privilege.Drop, "performance_schema", strings.ToLower(name.Table)); err != nil {
		return true, err
	}
	if strings.EqualFold(name.Table, "host_cache") {
		return true, nil
	}
	s.node.settleAll(true)
	s.node.digests.truncate()
	return true, nil
}

func (s *Session) renameTable(c *ddl.Call, stmt *syntax.RenameTable) error {
	pairs := make([]ddl.RenamePair, len(stmt.Pairs))
	for i, pair := range stmt.Pairs {
		var err error
		if pairs[i].From, err = s.name(pair.From); err != nil {
			return err
		}
		if pairs[i].To, err = s.name(pair.To); err != nil {
			return err
		}
	}
	return s.node.DDL.RenameTables(c, pairs)
}

func (s *Session) createIndex(c *ddl.Call, stmt *syntax.CreateIndex) (sqlapi.Result, error) {
	name, err := s.name(stmt.Table)
	if err != nil {
		return sqlapi.Result{}, err
	}
	readClauses(c, stmt.Algorithm)
	spec, err := s.indexSpec(&stmt.Key)
	if err != nil {
		return sqlapi.Result{}, err
	}
	return s.alter(c, name, []ddl.AlterSpec{ddl.AddIndex{Index: spec}})
}

func (s *Session) dropIndex(c *ddl.Call, stmt *syntax.DropIndex) (sqlapi.Result, error) {
	name, err := s.name(stmt.Table)
	if err != nil {
		return sqlapi.Result{}, err
	}
	readClauses(c, stmt.Algorithm)
	return s.alter(c, name, []ddl.AlterSpec{ddl.DropIndex{Name: stmt.Name.Name}})
}
