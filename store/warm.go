package store

import (
	"bytes"
	"fmt"
	"slices"
	"sort"
	"sync"
	"time"

	"github.com/pandodb/pando/clock"
	"github.com/pandodb/pando/engine"
	"github.com/pandodb/pando/keys"
	"github.com/pandodb/pando/kvapi"
)

// Behind a load the caches have little of what it wrote: rows that are written where there were none are not recorded, and flushes
// and compactions write blocks past the cache. The warmer reads it in the pause, so that the first statements behind a load don't
// have to. It takes only what is free of the cache, and leaves the machine to statements.
const (
	// warmTicks is for how many ticks of maintenance there have been no commits when it begins: the flush of what the load left in
	// memory has had its time.
	warmTicks = 2 * loadedTicks
	// warmTablesMax bounds the tables whose loads are remembered, warmDroppedMax the spans that were dropped.
	warmTablesMax  = 64
	warmDroppedMax = 1024
	// warmPageRows and warmPageBytes bound what is read at once, about a millisecond of work.
	warmPageRows  = 1000
	warmPageBytes = 256 << 10
	// warmSweep is for how long the row cache is swept between two rests.
	warmSweep = time.Millisecond
	// warmShare is which part of one processor it takes, one in so many.
	warmShare = 8
	// warmBusy is how many commits and lookups of rows between two pages are not the pause that it is meant for. It then rests for
	// warmBusyRest after each page.
	warmBusy     = 100
	warmBusyRest = time.Second
)

// loaded remembers what loads have written, and what was dropped.
type loaded struct {
	mu      sync.Mutex    // a leaf; guards what follows
	tables  []loadedTable // the one that was noted last at the end
	dropped []kvapi.Span
}

// loadedTable is what loads have written into one table.
type loadedTable struct {
	physID uint64
	// first and last are the logical keys of rows, empty if there were index entries only.
	first, last []byte
}

// note adds the writes of a commit, which are in the order of their keys. Of a commit into several tables it takes the last one.
func (l *loaded) note(writes []kvapi.Mutation) {
	last := writes[len(writes)-1].Key
	physID, rest, ok := keys.DecodeTablePrefix(last)
	if !ok {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	at := slices.IndexFunc(l.tables, func(t loadedTable) bool { return t.physID == physID })
	t := loadedTable{physID: physID}
	if at >= 0 {
		t = l.tables[at]
		l.tables = slices.Delete(l.tables, at, at+1)
	} else if len(l.tables) == warmTablesMax {
		l.tables = slices.Delete(l.tables, 0, 1)
	}
	if len(rest) > 0 && rest[0] == keys.RowByte {
		prefix := last[:len(last)-len(rest)+1]
		first := writes[sort.Search(len(writes), func(i int) bool { return bytes.Compare(writes[i].Key, prefix) >= 0 })].Key
		if len(t.first) == 0 || bytes.Compare(first, t.first) < 0 {
			t.first = append(t.first[:0], first...)
		}
		if bytes.Compare(last, t.last) > 0 {
			t.last = append(t.last[:0], last...)
		}
	}
	l.tables = append(l.tables, t)
}

// drop adds a span that was dropped for good.
func (l *loaded) drop(span kvapi.Span) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.dropped) == warmDroppedMax {
		l.dropped = slices.Delete(l.dropped, 0, 1)
	}
	l.dropped = append(l.dropped, kvapi.Span{Start: bytes.Clone(span.Start), End: bytes.Clone(span.End)})
}

// take returns the tables, the one that was noted last in front, and what was dropped, and forgets both.
func (l *loaded) take() (tables []loadedTable, dropped []kvapi.Span) {
	l.mu.Lock()
	defer l.mu.Unlock()
	tables, dropped = l.tables, l.dropped
	l.tables, l.dropped = nil, nil
	slices.Reverse(tables)
	return tables, dropped
}

// warmSpan is a stretch that the warmer reads.
type warmSpan struct {
	kvapi.Span
	rows bool // what is read goes into the row cache; else it is the blocks that count
}

// warmSpans returns what to read of loaded tables: the rows of all, then the entries of their indexes. Where entries of an index have
// come to lie is not known, and it is taken whole.
func warmSpans(tables []loadedTable) (spans []warmSpan) {
	for _, t := range tables {
		if len(t.first) > 0 {
			spans = append(spans, warmSpan{kvapi.Span{Start: t.first, End: append(t.last, 0)}, true})
		}
	}
	for _, t := range tables {
		spans = append(spans, warmSpan{kvapi.Span{Start: keys.TablePrefix(nil, t.physID), End: keys.RowPrefix(nil, t.physID)}, false})
	}
	return spans
}

// warmer is the goroutine that reads what loads have written.
func (s *Store) warmer() {
	defer s.background.Done()
	for {
		select {
		case <-s.closing:
			return
		case <-s.warmNow:
		}
		begin := clock.Mono()
		tables, dropped := s.loaded.take()
		s.sweepRows(dropped)
		rows, err := s.warm(warmSpans(tables))
		switch {
		case err != nil && s.isClosing():
			return
		case err != nil:
			s.o.Logger.Warn("cannot read what was loaded", "error", err)
		default:
			s.o.Logger.Info("read what was loaded into the caches", "rows", rows, "duration", clock.Since(begin))
		}
	}
}

// sweepRows takes what was dropped out of the row cache, where it would keep the place of what was loaded: rows that nobody reads
// any more go only when others need their place.
func (s *Store) sweepRows(dropped []kvapi.Span) {
	if len(dropped) == 0 {
		return
	}
	dropped = mergeSpans(dropped)
	doomed := func(key []byte) bool {
		i := sort.Search(len(dropped), func(i int) bool { return bytes.Compare(dropped[i].Start, key) > 0 })
		return i > 0 && dropped[i-1].Contains(key)
	}
	begin := clock.Mono()
	s.rows.Drop(doomed, func() bool {
		took := clock.Since(begin)
		if took < warmSweep {
			return !s.isClosing()
		}
		ok := s.restWarm((warmShare - 1) * took)
		begin = clock.Mono()
		return ok
	})
}

// mergeSpans sorts bounded spans, at least one, and joins those that touch: tables that were made one after the other, a table and
// its index.
func mergeSpans(spans []kvapi.Span) []kvapi.Span {
	slices.SortFunc(spans, func(a, b kvapi.Span) int { return bytes.Compare(a.Start, b.Start) })
	n := 0
	for _, s := range spans[1:] {
		switch last := &spans[n]; {
		case bytes.Compare(s.Start, last.End) > 0:
			n++
			spans[n] = s
		case bytes.Compare(s.End, last.End) > 0:
			last.End = s.End
		}
	}
	return spans[:n+1]
}

// warm reads spans page by page until there is no room. It returns how many rows it has read.
func (s *Store) warm(spans []warmSpan) (rows int, err error) {
	worked := s.worked()
	for _, span := range spans {
		for !span.Empty() {
			begin := clock.Mono()
			if s.engine.CacheSpare() < s.engine.CacheBytes()/rowRoomLeave {
				return rows, nil
			}
			n, resume, err := s.warmPage(span)
			if rows += n; err != nil {
				return rows, err
			}
			was := worked
			worked = s.worked()
			if !s.restWarm(warmRest(clock.Since(begin), worked-was)) {
				return rows, kvapi.ErrClosed
			}
			if span.Start = resume; resume == nil {
				break
			}
		}
	}
	return rows, nil
}

// warmRest is how long the warmer rests after a page that took so long, while statements have done so much.
func warmRest(took time.Duration, worked uint64) time.Duration {
	if worked > warmBusy {
		return warmBusyRest
	}
	return (warmShare - 1) * took
}

// worked counts what statements have had the store do.
func (s *Store) worked() uint64 {
	t := s.rows.Stats()
	return t.Hits + t.Misses + s.seq.stats.commits.Load()
}

// restWarm sleeps. It returns false if the store closes.
func (s *Store) restWarm(d time.Duration) bool {
	timer := clock.NewTimer(d)
	defer timer.Stop()
	select {
	case <-s.closing:
		return false
	case <-timer.C:
		return true
	}
}

// warmPage reads up to a page of a span and returns where to go on, nil at the end.
func (s *Store) warmPage(span warmSpan) (rows int, resume []byte, err error) {
	for {
		ts := s.Watermark()
		if rows, resume, err = s.warmPageAt(span, ts); err != errOvertaken {
			return rows, resume, err
		}
	}
}

// warmPageAt reads a page at ts. What was deleted for good since is not brought back (package doc, S13): only what the iterator shows
// is offered to the row cache, which refuses what is not the newest version any more.
func (s *Store) warmPageAt(span warmSpan, ts clock.Timestamp) (rows int, resume []byte, err error) {
	st := s.scans.Get().(*scanState)
	defer s.scans.Put(st)
	st.lower = keys.VersionPrefix(st.lower[:0], span.Start)
	st.upper = keys.VersionPrefix(st.upper[:0], span.End)
	it, err := s.newIter(nil, ts, engine.IterOptions{Lower: st.lower, Upper: st.upper})
	if err != nil {
		return 0, nil, err
	}
	defer it.Close() // its error would repeat one that the scan has returned
	var intr kvapi.Interrupt
	st.intr = &intr
	scanner := &st.rows.scanner
	scanner.Init(it, ts, false, st.poll)
	defer func() {
		scanner.Drop()
		st.intr = nil
	}()
	for size := 0; scanner.Next(); {
		key, row := scanner.Key(), scanner.Row()
		if span.rows {
			s.rows.FillSpare(key, row, scanner.TS(), ts)
		}
		rows++
		if size += len(key) + len(row); rows == warmPageRows || size >= warmPageBytes {
			return rows, resumeAfter(key, false), nil
		}
	}
	if err := scanner.Err(); err != nil {
		return rows, nil, fmt.Errorf("store: warm: %w", s.readError(err))
	}
	return rows, nil, nil
}
