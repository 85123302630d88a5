package tests

import (
	"database/sql"
	"testing"
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
