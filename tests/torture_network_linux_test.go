package tests

import (
	"database/sql"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/pandodb/pando/internal/testkit"
)

// network is a bridge of the kernel to which nodes are connected that have a network namespace each, as machines are to a switch: what is cut there is cut for
// TCP itself, whose connections neither end nor fail, as they do at a proxy. The test's clients are at the bridge, too.
type network struct {
	*copies
	prefix string // of the names of all that was made
	base   string // of the addresses
	routes [][2]int
}

// networkPrefix begins the names of namespaces, which go on with the process's id.
const networkPrefix = "pando-test-"

// ip runs the program of that name.
func ip(words ...string) error {
	if out, err := exec.Command("ip", words...).CombinedOutput(); err != nil {
		return fmt.Errorf("ip %s: %w: %s", strings.Join(words, " "), err, out)
	}
	return nil
}

// newNetwork makes a network for n nodes, or skips where this user or this system can't. It goes with the test.
func newNetwork(t testing.TB, n int) *network {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("network namespaces need root")
	}
	if _, err := exec.LookPath("ip"); err != nil {
		t.Skip("network namespaces need the program ip, of iproute2")
	}
	pid := os.Getpid()
	// 198.18.0.0/15 is for measurements, and nobody routes it; pando bench takes addresses of its first half.
	w := &network{copies: &copies{t: t}, prefix: networkPrefix + strconv.Itoa(pid), base: fmt.Sprintf("198.19.%d.", pid%256)}
	w.removeStale()
	t.Cleanup(w.remove)
	must := func(words ...string) {
		t.Helper()
		if err := ip(words...); err != nil {
			w.remove()
			t.Skipf("no network namespaces here: %v", err)
		}
	}
	must("link", "add", w.bridge(), "type", "bridge")
	must("addr", "add", w.base+"254/24", "dev", w.bridge())
	must("link", "set", w.bridge(), "up")
	for i := range n {
		space := w.space(i)
		must("netns", "add", space)
		must("link", "add", w.link(i), "type", "veth", "peer", "name", "eth0", "netns", space)
		must("link", "set", w.link(i), "master", w.bridge())
		must("link", "set", w.link(i), "up")
		must("-n", space, "addr", "add", w.address(i)+"/24", "dev", "eth0")
		must("-n", space, "link", "set", "eth0", "up")
		must("-n", space, "link", "set", "lo", "up")
		for _, what := range []string{"all", "eth0"} { // or who may not answer would not hear either
			must("netns", "exec", space, "sh", "-c", "echo 0 >/proc/sys/net/ipv4/conf/"+what+"/rp_filter")
		}
	}
	return w
}

func (w *network) space(i int) string   { return fmt.Sprintf("%s-%d", w.prefix, i) }
func (w *network) link(i int) string    { return fmt.Sprintf("pt%dn%d", os.Getpid(), i) }
func (w *network) bridge() string       { return fmt.Sprintf("pt%db", os.Getpid()) }
func (w *network) address(i int) string { return w.base + strconv.Itoa(i+1) }

// remove ends the nodes, and removes the namespaces, the links, which a namespace would keep as long as a connection ends in it, and the bridge. What is not
// there harms nobody.
func (w *network) remove() {
	for _, n := range w.nodes {
		n.kill()
	}
	for i := range tortureNodes {
		_ = ip("link", "del", w.link(i))
		_ = ip("netns", "del", w.space(i))
	}
	_ = ip("link", "del", w.bridge())
}

// removeStale removes what a test has left that was killed, and ends its nodes.
func (w *network) removeStale() {
	out, err := exec.Command("ip", "netns", "list").Output()
	if err != nil {
		return // the next step says why
	}
	for line := range strings.Lines(string(out)) {
		name, _, _ := strings.Cut(strings.TrimSpace(line), " ")
		rest, ours := strings.CutPrefix(name, networkPrefix)
		pid, _, _ := strings.Cut(rest, "-")
		if _, err := os.Stat("/proc/" + pid); ours && os.IsNotExist(err) {
			left, _ := exec.Command("ip", "netns", "pids", name).Output() // none, if it fails
			for _, text := range strings.Fields(string(left)) {
				if node, err := strconv.Atoi(text); err == nil {
					_ = syscall.Kill(node, syscall.SIGKILL) // it may have ended
				}
			}
			_ = ip("-n", name, "link", "del", "eth0")
			_ = ip("netns", "del", name)
			_ = ip("link", "del", "pt"+pid+"b")
		}
	}
}

// start starts the nodes as a cluster with all copies.
func (w *network) start(n int) {
	w.t.Helper()
	const password = "network"
	file := filepath.Join(w.t.TempDir(), "password")
	if err := os.WriteFile(file, []byte(password), 0o600); err != nil {
		w.t.Fatal(err)
	}
	for i := range n {
		node := &node{t: w.t, dir: w.t.TempDir(), space: w.space(i), password: password, args: []string{"--listen", w.address(i) + ":3306", "--http", w.address(i) + ":10080",
			"--cluster-listen", w.address(i) + ":7000"}}
		plain := node.args
		if i == 0 {
			node.args = append(node.args, "--init-root-password-file", file)
		} else {
			var token string
			if err := w.nodes[0].open("").QueryRow("ADMIN TOKEN").Scan(&token, new(any), new(any)); err != nil {
				w.t.Fatal(err)
			}
			node.args = append(node.args, "--join", w.address(0)+":7000", "--join-token", token)
		}
		w.nodes = append(w.nodes, node)
		node.start()
		if node.args = plain; i == 0 {
			mustExec(w.t, node.open(""), "ADMIN PROMOTE")
		}
	}
	w.complete()
}

// index tells which of the nodes it is.
func (w *network) index(n *node) int {
	for i := range w.nodes {
		if w.nodes[i] == n {
			return i
		}
	}
	panic("a node of another network")
}

// unplug takes a node's link down, as a pulled cable does, or up again.
func (w *network) unplug(i int, down bool) {
	w.t.Helper()
	state := "up"
	if down {
		state = "down"
	}
	if err := ip("link", "set", w.link(i), state); err != nil {
		w.t.Fatal(err)
	}
}

// mute drops what one node sends to another, and nothing that it gets from there.
func (w *network) mute(from, to int) {
	w.t.Helper()
	if err := ip("-n", w.space(from), "route", "add", "blackhole", w.address(to)); err != nil {
		w.t.Fatal(err)
	}
	w.routes = append(w.routes, [2]int{from, to})
	if ip("-n", w.space(from), "route", "get", w.address(to)) == nil {
		w.t.Errorf("node %d still reaches node %d", from+1, to+1)
	}
}

// heal takes back what mute did.
func (w *network) heal() {
	w.t.Helper()
	for _, r := range w.routes {
		if err := ip("-n", w.space(r[0]), "route", "del", "blackhole", w.address(r[1])); err != nil {
			w.t.Fatal(err)
		}
	}
	w.routes = nil
}

// muteAll mutes a node for all others, or them for it.
func (w *network) muteAll(i int, says bool) {
	w.t.Helper()
	for j := range w.nodes {
		switch {
		case j == i:
		case says:
			w.mute(i, j)
		default:
			w.mute(j, i)
		}
	}
}

// cuts are what happens to the network, each once. i is the gateway and j another node.
var cuts = []struct {
	name string
	// majority: the others go on meanwhile.
	majority bool
	do       func(w *network, i, j int)
}{
	{"the gateway's link is down", true, func(w *network, i, _ int) { w.unplug(i, true) }},
	{"another node's link is down", true, func(w *network, _, j int) { w.unplug(j, true) }},
	{"the gateway is not heard by the others", true, func(w *network, i, _ int) { w.muteAll(i, true) }},
	{"the gateway does not hear the others", true, func(w *network, i, _ int) { w.muteAll(i, false) }},
	{"another node is not heard", true, func(w *network, _, j int) { w.muteAll(j, true) }},
	{"another node hears nobody", true, func(w *network, _, j int) { w.muteAll(j, false) }},
	{"one way between two nodes is cut", false, func(w *network, i, j int) { w.mute(i, j) }},
	{"all are cut off from each other", false, func(w *network, i, j int) {
		for k := range w.nodes {
			w.muteAll(k, true)
		}
	}},
}

// auditors read the sum of all accounts through each node until the books are finished: it is always the same.
func (l *books) auditors() (readings *atomic.Int64) {
	readings = new(atomic.Int64)
	for _, n := range l.c.nodes {
		l.wait.Go(func() {
			db, err := sql.Open("mysql", n.dsn("bank", clientTimeouts))
			if err != nil {
				l.c.t.Error(err)
				return
			}
			defer db.Close()
			for {
				select {
				case <-l.stop:
					return
				case <-time.After(10 * time.Millisecond):
				}
				if fault, err := audit(db); err == nil {
					if readings.Add(1); fault != "" {
						l.c.t.Error(fault)
						return
					}
				}
			}
		})
	}
	return readings
}

// audit reads the sum of all accounts and says what is wrong with it. An error is no reading.
func audit(db *sql.DB) (fault string, err error) {
	var sum, count int
	if err := db.QueryRow("SELECT SUM(balance), COUNT(*) FROM account").Scan(&sum, &count); err != nil {
		return "", err
	}
	if sum != bookAccounts*bookBalance || count != bookAccounts {
		return fmt.Sprintf("%d accounts have %d together, not %d", count, sum, bookAccounts*bookBalance), nil
	}
	return "", nil
}

// noticesLoss takes a transfer out of the books and demands that their check, and that of the sum, notice it.
func (l *books) noticesLoss(db *sql.DB) {
	l.c.t.Helper()
	mustExec(l.c.t, db, fmt.Sprintf("DELETE FROM transfer WHERE id = %d", l.ids[len(l.ids)/2]), "UPDATE account SET balance = balance - 1 WHERE id = 0")
	r := &recorder{TB: l.c.t}
	checkBooks(r, db, l.ids)
	if fault, err := audit(db); !r.failed || fault == "" || err != nil {
		l.c.t.Errorf("a transfer and a unit of money were taken away, and the books have noticed it: %t, the sum: %q, %v", r.failed, fault, err)
	}
}

// TestCutNetwork cuts the network between three nodes in every way that the kernel offers, each once, under transfers through all of them: every one that was acknowledged
// is there, each reading of the accounts adds up, and tables agree with their indexes.
func TestCutNetwork(t *testing.T) {
	if os.Getenv("TORTURE") == "" {
		t.Skip("takes a minute and a half; make torture runs it")
	}
	w, rng := newNetwork(t, tortureNodes), testkit.Rand(testkit.Seed(t), 0)
	w.start(tortureNodes)
	b := w.startBooks(6)
	readings := b.auditors()
	b.progress()
	for _, c := range cuts {
		began, before := time.Now(), b.acked.Load()
		i := w.index(w.gateway())
		j := (i + 1 + rng.IntN(tortureNodes-1)) % tortureNodes
		c.do(w, i, j)
		time.Sleep(time.Second + time.Duration(rng.Int64N(int64(3*time.Second))))
		if c.majority {
			b.progress()
		}
		for k := range w.nodes {
			w.unplug(k, false)
		}
		w.heal()
		b.progress()
		t.Logf("%-45s %5.1f s, %d transfers", c.name, time.Since(began).Seconds(), b.acked.Load()-before)
	}
	w.settle()
	b.finish()
	if readings.Load() == 0 {
		t.Error("nobody has read the accounts")
	}
	t.Logf("%d readings of all accounts", readings.Load())
	w.checkTables("bank.account", "bank.transfer")
	db := w.gateway().open("bank")
	b.noticesLoss(db)
	for _, n := range w.nodes {
		n.stop()
		if out, err := exec.Command(binary, "check", n.dir).CombinedOutput(); err != nil {
			t.Errorf("pando check of %s: %v\n%s", n.dir, err, out)
		}
	}
}
