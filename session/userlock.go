package session

import (
	"strings"
	"sync"
	"time"

	"github.com/pandodb/pando/clock"
	"github.com/pandodb/pando/kvapi"
	"github.com/pandodb/pando/types"
)

// userLockNameMax bounds a lock's name in bytes, as MySQL has it.
const userLockNameMax = 64

// userLockBytes is about what one level of a lock takes, with its name, which counts as what its session keeps.
const userLockBytes = 256

// userLocks are the locks of GET_LOCK: named, held by sessions, outside transactions. mu guards held and the waiters' lists; it is a
// leaf lock.
type userLocks struct {
	mu   sync.Mutex
	held map[string]*userLock
}

// userLock is a held lock. depth is how many times its owner has taken it; waiters get it in the order of their arrival.
type userLock struct {
	owner   *Session
	depth   int
	waiters []*userLockWaiter
}

// userLockWaiter is a session that waits for a lock; granted is closed when it owns the lock.
type userLockWaiter struct {
	session *Session
	granted chan struct{}
}

// get waits at most some seconds for the lock, without a limit if they are negative. It returns 1 if s has got the lock, else 0.
func (u *userLocks) get(s *Session, name string, seconds float64) (types.Value, error) {
	name = strings.ToLower(name)
	if name == "" || len(name) > userLockNameMax {
		return types.Null(), types.Errorf(types.ErUserLockWrongName, name)
	}
	if err := s.keep(userLockBytes); err != nil {
		return types.Null(), err
	}
	v, err := u.acquire(s, name, seconds)
	if err != nil || v.N != 1 {
		_ = s.keep(-userLockBytes) // giving back never fails
	}
	return v, err
}

func (u *userLocks) acquire(s *Session, name string, seconds float64) (types.Value, error) {
	u.mu.Lock()
	if u.held == nil {
		u.held = map[string]*userLock{}
	}
	lock := u.held[name]
	if lock == nil || lock.owner == s {
		if lock == nil {
			lock = &userLock{owner: s}
			u.held[name] = lock
		}
		lock.depth++
		s.heldLocks = append(s.heldLocks, name)
		u.mu.Unlock()
		return types.Int(1), nil
	}
	if seconds == 0 {
		u.mu.Unlock()
		return types.Int(0), nil
	}
	if u.cycle(lock, s) {
		u.mu.Unlock()
		return types.Null(), types.Errorf(types.ErUserLockDeadlock)
	}
	w := &userLockWaiter{session: s, granted: make(chan struct{})}
	lock.waiters = append(lock.waiters, w)
	u.mu.Unlock()
	return u.wait(s, name, w, seconds)
}

// cycle reports whether waiting of s for lock would close a cycle of waiting sessions. mu is held.
func (u *userLocks) cycle(lock *userLock, s *Session) bool {
	seen := map[*Session]bool{}
	owner := lock.owner
	for !seen[owner] {
		if owner == s {
			return true
		}
		seen[owner] = true
		next := (*Session)(nil)
		for _, other := range u.held {
			for _, w := range other.waiters {
				if w.session == owner {
					next = other.owner
				}
			}
		}
		if next == nil {
			return false
		}
		owner = next
	}
	return false
}

func (u *userLocks) wait(s *Session, name string, w *userLockWaiter, seconds float64) (types.Value, error) {
	var timeout <-chan time.Time
	if seconds > 0 {
		timer := clock.NewTimer(time.Duration(min(seconds, 1e9) * float64(time.Second)))
		defer timer.Stop()
		timeout = timer.C
	}
	s.waitsFor("User lock")
	defer s.waitsFor("")
	var interrupted bool
	select {
	case <-w.granted:
		return types.Int(1), nil
	case <-timeout:
	case <-s.interrupt.Done():
		interrupted = s.interrupt.Reason() != kvapi.ReasonNone
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	select {
	case <-w.granted: // it was granted just when the session gave up waiting
		return types.Int(1), nil
	default:
	}
	if lock := u.held[name]; lock != nil {
		for i := range lock.waiters {
			if lock.waiters[i] == w {
				lock.waiters = append(lock.waiters[:i], lock.waiters[i+1:]...)
				break
			}
		}
	}
	if interrupted {
		return types.Null(), s.poll()
	}
	return types.Int(0), nil
}

// release releases one level of the lock: 1 if the session held it, 0 if another does, NULL if nobody does.
func (u *userLocks) release(s *Session, name string) types.Value {
	name = strings.ToLower(name)
	u.mu.Lock()
	defer u.mu.Unlock()
	lock := u.held[name]
	switch {
	case lock == nil:
		return types.Null()
	case lock.owner != s:
		return types.Int(0)
	}
	u.drop(s, name, lock)
	return types.Int(1)
}

// drop reduces the depth of a lock of s by one; at 0 the first waiter gets the lock. mu is held.
func (u *userLocks) drop(s *Session, name string, lock *userLock) {
	// From the end: a session that ends gives back the latest first, and may have a hundred thousand.
	for i := len(s.heldLocks) - 1; i >= 0; i-- {
		if s.heldLocks[i] == name {
			s.heldLocks = append(s.heldLocks[:i], s.heldLocks[i+1:]...)
			break
		}
	}
	_ = s.keep(-userLockBytes) // giving back never fails
	if lock.depth--; lock.depth > 0 {
		return
	}
	if len(lock.waiters) == 0 {
		delete(u.held, name)
		return
	}
	next := lock.waiters[0]
	lock.waiters = lock.waiters[1:]
	lock.owner, lock.depth = next.session, 1
	next.session.heldLocks = append(next.session.heldLocks, name)
	close(next.granted)
}

// releaseAll releases all levels of all locks of the session and returns how many they were.
func (u *userLocks) releaseAll(s *Session) int {
	u.mu.Lock()
	defer u.mu.Unlock()
	n := 0
	for len(s.heldLocks) > 0 {
		name := s.heldLocks[len(s.heldLocks)-1]
		u.drop(s, name, u.held[name])
		n++
	}
	return n
}

// holder returns the number of the connection that holds the lock, 0 if none does.
func (u *userLocks) holder(name string) uint64 {
	u.mu.Lock()
	defer u.mu.Unlock()
	if lock := u.held[strings.ToLower(name)]; lock != nil {
		return lock.owner.id
	}
	return 0
}
