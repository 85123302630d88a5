package store

import "sync/atomic"

// housekeeping is the work on tables that takes seconds, or many: walking
// through a region that may have to be split, compacting what nobody writes to.
// It has a goroutine of its own, so that maintenance goes on looking at the disk
// and the pressure meanwhile.
type housekeeping struct {
	sample, settle chan struct{} // ask for it
	// seen is the watermark that has stood still when settle is asked for, and
	// settled the last one for which that was done, notSettled before.
	seen, settled atomic.Uint64
}

const notSettled = ^uint64(0)

// housekeeper is the goroutine.
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
		return // they came while it walked through a region
	}
	s.engine.FlushIdle()
	if err := s.engine.Settle(s.settling, busy); err != nil && !s.isClosing() {
		s.o.Logger.Warn("cannot compact while idle", "error", err)
	}
	// The first pass finds that regions grow no more, each halves those that are
	// too large.
	for first := true; !busy() && (s.sampleRegions() || first); first = false {
	}
	if !busy() {
		s.house.settled.Store(seen)
	}
}
