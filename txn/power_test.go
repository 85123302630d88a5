package txn

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pandodb/pando/engine"
	"github.com/pandodb/pando/internal/testkit"
	"github.com/pandodb/pando/kvapi"
	"github.com/pandodb/pando/store"
)

const (
	powerWriters = 4
	powerKeys    = 3 // per writer; one transaction writes them all
)

// powerRig is a node on a file system that can lose its power, with writers
// and readers that write down what they were told.
type powerRig struct {
	t        *testing.T
	fs       *engine.MemFS
	d        *db
	waitSeen bool
	lie      bool
	stop     chan struct{}
	wg       sync.WaitGroup

	// known is the highest sequence number per writer that somebody was told of:
	// the writer by an acknowledgement, a reader by a read.
	known [powerWriters]atomic.Int64
	// counter is the highest acknowledged value of the counter.
	counter atomic.Int64
	commits atomic.Int64
}

// powerOptions say what is under test.
type powerOptions struct {
	lie      bool          // the file system does not sync the log
	slow     time.Duration // each sync takes so long
	relaxed  bool          // the whole store is relaxed
	waitSeen bool          // locking reads wait before they tell
}

func tryMemEngine(fs engine.FS) (*engine.Engine, error) {
	return engine.Open(engine.Options{
		Dir: "data", FS: fs, CacheBytes: 4 << 20, MemTableBytes: 1 << 20, SpareLogBytes: 1 << 20,
		LowSpaceBytes: engine.NoSpace, BallastBytes: engine.NoSpace,
	})
}

func openMemEngine(t *testing.T, fs engine.FS) *engine.Engine {
	t.Helper()
	e, err := tryMemEngine(fs)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func newPowerRig(t *testing.T, o powerOptions) *powerRig {
	r := &powerRig{t: t, fs: engine.NewMemFS(), waitSeen: o.waitSeen, lie: o.lie, stop: make(chan struct{})}
	// The directory is made durable before the lies begin, so that what is lost is data.
	openMemEngine(t, r.fs).Close()
	hook := &testkit.HookFS{FS: r.fs}
	hook.OnSync = func(name string) (bool, error) {
		if o.slow > 0 {
			time.Sleep(o.slow)
		}
		return o.lie && testkit.IsWAL(name), nil
	}
	r.d = openOn(t, openMemEngine(t, hook), func(s *store.Options) {
		s.Relaxed = o.relaxed
		s.GCInterval = time.Millisecond
	})
	return r
}

func powerKey(writer, i int) []byte { return rowKey(fmt.Sprintf("%d/%d", writer, i)) }

// start runs writers, plain readers and locking readers until close.
func (r *powerRig) start(seed uint64) {
	for w := range powerWriters {
		r.wg.Go(func() { r.write(w) })
	}
	for n := range 2 {
		rng := testkit.Rand(seed, uint64(100+n))
		r.wg.Go(func() {
			for r.running() {
				r.readPlain(rng)
				time.Sleep(100 * time.Microsecond) // or the readers take all the processor
			}
		})
		rng2 := testkit.Rand(seed, uint64(200+n))
		r.wg.Go(func() {
			for r.running() {
				r.readLocked(rng2)
				time.Sleep(100 * time.Microsecond)
			}
		})
	}
}

func (r *powerRig) running() bool {
	select {
	case <-r.stop:
		return false
	default:
		return true
	}
}

func (r *powerRig) close() {
	close(r.stop)
	r.wg.Wait()
	r.d.close()
}

func raiseTo(a *atomic.Int64, v int64) {
	for {
		old := a.Load()
		if old >= v || a.CompareAndSwap(old, v) {
			return
		}
	}
}

// write commits sequence numbers to all keys of a writer, one transaction each.
func (r *powerRig) write(w int) {
	for seq := int64(1); r.running(); seq++ {
		tx := r.d.m.Begin(Options{Level: RepeatableRead})
		for i := range powerKeys {
			if _, _, err := tx.Lock(powerKey(w, i), kvapi.LockExclusive, kvapi.WaitDefault, nil); err != nil {
				r.t.Error(err)
			}
			// Old values are deleted now and then, so that markers take part.
			if seq%7 == 0 && i == 1 {
				if err := tx.Delete(powerKey(w, i)); err != nil {
					r.t.Error(err)
				}
				continue
			}
			if err := tx.Put(powerKey(w, i), fmt.Append(nil, seq)); err != nil {
				r.t.Error(err)
			}
		}
		count := seq*powerWriters + int64(w)
		if err := tx.RaiseCounter([]byte("counter"), uint64(count)); err != nil {
			r.t.Error(err)
		}
		if err := tx.Commit(); err != nil {
			r.t.Error(err)
		}
		tx.Release()
		raiseTo(&r.known[w], seq)
		raiseTo(&r.counter, count)
		r.commits.Add(1)
		// Recovery reads the whole log, so a faster load only makes the test slow.
		time.Sleep(200 * time.Microsecond)
	}
}

func seqOf(s *valueSink) int64 {
	n, _ := strconv.ParseInt(string(s.value), 10, 64)
	return n
}

func (r *powerRig) readPlain(rng *rand.Rand) {
	w := rng.IntN(powerWriters)
	var s valueSink
	if rng.IntN(2) == 0 {
		if _, err := r.d.m.Get(powerKey(w, 0), nil, &s); err != nil {
			r.t.Error(err)
		}
	} else {
		rows, err := scanAll(r.d.m.Scan, rowSpan(fmt.Sprintf("%d/0", w), fmt.Sprintf("%d/1", w)), rng.IntN(2) == 0, 0)
		if err != nil {
			r.t.Error(err)
		}
		if len(rows) > 0 {
			s.value = []byte(rows[0][strings.IndexByte(rows[0], '=')+1:])
		}
	}
	raiseTo(&r.known[w], seqOf(&s))
}

func (r *powerRig) readLocked(rng *rand.Rand) {
	w := rng.IntN(powerWriters)
	tx := r.d.m.Begin(Options{Level: ReadCommitted})
	defer tx.Release()
	var s valueSink
	if _, _, err := tx.Lock(powerKey(w, 0), kvapi.LockShared, kvapi.WaitDefault, &s); err != nil {
		r.t.Error(err)
		return
	}
	if r.waitSeen {
		if err := tx.WaitSeen(); err != nil {
			r.t.Error(err)
			return
		}
	}
	raiseTo(&r.known[w], seqOf(&s))
}

// crash pulls the plug and counts what is missing afterwards of all that
// somebody had been told before.
func (r *powerRig) crash(seed uint64) (lost []string) {
	var known [powerWriters]int64
	for w := range known {
		known[w] = r.known[w].Load()
	}
	counter := r.counter.Load()
	e, err := tryMemEngine(testkit.Crash(r.fs, int(seed%3)*50, seed))
	if err != nil {
		if !r.lie || !errors.Is(err, engine.ErrDamaged) && !errors.Is(err, engine.ErrLostLog) {
			r.t.Fatal(err)
		}
		return []string{err.Error()} // half a log that claims to be synced, or none: the start says so
	}
	d := openOn(r.t, e, nil)
	defer d.close()
	for w := range known {
		var seqs [powerKeys]int64
		for i := range seqs {
			var s valueSink
			if _, err := d.m.Get(powerKey(w, i), nil, &s); err != nil {
				r.t.Error(err)
			}
			seqs[i] = seqOf(&s)
		}
		if seqs[0] < known[w] {
			lost = append(lost, fmt.Sprintf("writer %d: %d was known, %d is left", w, known[w], seqs[0]))
		}
		if seqs[0] != seqs[2] || (seqs[0]%7 == 0) != (seqs[1] == 0) || (seqs[1] != 0 && seqs[1] != seqs[0]) {
			r.t.Errorf("writer %d: half of a transaction is left: %v", w, seqs)
		}
	}
	n, err := d.m.Counter([]byte("counter"))
	if err != nil {
		r.t.Error(err)
	}
	if int64(n) < counter {
		lost = append(lost, fmt.Sprintf("counter: %d was known, %d is left", counter, n))
	}
	// The node works on: new commits are above everything old.
	if err := d.write("0/0", "1000000000"); err != nil {
		r.t.Error(err)
	}
	if v, err := d.read("0/0"); v != "1000000000" || err != nil {
		r.t.Errorf("after recovery a new write is hidden by an old one: %s %v", v, err)
	}
	return lost
}

// runPower crashes a node under load, until something is lost or as often as
// said, and returns what was lost.
func runPower(t *testing.T, o powerOptions, crashes int) (lost []string) {
	seed := testkit.Seed(t)
	rng := testkit.Rand(seed, 0)
	r := newPowerRig(t, o)
	r.start(seed)
	for i := 0; i < crashes && len(lost) == 0; i++ {
		before := r.commits.Load()
		time.Sleep(time.Duration(1+rng.IntN(20)) * time.Millisecond)
		// A crash shows little if this process had no time for a commit since the last.
		for end := time.Now().Add(patience); r.commits.Load() < before+2 && !t.Failed() && time.Now().Before(end); {
			time.Sleep(100 * time.Microsecond)
		}
		lost = append(lost, r.crash(seed+uint64(i))...)
	}
	r.close()
	if r.commits.Load() < 20 && len(lost) == 0 {
		t.Errorf("only %d commits: the test shows little", r.commits.Load())
	}
	t.Logf("%d commits, %d crashes, %d losses", r.commits.Load(), crashes, len(lost))
	return lost
}

// TestPowerLoss: nothing acknowledged and nothing read may vanish.
func TestPowerLoss(t *testing.T) {
	for _, slow := range []time.Duration{0, 300 * time.Microsecond} {
		t.Run(fmt.Sprint(slow), func(t *testing.T) {
			for _, l := range runPower(t, powerOptions{slow: slow, waitSeen: true}, 12) {
				t.Error(l)
			}
		})
	}
}

// TestPowerLossCanaries: each of the three ways to cheat must be noticed.
func TestPowerLossCanaries(t *testing.T) {
	for name, o := range map[string]powerOptions{
		"file system does not sync":      {lie: true, waitSeen: true},
		"locking reads do not wait":      {slow: 2 * time.Millisecond},
		"plain reads of a relaxed store": {relaxed: true, slow: 2 * time.Millisecond, waitSeen: true},
	} {
		t.Run(name, func(t *testing.T) {
			if len(runPower(t, o, 40)) == 0 {
				t.Error("nothing was lost, so the test would not notice")
			}
		})
	}
}

// TestFsyncCount: one writer pays at least one sync per commit, 64 share them.
func TestFsyncCount(t *testing.T) {
	for _, c := range []struct{ writers, each int }{{1, 50}, {64, 20}} {
		t.Run(fmt.Sprint(c.writers), func(t *testing.T) {
			count := testkit.NewCountFS(engine.NewMemFS())
			slow := &testkit.HookFS{FS: count, OnSync: func(string) (bool, error) {
				time.Sleep(100 * time.Microsecond)
				return false, nil
			}}
			d := openOn(t, openMemEngine(t, slow), nil)
			defer d.close()
			before := count.WALSyncs()
			var wg sync.WaitGroup
			for w := range c.writers {
				wg.Go(func() {
					for i := range c.each {
						if err := d.write(fmt.Sprint(w), fmt.Sprint(i)); err != nil {
							t.Error(err)
						}
					}
				})
			}
			wg.Wait()
			commits, syncs := int64(c.writers*c.each), count.WALSyncs()-before
			t.Logf("%d commits, %d fsyncs", commits, syncs)
			if c.writers == 1 && syncs < commits {
				t.Error("a sequential commit was acknowledged without its sync")
			}
			if c.writers > 1 && syncs > commits/4 {
				t.Error("concurrent commits do not share syncs")
			}
		})
	}
}
