package server

import (
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
)

const (
	memoryUnknown = 2 << 30 // assumed where the system doesn't tell
	memTableMax   = 64 << 20
	memTableMin   = 4 << 20
	cacheShare    = 4 // the cache takes a quarter unless told otherwise
	// gcPercent trades memory for time: the heap is small beside the cache, and the memory limit takes over before it is not.
	gcPercent = 200
)

// budget divides the node's memory.
type budget struct {
	total, cache, memTable int64
	procs                  int
}

func newBudget(o *Options) budget {
	b := budget{total: o.MemoryBytes, cache: o.CacheBytes, procs: o.MaxProcs}
	if b.total == 0 {
		b.total = machineMemory()
	}
	if b.cache == 0 {
		b.cache = max(b.total/cacheShare, cacheBytesMin)
	}
	b.memTable = min(max(b.total/64, memTableMin), memTableMax)
	if b.procs == 0 {
		b.procs = runtime.GOMAXPROCS(0)
	}
	return b
}

// apply sets the process's targets. Blocks are on the Go heap, so the limit covers the cache too.
func (b *budget) apply() {
	runtime.GOMAXPROCS(b.procs)
	debug.SetGCPercent(gcPercent)
	debug.SetMemoryLimit(b.total / 10 * 9)
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
