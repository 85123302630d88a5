package session_test

import (
	"strings"
	"testing"
	"time"

	"github.com/pandodb/pando/kvapi"
	"github.com/pandodb/pando/session"
	"github.com/pandodb/pando/tests/inproc"
)

// TestClusterStatements: ADMIN TOKEN, NODES, NODE REMOVE and REGIONS hand on what they are told and show what they get, to accounts with SUPER,
// and a node that is no cluster's says so.
func TestClusterStatements(t *testing.T) {
	node, c := inproc.OpenDatabase(t)
	check := func(text, want string) {
		t.Helper()
		if got := strings.TrimSpace(c.Exec(text).String()); got != want {
			t.Errorf("%s:\n%s\nwant\n%s", text, got, want)
		}
	}
	alone := "ERROR 1235 (42000): This version of Pando doesn't yet support '%s of a node that is no cluster's; ADMIN PROMOTE makes it the first of one'"
	for _, text := range []string{"ADMIN TOKEN", "ADMIN NODES", "ADMIN REGIONS"} {
		check(text, strings.Replace(alone, "%s", text, 1))
	}
	check("ADMIN NODE REMOVE 3", strings.Replace(alone, "%s", "ADMIN NODE REMOVE", 1))
	var asked []any
	node.Cluster = session.Cluster{
		Token: func(uses uint64, last time.Duration) (session.ClusterToken, error) {
			asked = []any{uses, last}
			return session.ClusterToken{Text: "pando-join-x", Until: time.Unix(1800000000, 0), Uses: 8}, nil
		},
		Nodes: func() ([]session.ClusterNode, error) {
			return []session.ClusterNode{{ID: 1, Address: "a:1", State: "up", Role: "gateway", Connected: "here", Heard: -1, Copies: 4, Leaders: 4},
				{ID: 7, Address: "b:1", State: "leaving", Connected: "no", Heard: 90 * time.Second, RTT: 1500 * time.Microsecond, Copies: 3, Reason: "nobody listens at b:1"}}, nil
		},
		Remove: func(id uint64) (string, error) {
			if id == 7 {
				return "node 7 leaves", nil
			}
			if id == 8 {
				return "", kvapi.ErrUndetermined
			}
			return "", session.ErrClusterArguments("ADMIN NODE REMOVE", "there is no node 9")
		},
		Regions: func() ([]session.ClusterRegion, error) {
			return []session.ClusterRegion{{ID: 2, Start: "", End: "04aa", Leader: 1, Peers: "1, 7 learner", Term: 6, Applied: 90, Lag: 3, Bytes: 4096}}, nil
		},
	}
	check("ADMIN TOKEN", "TOKEN\tUNTIL\tUSES\npando-join-x\t2027-01-15 08:00:00 UTC\t8")
	if asked[0] != uint64(0) || asked[1] != time.Duration(0) {
		t.Errorf("%v", asked)
	}
	c.Must("admin token uses 2 hours 3")
	if asked[0] != uint64(2) || asked[1] != 3*time.Hour {
		t.Errorf("%v", asked)
	}
	check("ADMIN TOKEN USES 0", "ERROR 1525 (HY000): Incorrect USES value: '0'")
	check("ADMIN TOKEN HOURS 99999999999999999", "ERROR 1525 (HY000): Incorrect HOURS value: '99999999999999999'")
	check("ADMIN TOKEN HOURS 99999999999999999999999", "ERROR 1525 (HY000): Incorrect number value: '99999999999999999999999'")
	check("ADMIN NODES", "NODE_ID\tADDRESS\tSTATE\tROLE\tCONNECTED\tHEARD_S\tRTT_MS\tCOPIES\tLEADERS\tREASON\n1\ta:1\tup\tgateway\there\tNULL\t0.000\t4\t4\t\n7\tb:1\tleaving\t\tno\t90.0\t1.500\t3\t0\tnobody listens at b:1")
	check("ADMIN NODE REMOVE 7", "STATE\nnode 7 leaves")
	check("ADMIN NODE REMOVE 9", "ERROR 1210 (HY000): Incorrect arguments to ADMIN NODE REMOVE: there is no node 9")
	check("ADMIN NODE REMOVE 8", "ERROR 9005 (HY000): Region is unavailable: outcome of the commit is unknown; repeat the statement")
	check("ADMIN REGIONS", "REGION_ID\tSTART_KEY\tEND_KEY\tLEADER\tPEERS\tTERM\tAPPLIED\tLAG\tBYTES\n2\t\t04aa\t1\t1, 7 learner\t6\t90\t3\t4096")
	c.Must("CREATE USER plain")
	plain, err := node.Connect("plain", "localhost", "")
	if err != nil {
		t.Fatal(err)
	}
	defer plain.Close()
	for _, text := range []string{"ADMIN TOKEN", "ADMIN NODES", "ADMIN NODE REMOVE 7", "ADMIN REGIONS", "ADMIN PROMOTE"} {
		if got := plain.Exec(text).String(); !strings.Contains(got, "ERROR 1227") {
			t.Errorf("%s by an account without SUPER: %s", text, got)
		}
	}
}
