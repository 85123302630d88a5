package store

import "sync/atomic"

// housekeeping is work on tables that takes seconds or more: scanning a region
// that may have to be split, compacting an idle store. It has a goroutine of its
// own, so that maintain goes on polling the disk and the pressure meanwhile.
type housekeeping struct {
	sample, settle chan struct{} // requests for it
	// seen is the value of Store.activity that did not change before settle was
	// requested, and settled the last one for which settle was done, notSettled
	// before the first.
	seen, settled atomic.Uint64
}

const notSettled = ^uint64(0)

// housekeeper is the goroutine that does the housekeeping.
func (s *Store) housekeeper() {
	defer s.background.Done()
	for {
		select {
		case <-s.closing:
			return
		case <-s.house.sample:
			s.sampleRegions()
		case <-s.house.settle:
			s.settle()
		}
	}
}

// settle lets the engine flush and compact, and splits what is too large, until
// there are commits, or the store closes.
func (s *Store) settle() {
	seen := s.house.seen.Load()
	busy := func() bool { return s.activity() != seen }
	if busy() {
		return // there were commits while it scanned a region
	}
	s.engine.FlushIdle()
	if err := s.engine.Settle(s.settling, busy); err != nil && !s.isClosing() {
		s.o.Logger.Warn("cannot compact while idle", "error", err)
	}
	// The first pass is needed for sampleGrown to see that regions have stopped
	// growing; each pass splits those that are too large.
	for first := true; !busy() && (s.sampleRegions() || first); first = false {
	}
	if !busy() {
		s.house.settled.Store(seen)
	}
}
