package tests

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/pandodb/pando/tests/badfs"
)

// badDir is an empty directory for a node on a file system that misbehaves on command.
func badDir(t testing.TB) (dir string, disk *badfs.FS) {
	t.Helper()
	return badDirAt(t, t.TempDir())
}

// badDirAt is badDir with the files below a directory.
func badDirAt(t testing.TB, where string) (dir string, disk *badfs.FS) {
	t.Helper()
	for _, name := range []string{"behind", "disk"} {
		if err := os.Mkdir(filepath.Join(where, name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	disk = badfs.Mount(t, filepath.Join(where, "behind"), filepath.Join(where, "disk"))
	dir = filepath.Join(disk.Dir, "node")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	return dir, disk
}

// ended reports whether the process has ended by itself.
func (n *node) ended() bool {
	select {
	case <-n.logDrained:
		return true
	default:
		return false
	}
}

// faultOf says what is missing in the log of a node that has ended because of its disk: the sentence, the file and the error.
func (n *node) faultOf(file string) string {
	for line := range strings.Lines(n.logText()) {
		if strings.Contains(line, "storage has failed") && strings.Contains(line, file) && strings.Contains(line, syscall.EIO.Error()) {
			return ""
		}
	}
	return fmt.Sprintf("no line says that the storage has failed, with %s and %q:\n%s", file, syscall.EIO, lastPart(n.logText()))
}

// TestBadLogOfOne: one write or one sync of the log fails, and the next would not. The node acknowledges nothing more and ends with a sentence, since nobody
// knows what of the log the disk has; what it had acknowledged is there when it is started again.
func TestBadLogOfOne(t *testing.T) {
	for _, op := range []badfs.Op{badfs.Sync, badfs.Write} {
		t.Run(string(op), func(t *testing.T) {
			dir, disk := badDir(t)
			n := startNode(t, dir)
			mustExec(t, n.open(""), "CREATE DATABASE d", "CREATE TABLE d.t (id INT PRIMARY KEY)")
			disk.Set(badfs.Rule{Files: "*.wal", Ops: []badfs.Op{op}, Errno: syscall.EIO, After: 20, Times: 1})
			var mu sync.Mutex
			var acked []int
			var clients sync.WaitGroup
			for k := range 4 {
				db := n.open("d")
				clients.Go(func() {
					for id := k; ; id += 4 {
						if _, err := db.Exec("INSERT INTO t VALUES (?)", id); err != nil {
							return
						}
						mu.Lock()
						acked = append(acked, id)
						mu.Unlock()
					}
				})
			}
			clients.Wait()
			<-n.logDrained
			n.kill() // it has ended; or it never does, and the test neither
			if fault := n.faultOf(".wal: "); fault != "" {
				t.Error(fault)
			}
			if hits := disk.Hits(); hits[0] != 1 {
				t.Errorf("%d operations failed", hits[0])
			}
			disk.Set()
			n.start()
			db := n.open("d")
			for _, id := range acked {
				if queryInt(t, db, "SELECT COUNT(*) FROM t WHERE id = ?", id) != 1 {
					t.Errorf("row %d of %d acknowledged is lost", id, len(acked))
				}
			}
			mustExec(t, db, "INSERT INTO t VALUES (-1)")
		})
	}
}

// TestBadTablesOfOne: what is read has another bit than was written, or cannot be read. Statements answer an error, never something wrong, and the log
// names the file; when the disk is well again, so are they.
func TestBadTablesOfOne(t *testing.T) {
	const times = 20_000
	dir, disk := badDir(t)
	n := startNode(t, dir)
	db := n.open("")
	mustExec(t, db, "CREATE DATABASE d", "CREATE TABLE d.t (id INT PRIMARY KEY, v LONGTEXT)", "ADMIN PROMOTE")
	for i := range 40 {
		mustExec(t, db, fmt.Sprintf("INSERT INTO d.t VALUES (%[1]d, REPEAT('%[1]d,', %[2]d))", i, times)) // each fills a block of its own
	}
	n.stop() // a node of a cluster brings all into tables
	for what, rule := range map[string]badfs.Rule{
		"a flipped bit": {Flip: true},
		"an error":      {Errno: syscall.EIO},
	} {
		n.start()
		rule.Files, rule.Ops = "*.sst", []badfs.Op{badfs.Read}
		disk.Set(rule)
		db := n.open("d")
		failed := 0
		for i := range 40 {
			var got string
			err := db.QueryRow("SELECT v FROM t WHERE id = ?", i).Scan(&got)
			switch {
			case err == nil && got != strings.Repeat(fmt.Sprint(i, ","), times):
				t.Errorf("%s: row %d is %.30q", what, i, got)
			case err != nil:
				failed++
				if errorNumber(err) != 1030 {
					t.Errorf("%s: row %d: %v", what, i, err)
				}
			}
		}
		if failed == 0 || disk.Hits()[0] == 0 {
			t.Errorf("%s: nothing has failed, of %d reads", what, disk.Hits()[0])
		}
		disk.Set()
		for i := range 40 {
			if got := queryInt(t, db, "SELECT LENGTH(v) FROM t WHERE id = ?", i); got < 2*times {
				t.Errorf("%s: row %d has %d bytes", what, i, got)
			}
		}
		n.stop()
	}
}

// TestBadDiskOfGateway: the disk of a cluster's gateway takes seconds for a sync: another node becomes the gateway, and writes go on. Then one sync of the
// first one's log fails: it ends with a sentence, and the others go on; started again, it catches up. Nothing acknowledged is lost. make torture does it
// at random.
func TestBadDiskOfGateway(t *testing.T) {
	dir, disk := badDir(t)
	a := newArena(t, 3, dir, t.TempDir(), t.TempDir())
	n := a.nodes[0]
	b := a.startBooks(4)
	b.progress()
	_, term := a.gatewayTerm(nil, 0)
	disk.Set(badfs.Rule{Ops: []badfs.Op{badfs.Sync}, Delay: 2 * time.Second})
	a.gatewayTerm(n, term)
	b.progress()
	disk.Set(badfs.Rule{Files: "*.wal", Ops: []badfs.Op{badfs.Sync}, Errno: syscall.EIO, Times: 1})
	<-n.logDrained
	n.kill()
	if fault := n.faultOf(".wal: "); fault != "" {
		t.Error(fault)
	}
	b.progress()
	disk.Set()
	n.start()
	a.settle()
	b.finish()
	a.sameCopies()
}

// TestSlowDisksInTurn: the disk of whoever is the gateway takes seconds for a sync, one after the other, so that a node is to be the gateway again that was it before. Clients go on while
// the disk is slow, each time.
func TestSlowDisksInTurn(t *testing.T) {
	var dirs []string
	var disks []*badfs.FS
	for range 3 {
		dir, disk := badDir(t)
		dirs, disks = append(dirs, dir), append(disks, disk)
	}
	a := newArena(t, 3, dirs...)
	b := a.startBooks(4)
	b.progress()
	for _, delay := range []time.Duration{200 * time.Millisecond, 2 * time.Second, 3 * time.Second, 2 * time.Second} {
		g, term := a.gatewayTerm(nil, 0)
		disk := disks[a.index(g)]
		began := time.Now()
		disk.Set(badfs.Rule{Ops: []badfs.Op{badfs.Sync}, Delay: delay})
		if delay > time.Second {
			a.gatewayTerm(g, term)
		}
		b.progress()
		t.Logf("clients went on after %v of syncs of %v", time.Since(began).Round(100*time.Millisecond), delay)
		disk.Set()
	}
	a.settle()
	b.finish()
	a.sameCopies()
}

// TestHungDiskOfGateway: the disk of a cluster's gateway does not answer at all for a while, without an error. The node finds out that it cannot go on as the gateway
// and lets its clients go, another is the gateway, and writes go on while the disk still hangs. When it answers again the node follows.
func TestHungDiskOfGateway(t *testing.T) {
	if os.Getenv("TORTURE") == "" {
		t.Skip("takes as long as a disk hangs; make torture runs it")
	}
	const hang = 30 * time.Second
	dir, disk := badDir(t)
	a := newArena(t, 3, dir, t.TempDir(), t.TempDir())
	n := a.nodes[0]
	b := a.startBooks(4)
	b.progress()
	_, term := a.gatewayTerm(nil, 0)
	disk.Set(badfs.Rule{Ops: []badfs.Op{badfs.Write, badfs.Sync, badfs.Make}, Delay: hang})
	began := time.Now()
	a.gatewayTerm(n, term)
	served := time.Since(began)
	b.progress()
	t.Logf("another gateway after %v, writes after %v, of a disk that hangs for %v", served.Round(time.Millisecond), time.Since(began).Round(time.Millisecond), hang)
	disk.Set()
	a.settle() // it follows again
	text := n.logText()
	t.Logf("it asked another because of its disk: %t; otherwise the others had elected one", strings.Contains(text, "the disk of the gateway is slower"))
	left, clients := strings.Index(text, "this node is not the cluster's gateway any more"), strings.Index(text, "this node is not the gateway any more; its clients are disconnected")
	if left < 0 || clients < left {
		t.Errorf("a gateway whose disk hangs does not say that it leaves, and then lets its clients go:\n%s", lastPart(text))
	}
	if n.ended() {
		t.Errorf("it has ended:\n%s", lastPart(text))
	}
	b.finish()
	a.sameCopies()
}
