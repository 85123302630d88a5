package mvcc_test

import (
	"testing"
	"time"

	"github.com/pandodb/pando/clock"
	"github.com/pandodb/pando/engine"
	"github.com/pandodb/pando/keys"
	"github.com/pandodb/pando/mvcc"
)

// garbageRig drives workloads that leave garbage behind and measures scans on them.
type garbageRig struct {
	b   testing.TB
	e   *engine.Engine
	ts  clock.Timestamp
	row []byte
	key []byte
}

// commit applies f's writes as one batch at a new timestamp.
func (r *garbageRig) commit(f func(b *engine.Batch)) {
	r.ts++
	b := r.e.NewBatch()
	f(b)
	if err := r.e.Apply(b, false); err != nil {
		r.b.Fatal(err)
	}
	b.Close()
}

// scan reads n rows from i on and returns the time of the fastest of some tries.
func (r *garbageRig) scan(i, n uint64) time.Duration {
	best := time.Hour
	for range 5 {
		began := clock.Mono()
		it, err := r.e.NewIter(engine.IterOptions{
			Lower: keys.VersionPrefix(nil, benchKey(nil, i)), Upper: keys.SpaceEnd(nil, keys.SpaceVersion),
		})
		if err != nil {
			r.b.Fatal(err)
		}
		var s mvcc.Scanner
		s.Init(it, r.ts, false, nil)
		rows := uint64(0)
		for rows < n && s.Next() {
			rows++
		}
		closeIter(r.b, it)
		if rows != n {
			r.b.Fatalf("%d rows of %d", rows, n)
		}
		best = min(best, clock.Since(began))
	}
	return best
}

// BenchmarkScanOnGarbage reports how long a scan takes after heavy updating and deleting with collection at once, as a
// multiple of the same scan on fresh data. Background compactions get no special help.
func BenchmarkScanOnGarbage(b *testing.B) {
	const rows, hot, rounds, window = 200_000, 1000, 200, 100
	for b.Loop() {
		e := benchEngine(b, rows, true)
		r := &garbageRig{b: b, e: e, ts: clock.Make(1_800_000_000_000, 0), row: make([]byte, benchRowBytes)}
		fresh := r.scan(50_000, hot)
		// Updates of a hot range: each batch writes a version and deletes the one before.
		for round := range uint64(rounds) {
			for i := range uint64(hot) {
				r.commit(func(b *engine.Batch) {
					r.key = benchKey(r.key, 50_000+i)
					mvcc.Put(b, r.key, r.ts, 0, r.row)
					if round > 0 {
						b.DeleteVersion(r.key, r.ts-hot, benchRowBytes+1)
					}
				})
			}
		}
		b.ReportMetric(float64(r.scan(50_000, hot))/float64(fresh), "x-hot-updates")
		// A queue: rows are inserted at the end and deleted at the front, with their versions and markers collected.
		freshHead := r.scan(0, window)
		for i := range uint64(150_000) {
			r.commit(func(b *engine.Batch) {
				r.key = benchKey(r.key, rows+i)
				mvcc.Put(b, r.key, r.ts, 0, r.row)
				r.key = benchKey(r.key, i)
				mvcc.Delete(b, r.key, r.ts, 0)
				if i >= 100 {
					r.key = benchKey(r.key, i-100)
					b.DeleteVersion(r.key, clock.Make(1_700_000_000_000, uint32(i-100)), benchRowBytes+1)
					b.DeleteVersion(r.key, r.ts-100, 1) // the marker: one byte of flags
				}
			})
		}
		b.ReportMetric(float64(r.scan(0, window))/float64(freshHead), "x-queue-head")
		b.ReportMetric(float64(r.scan(0, window).Microseconds()), "us-queue-head")
		m := e.Metrics()
		b.ReportMetric(float64(m.Tombstones), "tombstones")
		b.Logf("%d flushes, %d compactions, %d sublevels, read amplification %d", m.Flushes, m.Compactions, m.L0Sublevels, m.ReadAmp)
	}
}
