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
	memoryUnknown = 2 << 30 // assumed where the system doesn't tell
	memTableMax   = 64 << 20
	memTableMin   = 4 << 20
	cacheShare    = 4 // the cache takes a quarter unless told otherwise
	// memTableShare: memtables take the place of blocks in the cache, so one, and another that is being flushed, must leave half of it.
	memTableShare = 4
	// gcHeadroom is how much garbage may gather before a collection, but gcPercentMin to gcPercentMax of what is alive on the heap. It is
	// gcHeadroomFull once as much is alive, there and outside, as the cache may hold: a process is to take 1.4 times a cache of 1 GiB.
	// The difference is 3 % of the processor time of a point select. What a process takes besides does not grow with the cache, so one
	// part in gcHeadroomShare of what that has beyond 1 GiB is added: in builds whose blocks are on the heap a lookup that misses the
	// cache leaves one behind, and with 4 GiB collections took a twelfth of the processor time
	// (docs/design/measured/hundredfold.md). A smaller cache leaves less, in proportion, but gcHeadroomMin.
	gcHeadroom      = 256 << 20
	gcHeadroomFull  = 192 << 20
	gcHeadroomShare = 4
	gcHeadroomMin   = 32 << 20
	gcPercentMin    = 15
	gcPercentMax    = 200
	// What statements hold comes out of the headroom: large ones leave garbage of their own size behind whenever something that they hold grows,
	// and the process is to stay within its cache, their quota and a quarter of a GiB. gcPercentBusy takes the place of gcPercentMin then.
	gcPercentBusy  = 5
	gcTuneEvery    = time.Second
	pollReadsEvery = time.Second
	// limitStep: the heap's limit follows what is outside by this share of it, since each change stops the world.
	limitStep = 32
	// processShare is what the process is to take at most, in tenths of the cache.
	processShare = 14
	// hugeShare: one part in so many of the cache is marked for huge pages beyond its size, for garbage and what else there is.
	hugeShare = 4
	// statementShare: statements may hold one part in so many of what the heap has besides the cache and the memtables. Garbage
	// takes the rest, as do connections, and what statements hold that nobody counts.
	statementShare = 2
	// spareShare: statements are given no more once the process has left but one part in so many of what there is besides the cache. That is for what they
	// make before they count it.
	spareShare = 4
	// sortShare: what sorts the entries of new indexes takes one part in so many of what statements may hold, at most sortBytesMax.
	sortShare    = 4
	sortBytesMax = 1 << 30
	// statementBytesMin is what they may hold in a small process.
	statementBytesMin = 64 << 20
)

// budget divides the node's memory.
type budget struct {
	machine, total, cache, memTable int64
	procs                           int
	memoryFrom, procsFrom           string // the files that told the limits, for the log
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

// cacheMax is the largest cache of a process with so much memory: the rest is for what is no cache, and for garbage.
func cacheMax(total int64) int64 { return total / 4 * 3 }

// pageCache is what the system's page cache may take for the tables, at least something: all that the process does not once its cache
// is full, nor others do now.
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

// statements is what all statements together may hold, see exec.MemPool.
func (b *budget) statements() int64 {
	return max((b.heap()-b.cache-engine.MemTableCountMax*b.memTable)/statementShare, statementBytesMin)
}

// sorters is what of it engine.SortMemory may be.
func (b *budget) sorters() int64 { return min(b.statements()/sortShare, sortBytesMax) }

// heap is what the Go heap and what is outside of it aim to stay below.
func (b *budget) heap() int64 { return b.total / 10 * 9 }

// heapLimit is what the Go heap aims to stay below with so much outside of it: what is left, but one part in limitStep of the
// whole at least, lest the collector never rests.
func (b *budget) heapLimit(outside int64) int64 { return max(b.heap()-outside, b.heap()/limitStep) }

// gcPercent is the garbage collector's target for so many bytes alive on the heap and outside of it, of which statements hold some. A fixed one
// would be too small for an idle server or would let a full cache take three times its size.
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

// process is what exec.MemPool asks about this process.
func (b *budget) process() *exec.Process {
	return &exec.Process{Ceiling: b.heap() - max(b.heap()-b.cache, 0)/spareShare, InUse: processInUse, Collect: runtime.GC}
}

// processInUse is what Go has of the system's memory and neither has given back nor could use at once, and what is outside of its heap.
func processInUse() int64 {
	sample := []metrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}, {Name: "/memory/classes/heap/free:bytes"}}
	metrics.Read(sample)
	return int64(sample[0].Value.Uint64()-sample[1].Value.Uint64()-sample[2].Value.Uint64()) + engine.OutsideBytes()
}

// tuneGC adapts the targets to what is alive until stop is closed: every second, and whenever what statements hold has changed by much, for
// within a second they can take hundreds of megabytes.
func (b *budget) tuneGC(statements *exec.MemPool, stop <-chan struct{}) {
	sample := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	ticker := clock.NewTicker(gcTuneEvery)
	defer ticker.Stop()
	limit := b.heap()
	for set := gcPercentMax; ; {
		select {
		case <-stop:
			return
		case <-ticker.C:
		case <-statements.Changes():
		}
		metrics.Read(sample)
		outside := engine.OutsideBytes()
		// Each change stops the world for some microseconds, so small ones are left.
		if want := b.heapLimit(outside); limitStep*max(want-limit, limit-want) > b.heap() {
			debug.SetMemoryLimit(want)
			limit = want
		}
		if want := b.gcPercent(sample[0].Value.Uint64(), uint64(outside), statements.Used()); want != set && (want == gcPercentMax || 10*max(want-set, set-want) > set) {
			debug.SetGCPercent(want)
			set = want
		}
	}
}

// pollReads has the engine compare its tables with the page cache, which others fill and empty as well, until the node stops.
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

// systemMemory is what the system says about its memory, in bytes, or one of the process's cgroups, where that has less.
type systemMemory struct {
	total     int64
	available int64  // what nobody uses, and what the page cache would give up
	free      int64  // what nobody uses
	known     bool   // the system has told at least the total
	source    string // the file that told the total
}

// readMemory asks the system of which root is the file tree. What that doesn't tell is memoryUnknown.
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

// MachineShare returns what the nodes on this machine, or in this cgroup, may take together: bytes of memory, and processors.
func MachineShare() (bytes int64, procs int) {
	procs, _ = quotaProcs(systemRoot, runtime.GOMAXPROCS(0))
	return readMemory(systemRoot).total, procs
}
