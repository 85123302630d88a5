package ddl

import (
	"slices"
	"sync"

	"github.com/pandodb/pando/catalog"
	"github.com/pandodb/pando/clock"
	"github.com/pandodb/pando/kvapi"
)

// nameLocks serialises schema changes by name: a database shared by the changes
// of its tables and exclusive for its own, a table exclusive. Statements on
// tables do not take them. Waiters are served first in, first out.
//
// A statement takes all its names at once in ascending order, so that no two
// statements wait for each other; it closes gates only afterwards.
type nameLocks struct {
	mu sync.Mutex
	// byName is guarded by mu. An entry exists while it is held or waited for.
	byName map[string]*nameLock
}

type nameLock struct {
	shared    int
	exclusive bool
	queue     []*nameWaiter
}

// nameWaiter: granted is guarded by nameLocks.mu; ready is closed with it.
type nameWaiter struct {
	exclusive, granted bool
	ready              chan struct{}
}

// nameRef is one name to lock. Databases sort before their tables because the
// table's key extends the database's.
type nameRef struct {
	key       string
	exclusive bool
}

func dbRef(db string, exclusive bool) nameRef { return nameRef{db, exclusive} }
func tableRef(n Name) nameRef                 { return nameRef{n.Schema + "\x00" + n.Table, true} }

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
	slices.SortFunc(refs, func(a, b nameRef) int {
		switch {
		case a.key < b.key:
			return -1
		case a.key > b.key:
			return 1
		case a.exclusive && !b.exclusive:
			return -1
		case b.exclusive && !a.exclusive:
			return 1
		}
		return 0
	})
	refs = slices.CompactFunc(refs, func(a, b nameRef) bool { return a.key == b.key })
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
	if len(n.queue) == 0 && n.free(r.exclusive) {
		n.take(r.exclusive)
		l.mu.Unlock()
		return nil
	}
	w := &nameWaiter{exclusive: r.exclusive, ready: make(chan struct{})}
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

func (n *nameLock) free(exclusive bool) bool {
	return !n.exclusive && (!exclusive || n.shared == 0)
}

func (n *nameLock) take(exclusive bool) {
	if exclusive {
		n.exclusive = true
		return
	}
	n.shared++
}

func (l *nameLocks) release(r nameRef) {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := l.byName[r.key]
	if r.exclusive {
		n.exclusive = false
	} else {
		n.shared--
	}
	l.wake(r.key, n)
}

// wake grants the front of the queue. Called with mu held.
func (l *nameLocks) wake(key string, n *nameLock) {
	for len(n.queue) > 0 && n.free(n.queue[0].exclusive) {
		w := n.queue[0]
		n.queue = n.queue[1:]
		n.take(w.exclusive)
		w.granted = true
		close(w.ready)
	}
	if len(n.queue) == 0 && n.shared == 0 && !n.exclusive {
		delete(l.byName, key)
	}
}
