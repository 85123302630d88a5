package server

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"strconv"
	"strings"
	"time"

	"github.com/pandodb/pando/clock"
	"github.com/pandodb/pando/engine"
	"github.com/pandodb/pando/exec"
)

const (
	systemRoot    = "/"
	memoryUnknown = 2 << 30 // assumed if the system's memory cannot be read
	memTableMax   = 64 << 20
	memTableMin   = 4 << 20
	cacheShare    = 4 // the cache's default is 1/cacheShare of the memory
	// memTableShare: the memory of memtables is taken from the cache, so the active one and one that is being flushed must leave half of it.
	memTableShare = 4
	// gcHeadroom is how much garbage may accumulate before a collection, within gcPercentMin to gcPercentMax of the live heap. It is
	// gcHeadroomFull once live data, on the heap and outside, reach the size of the cache: a process is to take at most 1.4 times a cache of
	// 1 GiB. The difference costs 3 % of the processor time of a point select. The process's other memory does not grow with the cache, so
	// 1/gcHeadroomShare of the cache beyond 1 GiB is added: in builds whose blocks are on the heap each cache miss leaves a dead block, and
	// with 4 GiB collections took a twelfth of the processor time (docs/design/measured/hundredfold.md). A cache below 1 GiB has
	// proportionally less, but at least gcHeadroomMin.
	gcHeadroom      = 256 << 20
	gcHeadroomFull  = 192 << 20
	gcHeadroomShare = 4
	gcHeadroomMin   = 32 << 20
	gcPercentMin    = 15
	gcPercentMax    = 200
	// The memory of statements is subtracted from the headroom: when a large structure of a statement grows, its old copy is garbage of the
	// same size, and the process is to stay within its cache, the statements' quota and 256 MiB. gcPercentBusy replaces gcPercentMin then.
	gcPercentBusy  = 5
	gcTuneEvery    = time.Second
	releaseEvery   = 100 * time.Millisecond // the least time between two forced returns of free memory to the system
	pollReadsEvery = time.Second
	// limitStep: the heap's limit is changed in steps of at least 1/limitStep of the budget, since each change stops the world.
	limitStep = 32
	// processShare is the most that the process is to take, in tenths of the cache.
	processShare = 14
	// hugeShare: memory for huge pages is the cache and 1/hugeShare of it, for garbage and other data.
	hugeShare = 4
	// statementShare: statements may hold 1/statementShare of the heap without the cache and the memtables. The rest is for garbage,
	// connections, and memory of statements that is not accounted for.
	statementShare = 2
	// Statements get no more memory when the process has only 1/spareShare left of the heap without the cache. This reserve is for what
	// they allocate before they account for it, and for what the storage engine does with what they have written: a flush and a compaction of
	// texts of 20 MB hold ten of them for a while. It is at least spareMin, but in a small process no more than 1/spareShareMax.
	spareShare, spareShareMax = 4, 2
	spareMin                  = 256 << 20
	// scarceShare: sessions keep no buffers for their next statement once live data take the cache and 1/scarceShare of the rest.
	scarceShare = 4
	// sortShare: the sorters of new indexes may take 1/sortShare of the statements' memory, at most sortBytesMax.
	sortShare    = 4
	sortBytesMax = 1 << 30
	// statementBytesMin is the least memory for statements, in a small process.
	statementBytesMin = 64 << 20
)

// budget divides the node's memory.
type budget struct {
	machine, total, cache, memTable int64
	procs                           int
	memoryFrom, procsFrom           string // where the limits come from, a file or a setting, for the log
}

func newBudget(o *Options, now systemMemory) (budget, error) {
	b := budget{machine: now.total, total: o.MemoryBytes, cache: o.CacheBytes, procs: o.MaxProcs, memoryFrom: now.source}
	if b.total == 0 || now.known {
		b.total = min(b.machine, cmp.Or(b.total, b.machine))
	}
	if b.total < b.machine || !now.known && o.MemoryBytes != 0 {
		b.memoryFrom = "memory-limit"
	}
	if now.known && b.cache > cacheMax(b.total) {
		return b, fmt.Errorf("cache-size: %d is above %d, three quarters of the memory", b.cache, cacheMax(b.total))
	}
	if b.cache == 0 {
		b.cache = max(b.total/cacheShare, cacheBytesMin)
	}
	b.memTable = min(max(min(b.total/64, b.cache/memTableShare), memTableMin), memTableMax)
	if b.procs == 0 {
		b.procs, b.procsFrom = quotaProcs(systemRoot, runtime.GOMAXPROCS(0))
	}
	return b, nil
}

// cacheMax is the largest permitted cache for a budget: the rest is for other data and for garbage.
func cacheMax(total int64) int64 { return total / 4 * 3 }

// pageCache is how much of the tables the system's page cache may hold, at least 1: the memory that neither this process with a full cache
// nor, at present, others take.
func (b *budget) pageCache(now systemMemory) int64 {
	return max(min(b.machine-b.cache/10*processShare-engine.MemTableCountMax*b.memTable, now.available), 1)
}

// pageCacheNow implements engine.Options.PageCache.
func (b *budget) pageCacheNow() (room, free int64) {
	now := readMemory(systemRoot)
	return b.pageCache(now), now.free
}

// apply sets the process's targets.
func (b *budget) apply() {
	runtime.GOMAXPROCS(b.procs)
	debug.SetGCPercent(gcPercentMax)
	debug.SetMemoryLimit(b.heap())
}

// statements is the memory that all statements together may hold, see exec.MemPool.
func (b *budget) statements() int64 {
	return max((b.heap()-b.cache-engine.MemTableCountMax*b.memTable)/statementShare, statementBytesMin)
}

// sorters is how much of the statements' memory engine.SortMemory may be.
func (b *budget) sorters() int64 { return min(b.statements()/sortShare, sortBytesMax) }

// heap is the limit of the Go heap and the memory outside of it together.
func (b *budget) heap() int64 { return b.total / 10 * 9 }

// heapLimit is the limit of the Go heap with so many bytes outside of it: the rest of heap, but at least 1/limitStep of it, or
// the garbage collector would run all the time. If the cache is outside its whole size is left to it: ten clients fill it with blocks of 20 MB within a
// tenth of a second, and by then the heap cannot be made smaller.
func (b *budget) heapLimit(outside int64) int64 {
	if outside > 0 {
		outside = max(outside, b.cache)
	}
	return max(b.heap()-outside, b.heap()/limitStep)
}

// gcPercent is the value for debug.SetGCPercent with so many live bytes on the heap and outside of it, of which statements hold some. A fixed
// value would be too small for an idle server, or would let a full cache take three times its size.
func (b *budget) gcPercent(live, outside uint64, statements int64) int {
	headroom := int64(gcHeadroom)
	if live+outside >= uint64(b.cache) {
		headroom = gcHeadroomFull
	}
	if b.cache < 1<<30 {
		headroom = max(headroom*b.cache>>30, gcHeadroomMin)
	} else {
		headroom += (b.cache - 1<<30) / gcHeadroomShare
	}
	least := uint64(gcPercentMin)
	if statements >= gcHeadroomMin {
		headroom, least = max(headroom-statements, gcHeadroomMin), gcPercentBusy
	}
	return int(min(max(100*uint64(headroom)/max(live, 1), least), gcPercentMax))
}

// scarce reports whether so many live bytes leave too little for the buffers of idle sessions.
func (b *budget) scarce(live int64) bool { return live > b.cache+max(b.heap()-b.cache, 0)/scarceShare }

// spare is the memory that is left to what statements have not accounted for.
func (b *budget) spare() int64 {
	beside := max(b.heap()-b.cache, 0)
	return max(beside/spareShare, min(beside/spareShareMax, spareMin))
}

// process returns what exec.MemPool needs to know about this process, whose storage engine tells when it settles.
func (b *budget) process(settling func() <-chan struct{}) *exec.Process {
	return &exec.Process{Ceiling: b.heap() - b.spare(), Limit: b.heap(), InUse: processInUse, Collect: runtime.GC, Settling: settling}
}

// processInUse is the memory in use by Go, without what it has released to the system or has free, and the memory outside of the Go heap.
func processInUse() int64 {
	resident, free := processResident()
	return resident - free
}

// processResident is the memory that the process has from the system, and how much of it Go has free.
func processResident() (resident, free int64) {
	sample := []metrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}, {Name: "/memory/classes/heap/free:bytes"}}
	metrics.Read(sample)
	return int64(sample[0].Value.Uint64()-sample[1].Value.Uint64()) + engine.OutsideBytes(), int64(sample[2].Value.Uint64())
}

// tuneGC adapts the garbage collector's targets to the live memory until stop is closed: every second, and whenever the memory of
// statements, or that outside of the heap, has changed by much, as within a second they can take hundreds of megabytes. If the process has more than
// its share nevertheless, because memory outside has grown while Go had some free, what is free is returned to the system: Go itself does so without
// haste, or when it needs other memory.
func (b *budget) tuneGC(statements *exec.MemPool, stop <-chan struct{}) {
	sample := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	ticker := clock.NewTicker(gcTuneEvery)
	defer ticker.Stop()
	limit, released := b.heap(), clock.Mono()
	for set := gcPercentMax; ; {
		select {
		case <-stop:
			return
		case <-ticker.C:
		case <-statements.Changes():
		case <-engine.OutsideChanges():
		}
		metrics.Read(sample)
		outside := engine.OutsideBytes()
		statements.SetScarce(b.scarce(int64(sample[0].Value.Uint64()) + outside))
		// Each change stops the world for some microseconds, so small ones are skipped.
		if want := b.heapLimit(outside); limitStep*max(want-limit, limit-want) > b.heap() {
			debug.SetMemoryLimit(want)
			limit = want
		}
		if want := b.gcPercent(sample[0].Value.Uint64(), uint64(outside), statements.Used()); want != set && (want == gcPercentMax || 10*max(want-set, set-want) > set) {
			debug.SetGCPercent(want)
			set = want
		}
		if resident, free := processResident(); resident > b.heap() && free > b.heap()/limitStep && clock.Since(released) > releaseEvery {
			debug.FreeOSMemory()
			released = clock.Mono()
		}
	}
}

// pollReads lets the engine check regularly how much of its tables is in the page cache, which other processes change too, until the node stops.
func (n *Node) pollReads() {
	ticker := clock.NewTicker(pollReadsEvery)
	defer ticker.Stop()
	for {
		select {
		case <-n.stop:
			return
		case <-ticker.C:
			n.engine.PollReads()
		}
	}
}

// systemMemory is the machine's memory in bytes, or that of one of the process's cgroups if it is less.
type systemMemory struct {
	total     int64
	available int64  // free memory and reclaimable page cache
	free      int64  // unused memory
	known     bool   // at least total was read, not assumed
	source    string // the file with total
}

// readMemory reads the memory of the system whose file tree is at root. Values that cannot be read are memoryUnknown.
func readMemory(root string) systemMemory {
	meminfo := filepath.Join(root, "proc/meminfo")
	fields, _ := readCounts(meminfo)
	m := systemMemory{total: memoryUnknown, available: memoryUnknown, free: memoryUnknown}
	if total, ok := fields["MemTotal:"]; ok {
		m = systemMemory{total << 10, fields["MemAvailable:"] << 10, fields["MemFree:"] << 10, true, meminfo}
	}
	m.limitMemory(root)
	return m
}

// readCount reads a file of one number.
func readCount(path string) (int64, error) {
	raw, err := os.ReadFile(path)
	if err != nil {
		return 0, err
	}
	return strconv.ParseInt(strings.TrimSpace(string(raw)), 10, 64)
}

// readCounts reads a file whose lines begin with a name and a number.
func readCounts(path string) (map[string]int64, error) {
	raw, err := os.ReadFile(path)
	counts := make(map[string]int64)
	for line := range strings.Lines(string(raw)) {
		if fields := strings.Fields(line); len(fields) >= 2 {
			if n, err := strconv.ParseInt(fields[1], 10, 64); err == nil {
				counts[fields[0]] = n
			}
		}
	}
	return counts, err
}

// MachineShare returns the memory, in bytes, and the number of processors that the nodes on this machine, or in this cgroup, may take together.
func MachineShare() (bytes int64, procs int) {
	procs, _ = quotaProcs(systemRoot, runtime.GOMAXPROCS(0))
	return readMemory(systemRoot).total, procs
}
