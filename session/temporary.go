package session

import (
	"maps"

	"github.com/pandodb/pando/catalog"
	"github.com/pandodb/pando/ddl"
	"github.com/pandodb/pando/exec"
	"github.com/pandodb/pando/kvapi"
	"github.com/pandodb/pando/privilege"
	"github.com/pandodb/pando/sqlapi"
	"github.com/pandodb/pando/syntax"
	"github.com/pandodb/pando/table"
	"github.com/pandodb/pando/txn"
	"github.com/pandodb/pando/types"
)

// temporariesMax bounds the temporary tables of one session.
const temporariesMax = 10_000

// What a temporary table's descriptor takes: about so much, and for each column and index. It counts as what its session keeps.
const (
	descriptorTableBytes  = 4 << 10
	descriptorColumnBytes = 1 << 10
)

// descriptorBytes is about what the descriptor of a table takes.
func descriptorBytes(t *catalog.Table) int {
	return descriptorTableBytes + descriptorColumnBytes*(len(t.Columns)+len(t.Indexes))
}

// Numbers of MySQL's errors about temporary tables.
const (
	errTemporaryPartitions = 1562 // ER_PARTITION_NO_TEMPORARY
	errCreatedStays        = 1751 // ER_WARNING_NOT_COMPLETE_ROLLBACK_WITH_CREATED_TEMP_TABLE
	errDroppedStays        = 1752 // ER_WARNING_NOT_COMPLETE_ROLLBACK_WITH_DROPPED_TEMP_TABLE
)

// temporaries are the temporary tables of a session. The zero value has none.
type temporaries struct {
	// tables is replaced and never changed, since overlay refers to it; nil for none.
	tables map[catalog.TableName]*catalog.Table
	// overlay is the schema base together with tables; nil until schema makes it.
	base, overlay *catalog.Snapshot
	// ended are tables whose rows the open transaction may have written: their data go when it has ended.
	ended []*catalog.Table
	// created and dropped say that the open transaction has created or dropped temporary tables, which a rollback does not undo.
	created, dropped bool
	bytesMax         int64 // of each table: tidb_tmp_table_max_size
}

// schema is the schema as the session sees it: with its temporary tables.
func (s *Session) schema() *catalog.Snapshot {
	current := s.node.Catalog.Current()
	t := &s.temporary
	if t.tables == nil {
		return current
	}
	if t.base != current {
		t.base, t.overlay = current, current.With(t.tables)
	}
	return t.overlay
}

// schemaWithout is schema without the session's temporary table of that name.
func (s *Session) schemaWithout(name ddl.Name) *catalog.Snapshot {
	tables := maps.Clone(s.temporary.tables)
	delete(tables, catalog.TableName{Schema: name.Schema, Name: name.Table})
	return s.node.Catalog.Current().With(tables)
}

// findTemporary returns the temporary table that a name means, nil if it means none.
func (s *Session) findTemporary(n syntax.ObjectName) *catalog.Table {
	if s.temporary.tables == nil {
		return nil
	}
	name, err := s.name(n)
	if err != nil {
		return nil
	}
	return s.temporary.tables[catalog.TableName{Schema: name.Schema, Name: name.Table}]
}

// change replaces temporary tables: old goes, next comes; either may be nil.
func (t *temporaries) change(old, next *catalog.Table) {
	tables := maps.Clone(t.tables)
	if tables == nil {
		tables = map[catalog.TableName]*catalog.Table{}
	}
	if old != nil {
		delete(tables, old.TableName())
	}
	if next != nil {
		tables[next.TableName()] = next
	}
	if len(tables) == 0 {
		tables = nil
	}
	t.tables, t.base, t.overlay = tables, nil, nil
}

// endData deletes the data of a temporary table, or of an older version of one. With an open transaction, which may have written rows of it,
// that happens when the transaction has ended.
func (s *Session) endData(t *catalog.Table) {
	if s.tx != nil {
		s.temporary.ended = append(s.temporary.ended, t)
		return
	}
	s.node.DDL.DropTemporary(t)
}

// endTemporaryTxn deletes the data of ended and clears the marks of the transaction that has ended.
func (s *Session) endTemporaryTxn() {
	for _, t := range s.temporary.ended {
		s.node.DDL.DropTemporary(t)
	}
	s.temporary.ended, s.temporary.created, s.temporary.dropped = nil, false, false
}

// dropTemporaries drops all temporary tables, when the session ends or is reset.
func (s *Session) dropTemporaries() {
	for _, t := range s.temporary.tables {
		_ = s.keep(-descriptorBytes(t)) // giving back never fails
		t.Vanish()
		s.node.DDL.DropTemporary(t)
	}
	s.temporary = temporaries{bytesMax: s.temporary.bytesMax}
}

// rolledBack marks the temporary tables after a rollback, so that admitTemporary measures those whose counted size may be too large.
func (s *Session) rolledBack() {
	for _, t := range s.temporary.tables {
		t.Temporary.Rolled = true
	}
}

// warnOfTemporaries warns, after a rollback, of temporary tables that it has not removed or brought back.
func (s *Session) warnOfTemporaries(created, dropped bool) {
	if created {
		s.context.AddError(types.LevelWarning, types.NewError(errCreatedStays, "The creation of some temporary tables could not be rolled back."))
	}
	if dropped {
		s.context.AddError(types.LevelWarning, types.NewError(errDroppedStays, "Some temporary tables were dropped, but these operations could not be rolled back."))
	}
}

// noteTemporary records that a statement has created or else dropped a temporary table, for the warning of a later rollback. With autocommit
// and without an open transaction there is nothing to roll back.
func (s *Session) noteTemporary(created bool) {
	if s.tx == nil && s.autocommit {
		return
	}
	s.temporary.created = s.temporary.created || created
	s.temporary.dropped = s.temporary.dropped || !created
}

// writesShared reports whether a statement writes other than temporary tables, which read-only transactions and nodes may write.
func writesShared(p *exec.Plan) bool {
	for i := range p.Tables {
		if p.Tables[i].Write && p.Tables[i].Table.Temporary == nil {
			return true
		}
	}
	return false
}

// admitTemporary sets the size limit of the temporary tables that a statement writes, and measures them again after a rollback.
func (s *Session) admitTemporary(p *exec.Plan) error {
	if s.temporary.tables == nil {
		return nil
	}
	for i := range p.Tables {
		t := p.Tables[i].Table
		if t.Temporary == nil || !p.Tables[i].Write {
			continue
		}
		m := t.Temporary
		if m.Max = s.temporary.bytesMax; !m.Rolled || m.Bytes() <= m.Max/2 {
			continue
		}
		bytes, err := s.measure(t)
		if err != nil {
			return exec.MapError(err, &s.interrupt)
		}
		m.Recount(bytes)
	}
	return nil
}

// measure counts the bytes of a temporary table's keys and values, those of the open transaction included.
func (s *Session) measure(t *catalog.Table) (int64, error) {
	sink := &sizeSink{}
	for span := table.DataSpan(t.PhysID); span.Start != nil; {
		request := &txn.ScanRequest{Span: span, LimitRows: measureRows, Sink: sink, Interrupt: &s.interrupt}
		var resume []byte
		var err error
		if s.tx != nil {
			resume, err = s.tx.ScanLatest(request)
		} else {
			resume, err = s.node.Txns.Scan(request)
		}
		if err != nil {
			return 0, err
		}
		span.Start = append([]byte(nil), resume...)
		if resume == nil {
			break
		}
	}
	return sink.bytes, nil
}

// measureRows is how many rows measure reads with one scan.
const measureRows = 4096

// sizeSink adds up the sizes of keys and values.
type sizeSink struct{ bytes int64 }

var _ kvapi.Sink = (*sizeSink)(nil)

// Pair implements kvapi.Sink.
func (z *sizeSink) Pair(key, value []byte) (bool, error) {
	z.bytes += int64(len(key) + len(value))
	return true, nil
}

// runTemporary executes the schema changes that concern temporary tables; done is false for the others. Other sessions do not see these
// tables: no lock, read_only or privilege on a table prevents such a change.
func (s *Session) runTemporary(stmt syntax.Statement, text string) (done bool, result sqlapi.Result, err error) {
	switch stmt := stmt.(type) {
	case *syntax.CreateTable:
		if stmt.Temporary {
			result, err = s.createTemporary(stmt, text)
			return true, result, err
		}
	case *syntax.DropTable:
		if stmt.Temporary {
			return true, result, s.dropTemporary(stmt)
		}
		for _, n := range stmt.Tables {
			if s.findTemporary(n) != nil {
				return true, result, s.dropMixed(stmt, text)
			}
		}
	case *syntax.TruncateTable:
		if t := s.findTemporary(stmt.Table); t != nil {
			result, err = s.changeTemporary(t, text, func(*ddl.Call) (*catalog.Table, error) { return s.node.DDL.TruncateTemporary(t) })
			return true, result, err
		}
	case *syntax.AlterTable:
		if t := s.findTemporary(stmt.Table); t != nil {
			result, err = s.alterTemporary(t, stmt, text)
			return true, result, err
		}
	case *syntax.CreateIndex:
		if t := s.findTemporary(stmt.Table); t != nil {
			spec, err := s.indexSpec(&stmt.Key)
			if err != nil {
				return true, result, err
			}
			result, err = s.alterWith(t, text, stmt.Algorithm, []ddl.AlterSpec{ddl.AddIndex{Index: spec}})
			return true, result, err
		}
	case *syntax.DropIndex:
		if t := s.findTemporary(stmt.Table); t != nil {
			result, err = s.alterWith(t, text, stmt.Algorithm, []ddl.AlterSpec{ddl.DropIndex{Name: stmt.Name.Name}})
			return true, result, err
		}
	}
	return false, result, nil
}

// createTemporary is CREATE TEMPORARY TABLE in all its forms. It does not end the open transaction.
func (s *Session) createTemporary(stmt *syntax.CreateTable, text string) (sqlapi.Result, error) {
	var none sqlapi.Result
	if s.tx != nil && s.txReadOnly || s.tx == nil && s.readOnly {
		return none, types.Errorf(types.ErCantExecuteInReadOnlyTransaction)
	}
	name, err := s.name(stmt.Name)
	if err != nil {
		return none, err
	}
	if catalog.IsSystemSchema(name.Schema) || !s.account().Has(privilege.CreateTemporaryTables, name.Schema, "") {
		return none, s.deniedDatabase(name.Schema)
	}
	if stmt.Like != nil && s.findTemporary(*stmt.Like) == nil {
		if err := s.requireOn(privilege.Select, *stmt.Like); err != nil {
			return none, err
		}
	}
	if err := s.requireOnParents(stmt.Name, foreignReferences(stmt.Elements)); err != nil {
		return none, err
	}
	if stmt.Partition != nil {
		return none, types.NewError(errTemporaryPartitions, "Cannot create temporary table with partitions")
	}
	call := s.changeCall(text)
	if stmt.Query != nil && stmt.Like == nil {
		return s.createSelect(call, stmt)
	}
	return none, s.createTable(call, stmt, nil)
}

// addTemporary makes the table of a spec, if there is none of its name yet.
func (s *Session) addTemporary(c *ddl.Call, spec *ddl.TableSpec) error {
	name := catalog.TableName{Schema: spec.Schema, Name: spec.Table}
	switch {
	case s.temporary.tables[name] != nil && !spec.IfNotExists:
		return types.Errorf(types.ErTableExists, spec.Table)
	case s.temporary.tables[name] != nil:
		s.context.Warn(types.LevelNote, types.ErTableExists, spec.Table)
	case len(s.temporary.tables) >= temporariesMax:
		return types.Errorf(types.ErOutOfResources)
	default:
		t, err := s.node.DDL.CreateTemporary(c, spec, s.temporary.bytesMax)
		if err != nil {
			return err
		}
		if err := s.keep(descriptorBytes(t)); err != nil {
			s.node.DDL.DropTemporary(t)
			return err
		}
		s.temporary.change(nil, t)
	}
	s.noteTemporary(true)
	return nil
}

// removeTemporary drops one temporary table.
func (s *Session) removeTemporary(t *catalog.Table) {
	_ = s.keep(-descriptorBytes(t)) // giving back never fails
	s.temporary.change(t, nil)
	t.Vanish()
	s.endData(t)
}

// dropTemporary is DROP TEMPORARY TABLE: all tables or none, and the open transaction goes on.
func (s *Session) dropTemporary(stmt *syntax.DropTable) error {
	if s.tx != nil && s.txReadOnly || s.tx == nil && s.readOnly {
		return types.Errorf(types.ErCantExecuteInReadOnlyTransaction)
	}
	found, missing, err := s.namedTemporaries(stmt)
	if err != nil {
		return err
	}
	unknown := ""
	for _, n := range missing {
		name, _ := s.name(n) // namedTemporaries has found no error in it
		full := name.Schema + "." + name.Table
		switch {
		case stmt.IfExists:
			s.context.Warn(types.LevelNote, types.ErBadTable, full)
		case unknown == "":
			unknown = full
		default:
			unknown += "," + full
		}
	}
	if unknown != "" {
		return types.Errorf(types.ErBadTable, unknown)
	}
	for _, t := range found {
		s.removeTemporary(t)
		s.noteTemporary(false)
	}
	return nil
}

// namedTemporaries splits the tables of DROP TABLE into temporary ones and others.
func (s *Session) namedTemporaries(stmt *syntax.DropTable) (found []*catalog.Table, others []syntax.ObjectName, err error) {
	seen := map[*catalog.Table]bool{}
	for _, n := range stmt.Tables {
		if _, err := s.name(n); err != nil {
			return nil, nil, err
		}
		t := s.findTemporary(n)
		switch {
		case t == nil:
			others = append(others, n)
		case seen[t]:
			return nil, nil, types.Errorf(types.ErNonUniqTable, n.Name)
		default:
			seen[t] = true
			found = append(found, t)
		}
	}
	return found, others, nil
}

// dropMixed is DROP TABLE of temporary tables and perhaps of others. The others are dropped first: if that fails, no table is dropped.
func (s *Session) dropMixed(stmt *syntax.DropTable, text string) error {
	found, others, err := s.namedTemporaries(stmt)
	if err != nil {
		return err
	}
	if len(others) > 0 {
		rest := *stmt
		rest.Tables = others
		if _, err := s.runSchema(&rest, text); err != nil {
			return err
		}
	} else if err := s.commitForChange(); err != nil {
		return err
	}
	for _, t := range found {
		s.removeTemporary(t)
	}
	return nil
}

// commitForChange commits before an ALTER, a TRUNCATE or a plain DROP TABLE of a temporary table, and refuses it in a read-only session.
func (s *Session) commitForChange() error {
	if err := s.commit(); err != nil {
		return err
	}
	if s.readOnly {
		return types.Errorf(types.ErCantExecuteInReadOnlyTransaction)
	}
	return nil
}

// changeTemporary replaces a temporary table by the one that replace returns.
func (s *Session) changeTemporary(t *catalog.Table, text string, replace func(*ddl.Call) (*catalog.Table, error)) (sqlapi.Result, error) {
	var result sqlapi.Result
	if err := s.commitForChange(); err != nil {
		return result, err
	}
	next, err := replace(s.changeCall(text))
	if err != nil {
		return result, err
	}
	if err := s.keep(descriptorBytes(next) - descriptorBytes(t)); err != nil {
		if next.PhysID != t.PhysID {
			s.node.DDL.DropTemporary(next)
		}
		return result, err
	}
	s.temporary.change(t, next)
	if next.PhysID != t.PhysID {
		s.node.DDL.DropTemporary(t)
	}
	return result, nil
}

// alterTemporary is ALTER TABLE of a temporary table.
func (s *Session) alterTemporary(t *catalog.Table, stmt *syntax.AlterTable, text string) (sqlapi.Result, error) {
	for i := range stmt.Specs {
		if spec := &stmt.Specs[i]; spec.Kind == syntax.AlterRenameTable {
			if err := s.requireOn(privilege.Create|privilege.Insert, spec.NewTable); err != nil {
				return sqlapi.Result{}, err
			}
			if other := s.findTemporary(spec.NewTable); other != nil && other != t {
				return sqlapi.Result{}, types.Errorf(types.ErTableExists, other.Name)
			}
		}
	}
	if len(alterReferences(stmt.Specs)) > 0 {
		return sqlapi.Result{}, types.Errorf(types.ErCannotAddForeign)
	}
	actions, err := s.alterSpecs(t, stmt)
	if err != nil {
		return sqlapi.Result{}, err
	}
	return s.alterWith(t, text, stmt.Specs, actions)
}

// alterWith runs the actions of an ALTER TABLE on a temporary table. clauses may hold ALGORITHM and LOCK.
func (s *Session) alterWith(t *catalog.Table, text string, clauses []syntax.AlterSpec, actions []ddl.AlterSpec) (sqlapi.Result, error) {
	if len(actions) == 0 {
		return sqlapi.Result{}, s.commitForChange()
	}
	if err := s.keepsKeys(t, actions); err != nil {
		return sqlapi.Result{}, err
	}
	behindGeneratedKey(t, actions)
	var info sqlapi.Result
	result, err := s.changeTemporary(t, text, func(c *ddl.Call) (*catalog.Table, error) {
		readClauses(c, clauses)
		c.Context = s.context.Fork()
		c.Context.Strict = s.context.SQLMode&types.ModeStrict != 0
		next, err := s.node.DDL.AlterTemporary(c, t, actions)
		s.context.Absorb(c.Context)
		if err == nil && c.Copied {
			info = s.copied(c)
		}
		return next, err
	})
	if err != nil {
		return result, err
	}
	return info, nil
}
