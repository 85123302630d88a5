package replica

import (
	"encoding/binary"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pandodb/pando/clock"
	"github.com/pandodb/pando/engine"
	"github.com/pandodb/pando/internal/testkit"
	"github.com/pandodb/pando/keys"
	"github.com/pandodb/pando/kvapi"
)

// counting is a Machine of counters that Alloc raises.
type counting struct {
	e  *engine.Engine
	mu sync.Mutex // guards what follows
	// values are as of what was handed to Apply.
	values  map[string]uint64
	regions []*kvapi.Region
	// removing, if not nil, is called while a region is being removed.
	removing func()
}

func (c *counting) load(key []byte) (uint64, error) {
	if v, ok := c.values[string(key)]; ok {
		return v, nil
	}
	b, found, err := c.e.Get(nil, keys.CounterKey(nil, key))
	if err != nil || !found {
		return 0, err
	}
	return binary.BigEndian.Uint64(b), nil
}

func (c *counting) Apply(b *engine.Batch, at Position, command Command) (Result, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	a := command.(*Alloc)
	if !at.Region.Contains(a.Key) {
		return Result{}, fmt.Errorf("key %s is not of region %d", a.Key, at.Region.ID)
	}
	v, err := c.load(a.Key)
	if err != nil {
		return Result{}, err
	}
	c.values[string(a.Key)] = v + a.N
	b.Set(keys.CounterKey(nil, a.Key), binary.BigEndian.AppendUint64(nil, v+a.N))
	return Result{Number: v}, nil
}

func (c *counting) Applied(Position, []Command) {}

func (c *counting) Split(left, right *kvapi.Region) {
	c.mu.Lock()
	defer c.mu.Unlock()
	at := slices.IndexFunc(c.regions, func(r *kvapi.Region) bool { return r.ID == left.ID })
	c.regions[at] = left
	c.regions = append(c.regions, right)
}

func (c *counting) Changed(*kvapi.Region)                         {}
func (c *counting) Replaced(*kvapi.Region, clock.Timestamp) error { return nil }

func (c *counting) Removed(gone *kvapi.Region) {
	c.mu.Lock()
	c.regions = slices.DeleteFunc(c.regions, func(r *kvapi.Region) bool { return r.ID == gone.ID })
	c.mu.Unlock()
	if c.removing != nil {
		c.removing()
	}
}

func (c *counting) find(key []byte) *kvapi.Region {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, r := range c.regions {
		if r.Contains(key) {
			return r
		}
	}
	panic("regions cover the key space")
}

// proposal is a command that has to meet a region with its key.
type proposal struct {
	key     []byte
	command Command
	alone   bool
	region  kvapi.RegionRef
	result  Result
	err     error
	ended   int
}

func (p *proposal) Size() int   { return len(p.key) + 16 }
func (p *proposal) Alone() bool { return p.alone }
func (p *proposal) Prepare(t Turn) (int, error) {
	if t.Region.Ref() != p.region {
		return 0, errNotLed
	}
	return 1, nil
}
func (p *proposal) Command(first clock.Timestamp) (Proposed, error) {
	if first == 0 {
		return nil, errors.New("no timestamp")
	}
	return p.command, nil
}
func (p *proposal) Finish(r Result, err error) { p.result, p.err, p.ended = r, err, p.ended+1 }

type ticks struct{ n atomic.Uint64 }

func (t *ticks) Next(n int) (clock.Timestamp, error) {
	return clock.Timestamp(t.n.Add(uint64(n)) - uint64(n) + 1), nil
}

// faults are what a test lets the driver do wrong.
type faults struct {
	lateLog    bool   // L1
	lieFlushed bool   // L2
	bothWays   bool   // L3
	cutting    func() // is called before a truncation is applied
}

// rig is a store with its groups over a file system.
type rig struct {
	e      *engine.Engine
	set    *Set
	m      *counting
	failed atomic.Bool
	late   sync.WaitGroup // batches of faults.lateLog on their way
}

const testStore = 3

func openRig(fs *engine.MemFS, f faults, seed uint64) (r *rig, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v", p)
		}
	}()
	r = &rig{}
	r.e, err = engine.Open(engine.Options{Dir: "d", FS: fs, MemTableBytes: 256 << 10, LowSpaceBytes: engine.NoSpace, BallastBytes: engine.NoSpace,
		CacheBytes: 8 << 20, Fatal: func(string) { r.failed.Store(true) }})
	if err != nil {
		return nil, err
	}
	r.m = &counting{e: r.e, values: map[string]uint64{}}
	if r.m.regions, err = LoadRegions(r.e); err != nil {
		return r, err
	}
	if len(r.m.regions) == 0 {
		b := r.e.NewBatch()
		defer b.Close()
		for i, start := range []string{"", "k3", "k6"} {
			region := &kvapi.Region{ID: kvapi.RegionID(i + 1), Mode: kvapi.ModeRaft, Start: []byte(start), End: []byte([]string{"k3", "k6", ""}[i]),
				Peers: []kvapi.Peer{{ID: uint64(i + 100), Store: testStore}}}
			Create(b, region, 0)
			r.m.regions = append(r.m.regions, region)
		}
		if err := r.e.Apply(b, true); err != nil {
			return r, err
		}
	}
	r.set = New(Options{Engine: r.e, Machine: r.m, Timestamps: &ticks{}, Store: testStore, Logger: slog.New(slog.DiscardHandler),
		Fail: func(error) { r.failed.Store(true) }})
	rng := testkit.Rand(seed, 77)
	if f.lateLog {
		var wait sync.Mutex
		r.set.log = func(b *engine.Batch, _ bool) error {
			wait.Lock()
			delay := rng.IntN(3) == 0
			wait.Unlock()
			if !delay {
				return logBatch(b, false)
			}
			r.late.Go(func() {
				clock.Sleep(faultDelay)
				_ = logBatch(b, false) // the life may have ended
			})
			return nil
		}
	}
	if f.cutting != nil {
		r.set.log = func(b *engine.Batch, sync bool) error {
			if !sync { // a store with the only voter syncs all else
				f.cutting()
			}
			return logBatch(b, sync)
		}
	}
	if f.lieFlushed {
		r.set.disk = lyingDisk{disk{r.e}}
	}
	if f.bothWays {
		r.set.log = func(b *engine.Batch, sync bool) error {
			r.m.mu.Lock()
			for key, v := range r.m.values {
				b.Set(keys.CounterKey(nil, []byte(key)), binary.BigEndian.AppendUint64(nil, v))
			}
			r.m.mu.Unlock()
			return logBatch(b, sync)
		}
	}
	if err := r.set.Load(); err != nil {
		return r, err
	}
	return r, r.set.Start()
}

const faultDelay = 2e6 // nanoseconds

// lyingDisk says that all that was applied is in tables.
type lyingDisk struct{ disk }

func (d lyingDisk) Flushed(key []byte) ([]byte, bool, error) { return d.Get(key) }

func (r *rig) close() {
	if r.set != nil {
		r.set.Close()
	}
	r.late.Wait()   // a batch that meets a closed engine half way panics
	_ = r.e.Close() // a life that ended in a power loss may end badly
}

// ledger is what clients know.
type ledger struct {
	mu     sync.Mutex
	issued map[string]uint64
	acked  map[string]uint64
	taken  map[string]bool // key and number
}

// work lets clients raise counters and split regions until n operations are done.
func (r *rig) work(l *ledger, seed uint64, n int) error {
	var wg sync.WaitGroup
	errs := make([]error, 4)
	for c := range errs {
		wg.Go(func() { errs[c] = r.client(l, testkit.Rand(seed, uint64(c)), n/len(errs)) })
	}
	wg.Wait()
	return errors.Join(errs...)
}

func (r *rig) client(l *ledger, rng *rand.Rand, n int) error {
	for range n {
		key := fmt.Sprintf("k%02d", rng.IntN(100))
		p := &proposal{key: []byte(key), command: &Alloc{Key: []byte(key), N: 1}}
		region := r.m.find(p.key)
		if string(region.Start) != key && rng.IntN(150) == 0 {
			p.command, p.alone = &Split{Key: p.key, Right: kvapi.RegionID(rng.Uint64() >> 8), Peers: []uint64{rng.Uint64() >> 8}}, true
		} else {
			l.mu.Lock()
			l.issued[key]++
			l.mu.Unlock()
		}
		p.region = region.Ref()
		err := r.set.Line(region.ID).Do(p)
		if p.ended != 1 || p.err != err {
			return fmt.Errorf("Finish was called %d times, with %v, and Do returned %v", p.ended, p.err, err)
		}
		var epoch *kvapi.EpochError
		switch {
		case errors.As(err, &epoch):
			if !p.alone {
				l.mu.Lock()
				l.issued[key]-- // nothing happened
				l.mu.Unlock()
			}
		case err != nil:
			return err
		case !p.alone:
			l.mu.Lock()
			name := fmt.Sprint(key, p.result.Number)
			if l.taken[name] {
				err = fmt.Errorf("number %d of %s was given twice", p.result.Number, key)
			}
			l.taken[name] = true
			l.acked[key] = max(l.acked[key], p.result.Number+1)
			l.mu.Unlock()
			if err != nil {
				return err
			}
		}
		switch rng.IntN(100) {
		case 0:
			if err := r.e.Flush(); err != nil {
				return err
			}
		case 1, 2:
			for _, m := range *r.set.members.Load() {
				if _, err := m.truncate(2, 1); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// check compares the state with what clients knew right before the power went and had asked for right after: nothing acknowledged is gone,
// nothing was done twice. It returns what clients of the next life know.
func (r *rig) check(before, after *ledger) (*ledger, error) {
	next := newLedger()
	for key, most := range after.issued {
		b, _, err := r.e.Get(nil, keys.CounterKey(nil, []byte(key)))
		if err != nil {
			return nil, err
		}
		v := uint64(0)
		if len(b) == 8 {
			v = binary.BigEndian.Uint64(b)
		}
		if v < before.acked[key] || v > most {
			return nil, fmt.Errorf("counter %s is %d: %d was acknowledged, %d asked for", key, v, before.acked[key], most)
		}
		next.issued[key], next.acked[key] = v, v
	}
	return next, nil
}

func newLedger() *ledger {
	return &ledger{issued: map[string]uint64{}, acked: map[string]uint64{}, taken: map[string]bool{}}
}

func (l *ledger) clone() *ledger {
	l.mu.Lock()
	defer l.mu.Unlock()
	return &ledger{issued: maps.Clone(l.issued), acked: maps.Clone(l.acked)}
}

// lives runs a store through power losses, and returns what is wrong.
func lives(seed uint64, n int, f faults) error {
	fs := engine.NewMemFS()
	l := newLedger()
	var before, after *ledger
	for life := range n {
		r, err := openRig(fs, f, seed+uint64(life))
		if err == nil && before != nil {
			l, err = r.check(before, after)
		}
		if err != nil {
			if r != nil {
				r.close()
			}
			return fmt.Errorf("life %d: %w", life, err)
		}
		work := make(chan error, 1)
		go func() {
			defer func() {
				if p := recover(); p != nil {
					work <- fmt.Errorf("panic: %v", p)
				}
			}()
			work <- r.work(l, seed+uint64(life)<<32, 400)
		}()
		if life%2 == 0 {
			// The power goes while clients work.
			clock.Sleep(clock.Since(0) % 7e6)
		} else if err := <-work; err != nil {
			r.close()
			return fmt.Errorf("life %d: %w", life, err)
		} else {
			work <- nil
		}
		before = l.clone()
		crashed := testkit.Crash(fs, int(seed%3)*50, seed+uint64(life))
		after = l.clone()
		if err := <-work; err != nil && !errors.Is(err, kvapi.ErrClosed) {
			r.close()
			return fmt.Errorf("life %d: %w", life, err)
		}
		r.close()
		fs = crashed
	}
	return nil
}

// TestPowerLoss: groups over the real engine keep what they acknowledged, and do nothing twice, through power losses among splits,
// flushes and truncations (L1 to L4, L6).
func TestPowerLoss(t *testing.T) {
	n := 6
	if testkit.SlowTests() {
		n = 100
	}
	seed := testkit.Seed(t)
	for i := range uint64(n) {
		if err := lives(seed+i*1000, 5, faults{}); err != nil {
			t.Fatalf("seed %d: %v", seed+i*1000, err)
		}
	}
}

// TestGroupsBesideTruncation: while a truncation waits for the engine to make room, its group takes messages and ticks. Both come from goroutines
// that serve all groups: if they waited, the gateway would lose its lease.
func TestGroupsBesideTruncation(t *testing.T) {
	entered, release := make(chan struct{}), make(chan struct{})
	r, err := openRig(engine.NewMemFS(), faults{lieFlushed: true, cutting: func() {
		close(entered)
		<-release
	}}, 1)
	if err != nil {
		t.Fatal(err)
	}
	defer r.close()
	defer close(release)
	region := r.m.find([]byte("k1"))
	if err := r.set.Line(region.ID).Do(&proposal{key: []byte("k1"), command: &Alloc{Key: []byte("k1"), N: 1}, region: region.Ref()}); err != nil {
		t.Fatal(err)
	}
	m := (*r.set.members.Load())[region.ID]
	if _, err := m.truncate(1, 0); err != nil {
		t.Fatal(err)
	}
	within(t, "the truncation is applied", entered)
	locked := make(chan struct{})
	go func() {
		m.mu.Lock()
		defer m.mu.Unlock()
		close(locked)
	}()
	within(t, "the group can be locked", locked)
}

// within waits for a channel.
func within(t *testing.T, what string, happens <-chan struct{}) {
	t.Helper()
	select {
	case <-happens:
	case <-clock.After(time.Minute):
		t.Fatalf("it does not happen that %s", what)
	}
}

// TestPowerLossCanaries: a driver that breaks one of the rules is found out.
func TestPowerLossCanaries(t *testing.T) {
	for name, f := range map[string]faults{
		"L1: entries enter the log late":       {lateLog: true},
		"L2: truncated beyond the tables":      {lieFlushed: true},
		"L3: state is logged and unlogged too": {bothWays: true},
	} {
		t.Run(name, func(t *testing.T) {
			for i := range uint64(40) {
				if err := lives(500+i*1000, 5, f); err != nil {
					t.Log(strings.SplitN(err.Error(), "\n", 2)[0])
					return
				}
			}
			t.Error("nothing was noticed")
		})
	}
}
