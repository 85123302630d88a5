package tests

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// ground is a playground that runs.
type ground struct {
	t     *testing.T
	dir   string
	cmd   *exec.Cmd
	lines chan string
	Nodes []struct {
		ID, PID, Port, HTTP int
		Dir                 string
		ClusterPort         int `json:"cluster_port"`
	}
}

// Ports that are given to nodes which keep them while they are down: below those that the system gives to connections, one of which would
// otherwise take the port of a dead node now and then.
const (
	portsFirst = 20_000
	portsCount = 10_000
)

var portsGiven atomic.Uint32

// freePorts returns the first of n ports in a row on which nobody listens, and that were not given before.
func freePorts(t testing.TB, n int) int {
	t.Helper()
	start := os.Getpid() * 64 // so that the tests of two checkouts seldom meet
	for range portsCount / 2 {
		first := portsFirst + (start+int(portsGiven.Add(uint32(n))))%(portsCount-n)
		free := true
		for i := range n {
			l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", first+i))
			if err != nil {
				free = false
				break
			}
			l.Close()
		}
		if free {
			return first
		}
	}
	t.Fatal("no free ports")
	return 0
}

// startGround runs pando playground until it says that it is ready.
func startGround(t *testing.T, dir string, args ...string) *ground {
	t.Helper()
	g := &ground{t: t, dir: dir, lines: make(chan string, 1000)}
	g.cmd = exec.Command(binary, append([]string{"playground", "--dir", dir, "--port", fmt.Sprint(freePorts(t, 5))}, args...)...)
	out, err := g.cmd.StdoutPipe()
	if err == nil {
		g.cmd.Stderr = g.cmd.Stdout
		err = g.cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = g.cmd.Process.Signal(syscall.SIGTERM) // it may have ended
		_ = g.cmd.Wait()
	})
	go func() {
		for lines := bufio.NewScanner(out); lines.Scan(); {
			g.lines <- lines.Text()
		}
		close(g.lines)
	}()
	g.await("nodes are ready")
	b, err := os.ReadFile(filepath.Join(dir, "playground.json"))
	if err == nil {
		err = json.Unmarshal(b, g)
	}
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// await reads what the playground says up to a line with a text.
func (g *ground) await(text string) {
	g.t.Helper()
	var said []string
	for timeout := time.After(recoverMax); ; {
		select {
		case line, open := <-g.lines:
			if !open {
				g.t.Fatalf("it ended before it said %q:\n%s", text, strings.Join(said, "\n"))
			}
			said = append(said, line)
			if strings.Contains(line, text) {
				return
			}
		case <-timeout:
			g.t.Fatalf("it never said %q:\n%s", text, strings.Join(said, "\n"))
		}
	}
}

// stop ends the playground and its processes.
func (g *ground) stop() {
	g.t.Helper()
	if err := g.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		g.t.Fatal(err)
	}
	for range g.lines { // to the end of what it says
	}
	if err := g.cmd.Wait(); err != nil {
		g.t.Errorf("the playground ended with %v", err)
	}
	for _, n := range g.Nodes {
		if syscall.Kill(n.PID, 0) == nil {
			g.t.Errorf("node %d, process %d, has not ended", n.ID, n.PID)
		}
	}
}

func (g *ground) node(i int) *node {
	return &node{t: g.t, dir: g.Nodes[i].Dir, mysql: fmt.Sprintf("127.0.0.1:%d", g.Nodes[i].Port), http: fmt.Sprintf("127.0.0.1:%d", g.Nodes[i].HTTP)}
}

// TestPlayground: one command makes three nodes that all serve, through HAProxy too; who dies is told of and the others go on; and the same directory
// starts again with what was in it, at other ports.
func TestPlayground(t *testing.T) {
	proxy := need(t, "haproxy")
	dir := t.TempDir()
	g := startGround(t, dir, "--nodes", "3", "--haproxy")
	if len(g.Nodes) != 3 || g.Nodes[2].Port != g.Nodes[0].Port+2 {
		t.Fatalf("playground.json has %+v", g.Nodes)
	}
	for _, n := range g.Nodes {
		if line, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", n.PID)); err == nil && bytes.Contains(line, []byte("pando-join-")) {
			t.Errorf("everybody on the machine can read node %d's token: %q", n.ID, line)
		}
	}
	mustExec(t, g.node(1).open(""), "CREATE DATABASE d", "CREATE TABLE d.t (id INT PRIMARY KEY)", "INSERT INTO d.t VALUES (1)")
	haproxy := exec.Command(proxy, "-db", "-f", filepath.Join(dir, "haproxy.cfg"))
	haproxy.Stdout, haproxy.Stderr = io.Discard, io.Discard
	if err := haproxy.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = haproxy.Process.Kill() // it holds nothing
		_ = haproxy.Wait()
	}()
	through := (&node{t: t, mysql: fmt.Sprintf("127.0.0.1:%d", g.Nodes[0].Port+3)}).open("d")
	through.SetMaxIdleConns(0) // each query connects anew, to another node
	eventually := func(what string, try func() error) {
		t.Helper()
		var err error
		for deadline := time.Now().Add(recoverMax); time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
			if err = try(); err == nil {
				return
			}
		}
		t.Fatalf("%s: %v", what, err)
	}
	count := func(want int) error {
		var n int
		if err := through.QueryRow("SELECT COUNT(*) FROM t").Scan(&n); err != nil || n != want {
			return fmt.Errorf("%d rows, %v", n, err)
		}
		return nil
	}
	for range 6 {
		eventually("through HAProxy", func() error { return count(1) })
	}
	for i := range g.Nodes { // the gateway too, whichever it is
		if s, ok := g.node(i).clusterStatus(); ok && s.Cluster.Role == "gateway" {
			if err := syscall.Kill(g.Nodes[i].PID, syscall.SIGKILL); err != nil {
				t.Fatal(err)
			}
			g.await(fmt.Sprintf("node %d has died", g.Nodes[i].ID))
			break
		}
	}
	eventually("a write after the gateway's death", func() error {
		_, err := through.Exec("INSERT IGNORE INTO t VALUES (2)")
		return err
	})
	g.stop()
	refusedGround(t, dir)
	was := g.Nodes[0].HTTP
	g = startGround(t, dir)
	if g.Nodes[0].HTTP != was {
		t.Errorf("the status port was %d and is %d", was, g.Nodes[0].HTTP)
	}
	if len(g.Nodes) != 3 {
		t.Fatalf("playground.json has %+v", g.Nodes)
	}
	for i := range g.Nodes {
		if n := queryInt(t, g.node(i).open("d"), "SELECT COUNT(*) FROM t"); n != 2 {
			t.Errorf("node %d: %d rows", i+1, n)
		}
	}
	g.stop()
}

// refusedGround starts a playground of which a node cannot start: no file says then that it is ready, and nothing is lost.
func refusedGround(t *testing.T, dir string) {
	t.Helper()
	marker := filepath.Join(dir, "node1", "PANDO")
	whole, err := os.ReadFile(marker)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(marker, []byte("of another format"), 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command(binary, "playground", "--dir", dir, "--port", fmt.Sprint(freePorts(t, 5))).CombinedOutput()
	if err == nil || !bytes.Contains(out, []byte("node 1 ended")) {
		t.Errorf("%v\n%s", err, out)
	}
	if _, err := os.Stat(filepath.Join(dir, "playground.json")); err == nil {
		t.Error("playground.json tells of nodes that do not run")
	}
	if err := os.WriteFile(marker, whole, 0o600); err != nil {
		t.Fatal(err)
	}
}
