package session

import (
	"strings"

	"github.com/pandodb/pando/catalog"
	"github.com/pandodb/pando/ddl"
	"github.com/pandodb/pando/plan"
	"github.com/pandodb/pando/privilege"
	"github.com/pandodb/pando/sqlapi"
	"github.com/pandodb/pando/syntax"
	"github.com/pandodb/pando/types"
)

// createView creates, replaces or alters a view. It changes stmt.Query: its names become qualified.
func (s *Session) createView(c *ddl.Call, stmt *syntax.CreateView) error {
	name, err := s.name(stmt.Name)
	if err != nil {
		return err
	}
	env := s.planEnv(c.Text)
	columns, tables, updatable, err := plan.ViewColumns(env, stmt.Query, stmt.Columns)
	if err != nil {
		return err
	}
	for _, ref := range tables {
		if ref.Table.Schema == name.Schema && ref.Table.Name == name.Table {
			return types.Errorf(types.ErViewRecursive, name.Schema, name.Table)
		}
		if ref.Via == nil {
			if err := s.require(privilege.Select, ref.Table.Schema, ref.Table.Name); err != nil {
				return err
			}
		}
	}
	user, host, err := s.definer(stmt.Definer)
	if err != nil {
		return err
	}
	query, err := plan.ViewText(stmt.Query, s.clientCharset())
	if err != nil {
		return err
	}
	view := &catalog.View{Query: query, Algorithm: strings.ToUpper(stmt.Algorithm), DefinerUser: user, DefinerHost: host,
		Updatable: updatable && !strings.EqualFold(stmt.Algorithm, "TEMPTABLE"), Invoker: strings.EqualFold(stmt.Security, "INVOKER"), Charset: s.get("character_set_client"), Collation: s.get("collation_connection")}
	if old := s.schema().Lookup(name.Schema, name.Table); stmt.Alter && old != nil && old.View != nil { // ALTER keeps what it does not name
		if view.Algorithm == "" {
			view.Algorithm = old.View.Algorithm
			view.Updatable = view.Updatable && view.Algorithm != "TEMPTABLE"
		}
		if stmt.Security == "" {
			view.Invoker = old.View.Invoker
		}
	}
	if view.Algorithm == "" {
		view.Algorithm = "UNDEFINED"
	}
	switch {
	case strings.Contains(stmt.Check, "LOCAL"):
		view.Check = "LOCAL"
	case stmt.Check != "":
		view.Check = "CASCADED"
	}
	if view.Check != "" && !view.Updatable {
		return types.Errorf(types.ErViewNonupdCheck, name.Schema, name.Table)
	}
	spec := &ddl.ViewSpec{Name: name, View: view, Replace: stmt.OrReplace || stmt.Alter, Must: stmt.Alter, IfNotExists: stmt.IfNotExists}
	for i := range columns {
		spec.Columns = append(spec.Columns, madeColumn(&columns[i], true))
	}
	return s.node.DDL.CreateView(c, spec)
}

// definer is the account of a view's DEFINER clause, by default the session's own. Another account needs SUPER.
func (s *Session) definer(a *syntax.Account) (user, host string, err error) {
	own := s.account()
	if a == nil {
		return own.User, own.Host, nil
	}
	user, host = s.who(*a)
	if err := privilege.CheckLengths(user, host); err != nil {
		return "", "", err
	}
	if (user != own.User || host != own.Host) && !own.Has(privilege.Super, "", "") {
		return "", "", types.Errorf(types.ErSpecificAccessDenied, "SUPER or SET_USER_ID")
	}
	return user, host, nil
}

func (s *Session) dropViews(c *ddl.Call, stmt *syntax.DropObjects) error {
	names := make([]ddl.Name, len(stmt.Names))
	for i, n := range stmt.Names {
		var err error
		if names[i], err = s.name(n); err != nil {
			return err
		}
	}
	return s.node.DDL.DropViews(c, names, stmt.IfExists)
}

// showCreateView answers SHOW CREATE VIEW, and SHOW CREATE TABLE of a view.
func (s *Session) showCreateView(t *catalog.Table, more bool, out Response) error {
	query, named := plan.CanonicalView(s.planEnv(""), t, s.db)
	text := catalog.ShowCreateView(t, query, named, s.quotes(), s.context.SQLMode&types.ModeAnsi != 0, s.db)
	return s.sendRows([]sqlapi.ColumnInfo{textColumn("View", 64), textColumn("Create View", 1024), textColumn("character_set_client", 32), textColumn("collation_connection", 32)},
		[][]types.Value{{types.Text(t.Name), types.Text(text), types.Text(t.View.Charset), types.Text(t.View.Collation)}}, more, out)
}
