package txn

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/pandodb/pando/internal/testkit"
	"github.com/pandodb/pando/kvapi"
	"github.com/pandodb/pando/store"
)

// siModel is snapshot isolation with current locking reads, in memory: a list
// of committed states, and per transaction a snapshot, its writes and its locks.
type siModel struct {
	states []map[string]string // states[i] is after i commits
	locks  map[string]map[*siTxn]bool
}

type siTxn struct {
	m        *siModel
	o        Options
	snapshot int // index into states, negative before the first plain read
	writes   map[string]string
	held     map[string]kvapi.LockMode
	saves    []map[string]string
}

const absent = "-"

func (m *siModel) latest() map[string]string { return m.states[len(m.states)-1] }

func (t *siTxn) look(state map[string]string, key string) string {
	if v, ok := t.writes[key]; ok {
		return v
	}
	if v, ok := state[key]; ok {
		return v
	}
	return absent
}

func (t *siTxn) plain(key string) string {
	if t.snapshot < 0 {
		t.snapshot = len(t.m.states) - 1
	}
	return t.look(t.m.states[t.snapshot], key)
}

// lock takes a lock if nobody is in the way.
func (t *siTxn) lock(key string, mode kvapi.LockMode) bool {
	for other := range t.m.locks[key] {
		if other != t && (mode == kvapi.LockExclusive || other.held[key] == kvapi.LockExclusive) {
			return false
		}
	}
	if t.m.locks[key] == nil {
		t.m.locks[key] = map[*siTxn]bool{}
	}
	t.m.locks[key][t] = true
	if held, ok := t.held[key]; !ok || held == kvapi.LockShared {
		t.held[key] = mode
	}
	return true
}

func (t *siTxn) end(commit bool) {
	for key := range t.held {
		delete(t.m.locks[key], t)
	}
	if !commit || len(t.writes) == 0 {
		return
	}
	next := map[string]string{}
	for k, v := range t.m.latest() {
		next[k] = v
	}
	for k, v := range t.writes {
		if v == absent {
			delete(next, k)
		} else {
			next[k] = v
		}
	}
	t.m.states = append(t.m.states, next)
}

// conflicts reports whether the key changed after the snapshot.
func (t *siTxn) conflicts(key string) bool {
	if !t.o.SnapshotConflict || t.snapshot < 0 {
		return false
	}
	for i := t.snapshot + 1; i < len(t.m.states); i++ {
		// Values are unique, and a key deleted twice counts as changed below.
		if t.m.states[i][key] != t.m.states[i-1][key] {
			return true
		}
	}
	return false
}

// pair is a real transaction beside its model.
type pair struct {
	tx *Txn
	m  *siTxn
	// hold is kept over several reads, far longer than the product does.
	hold kvapi.Hold
}

// TestModel interleaves random transactions on one goroutine and compares every
// result with the model. Splits, collections and snapshots happen underneath.
func TestModel(t *testing.T) {
	seed := testkit.Seed(t)
	deleted := uint64(0)
	for round := range uint64(testkit.Rounds(12, 3)) {
		rng := testkit.Rand(seed, round)
		d := openDB(t, func(o *store.Options) { o.GCInterval = 1e6 })
		m := &siModel{states: []map[string]string{{}}, locks: map[string]map[*siTxn]bool{}}
		var open []*pair
		value := 0
		for step := range 3000 {
			if len(open) < 5 && rng.IntN(8) == 0 {
				o := Options{Level: RepeatableRead, SnapshotConflict: rng.IntN(2) == 0}
				open = append(open, &pair{tx: d.m.Begin(o), m: &siTxn{
					m: m, o: o, snapshot: -1, writes: map[string]string{}, held: map[string]kvapi.LockMode{},
				}})
			}
			if len(open) == 0 {
				continue
			}
			at := rng.IntN(len(open))
			value++
			done := open[at].step(t, d, rng, value)
			if done || rng.IntN(3) == 0 {
				open[at].hold.Rest()
			}
			if done {
				open = slices.Delete(open, at, at+1)
			}
			if rng.IntN(50) == 0 {
				// With all garbage gone, rows have one version or none.
				for _, p := range open {
					p.end(false)
				}
				open = open[:0]
				d.mustWrite("zz", fmt.Sprint(value)) // garbage of its own, behind all other
				awaitCollected(t, d)
			}
			if rng.IntN(400) == 0 {
				if err := d.split(rowKey(fmt.Sprintf("%02d", rng.IntN(30)))); err != nil && !errors.Is(err, store.ErrNoCut) {
					t.Fatal(err)
				}
			}
			if t.Failed() {
				t.Fatalf("round %d, step %d", round, step)
			}
		}
		deleted += d.s.Metrics().GCDeleted
		for _, p := range open {
			p.end(false)
		}
	}
	if deleted < 100 {
		t.Errorf("%d versions were collected, which tests too little", deleted)
	}
}

// end ends both sides, the real one with a rollback unless it is committed.
func (p *pair) end(committed bool) {
	p.hold.Rest()
	p.tx.Release()
	p.m.end(committed)
}

func awaitCollected(t *testing.T, d *db) {
	t.Helper()
	backlog, collect := d.s.GCBacklog, d.s.CollectNow
	if d.kit != nil {
		backlog, collect = d.kit.Cluster.GCBacklog, func() {}
	}
	for deadline := time.Now().Add(time.Minute); backlog() > 0; runtime.Gosched() {
		if time.Now().After(deadline) {
			t.Fatal("the garbage stays")
		}
		collect()
	}
}

// step does one random operation on both sides and reports whether the
// transaction has ended.
func (p *pair) step(t *testing.T, d *db, rng *rand.Rand, value int) (done bool) {
	key := fmt.Sprintf("%02d", rng.IntN(30))
	switch op := rng.IntN(20); {
	case op < 5:
		var s valueSink
		found, err := p.tx.Get(rowKey(key), &p.hold, &s)
		if want := p.m.plain(key); err != nil || show(found, &s) != want {
			t.Errorf("get %s: %s %v, want %s", key, show(found, &s), err, want)
		}
	case op < 7:
		p.scan(t, rng)
	case op < 16:
		return p.write(t, rng, key, value)
	case op < 17:
		p.tx.BeginStatement()
		p.m.saves = append(p.m.saves[:0], cloneWrites(p.m.writes))
	case op < 18 && len(p.m.saves) > 0:
		p.tx.RollbackStatement()
		p.m.writes = cloneWrites(p.m.saves[0])
	case op < 19:
		if err := p.tx.Commit(); err != nil {
			t.Error(err)
		}
		p.end(true)
		return true
	default:
		p.end(false)
		return true
	}
	return false
}

func cloneWrites(m map[string]string) map[string]string {
	out := map[string]string{}
	for k, v := range m {
		out[k] = v
	}
	return out
}

func (p *pair) scan(t *testing.T, rng *rand.Rand) {
	lo, hi := rng.IntN(30), rng.IntN(31)
	reverse := rng.IntN(2) == 0
	var want []string
	for i := lo; i < hi; i++ {
		k := fmt.Sprintf("%02d", i)
		if v := p.m.plain(k); v != absent {
			want = append(want, k+"="+v)
		}
	}
	if reverse {
		slices.Reverse(want)
	}
	if lo >= hi {
		p.m.plain("00") // an empty scan takes the snapshot, too
	}
	scan := func(r *ScanRequest) ([]byte, error) {
		r.Hold = &p.hold
		return p.tx.Scan(r)
	}
	got, err := scanAll(scan, rowSpan(fmt.Sprintf("%02d", lo), fmt.Sprintf("%02d", hi)), reverse, rng.IntN(5))
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("scan %d..%d: %v %v, want %v", lo, hi, got, err, want)
	}
}

// write locks and then perhaps writes.
func (p *pair) write(t *testing.T, rng *rand.Rand, key string, value int) (done bool) {
	mode := kvapi.LockMode(rng.IntN(3) % 2)
	var s valueSink
	found, acquired, err := p.tx.Lock(rowKey(key), mode, kvapi.WaitSkip, &s)
	if want := p.m.lock(key, mode); !want || (!acquired && err == nil) {
		if want || acquired || err != nil {
			t.Errorf("lock %s: %v %v, want %v", key, acquired, err, want)
		}
		return false
	}
	if errors.Is(err, kvapi.ErrWriteConflict) {
		// Deleting an absent key makes a version too, which the model does not see,
		// so only a missing conflict can be told from here.
		p.tx.Release()
		p.m.end(false)
		return true
	}
	if p.m.conflicts(key) {
		t.Errorf("lock %s: no conflict", key)
	}
	if want := p.m.look(p.m.m.latest(), key); err != nil || show(found, &s) != want {
		t.Errorf("lock %s: %s %v, want %s", key, show(found, &s), err, want)
	}
	if p.m.held[key] != kvapi.LockExclusive {
		return false
	}
	if rng.IntN(4) == 0 {
		if rng.IntN(4) > 0 {
			s = valueSink{}
			found, err = p.tx.LockDelete(rowKey(key), &s)
			if want := p.m.look(p.m.m.latest(), key); err != nil || show(found, &s) != want {
				t.Errorf("lock %s to delete it: %s %v, want %s", key, show(found, &s), err, want)
			}
		}
		err = p.tx.Delete(rowKey(key))
		p.m.writes[key] = absent
	} else {
		err = p.tx.Put(rowKey(key), fmt.Append(nil, value))
		p.m.writes[key] = fmt.Sprint(value)
	}
	if err != nil {
		t.Error(err)
	}
	return false
}
