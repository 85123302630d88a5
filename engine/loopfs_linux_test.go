package engine_test

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/pandodb/pando/engine"
	"github.com/pandodb/pando/internal/testkit"
)

const (
	loopImageBytes = 96 << 20
	loopRounds     = 3
	loopRoundsSlow = 100
	loopWriters    = 8
	// ext4Shutdown is EXT4_IOC_SHUTDOWN; with loopNoLogFlush the file system stops as if the power had gone: what was not
	// synced, names included, is not written any more.
	ext4Shutdown   = 0x8004587d
	loopNoLogFlush = 2

	loopDirEnv = "PANDO_LOOP_DIR" // set in the child: the directory to write to
	loopLieEnv = "PANDO_LOOP_LIE" // set in the canary's child: do not sync the log
)

// TestLoopChild is not a test: it is the process that TestLoopPowerLoss starts and lets die. It writes keys and prints each
// number once the write is acknowledged.
func TestLoopChild(t *testing.T) {
	dir := os.Getenv(loopDirEnv)
	if dir == "" {
		t.Skip("only runs as the child of TestLoopPowerLoss")
	}
	fs := engine.OSFS()
	if os.Getenv(loopLieEnv) != "" {
		fs = &testkit.HookFS{FS: fs, OnSync: func(name string) (bool, error) { return testkit.IsWAL(name), nil }}
	}
	e := open(t, engine.Options{Dir: dir, FS: fs, MemTableBytes: 1 << 20, SpareLogBytes: 1 << 20, BallastBytes: engine.NoSpace, LowSpaceBytes: engine.NoSpace})
	first, err := strconv.Atoi(os.Getenv("PANDO_LOOP_FIRST"))
	if err != nil {
		t.Fatal(err)
	}
	var n atomic.Int64
	n.Store(int64(first))
	var mu sync.Mutex // one line at a time
	var wg sync.WaitGroup
	for range loopWriters {
		wg.Go(func() {
			value := make([]byte, 300)
			for {
				i := n.Add(1)
				b := e.NewBatch()
				b.Set(local("%012d", i), value)
				if e.Apply(b, true) != nil {
					return
				}
				b.Close()
				mu.Lock()
				_, _ = fmt.Fprintf(os.Stdout, "ack %d\n", i)
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	// The storage has failed, and whoever saw it first is about to end the process.
	time.Sleep(time.Minute)
}

// loopDisk is an ext4 file system in a file.
type loopDisk struct{ image, mount string }

// newLoopDisk makes and mounts one, or skips the test with the reason.
func newLoopDisk(t *testing.T) *loopDisk {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("needs root to mount a file system that can lose its power")
	}
	if testing.Short() {
		t.Skip("short")
	}
	dir := t.TempDir()
	d := &loopDisk{image: dir + "/image", mount: dir + "/mnt"}
	if err := errors.Join(os.WriteFile(d.image, nil, 0o600), os.Truncate(d.image, loopImageBytes), os.Mkdir(d.mount, 0o700)); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("mkfs.ext4", "-q", "-F", d.image).CombinedOutput(); err != nil {
		t.Skipf("cannot make an ext4 image: %v %s", err, out)
	}
	if err := d.attach(); err != nil {
		t.Skipf("cannot mount a loop device: %v", err)
	}
	t.Cleanup(func() { _ = d.detach() })
	return d
}

func (d *loopDisk) attach() error {
	if out, err := exec.Command("mount", "-o", "loop", d.image, d.mount).CombinedOutput(); err != nil {
		return fmt.Errorf("mount: %w: %s", err, out)
	}
	return nil
}

func (d *loopDisk) detach() error { return testkit.Unmount(d.mount) }

// powerOff stops the file system without writing anything any more.
func (d *loopDisk) powerOff() error {
	f, err := os.Open(d.mount)
	if err != nil {
		return err
	}
	err = unix.IoctlSetPointerInt(int(f.Fd()), ext4Shutdown, loopNoLogFlush)
	return errors.Join(err, f.Close())
}

// crash runs the child for a while, cuts the power, waits for the child's end, and returns what it acknowledged before the cut.
// An acknowledgement that is read later does not count: ext4 may answer an fdatasync with success just after the shutdown has
// aborted the journal's commit (Linux 6.18; a loop of append and fdatasync shows it once in 60 cuts), and nobody would hear it
// if the power had really gone.
func (d *loopDisk) crash(t *testing.T, first int64, lie bool, after time.Duration) (acked []int64) {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run", "^TestLoopChild$")
	cmd.Env = append(os.Environ(), loopDirEnv+"="+filepath.Join(d.mount, "data"), fmt.Sprintf("PANDO_LOOP_FIRST=%d", first))
	if lie {
		cmd.Env = append(cmd.Env, loopLieEnv+"=1")
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	var complaint bytes.Buffer
	cmd.Stderr = &complaint
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	started := make(chan struct{})
	done := make(chan struct{})
	var cut atomic.Bool
	go func() {
		defer close(done)
		for lines := bufio.NewScanner(out); lines.Scan(); {
			text, ok := strings.CutPrefix(lines.Text(), "ack ")
			n, err := strconv.ParseInt(text, 10, 64)
			if !ok || err != nil || cut.Load() {
				continue
			}
			if len(acked) == 0 {
				close(started)
			}
			acked = append(acked, n)
		}
	}()
	select {
	case <-started:
	case <-done:
	}
	time.Sleep(after)
	cut.Store(true)
	if err := d.powerOff(); err != nil {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		t.Skipf("cannot cut the power: %v", err)
	}
	if lie {
		// It may not notice: nothing it does reaches the disk in time.
		_ = cmd.Process.Kill()
	}
	<-done
	err = cmd.Wait()
	if !lie && cmd.ProcessState.ExitCode() != engine.ExitStorageFailure {
		t.Errorf("the child ended with %v, want exit status %d:\n%s", err, engine.ExitStorageFailure, complaint.String())
	}
	return acked
}

// missing restarts the file system and the engine and returns which acknowledged writes are gone.
func (d *loopDisk) missing(t *testing.T, acked []int64) (lost []int64) {
	t.Helper()
	if err := errors.Join(d.detach(), d.attach()); err != nil {
		t.Fatal(err)
	}
	e, err := engine.Open(engine.Options{Dir: d.mount + "/data", BallastBytes: engine.NoSpace, LowSpaceBytes: engine.NoSpace})
	if err != nil {
		t.Logf("reopen: %v", err)
		return acked
	}
	for _, n := range acked {
		if get(t, e, local("%012d", n)) == "<none>" {
			lost = append(lost, n)
		}
	}
	if err := e.Close(); err != nil {
		t.Error(err)
	}
	return lost
}

// TestLoopPowerLoss is the power loss test with nothing of ours below the engine: a real file system, a real kernel, a process
// that dies. Rounds go on where the last one ended.
func TestLoopPowerLoss(t *testing.T) {
	d := newLoopDisk(t)
	rng := testkit.Rand(testkit.Seed(t), 0)
	rounds := loopRounds
	if testkit.SlowTests() {
		rounds = loopRoundsSlow
	}
	var all []int64
	var first int64
	for round := range rounds {
		acked := d.crash(t, first, false, time.Duration(20+rng.IntN(200))*time.Millisecond)
		if len(acked) == 0 {
			t.Fatal("nothing was acknowledged")
		}
		all = append(all, acked...)
		if lost := d.missing(t, all); len(lost) > 0 {
			t.Fatalf("round %d: %d of %d acknowledged writes are lost, the first is %d", round, len(lost), len(all), lost[0])
		}
		for _, n := range acked {
			first = max(first, n+loopWriters)
		}
	}
	t.Logf("%d acknowledged writes survived %d power losses", len(all), rounds)
}

// TestLoopPowerLossCanary proves that the ioctl does lose what was not synced.
func TestLoopPowerLossCanary(t *testing.T) {
	d := newLoopDisk(t)
	acked := d.crash(t, 0, true, 50*time.Millisecond)
	lost := d.missing(t, acked)
	if len(lost) == 0 {
		t.Errorf("all of %d unsynced writes survived: the power loss test is blind", len(acked))
	}
	t.Logf("%d of %d unsynced writes are lost", len(lost), len(acked))
}

// TestLoopDiskFull fills a real disk under the watermark's eye: DiskFull is raised before Pebble meets ENOSPC, reads go on,
// and writes are accepted again once space is freed.
func TestLoopDiskFull(t *testing.T) {
	d := newLoopDisk(t)
	e := open(t, engine.Options{
		Dir: d.mount + "/data", MemTableBytes: 1 << 20, LowSpaceBytes: 16 << 20, BallastBytes: 4 << 20,
		Fatal: func(reason string) { t.Errorf("fatal: %s", reason) },
	})
	filler := d.mount + "/filler"
	if err := os.WriteFile(filler, make([]byte, 40<<20), 0o600); err != nil {
		t.Fatal(err)
	}
	rng := testkit.Rand(testkit.Seed(t), 0)
	value := make([]byte, 4096)
	n := 0
	for ; !e.DiskFull() && n < 100_000; n++ {
		for i := range value {
			value[i] = byte(rng.Uint32())
		}
		put(t, e, local("%06d", n), string(value), n%50 == 0)
		if n%50 == 0 {
			e.PollDisk()
		}
	}
	if !e.DiskFull() {
		t.Fatal("the disk never filled")
	}
	if len(get(t, e, local("%06d", 0))) != len(value) || len(get(t, e, local("%06d", n-1))) != len(value) {
		t.Error("reads fail on a full disk")
	}
	if err := os.Remove(filler); err != nil {
		t.Fatal(err)
	}
	deadline := time.Now().Add(2 * time.Minute)
	for e.PollDisk(); e.DiskFull() && time.Now().Before(deadline); e.PollDisk() {
		time.Sleep(10 * time.Millisecond)
	}
	if e.DiskFull() {
		t.Error("writes stay refused though space was freed")
	}
	put(t, e, local("after"), "x", true)
	if err := e.Close(); err != nil {
		t.Error(err)
	}
}
