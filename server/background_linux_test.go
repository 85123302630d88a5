package server

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/pandodb/pando/internal/testkit"
)

// mainNice is the nice value of the main thread after Begin has been called there.
var mainNice int

// init leaves the main thread to TestMain: a goroutine that comes to run there by chance would keep its priority.
func init() { runtime.LockOSThread() }

func TestMain(m *testing.M) {
	newBackground(1).Begin(false)
	mainNice = threadNice()
	os.Exit(m.Run())
}

// threadNice returns the nice value of the calling thread; the system call has it from 40 to 1.
func threadNice() int {
	p, err := unix.Getpriority(unix.PRIO_PROCESS, unix.Gettid())
	if err != nil {
		panic(err)
	}
	return 20 - p
}

// niceThreads counts this process's threads of low priority.
func niceThreads(t *testing.T) (n int) {
	t.Helper()
	stats, err := filepath.Glob("/proc/self/task/*/stat")
	if err != nil || len(stats) == 0 {
		t.Fatalf("no threads: %v", err)
	}
	for _, path := range stats {
		raw, err := os.ReadFile(path)
		if err != nil {
			continue // it has ended
		}
		// The name may hold spaces; the fields after it are numbered from 3, and 19 is the nice value.
		if _, rest, ok := strings.Cut(string(raw), ") "); ok && strings.Fields(rest)[19-3] == "10" {
			n++
		}
	}
	return n
}

// TestBackground: work in the background runs on threads of low priority that end with it, and each has a processor of its own;
// urgent work keeps its priority.
func TestBackground(t *testing.T) {
	if mainNice != 0 {
		t.Errorf("the main thread, which can't end, has nice %d", mainNice)
	}
	procs := runtime.GOMAXPROCS(0)
	b := newBackground(procs)
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() { defer close(stopped); b.loop(stop) }()

	work := func(urgent bool, nice chan<- int, release <-chan struct{}) {
		b.Begin(urgent)
		nice <- threadNice()
		<-release
		b.End()
	}
	nice, release := make(chan int), make(chan struct{})
	go work(false, nice, release)
	if n := <-nice; n != backgroundNice {
		t.Errorf("a compaction has nice %d, want %d", n, backgroundNice)
	}
	go work(true, nice, release)
	if n := <-nice; n != 0 {
		t.Errorf("an urgent compaction has nice %d", n)
	}
	testkit.Await(t, "a processor for each", func() bool { return runtime.GOMAXPROCS(0) == procs+min(2, procs) })
	if n := niceThreads(t); n != 1 {
		t.Errorf("%d threads of low priority, want 1", n)
	}
	close(release)
	testkit.Await(t, "the processors are taken back", func() bool { return runtime.GOMAXPROCS(0) == procs })
	testkit.Await(t, "the thread of low priority ends", func() bool { return niceThreads(t) == 0 })

	// What begins after the node has stopped, as the last flush does, changes nothing.
	close(stop)
	<-stopped
	b.Begin(true)
	b.End()
	if n := runtime.GOMAXPROCS(0); n != procs {
		t.Errorf("%d processors are left, want %d", n, procs)
	}
}
