package session_test

import (
	"strings"
	"testing"
	"time"

	"github.com/pandodb/pando/infoschema"
	"github.com/pandodb/pando/keys"
	"github.com/pandodb/pando/tests/inproc"
)

// TestRegions: SHOW TABLE … REGIONS and TiDB's tables about a cluster show what the node tells of regions, by table, and to those who may see it.
func TestRegions(t *testing.T) {
	n := inproc.Open(t, inproc.Options{})
	defer n.Close()
	c := n.Root("")
	c.Must("CREATE DATABASE d")
	c.Must("USE d")
	c.Must("CREATE TABLE a (id INT PRIMARY KEY, v INT, KEY v (v))")
	c.Must("CREATE TABLE b (id INT PRIMARY KEY)")
	a := n.Catalog.Current().Lookup("d", "a")
	border, end := keys.IndexPrefix(nil, a.PhysID, a.Indexes[1].ID), keys.PrefixEnd(nil, keys.TablePrefix(nil, a.PhysID))
	n.Regions = func() []infoschema.Region {
		peers := []infoschema.RegionPeer{{ID: 7, Store: 1, Status: "NORMAL"}}
		return []infoschema.Region{{ID: 1, End: border, Peers: peers, LeaderPeer: 7, LeaderStore: 1, Bytes: 3 << 20, Written: 5},
			{ID: 2, Start: border, End: end, Peers: peers, LeaderPeer: 7, LeaderStore: 1},
			{ID: 3, Start: end, Peers: append(peers, infoschema.RegionPeer{ID: 8, Store: 2, Learner: true, Status: "DOWN", Down: 90 * time.Second})}}
	}
	n.Stores = func() []infoschema.Store {
		return []infoschema.Store{{ID: 1, Address: "h:1", State: "Up", SQL: true, Regions: 3, Leaders: 2, Told: &infoschema.StoreFacts{SQL: "h:3306", Version: "v", Capacity: 4 << 30, Available: 1 << 30}},
			{ID: 2, Address: "h:2", State: "Offline", Regions: 1, Heard: time.Unix(1_700_000_000, 0)}}
	}
	column := func(sql string) string {
		var out []string
		for _, row := range c.Must(sql).Rows {
			out = append(out, strings.Join(row, " "))
		}
		return strings.Join(out, "\n")
	}
	of := column("SHOW TABLE a REGIONS")
	if lines := strings.Split(of, "\n"); len(lines) != 2 || !strings.HasPrefix(lines[0], "1  t_") || !strings.Contains(lines[0], " 7 1 7 0 5 NULL 3 NULL") || !strings.Contains(lines[1], "_i_2_") {
		t.Errorf("regions of a:\n%s", of)
	}
	if of := column("SHOW TABLE d.b REGIONS"); !strings.HasPrefix(of, "3 ") || strings.Contains(of, "\n") {
		t.Errorf("regions of b:\n%s", of)
	}
	rows := column("SELECT REGION_ID, TABLE_NAME, IS_INDEX, INDEX_NAME, APPROXIMATE_SIZE FROM information_schema.TIKV_REGION_STATUS ORDER BY 1, 2")
	if want := "1 a 0 NULL 3\n2 a 1 v 1\n3 b 0 NULL 1"; rows != want {
		t.Errorf("TIKV_REGION_STATUS:\n%s", rows)
	}
	if rows := column("SELECT REGION_ID, PEER_ID, IS_LEADER, IS_LEARNER, STATUS FROM information_schema.TIKV_REGION_PEERS ORDER BY 1, 2"); rows != "1 7 1 0 NORMAL\n2 7 1 0 NORMAL\n3 7 0 0 NORMAL\n3 8 0 1 DOWN" {
		t.Errorf("TIKV_REGION_PEERS:\n%s", rows)
	}
	if rows := column("SELECT STORE_ID, ADDRESS, STORE_STATE_NAME, CAPACITY, AVAILABLE, LEADER_COUNT, REGION_COUNT FROM information_schema.TIKV_STORE_STATUS"); rows != "1 h:1 Up 4.00GiB 1.00GiB 2 3\n2 h:2 Offline NULL NULL 0 1" {
		t.Errorf("TIKV_STORE_STATUS: %s", rows)
	}
	if rows := column("SELECT TYPE, INSTANCE, VERSION, SERVER_ID FROM information_schema.CLUSTER_INFO"); rows != "tidb h:3306 v 1\ntikv h:1 v 1\ntikv h:2 NULL 2" {
		t.Errorf("CLUSTER_INFO: %s", rows)
	}
	if rows := column("SELECT PEER_ID, DOWN_SECONDS FROM information_schema.TIKV_REGION_PEERS WHERE REGION_ID = 3 ORDER BY 1"); rows != "7 NULL\n8 90" {
		t.Errorf("for how long replicas are down: %s", rows)
	}
	if rows := column("SELECT STORE_ID, LEADER_SIZE, REGION_SIZE, UNIX_TIMESTAMP(LAST_HEARTBEAT_TS) FROM information_schema.TIKV_STORE_STATUS WHERE STORE_ID = 2"); rows != "2 0 1 1700000000" {
		t.Errorf("a store without leaders, which was heard: %s", rows)
	}
	c.Must("CREATE USER u")
	u, err := n.Connect("u", "127.0.0.1", "")
	if err != nil {
		t.Fatal(err)
	}
	for sql, number := range map[string]int{"SHOW TABLE d.a REGIONS": 1142, "SELECT * FROM information_schema.TIKV_REGION_STATUS": 1227, "SELECT * FROM information_schema.CLUSTER_INFO": 1227} {
		if got := u.Exec(sql).Number(); got != number {
			t.Errorf("%s without rights: %d, not %d", sql, got, number)
		}
	}
}
