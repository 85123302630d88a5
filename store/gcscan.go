package store

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/pandodb/pando/clock"
	"github.com/pandodb/pando/engine"
	"github.com/pandodb/pando/keys"
	"github.com/pandodb/pando/mvcc"
)

// gcScan finds garbage that is not in the queue: what a crash made it forget, or
// what did not fit. Progress is two floors around a key:
//
//	keys below pos: garbage of commits <= above is gone
//	keys from pos:  garbage of commits <= below is gone
//
// A scan goes from pos to the end of the key space, and then, if it did not
// begin at the start, from there to where it began. Blocks without versions at or
// above minTS are skipped, so that its cost depends on the writes since the
// floor, not on the size of the data.
type gcScan struct {
	on bool
	// pos is where the next page begins, nil for the start of the key space.
	pos []byte
	// from is where the scan began; after the end it goes on from the start up to
	// there, if there is anything.
	from    []byte
	wrapped bool
	// minTS is the lowest commit whose garbage this part looks for.
	minTS clock.Timestamp
	// above is the floor of the keys below from, as loaded at open.
	above clock.Timestamp
	// waitFor delays the scan until the safepoint has reached it; blocked is true
	// while it does.
	waitFor clock.Timestamp
	blocked bool
}

// The record of progress; doc.go has its format.
const (
	gcMarkerFixed = 1 + 8 + 8
	gcMarkerClean = 0x01
)

// marker encodes the progress.
func (w *gcWorker) marker(clean bool) []byte {
	above, below, pos := w.floor, w.floor, []byte(nil)
	if w.scan.on {
		g := &w.scan
		below, pos = g.minTS-1, g.pos
		if !g.wrapped && len(g.from) > 0 {
			above = g.above
		}
		above = max(above, below)
	}
	b := make([]byte, 0, gcMarkerFixed+len(pos))
	flags := byte(0)
	if clean {
		flags = gcMarkerClean
	}
	b = append(b, flags)
	b = binary.BigEndian.AppendUint64(b, uint64(above))
	b = binary.BigEndian.AppendUint64(b, uint64(below))
	return append(b, pos...)
}

// loadGC restores the progress and, after a crash, plans the scan. now is the
// watermark at open.
func loadGC(e *engine.Engine, now clock.Timestamp) (floor clock.Timestamp, g gcScan, err error) {
	b, found, err := e.Get(nil, gcKey)
	if err != nil {
		return 0, g, fmt.Errorf("store: read garbage marker: %w", err)
	}
	if !found {
		return now, g, nil
	}
	if len(b) < gcMarkerFixed {
		return 0, g, corrupt("garbage marker")
	}
	above := clock.Timestamp(binary.BigEndian.Uint64(b[1:]))
	below := clock.Timestamp(binary.BigEndian.Uint64(b[9:]))
	pos := bytes.Clone(b[gcMarkerFixed:])
	if b[0]&gcMarkerClean != 0 {
		return now, g, nil
	}
	return now, gcScan{on: true, pos: pos, from: pos, minTS: below + 1, above: above}, nil
}

// scanPage runs one page of the scan, starting one if garbage was dropped.
func (w *gcWorker) scanPage() error {
	g := &w.scan
	if !g.on {
		first, last := w.s.gc.takeDrops()
		if first == 0 {
			return nil
		}
		w.s.gcStats.scans.Inc()
		*g = gcScan{on: true, minTS: min(first, w.floor+1), waitFor: last}
	}
	safe := w.s.publishSafepoint()
	if g.blocked = safe < g.waitFor; g.blocked {
		w.blocked(g.waitFor)
		return nil
	}
	b := w.s.engine.NewBatch()
	defer b.Close()
	more, err := w.scanKeys(b, safe)
	if err != nil {
		return err
	}
	if !more {
		w.advanceScan()
	}
	return w.finish(b, w.floor)
}

// advanceScan moves on to the part below the scan's start, or ends the scan.
func (w *gcWorker) advanceScan() {
	g := &w.scan
	if g.wrapped || len(g.from) == 0 {
		*g = gcScan{}
		return
	}
	g.wrapped = true
	g.pos = nil
	g.minTS = g.above + 1
}

// scanKeys collects the garbage of one page of keys into b. more is false at
// the end of the part.
func (w *gcWorker) scanKeys(b *engine.Batch, safe clock.Timestamp) (more bool, err error) {
	g := &w.scan
	upper := keys.SpaceEnd(nil, keys.SpaceVersion)
	if g.wrapped {
		upper = keys.VersionPrefix(nil, g.from)
	}
	candidates, err := w.s.engine.NewIter(engine.IterOptions{
		Lower: keys.VersionPrefix(nil, g.pos), Upper: upper, MinTS: g.minTS, MaxTS: clock.MaxTimestamp,
	})
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, candidates.Close()) }()
	it, err := w.s.engine.NewIter(engine.IterOptions{})
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, it.Close()) }()
	deleted, moves := 0, 0
	// The newest version of a key comes first. If it is older than minTS so are
	// all others, and if the filter hides it, it is older too: one look per key.
	for valid := candidates.First(); valid; valid = candidates.NextPrefix() {
		key, ts, ok := keys.DecodeVersionKey(candidates.Key())
		if !ok {
			return false, corrupt(fmt.Sprintf("key %x", candidates.Key()))
		}
		if moves++; moves > gcScanMoves || deleted >= gcBatchDeletes {
			g.pos = bytes.Clone(key)
			return true, nil
		}
		if ts < g.minTS {
			continue
		}
		w.s.gcStats.scanned.Inc()
		n, again, err := mvcc.Collect(it, b, key, safe, gcKeyDeletes)
		if err != nil {
			return false, err
		}
		deleted += n
		w.s.gcStats.deleted.Add(uint64(n))
		if again {
			g.pos = bytes.Clone(key)
			return true, nil
		}
	}
	return false, candidates.Error()
}
