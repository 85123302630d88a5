package server

import "testing"

// TestGCPercent: an idle server may keep the headroom, a full cache grows by a sixth or so, and nothing in between lets the heap treble.
func TestGCPercent(t *testing.T) {
	b := budget{cache: 1 << 30}
	for _, c := range []struct {
		live    uint64
		percent int
	}{{0, 200}, {10 << 20, 200}, {128 << 20, 200}, {256 << 20, 100}, {512 << 20, 50}, {1<<30 - 1, 25}, {1 << 30, 18}, {2 << 30, 15}, {1 << 40, 15}} {
		if got := b.gcPercent(c.live); got != c.percent {
			t.Errorf("%d bytes live: %d percent, want %d", c.live, got, c.percent)
		}
	}
}

// TestBudget: memtables, whose memory comes out of the cache, leave a small one its blocks.
func TestBudget(t *testing.T) {
	for _, c := range []struct{ total, cache, wantCache, wantMemTable int64 }{
		{32 << 30, 0, 8 << 30, 64 << 20},
		{2 << 30, 0, 512 << 20, 32 << 20},
		{32 << 30, 1 << 30, 1 << 30, 64 << 20},
		{32 << 30, 40 << 20, 40 << 20, 10 << 20},
		{32 << 30, 8 << 20, 8 << 20, 4 << 20},
	} {
		b := newBudget(&Options{MemoryBytes: c.total, CacheBytes: c.cache})
		if b.cache != c.wantCache || b.memTable != c.wantMemTable {
			t.Errorf("memory %d, cache %d: cache %d and memtable %d, want %d and %d", c.total, c.cache, b.cache, b.memTable, c.wantCache, c.wantMemTable)
		}
	}
}

// TestPageCacheBudget: the tables have what the machine has and the process does not take, not what the process is told to stay below.
func TestPageCacheBudget(t *testing.T) {
	for _, c := range []struct{ machine, limit, cache, want int64 }{
		{32 << 30, 0, 10 << 30, 18<<30 - 4*64<<20},
		{32 << 30, 4 << 30, 10 << 30, 18<<30 - 4*64<<20},
		{32 << 30, 0, 30 << 30, 1},
	} {
		b := budget{machine: c.machine, total: c.limit, cache: c.cache, memTable: 64 << 20}
		if got := b.pageCache(); got != c.want {
			t.Errorf("machine %d, limit %d, cache %d: %d, want %d", c.machine, c.limit, c.cache, got, c.want)
		}
	}
	if b := newBudget(&Options{MemoryBytes: 1 << 30}); b.machine != machineMemory() {
		t.Errorf("a machine of %d bytes", b.machine)
	}
}
