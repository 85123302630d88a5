package tests

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pandodb/pando/internal/testkit"
)

// smallDisk mounts a file system in memory, or skips where this user or this kernel can't.
func smallDisk(t testing.TB, mebibytes int) string {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("mounting a file system needs root")
	}
	dir := t.TempDir()
	if out, err := exec.Command("mount", "-t", "tmpfs", "-o", fmt.Sprintf("size=%dm", mebibytes), "pando-test", dir).CombinedOutput(); err != nil {
		t.Skipf("no mounts here: %v %s", err, out)
	}
	t.Cleanup(func() {
		if err := testkit.Unmount(dir); err != nil {
			t.Error(err)
		}
	})
	return dir
}

// TestFullDiskOfOne: the disk of a node that is not the gateway fills up completely. The node ends with a sentence, the cluster goes on, and once
// there is room the node catches up.
func TestFullDiskOfOne(t *testing.T) {
	disk := smallDisk(t, 256)
	c := growNode(t)
	c.grow(2)
	db := c.nodes[0].open("")
	var token string
	if err := db.QueryRow("ADMIN TOKEN").Scan(&token, new(any), new(any)); err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(disk, "node")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	small := startNode(t, dir, "--cluster-listen", clusterAddress(t), "--join", c.nodes[0].args[1], "--join-token", token)
	c.nodes = append(c.nodes, small)
	c.awaitVoters(3)
	c.settle()
	b := c.startBooks(2)
	b.progress()
	mustExec(t, db, "CREATE TABLE bank.bulk (id BIGINT AUTO_INCREMENT PRIMARY KEY, c LONGTEXT NOT NULL)")
	junk := filepath.Join(disk, "junk")
	fill(t, junk)
	text := strings.Repeat("x", 1<<20)
	c.await("the node with the full disk to end", func() bool {
		select {
		case <-small.logDrained:
			return true
		default:
		}
		if _, err := db.Exec("INSERT INTO bank.bulk (c) VALUES (?)", text); err != nil {
			t.Log(err) // the gateway may have moved
		}
		return false
	})
	if !strings.Contains(small.logText(), "storage has failed") || !strings.Contains(small.logText(), "no space left on device") {
		t.Errorf("it has ended without the sentence:\n%s", lastPart(small.logText()))
	}
	b.progress()
	small.kill() // it has ended
	if err := os.Remove(junk); err != nil {
		t.Fatal(err)
	}
	small.start()
	c.settle()
	b.finish()
	c.sameCopies()
}

// fill writes a file until there is no room.
func fill(t testing.TB, name string) {
	t.Helper()
	f, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for size := 1 << 20; size > 0; {
		if n, err := f.Write(make([]byte, size)); err != nil || n < size {
			size /= 2
		}
	}
}
