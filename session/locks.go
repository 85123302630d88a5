package session

import (
	"errors"
	"slices"
	"strings"

	"github.com/pandodb/pando/catalog"
	"github.com/pandodb/pando/ddl"
	"github.com/pandodb/pando/exec"
	"github.com/pandodb/pando/kvapi"
	"github.com/pandodb/pando/plan"
	"github.com/pandodb/pando/privilege"
	"github.com/pandodb/pando/syntax"
	"github.com/pandodb/pando/types"
)

// lockedTable is one table of LOCK TABLES, or one that a view of it reads: the only ones that the session may name meanwhile.
type lockedTable struct {
	schema, table string
	alias         string // empty for the table's own name
	write         bool
}

// lockedTables is the session as the planner asks it for its table locks under LOCK TABLES.
type lockedTables Session

// Reads implements plan.TableLocks.
func (l *lockedTables) Reads(schema, table, alias string) error {
	_, err := l.find(schema, table, alias)
	return err
}

// Writes implements plan.TableLocks. A table that is written through a view is named by what the view calls it.
func (l *lockedTables) Writes(schema, table, alias string) error {
	found, err := l.find(schema, table, alias)
	if err == nil && !found.write {
		err = types.Errorf(types.ErTableNotLockedForWrite, alias)
	}
	return err
}

func (l *lockedTables) find(schema, table, alias string) (*lockedTable, error) {
	for i := range l.locked {
		t := &l.locked[i]
		if t.schema == schema && t.table == table && firstOf(t.alias, t.table) == alias {
			return t, nil
		}
	}
	return nil, types.Errorf(types.ErTableNotLocked, alias)
}

// tableLocks is what plans are made under: nil without LOCK TABLES.
func (s *Session) tableLocks() plan.TableLocks {
	if !s.held.Tables() {
		return nil
	}
	return (*lockedTables)(s)
}

// ddlCall is what a change of the schema, or a lock against it, needs of the session.
func (s *Session) ddlCall(text string) *ddl.Call {
	return &ddl.Call{LockWait: s.metadataWait, Interrupt: &s.interrupt, Self: s.use, Held: &s.held, Loose: !s.context.SQLMode.IsStrict(), Text: text,
		Warn: func(level types.Level, number uint16, args ...any) { s.context.Warn(level, number, args...) }}
}

// runLockTables is LOCK TABLES. Even if it fails, it ends the open transaction and releases the tables of an earlier LOCK TABLES.
func (s *Session) runLockTables(stmt *syntax.LockTables) error {
	if err := s.commit(); err != nil {
		return err
	}
	s.unlockTables()
	items := make([]lockedTable, 0, len(stmt.Items))
	for _, i := range stmt.Items {
		name, err := s.name(i.Table)
		if err != nil {
			return err
		}
		item := lockedTable{schema: name.Schema, table: name.Table, alias: i.Alias, write: i.Mode == "WRITE" || i.Mode == "LOW_PRIORITY WRITE"}
		if i.Mode == "LOW_PRIORITY WRITE" {
			s.context.AddError(types.LevelWarning, types.NewError(types.ErNotSupportedYet, "LOW_PRIORITY has no effect: waiting sessions are served in their order"))
		}
		items = append(items, item)
	}
	return s.lockTables(items)
}

// lockTables takes tables for the session until unlockTables.
func (s *Session) lockTables(items []lockedTable) error {
	// A temporary table can be named in any case, and nobody else can use it.
	items = slices.DeleteFunc(items, func(t lockedTable) bool { return s.schema().Temporary(t.schema, t.table) != nil })
	seen := make(map[ddl.Name]bool, len(items))
	for _, t := range items {
		named := firstOf(t.alias, t.table)
		if seen[ddl.Name{Schema: t.schema, Table: named}] {
			return types.Errorf(types.ErNonUniqTable, named)
		}
		seen[ddl.Name{Schema: t.schema, Table: named}] = true
		if catalog.IsSystemSchema(t.schema) && (t.write || strings.EqualFold(t.schema, "information_schema")) {
			return types.Errorf(types.ErDBAccessDenied, s.client.User, s.client.Host, t.schema)
		}
		if err := s.require(privilege.LockTables|privilege.Select, t.schema, t.table); err != nil {
			return err
		}
		if t.write {
			if err := s.mayWrite(); err != nil {
				return err
			}
		}
	}
	items, err := s.lockedWithViews(items)
	if err != nil {
		return err
	}
	if items, err = s.lockedWithKin(items); err != nil {
		return err
	}
	var locks []ddl.TableLock
	lockOf := make(map[ddl.Name]int, len(items))
	for _, t := range items {
		if catalog.IsSystemSchema(t.schema) {
			continue // computed from what the catalog holds at the moment
		}
		name := ddl.Name{Schema: t.schema, Table: t.table}
		if i, ok := lockOf[name]; ok {
			locks[i].Write = locks[i].Write || t.write
			continue
		}
		lockOf[name] = len(locks)
		locks = append(locks, ddl.TableLock{Name: name, Write: t.write})
	}
	if err := s.node.DDL.LockTables(s.ddlCall(""), locks); err != nil {
		return exec.MapError(err, &s.interrupt)
	}
	s.locked = items
	s.refreshContext() // plans from before know nothing of the locks
	return nil
}

// lockedWithViews adds the tables that the views among items read, at any depth. As in MySQL they may be named by themselves.
func (s *Session) lockedWithViews(items []lockedTable) ([]lockedTable, error) {
	all := items
	for _, item := range items {
		t := s.node.Catalog.Current().Lookup(item.schema, item.table)
		if t == nil || t.View == nil {
			continue
		}
		uses, err := plan.ViewTables(s.planEnv(""), t)
		if err != nil {
			return nil, s.planError(err)
		}
		for _, used := range uses {
			all = append(all, lockedTable{schema: used.Schema, table: used.Name, write: item.write})
		}
	}
	return all, nil
}

// lockedWithKin adds the tables that a statement which writes one of items may use because of foreign keys: to be written where an action
// changes them, else to be read. As in MySQL they may be named by themselves, and under foreign_key_checks=0 none is added.
func (s *Session) lockedWithKin(items []lockedTable) ([]lockedTable, error) {
	all := items
	for _, item := range items {
		t := s.node.Catalog.Current().Lookup(item.schema, item.table)
		if t == nil || t.View != nil || !item.write {
			continue
		}
		kin, err := plan.Kin(s.planEnv(""), t)
		if err != nil {
			return nil, s.planError(err)
		}
		for _, ref := range kin {
			write := ref.Use&catalog.UseWrite != 0
			i := slices.IndexFunc(all, func(l lockedTable) bool {
				return l.schema == ref.Table.Schema && l.table == ref.Table.Name && (l.alias == "" || l.alias == l.table)
			})
			switch {
			case i >= 0: // with or without the checks: the plans of statements use the table anyway, and would wait for this session
				all[i].write = all[i].write || write
			case !s.runtime.UncheckedForeign:
				all = append(all, lockedTable{schema: ref.Table.Schema, table: ref.Table.Name, write: write})
			}
		}
	}
	return all, nil
}

// unlockTables releases the tables of LOCK TABLES.
func (s *Session) unlockTables() {
	if s.held.Tables() {
		s.node.DDL.UnlockTables(&s.held)
		s.locked = nil
		s.refreshContext()
	}
}

// runUnlockTables is UNLOCK TABLES. It ends the transaction of a session that has tables locked, and of no other.
func (s *Session) runUnlockTables() error {
	if s.held.Tables() {
		if err := s.commit(); err != nil {
			return err
		}
		s.unlockTables()
	}
	s.node.DDL.Thaw(&s.held)
	return nil
}

// unlockAll releases every lock that the session keeps across statements.
func (s *Session) unlockAll() {
	if s.held.Any() {
		s.unlockTables()
		s.node.DDL.Thaw(&s.held)
		s.node.DDL.UnlockInstance(&s.held)
	}
}

// flushTables is FLUSH TABLES in all its forms. No table is kept open, so that without a lock there is nothing to do.
func (s *Session) flushTables(stmt *syntax.Flush) error {
	if s.held.Tables() && stmt.Lock != "" {
		return types.Errorf(types.ErLockOrActiveTransaction)
	}
	switch {
	case stmt.Lock == "FOR EXPORT":
		return types.Errorf(types.ErNotSupportedYet, "FLUSH TABLES … FOR EXPORT, since tables have no files of their own; use mysqldump")
	case stmt.Lock == "":
		for _, t := range s.locked {
			if !t.write {
				return types.Errorf(types.ErTableNotLockedForWrite, firstOf(t.alias, t.table))
			}
		}
		return s.commit()
	}
	if err := s.commit(); err != nil {
		return err
	}
	if len(stmt.Tables) == 0 {
		return exec.MapError(s.node.DDL.Freeze(s.ddlCall("")), &s.interrupt)
	}
	items := make([]lockedTable, len(stmt.Tables))
	for i, t := range stmt.Tables {
		name, err := s.name(t)
		if err != nil {
			return err
		}
		items[i] = lockedTable{schema: name.Schema, table: name.Table}
	}
	return s.lockTables(items)
}

// runLockInstance is LOCK INSTANCE FOR BACKUP and UNLOCK INSTANCE. Neither touches the open transaction.
func (s *Session) runLockInstance(lock bool) error {
	if !s.account().Has(privilege.Super, "", "") {
		return types.Errorf(types.ErSpecificAccessDenied, "BACKUP_ADMIN")
	}
	if !lock {
		s.node.DDL.UnlockInstance(&s.held)
		return nil
	}
	return exec.MapError(s.node.DDL.LockInstance(s.ddlCall("")), &s.interrupt)
}

// lockedChange refuses the changes of the schema that a session may not make while it has LOCK TABLES.
func (s *Session) lockedChange(stmt syntax.Statement) error {
	var names []syntax.ObjectName
	switch stmt := stmt.(type) {
	case *syntax.CreateTable:
		name, err := s.name(stmt.Name)
		switch {
		case err != nil:
			return err
		case s.node.Catalog.Current().Lookup(name.Schema, name.Table) == nil:
			return types.Errorf(types.ErTableNotLocked, name.Table)
		case !stmt.IfNotExists:
			return types.Errorf(types.ErTableExists, name.Table)
		}
		return nil
	case *syntax.DropTable:
		names = stmt.Tables
	case *syntax.TruncateTable:
		names = append(names, stmt.Table)
	case *syntax.AlterTable:
		names = append(names, stmt.Table)
	case *syntax.CreateIndex:
		names = append(names, stmt.Table)
	case *syntax.DropIndex:
		names = append(names, stmt.Table)
	case *syntax.RenameTable:
		for _, pair := range stmt.Pairs {
			if name, err := s.name(pair.From); err == nil && s.node.Catalog.Current().Lookup(name.Schema, name.Table) == nil {
				continue // an earlier pair gives it that name
			}
			names = append(names, pair.From)
		}
	default:
		return types.Errorf(types.ErLockOrActiveTransaction)
	}
	for _, n := range names {
		name, err := s.name(n)
		if err != nil {
			return err
		}
		if err := (*lockedTables)(s).Writes(name.Schema, name.Table, name.Table); err != nil {
			return err
		}
	}
	return nil
}

// followChange updates the list of locked tables after a change of the schema. If none is left, LOCK TABLES has ended.
func (s *Session) followChange(stmt syntax.Statement) {
	rename := func(from, to syntax.ObjectName) {
		old, _ := s.name(from) // the statement has run with them
		now, _ := s.name(to)
		for i := range s.locked {
			if t := &s.locked[i]; t.schema == old.Schema && t.table == old.Table {
				t.schema, t.table = now.Schema, now.Table
			}
		}
	}
	switch stmt := stmt.(type) {
	case *syntax.RenameTable:
		for _, pair := range stmt.Pairs {
			rename(pair.From, pair.To)
		}
	case *syntax.AlterTable:
		for i := range slices.Backward(stmt.Specs) {
			if stmt.Specs[i].Kind == syntax.AlterRenameTable { // the last one counts
				rename(stmt.Table, stmt.Specs[i].NewTable)
				break
			}
		}
	case *syntax.DropTable:
		s.locked = slices.DeleteFunc(s.locked, func(t lockedTable) bool {
			return s.node.Catalog.Current().Lookup(t.schema, t.table) == nil
		})
		if len(s.locked) == 0 {
			s.unlockTables()
		}
	}
}

// barred handles a table of which Enter has refused the use. If only the guard of read_only refused, and this session may write, it enters the
// table after all. Else it waits for the table; the caller then plans the statement anew.
func (s *Session) barred(t *catalog.Table, mode catalog.UseMode, result catalog.EnterResult) (entered bool, err error) {
	if result == catalog.Guarded {
		if err := s.mayWrite(); err != nil {
			s.releaseUse()
			return false, err
		}
		if result = s.use.EnterGuarded(t, mode); result == catalog.Entered {
			return true, nil
		}
	}
	s.releaseUse()
	if result == catalog.Stale {
		return false, nil
	}
	err = s.use.Wait(t, mode, s.metadataWait, &s.interrupt)
	if errors.Is(err, kvapi.ErrDeadlock) {
		s.rollback() // the others wait for what the transaction has, not for this statement
	}
	return false, exec.MapError(err, &s.interrupt)
}

// The states of read_only and super_read_only.
const (
	readOnlyOff uint32 = iota
	readOnlyOn
	readOnlySuper
)

// mayWrite refuses to write under the session's own FLUSH TABLES WITH READ LOCK, and under read_only.
func (s *Session) mayWrite() error {
	if s.held.Frozen() {
		return types.Errorf(types.ErCantUpdateWithReadlock)
	}
	switch s.node.readOnly.Load() {
	case readOnlySuper:
		return types.Errorf(types.ErOptionPreventsStatement, "--super-read-only")
	case readOnlyOn:
		if !s.account().Has(privilege.Super, "", "") {
			return types.Errorf(types.ErOptionPreventsStatement, "--read-only")
		}
	}
	return nil
}

// checkNodeReadOnly refuses to change read_only within a transaction or under LOCK TABLES, for which the change would wait.
func checkNodeReadOnly(s *Session, value string) (string, error) {
	if s != nil && (s.held.Tables() || s.tx != nil) {
		return "", types.Errorf(types.ErLockOrActiveTransaction)
	}
	return value, nil
}

// whileFrozen makes a change while nobody writes: earlier writes have ended, and later ones see the change.
func whileFrozen(s *Session, value string, change func() error) error {
	if value == "OFF" || s.held.Frozen() {
		return change()
	}
	call := s.ddlCall("")
	call.Held = &ddl.Held{}
	if err := s.node.DDL.Freeze(call); err != nil {
		return exec.MapError(err, &s.interrupt)
	}
	defer s.node.DDL.Thaw(call.Held)
	return change()
}

// applyNodeReadOnly acts on read_only: without it there is no super_read_only either.
func applyNodeReadOnly(n *Node, value string) error {
	switch {
	case value == "OFF":
		n.SetGlobal("super_read_only", "OFF")
		n.setReadOnly(readOnlyOff)
	case n.Global("super_read_only") != "ON":
		n.setReadOnly(readOnlyOn)
	}
	return nil
}

// applyNodeSuperReadOnly acts on super_read_only, which also sets read_only.
func applyNodeSuperReadOnly(n *Node, value string) error {
	switch {
	case value == "ON":
		n.SetGlobal("read_only", "ON")
		n.setReadOnly(readOnlySuper)
	case n.Global("read_only") == "ON":
		n.setReadOnly(readOnlyOn)
	}
	return nil
}

func (n *Node) setReadOnly(level uint32) {
	n.readOnly.Store(level)
	n.Catalog.SetReadOnly(level != readOnlyOff)
}
