package session

import (
	"slices"
	"sort"
	"strconv"
	"time"

	"github.com/pandodb/pando/catalog"
	"github.com/pandodb/pando/exec"
	"github.com/pandodb/pando/expr"
	"github.com/pandodb/pando/infoschema"
	"github.com/pandodb/pando/plan"
	"github.com/pandodb/pando/privilege"
	"github.com/pandodb/pando/syntax"
	"github.com/pandodb/pando/types"
)

// provider is the session as the virtual tables see it.
type provider Session

func (p *provider) session() *Session { return (*Session)(p) }

func (p *provider) Snapshot() *catalog.Snapshot {
	if p.showsTemporary {
		return p.session().schema()
	}
	return p.node.Catalog.Current()
}

func (p *provider) Context() *types.Context { return &p.context }

func (p *provider) Variables(global bool) [][2]string {
	s := p.session()
	list := make([][2]string, 0, len(s.node.table.list))
	for i, v := range s.node.table.list {
		if global && v.scope&scopeGlobal == 0 {
			continue
		}
		list = append(list, [2]string{v.name, s.shown(i, v, global)})
	}
	for _, alias := range []string{"identity", "tx_isolation", "tx_read_only"} {
		i := s.node.table.byName[alias]
		if global && s.node.table.list[i].scope&scopeGlobal == 0 {
			continue
		}
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
	if value.K == types.KindFloat {
		return strconv.FormatFloat(value.Float64(), 'f', sysVarDecimals, 64)
	}
	return string(types.AppendText(nil, nil, &value))
}

// VariableInfos tells how each variable came to its value.
func (p *provider) VariableInfos() []infoschema.VariableInfo {
	list := make([]infoschema.VariableInfo, 0, len(p.node.table.list))
	for _, v := range p.node.table.list {
		info := infoschema.VariableInfo{Name: v.name, Source: "COMPILED"}
		if how, ok := p.node.setBy.Load(v.name); ok {
			how := how.(variableOrigin)
			info.Source, info.Set, info.User, info.Host = how.source, how.at, how.user, how.host
		}
		if v.kind == kindInt {
			info.Min, info.Max = strconv.FormatInt(v.min, 10), strconv.FormatUint(v.max, 10)
		}
		list = append(list, info)
	}
	return list
}

// ShowsGeneratedKeys is the session's setting.
func (p *provider) ShowsGeneratedKeys() bool { return p.session().showsGeneratedKeys() }

func (p *provider) Now() time.Time { return p.session().now() }

// Processes lists the connections that the account may see: all with PROCESS, else its user's own. all shows all of them to those who may read
// performance_schema, whose tables have rights of their own.
func (p *provider) Processes(all bool) []infoschema.Process {
	if p.node.Processes == nil {
		return nil
	}
	all = all || p.session().account().Has(privilege.Process, "", "")
	var out []infoschema.Process
	for _, process := range p.node.Processes() {
		if all || process.User == p.client.User {
			out = append(out, infoschema.Process{ID: process.ID, User: process.User, Host: process.Host, Database: process.Database, Command: process.Command,
				Seconds: process.Seconds, State: process.State, Info: process.Info, Own: process.ID == p.id, Account: process.Account,
				Version: process.TLSVersion, Cipher: process.TLSCipher, Secure: process.TLSVersion != "", Attributes: attributes(process.Attributes)})
		}
	}
	return out
}

// attributes lists connection attributes by name.
func attributes(m map[string]string) [][2]string {
	list := make([][2]string, 0, len(m))
	for name, value := range m {
		list = append(list, [2]string{name, value})
	}
	sort.Slice(list, func(i, j int) bool { return list[i][0] < list[j][0] })
	return list
}

// MayRead asks for SELECT on a table of a system schema.
func (p *provider) MayRead(schema, table string) error {
	return p.session().require(privilege.Select, schema, table)
}

func (p *provider) Account() *privilege.Account    { return p.session().account() }
func (p *provider) Accounts() []*privilege.Account { return p.node.Users.Accounts() }
func (p *provider) ReadTable()                     { p.node.dictionaryReads.Add(1) }

func (p *provider) UserVariables() []infoschema.UserVariable {
	list := make([]infoschema.UserVariable, 0, len(p.userVars))
	for name, v := range p.userVars {
		list = append(list, infoschema.UserVariable{Name: name, Value: v})
	}
	sort.Slice(list, func(i, j int) bool { return list[i].Name < list[j].Name })
	return list
}

func (p *provider) Prepared() []infoschema.Prepared {
	var list []infoschema.Prepared
	for id, stmt := range p.prepared {
		list = append(list, infoschema.Prepared{ID: uint64(id), Text: stmt.text})
	}
	for name, stmt := range p.named {
		list = append(list, infoschema.Prepared{Name: name, Text: stmt.text})
	}
	sort.Slice(list, func(i, j int) bool {
		return list[i].ID < list[j].ID || list[i].ID == list[j].ID && list[i].Name < list[j].Name
	})
	return list
}

func (p *provider) Persisted() ([][2]string, error) {
	settings, err := p.node.loadPersisted()
	if err != nil {
		return nil, exec.MapError(err, &p.interrupt)
	}
	list := make([][2]string, len(settings))
	for i, setting := range settings {
		list[i] = [2]string{setting.Name, setting.Value}
	}
	return list, nil
}

// ViewTables resolves the query of a view; one that is invalid has no tables any more.
func (p *provider) ViewTables(t *catalog.Table) []*catalog.Table {
	tree, _, err := syntax.Parse(t.View.Query, syntax.Options{})
	query, ok := tree.(*syntax.Query)
	if err != nil || !ok {
		return nil
	}
	_, refs, _, err := plan.ViewColumns(p.session().planEnv("").Stored(), query, nil)
	if err != nil {
		return nil
	}
	var list []*catalog.Table
	for _, ref := range refs {
		if ref.Via == nil && !slices.Contains(list, ref.Table) {
			list = append(list, ref.Table)
		}
	}
	return list
}

// Regions implements infoschema.Provider.
func (p *provider) Regions() []infoschema.Region {
	if p.node.Regions == nil {
		return nil
	}
	return p.node.Regions()
}

// Stores implements infoschema.Provider.
func (p *provider) Stores() []infoschema.Store {
	if p.node.Stores == nil {
		return nil
	}
	return p.node.Stores()
}

// CanonicalView implements infoschema.Provider.
func (p *provider) CanonicalView(t *catalog.Table) string {
	query, _ := plan.CanonicalView(p.session().planEnv(""), t, "")
	return query
}

func (p *provider) NextAutoIncrement(t *catalog.Table) (uint64, bool) {
	return p.session().nextAutoIncrement(t)
}

func (p *provider) Visible(database, table string) bool {
	if p.showsTemporary {
		return true // SHOW names the table
	}
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
