package ddl

import (
	"slices"
	"strings"
	"sync"

	"github.com/pandodb/pando/catalog"
	"github.com/pandodb/pando/clock"
	"github.com/pandodb/pando/kvapi"
)

// nameLocks serialises schema changes by name: a database shared by the changes
// of its tables and exclusive for its own, a table exclusive, or shared by sessions that have it locked for reading. Statements on
// tables do not take them. Waiters are served first in, first out.
//
// Two names stand for everything: changes share them with each other, and who wants the schema to stay as it is shares them with
// others who want that.
//
// A statement takes all its names at once in ascending order, so that no two
// statements wait for each other; it closes gates only afterwards. A session with LOCK TABLES keeps its names, and a RENAME within may wait
// for one more: lock_wait_timeout ends a cycle that comes of it.
type nameLocks struct {
	mu sync.Mutex
	// byName is guarded by mu. An entry exists while it is held or waited for.
	byName map[string]*nameLock
}

// nameMode says with whom a name is shared: with others of the same mode, and with nobody if it is exclusive.
type nameMode uint8

const (
	nameChange nameMode = iota // the name's parts change
	nameKeep                   // nothing of it may change
	nameExclusive
	nameModes
)

type nameLock struct {
	held  [nameModes]int
	queue []*nameWaiter
}

// nameWaiter: granted is guarded by nameLocks.mu; ready is closed with it.
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
	// own is how often the caller itself keeps the name, which does not stand against its changes.
	own int
}

// The names of everything, which sort before all databases: what FLUSH TABLES WITH READ LOCK keeps, and LOCK INSTANCE FOR BACKUP.
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

// lock takes all names and returns the function that releases them.
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

// sortRefs brings names into the order in which they are taken, each once in its strongest mode.
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
	// Who keeps the name already would wait for itself behind those who wait for it.
	if (len(n.queue) == 0 || r.own > 0) && n.free(r) {
		n.held[r.mode]++
		l.mu.Unlock()
		return nil
	}
	w := &nameWaiter{ref: r, ready: make(chan struct{})}
	n.queue = append(n.queue, w)
	l.mu.Unlock()

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
	l.wake(r.key, n) // those behind may be compatible with the holders
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
