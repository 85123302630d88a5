package store

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"sync/atomic"
	"testing"

	"github.com/pandodb/pando/engine"
	"github.com/pandodb/pando/internal/testkit"
	"github.com/pandodb/pando/kvapi"
)

// TestRowRoom: the row cache grows while much of the cache is free, gives back when little is, and stays between its own part and
// the most.
func TestRowRoom(t *testing.T) {
	const cache = 6400
	for _, c := range []struct{ limit, used, spare, want int64 }{
		{1600, 0, 6400, 1700},
		{1600, 1600, 2000, 1700},
		{1600, 1600, 450, 1650},
		{1600, 1600, 400, 1600},
		{1600, 1600, 100, 1600},
		{1600, 1600, 99, 1600},
		{3000, 2900, 401, 2901},
		{3000, 2900, 300, 3000},
		{3000, 2900, 99, 2700},
		{3000, 1000, 99, 1600},
		{3000, 3100, -500, 2800},
		{4750, 4700, 1700, 4800},
		{4800, 4800, 1600, 4800},
	} {
		if got := rowRoom(cache, c.limit, c.used, c.spare); got != c.want {
			t.Errorf("limit %d, %d used, %d spare: %d, want %d", c.limit, c.used, c.spare, got, c.want)
		}
	}
}

// TestPageCachePolled: the engine looks at the page cache again and again without commits, whether the row cache has a size of its own
// or not.
func TestPageCachePolled(t *testing.T) {
	for _, rows := range []int64{0, 1 << 20} {
		var asked atomic.Int64
		pageCache := func() (room, free int64) { asked.Add(1); return 1 << 30, 0 }
		e, err := engine.Open(engine.Options{Dir: "d", FS: engine.NewMemFS(), PageCache: pageCache})
		if err != nil {
			t.Fatal(err)
		}
		opened := asked.Load()
		s, err := Open(Options{Engine: e, RowCacheBytes: rows})
		if err != nil {
			t.Fatal(err)
		}
		testkit.Await(t, "two looks at the page cache", func() bool { return asked.Load() > opened+1 })
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	}
}

// rowRoomCache has room for rowRoomKeys rows and their blocks, its fourth part not for the rows alone.
const (
	rowRoomCache = 4 << 20
	rowRoomKeys  = 6500
)

// openCached makes a store whose engine has so large a cache and flushes often.
func openCached(t *testing.T, cacheBytes, rowCacheBytes int64) (*Store, *engine.Engine) {
	t.Helper()
	e, err := engine.Open(engine.Options{Dir: "d", FS: engine.NewMemFS(), CacheBytes: cacheBytes, MemTableBytes: 256 << 10})
	if err != nil {
		t.Fatal(err)
	}
	s, err := Open(Options{Engine: e, RowCacheBytes: rowCacheBytes})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
	return s, e
}

// commitNew commits writes of keys that nobody else writes.
func commitNew(t *testing.T, s *Store, id uint64, writes []kvapi.Mutation) {
	t.Helper()
	var o Owner
	s.OpenOwner(&o, id)
	if _, err := s.Commit(&o, &kvapi.CommitRequest{Regions: []kvapi.RegionRef{s.Regions()[0].Ref()}, Mutations: writes}); err != nil {
		t.Fatal(err)
	}
	s.ReleaseLocks(&o)
}

// newRowRoomRig makes a store with rows in tables of the engine.
func newRowRoomRig(t *testing.T, rng *rand.Rand, rowCacheBytes int64) *rowsRig {
	t.Helper()
	s, e := openCached(t, rowRoomCache, rowCacheBytes)
	r := &rowsRig{t: t, s: s, e: e, key: func(i int) []byte { return fmt.Appendf(nil, "row %08d", i) }}
	r.load(rng, 0, rowRoomKeys)
	return r
}

// load writes rows that do not compress.
func (r *rowsRig) load(rng *rand.Rand, from, to int) {
	row := make([]byte, 200)
	var muts []kvapi.Mutation
	for i := from; i < to; i++ {
		for j := range row {
			row[j] = byte(rng.Uint32())
		}
		muts = append(muts, kvapi.Mutation{Key: r.key(i), Value: bytes.Clone(row), Kind: kvapi.MutationPut})
		if len(muts) == 1000 || i == to-1 {
			commitNew(r.t, r.s, uint64(i+1), muts)
			muts = muts[:0]
		}
	}
	if err := r.e.Flush(); err != nil {
		r.t.Fatal(err)
	}
}

// touchAll reads rows by key, without a look at what it gets.
func (r *rowsRig) touchAll(from, to int) {
	var intr kvapi.Interrupt
	var sink rowSink
	get := kvapi.GetRequest{Region: r.s.Regions()[0].Ref(), TS: r.s.Watermark(), Interrupt: &intr, Sink: &sink}
	for i := from; i < to; i++ {
		get.Key = r.key(i)
		if found, err := r.s.Get(&get); err != nil || !found {
			r.t.Fatal(found, err)
		}
	}
}

// readAll reads rows by key, and compares them with what the engine holds. Where time is short it reads one in seven: Pebble under
// the race detector takes a stack trace per lookup in a table.
func (r *rowsRig) readAll(from, to int) {
	step := 1
	if testing.Short() {
		step = 7
	}
	for i := from; i < to; i += step {
		if err := r.read(r.s.Watermark(), i, nil); err != nil {
			r.t.Fatal(err)
		}
	}
}

// scanAll walks over everything.
func (r *rowsRig) scanAll() {
	var intr kvapi.Interrupt
	rows := 0
	sink := sinkFunc(func(_, _ []byte) (bool, error) { rows++; return true, nil })
	scan := kvapi.ScanRequest{Regions: []kvapi.RegionRef{r.s.Regions()[0].Ref()}, Span: kvapi.Span{End: []byte("s")}, TS: r.s.Watermark(), Interrupt: &intr, Sink: sink}
	if _, err := r.s.Scan(&scan); err != nil || rows == 0 {
		r.t.Fatal(rows, err)
	}
}

// TestRowsTakeWhatBlocksLeave: with room for all, all rows come to be in the row cache. When blocks need the room they get it, and
// what is read is right all the time.
func TestRowsTakeWhatBlocksLeave(t *testing.T) {
	const own = rowRoomCache / rowRoomOwn
	rng := testkit.Rand(testkit.Seed(t), 0)
	r := newRowRoomRig(t, rng, own)
	r.touchAll(0, rowRoomKeys)
	if m := r.s.Metrics().Rows; m.Entries > rowRoomKeys*3/4 || m.Bytes > own {
		t.Fatalf("the row cache's own part has room for most: the test tests too little: %+v", m)
	}
	limit := int64(own)
	testkit.Await(t, "all rows are in the row cache", func() bool {
		limit = r.s.balance(limit)
		r.touchAll(0, rowRoomKeys)
		m := r.s.Metrics().Rows
		return m.Entries == rowRoomKeys && m.Bytes > own && m.Bytes <= limit
	})
	r.readAll(0, rowRoomKeys)
	r.load(rng, rowRoomKeys, 3*rowRoomKeys)
	testkit.Await(t, "blocks have all but the row cache's own part", func() bool {
		r.scanAll()
		limit = r.s.balance(limit)
		return limit == own && r.s.Metrics().Rows.Bytes <= own && r.e.Metrics().CacheBytes >= rowRoomCache*5/8
	})
	r.readAll(0, 3*rowRoomKeys)
}

// TestBalancer: the caches are looked at all the time.
func TestBalancer(t *testing.T) {
	r := newRowRoomRig(t, testkit.Rand(testkit.Seed(t), 0), 0)
	testkit.Await(t, "the row cache has more than its own part", func() bool {
		r.touchAll(0, rowRoomKeys)
		return r.s.Metrics().Rows.Bytes > rowRoomCache/rowRoomOwn
	})
}
