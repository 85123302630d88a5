package ddl

import (
	"github.com/pandodb/pando/catalog"
)

// Held are the locks that a session holds across statements: LOCK TABLES, FLUSH TABLES WITH READ LOCK and LOCK INSTANCE FOR BACKUP. The zero
// value holds none. Not safe for concurrent use: only the session's goroutine uses it.
type Held struct {
	// names are the name locks of LOCK TABLES and those that schema changes have added since; all are held until UnlockTables.
	names  map[string]bool
	refs   []nameRef
	tables *catalog.Locked

	freeze *catalog.Freeze
	thawed func() // releases globalName
	backup func() // releases backupName
}

// Tables reports whether the session has LOCK TABLES.
func (h *Held) Tables() bool { return h.tables != nil }

// Frozen reports whether the session has FLUSH TABLES WITH READ LOCK.
func (h *Held) Frozen() bool { return h.freeze != nil }

// Any reports whether the session has any of its locks.
func (h *Held) Any() bool { return h.tables != nil || h.freeze != nil || h.backup != nil }

// TableLock is one table of LOCK TABLES.
type TableLock struct {
	Name
	Write bool
}

// LockTables locks tables, each of which is listed once, for the session of c until UnlockTables. It looks them up after it has locked their names:
// 1146 if one is missing. On error no lock is held.
func (e *Executor) LockTables(c *Call, locks []TableLock) error {
	p := c.patience()
	h := c.Held
	var refs []nameRef
	for _, l := range locks {
		refs = append(refs, dbRef(l.Schema, false))
		ref := tableRef(l.Name)
		if l.Write {
			refs = append(refs, nameRef{key: globalName, mode: nameChange})
		} else {
			ref.mode = nameKeep
		}
		refs = append(refs, ref)
	}
	refs = sortRefs(refs)
	release, err := e.names.lock(refs, p)
	if err != nil {
		return err
	}
	tables := make([]catalog.TableLock, len(locks))
	for i, l := range locks {
		t, err := e.catalog.Current().Table(l.Schema, l.Table)
		if err != nil {
			release()
			return err
		}
		tables[i] = catalog.TableLock{Table: t, Write: l.Write}
	}
	locked, err := e.catalog.Lock(tables, p)
	if err != nil {
		release()
		return err
	}
	h.tables, h.refs, h.names = locked, refs, map[string]bool{}
	for _, r := range refs {
		h.names[r.key] = true
	}
	return nil
}

// UnlockTables releases the locks of LockTables, if there are any.
func (e *Executor) UnlockTables(h *Held) {
	if h.tables == nil {
		return
	}
	h.tables.Release()
	for _, r := range h.refs {
		e.names.release(r)
	}
	h.tables, h.refs, h.names = nil, nil, nil
}

// Freeze is FLUSH TABLES WITH READ LOCK: nobody can change rows or the schema until Thaw. A second call does nothing.
func (e *Executor) Freeze(c *Call) error {
	if c.Held.freeze != nil {
		return nil
	}
	release, err := e.keepGlobal(globalName, c.patience())
	if err != nil {
		return err
	}
	f, err := e.catalog.Freeze(c.patience())
	if err != nil {
		release()
		return err
	}
	c.Held.freeze, c.Held.thawed = f, release
	return nil
}

// Thaw ends Freeze.
func (e *Executor) Thaw(h *Held) {
	if h.freeze != nil {
		h.freeze.Thaw()
		h.thawed()
		h.freeze, h.thawed = nil, nil
	}
}

// LockInstance is LOCK INSTANCE FOR BACKUP: other sessions cannot change the schema and the accounts until UnlockInstance. A second call does nothing.
func (e *Executor) LockInstance(c *Call) error {
	if c.Held.backup != nil {
		return nil
	}
	release, err := e.keepGlobal(backupName, c.patience())
	if err == nil {
		c.Held.backup = release
	}
	return err
}

// UnlockInstance ends LockInstance.
func (e *Executor) UnlockInstance(h *Held) {
	if h.backup != nil {
		h.backup()
		h.backup = nil
	}
}

// keepGlobal locks globalName or backupName against changes.
func (e *Executor) keepGlobal(name string, p catalog.Patience) (release func(), err error) {
	return e.names.lock([]nameRef{{key: name, mode: nameKeep}}, p)
}

// Change registers a change of objects outside of tables, such as accounts, until release is called. It waits while another session holds Freeze
// or LockInstance.
func (e *Executor) Change(c *Call) (release func(), err error) {
	return e.lockNames(c, nil, c.patience())
}

// lockNames locks the names that a statement changes, and the two global ones. Under LOCK TABLES the tables that may be changed are locked
// already, and names that a change adds, such as new names of tables, stay locked until UnlockTables.
func (e *Executor) lockNames(c *Call, refs []nameRef, p catalog.Patience) (release func(), err error) {
	h := c.Held
	own := 0
	if h != nil && h.backup != nil {
		own = 1
	}
	if h == nil || h.tables == nil {
		refs = append(refs, nameRef{key: globalName, mode: nameChange}, nameRef{key: backupName, mode: nameChange, own: own})
		return e.names.lock(refs, p)
	}
	refs = append(refs, nameRef{key: globalName, mode: nameChange})
	var more []nameRef
	for _, r := range sortRefs(refs) {
		if !h.names[r.key] {
			more = append(more, r)
		}
	}
	if _, err := e.names.lock(more, p); err != nil {
		return nil, err
	}
	for _, r := range more {
		h.names[r.key] = true
	}
	h.refs = append(h.refs, more...)
	return e.names.lock([]nameRef{{key: backupName, mode: nameChange, own: own}}, p)
}
