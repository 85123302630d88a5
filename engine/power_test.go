package engine_test

import (
	"encoding/binary"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pandodb/pando/engine"
	"github.com/pandodb/pando/internal/testkit"
)

const (
	powerWriters  = 8
	powerCrashes  = 12
	powerValueMax = 600
)

// powerRun writes with many goroutines. Applies are numbered in their order under mu, so that what a crash leaves can be
// compared with a prefix of that order.
type powerRun struct {
	t    *testing.T
	seed uint64
	e    *engine.Engine
	stop atomic.Bool
	wg   sync.WaitGroup

	mu   sync.Mutex // makes number and apply one step
	next uint64

	ackMu sync.Mutex // guards acked
	acked uint64     // highest number whose SyncWait has returned; all below are promised by invariant 3
}

func (p *powerRun) writer(w int) {
	rng := testkit.Rand(p.seed, uint64(w+1))
	value := make([]byte, powerValueMax)
	for !p.stop.Load() {
		b := p.e.NewBatch()
		p.mu.Lock()
		p.next++
		n := p.next
		// Two keys per batch: atomicity shows as a missing half.
		size := 8 + rng.IntN(powerValueMax-8)
		binary.BigEndian.PutUint64(value, n)
		b.Set(local("n/%020d", n), value[:size])
		b.Set(local("m/%020d", n), value[:8])
		if n > 1 {
			b.Delete(local("m/%020d", n-1))
		}
		synced := rng.IntN(4) > 0
		var err error
		if synced {
			err = p.e.ApplyNoSync(b)
		} else {
			err = p.e.Apply(b, false)
		}
		p.mu.Unlock()
		if err == nil && synced {
			err = b.SyncWait()
		}
		if err != nil {
			p.t.Errorf("writer %d: %v", w, err)
			b.Close()
			return
		}
		b.Close()
		if synced {
			p.ackMu.Lock()
			p.acked = max(p.acked, n)
			p.ackMu.Unlock()
		}
	}
}

func (p *powerRun) ackedNow() uint64 {
	p.ackMu.Lock()
	defer p.ackMu.Unlock()
	return p.acked
}

// checkCrash opens what a crash has left and compares it with what was promised before the crash.
func checkCrash(fs engine.FS, acked uint64) error {
	e, err := engine.Open(engine.Options{Dir: "d", FS: fs, CacheBytes: 2 << 20, MemTableBytes: 256 << 10, SpareLogBytes: 256 << 10})
	if err != nil {
		return fmt.Errorf("reopen: %w", err)
	}
	defer func() { _ = e.Close() }()
	var last uint64
	it, err := e.NewIter(engine.IterOptions{Lower: local("n/"), Upper: local("n0")})
	if err != nil {
		return err
	}
	for ok := it.First(); ok; ok = it.Next() {
		v, err := it.Value()
		if err != nil {
			return err
		}
		n := binary.BigEndian.Uint64(v)
		if n != last+1 {
			return fmt.Errorf("batch %d is followed by %d: not a prefix of the apply order", last, n)
		}
		last = n
	}
	if err := it.Close(); err != nil {
		return err
	}
	if last < acked {
		return fmt.Errorf("batch %d was acknowledged, the last one left is %d", acked, last)
	}
	return checkMarker(e, last)
}

// checkMarker verifies that of the m keys exactly the last batch's is left: each batch deletes its predecessor's.
func checkMarker(e *engine.Engine, last uint64) error {
	it, err := e.NewIter(engine.IterOptions{Lower: local("m/"), Upper: local("m0")})
	if err != nil {
		return err
	}
	count := uint64(0)
	for ok := it.First(); ok; ok = it.Next() {
		v, err := it.Value()
		if err != nil {
			return err
		}
		if n := binary.BigEndian.Uint64(v); n != last {
			return fmt.Errorf("marker of batch %d is left, the last batch is %d: half a batch", n, last)
		}
		count++
	}
	if err := it.Close(); err != nil {
		return err
	}
	if count != min(last, 1) {
		return fmt.Errorf("%d markers are left after batch %d", count, last)
	}
	return nil
}

// runPower writes on what wrap makes of a crashable file system, crashes it at random moments, and returns the first broken
// promise.
func runPower(t *testing.T, seed uint64, crashes int, wrap func(engine.FS) engine.FS) error {
	t.Helper()
	mem := engine.NewMemFS()
	e := open(t, engine.Options{Dir: "d", FS: mem, MemTableBytes: 256 << 10})
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	p := &powerRun{t: t, seed: seed}
	p.e = open(t, engine.Options{Dir: "d", FS: wrap(mem), CacheBytes: 2 << 20, MemTableBytes: 256 << 10, SpareLogBytes: 256 << 10})
	for w := range powerWriters {
		p.wg.Go(func() { p.writer(w) })
	}
	rng := testkit.Rand(seed, 0)
	var broken error
	for i := range crashes {
		time.Sleep(time.Duration(rng.IntN(20)) * time.Millisecond)
		acked := p.ackedNow() // read before the crash: what was promised by then
		clone := testkit.Crash(mem, []int{0, 0, 10, 50, 90}[rng.IntN(5)], rng.Uint64())
		if err := checkCrash(clone, acked); err != nil {
			broken = fmt.Errorf("crash %d: %w", i, err)
			break
		}
	}
	p.stop.Store(true)
	p.wg.Wait()
	m := p.e.Metrics()
	t.Logf("%d batches, %d promised, %d syncs, %d flushes, %d compactions", p.next, p.acked, m.WALSyncs, m.Flushes, m.Compactions)
	if err := p.e.Close(); err != nil {
		t.Error(err)
	}
	return broken
}

// TestPowerLoss crashes the file system under concurrent writers: everything promised is there, and what is there is a prefix
// of the apply order, whole batches only.
func TestPowerLoss(t *testing.T) {
	seed := testkit.Seed(t)
	crashes := testkit.Rounds(powerCrashes, powerCrashes/3)
	if testkit.SlowTests() {
		crashes *= 50
	}
	if err := runPower(t, seed, crashes, func(fs engine.FS) engine.FS { return fs }); err != nil {
		t.Error(err)
	}
}

// TestPowerLossCanary proves that TestPowerLoss can fail: on a file system that lies about syncs of the log it must. Syncs of
// other files are honest, so that what is lost is data and not the directory.
func TestPowerLossCanary(t *testing.T) {
	seed := testkit.Seed(t)
	lie := func(fs engine.FS) engine.FS {
		return &testkit.HookFS{FS: fs, OnSync: func(name string) (bool, error) { return testkit.IsWAL(name), nil }}
	}
	if err := runPower(t, seed, powerCrashes, lie); err == nil {
		t.Error("nothing was lost on a file system that does not sync: the power loss test is blind")
	} else {
		t.Logf("lost, as it must: %v", err)
	}
}
