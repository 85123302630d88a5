package session

import (
	"strconv"
	"strings"

	"github.com/pandodb/pando/infoschema"
	"github.com/pandodb/pando/privilege"
	"github.com/pandodb/pando/sqlapi"
	"github.com/pandodb/pando/syntax"
	"github.com/pandodb/pando/types"
)

// regionsOf is the table of SHOW TABLE … REGIONS, nil for other statements and for one with WHERE.
func regionsOf(stmt *syntax.Loose) *syntax.ObjectName {
	parts := stmt.Parts
	if n := len(parts); n < 2 || parts[n-1].Kind != syntax.LooseWord || parts[n-1].Text != "REGIONS" {
		return nil
	}
	var names []string
	for _, p := range parts {
		if p.Kind == syntax.LooseName {
			names = append(names, p.Text)
		}
	}
	switch len(names) {
	case 1:
		return &syntax.ObjectName{Name: names[0]}
	case 2:
		return &syntax.ObjectName{Schema: names[0], Name: names[1]}
	}
	return nil
}

// regionColumns is the answer of SHOW TABLE REGIONS, TiDB's.
var regionColumns = []sqlapi.ColumnInfo{numberColumn("REGION_ID"), textColumn("START_KEY", 64), textColumn("END_KEY", 64), numberColumn("LEADER_ID"),
	numberColumn("LEADER_STORE_ID"), textColumn("PEERS", 64), numberColumn("SCATTERING"), numberColumn("WRITTEN_BYTES"), numberColumn("READ_BYTES"),
	numberColumn("APPROXIMATE_SIZE(MB)"), numberColumn("APPROXIMATE_KEYS"), textColumn("SCHEDULING_CONSTRAINTS", 256), textColumn("SCHEDULING_STATE", 16)}

// showRegions lists the regions that hold keys of a table. Nothing counts reads and keys by region, and nothing is scheduled yet.
func (s *Session) showRegions(object syntax.ObjectName, more bool, out Response) error {
	name, err := s.name(object)
	if err != nil {
		return s.fail(err)
	}
	if err := s.require(privilege.Select, name.Schema, name.Table); err != nil {
		return s.fail(err)
	}
	t, err := s.schema().Table(name.Schema, name.Table)
	if err == nil && t.View != nil {
		err = types.Errorf(types.ErWrongObject, t.Schema, t.Name, "BASE TABLE")
	}
	if err != nil {
		return s.fail(err)
	}
	number := func(n uint64) types.Value { return types.Int(int64(n)) }
	var rows [][]types.Value
	for _, r := range (*provider)(s).Regions() {
		if !r.Holds(t.PhysID) {
			continue
		}
		peers := make([]string, len(r.Peers))
		for i, p := range r.Peers {
			peers[i] = strconv.FormatUint(p.ID, 10)
		}
		rows = append(rows, []types.Value{number(r.ID), types.Text(infoschema.KeyText(r.Start)), types.Text(infoschema.KeyText(r.End)), number(r.LeaderPeer),
			number(r.LeaderStore), types.Text(strings.Join(peers, ", ")), types.Int(0), types.Int(r.Written), types.Null(), types.Int(max(1, r.Bytes>>20)),
			types.Null(), types.Text(""), types.Text("")})
	}
	return s.sendRows(regionColumns, rows, more, out)
}
