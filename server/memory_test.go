package server

import (
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"sync"
	"testing"

	"github.com/pandodb/pando/exec"
	"github.com/pandodb/pando/internal/testkit"
)

// TestGCPercent: an idle server may keep the headroom, a full cache grows by a sixth or so, and nothing in between lets the heap treble.
func TestGCPercent(t *testing.T) {
	b := budget{cache: 1 << 30}
	for _, c := range []struct {
		live, outside uint64
		percent       int
	}{
		{0, 0, 200}, {10 << 20, 0, 200}, {128 << 20, 0, 200}, {256 << 20, 0, 100}, {512 << 20, 0, 50}, {1<<30 - 1, 0, 25}, {1 << 30, 0, 18}, {2 << 30, 0, 15}, {1 << 40, 0, 15},
		{10 << 20, 1 << 30, 200}, {128 << 20, 512 << 20, 200}, {256 << 20, 512 << 20, 100}, {256 << 20, 768 << 20, 75}, {512 << 20, 1 << 30, 37},
	} {
		if got := b.gcPercent(c.live, c.outside, 0); got != c.percent {
			t.Errorf("%d bytes live and %d outside: %d percent, want %d", c.live, c.outside, got, c.percent)
		}
	}
}

// TestGCPercentOfCaches: a larger cache leaves more room for garbage and a smaller one less, but never more than the process may take of it.
func TestGCPercentOfCaches(t *testing.T) {
	for _, c := range []struct{ cache, live, headroom int64 }{
		{256 << 20, 256 << 20, 48 << 20},
		{512 << 20, 512<<20 - 1, 128 << 20},
		{512 << 20, 512 << 20, 96 << 20},
		{2 << 30, 2<<30 - 1, 512 << 20},
		{2 << 30, 2 << 30, 448 << 20},
		{4 << 30, 4 << 30, 960 << 20},
		{16 << 30, 16 << 30, 4032 << 20},
	} {
		b := budget{cache: c.cache}
		percent := int64(b.gcPercent(uint64(c.live), 0, 0))
		want := max(100*c.headroom/c.live, gcPercentMin)
		if percent != want || c.live+c.live*percent/100 > c.cache/10*processShare {
			t.Errorf("a cache of %d bytes, %d live: %d percent, want %d", c.cache, c.live, percent, want)
		}
	}
}

// TestGCPercentOfStatements: with a full cache and statements that hold a quarter of a GiB the process stays within both and a quarter of a GiB
// more, garbage included; small statements change nothing.
func TestGCPercentOfStatements(t *testing.T) {
	const cache, rows, outside, others = 1 << 30, 256 << 20, 768 << 20, 64 << 20 // the rows' cache is on the heap
	b := budget{cache: cache}
	if idle, small := b.gcPercent(rows+others, outside, 0), b.gcPercent(rows+others, outside, 1<<20); idle != small {
		t.Errorf("%d percent with a small statement, %d without", small, idle)
	}
	for _, held := range []int64{64 << 20, 128 << 20, 256 << 20} {
		live := rows + others + held
		if most := outside + live + live*int64(b.gcPercent(uint64(live), outside, held))/100; most > cache+256<<20+held {
			t.Errorf("statements hold %d MiB: the process takes %d MiB", held>>20, most>>20)
		}
	}
	if got := b.gcPercent(2<<30, outside, 1<<30); got != gcPercentBusy {
		t.Errorf("%d percent while statements hold a GiB", got)
	}
}

// TestHeapLimit: the heap aims to stay below what is left of the memory, with room for a cache outside that is not full yet, and is never left without any.
func TestHeapLimit(t *testing.T) {
	b := budget{total: 10 << 30, cache: 3 << 30}
	for _, c := range []struct{ outside, want int64 }{{0, 9 << 30}, {1, 6 << 30}, {2 << 30, 6 << 30}, {4 << 30, 5 << 30}, {9 << 30, 9 << 30 / limitStep}, {20 << 30, 9 << 30 / limitStep}} {
		if got := b.heapLimit(c.outside); got != c.want {
			t.Errorf("%d bytes outside: the heap's limit is %d, want %d", c.outside, got, c.want)
		}
	}
}

// TestBudget: memtables, whose memory comes out of the cache, leave a small one its blocks.
// TestSpare: a quarter of what is beside the cache stays free, in a small process up to a half.
func TestSpare(t *testing.T) {
	const mb = 1 << 20
	for _, c := range []struct{ total, cache, want int64 }{
		{10000 * mb, 1000 * mb, 2000 * mb}, {1000 * mb, 100 * mb, 256 * mb}, {500 * mb, 50 * mb, 200 * mb}, {100 * mb, 90 * mb, 0},
	} {
		if got := (&budget{total: c.total, cache: c.cache}).spare(); got != c.want {
			t.Errorf("of %d MiB with a cache of %d: %d, not %d", c.total/mb, c.cache/mb, got/mb, c.want/mb)
		}
	}
}

func TestBudget(t *testing.T) {
	for _, c := range []struct{ total, cache, wantCache, wantMemTable int64 }{
		{32 << 30, 0, 8 << 30, 64 << 20},
		{2 << 30, 0, 512 << 20, 32 << 20},
		{32 << 30, 1 << 30, 1 << 30, 64 << 20},
		{32 << 30, 40 << 20, 40 << 20, 10 << 20},
		{32 << 30, 8 << 20, 8 << 20, 4 << 20},
	} {
		b, err := newBudget(&Options{MemoryBytes: c.total, CacheBytes: c.cache}, systemMemory{total: 64 << 30, known: true})
		if err != nil || b.cache != c.wantCache || b.memTable != c.wantMemTable {
			t.Errorf("memory %d, cache %d: cache %d and memtable %d, want %d and %d", c.total, c.cache, b.cache, b.memTable, c.wantCache, c.wantMemTable)
		}
	}
}

// TestBudgetOfMachine: no limit is above what the machine has, where that is known, and a cache has to leave some of it.
func TestBudgetOfMachine(t *testing.T) {
	for _, c := range []struct {
		total, cache, machine int64
		known                 bool
		want                  int64 // 0 for a refusal
	}{
		{1 << 60, 0, 8 << 30, true, 8 << 30}, {16 << 30, 4 << 30, 8 << 30, true, 8 << 30}, {4 << 30, 0, 8 << 30, true, 4 << 30},
		{16 << 30, 0, memoryUnknown, false, 16 << 30}, {0, 0, memoryUnknown, false, memoryUnknown},
		{0, 6 << 30, 8 << 30, true, 8 << 30}, {0, 7 << 30, 8 << 30, true, 0}, {1 << 60, 1 << 40, 8 << 30, true, 0},
		{0, 7 << 30, memoryUnknown, false, memoryUnknown},
	} {
		b, err := newBudget(&Options{MemoryBytes: c.total, CacheBytes: c.cache}, systemMemory{total: c.machine, known: c.known})
		if (err != nil) != (c.want == 0) || err == nil && b.total != c.want {
			t.Errorf("%+v: a budget of %d, %v", c, b.total, err)
		}
	}
	o := DefaultOptions()
	o.CacheBytes, o.MemoryBytes = 2<<30, 64<<20
	if faults := o.Validate(); len(faults) != 1 {
		t.Errorf("a cache larger than the memory: %v", faults)
	}
	o.CacheBytes = 48 << 20
	if faults := o.Validate(); len(faults) != 0 {
		t.Errorf("a cache of its share: %v", faults)
	}
}

// TestPageCacheBudget: the tables have what the machine has and neither the process nor others take, not what the process is told to
// stay below.
func TestPageCacheBudget(t *testing.T) {
	for _, c := range []struct{ machine, limit, cache, available, want int64 }{
		{32 << 30, 0, 10 << 30, 31 << 30, 18<<30 - 4*64<<20},
		{32 << 30, 4 << 30, 10 << 30, 31 << 30, 18<<30 - 4*64<<20},
		{32 << 30, 0, 10 << 30, 5 << 30, 5 << 30},
		{32 << 30, 0, 30 << 30, 31 << 30, 1},
		{32 << 30, 0, 10 << 30, 0, 1},
	} {
		b := budget{machine: c.machine, total: c.limit, cache: c.cache, memTable: 64 << 20}
		if got := b.pageCache(systemMemory{available: c.available}); got != c.want {
			t.Errorf("machine %d, limit %d, cache %d, available %d: %d, want %d", c.machine, c.limit, c.cache, c.available, got, c.want)
		}
	}
	if b, err := newBudget(&Options{MemoryBytes: 1 << 30}, systemMemory{total: 8 << 30, known: true}); err != nil || b.machine != 8<<30 {
		t.Errorf("a machine of %d bytes, %v", b.machine, err)
	}
}

// TestReadMemory: what a cgroup leaves counts where it is less than what the machine has.
func TestReadMemory(t *testing.T) {
	const meminfo = "MemTotal:       24000 kB\nMemFree:         3000 kB\nMemAvailable:   20000 kB\nHugePages_Total:       0\n"
	machine := systemMemory{24000 << 10, 20000 << 10, 3000 << 10, true, "proc/meminfo"}
	unknown := systemMemory{memoryUnknown, memoryUnknown, memoryUnknown, false, ""}
	const v2, v1 = "sys/fs/cgroup/", "sys/fs/cgroup/memory/"
	for _, c := range []struct {
		name  string
		files map[string]string
		want  systemMemory
	}{
		{"nothing known", nil, unknown},
		{"no cgroup", map[string]string{"proc/meminfo": meminfo}, machine},
		{"no limit", map[string]string{"proc/meminfo": meminfo, "sys/fs/cgroup/memory.max": "max\n", "sys/fs/cgroup/memory.current": "5\n"}, machine},
		{"a cgroup", map[string]string{"proc/meminfo": meminfo, "sys/fs/cgroup/memory.max": "8192000\n", "sys/fs/cgroup/memory.current": "8000000\n",
			"sys/fs/cgroup/memory.stat": "anon 2000000\nfile 6000000\nfile_mapped 17\n"}, systemMemory{8192000, 6192000, 192000, true, v2 + "memory.max"}},
		{"with shared memory", map[string]string{"proc/meminfo": meminfo, "sys/fs/cgroup/memory.max": "8192000\n", "sys/fs/cgroup/memory.current": "8000000\n",
			"sys/fs/cgroup/memory.stat": "file 6000000\nshmem 1000000\n"}, systemMemory{8192000, 5192000, 192000, true, v2 + "memory.max"}},
		{"with a lower limit from where it has to give up some", map[string]string{"proc/meminfo": meminfo, "sys/fs/cgroup/memory.max": "9192000\n",
			"sys/fs/cgroup/memory.high": "8192000\n", "sys/fs/cgroup/memory.current": "8000000\n", "sys/fs/cgroup/memory.stat": "file 6000000\n"},
			systemMemory{8192000, 6192000, 192000, true, v2 + "memory.high"}},
		{"beyond its limit", map[string]string{"proc/meminfo": meminfo, "sys/fs/cgroup/memory.max": "8192000\n", "sys/fs/cgroup/memory.current": "9000000\n",
			"sys/fs/cgroup/memory.stat": "file 100\n"}, systemMemory{8192000, 100, 0, true, v2 + "memory.max"}},
		{"larger than the machine", map[string]string{"proc/meminfo": meminfo, "sys/fs/cgroup/memory.max": "99999999999\n", "sys/fs/cgroup/memory.current": "8000000\n"}, machine},
		{"of the first kind", map[string]string{"proc/meminfo": meminfo, "sys/fs/cgroup/memory/memory.limit_in_bytes": "8192000\n",
			"sys/fs/cgroup/memory/memory.usage_in_bytes": "1000000\n", "sys/fs/cgroup/memory/memory.stat": "cache 1\ntotal_cache 500000\n"},
			systemMemory{8192000, 7692000, 3000 << 10, true, v1 + "memory.limit_in_bytes"}},
		{"nested, the limit above the process's own", map[string]string{"proc/meminfo": meminfo, "proc/self/cgroup": "0::/system.slice/pando.service/main\n",
			v2 + "system.slice/pando.service/memory.max": "8192000\n", v2 + "system.slice/pando.service/main/memory.max": "max\n"},
			systemMemory{8192000, 20000 << 10, 3000 << 10, true, v2 + "system.slice/pando.service/memory.max"}},
		{"nested, the process's own is the lowest", map[string]string{"proc/meminfo": meminfo, "proc/self/cgroup": "0::/a/b\n",
			v2 + "a/memory.max": "8192000\n", v2 + "a/b/memory.max": "4096000\n", v2 + "a/b/memory.current": "96000\n"},
			systemMemory{4096000, 4000000, 3000 << 10, true, v2 + "a/b/memory.max"}},
		{"another's limit", map[string]string{"proc/meminfo": meminfo, "proc/self/cgroup": "0::/a\n", v2 + "b/memory.max": "8192000\n"}, machine},
		{"nested, of the first kind, in a container that sees a part", map[string]string{"proc/meminfo": meminfo,
			"proc/self/cgroup":    "4:memory:/docker/x/sub\n1:cpu,cpuacct:/\n0::/\n",
			"proc/self/mountinfo": "35 31 0:32 /docker/x /cg/memory rw,relatime - cgroup cgroup rw,memory\n", "cg/memory/sub/memory.limit_in_bytes": "8192000\n"},
			systemMemory{8192000, 20000 << 10, 3000 << 10, true, "cg/memory/sub/memory.limit_in_bytes"}},
		{"a path outside of what is mounted", map[string]string{"proc/meminfo": meminfo, "proc/self/cgroup": "0::/../../etc\n",
			"proc/self/mountinfo": "35 31 0:32 /docker/x /cg rw - cgroup2 cgroup2 rw\n", "cg/memory.max": "8192000\n"},
			systemMemory{8192000, 20000 << 10, 3000 << 10, true, "cg/memory.max"}},
	} {
		root := t.TempDir()
		writeTree(t, root, c.files)
		if c.want.source != "" {
			c.want.source = filepath.Join(root, c.want.source)
		}
		if got := readMemory(root); got != c.want {
			t.Errorf("%s: %+v, want %+v", c.name, got, c.want)
		}
	}
}

func writeTree(t *testing.T, root string, files map[string]string) {
	t.Helper()
	for name, content := range files {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// TestQuotaProcs: the lowest quota of the process's cgroups bounds the processors, wherever it is set.
func TestQuotaProcs(t *testing.T) {
	for _, c := range []struct {
		name  string
		files map[string]string
		want  int
		from  string
	}{
		{"nothing known", nil, 16, ""},
		{"no quota", map[string]string{"proc/self/cgroup": "0::/a\n", "sys/fs/cgroup/a/cpu.max": "max 100000\n"}, 16, ""},
		{"above the process's own", map[string]string{"proc/self/cgroup": "0::/a/b\n", "sys/fs/cgroup/a/cpu.max": "350000 100000\n",
			"sys/fs/cgroup/a/b/cpu.max": "max 100000\n"}, 4, "sys/fs/cgroup/a/cpu.max"},
		{"less than one", map[string]string{"sys/fs/cgroup/cpu.max": "50000 100000\n"}, 2, "sys/fs/cgroup/cpu.max"},
		{"more than there are", map[string]string{"sys/fs/cgroup/cpu.max": "9900000 100000\n"}, 16, ""},
		{"damaged", map[string]string{"sys/fs/cgroup/cpu.max": "300000 0\n"}, 16, ""},
		{"of the first kind", map[string]string{"proc/self/cgroup": "3:cpu,cpuacct:/a\n", "proc/self/mountinfo": "32 31 0:29 / /cg/cpu rw - cgroup cgroup rw,cpu,cpuacct\n",
			"cg/cpu/a/cpu.cfs_quota_us": "300000\n", "cg/cpu/a/cpu.cfs_period_us": "100000\n", "cg/cpu/cpu.cfs_quota_us": "-1\n"}, 3, "cg/cpu/a/cpu.cfs_quota_us"},
	} {
		root := t.TempDir()
		writeTree(t, root, c.files)
		if c.from != "" {
			c.from = filepath.Join(root, c.from)
		}
		if got, from := quotaProcs(root, 16); got != c.want || from != c.from {
			t.Errorf("%s: %d from %q, want %d from %q", c.name, got, from, c.want, c.from)
		}
	}
}

// TestFreeMemoryIsReturned: a process that takes more than its share gives back to the system what Go has free of it, as soon as statements or the memory
// outside tell of a change; one within its share leaves that to Go.
func TestFreeMemoryIsReturned(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(100))
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(-1))
	forced := func() uint32 { // collections by FreeOSMemory, as nobody else here asks for one
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.NumForcedGC
	}
	for _, c := range []struct {
		share   int64 // of what the process has, in percent
		returns bool
	}{{50, true}, {400, false}} {
		garbage := make([]byte, 128<<20)
		for i := 0; i < len(garbage); i += 4 << 10 {
			garbage[i] = 1
		}
		runtime.KeepAlive(garbage)
		garbage = nil
		runtime.GC()
		resident, free := processResident()
		if free < 100<<20 {
			t.Fatalf("%d of %d bytes are free after the collection", free, resident)
		}
		pool, stop := exec.NewMemPool(0), make(chan struct{})
		b := budget{total: resident * c.share / 100 * 10 / 9}
		var ended sync.WaitGroup
		before := forced()
		ended.Go(func() { b.tuneGC(pool, stop) })
		rounds := 0
		testkit.Await(t, "the share is looked at", func() bool {
			if err := pool.Ask(64<<20, nil, false); err != nil { // a change that tuneGC is told of
				t.Fatal(err)
			}
			if err := pool.Ask(-64<<20, nil, false); err != nil {
				t.Fatal(err)
			}
			rounds++
			return forced() > before || !c.returns && rounds > 100
		})
		close(stop)
		ended.Wait()
		if _, left := processResident(); c.returns && left > free/2 || !c.returns && forced() > before {
			t.Errorf("%d bytes for %d: %d were free, %d are, %d collections", b.heap(), resident, free, left, forced()-before)
		}
	}
}
