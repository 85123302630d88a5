package infoschema

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/pandodb/pando/catalog"
	"github.com/pandodb/pando/internal/assert"
	"github.com/pandodb/pando/keys"
	"github.com/pandodb/pando/privilege"
	"github.com/pandodb/pando/types"
)

// Region is a key range of this node's store.
type Region struct {
	ID                       uint64
	ConfVer, Version         uint64
	Start, End               []byte // logical keys; an empty End is none
	Peers                    []RegionPeer
	LeaderPeer, LeaderStore  uint64 // 0 while nobody is known to lead
	Bytes, Written, LogBytes int64
}

// RegionPeer is one replica.
type RegionPeer struct {
	ID, Store uint64
	Learner   bool
	// Status is NORMAL, PENDING for one that has not caught up, or DOWN for one that does not answer.
	Status string
	// Down is for how long one that is DOWN has not been heard, as far as that is known; 0 where it is not.
	Down time.Duration
}

// Store is a node's disk as its cluster sees it.
type Store struct {
	ID                 uint64
	Address            string // of the port for other nodes; of SQL where there is none
	State              string // Up, Disconnected or Offline, which leaves, as TiDB has them
	SQL                bool   // the node executes SQL
	Leaders, Regions   int
	LeaderBytes, Bytes int64
	Heard              time.Time // when this node last heard of it; zero for never, and for this node itself
	// Told is what the node tells of itself, nil if it has not told this one yet.
	Told *StoreFacts
}

// StoreFacts is what a node knows of itself.
type StoreFacts struct {
	SQL                 string // the address of SQL
	Status, Version     string // Status is the address of the status port
	Capacity, Available int64
	Start               time.Time // by the clock of the node that is asked
}

// TiDB's tables about a cluster have their columns here; those without a fact behind them are NULL.
func clusterSources() map[string]source {
	return map[string]source{
		"TIKV_REGION_STATUS": {rows: regionStatus, layout: ownLayout("TIKV_REGION_STATUS", `REGION_ID bigint, START_KEY text, END_KEY text, TABLE_ID bigint, DB_NAME varchar(64), TABLE_NAME varchar(64),
			IS_INDEX tinyint, INDEX_ID bigint, INDEX_NAME varchar(64), IS_PARTITION tinyint, PARTITION_ID bigint, PARTITION_NAME varchar(64), EPOCH_CONF_VER bigint, EPOCH_VERSION bigint,
			WRITTEN_BYTES bigint, READ_BYTES bigint, APPROXIMATE_SIZE bigint, APPROXIMATE_KEYS bigint, REPLICATIONSTATUS_STATE varchar(64), REPLICATIONSTATUS_STATEID bigint`)},
		"TIKV_REGION_PEERS": {rows: regionPeers, layout: ownLayout("TIKV_REGION_PEERS", `REGION_ID bigint, PEER_ID bigint, STORE_ID bigint, IS_LEARNER tinyint, IS_LEADER tinyint, STATUS varchar(10), DOWN_SECONDS bigint`)},
		"TIKV_STORE_STATUS": {rows: storeStatus, layout: ownLayout("TIKV_STORE_STATUS", `STORE_ID bigint, ADDRESS varchar(64), STORE_STATE bigint, STORE_STATE_NAME varchar(64), LABEL json, VERSION varchar(64),
			CAPACITY varchar(64), AVAILABLE varchar(64), LEADER_COUNT bigint, LEADER_WEIGHT double, LEADER_SCORE double, LEADER_SIZE bigint, REGION_COUNT bigint, REGION_WEIGHT double, REGION_SCORE double,
			REGION_SIZE bigint, START_TS timestamp, LAST_HEARTBEAT_TS timestamp, UPTIME varchar(64)`)},
		"CLUSTER_INFO": {rows: clusterInfo, layout: ownLayout("CLUSTER_INFO", `TYPE varchar(64), INSTANCE varchar(64), STATUS_ADDRESS varchar(64), VERSION varchar(64), GIT_HASH varchar(64), START_TIME varchar(32),
			UPTIME varchar(32), SERVER_ID bigint`)},
	}
}

// ownLayout is the layout of a table that the recorded server has not: "NAME type, …".
func ownLayout(name, columns string) *layout {
	l := &layout{schema: "information_schema", name: name, kind: "SYSTEM VIEW"}
	for _, c := range strings.Split(columns, ",") {
		name, shown, _ := strings.Cut(strings.TrimSpace(c), " ")
		collation := ""
		if strings.HasPrefix(shown, "varchar") || shown == "text" {
			collation = "utf8mb3_general_ci"
		}
		kind, err := parseType(shown, collation)
		assert.That(err == nil, "infoschema: "+shown+" is a type")
		l.columns = append(l.columns, column{name: name, shown: shown, collation: collation, kind: kind, nullable: true})
	}
	return l
}

// mayWatch asks for PROCESS, as TiDB does: where keys lie tells of tables that the account may not see.
func (q *query) mayWatch() error {
	if q.Account().Has(privilege.Process, "", "") {
		return nil
	}
	return types.Errorf(types.ErSpecificAccessDenied, "PROCESS")
}

// tablesByData are the tables of all databases in the order of their data.
func tablesByData(s *catalog.Snapshot) (all []*catalog.Table) {
	for _, db := range s.Databases() {
		for _, t := range s.Tables(db.Name) {
			if t.View == nil {
				all = append(all, t)
			}
		}
	}
	slices.SortFunc(all, func(a, b *catalog.Table) int {
		return bytes.Compare(keys.TablePrefix(nil, a.PhysID), keys.TablePrefix(nil, b.PhysID))
	})
	return all
}

// Holds reports whether a region has keys of a physical table.
func (r *Region) Holds(physID uint64) bool {
	prefix := keys.TablePrefix(nil, physID)
	end := keys.PrefixEnd(nil, prefix)
	return bytes.Compare(r.Start, end) < 0 && (len(r.End) == 0 || bytes.Compare(prefix, r.End) < 0)
}

// KeyText names a bound of regions as TiDB's SHOW TABLE REGIONS does: t_5_r_0a, t_5_i_2_…
func KeyText(key []byte) string {
	if physID, index, rest, ok := keys.DecodeIndexPrefix(key); ok {
		return fmt.Sprintf("t_%d_i_%d_%x", physID, index, rest)
	}
	physID, rest, ok := keys.DecodeTablePrefix(key)
	switch {
	case !ok:
		return hex.EncodeToString(key)
	case len(rest) == 0:
		return fmt.Sprintf("t_%d_", physID)
	case rest[0] == keys.RowByte && len(rest) == 1:
		return fmt.Sprintf("t_%d_r", physID)
	case rest[0] == keys.RowByte:
		return fmt.Sprintf("t_%d_r_%x", physID, rest[1:])
	}
	return fmt.Sprintf("t_%d_%x", physID, rest)
}

// mebibytes is a size of regions as TiDB tells it: in MiB, and 1 for less.
func mebibytes(bytes int64) int64 { return max(1, bytes>>20) }

// regionStatus has a row for each region and table that it holds keys of, and one for a region without a table.
func regionStatus(q *query) error {
	if err := q.mayWatch(); err != nil {
		return err
	}
	tables := tablesByData(q.Snapshot())
	for _, r := range q.Regions() {
		row := func(table, schema, name, isIndex, index, indexName any) error {
			return q.emit(r.ID, strings.ToUpper(hex.EncodeToString(r.Start)), strings.ToUpper(hex.EncodeToString(r.End)), table, schema, name, isIndex, index, indexName,
				0, nil, nil, r.ConfVer, r.Version, r.Written, nil, mebibytes(r.Bytes), nil, nil, nil)
		}
		found := false
		for _, t := range tables {
			if !r.Holds(t.PhysID) {
				continue
			}
			found = true
			isIndex, index, name := 0, any(nil), any(nil)
			if physID, id, _, ok := keys.DecodeIndexPrefix(r.Start); ok && physID == t.PhysID {
				if ix := t.IndexByID(id); ix != nil {
					isIndex, index, name = 1, id, ix.Name
				}
			}
			if err := row(t.ID, t.Schema, t.Name, isIndex, index, name); err != nil {
				return err
			}
		}
		if !found {
			if err := row(nil, nil, nil, 0, nil, nil); err != nil {
				return err
			}
		}
	}
	return nil
}

func regionPeers(q *query) error {
	if err := q.mayWatch(); err != nil {
		return err
	}
	for _, r := range q.Regions() {
		for _, p := range r.Peers {
			leads := 0
			if p.ID == r.LeaderPeer {
				leads = 1
			}
			learner := 0
			if p.Learner {
				learner = 1
			}
			var down any
			if p.Down > 0 {
				down = int64(p.Down.Seconds())
			}
			if err := q.emit(r.ID, p.ID, p.Store, learner, leads, p.Status, down); err != nil {
				return err
			}
		}
	}
	return nil
}

func storeStatus(q *query) error {
	if err := q.mayWatch(); err != nil {
		return err
	}
	for _, s := range q.Stores() {
		size := func(n int64) string { return strconv.FormatFloat(float64(n)/(1<<30), 'f', 2, 64) + "GiB" }
		var version, capacity, available, start, heard, uptime any
		if o := s.Told; o != nil {
			version, capacity, available = o.Version, size(o.Capacity), size(o.Available)
			start, heard, uptime = moment(o.Start.UnixMicro()), moment(q.Now().UnixMicro()), q.uptime(&s)
		}
		if !s.Heard.IsZero() {
			heard = moment(s.Heard.UnixMicro())
		}
		sizeOf := func(regions int, bytes int64) int64 {
			if regions == 0 {
				return 0
			}
			return mebibytes(bytes)
		}
		if err := q.emit(s.ID, s.Address, storeStates[s.State], s.State, "[]", version, capacity, available, s.Leaders, nil, nil, sizeOf(s.Leaders, s.LeaderBytes),
			s.Regions, nil, nil, sizeOf(s.Regions, s.Bytes), start, heard, uptime); err != nil {
			return err
		}
	}
	return nil
}

// storeStates are TiDB's numbers of the states of stores; it has none of its own for one that is disconnected.
var storeStates = map[string]int{"Up": 0, "Disconnected": 0, "Offline": 1}

// uptime is how long a node had run when it was last heard.
func (q *query) uptime(s *Store) string {
	last := q.Now()
	if !s.Heard.IsZero() {
		last = s.Heard
	}
	return max(last.Sub(s.Told.Start), 0).Round(time.Second).String()
}

func clusterInfo(q *query) error {
	if err := q.mayWatch(); err != nil {
		return err
	}
	for _, s := range q.Stores() {
		kinds := []string{"tidb", "tikv"} // one process is both, where it executes SQL
		if !s.SQL {
			kinds = kinds[1:]
		}
		var status, version, start, uptime any
		if o := s.Told; o != nil {
			status, version, start, uptime = o.Status, o.Version, o.Start.Format(time.RFC3339), q.uptime(&s)
		}
		for _, kind := range kinds {
			address := s.Address
			if kind == "tidb" && s.Told != nil {
				address = s.Told.SQL
			}
			if err := q.emit(kind, address, status, version, nil, start, uptime, s.ID); err != nil {
				return err
			}
		}
	}
	return nil
}
