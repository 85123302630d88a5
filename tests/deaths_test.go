package tests

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// held are rows that a client has locked through a node and not let go of.
type held struct {
	tx  *sql.Tx
	ids []int
}

// hold locks rows of deaths.held through a node: some are read to be changed, some are changed.
func (c *copies) hold(n *node, ids ...int) *held {
	c.t.Helper()
	db := n.open("deaths")
	tx, err := db.BeginTx(context.Background(), nil)
	if err != nil {
		c.t.Fatal(err)
	}
	h := &held{tx: tx, ids: ids}
	for i, id := range ids {
		statement := "SELECT n FROM held WHERE id = ? FOR UPDATE"
		if i%2 == 1 {
			statement = "UPDATE held SET n = n + 1000 WHERE id = ?"
		}
		if _, err := tx.Exec(statement, id); err != nil {
			c.t.Fatal(err)
		}
	}
	return h
}

// take changes all rows in one transaction through any of some nodes, as soon as they let it. Each row is changed by one.
func (c *copies) take(nodes []*node, ids []int) {
	c.t.Helper()
	tries := 0
	c.await("the rows of a dead node to be free", func() bool {
		tries++
		return takeOnce(nodes[tries%len(nodes)], ids) == nil
	})
}

func takeOnce(n *node, ids []int) error {
	db, err := sql.Open("mysql", n.dsn("deaths", clientTimeouts))
	if err != nil {
		return err
	}
	defer db.Close()
	tx, err := db.BeginTx(context.Background(), nil)
	if err != nil {
		return err
	}
	for _, id := range ids {
		if _, err := tx.Exec("UPDATE held SET n = n + 1 WHERE id = ?", id); err != nil {
			return errors.Join(err, tx.Rollback())
		}
	}
	return tx.Commit()
}

// makeRows makes what hold and take work on.
func (c *copies) makeRows(n int) {
	c.t.Helper()
	db := c.gateway().open("")
	mustExec(c.t, db, "CREATE DATABASE deaths", "CREATE TABLE deaths.held (id INT PRIMARY KEY, n INT NOT NULL)")
	for id := range n {
		mustExec(c.t, db, fmt.Sprintf("INSERT INTO deaths.held VALUES (%d, 0)", id))
	}
}

// TestRowsOfDeadGateway: what clients had locked through a gateway that is killed is free at the next one, without what they had not committed, whether they were connected with
// the gateway or with a node that handed them on.
func TestRowsOfDeadGateway(t *testing.T) {
	c := growNode(t)
	c.grow(3)
	c.makeRows(8)
	dead := c.gateway()
	survivors := slices.DeleteFunc(slices.Clone(c.nodes), func(n *node) bool { return n == dead })
	holders := []*held{c.hold(dead, 0, 1, 2), c.hold(survivors[0], 3, 4, 5)}
	if err := takeOnceNow(dead, 1); errorNumber(err) != 3572 {
		t.Fatalf("a row that should be locked: %v", err)
	}
	dead.kill()
	killed := time.Now()
	c.take(survivors, []int{0, 1, 2, 3, 4, 5})
	t.Logf("the rows were free after %v", time.Since(killed).Round(time.Millisecond))
	for _, h := range holders {
		if err := h.tx.Commit(); err == nil {
			t.Error("a transaction of a dead gateway was committed")
		}
	}
	if got := queryInt(t, survivors[0].open("deaths"), "SELECT COUNT(*) FROM held WHERE n = IF(id < 6, 1, 0)"); got != 8 {
		t.Errorf("%d rows are as they should be", got)
	}
	dead.start()
	c.settle()
}

// takeOnceNow locks a row, or is told at once that it cannot.
func takeOnceNow(n *node, id int) error {
	return n.open("deaths").QueryRow("SELECT n FROM held WHERE id = ? FOR UPDATE NOWAIT", id).Scan(new(int))
}

// writer is a client of the measured deaths: it inserts rows one by one, through the node that is its own or, after an error, through the next.
type writer struct {
	mu    sync.Mutex // guards what follows
	mark  time.Time
	ended time.Time // of the first acknowledged write that began after mark, zero before there is one
	acked int64
}

func (w *writer) run(c *copies, k int, stop <-chan struct{}) {
	for n, at := int64(0), k; ; at++ {
		db, err := sql.Open("mysql", c.nodes[at%len(c.nodes)].dsn("deaths", "timeout=1s&readTimeout=15s&writeTimeout=15s"))
		if err != nil {
			c.t.Error(err)
			return
		}
		db.SetMaxOpenConns(1)
		for err == nil {
			select {
			case <-stop:
				db.Close()
				return
			default:
			}
			n++
			began := time.Now()
			// A repeated attempt would meet the row of one that was not acknowledged: each has a number of its own.
			if _, err = db.Exec(fmt.Sprintf("INSERT INTO w%d VALUES (?, ?)", k), n, strings.Repeat("x", 100)); err == nil {
				w.acknowledged(began)
			}
		}
		db.Close()
		select {
		case <-stop:
			return
		case <-time.After(20 * time.Millisecond):
		}
	}
}

func (w *writer) acknowledged(began time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.acked++; w.ended.IsZero() && began.After(w.mark) {
		w.ended = time.Now()
	}
}

// markNow has the writer note when the first write that begins from now on is acknowledged.
func (w *writer) markNow(now time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.mark, w.ended = now, time.Time{}
}

// awaitWrite waits until the writer has an acknowledged write that began after the mark, and returns when that was acknowledged.
func (w *writer) awaitWrite(c *copies) (ended time.Time) {
	c.t.Helper()
	c.await("a writer to go on", func() bool {
		w.mu.Lock()
		defer w.mu.Unlock()
		ended = w.ended
		return !ended.IsZero()
	})
	return ended
}

// spread is what was measured again and again.
type spread []time.Duration

func (s spread) String() string {
	sorted := slices.Sorted(slices.Values(s))
	at := func(p int) time.Duration {
		return sorted[min(len(sorted)-1, len(sorted)*p/100)].Round(10 * time.Millisecond)
	}
	return fmt.Sprintf("%d times, p50 %v, p95 %v, longest %v", len(s), at(50), at(95), at(100))
}

// TestDeaths measures how long writes pause when nodes die: DEATHS=40 kills each kind so often. It demands that they go on, and that no acknowledged one is lost; the
// demands of docs/cluster.md are judged by who reads what it prints.
func TestDeaths(t *testing.T) {
	times, err := strconv.Atoi(os.Getenv("DEATHS"))
	if err != nil || times < 1 {
		t.Skip("takes long; DEATHS=40 kills 40 nodes that follow, and 40 gateways")
	}
	c := growNode(t)
	c.grow(3)
	c.makeRows(100)
	writers, stop := []*writer{}, make(chan struct{})
	var running sync.WaitGroup
	for k := range 6 { // two through each node
		mustExec(t, c.gateway().open("deaths"), fmt.Sprintf("CREATE TABLE w%d (id BIGINT PRIMARY KEY, v VARCHAR(100))", k))
		w := &writer{}
		writers = append(writers, w)
		running.Go(func() { w.run(c, k, stop) })
	}
	results := map[string]*spread{}
	note := func(what string, d time.Duration) {
		if results[what] == nil {
			results[what] = &spread{}
		}
		*results[what] = append(*results[what], d)
	}
	for i := range 2 * times {
		c.settle()
		gateway := c.gateway()
		dead, kind := gateway, "gateway killed"
		if i%2 == 0 {
			others := slices.DeleteFunc(slices.Clone(c.nodes), func(n *node) bool { return n == gateway })
			dead, kind = others[i/2%2], "follower killed"
		}
		ids := []int{i % 100, (i + 1) % 100, (i + 2) % 100}
		if dead == gateway {
			c.hold(gateway, ids...)
		}
		for _, w := range writers {
			w.markNow(time.Now())
			w.awaitWrite(c)
		}
		killed := time.Now() // before the signal: what follows is no shorter than what a client sees
		for _, w := range writers {
			w.markNow(killed)
		}
		dead.kill()
		var rows sync.WaitGroup
		if dead == gateway {
			rows.Go(func() {
				c.take(slices.DeleteFunc(slices.Clone(c.nodes), func(n *node) bool { return n == dead }), ids)
				note("rows of a killed gateway free", time.Since(killed))
			})
		}
		first, last := time.Duration(1<<62), time.Duration(0)
		for _, w := range writers {
			gap := w.awaitWrite(c).Sub(killed)
			first, last = min(first, gap), max(last, gap)
		}
		rows.Wait()
		note(kind+", some client writes", first)
		note(kind+", all clients write", last)
		dead.start()
	}
	close(stop)
	running.Wait()
	for what, s := range results {
		t.Logf("%s: %v", what, *s)
	}
	db := c.gateway().open("deaths")
	for k, w := range writers {
		if got := queryInt(t, db, fmt.Sprintf("SELECT COUNT(*) FROM w%d", k)); got < w.acked {
			t.Errorf("writer %d has %d rows, and was told of %d", k, got, w.acked)
		}
	}
}

// TestGatewayLeaves: a gateway that is stopped, or removed from the cluster, says that it serves no more: the next waits for no lease, and nothing acknowledged is lost. A
// gateway that is killed says nothing.
func TestGatewayLeaves(t *testing.T) {
	c := growNode(t)
	c.grow(4) // with a spare, which gets the copies of the one that is removed
	b := c.startBooks(2)
	b.progress()
	next := func(old *node, released bool) *node {
		t.Helper()
		found, _ := c.gatewayTerm(old, 0)
		b.progress()
		text := found.logText()
		at := strings.LastIndex(text, "this node is the cluster's gateway\"")
		if line, _, _ := strings.Cut(text[max(at, 0):], "\n"); at < 0 || !strings.Contains(line, fmt.Sprintf("released=%t", released)) {
			t.Errorf("the next gateway says %q", line)
		}
		return found
	}
	old := c.gateway()
	if code := old.stop(); code != 0 {
		t.Errorf("it has ended with code %d", code)
	}
	stopped := old
	old = next(stopped, true)
	stopped.start()
	c.settle()
	s, ok := old.clusterStatus()
	if !ok {
		t.Fatal("no status")
	}
	mustExec(t, old.open(""), fmt.Sprintf("ADMIN NODE REMOVE %d", s.Cluster.Store))
	<-old.logDrained // it ends by itself, or the test never does
	old.stop()
	c.nodes = slices.DeleteFunc(c.nodes, func(n *node) bool { return n == old })
	old = next(old, true)
	c.settle()
	old.kill()
	killed := old
	next(killed, false)
	killed.start()
	c.settle()
	b.finish()
}
