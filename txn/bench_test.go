package txn

import (
	"encoding/binary"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/pandodb/pando/engine"
	"github.com/pandodb/pando/kvapi"
)

// nullSink counts pairs.
type nullSink struct{ n int }

func (s *nullSink) Pair(_, _ []byte) (bool, error) { s.n++; return true, nil }

const benchRows = 10_000

func benchKey(dst []byte, i uint64) []byte {
	return binary.BigEndian.AppendUint64(append(dst[:0], rowKey("")...), i)
}

// benchDB holds benchRows rows of 190 bytes, like sysbench's. onDisk puts it in
// a temporary directory with real fsyncs.
func benchDB(b *testing.B, onDisk bool) *db {
	b.Helper()
	var d *db
	if onDisk {
		dir, err := os.MkdirTemp("/tmp", "pando-bench")
		if err != nil {
			b.Fatal(err)
		}
		e, err := engine.Open(engine.Options{Dir: dir})
		if err != nil {
			b.Fatal(err)
		}
		d = openOn(b, e, nil)
		b.Cleanup(func() { d.close(); os.RemoveAll(dir) })
	} else {
		d = openDB(b, nil)
	}
	value := make([]byte, 190)
	t := d.m.Begin(Options{})
	for i := range benchRows {
		if err := t.PutNew(benchKey(nil, uint64(i)), value); err != nil {
			b.Fatal(err)
		}
	}
	if err := t.Commit(); err != nil {
		b.Fatal(err)
	}
	t.Release()
	return d
}

func BenchmarkGet(b *testing.B) {
	d := benchDB(b, false)
	sink := &nullSink{}
	key := rowKey("")
	i := uint64(0)
	b.ReportAllocs()
	for b.Loop() {
		i = (i*2862933555777941757 + 3037000493) % benchRows
		key = benchKey(key, i)
		if found, err := d.m.Get(key, nil, sink); err != nil || !found {
			b.Fatal(found, err)
		}
	}
}

func BenchmarkGetParallel(b *testing.B) {
	d := benchDB(b, false)
	b.ReportAllocs()
	b.RunParallel(func(p *testing.PB) {
		sink := &nullSink{}
		key := rowKey("")
		i := uint64(1)
		for p.Next() {
			i = (i*2862933555777941757 + 3037000493) % benchRows
			key = benchKey(key, i)
			if found, err := d.m.Get(key, nil, sink); err != nil || !found {
				b.Fatal(found, err)
			}
		}
	})
}

func BenchmarkScan100(b *testing.B) {
	d := benchDB(b, false)
	sink := &nullSink{}
	r := &ScanRequest{Sink: sink}
	i := uint64(0)
	b.ReportAllocs()
	for b.Loop() {
		i = (i*2862933555777941757 + 3037000493) % (benchRows - 100)
		r.Span = kvapi.Span{Start: benchKey(r.Span.Start, i), End: benchKey(r.Span.End, i+100)}
		if _, err := d.m.Scan(r); err != nil {
			b.Fatal(err)
		}
	}
}

// updateOne is the autocommit point update.
func updateOne(d *db, key, value []byte, sink kvapi.Sink) error {
	t := d.m.Begin(Options{Level: RepeatableRead})
	defer t.Release()
	if _, _, err := t.Lock(key, kvapi.LockExclusive, kvapi.WaitDefault, sink); err != nil {
		return err
	}
	if err := t.Put(key, value); err != nil {
		return err
	}
	return t.Commit()
}

func BenchmarkUpdateMem(b *testing.B) {
	d := benchDB(b, false)
	sink := &nullSink{}
	key, value := rowKey(""), make([]byte, 190)
	i := uint64(0)
	b.ReportAllocs()
	for b.Loop() {
		i = (i*2862933555777941757 + 3037000493) % benchRows
		key = benchKey(key, i)
		if err := updateOne(d, key, value, sink); err != nil {
			b.Fatal(err)
		}
	}
}

// parallel runs b.N operations on exactly n goroutines and reports commits.
func parallel(b *testing.B, d *db, n int, op func(worker, i uint64) error) {
	b.Helper()
	var wg sync.WaitGroup
	var next atomic.Int64
	syncs := d.e.Metrics().WALSyncs
	b.ReportAllocs()
	b.ResetTimer()
	for w := range uint64(n) {
		wg.Go(func() {
			for i := w; next.Add(1) <= int64(b.N); i++ {
				if err := op(w, i); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
	b.StopTimer()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "commits/s")
	b.ReportMetric(float64(b.N)/float64(max(1, d.e.Metrics().WALSyncs-syncs)), "commits/fsync")
}

func BenchmarkUpdateDisk(b *testing.B) {
	for _, n := range []int{1, 16, 64} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			d := benchDB(b, true)
			value, sink := make([]byte, 190), &nullSink{}
			parallel(b, d, n, func(worker, i uint64) error {
				key := make([]byte, 0, 16)
				return updateOne(d, benchKey(key, (worker*7919+i*104729)%benchRows), value, sink)
			})
		})
	}
}

// BenchmarkHotRow updates one row from all goroutines: locks are released at
// apply, so it is not limited to one commit per fsync.
func BenchmarkHotRow(b *testing.B) {
	for _, n := range []int{1, 16, 64} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			d := benchDB(b, true)
			key, value, sink := benchKey(nil, 42), make([]byte, 190), &nullSink{}
			parallel(b, d, n, func(_, _ uint64) error { return updateOne(d, key, value, sink) })
		})
	}
}

// BenchmarkInsert1000 commits a thousand new rows at once.
func BenchmarkInsert1000(b *testing.B) {
	d := benchDB(b, true)
	value := make([]byte, 190)
	key := rowKey("")
	i := uint64(benchRows)
	b.ReportAllocs()
	for b.Loop() {
		t := d.m.Begin(Options{})
		for range 1000 {
			i++
			key = benchKey(key, i)
			if _, _, err := t.Lock(key, kvapi.LockExclusive, kvapi.WaitDefault, nil); err != nil {
				b.Fatal(err)
			}
			if err := t.Put(key, value); err != nil {
				b.Fatal(err)
			}
		}
		if err := t.Commit(); err != nil {
			b.Fatal(err)
		}
		t.Release()
	}
}
