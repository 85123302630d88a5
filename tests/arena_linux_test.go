package tests

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/pandodb/pando/internal/testkit"
)

// arena is a cluster of processes whose words to each other go through proxies: it can be torn apart without a right that root has.
type arena struct {
	*copies
	proxies []*testkit.Proxy
}

// newArena starts a cluster of n nodes in these empty directories, or in new ones if there are none.
func newArena(t testing.TB, n int, dirs ...string) *arena {
	t.Helper()
	return newArenaOf(t, n, func(int, *node) {}, dirs...)
}

// newArenaOf is newArena with something done to each node before it is started.
func newArenaOf(t testing.TB, n int, each func(i int, n *node), dirs ...string) *arena {
	t.Helper()
	a := &arena{copies: &copies{t: t}}
	for i := range n {
		address := clusterAddress(t)
		a.proxies = append(a.proxies, testkit.NewProxy(t, testkit.ProxyOptions{Target: address, Who: func(c net.Conn) (int, bool) { return a.who(c, i) }}))
		var where string
		if dirs == nil {
			where = t.TempDir()
		} else {
			where = dirs[i]
		}
		a.nodes = append(a.nodes, &node{t: t, dir: where, args: []string{"--cluster-listen", address, "--advertise", a.proxies[i].Address(),
			"--listen", fmt.Sprintf("127.0.0.1:%d", freePorts(t, 1))}})
	}
	for i, n := range a.nodes {
		each(i, n)
	}
	// Processes end before the proxies do, and those before the directories.
	t.Cleanup(func() {
		for _, n := range a.nodes {
			n.resume()
			n.kill()
		}
	})
	a.nodes[0].start()
	mustExec(t, a.nodes[0].open(""), "ADMIN PROMOTE")
	for i := 1; i < n; i++ {
		a.join(i, 0)
	}
	a.complete()
	return a
}

// join starts node i, whose directory is empty, as a new member, with a token of another. A cluster that still removes the node which had its address
// refuses it for a while.
func (a *arena) join(i, by int) {
	a.t.Helper()
	db := a.nodes[by].open("")
	defer db.Close()
	n := a.nodes[i]
	plain := n.args
	a.await(fmt.Sprintf("node %d to be taken in", i+1), func() bool {
		var token string
		if err := db.QueryRow("ADMIN TOKEN").Scan(&token, new(any), new(any)); err != nil {
			return false // the gateway may have moved
		}
		n.args = append(append([]string(nil), plain...), "--join", a.proxies[by].Address(), "--join-token", token)
		err := n.tryStart()
		n.args = plain // a member needs neither
		return err == nil
	})
}

// index tells which of the nodes it is.
func (a *arena) index(n *node) int {
	for i := range a.nodes {
		if a.nodes[i] == n {
			return i
		}
	}
	panic("a node of another arena")
}

// hold lets nothing through from one node to another.
func (a *arena) hold(from, to int) {
	a.proxies[to].Hold(testkit.Way{Dialer: from})
	a.proxies[from].Hold(testkit.Way{Dialer: to, Back: true})
}

// isolate cuts a node off from all others.
func (a *arena) isolate(i int) {
	for j := range a.nodes {
		if j != i {
			a.hold(i, j)
			a.hold(j, i)
		}
	}
}

// heal makes the network whole.
func (a *arena) heal() {
	for _, p := range a.proxies {
		p.Heal()
	}
}

// who tells which node has made a connection to the proxy of node i, by what the system says of the sockets of processes.
func (a *arena) who(c net.Conn, i int) (int, bool) {
	remote, is := c.RemoteAddr().(*net.TCPAddr)
	local, isToo := c.LocalAddr().(*net.TCPAddr)
	if !is || !isToo {
		return 0, false
	}
	inode, err := socketInode(remote.Port, local.Port)
	if err != nil {
		return 0, false
	}
	for j, n := range a.nodes {
		if j != i && n.holds(inode) {
			return j, true
		}
	}
	return 0, false
}

// socketInode finds the socket that is connected from one port of this machine to another.
func socketInode(from, to int) (string, error) {
	table, err := os.ReadFile("/proc/net/tcp")
	if err != nil {
		return "", err
	}
	want := fmt.Sprintf(" 0100007F:%04X 0100007F:%04X ", from, to)
	for line := range strings.Lines(string(table)) {
		if strings.Contains(line, want) {
			if fields := strings.Fields(line); len(fields) > 9 {
				return fields[9], nil
			}
		}
	}
	return "", errors.New("there is no such connection")
}

// holds tells whether the node has a socket open.
func (n *node) holds(inode string) bool {
	processes, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		return false
	}
	start := []byte(n.binary() + "\x00start\x00--data-dir\x00" + n.dir + "\x00")
	for _, p := range processes {
		line, err := os.ReadFile(filepath.Join(p, "cmdline"))
		if err != nil || !bytes.HasPrefix(line, start) {
			continue
		}
		open, err := os.ReadDir(filepath.Join(p, "fd"))
		if err != nil {
			continue
		}
		for _, f := range open {
			if to, err := os.Readlink(filepath.Join(p, "fd", f.Name())); err == nil && to == "socket:["+inode+"]" {
				return true
			}
		}
	}
	return false
}

// pause stops a process where it is, as a machine does that is suspended or out of memory; resume lets it go on.
func (n *node) pause() { n.cmd.Process.Signal(syscall.SIGSTOP) }
func (n *node) resume() {
	if n.cmd != nil {
		n.cmd.Process.Signal(syscall.SIGCONT)
	}
}
