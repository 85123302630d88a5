package tests

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"github.com/pandodb/pando/internal/testkit"
)

const (
	powerCycles     = 3
	powerWriters    = 8
	powerImageBytes = 2 << 30 // sparse, with room for spare logs
	// ext4Shutdown is EXT4_IOC_SHUTDOWN; with ext4NoLogFlush the file system stops at once and writes nothing more, as when the power goes.
	ext4Shutdown   = 0x8004587d
	ext4NoLogFlush = 2
)

// loopDisk is an ext4 file system in a file of its own.
type loopDisk struct {
	t            testing.TB
	image, mount string
}

// newLoopDisk makes one, or skips where this user or this kernel can't.
func newLoopDisk(t testing.TB) *loopDisk {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("mounting a file system needs root")
	}
	dir := t.TempDir()
	d := &loopDisk{t: t, image: filepath.Join(dir, "image"), mount: filepath.Join(dir, "mount")}
	if err := os.Mkdir(d.mount, 0o700); err != nil {
		t.Fatal(err)
	}
	image, err := os.Create(d.image)
	if err != nil {
		t.Fatal(err)
	}
	if err := image.Truncate(powerImageBytes); err != nil {
		t.Fatal(err)
	}
	image.Close()
	if out, err := exec.Command("mkfs.ext4", "-q", "-F", d.image).CombinedOutput(); err != nil {
		t.Skipf("mkfs.ext4: %v %s", err, out)
	}
	if out, err := exec.Command("mount", "-o", "loop", d.image, d.mount).CombinedOutput(); err != nil {
		t.Skipf("no loop mounts here: %v %s", err, out)
	}
	t.Cleanup(func() { _ = exec.Command("umount", "-l", d.mount).Run() }) // it may be unmounted already
	return d
}

// cut takes the power away: what the file system was not made to sync is gone.
func (d *loopDisk) cut() {
	d.t.Helper()
	dir, err := os.Open(d.mount)
	if err != nil {
		d.t.Fatal(err)
	}
	defer dir.Close()
	flag := uint32(ext4NoLogFlush)
	if _, _, errno := syscall.Syscall(syscall.SYS_IOCTL, dir.Fd(), ext4Shutdown, uintptr(unsafe.Pointer(&flag))); errno != 0 {
		d.t.Skipf("this kernel does not shut ext4 down: %v", errno)
	}
}

// restore mounts the disk again, as after the power has come back.
func (d *loopDisk) restore() {
	d.t.Helper()
	if err := testkit.Unmount(d.mount); err != nil {
		d.t.Fatal(err)
	}
	if out, err := exec.Command("mount", "-o", "loop", d.image, d.mount).CombinedOutput(); err != nil {
		d.t.Fatalf("mount: %v %s", err, out)
	}
}

// insertUntil inserts rows one by one until the power is cut, and returns the ids that were acknowledged before. Later
// acknowledgements do not count: ext4 may answer an fdatasync with success just after the shutdown has aborted the journal's
// commit (see engine's test of the same kind), and nobody would hear them if the power had really gone.
func insertUntil(n *node, writer, cycle int, cut *atomic.Bool, count *atomic.Int64) (acked []int64) {
	db := n.open("power")
	for i := int64(0); ; i++ {
		id := int64(cycle)<<40 | int64(writer)<<32 | i
		_, err := db.Exec("INSERT INTO t VALUES (?, ?)", id, strings.Repeat("x", 100))
		if err != nil || cut.Load() {
			return acked
		}
		acked = append(acked, id)
		count.Add(1)
	}
}

// powerLoss runs cycles of writing, cutting the power and starting again, and returns how many acknowledged rows were lost.
func powerLoss(t *testing.T, cycles int, flags ...string) (acked, lost int) {
	t.Helper()
	disk := newLoopDisk(t)
	n := startNode(t, disk.mount, flags...)
	mustExec(t, n.open(""), "CREATE DATABASE power", "CREATE TABLE power.t (id BIGINT PRIMARY KEY, c VARCHAR(200), KEY (c(10)))")
	if len(flags) > 0 {
		// The canary is to lose rows, not the table: a stop syncs, whatever the flags.
		n.stop()
		n.start()
	}
	var all []int64
	for cycle := range cycles {
		var mu sync.Mutex // guards all
		var writers sync.WaitGroup
		var cut atomic.Bool
		var count atomic.Int64
		for w := range powerWriters {
			writers.Go(func() {
				ids := insertUntil(n, w, cycle, &cut, &count)
				mu.Lock()
				defer mu.Unlock()
				all = append(all, ids...)
			})
		}
		time.Sleep(time.Duration(300+100*cycle) * time.Millisecond)
		waitFor(t, "rows are acknowledged", func() bool { return count.Load() > 0 })
		cut.Store(true)
		disk.cut()
		n.kill()
		writers.Wait()
		disk.restore()
		n.start()
	}
	db := n.open("power")
	present := map[int64]bool{}
	rows, err := db.Query("SELECT id FROM t")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var id int64
		if err := rows.Scan(&id); err != nil {
			t.Fatal(err)
		}
		present[id] = true
	}
	for _, id := range all {
		if !present[id] {
			lost++
		}
	}
	if text := fmt.Sprint(queryInt(t, db, "SELECT COUNT(*) FROM t")); text != fmt.Sprint(len(present)) {
		t.Errorf("COUNT(*) is %s, rows are %d", text, len(present))
	}
	n.kill() // before the disk goes
	return len(all), lost
}

// TestPowerLoss cuts the power of a real disk under a real server: every acknowledged row must be there afterwards.
func TestPowerLoss(t *testing.T) {
	acked, lost := powerLoss(t, powerCycles)
	t.Logf("%d acknowledged rows, %d lost", acked, lost)
	if lost > 0 || acked == 0 {
		t.Errorf("%d of %d acknowledged rows are gone", lost, acked)
	}
}

// TestPowerLossCanary proves that the test can fail: a server that is told not to sync loses rows.
func TestPowerLossCanary(t *testing.T) {
	acked, lost := powerLoss(t, 1, "--sync-log=false")
	t.Logf("%d acknowledged rows, %d lost", acked, lost)
	if lost == 0 {
		t.Error("a server that does not sync lost nothing, so the test shows little")
	}
}
