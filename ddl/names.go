package ddl

import (
	"slices"
	"strings"
	"sync"

	"github.com/pandodb/pando/catalog"
	"github.com/pandodb/pando/clock"
	"github.com/pandodb/pando/kvapi"
)

// nameLocks serialises schema changes by name. A change of a table locks its
// database in shared mode (nameChange) and the table exclusively; a change of a
// database locks that exclusively. LOCK TABLES ... READ locks a table in the mode
// nameKeep, which several sessions share. Statements that only read or write rows
// take no name locks. Waiters are served first in, first out.
//
// Two global names (globalName, backupName) stand for the whole schema: changes
// lock them in mode nameChange, and FLUSH TABLES WITH READ LOCK and LOCK INSTANCE
// in mode nameKeep, so that each kind excludes the other.
//
// A statement locks all its names in ascending order, so that there are no
// deadlocks, and closes gates only afterwards. A session with LOCK TABLES keeps its
// names, and a RENAME may wait for one more: lock_wait_timeout ends a deadlock that
// results.
type nameLocks struct {
	mu sync.Mutex
	// byName is guarded by mu. An entry exists while it is held or waited for.
	byName map[string]*nameLock
}

// nameMode is the mode of a name lock. Holders of the same mode share a name, except for nameExclusive.
type nameMode uint8

const (
	nameChange nameMode = iota // something below the name changes: a table of a database
	nameKeep                   // nothing may change
	nameExclusive
	nameModes
)

type nameLock struct {
	held  [nameModes]int
	queue []*nameWaiter
}

// nameWaiter is an entry of a queue. granted is guarded by nameLocks.mu; ready is closed when it is set.
type nameWaiter struct {
	ref     nameRef
	granted bool
	ready   chan struct{}
}

// nameRef is one name to lock. Databases sort before their tables because the
// table's key extends the database's.
type nameRef struct {
	key  string
	mode nameMode
	// own is how often the caller itself holds the name in mode nameKeep. Those holds do not conflict with its own changes.
	own int
}

// The global names, which sort before all databases: FLUSH TABLES WITH READ LOCK holds globalName, LOCK INSTANCE FOR BACKUP holds backupName.
const (
	globalName = "\x00"
	backupName = "\x00\x01"
)

func dbRef(db string, exclusive bool) nameRef {
	if exclusive {
		return nameRef{key: db, mode: nameExclusive}
	}
	return nameRef{key: db, mode: nameChange}
}

func tableRef(n Name) nameRef { return nameRef{key: n.Schema + "\x00" + n.Table, mode: nameExclusive} }

// tableRefs returns the names that a change of tables locks.
func tableRefs(names ...Name) []nameRef {
	var refs []nameRef
	for _, n := range names {
		refs = append(refs, dbRef(n.Schema, false), tableRef(n))
	}
	return refs
}

// lock locks all names and returns the function that releases them. It returns kvapi.ErrLockTimeout or kvapi.ErrInterrupted with no lock held. It
// sorts refs in place.
func (l *nameLocks) lock(refs []nameRef, p catalog.Patience) (release func(), err error) {
	refs = sortRefs(refs)
	held := 0
	release = func() {
		for _, r := range refs[:held] {
			l.release(r)
		}
	}
	for _, r := range refs {
		if err := l.acquire(r, p); err != nil {
			release()
			return nil, err
		}
		held++
	}
	return release, nil
}

// sortRefs sorts names in place into the order in which they are locked, and keeps each once in its strongest mode.
func sortRefs(refs []nameRef) []nameRef {
	slices.SortFunc(refs, func(a, b nameRef) int {
		if c := strings.Compare(a.key, b.key); c != 0 {
			return c
		}
		return int(b.mode) - int(a.mode)
	})
	return slices.CompactFunc(refs, func(a, b nameRef) bool { return a.key == b.key })
}

func (l *nameLocks) acquire(r nameRef, p catalog.Patience) error {
	l.mu.Lock()
	if l.byName == nil {
		l.byName = make(map[string]*nameLock)
	}
	n := l.byName[r.key]
	if n == nil {
		n = &nameLock{}
		l.byName[r.key] = n
	}
	// A caller that holds the name already must not queue behind waiters that wait for it.
	if (len(n.queue) == 0 || r.own > 0) && n.free(r) {
		n.held[r.mode]++
		l.mu.Unlock()
		return nil
	}
	w := &nameWaiter{ref: r, ready: make(chan struct{})}
	n.queue = append(n.queue, w)
	l.mu.Unlock()

	defer p.Waits()()
	timer := clock.NewTimer(p.Deadline - clock.Mono())
	defer timer.Stop()
	var err error
	select {
	case <-w.ready:
		return nil
	case <-timer.C:
		err = kvapi.ErrLockTimeout
	case <-p.Interrupt.Done():
		err = kvapi.ErrInterrupted
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if w.granted {
		return nil
	}
	n.queue = slices.DeleteFunc(n.queue, func(o *nameWaiter) bool { return o == w })
	l.wake(r.key, n) // later waiters may be compatible with the holders
	return err
}

func (n *nameLock) free(r nameRef) bool {
	for mode := range nameModes {
		count := n.held[mode]
		if mode == nameKeep {
			count -= r.own
		}
		if count > 0 && (mode != r.mode || mode == nameExclusive) {
			return false
		}
	}
	return true
}

func (l *nameLocks) release(r nameRef) {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := l.byName[r.key]
	n.held[r.mode]--
	l.wake(r.key, n)
}

// wake grants the front of the queue. Called with mu held.
func (l *nameLocks) wake(key string, n *nameLock) {
	for len(n.queue) > 0 && n.free(n.queue[0].ref) {
		w := n.queue[0]
		n.queue = n.queue[1:]
		n.held[w.ref.mode]++
		w.granted = true
		close(w.ready)
	}
	if len(n.queue) == 0 && n.held == [nameModes]int{} {
		delete(l.byName, key)
	}
}
