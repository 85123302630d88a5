package server

import (
	"encoding/json"
	"net/http"
	"slices"
	"testing"

	"github.com/pandodb/pando/internal/testkit"
)

// TestLeaseLostAlone: a gateway that has lost its lease, and still leads region 0 in the same term because nobody was elected meanwhile, becomes the
// gateway again. So it is when all nodes of a cluster were suspended at once.
func TestLeaseLostAlone(t *testing.T) {
	n, err := Open(t.Context(), clusterOptions(t.TempDir()))
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := n.Close(); err != nil {
			t.Error(err)
		}
	}()
	if _, err := n.promote(); err != nil {
		t.Fatal(err)
	}
	testkit.Await(t, "the gateway", n.serves)
	_, _, term, _ := n.store.Role()
	before := n.sql.get()
	n.store.StepDown()
	testkit.Await(t, "what executes SQL to be another", func() bool {
		now := n.sql.get()
		return now != nil && now != before && n.serves()
	})
	if _, here, now, _ := n.store.Role(); !here || now != term {
		t.Errorf("it leads: %t, term %d, not %d: this test has not shown anything", here, now, term)
	}
	// It is a higher incarnation now, and others who know that hear it.
	token, err := n.newToken(1, 0)
	if err != nil {
		t.Fatal(err)
	}
	o := clusterOptions(t.TempDir())
	o.Join, o.JoinToken = n.advertised(), token.Text
	second, err := Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := second.Close(); err != nil {
			t.Error(err)
		}
	}()
	testkit.Await(t, "the copies of a node that joins", func() bool {
		st := second.store.MetaStatus()
		return st != nil && len(st.Region.Peers) == 2 && n.serves()
	})
}

// TestChecksums: the status port tells a checksum of each copy with its index, the same as long as that is the same; a node that is alone has no copies.
func TestChecksums(t *testing.T) {
	o := clusterOptions(t.TempDir())
	o.HTTP = "127.0.0.1:0"
	n, err := Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := n.Close(); err != nil {
			t.Error(err)
		}
	}()
	ask := func() (list []copyChecksum) {
		answer, err := http.Get("http://" + n.httpListener.Addr().String() + "/debug/checksums")
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = answer.Body.Close() }()
		if err := json.NewDecoder(answer.Body).Decode(&list); err != nil || list == nil {
			t.Fatalf("%s: %v", answer.Status, err)
		}
		return list
	}
	if list := ask(); len(list) != 0 {
		t.Errorf("alone: %+v", list)
	}
	if _, err := n.promote(); err != nil {
		t.Fatal(err)
	}
	testkit.Await(t, "two answers of one index", func() bool {
		one, two := ask(), ask()
		same := len(one) > 1 && one[0].Region == 0 && len(two) == len(one)
		for i := range one {
			if same = same && one[i].Index == two[i].Index; same && one[i].Checksum != two[i].Checksum {
				t.Fatalf("one index, two checksums: %+v, %+v", one[i], two[i])
			}
		}
		return same && !slices.ContainsFunc(one, func(c copyChecksum) bool { return c.Index == 0 || len(c.Checksum) != 16 })
	})
}
