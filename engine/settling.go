package engine

import "sync"

// settling tells when flushes and compactions end.
type settling struct {
	mu   sync.Mutex    // a leaf: Pebble's mutex may be held when it is taken
	next chan struct{} // closed at the next end; nil if nobody waits
}

// ended is called at the end of any flush or compaction.
func (s *settling) ended() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.next != nil {
		close(s.next)
		s.next = nil
	}
}

// wait returns a channel that is closed at the next end.
func (s *settling) wait() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.next == nil {
		s.next = make(chan struct{})
	}
	return s.next
}

// Settling returns a channel that is closed when a flush or compaction ends, nil if none is under way or about to begin. Each holds several copies of its largest
// value, and a flush ends the life of a memtable, so that afterwards there is memory that was not there before. At the moment of an end it may still say that
// there is one, so whoever waits looks again from time to time. It takes Pebble's mutex: it is for those that have no room, not for every statement.
func (e *Engine) Settling() <-chan struct{} {
	next := e.settling.wait() // first, so that no end is missed
	if m := e.db.Metrics(); m.Flush.NumInProgress == 0 && m.Compact.NumInProgress == 0 {
		return nil
	}
	return next
}
