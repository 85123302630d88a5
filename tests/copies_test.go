package tests

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pandodb/pando/internal/testkit"
)

// recoverMax bounds how long a cluster may take until it answers again; what it should take is far less, see docs/cluster.md.
const recoverMax = 2 * time.Minute

// copies is a cluster of processes.
type copies struct {
	t     testing.TB
	nodes []*node
	start func(args ...string) *node // starts one that joins; nil for startNode
}

// clusterAddress is where a node listens for others, also when it is started again.
func clusterAddress(t testing.TB) string { return fmt.Sprintf("127.0.0.1:%d", freePorts(t, 1)) }

// growNode starts a node that may become one of several.
func growNode(t testing.TB) *copies {
	return &copies{t: t, nodes: []*node{startNode(t, "", "--cluster-listen", clusterAddress(t))}}
}

// grow lets further nodes join, and waits until each region has its copies.
func (c *copies) grow(to int) {
	c.t.Helper()
	start := c.start
	if start == nil {
		start = func(args ...string) *node { return startNode(c.t, "", args...) }
	}
	db := c.nodes[0].open("")
	mustExec(c.t, db, "ADMIN PROMOTE")
	for len(c.nodes) < to {
		var token string
		if err := db.QueryRow("ADMIN TOKEN").Scan(&token, new(any), new(any)); err != nil {
			c.t.Fatal(err)
		}
		c.nodes = append(c.nodes, start("--cluster-listen", clusterAddress(c.t), "--join", c.nodes[0].args[1], "--join-token", token))
	}
	c.complete()
}

// complete waits until all nodes that were started have their part. A node counts once the gateway has heard of it, which is after it says that it is ready: until
// then a smaller cluster may be settled.
func (c *copies) complete() {
	c.t.Helper()
	c.awaitVoters(len(c.nodes) - 1 + len(c.nodes)%2)
	c.settle()
}

// awaitVoters waits until each region has so many voters: a node that has just joined may not be counted yet in what settle waits for.
func (c *copies) awaitVoters(n int) {
	c.t.Helper()
	c.await("voters of each region", func() bool {
		s, ok := c.gateway().clusterStatus()
		if !ok || len(s.Cluster.Regions) == 0 {
			return false
		}
		for _, r := range s.Cluster.Regions {
			if len(r.Voters) != n {
				return false
			}
		}
		return true
	})
}

// clusterStatus is what /status says of the cluster.
type clusterStatus struct {
	Cluster *struct {
		Role         string `json:"role"`
		Gateway      uint64 `json:"gateway"`
		Term         uint64 `json:"term"`
		Version      uint64 `json:"version"`
		Store        uint64 `json:"store"`
		RegionsShort int    `json:"regions_short"`
		LagEntries   uint64 `json:"lag_entries"`
		Nodes        []struct {
			Store  uint64 `json:"store"`
			Starts uint64 `json:"starts"`
		} `json:"nodes"`
		Regions []struct {
			ID      uint64   `json:"id"`
			Applied uint64   `json:"applied"`
			Voters  []uint64 `json:"voters"`
		} `json:"regions"`
	} `json:"cluster"`
}

// statusClient asks nodes that may hang.
var statusClient = &http.Client{Timeout: 10 * time.Second}

// clusterStatus reads a node's status page; ok is false while the node does not serve one.
func (n *node) clusterStatus() (s clusterStatus, ok bool) {
	answer, err := statusClient.Get("http://" + n.http + "/status")
	if err != nil {
		return s, false
	}
	defer answer.Body.Close()
	return s, json.NewDecoder(answer.Body).Decode(&s) == nil && s.Cluster != nil
}

// gateway waits until a node is the gateway and returns it.
func (c *copies) gateway() *node {
	c.t.Helper()
	found, _ := c.gatewayTerm(nil, 0)
	return found
}

// gatewayTerm waits until a node other than one, which may hang, is the gateway of a later term, and returns both.
func (c *copies) gatewayTerm(other *node, later uint64) (found *node, term uint64) {
	c.t.Helper()
	c.await("a gateway", func() bool {
		for _, n := range c.nodes {
			if n == other {
				continue
			}
			if s, ok := n.clusterStatus(); ok && s.Cluster.Role == "gateway" && s.Cluster.Term > later {
				found, term = n, s.Cluster.Term
				return true
			}
		}
		return false
	})
	return found, term
}

// settle waits until each region has all of its copies, and they are caught up.
func (c *copies) settle() {
	c.t.Helper()
	c.await("every region to have its copies", func() bool {
		s, ok := c.gateway().clusterStatus()
		return ok && s.Cluster.Role == "gateway" && s.Cluster.RegionsShort == 0 && s.Cluster.LagEntries < 100
	})
}

// awaitCopies waits until each node has a copy, behind or not, of each region in which it votes.
func (c *copies) awaitCopies() {
	c.t.Helper()
	c.await("a copy of each region at each voter", func() bool {
		all, ok := c.gateway().clusterStatus()
		for _, n := range c.nodes {
			here, answers := n.clusterStatus()
			if !ok || !answers {
				return false
			}
			has := map[uint64]bool{}
			for _, r := range here.Cluster.Regions {
				has[r.ID] = r.Applied > 0
			}
			for _, r := range all.Cluster.Regions {
				if slices.Contains(r.Voters, here.Cluster.Store) && !has[r.ID] {
					return false
				}
			}
		}
		return true
	})
}

// startsOf is how often a node with a store was started, as far as all other nodes know; 0 while one does not answer.
func (c *copies) startsOf(of *node, store uint64) uint64 {
	c.t.Helper()
	least := uint64(math.MaxUint64)
	for _, n := range c.nodes {
		if n == of {
			continue
		}
		known := uint64(0)
		if s, ok := n.clusterStatus(); ok {
			for _, node := range s.Cluster.Nodes {
				if node.Store == store {
					known = node.Starts
				}
			}
		}
		least = min(least, known)
	}
	return least
}

// awaitStates waits until ADMIN NODES, which pando node ls shows, tells these states, in their alphabetical order.
func (c *copies) awaitStates(want ...string) {
	c.t.Helper()
	c.await("the states of nodes", func() bool {
		rows, err := c.gateway().open("").Query("ADMIN NODES")
		if err != nil {
			return false
		}
		defer rows.Close()
		var states []string
		for rows.Next() {
			var state string
			var heard sql.NullFloat64
			if err := rows.Scan(new(any), new(any), &state, new(any), new(any), &heard, new(any), new(any), new(any), new(any)); err != nil {
				c.t.Fatal(err)
			}
			if state == "down" && !heard.Valid {
				return false // nobody has heard of it since this gateway began
			}
			states = append(states, state)
		}
		slices.Sort(states)
		return rows.Err() == nil && slices.Equal(states, want)
	})
}

func (c *copies) await(what string, is func() bool) {
	c.t.Helper()
	for deadline := time.Now().Add(recoverMax); !is(); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(deadline) {
			for _, n := range c.nodes {
				c.t.Logf("log of %s:\n%s", n.dir, lastPart(n.logText()))
			}
			c.t.Fatalf("waited in vain for %s", what)
		}
	}
}

func lastPart(text string) string { return text[max(0, len(text)-4000):] }

// books is a workload whose every acknowledged transaction can be found again: transfers between accounts, each with a row of its own.
type books struct {
	c     *copies
	stop  chan struct{}
	wait  sync.WaitGroup
	acked atomic.Int64
	seed  uint64
	base  int64 // below the ids of all transfers, and above those of earlier books

	mu  sync.Mutex // guards ids
	ids []int64    // of acknowledged transfers
}

// clientTimeouts are parameters of connections to nodes that may hang: whoever waits longer for an answer asks another node.
const clientTimeouts = "timeout=5s&readTimeout=15s&writeTimeout=15s"

const (
	bookAccounts   = 20
	bookBalance    = 1000
	bookClientsMax = 16 // of one startBooks
)

// startBooks makes the tables if they are not there and lets clients transfer through any node.
func (c *copies) startBooks(clients int) *books {
	c.t.Helper()
	db := c.gateway().open("")
	mustExec(c.t, db, "CREATE DATABASE IF NOT EXISTS bank", "CREATE TABLE IF NOT EXISTS bank.account (id INT PRIMARY KEY, balance INT NOT NULL)",
		"CREATE TABLE IF NOT EXISTS bank.transfer (id BIGINT PRIMARY KEY, debit INT NOT NULL, credit INT NOT NULL, amount INT NOT NULL, KEY (debit))")
	for i := range bookAccounts {
		mustExec(c.t, db, fmt.Sprintf("INSERT IGNORE INTO bank.account VALUES (%d, %d)", i, bookBalance))
	}
	l := &books{c: c, stop: make(chan struct{}), seed: testkit.Seed(c.t), base: time.Now().UnixNano()}
	var sources []string
	for _, n := range c.nodes {
		sources = append(sources, n.dsn("bank", clientTimeouts))
	}
	for k := range clients {
		l.wait.Go(func() { l.client(k, sources) })
	}
	return l
}

// client transfers until stop. After an error it goes to another node.
func (l *books) client(k int, sources []string) {
	rng := testkit.Rand(l.seed, uint64(k))
	for n := int64(0); ; {
		db, err := sql.Open("mysql", sources[rng.IntN(len(sources))])
		if err != nil {
			l.c.t.Error(err)
			return
		}
		db.SetMaxOpenConns(1)
		for err == nil {
			select {
			case <-l.stop:
				db.Close()
				return
			default:
			}
			n++
			id := l.base + n*bookClientsMax + int64(k)
			if err = transferOnce(db, id, rng); err == nil {
				l.acked.Add(1)
				l.mu.Lock()
				l.ids = append(l.ids, id)
				l.mu.Unlock()
			} else if number := errorNumber(err); number == 1213 || number == 1205 {
				err = nil // it was rolled back
			}
		}
		db.Close()
		select {
		case <-l.stop:
			return
		case <-time.After(20 * time.Millisecond):
		}
	}
}

func transferOnce(db *sql.DB, id int64, rng *rand.Rand) error {
	tx, err := db.BeginTx(context.Background(), nil)
	if err != nil {
		return err
	}
	debit, credit, amount := rng.IntN(bookAccounts), rng.IntN(bookAccounts), 1+rng.IntN(9)
	for _, step := range []struct {
		text string
		args []any
	}{
		{"UPDATE account SET balance = balance - ? WHERE id = ?", []any{amount, debit}},
		{"UPDATE account SET balance = balance + ? WHERE id = ?", []any{amount, credit}},
		{"INSERT INTO transfer VALUES (?, ?, ?, ?)", []any{id, debit, credit, amount}},
	} {
		if _, err := tx.Exec(step.text, step.args...); err != nil {
			_ = tx.Rollback() // the connection may be gone
			return err
		}
	}
	return tx.Commit()
}

// progress waits until some more transfers were acknowledged.
func (l *books) progress() {
	l.c.t.Helper()
	from := l.acked.Load()
	l.c.await("transfers to go on", func() bool { return l.acked.Load() >= from+20 })
}

// finish ends the clients and checks the books: every acknowledged transfer is there, and all that is there is there whole.
func (l *books) finish() {
	t := l.c.t
	t.Helper()
	close(l.stop)
	l.wait.Wait()
	checkBooks(t, l.c.gateway().open("bank"), l.ids)
	t.Logf("%d transfers acknowledged", len(l.ids))
}

// checkBooks checks the books against what was acknowledged. It returns how many faults it told of.
func checkBooks(t testing.TB, db *sql.DB, acked []int64) {
	t.Helper()
	rows, err := db.Query("SELECT id, debit, credit, amount FROM transfer")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	there, balance := map[int64]bool{}, [bookAccounts]int64{}
	for rows.Next() {
		var id, amount int64
		var debit, credit int
		if err := rows.Scan(&id, &debit, &credit, &amount); err != nil {
			t.Fatal(err)
		}
		there[id] = true
		balance[debit] -= amount
		balance[credit] += amount
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	lost := slices.DeleteFunc(slices.Clone(acked), func(id int64) bool { return there[id] })
	if len(lost) > 0 {
		t.Errorf("%d of %d acknowledged transfers are lost", len(lost), len(acked))
	}
	for i := range balance {
		if got := queryInt(t, db, "SELECT balance FROM account WHERE id = "+strconv.Itoa(i)); got != bookBalance+balance[i] {
			t.Errorf("account %d has %d, its transfers say %d", i, got, bookBalance+balance[i])
		}
	}
	if n := queryInt(t, db, "SELECT COUNT(*) FROM transfer FORCE INDEX (debit) WHERE debit >= 0"); n != int64(len(there)) {
		t.Errorf("the index has %d of %d rows", n, len(there))
	}
}

// TestThreeCopies lets a node that is alone grow to three under load, and kills nodes: nothing acknowledged is lost, nothing is there in part, and
// writes go on.
func TestThreeCopies(t *testing.T) {
	c := growNode(t)
	mustExec(t, c.nodes[0].open(""), "CREATE DATABASE old", "CREATE TABLE old.t (id INT PRIMARY KEY, v VARCHAR(20), KEY (v))", "INSERT INTO old.t VALUES (1, 'one'), (2, 'two')")
	c.grow(3)
	for _, n := range c.nodes {
		if got := queryInt(t, n.open("old"), "SELECT COUNT(*) FROM t WHERE v IN ('one', 'two')"); got != 2 {
			t.Errorf("through %s: %d rows", n.dir, got)
		}
	}
	for _, n := range c.nodes {
		if _, page := n.get("/metrics"); !strings.Contains(page, "pando_transport_messages_total{") || !strings.Contains(page, "pando_raft_leases_total ") {
			t.Errorf("the metrics of %s say nothing of the cluster", n.dir)
		}
		if n != c.gateway() {
			if _, err := n.open("").Exec("SHUTDOWN"); errorNumber(err) != 1235 {
				t.Errorf("SHUTDOWN through another node than the gateway: %v", err)
			}
		}
		c.await("all nodes to be alive, as "+n.dir+" says", func() bool {
			_, page := n.get("/status")
			return !strings.Contains(page, `"alive": false`)
		})
	}
	db := c.nodes[1].open("")
	for query, want := range map[string]int64{
		"SELECT COUNT(*) FROM information_schema.TIKV_STORE_STATUS WHERE STORE_STATE_NAME = 'Up'":                                                                3,
		"SELECT COUNT(*) FROM information_schema.TIKV_STORE_STATUS WHERE LAST_HEARTBEAT_TS > NOW() - INTERVAL 1 HOUR AND (LEADER_COUNT = 0) = (LEADER_SIZE = 0)": 3,
		"SELECT COUNT(DISTINCT SERVER_ID) FROM information_schema.CLUSTER_INFO WHERE TYPE = 'tikv'":                                                              3,
		"SELECT COUNT(*) FROM information_schema.CLUSTER_INFO WHERE TYPE = 'tidb'":                                                                               1,
		"SELECT MIN(n) FROM (SELECT COUNT(*) n FROM information_schema.TIKV_REGION_PEERS GROUP BY REGION_ID) peers":                                              3,
		"SELECT COUNT(*) FROM information_schema.TIKV_REGION_PEERS WHERE IS_LEARNER OR STATUS <> 'NORMAL'":                                                       0,
	} {
		// A node that was not run for some seconds counts as down for a moment.
		c.await(fmt.Sprintf("%d from %s", want, query), func() bool { return queryInt(t, db, query) == want })
	}
	c.await("each node to have told of its disk and its program", func() bool {
		db := c.gateway().open("")
		return queryInt(t, db, "SELECT COUNT(*) FROM information_schema.TIKV_STORE_STATUS WHERE CAPACITY > '' AND AVAILABLE > '' AND VERSION > '' AND START_TS <= NOW() AND UPTIME > ''") == 3 &&
			queryInt(t, db, "SELECT COUNT(DISTINCT STATUS_ADDRESS) FROM information_schema.CLUSTER_INFO WHERE TYPE = 'tikv' AND VERSION > '' AND START_TIME > ''") == 3
	})
	l := c.startBooks(4)
	l.progress()
	others := func() (out []*node) {
		gateway := c.gateway()
		return slices.DeleteFunc(slices.Clone(c.nodes), func(n *node) bool { return n == gateway })
	}
	t.Log("another node than the gateway dies")
	dead := others()[0]
	dead.kill()
	l.progress()
	c.awaitStates("down", "up", "up")
	dead.start()
	c.awaitStates("up", "up", "up")
	c.settle()
	t.Log("the gateway dies")
	dead = c.gateway()
	dead.kill()
	l.progress()
	if c.gateway() == dead {
		t.Error("a dead node is the gateway")
	}
	dead.start()
	c.settle()
	l.finish()

	t.Log("all die")
	l = c.startBooks(4)
	l.progress()
	for _, n := range c.nodes {
		n.kill()
	}
	for _, n := range c.nodes {
		n.start()
	}
	l.finish()
	c.settle()
	last := c.nodes[2]
	last.stop()
	if out, err := exec.Command(binary, "check", last.dir).CombinedOutput(); err != nil || !strings.Contains(string(out), "one of several") {
		t.Errorf("pando check of a node of three: %v\n%s", err, out)
	}
	if got := queryInt(t, c.gateway().open("old"), "SELECT COUNT(*) FROM t WHERE v IN ('one', 'two')"); got != 2 {
		t.Errorf("%d rows", got)
	}
}

// TestBooksNotice: a check that never fails would defend nothing.
func TestBooksNotice(t *testing.T) {
	c := &copies{t: t, nodes: []*node{startNode(t, "")}}
	db := c.nodes[0].open("")
	mustExec(t, db, "CREATE DATABASE bank", "CREATE TABLE bank.account (id INT PRIMARY KEY, balance INT NOT NULL)",
		"CREATE TABLE bank.transfer (id BIGINT PRIMARY KEY, debit INT NOT NULL, credit INT NOT NULL, amount INT NOT NULL, KEY (debit))",
		"INSERT INTO bank.transfer VALUES (7, 1, 2, 3)")
	for i := range bookAccounts {
		mustExec(t, db, fmt.Sprintf("INSERT INTO bank.account VALUES (%d, %d)", i, bookBalance+map[int]int{1: -3, 2: 3}[i]))
	}
	faulty := func(acked ...int64) bool {
		r := &recorder{TB: t}
		checkBooks(r, c.nodes[0].open("bank"), acked)
		return r.failed
	}
	if faulty(7) {
		t.Error("books that are right were faulted")
	}
	if !faulty(7, 8) {
		t.Error("a lost transfer was not noticed")
	}
	mustExec(t, db, "UPDATE bank.account SET balance = balance + 1 WHERE id = 2")
	if !faulty(7) {
		t.Error("half a transfer was not noticed")
	}
}

// endsRefused starts a node that the cluster does not want any more, and expects it to end by itself with a sentence and a code that tells of it.
func endsRefused(t testing.TB, n *node, sentence string) {
	t.Helper()
	if err := n.launch(); err != nil {
		t.Fatal(err)
	}
	<-n.logDrained // or the test never ends
	if code := n.stop(); code == 0 || !strings.Contains(n.logText(), "cannot be part of its cluster any more") || !strings.Contains(n.logText(), sentence) {
		t.Errorf("a node that is refused has ended with code %d:\n%s", code, lastPart(n.logText()))
	}
}

// TestCopyStartedTwice: a copy of a node's directory that is started while the node runs ends with a sentence and leaves the node as it was, although other nodes
// than the gateway have heard of neither.
func TestCopyStartedTwice(t *testing.T) {
	c := growNode(t)
	c.grow(3)
	n := c.nodes[1]
	s, ok := n.clusterStatus()
	if !ok || s.Cluster.Role == "gateway" {
		t.Fatalf("%+v", s)
	}
	starts := c.startsOf(n, s.Cluster.Store)
	twin := &node{t: t, dir: t.TempDir(), args: slices.Clone(n.args)}
	twin.args[1] = clusterAddress(t)
	t.Cleanup(twin.kill)
	if err := os.CopyFS(twin.dir, os.DirFS(n.dir)); err != nil {
		t.Fatal(err)
	}
	b := c.startBooks(2)
	if err := twin.launch(); err != nil {
		t.Fatal(err)
	}
	<-twin.logDrained // it ends by itself, or the test never does
	if code := twin.stop(); code == 0 || !strings.Contains(twin.logText(), "must not be started; delete this copy") {
		t.Errorf("a copy of a running node's directory has ended with code %d:\n%s", code, lastPart(twin.logText()))
	}
	c.settle()
	if now := c.startsOf(n, s.Cluster.Store); now != starts || strings.Contains(n.logText(), "refuses") {
		t.Errorf("the node was started %d times, and counts as started %d times:\n%s", starts, now, lastPart(n.logText()))
	}
	b.progress()
	b.finish()
}

// TestRemoveNode: a dead node's copies go to a spare once it is removed, and it ends with a sentence when it comes back. So does a spare that is removed while it
// is alive, and an older copy of a directory.
func TestRemoveNode(t *testing.T) {
	c := growNode(t)
	c.grow(4)
	b := c.startBooks(2)
	var dead *node
	var id uint64
	gateway := c.gateway()
	voters := func() (out []uint64) {
		s, ok := c.gateway().clusterStatus()
		if !ok || len(s.Cluster.Regions) == 0 {
			return nil
		}
		out = s.Cluster.Regions[0].Voters
		for _, r := range s.Cluster.Regions {
			if !slices.Equal(slices.Sorted(slices.Values(r.Voters)), slices.Sorted(slices.Values(out))) {
				return nil
			}
		}
		return out
	}
	first := voters()
	if len(first) != 3 {
		t.Fatalf("voters %d", first)
	}
	for _, n := range c.nodes {
		if s, ok := n.clusterStatus(); ok && n != gateway && slices.Contains(first, s.Cluster.Store) {
			dead, id = n, s.Cluster.Store
		}
	}
	dead.kill()
	b.progress()
	mustExec(t, c.gateway().open(""), fmt.Sprintf("ADMIN NODE REMOVE %d", id))
	c.await("the copies to be where the dead node's were not", func() bool {
		now := voters()
		return len(now) == 3 && !slices.Contains(now, id)
	})
	b.progress()
	b.finish()
	endsRefused(t, dead, "was removed from the cluster")
	if got := voters(); slices.Contains(got, id) {
		t.Errorf("voters %d", got)
	}
	c.nodes = slices.DeleteFunc(c.nodes, func(n *node) bool { return n == dead })
	gateway = c.gateway()
	other := c.nodes[0]
	if other == gateway {
		other = c.nodes[1]
	}
	status, ok := other.clusterStatus()
	if !ok {
		t.Fatal("no status")
	}
	other.stop()
	older := &node{t: t, dir: t.TempDir(), args: other.args}
	t.Cleanup(older.kill)
	if err := os.CopyFS(older.dir, os.DirFS(other.dir)); err != nil {
		t.Fatal(err)
	}
	// Two starts: the copy's first one has the number of the first of them, and nodes that have met neither know of the second one by region 0.
	for range 2 {
		began := c.startsOf(other, status.Cluster.Store)
		other.start()
		c.await("all nodes to know of the start", func() bool { return c.startsOf(other, status.Cluster.Store) > began })
		other.stop()
	}
	endsRefused(t, older, "older copy of the directory")
	other.start()
	c.settle()
	s, ok := other.clusterStatus()
	if !ok {
		t.Fatal("no status")
	}
	mustExec(t, c.gateway().open(""), fmt.Sprintf("ADMIN NODE REMOVE %d", s.Cluster.Store))
	<-other.logDrained // it ends by itself, or the test never does
	if code := other.stop(); code == 0 || !strings.Contains(other.logText(), "was removed from the cluster") {
		t.Errorf("a node that was removed while it was alive has ended with code %d:\n%s", code, lastPart(other.logText()))
	}
}
