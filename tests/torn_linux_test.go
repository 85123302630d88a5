package tests

import (
	"database/sql"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/pandodb/pando/internal/testkit"
)

// TestGatewayLost: a gateway that stands still, or is cut off from the others, is replaced while clients go on through any node; when it comes back
// it serves clients as the others do. Nothing acknowledged is lost, and all copies are the same at the end. make torture does it at random.
func TestGatewayLost(t *testing.T) {
	a := newArena(t, 3)
	b := a.startBooks(4)
	b.progress()
	for what, f := range map[string]struct {
		lose, find func(g *node)
	}{
		"stands still": {(*node).pause, (*node).resume},
		"is cut off":   {func(g *node) { a.isolate(a.index(g)) }, func(*node) { a.heal() }},
	} {
		t.Logf("the gateway %s", what)
		g, term := a.gatewayTerm(nil, 0)
		f.lose(g)
		_, term = a.gatewayTerm(g, term)
		b.progress()
		f.find(g)
		db, err := sql.Open("mysql", g.dsn("bank", clientTimeouts))
		if err != nil {
			t.Fatal(err)
		}
		a.await("the old gateway to know of the new one, and to serve clients", func() bool {
			s, ok := g.clusterStatus()
			var sum int64
			if !ok || s.Cluster.Term < term || s.Cluster.Role == "waiting" || db.QueryRow("SELECT SUM(balance) FROM account").Scan(&sum) != nil {
				return false
			}
			if sum != bookAccounts*bookBalance {
				t.Errorf("through the old gateway the accounts have %d", sum)
			}
			return true
		})
		db.Close()
		a.settle()
		b.progress()
	}
	b.finish()
	a.sameCopies()
}

// TestRowsOfLostNode: what clients have locked through a node that is cut off from the others, or is not heard, or hears nothing, is free once the gateway
// has not been connected with it for some seconds, without what they had not committed. No end of their connections tells the gateway. The seed draws one
// of the three ways; with DEATHS all are taken.
func TestRowsOfLostNode(t *testing.T) {
	a := newArena(t, 3)
	a.makeRows(6)
	drawn, want := testkit.Rand(testkit.Seed(t), 0).IntN(3), int64(0)
	for first, lose := range []func(i int){
		a.isolate,
		func(i int) { // it is not heard
			a.proxies[i].Hold(testkit.Way{Dialer: testkit.Everyone, Back: true})
			for j, p := range a.proxies {
				if j != i {
					p.Hold(testkit.Way{Dialer: i})
				}
			}
		},
		func(i int) { // it hears nothing
			a.proxies[i].Hold(testkit.Way{Dialer: testkit.Everyone})
			for j, p := range a.proxies {
				if j != i {
					p.Hold(testkit.Way{Dialer: i, Back: true})
				}
			}
		},
	} {
		if first != drawn && os.Getenv("DEATHS") == "" {
			continue
		}
		want += 2
		g, _ := a.gatewayTerm(nil, 0)
		i := (a.index(g) + 1) % len(a.nodes)
		lost, rest := a.nodes[i], slices.Delete(slices.Clone(a.nodes), i, i+1)
		ids := []int{2 * first, 2*first + 1}
		h := a.copies.hold(lost, ids...)
		if err := takeOnceNow(g, ids[0]); errorNumber(err) != 3572 {
			t.Fatalf("a row that should be locked: %v", err)
		}
		lose(i)
		begun := time.Now()
		a.take(rest, ids)
		t.Logf("the rows were free after %v", time.Since(begun).Round(time.Millisecond))
		a.heal()
		if err := h.tx.Commit(); err == nil {
			t.Error("a transaction of a lost node was committed")
		}
		a.settle()
	}
	if got := queryInt(t, a.gateway().open("deaths"), "SELECT COUNT(*) FROM held WHERE n = 1"); got != want {
		t.Errorf("%d of %d rows are as they should be", got, want)
	}
}
