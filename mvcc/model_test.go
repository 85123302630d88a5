package mvcc_test

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"sort"
	"testing"

	"github.com/pandodb/pando/clock"
	"github.com/pandodb/pando/engine"
	"github.com/pandodb/pando/internal/testkit"
	"github.com/pandodb/pando/keys"
	"github.com/pandodb/pando/mvcc"
)

const (
	modelSteps     = 6000
	modelHotKeys   = 3 // of these keys many versions pile up
	modelKeyLenMax = 4
	modelScanEvery = 5
)

// modelVersion is one version in the model; a nil row is a tombstone.
type modelVersion struct {
	ts  clock.Timestamp
	row []byte
}

// model is a map in memory that mvcc over the engine must agree with at every timestamp from the safepoint on.
type model struct {
	t         *testing.T
	rng       *rand.Rand
	e         *engine.Engine
	now       clock.Timestamp
	safepoint clock.Timestamp
	versions  map[string][]modelVersion // oldest first
	deleted   int
}

// TestModel runs random histories with flushes, compactions and collections and compares every read with the model. Keys are
// short strings of few letters, NUL and 0xFF among them, so that prefixes of each other and odd separators are common.
func TestModel(t *testing.T) {
	seed := testkit.Seed(t)
	e, err := engine.OpenMem()
	if err != nil {
		t.Fatal(err)
	}
	m := &model{t: t, rng: testkit.Rand(seed, 0), e: e, now: 100, safepoint: 1, versions: map[string][]modelVersion{}}
	for range testkit.Rounds(modelSteps, modelSteps/5) {
		m.step()
		if t.Failed() {
			break
		}
	}
	m.collectAll()
	m.checkScan(m.now, nil, nil, false)
	if m.deleted == 0 {
		t.Error("nothing was collected: the test tests too little")
	}
	if err := e.Close(); err != nil {
		t.Error(err)
	}
}

func (m *model) step() {
	switch n := m.rng.IntN(100); {
	case n < 45:
		m.write()
	case n < 75:
		m.checkGet()
	case n < 75+100/modelScanEvery:
		lower, upper := m.key(), m.key()
		if lower > upper {
			lower, upper = upper, lower
		}
		m.checkScan(m.readTS(), []byte(lower), []byte(upper), m.rng.IntN(2) == 0)
	case n < 98:
		m.collectOne()
	case n < 99:
		m.collectAll()
	default:
		m.shake()
	}
}

func (m *model) key() string {
	if m.rng.IntN(2) == 0 {
		return fmt.Sprintf("t%d", m.rng.IntN(modelHotKeys))
	}
	b := make([]byte, m.rng.IntN(modelKeyLenMax))
	for i := range b {
		b[i] = "\x00ab\xff\x09"[m.rng.IntN(5)]
	}
	return "t" + string(b)
}

func (m *model) readTS() clock.Timestamp {
	if m.rng.IntN(4) == 0 {
		return clock.MaxTimestamp
	}
	return m.safepoint + clock.Timestamp(m.rng.Uint64N(uint64(m.now-m.safepoint)+2))
}

// write commits one batch of up to four keys at a new timestamp.
func (m *model) write() {
	m.now += clock.Timestamp(1 + m.rng.IntN(3))
	b := m.e.NewBatch()
	defer b.Close()
	used := map[string]bool{}
	for range 1 + m.rng.IntN(4) {
		key := m.key()
		if used[key] {
			continue
		}
		used[key] = true
		start := clock.Timestamp(0)
		if m.rng.IntN(3) == 0 {
			start = m.now - clock.Timestamp(1+m.rng.Uint64N(20))
		}
		v := modelVersion{ts: m.now}
		if m.rng.IntN(4) == 0 {
			mvcc.Delete(b, []byte(key), m.now, start)
		} else {
			v.row = fmt.Appendf(make([]byte, 0, 16), "%x@%d", key, uint64(m.now))
			mvcc.Put(b, []byte(key), m.now, start, v.row)
		}
		m.versions[key] = append(m.versions[key], v)
	}
	if err := m.e.Apply(b, false); err != nil {
		m.t.Fatal(err)
	}
}

// visible returns the newest version at or below ts.
func (m *model) visible(key string, ts clock.Timestamp) (modelVersion, bool) {
	for _, v := range slices.Backward(m.versions[key]) {
		if v.ts <= ts {
			return v, true
		}
	}
	return modelVersion{}, false
}

func (m *model) checkGet() {
	key, ts := m.key(), m.readTS()
	it := newIter(m.t, m.e)
	defer closeIter(m.t, it)
	row, vts, found, err := mvcc.Get(it, []byte(key), ts)
	if err != nil {
		m.t.Fatal(err)
	}
	want, exists := m.visible(key, ts)
	if found != (exists && want.row != nil) || !bytes.Equal(row, want.row) {
		m.t.Errorf("get %q at %d: %s@%d, found %v; want %s@%d", key, uint64(ts), row, uint64(vts), found, want.row, uint64(want.ts))
	}
	if found && vts != want.ts {
		m.t.Errorf("get %q at %d: version %d, want %d", key, uint64(ts), uint64(vts), uint64(want.ts))
	}
}

func (m *model) checkScan(ts clock.Timestamp, lower, upper []byte, reverse bool) {
	var want []string
	for key := range m.versions {
		if lower != nil && key < string(lower) || upper != nil && key >= string(upper) {
			continue
		}
		if v, ok := m.visible(key, ts); ok && v.row != nil {
			want = append(want, key)
		}
	}
	sort.Strings(want)
	if reverse {
		slices.Reverse(want)
	}
	o := engine.IterOptions{Lower: keys.VersionPrefix(nil, lower), Upper: keys.SpaceEnd(nil, keys.SpaceVersion)}
	if upper != nil {
		o.Upper = keys.VersionPrefix(nil, upper)
	}
	it, err := m.e.NewIter(o)
	if err != nil {
		m.t.Fatal(err)
	}
	defer closeIter(m.t, it)
	var s mvcc.Scanner
	s.Init(it, ts, reverse, nil)
	for i := 0; s.Next(); i++ {
		if i >= len(want) {
			m.t.Errorf("scan at %d: %q is too much", uint64(ts), s.Key())
			return
		}
		v, _ := m.visible(want[i], ts)
		if string(s.Key()) != want[i] || !bytes.Equal(s.Row(), v.row) || s.TS() != v.ts {
			m.t.Errorf("scan at %d, reverse %v, row %d: %q=%s@%d, want %q=%s@%d", uint64(ts), reverse, i,
				s.Key(), s.Row(), uint64(s.TS()), want[i], v.row, uint64(v.ts))
			return
		}
		want[i] += "\x00seen"
	}
	if s.Err() != nil {
		m.t.Fatal(s.Err())
	}
	for _, key := range want {
		if !bytes.HasSuffix([]byte(key), []byte("\x00seen")) {
			m.t.Errorf("scan at %d, reverse %v: %q is missing", uint64(ts), reverse, key)
			return
		}
	}
}

func (m *model) raiseSafepoint() {
	m.safepoint += clock.Timestamp(m.rng.Uint64N(uint64(m.now-m.safepoint) + 1))
}

func (m *model) collectOne() {
	m.raiseSafepoint()
	m.collect([]byte(m.key()))
}

// collect deletes what the safepoint allows of a key, up to a limit, and reports whether there may be more.
func (m *model) collect(key []byte) (more bool) {
	it := newIter(m.t, m.e)
	defer closeIter(m.t, it)
	b := m.e.NewBatch()
	defer b.Close()
	deleted, more, err := mvcc.Collect(it, b, key, m.safepoint, 1+m.rng.IntN(20))
	if err != nil {
		m.t.Fatal(err)
	}
	if deleted != b.Count() {
		m.t.Errorf("collection reports %d deletions, its batch has %d", deleted, b.Count())
	}
	m.deleted += deleted
	if err := m.e.Apply(b, false); err != nil {
		m.t.Fatal(err)
	}
	return more
}

func (m *model) collectAll() {
	m.raiseSafepoint()
	for _, key := range m.keysWithVersions() {
		for m.collect(key) {
		}
	}
	m.checkCollected()
}

func (m *model) keysWithVersions() (all [][]byte) {
	it := newIter(m.t, m.e)
	defer closeIter(m.t, it)
	for ok := it.First(); ok; ok = it.NextPrefix() {
		key, _, _ := keys.DecodeVersionKey(it.Key())
		all = append(all, bytes.Clone(key))
	}
	return all
}

// checkCollected verifies that nothing is left that no reader can see.
func (m *model) checkCollected() {
	it := newIter(m.t, m.e)
	defer closeIter(m.t, it)
	var last []byte
	below := 0
	for ok := it.First(); ok; ok = it.Next() {
		key, ts, _ := keys.DecodeVersionKey(it.Key())
		if !bytes.Equal(key, last) {
			last, below = bytes.Clone(key), 0
		}
		if ts > m.safepoint {
			continue
		}
		below++
		value, err := it.Value()
		if err != nil {
			m.t.Fatal(err)
		}
		v, err := mvcc.DecodeValue(value, ts)
		if err != nil {
			m.t.Fatal(err)
		}
		if below > 1 || v.Tombstone {
			m.t.Errorf("after collection at %d: %q@%d is left (tombstone %v)", uint64(m.safepoint), key, uint64(ts), v.Tombstone)
		}
	}
}

// shake moves data between memtables and levels.
func (m *model) shake() {
	if err := m.e.Flush(); err != nil {
		m.t.Fatal(err)
	}
	if m.rng.IntN(2) == 0 {
		if err := m.e.Compact(context.Background(), keys.VersionPrefix(nil, nil), keys.SpaceEnd(nil, keys.SpaceVersion)); err != nil {
			m.t.Fatal(err)
		}
	}
}
