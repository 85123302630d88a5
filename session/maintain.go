package session

import (
	"hash/crc32"
	"strings"

	"github.com/pandodb/pando/catalog"
	"github.com/pandodb/pando/clock"
	"github.com/pandodb/pando/ddl"
	"github.com/pandodb/pando/exec"
	"github.com/pandodb/pando/plan"
	"github.com/pandodb/pando/privilege"
	"github.com/pandodb/pando/sqlapi"
	"github.com/pandodb/pando/syntax"
	"github.com/pandodb/pando/table"
	"github.com/pandodb/pando/types"
)

// maintenanceColumns is the answer of ANALYZE, CHECK, OPTIMIZE and REPAIR TABLE.
var maintenanceColumns = []sqlapi.ColumnInfo{textColumn("Table", 128), textColumn("Op", 10), textColumn("Msg_type", 10), textColumn("Msg_text", 65535)}

// maintenanceLine is a line of that answer about one table.
type maintenanceLine struct{ kind, text string }

// runMaintenance answers ANALYZE, CHECK, OPTIMIZE and REPAIR TABLE with lines for each table.
func (s *Session) runMaintenance(stmt *syntax.TableMaintenance, more bool, out Response) error {
	if stmt.Verb == "CHECKSUM" { // which MySQL takes for a read: the transaction goes on
		return s.runChecksum(stmt, more, out)
	}
	if err := s.commit(); err != nil {
		return s.fail(err)
	}
	if len(stmt.Partitions) > 0 || stmt.Index {
		return s.fail(types.Errorf(types.ErNotSupportedYet, "ANALYZE TABLE with PARTITION or INDEX; plain ANALYZE TABLE takes in all of a table"))
	}
	verb := strings.ToLower(stmt.Verb)
	if (verb == "analyze" || verb == "optimize") && s.node.readOnly.Load() == readOnlySuper {
		return s.fail(s.mayWrite())
	}
	if stmt.Histogram != "" {
		return s.runHistogram(stmt, more, out)
	}
	var rows [][]types.Value
	for _, object := range stmt.Tables {
		name, err := s.name(object)
		if err != nil {
			return s.fail(err)
		}
		lines, err := s.maintain(verb, name)
		if err != nil {
			if s.interrupt.Reason() != 0 {
				return s.fail(exec.MapError(err, &s.interrupt))
			}
			lines = failedLines(exec.MapError(err, &s.interrupt))
		}
		for _, line := range lines {
			rows = append(rows, []types.Value{types.Text(name.Schema + "." + name.Table), types.Text(verb), types.Text(line.kind), types.Text(line.text)})
		}
	}
	return s.sendRows(maintenanceColumns, rows, more, out)
}

// failedLines tell of a table why nothing was done with it.
func failedLines(err error) []maintenanceLine {
	last := maintenanceLine{"status", "Operation failed"}
	if e, ok := err.(*types.Error); ok && (e.Number == types.ErViewInvalid || e.Number == types.ErCheckNoSuchTable) {
		last = maintenanceLine{"error", "Corrupt"}
	}
	return []maintenanceLine{{"Error", message1(err)}, last}
}

func message1(err error) string {
	if e, ok := err.(*types.Error); ok {
		return e.Message
	}
	return err.Error()
}

// maintain asks for the rights before it looks for the table: without them nobody learns whether there is one.
func (s *Session) maintain(verb string, name ddl.Name) ([]maintenanceLine, error) {
	if t := s.schema().Temporary(name.Schema, name.Table); t != nil {
		return s.maintainTable(verb, t)
	}
	if err := s.mayAnalyze(name); err != nil {
		return nil, err
	}
	t, err := s.node.Catalog.Current().Table(name.Schema, name.Table)
	if err != nil {
		return nil, err
	}
	return s.maintainTable(verb, t)
}

func (s *Session) maintainTable(verb string, t *catalog.Table) ([]maintenanceLine, error) {
	ok := []maintenanceLine{{"status", "OK"}}
	if t.View != nil && verb != "check" {
		return nil, types.Errorf(types.ErWrongObject, t.Schema, t.Name, "BASE TABLE")
	}
	switch verb {
	case "analyze":
		return ok, s.analyze(t)
	case "check":
		if t.View != nil {
			_, err := s.build1(s.planEnv(""), selectOf(t), nil)
			return ok, err
		}
		return ok, s.checkRows(t)
	case "optimize":
		note := maintenanceLine{"note", "Tables need no rebuilding, space is given back in the background; doing analyze instead"}
		return append([]maintenanceLine{note}, ok...), s.analyze(t)
	}
	return []maintenanceLine{{"note", "The storage engine for the table doesn't support repair"}}, nil
}

// checkRows compares the rows with all indexes or those in only. What it finds is error 1177.
func (s *Session) checkRows(t *catalog.Table, only ...*catalog.Index) error {
	report, err := table.Check(s.node.Txns, t, &s.interrupt, only...)
	if err == nil && !report.OK() {
		err = types.NewError(types.ErCheckNoSuchTable, strings.Join(report.Problems, "; "))
	}
	return err
}

// analyze makes a table's statistics anew. Of temporary tables there are none.
func (s *Session) analyze(t *catalog.Table) error {
	if t.Temporary != nil {
		return nil
	}
	return s.node.Stats.Refresh(t, mustInt(s.get(histogramMemory)), clock.Now(), &s.interrupt)
}

// checksumColumns is the answer of CHECKSUM TABLE.
var checksumColumns = []sqlapi.ColumnInfo{textColumn("Table", 128), numberColumn("Checksum")}

// runChecksum answers CHECKSUM TABLE. A table that does not exist has NULL and an error among the warnings; so has with QUICK every table,
// without an error, since none keeps a sum of its rows.
func (s *Session) runChecksum(stmt *syntax.TableMaintenance, more bool, out Response) error {
	quick := len(stmt.Options) > 0 && stmt.Options[0] == "QUICK"
	var rows [][]types.Value
	for _, object := range stmt.Tables {
		name, err := s.name(object)
		if err == nil {
			err = s.require(privilege.Select, name.Schema, name.Table)
		}
		if err != nil {
			return s.fail(err)
		}
		sum := types.Null()
		t, err := s.baseTable(name)
		switch {
		case err != nil:
			known, is := err.(*types.Error)
			if !is {
				return s.fail(err)
			}
			s.context.AddError(types.LevelError, known)
		case !quick:
			n, err := s.checksum(t)
			if err != nil {
				return s.fail(err)
			}
			sum = types.Uint(uint64(n))
		}
		rows = append(rows, []types.Value{types.Text(name.Schema + "." + name.Table), sum})
	}
	return s.sendRows(checksumColumns, rows, more, out)
}

// baseTable returns the table of a name that has rows of its own.
func (s *Session) baseTable(name ddl.Name) (*catalog.Table, error) {
	if t := s.schema().Temporary(name.Schema, name.Table); t != nil {
		return t, nil
	}
	t, err := s.node.Catalog.Current().Table(name.Schema, name.Table)
	if catalog.IsSystemSchema(name.Schema) || err == nil && t.View != nil {
		err = types.Errorf(types.ErWrongObject, name.Schema, name.Table, "BASE TABLE")
	}
	return t, err
}

// selectOf is SELECT of all columns of a table, also of invisible ones.
func selectOf(t *catalog.Table) *syntax.Query {
	var items []syntax.SelectItem
	for _, c := range t.Columns {
		if !c.Hidden {
			items = append(items, syntax.SelectItem{Expr: &syntax.ColumnRef{Column: c.Name}})
		}
	}
	return &syntax.Query{Body: &syntax.Select{Items: items, From: &syntax.TableRef{Schema: t.Schema, Name: t.Name}}}
}

// checksum reads all rows as a query of the transaction does. Tables of the same rows in any order have the same sum.
func (s *Session) checksum(t *catalog.Table) (uint32, error) {
	stmt := selectOf(t)
	again := func() (*plan.Entry, error) {
		env := s.planEnv("")
		env.SelectLimit = -1 // sql_select_limit applies only to what clients read
		return s.build1(env, stmt, nil)
	}
	s.params = s.params[:0]
	entry, err := again()
	if err != nil {
		return 0, err
	}
	if entry, err = s.enterAgain(entry, again); err != nil {
		return 0, err
	}
	defer s.leave()
	if err := s.admit(entry.Plan); err != nil {
		return 0, err
	}
	s.prepareRuntime(entry.Plan)
	sum := &sumSink{}
	if _, err := exec.Run(&s.runtime, entry.Plan, sum); err != nil {
		return 0, s.statementError(err)
	}
	return sum.sum, nil
}

// sumSink adds up the checksums of rows. Its encoder is of no session: what a row is made of does not depend on the time zone or the
// character set of who asks.
type sumSink struct {
	enc types.RowEncoder
	sum uint32
}

func (d *sumSink) Columns([]sqlapi.ColumnInfo) (*types.RowEncoder, error) { return &d.enc, nil }

func (d *sumSink) RowDone() error {
	d.sum += crc32.ChecksumIEEE(d.enc.Buf)
	d.enc.Buf = d.enc.Buf[:0]
	return nil
}
