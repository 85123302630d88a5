package tests

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"

	"github.com/pandodb/pando/tests/badfs"
)

const (
	// slowSyncMin and slowSyncMax bound how long a sync takes on a slow disk, hangMax how long a disk that hangs does not answer at all.
	slowSyncMin, slowSyncMax = 200 * time.Millisecond, 5 * time.Second
	hangMax                  = 20 * time.Second
)

// diskMisfortunes happen where the nodes' disks can misbehave: where a FUSE file system can be mounted.
var diskMisfortunes = []misfortune{
	{"a write or a sync of the gateway's log fails", func(x *torture) { x.logFails(x.gateway()) }},
	{"a write or a sync of another node's log fails", func(x *torture) { x.logFails(x.other()) }},
	{"nothing but the log can be written on the gateway's disk", func(x *torture) { x.tablesFail(x.gateway()) }},
	{"nothing but the log can be written on another node's disk", func(x *torture) { x.tablesFail(x.other()) }},
	{"the gateway's disk is slow", func(x *torture) { x.slowDisk(x.gateway()) }},
	{"another node's disk is slow", func(x *torture) { x.slowDisk(x.other()) }},
	{"the gateway's disk hangs", func(x *torture) { x.diskHangs(x.gateway()) }},
	{"another node's disk hangs", func(x *torture) { x.diskHangs(x.other()) }},
	{"the gateway's disk is full", func(x *torture) { x.diskFull(x.gateway()) }},
	{"another node's disk is full", func(x *torture) { x.diskFull(x.other()) }},
	{"a node that was started again cannot read its tables", func(x *torture) { x.readsFail(badfs.Rule{Errno: syscall.EIO}) }},
	{"a node that was started again reads flipped bits", func(x *torture) { x.readsFail(badfs.Rule{Flip: true}) }},
	{"a bit flips in what a node writes", (*torture).writesFlip},
}

// disk is the file system that a node's directory is on.
func (x *torture) disk(n *node) *badfs.FS { return x.disks[x.index(n)] }

// set makes a node's disk misbehave. The log of the test says how long clients needed to go on.
func (x *torture) set(n *node, rules ...badfs.Rule) {
	x.t.Helper()
	x.disk(n).Set(rules...)
}

// getOn waits until clients go on, and tells how long that took: no measure of anything on a machine that is shared.
func (x *torture) getOn(what string) {
	x.t.Helper()
	began := time.Now()
	x.progress()
	x.t.Logf("clients went on after %v of %s", time.Since(began).Round(100*time.Millisecond), what)
}

// recovered makes a node's disk well again, and starts the node again if it has ended: then its log must have said why.
func (x *torture) recovered(n *node, file string) {
	x.t.Helper()
	x.set(n)
	if !n.ended() {
		return
	}
	n.kill()
	if fault := n.faultOf(file); fault != "" {
		x.t.Error(fault)
	}
	n.start()
}

// logFails has one write or sync of the log fail.
func (x *torture) logFails(n *node) {
	op := []badfs.Op{badfs.Write, badfs.Sync}[x.rng.IntN(2)]
	x.set(n, badfs.Rule{Files: "*.wal", Ops: []badfs.Op{op}, Errno: syscall.EIO, Times: 1})
	x.await("the node to end whose log has failed", n.ended)
	x.perhapsProgress()
	x.recovered(n, ".wal")
}

// tablesFail has all writes of other files than the log fail, while the node is asked to bring what it has in memory into tables.
func (x *torture) tablesFail(n *node) {
	x.set(n, badfs.Rule{Files: "*.sst", Ops: []badfs.Op{badfs.Write, badfs.Sync, badfs.Make}, Errno: syscall.EIO})
	time.Sleep(x.between(time.Second, 5*time.Second))
	x.getOn("tables that cannot be written")
	if !n.ended() {
		// Its last flush fails; what it has is in its log.
		stopped := make(chan struct{})
		go func() {
			n.stop()
			close(stopped)
		}()
		select {
		case <-stopped:
		case <-time.After(recoverMax):
			x.t.Errorf("a node whose tables cannot be written does not end:\n%s", lastPart(n.logText()))
			n.cmd.Process.Kill()
			<-stopped
		}
		x.set(n)
		n.start()
		return
	}
	x.recovered(n, ".sst")
}

// slowDisk has all syncs take long for a while. Clients go on meanwhile.
func (x *torture) slowDisk(n *node) {
	delay := x.between(slowSyncMin, slowSyncMax)
	x.set(n, badfs.Rule{Ops: []badfs.Op{badfs.Sync}, Delay: delay})
	x.getOn(fmt.Sprintf("syncs of %v", delay))
	time.Sleep(x.between(0, cutMax))
	x.progress()
	x.recovered(n, "")
}

// diskHangs has all operations that change something wait for some seconds.
func (x *torture) diskHangs(n *node) {
	delay := x.between(time.Second, hangMax)
	x.set(n, badfs.Rule{Ops: []badfs.Op{badfs.Write, badfs.Sync, badfs.Make}, Delay: delay})
	x.getOn(fmt.Sprintf("a disk that hangs for %v", delay))
	x.recovered(n, "")
}

// diskFull has nothing be written any more. The node may end; its log says why.
func (x *torture) diskFull(n *node) {
	x.set(n, badfs.Rule{Ops: []badfs.Op{badfs.Write, badfs.Make}, Errno: syscall.ENOSPC})
	x.getOn("a full disk")
	time.Sleep(x.between(0, cutMax))
	x.set(n)
	if n.ended() {
		n.kill()
		if text := n.logText(); !strings.Contains(text, "storage has failed") || !strings.Contains(text, syscall.ENOSPC.Error()) {
			x.t.Errorf("a node with a full disk has ended without the sentence:\n%s", lastPart(text))
		}
		n.start()
	}
}

// readsFail stops a node, which brings all into tables, and starts it again on a disk that reads badly. It may end, then or later; its log says why.
func (x *torture) readsFail(rule badfs.Rule) {
	n := x.any()
	n.stop()
	rule.Files, rule.Ops, rule.After = "*.sst", []badfs.Op{badfs.Read}, x.rng.IntN(100)
	x.set(n, rule)
	err := n.tryStart()
	x.getOn("tables that read badly")
	time.Sleep(x.between(0, cutMax))
	x.progress()
	met := x.disk(n).Hits()[0] > 0
	x.set(n)
	if err == nil && !n.ended() {
		return
	}
	n.kill()
	if text := n.logText(); !met || !strings.Contains(text, ".sst") && !strings.Contains(text, "file 0") && !strings.Contains(text, "checksum") && !strings.Contains(text, syscall.EIO.Error()) {
		x.t.Errorf("a node whose tables read badly (%t) has ended (%v) without saying why:\n%s", met, err, lastPart(text))
	}
	n.start()
}

// writesFlip has a bit of what a node writes into a table, or into its log, be another on its disk. It is found when that is read; the node is replaced then, as one
// whose disk is lost is.
func (x *torture) writesFlip() {
	x.settle() // or a majority could be lost with it
	n := x.other()
	s, ok := n.clusterStatus()
	if !ok {
		return
	}
	files := []string{"*.sst", "*.wal"}[x.rng.IntN(2)]
	x.set(n, badfs.Rule{Files: files, Ops: []badfs.Op{badfs.Write}, Flip: true, Times: 1})
	x.perhapsProgress()
	if files == "*.wal" {
		n.kill()
	} else {
		n.stop()
	}
	met := x.disk(n).Hits()[0] > 0
	x.set(n)
	out, err := exec.Command(binary, "check", n.dir).CombinedOutput()
	if err == nil && met && files == "*.sst" {
		x.t.Errorf("a table with another bit than was written is found sound:\n%s", out)
	}
	if err == nil {
		n.start() // it was padding, or the end of the log
		return
	}
	if err := n.tryStart(); err != nil && !strings.Contains(n.logText(), "cannot be read") && !strings.Contains(n.logText(), "storage has failed") {
		x.t.Errorf("a node with a damaged directory has ended without saying why: %v\n%s", err, lastPart(n.logText()))
	}
	n.kill()
	x.replaceLost(n, s.Cluster.Store)
}

// badDisks mounts the disks of the nodes of a run, and returns the nodes' directories.
func (x *torture) badDisks(dir string, nodes int) (dirs []string) {
	for i := range nodes {
		where := fmt.Sprintf("%s/disk%d", dir, i+1)
		if err := os.Mkdir(where, 0o700); err != nil {
			x.t.Fatal(err)
		}
		at, disk := badDirAt(x.t, where)
		dirs = append(dirs, at)
		x.disks = append(x.disks, disk)
	}
	return dirs
}
