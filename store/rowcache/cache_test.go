package rowcache

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/pandodb/pando/clock"
	"github.com/pandodb/pando/internal/testkit"
)

// version is one version in the model; a nil row is a delete marker.
type version struct {
	ts  clock.Timestamp
	row []byte
}

// model is the history of all keys, and a cache that must agree with its end.
type model struct {
	rng  *rand.Rand
	c    *Cache
	now  clock.Timestamp
	keys map[string][]version // oldest first
	// blind makes readers claim that they have seen everything, which breaks C3: the canary.
	blind           bool
	hits, unchanged int
}

// at returns the version of key that is visible at ts.
func (m *model) at(key string, ts clock.Timestamp) (v version) {
	for _, w := range m.keys[key] {
		if w.ts <= ts {
			v = w
		}
	}
	return v
}

func (m *model) step() error {
	key := fmt.Sprint("key ", m.rng.IntN(8000))
	switch m.rng.IntN(8) {
	case 0, 1: // a commit
		m.now += clock.Timestamp(1 + m.rng.IntN(3))
		v := version{ts: m.now}
		if m.rng.IntN(4) == 0 {
			m.c.Delete([]byte(key), uint64(v.ts))
		} else {
			n := m.rng.IntN(400)
			if m.rng.IntN(100) == 0 {
				n = RowMax - len(key) + m.rng.IntN(3) - 1
			}
			v.row = binary.BigEndian.AppendUint64(bytes.Repeat([]byte{byte(n)}, n), uint64(m.now))
			if m.at(key, m.now).row != nil || m.rng.IntN(2) == 0 { // where there was no row it need not be recorded
				m.c.Put([]byte(key), v.row, v.ts, uint64(v.ts))
			}
		}
		m.keys[key] = append(m.keys[key], v)
	case 2, 3, 4: // a reader that may be late offers what it has seen
		bound := m.now - clock.Timestamp(m.rng.IntN(3)*m.rng.IntN(40))
		v := m.at(key, bound)
		if m.blind {
			bound = clock.MaxTimestamp
		}
		if !m.blind && m.c.Unchanged([]byte(key), uint64(bound)) {
			m.unchanged++
			if now := m.at(key, m.now); now.ts != v.ts && (now.row == nil || v.row != nil) { // a row where there was none need not be recorded
				return fmt.Errorf("%s: unchanged since %d, but there is a version at %d", key, bound, now.ts)
			}
		}
		if v.row != nil {
			m.c.Fill([]byte(key), v.row, v.ts, uint64(bound))
		}
	default: // a reader, perhaps in the past
		at := m.now - clock.Timestamp(m.rng.IntN(2)*m.rng.IntN(50))
		prefix := []byte("prefix")
		row, ts, ok := m.c.Get(prefix, []byte(key), at)
		want := m.at(key, at)
		if !ok {
			break
		}
		m.hits++
		if ts != want.ts || !bytes.Equal(row[len(prefix):], want.row) || string(row[:len(prefix)]) != "prefix" {
			return fmt.Errorf("%s at %d: version %d, want %d", key, at, ts, want.ts)
		}
	}
	return nil
}

// check looks for contradictions in a cache's structure.
func check(c *Cache) error {
	for i := range c.shards {
		s := &c.shards[i]
		taken, live := 0, 0
		for j, slot := range s.slots {
			if slot == 0 {
				continue
			}
			taken++
			e := s.entry(slotPlace(slot))
			if entryFlags(e)&flagLive == 0 || entryTag(e) != uint32(slot>>32) {
				return fmt.Errorf("shard %d: slot %d leads to a dead or other entry", i, j)
			}
			if _, k := s.find(entryKey(e), uint64(entryTag(e))); k != j {
				return fmt.Errorf("shard %d: the key of slot %d is found in slot %d", i, j, k)
			}
		}
		held := 0
		for j, chunk := range s.chunks {
			if chunk == nil {
				continue
			}
			held++
			end := s.ends[j]
			if j == s.current {
				end = s.end
			}
			for off := 0; off < end; off += entrySize(chunk[off:]) {
				if entryFlags(chunk[off:])&flagLive != 0 {
					live++
				}
			}
		}
		if taken != s.entries || live != s.entries {
			return fmt.Errorf("shard %d: %d entries, %d slots taken, %d alive", i, s.entries, taken, live)
		}
		if held != s.held || s.used != int64(held*chunkBytes+8*len(s.slots)) {
			return fmt.Errorf("shard %d: %d of %d chunks, %d slots, %d bytes", i, held, s.held, len(s.slots), s.used)
		}
		if s.used > s.limit+int64(8*len(s.slots)) {
			return fmt.Errorf("shard %d: %d bytes of %d", i, s.used, s.limit)
		}
	}
	return nil
}

const modelSteps = 200_000

// TestModel: whatever the order of commits and late readers, a hit is the version visible at the reader's timestamp, in caches
// too small for all rows, in one that loses rows all the time, and in one that has room.
func TestModel(t *testing.T) {
	seed := testkit.Seed(t)
	for i, limit := range []int64{shardBytesMin, 3 * shardBytesMin, 2 << 20, 16 << 20} {
		drops := limit == 2<<20
		var reserved int64
		m := &model{rng: testkit.Rand(seed, uint64(i)), now: 1000, keys: map[string][]version{}}
		m.c = New(limit, func(n int64) { reserved += n })
		for j := range modelSteps {
			if err := m.step(); err != nil {
				t.Fatalf("limit %d: %v", limit, err)
			}
			if !drops || j%(modelSteps/100) != 0 {
				continue
			}
			m.c.Drop(func([]byte) bool { return m.rng.IntN(20) == 0 }, func() bool { return true })
			if err := check(m.c); err != nil {
				t.Fatalf("limit %d, step %d: %v", limit, j, err)
			}
		}
		if err := check(m.c); err != nil {
			t.Fatalf("limit %d: %v", limit, err)
		}
		s := m.c.Stats()
		if s.Bytes != reserved || m.hits == 0 || m.unchanged == 0 || s.Refused == 0 || (s.Evicted == 0) != (limit == 16<<20) {
			t.Errorf("limit %d: %+v, %d bytes reserved, %d hits: the test tests too little", limit, s, reserved, m.hits)
		}
	}
	// Readers that have not seen the newest version and don't say so must be noticed.
	m := &model{rng: testkit.Rand(seed, 99), now: 1000, keys: map[string][]version{}, c: New(16<<20, nil), blind: true}
	for range modelSteps {
		if m.step() != nil {
			return
		}
	}
	t.Error("the model does not notice stale rows")
}

// TestConcurrent: what a reader gets never goes back in time, with writers that record after they apply, and readers that fill
// from what they have seen, all at once.
func TestConcurrent(t *testing.T) {
	seed := testkit.Seed(t)
	const keys, commits, readers = 50, 20_000, 4
	c := New(shardBytesMin, nil)
	name := func(k int) []byte { return fmt.Appendf(nil, "a key with some length to it %d", k) }
	// The engine: the newest timestamp of each key is its row. applied is raised once a commit is recorded.
	var engine [keys]atomic.Uint64
	var applied, lookups atomic.Uint64
	var done atomic.Bool
	var wg sync.WaitGroup
	for r := range readers {
		rng := testkit.Rand(seed, uint64(r))
		wg.Go(func() {
			var floor [keys]uint64
			for !done.Load() {
				lookups.Add(1)
				k := rng.IntN(keys)
				bound := applied.Load()
				row, ts, ok := c.Get(nil, name(k), clock.Timestamp(bound))
				seen := uint64(ts)
				if ok && binary.BigEndian.Uint64(row) != seen {
					t.Errorf("key %d: row of %d under timestamp %d", k, binary.BigEndian.Uint64(row), seen)
				}
				if !ok {
					if seen = engine[k].Load(); seen > bound {
						continue
					}
					c.Fill(name(k), binary.BigEndian.AppendUint64(nil, seen), clock.Timestamp(seen), bound)
				}
				if seen < floor[k] {
					t.Errorf("key %d: %d after %d", k, seen, floor[k])
					return
				}
				floor[k] = seen
			}
		})
	}
	rng := testkit.Rand(seed, 1000)
	// A busy machine may not have begun with the readers by the time of the last commit.
	for ts := uint64(1); ts <= commits || lookups.Load() < commits; ts++ {
		k := rng.IntN(keys)
		engine[k].Store(ts)
		c.Put(name(k), binary.BigEndian.AppendUint64(nil, ts), clock.Timestamp(ts), ts)
		applied.Store(ts)
	}
	done.Store(true)
	wg.Wait()
	if s := c.Stats(); s.Hits == 0 || s.Filled == 0 {
		t.Errorf("the test tests too little: %+v", s)
	}
}

// TestEviction: rows that are read stay, rows that are not leave, and the memory stays below the limit.
func TestEviction(t *testing.T) {
	const limit, hot, cold = 4 * shardBytesMin, 500, 100_000
	c := New(limit, nil)
	row := make([]byte, 200)
	fill := func(key string) { c.Fill([]byte(key), row, 5, 5) }
	has := func(key string) bool { _, _, ok := c.Get(nil, []byte(key), 5); return ok }
	missed := 0
	for i := range cold {
		fill(fmt.Sprint("cold ", i))
		if key := fmt.Sprint("hot ", i%hot); !has(key) {
			fill(key)
			missed++
		}
	}
	kept := 0
	for i := range hot {
		if has(fmt.Sprint("hot ", i)) {
			kept++
		}
	}
	s := c.Stats()
	if missed > 2*hot || kept < hot*9/10 || has("cold 0") || !has(fmt.Sprint("cold ", cold-1)) {
		t.Errorf("%d of %d hot rows left, %d were missed; %+v", kept, hot, missed, s)
	}
	if s.Bytes > limit+limit/8 || s.Bytes < limit/2 {
		t.Errorf("%d bytes of %d", s.Bytes, limit)
	}
}

// TestDrop: what is doomed goes, with the memory of chunks that hold nothing else.
func TestDrop(t *testing.T) {
	rng := testkit.Rand(testkit.Seed(t), 0)
	var reserved int64
	c := New(64*shardBytesMin, func(n int64) { reserved += n })
	const rows = 20_000
	key := func(i int) []byte { return fmt.Appendf(nil, "key %06d", i) }
	fill := func() {
		for i := range rows {
			c.Fill(key(i), make([]byte, rng.IntN(300)), 1, 1)
		}
	}
	fill()
	full := c.Stats()
	never := func([]byte) bool { return false }
	on := func() bool { return true }
	c.Drop(never, on)
	if s := c.Stats(); s != full {
		t.Errorf("nothing is doomed: %+v, before %+v", s, full)
	}
	odd := func(key []byte) bool { return key[len(key)-1]%2 == 1 }
	c.Drop(odd, on)
	for i := range rows {
		if _, _, ok := c.Get(nil, key(i), 1); ok == odd(key(i)) {
			t.Fatalf("row %d: %t", i, ok)
		}
	}
	if err := check(c); err != nil {
		t.Error(err)
	}
	all := func([]byte) bool { return true }
	n := 0
	c.Drop(all, func() bool { n++; return n < 10 })
	if s := c.Stats(); n != 10 || s.Entries == 0 {
		t.Errorf("%d shards in spite of the stop, %+v", n, s)
	}
	c.Drop(all, on)
	s := c.Stats()
	if s.Entries != 0 || s.Bytes != reserved || s.Bytes > int64(len(c.shards)*(chunkBytes+8<<10)) {
		t.Errorf("empty: %+v, %d reserved, when full %+v", s, reserved, full)
	}
	if err := check(c); err != nil {
		t.Error(err)
	}
	fill()
	if s := c.Stats(); s.Entries != rows || s.Evicted != 0 {
		t.Errorf("once more: %+v", s)
	}
	if err := check(c); err != nil {
		t.Error(err)
	}
}

// TestNone: a cache without room, and none at all, keep nothing and break nothing.
func TestNone(t *testing.T) {
	for _, c := range []*Cache{nil, {}, New(shardBytesMin-1, nil), New(-1, nil)} {
		c.Put([]byte("k"), []byte("v"), 1, 1)
		c.Fill([]byte("k"), []byte("v"), 1, 1)
		c.Delete([]byte("k"), 2)
		if c.Unchanged([]byte("k"), 9) {
			t.Error("who keeps nothing knows of no changes")
		}
		if row, _, ok := c.Get([]byte("x"), []byte("k"), 9); ok || string(row) != "x" || c.Stats() != (Stats{Misses: c.Stats().Misses}) {
			t.Errorf("%q, %v, %+v", row, ok, c.Stats())
		}
	}
}

func benchCache(tb testing.TB) (c *Cache, key func(i uint64) []byte) {
	const rows = 200_000
	c = New(64<<20, nil)
	buf := make([]byte, 12)
	key = func(i uint64) []byte {
		binary.BigEndian.PutUint64(buf[4:], i%rows)
		return buf
	}
	for i := range uint64(rows) {
		c.Fill(key(i), make([]byte, 190), 5, 5)
	}
	if s := c.Stats(); s.Entries != rows {
		tb.Fatalf("%+v", s)
	}
	return c, key
}

// TestNoAllocations pins that looking up and recording cost none.
func TestNoAllocations(t *testing.T) {
	c, key := benchCache(t)
	row := make([]byte, 0, 200)
	i := uint64(0)
	if n := testing.AllocsPerRun(1000, func() {
		i += 7919
		if _, _, ok := c.Get(row, key(i), 9); !ok {
			t.Fatal("not there")
		}
		c.Put(key(i), row[:190], 9, 9)
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkGet(b *testing.B) {
	c, key := benchCache(b)
	row := make([]byte, 0, 200)
	i := uint64(0)
	for b.Loop() {
		i += 7919
		c.Get(row, key(i), 9)
	}
}

func BenchmarkPut(b *testing.B) {
	c, key := benchCache(b)
	row := make([]byte, 190)
	i := uint64(0)
	for b.Loop() {
		i += 7919
		c.Put(key(i), row, 9, 9)
	}
}
