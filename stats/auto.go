package stats

import (
	"sync"
	"time"

	"github.com/pandodb/pando/catalog"
	"github.com/pandodb/pando/clock"
	"github.com/pandodb/pando/kvapi"
)

const (
	// A table is analysed again after autoRows changed rows plus autoShare of the rows that it had.
	autoRows  = 200
	autoShare = 0.2
	// autoTablesMax bounds the tables whose changes are counted, and so those that wait. Further ones are analysed by ANALYZE TABLE only.
	autoTablesMax = 4096
	// autoPause is the least time between two tables; it is also at least autoRest times what the last one took, so that the work stays below a
	// tenth of a processor.
	autoPause = time.Second
	autoRest  = 9
	// autoMemory is how many bytes renewing histograms may take: the default of MySQL's histogram_generation_max_mem_size.
	autoMemory = 20_000_000
)

// auto keeps statistics fresh: it counts changes, and the goroutine keep, which Store.Close ends, analyses tables that have changed enough.
type auto struct {
	mu      sync.Mutex       // guards the next three fields; no other lock is taken under it
	changed map[uint64]int64 // rows, by physical id, since the table was last taken from waiting
	waiting []*catalog.Table // in the order in which they reached the limit
	queued  map[uint64]bool  // physical ids of those in waiting

	wake chan struct{} // has room for one element, which says that there is work
	stop chan struct{}
	done chan struct{}
	intr kvapi.Interrupt
	// fresh is called with the physical id of a table that has new statistics.
	fresh func(physID uint64)
	pause time.Duration
}

// Start begins to analyse tables by itself once enough of their rows have changed. fresh is called with the physical id of each table that has new
// statistics. Close ends it.
func (s *Store) Start(fresh func(physID uint64)) { s.start(fresh, autoPause) }

func (s *Store) start(fresh func(physID uint64), pause time.Duration) {
	a := &auto{changed: map[uint64]int64{}, queued: map[uint64]bool{}, wake: make(chan struct{}, 1), stop: make(chan struct{}), done: make(chan struct{}),
		fresh: fresh, pause: pause}
	s.auto.Store(a)
	go s.keep(a)
}

// Close stops the goroutine of Start and waits for its end.
func (s *Store) Close() {
	a := s.auto.Swap(nil)
	if a == nil {
		return
	}
	close(a.stop)
	a.intr.Set(kvapi.ReasonShutdown)
	<-a.done
}

// Changed counts rows of a table that statements have written. A caller may report several statements at once.
func (s *Store) Changed(t *catalog.Table, rows int64) {
	a := s.auto.Load()
	if s.countChanged(t, rows) {
		s.isFresh(t.PhysID) // its plans were made for another size
	}
	if a == nil || t.Options.StatsRecalc == "0" {
		return
	}
	known := 0.0
	if stats := s.get(t); stats != nil {
		known = stats.Rows
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if _, counted := a.changed[t.PhysID]; !counted && len(a.changed) >= autoTablesMax {
		return
	}
	a.changed[t.PhysID] += rows
	if float64(a.changed[t.PhysID]) < autoRows+autoShare*known || a.queued[t.PhysID] {
		return
	}
	a.queued[t.PhysID] = true
	a.waiting = append(a.waiting, t)
	select {
	case a.wake <- struct{}{}:
	default: // the goroutine will look at waiting anyway
	}
}

// take returns the table that has waited longest, nil if there is none. Changes from now on count for the next time.
func (a *auto) take() *catalog.Table {
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.waiting) == 0 {
		return nil
	}
	t := a.waiting[0]
	a.waiting = a.waiting[1:]
	delete(a.queued, t.PhysID)
	delete(a.changed, t.PhysID)
	return t
}

// keep is the goroutine of Start. It refreshes one table at a time, with pauses, until a.stop is closed.
func (s *Store) keep(a *auto) {
	defer close(a.done)
	for {
		select {
		case <-a.stop:
			return
		case <-a.wake:
		}
		for t := a.take(); t != nil; t = a.take() {
			start := clock.Mono()
			s.refresh(a, t)
			timer := clock.NewTimer(max(a.pause, autoRest*(clock.Mono()-start)))
			select {
			case <-a.stop:
				timer.Stop()
				return
			case <-timer.C:
			}
		}
	}
}

// refresh analyses the current version of a table. If that fails, the next try is after as many changes again.
func (s *Store) refresh(a *auto, t *catalog.Table) {
	now := s.schema.Current().TableByID(t.ID)
	if now == nil || now.PhysID != t.PhysID {
		return
	}
	// Wrong statistics change no result, and others report a full disk or the end of the node.
	_ = s.Refresh(now, autoMemory, clock.Now(), &a.intr)
}
