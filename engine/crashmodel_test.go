package engine_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/pandodb/pando/clock"
	"github.com/pandodb/pando/engine"
	"github.com/pandodb/pando/internal/testkit"
	"github.com/pandodb/pando/keys"
)

// crashModel is one directory that lives through power losses at any write or sync, those of Open included.
type crashModel struct {
	t      *testing.T
	rng    *rand.Rand
	state  map[string]string // of the newest batch
	states []map[string]string
	seq    int // number of the newest batch
	first  int // number of states[0]

	mu      sync.Mutex // guards what follows, for the hooks
	mem     *engine.MemFS
	left    int // operations until the crash
	crashed *engine.MemFS
	promise int
	acked   atomic.Int64
	percent int
	cseed   uint64
}

func (m *crashModel) tick() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.left--; m.left == 0 {
		m.promise = int(m.acked.Load())
		m.crashed = testkit.Crash(m.mem, m.percent, m.cseed)
	}
}

func (m *crashModel) hooked() engine.FS {
	return &testkit.HookFS{FS: m.mem,
		OnSync:    func(string) (bool, error) { m.tick(); return false, nil },
		OnSyncDir: func(string) (bool, error) { m.tick(); return false, nil },
		OnWrite:   func(string, int) error { m.tick(); return nil },
	}
}

const modelKeys = 40

func modelKey(i int) []byte { return []byte(fmt.Sprintf("%04d", i)) }

// batch fills b at random and returns the state after it.
func (m *crashModel) batch(b *engine.Batch) map[string]string {
	next := maps.Clone(m.state)
	ops := 1 + m.rng.IntN(4)
	size := []int{10, 10, 100, 1000, 5000}[m.rng.IntN(5)]
	if m.rng.IntN(12) == 0 {
		size = 60_000 // several make a large batch
		ops = 1 + m.rng.IntN(6)
	}
	for range ops {
		i := m.rng.IntN(modelKeys)
		k := modelKey(i)
		ts := clock.Timestamp(1 + m.rng.IntN(2))
		id := fmt.Sprintf("%s@%d", k, ts)
		switch m.rng.IntN(6) {
		case 0:
			b.DeleteVersion(k, ts, len(next[id]))
			delete(next, id)
		case 1:
			j := i + 1 + m.rng.IntN(6)
			b.DeleteRange(keys.VersionPrefix(nil, k), keys.VersionPrefix(nil, modelKey(j)))
			for x := i; x < j; x++ {
				delete(next, fmt.Sprintf("%s@1", modelKey(x)))
				delete(next, fmt.Sprintf("%s@2", modelKey(x)))
			}
		default:
			v := strconv.Itoa(m.seq) + "/" + strings.Repeat(string(rune('a'+m.rng.IntN(26))), m.rng.IntN(size)+1)
			b.SetVersion(k, ts, []byte(v), nil)
			next[id] = v
		}
	}
	b.Set(local("seq"), []byte(strconv.Itoa(m.seq)))
	return next
}

func (m *crashModel) check(e *engine.Engine, promise int) {
	m.t.Helper()
	seq := m.first
	if s, found, err := e.Get(nil, local("seq")); err != nil {
		m.t.Fatal(err)
	} else if found {
		seq, _ = strconv.Atoi(string(s))
	}
	if seq < promise || seq < m.first || seq > m.seq {
		m.t.Fatalf("batch %d is the last, promised %d, first %d, applied %d", seq, promise, m.first, m.seq)
	}
	want := m.states[seq-m.first]
	got := map[string]string{}
	for i := range modelKeys {
		for ts := range 2 {
			k := make([]byte, keys.VersionLen(modelKey(i)))
			keys.PutVersionKey(k, modelKey(i), clock.Timestamp(ts+1))
			v, found, err := e.Get(nil, k)
			if err != nil {
				m.t.Fatal(err)
			}
			if found {
				got[fmt.Sprintf("%s@%d", modelKey(i), ts+1)] = string(v)
			}
		}
	}
	if !maps.Equal(got, want) {
		for k, v := range want {
			if got[k] != v {
				m.t.Errorf("%s: %.20q, want %.20q", k, got[k], v)
			}
		}
		for k, v := range got {
			if _, ok := want[k]; !ok {
				m.t.Errorf("%s: %.20q, want nothing", k, v)
			}
		}
		m.t.Fatalf("state at batch %d of %d is wrong", seq, m.seq)
	}
	m.first, m.states, m.seq, m.state = seq, []map[string]string{want}, seq, want
}

// life opens the directory, checks it, writes until the crash, and leaves what the crash has left.
func (m *crashModel) life(spare int64) {
	promise := int(m.acked.Load())
	m.crashed, m.left, m.percent, m.cseed = nil, 1+m.rng.IntN(400), []int{0, 0, 10, 50, 90}[m.rng.IntN(5)], m.rng.Uint64()
	if m.rng.IntN(4) == 0 {
		m.left = 1 + m.rng.IntN(30) // while it is being opened
	}
	o := engine.Options{Dir: "d", FS: m.hooked(), CacheBytes: 1 << 20, MemTableBytes: 256 << 10, SpareLogBytes: spare,
		LowSpaceBytes: engine.NoSpace, BallastBytes: engine.NoSpace}
	e, err := engine.Open(o)
	if err != nil {
		m.t.Fatal(err)
	}
	m.check(e, promise)
	m.acked.Store(int64(m.seq)) // what has been replayed is durable
	m.mu.Lock()
	early := m.crashed != nil
	m.mu.Unlock()
	var wg sync.WaitGroup
	for n := 0; !early && n < 400; n++ {
		m.mu.Lock()
		stop := m.crashed != nil
		m.mu.Unlock()
		if stop {
			break
		}
		m.seq++
		b := e.NewBatch()
		next := m.batch(b)
		m.state = next
		m.states = append(m.states, next)
		if err := e.ApplyNoSync(b); err != nil {
			m.t.Fatal(err)
		}
		seq := int64(m.seq)
		switch m.rng.IntN(8) {
		case 0:
			if err := b.SyncWait(); err != nil {
				m.t.Fatal(err)
			}
			for old := m.acked.Load(); old < seq && !m.acked.CompareAndSwap(old, seq); old = m.acked.Load() {
			}
			b.Close()
		case 1:
			wg.Go(func() {
				if err := b.SyncWait(); err != nil {
					m.t.Error(err)
				}
				for old := m.acked.Load(); old < seq && !m.acked.CompareAndSwap(old, seq); old = m.acked.Load() {
				}
				b.Close()
			})
		default:
			b.Close()
		}
		switch m.rng.IntN(60) {
		case 0:
			if err := e.Flush(); err != nil {
				m.t.Fatal(err)
			}
		case 1:
			e.FlushIdle()
		}
	}
	wg.Wait()
	m.mu.Lock()
	m.left = 0
	if m.crashed == nil && m.rng.IntN(2) == 0 {
		m.promise = int(m.acked.Load())
		m.crashed = testkit.Crash(m.mem, m.percent, m.cseed)
	}
	m.mu.Unlock()
	if err := e.Close(); err != nil {
		m.t.Fatal(err)
	}
	if m.crashed == nil { // a clean stop
		m.acked.Store(int64(m.seq))
		return
	}
	m.mem = m.crashed
	m.acked.Store(int64(m.promise))
	// The state before an early crash is what this life has begun with.
}

// TestCrashModel: sets, deletes, sized deletes, range deletes and large batches over many power losses in a row.
func TestCrashModel(t *testing.T) {
	seed := testkit.Seed(t)
	for run := range 4 {
		m := &crashModel{t: t, rng: testkit.Rand(seed, uint64(run)), mem: engine.NewMemFS(), state: map[string]string{}}
		m.states = []map[string]string{m.state}
		lives := testkit.Rounds(15, 4)
		if testkit.SlowTests() {
			lives *= 40
		}
		for range lives {
			m.life(int64(run%2) * (256 << 10))
		}
	}
}
