package server

import (
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"strconv"
	"strings"
	"time"

	"github.com/pandodb/pando/clock"
	"github.com/pandodb/pando/engine"
)

const (
	memoryUnknown = 2 << 30 // assumed where the system doesn't tell
	memTableMax   = 64 << 20
	memTableMin   = 4 << 20
	cacheShare    = 4 // the cache takes a quarter unless told otherwise
	// memTableShare: memtables take the place of blocks in the cache, so one, and another that is being flushed, must leave half of it.
	memTableShare = 4
	// gcHeadroom is how much garbage may gather before a collection, but gcPercentMin to gcPercentMax of what is alive. Blocks of
	// the cache are on the heap without pointers, so a collection costs little; what it leaves lying costs memory. It is
	// gcHeadroomFull once as much is alive as the cache may hold: a process is to take 1.4 times a cache of 1 GiB. The difference
	// is 3 % of the processor time of a point select.
	gcHeadroom     = 256 << 20
	gcHeadroomFull = 192 << 20
	gcPercentMin   = 15
	gcPercentMax   = 200
	gcTuneEvery    = time.Second
	// processShare is what the process is to take at most, in tenths of the cache.
	processShare = 14
	// hugeShare: one part in so many of the cache is marked for huge pages beyond its size, for garbage and what else there is.
	hugeShare = 4
)

// budget divides the node's memory.
type budget struct {
	machine, total, cache, memTable int64
	procs                           int
}

func newBudget(o *Options) budget {
	b := budget{machine: machineMemory(), total: o.MemoryBytes, cache: o.CacheBytes, procs: o.MaxProcs}
	if b.total == 0 {
		b.total = b.machine
	}
	if b.cache == 0 {
		b.cache = max(b.total/cacheShare, cacheBytesMin)
	}
	b.memTable = min(max(min(b.total/64, b.cache/memTableShare), memTableMin), memTableMax)
	if b.procs == 0 {
		b.procs = runtime.GOMAXPROCS(0)
	}
	return b
}

// pageCache is what the system's page cache may take for the tables: all that the process does not, and something.
func (b *budget) pageCache() int64 {
	return max(b.machine-b.cache/10*processShare-engine.MemTableCountMax*b.memTable, 1)
}

// apply sets the process's targets. Blocks are on the Go heap, so the limit covers the cache too.
func (b *budget) apply() {
	runtime.GOMAXPROCS(b.procs)
	debug.SetGCPercent(gcPercentMax)
	debug.SetMemoryLimit(b.heap())
}

// heap is what the Go heap aims to stay below.
func (b *budget) heap() int64 { return b.total / 10 * 9 }

// gcPercent is the garbage collector's target for so many live bytes. A fixed one would be too small for an idle server or would
// let a full cache take three times its size.
func (b *budget) gcPercent(live uint64) int {
	headroom := uint64(gcHeadroom)
	if live >= uint64(b.cache) {
		headroom = gcHeadroomFull
	}
	return int(min(max(100*headroom/max(live, 1), gcPercentMin), gcPercentMax))
}

// tuneGC adapts the target to the live heap until stop is closed.
func (b *budget) tuneGC(stop <-chan struct{}) {
	sample := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	ticker := clock.NewTicker(gcTuneEvery)
	defer ticker.Stop()
	for set := gcPercentMax; ; {
		select {
		case <-stop:
			return
		case <-ticker.C:
		}
		metrics.Read(sample)
		// Each change stops the world for some microseconds, so small ones are left.
		if want := b.gcPercent(sample[0].Value.Uint64()); want != set && (want == gcPercentMax || 10*max(want-set, set-want) > set) {
			debug.SetGCPercent(want)
			set = want
		}
	}
}

// machineMemory is the smaller of the machine's memory and the cgroup's limit.
func machineMemory() int64 {
	total := int64(memoryUnknown)
	if raw, err := os.ReadFile("/proc/meminfo"); err == nil {
		for _, line := range strings.Split(string(raw), "\n") {
			if fields := strings.Fields(line); len(fields) >= 2 && fields[0] == "MemTotal:" {
				if kib, err := strconv.ParseInt(fields[1], 10, 64); err == nil {
					total = kib << 10
				}
			}
		}
	}
	for _, path := range []string{"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"} {
		if raw, err := os.ReadFile(path); err == nil {
			if limit, err := strconv.ParseInt(strings.TrimSpace(string(raw)), 10, 64); err == nil && limit > 0 {
				total = min(total, limit)
			}
		}
	}
	return total
}
