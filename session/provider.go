package session

import (
	"sort"
	"strconv"

	"github.com/pandodb/pando/catalog"
	"github.com/pandodb/pando/clock"
	"github.com/pandodb/pando/expr"
	"github.com/pandodb/pando/infoschema"
	"github.com/pandodb/pando/plan"
	"github.com/pandodb/pando/privilege"
	"github.com/pandodb/pando/types"
)

// provider is the session as the virtual tables see it.
type provider Session

func (p *provider) session() *Session { return (*Session)(p) }

func (p *provider) Snapshot() *catalog.Snapshot { return p.node.Catalog.Current() }

func (p *provider) Variables(global bool) [][2]string {
	s := p.session()
	list := make([][2]string, 0, len(s.node.table.list))
	for i, v := range s.node.table.list {
		if global && v.scope&scopeGlobal == 0 {
			continue
		}
		list = append(list, [2]string{v.name, s.shown(i, v, global)})
	}
	for _, alias := range []string{"tx_isolation", "tx_read_only"} {
		i := s.node.table.byName[alias]
		list = append(list, [2]string{alias, s.shown(i, s.node.table.list[i], global)})
	}
	sort.Slice(list, func(i, j int) bool { return list[i][0] < list[j][0] })
	return list
}

// shown is a variable's value as SHOW VARIABLES prints it.
func (s *Session) shown(i int, v *variable, global bool) string {
	if v.dynamic == nil && (v.kind == kindBool || v.kind == kindEnum || v.kind == kindText) {
		if global || v.scope == scopeGlobal {
			return s.node.globalValues()[i]
		}
		return s.values[i]
	}
	where := expr.ScopeAny
	if global {
		where = expr.ScopeGlobal
	}
	value, err := s.sysVar(where, v.name)
	if err != nil {
		return ""
	}
	if v.kind == kindBool {
		return map[bool]string{true: "ON", false: "OFF"}[value.N != 0]
	}
	return string(types.AppendText(nil, nil, &value))
}

func (p *provider) Status(bool) [][2]string {
	figures := map[string]string{}
	if p.node.Counters != nil {
		figures = p.node.Counters()
	}
	cache := p.node.Plans.Stats()
	figures["Plan_cache_hits"] = strconv.FormatUint(cache.Hits, 10)
	figures["Plan_cache_misses"] = strconv.FormatUint(cache.Misses, 10)
	figures["Plan_cache_entries"] = strconv.Itoa(cache.Entries)
	figures["Prepared_stmt_count"] = strconv.FormatInt(p.node.preparedLive.Load(), 10)
	figures["Uptime"] = strconv.FormatInt(int64(clock.Now().Sub(p.node.Start).Seconds()), 10)
	list := make([][2]string, 0, len(figures))
	for name, value := range figures {
		list = append(list, [2]string{name, value})
	}
	sort.Slice(list, func(i, j int) bool { return list[i][0] < list[j][0] })
	return list
}

func (p *provider) Processes() []infoschema.Process {
	if p.node.Processes == nil {
		return nil
	}
	all := p.session().account().Has(privilege.Process, "", "")
	var out []infoschema.Process
	for _, process := range p.node.Processes() {
		if all || process.User == p.client.User {
			out = append(out, infoschema.Process(process))
		}
	}
	return out
}

func (p *provider) RowCount(t *catalog.Table) (float64, bool) { return p.node.Stats.RowCount(t) }

func (p *provider) Distinct(t *catalog.Table, index *catalog.Index, columns int) float64 {
	return p.node.Stats.Distinct(t, index, columns)
}

func (p *provider) NextAutoIncrement(t *catalog.Table) (uint64, bool) {
	return p.session().nextAutoIncrement(t)
}

func (p *provider) Visible(database, table string) bool {
	a := p.session().account()
	if table == "" {
		return a.Lists(database)
	}
	return a.Sees(database, table)
}

// nextAutoIncrement is the value that the table would give next; false without such a column.
func (s *Session) nextAutoIncrement(t *catalog.Table) (uint64, bool) {
	if t.AutoInc == nil {
		return 0, false
	}
	next, err := s.node.AutoIDs.Peek(t)
	return next, err == nil
}

// systemTables gives the planner the virtual tables of this session.
func (s *Session) systemTables() plan.SystemTables {
	return infoschema.Tables{Provider: (*provider)(s)}
}
