package session

import (
	"slices"
	"strings"

	"github.com/pandodb/pando/catalog"
	"github.com/pandodb/pando/exec"
	"github.com/pandodb/pando/expr"
	"github.com/pandodb/pando/privilege"
	"github.com/pandodb/pando/sqlapi"
	"github.com/pandodb/pando/syntax"
	"github.com/pandodb/pando/types"
)

// defaultPlugin is the authentication of new accounts that name none.
const defaultPlugin = "caching_sha2_password"

// account returns the session's account with its present grants. It is read again only after some account has changed.
func (s *Session) account() *privilege.Account {
	version := s.node.Users.Version()
	if s.privileges == nil || s.privilegesAt != version {
		s.privileges, s.privilegesAt = s.node.Users.ByName(s.client.Account), version
		if s.privileges == nil {
			s.privileges = &privilege.Account{User: s.client.User, Host: s.client.Host} // dropped meanwhile: nothing is allowed any more
		}
	}
	return s.privileges
}

// checkPlan requires the privileges that a plan needs on its tables.
func (s *Session) checkPlan(p *exec.Plan) error {
	a := s.account()
	const data = privilege.Select | privilege.Insert | privilege.Update | privilege.Delete
	all := a.Global&data == data
	if _, file := p.Root.(*exec.IntoFile); file && !a.Has(privilege.File, "", "") {
		return types.Errorf(types.ErSpecificAccessDenied, "FILE")
	}
	for i := range p.Tables {
		if all && p.Tables[i].Via == nil || p.Tables[i].Foreign || p.Tables[i].Table.Temporary != nil {
			continue
		}
		if err := s.checkTable(p, &p.Tables[i]); err != nil {
			return err
		}
	}
	return nil
}

// checkTable requires the privileges on one table of a plan: of the session's account or, for tables that a view reads, of its definer. For a
// view with SQL SECURITY INVOKER the error does not say which privilege is missing, as in MySQL.
func (s *Session) checkTable(p *exec.Plan, ref *exec.TableRef) error {
	t := ref.Table
	if via := ref.Via; via != nil && !via.View.Invoker {
		definer := s.node.Users.Find(via.View.DefinerUser, via.View.DefinerHost)
		if definer == nil {
			return types.NewError(1449, "The user specified as a definer ('"+via.View.DefinerUser+"'@'"+via.View.DefinerHost+"') does not exist")
		}
		if !definer.Has(privilege.Select, t.Schema, t.Name) || ref.Write && !definer.Has(writePrivilege(p.Root), t.Schema, t.Name) {
			return types.Errorf(types.ErViewInvalid, via.Schema, via.Name)
		}
		return nil
	}
	err := s.checkOwn(p, ref)
	if err != nil && ref.Via != nil {
		return types.Errorf(types.ErViewInvalid, ref.Via.Schema, ref.Via.Name)
	}
	return err
}

// checkOwn requires the session's account's privileges on one table of a plan.
func (s *Session) checkOwn(p *exec.Plan, ref *exec.TableRef) error {
	t := ref.Table
	if ref.Write {
		if err := s.require(writePrivilege(p.Root), t.Schema, t.Name); err != nil || !readsTarget(p, t) {
			return err
		}
	}
	return s.require(privilege.Select, t.Schema, t.Name)
}

// readsTarget reports whether a plan that writes a table or a view also reads values of its columns, which needs SELECT beside the right to write.
func readsTarget(p *exec.Plan, t *catalog.Table) bool {
	shown := []*catalog.Table{t}
	for i := 0; i < len(shown); i++ { // a view, what it reads, and what views in it read
		for k := range p.Tables {
			if ref := &p.Tables[k]; shown[i].View != nil && ref.Via == shown[i] {
				shown = append(shown, ref.Table)
			}
		}
	}
	for _, s := range p.Subplans {
		if scans(s.Root, shown) {
			return true
		}
	}
	switch n := p.Root.(type) {
	case *exec.Insert:
		return assigned(n.OnDup) || n.Source != nil && scans(n.Source, shown)
	case *exec.Update:
		return assigned(n.Set) || conditional(n.Input)
	case *exec.Delete:
		return conditional(n.Input)
	}
	return true
}

// assigned reports whether a value depends on a column.
func assigned(set []exec.Assignment) bool {
	found := false
	for i := range set {
		if set[i].Expr != nil {
			expr.Columns(set[i].Expr, func(int) { found = true })
		}
	}
	return found
}

// conditional reports whether the rows that a statement writes depend on their columns.
func conditional(n exec.Node) bool {
	lock, ok := n.(*exec.LockRows)
	return !ok || lock.Where != nil // anything around the lock orders the rows by their columns
}

// scans reports whether a tree reads one of some tables.
func scans(n exec.Node, tables []*catalog.Table) bool {
	switch n := n.(type) {
	case *exec.Scan:
		return slices.Contains(tables, n.Table)
	case *exec.PointGet:
		return slices.Contains(tables, n.Table)
	}
	for _, child := range n.Children() {
		if scans(child, tables) {
			return true
		}
	}
	return false
}

func writePrivilege(root exec.Node) privilege.Set {
	switch n := root.(type) {
	case *exec.Insert:
		switch n.Mode {
		case exec.InsertReplace:
			return privilege.Insert | privilege.Delete
		case exec.InsertUpdate:
			return privilege.Insert | privilege.Update
		}
		return privilege.Insert
	case *exec.Update, *exec.MultiUpdate:
		return privilege.Update
	case *exec.Delete, *exec.MultiDelete:
		return privilege.Delete
	}
	return privilege.Update // a locking read, which needs SELECT besides
}

// require fails with 1142 (table), 1044 (database) or 1227 (everything) unless the account has the privileges.
func (s *Session) require(want privilege.Set, database, table string) error {
	if missing := s.account().Missing(want, database, table); missing != 0 {
		return s.denied(missing, database, table)
	}
	return nil
}

// denied is the error for privileges that the account lacks.
func (s *Session) denied(missing privilege.Set, database, table string) error {
	switch {
	case table != "":
		return types.Errorf(types.ErTableaccessDenied, missing.First(), s.account().User, s.client.Host, table)
	case database != "":
		return s.deniedDatabase(database)
	}
	return types.Errorf(types.ErSpecificAccessDenied, missing.First())
}

// deniedDatabase is error 1044, also for objects that no account may change.
func (s *Session) deniedDatabase(name string) error {
	return types.Errorf(types.ErDBAccessDenied, s.account().User, s.client.Host, name)
}

// requireOn requires privileges on a table that a schema change names; nobody changes the server's own.
func (s *Session) requireOn(want privilege.Set, n syntax.ObjectName) error {
	name, err := s.name(n)
	if err != nil {
		return err
	}
	if catalog.IsSystemSchema(name.Schema) {
		return s.deniedDatabase(name.Schema)
	}
	return s.require(want, name.Schema, name.Table)
}

func (s *Session) requireOnAll(want privilege.Set, names []syntax.ObjectName) error {
	for _, n := range names {
		if err := s.requireOn(want, n); err != nil {
			return err
		}
	}
	return nil
}

// checkSchema requires what a schema change needs.
func (s *Session) checkSchema(stmt syntax.Statement) error {
	on := s.requireOn
	database := func(want privilege.Set, name string) error {
		if catalog.IsSystemSchema(name) {
			return s.deniedDatabase(name)
		}
		return s.require(want, name, "")
	}
	switch stmt := stmt.(type) {
	case *syntax.CreateDatabase:
		return database(privilege.Create, stmt.Name.Name)
	case *syntax.AlterDatabase:
		return database(privilege.Alter, firstOf(stmt.Name.Name, s.db))
	case *syntax.DropDatabase:
		return database(privilege.Drop, stmt.Name.Name)
	case *syntax.CreateTable:
		if stmt.Like != nil { // it shows all of the table but its rows
			if like, err := s.name(*stmt.Like); err != nil {
				return err
			} else if err := s.require(privilege.Select, like.Schema, like.Table); err != nil {
				return err
			}
		}
		if err := s.requireOnParents(stmt.Name, foreignReferences(stmt.Elements)); err != nil {
			return err
		}
		return on(privilege.Create, stmt.Name)
	case *syntax.CreateView:
		if err := on(privilege.CreateView, stmt.Name); err != nil || !stmt.OrReplace && !stmt.Alter {
			return err
		}
		return on(privilege.Drop, stmt.Name)
	case *syntax.DropObjects:
		return s.mayDrop(stmt)
	case *syntax.TruncateTable:
		return on(privilege.Drop, stmt.Table)
	case *syntax.CreateIndex:
		return on(privilege.Index, stmt.Table)
	case *syntax.DropIndex:
		return on(privilege.Index, stmt.Table)
	case *syntax.AlterTable:
		want := privilege.Alter
		for i := range stmt.Specs {
			if stmt.Specs[i].Kind == syntax.AlterRenameTable {
				want |= privilege.Drop
				if err := on(privilege.Create|privilege.Insert, stmt.Specs[i].NewTable); err != nil {
					return err
				}
			}
		}
		if err := s.requireOnParents(stmt.Table, alterReferences(stmt.Specs)); err != nil {
			return err
		}
		return on(want, stmt.Table)
	case *syntax.DropTable:
		return s.requireOnAll(privilege.Drop, stmt.Tables)
	case *syntax.RenameTable:
		for _, pair := range stmt.Pairs {
			if err := on(privilege.Alter|privilege.Drop, pair.From); err != nil {
				return err
			}
			if err := on(privilege.Create|privilege.Insert, pair.To); err != nil {
				return err
			}
		}
	}
	return nil
}

func firstOf(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

// runAccount executes the statements about accounts. They commit the open transaction, as MySQL's do.
func (s *Session) runAccount(stmt syntax.Statement) error {
	if err := s.commit(); err != nil {
		return err
	}
	if s.readOnly {
		return types.Errorf(types.ErCantExecuteInReadOnlyTransaction)
	}
	if s.held.Tables() {
		return types.Errorf(types.ErTableNotLocked, "user") // MySQL keeps accounts in tables
	}
	if err := s.mayWrite(); err != nil {
		return err
	}
	release, err := s.node.DDL.Change(s.ddlCall(""))
	if err != nil {
		return exec.MapError(err, &s.interrupt)
	}
	defer release()
	switch stmt := stmt.(type) {
	case *syntax.SetPassword:
		return s.setPassword(stmt)
	case *syntax.Grant:
		return s.grant(stmt)
	}
	if create, ok := stmt.(*syntax.CreateUser); !ok || !s.ownPassword(create) {
		if err := s.require(privilege.CreateUser, "", ""); err != nil {
			return err
		}
	}
	if err := s.checkTargets(stmt); err != nil {
		return err
	}
	switch stmt := stmt.(type) {
	case *syntax.CreateUser:
		return s.createUser(stmt)
	case *syntax.DropUser:
		return s.dropUser(stmt)
	case *syntax.RenameUser:
		return s.renameUser(stmt)
	}
	return types.Errorf(types.ErNotSupportedYet, firstWords(stmt))
}

// checkTargets refuses, before anything has changed, a statement that would change an account out of the session's reach.
func (s *Session) checkTargets(stmt syntax.Statement) error {
	switch stmt := stmt.(type) {
	case *syntax.CreateUser:
		for i := range stmt.Users {
			if !stmt.Alter {
				break
			}
			if err := s.checkTarget(stmt.Users[i].Account); err != nil {
				return err
			}
		}
	case *syntax.DropUser:
		for _, a := range stmt.Users {
			if err := s.checkTarget(a); err != nil {
				return err
			}
		}
	case *syntax.RenameUser:
		for _, pair := range stmt.Pairs {
			if err := s.checkTarget(pair.From); err != nil {
				return err
			}
		}
	}
	return nil
}

// checkTarget permits only sessions with SUPER to change an account that has SUPER, or a global privilege that the session lacks: by setting
// the account's password a session could get its privileges. MySQL protects only accounts with SYSTEM_USER, which SUPER includes here; but a
// session that cannot grant a global privilege should not get it by CREATE USER either.
func (s *Session) checkTarget(a syntax.Account) error {
	own := s.account()
	if target := s.node.Users.Find(s.who(a)); target != nil && target.Global&^own.Global != 0 {
		return s.require(privilege.Super, "", "")
	}
	return nil
}

// checkGrantee refuses to change the grants of an account that has SUPER to those without it, as MySQL does with SYSTEM_USER.
func (s *Session) checkGrantee(a syntax.Account) error {
	if target := s.node.Users.Find(s.who(a)); target != nil && target.Global&privilege.Super != 0 {
		return s.require(privilege.Super, "", "")
	}
	return nil
}

// ownPassword reports whether ALTER USER does no more than change the own password, which needs no privilege.
func (s *Session) ownPassword(stmt *syntax.CreateUser) bool {
	if !stmt.Alter || len(stmt.Require) > 0 || stmt.RequireNone || stmt.HasResources || len(stmt.Options) > 0 {
		return false
	}
	own := s.account()
	for i := range stmt.Users {
		if user, host := s.who(stmt.Users[i].Account); user != own.User || host != own.Host {
			return false
		}
	}
	return true
}

// who resolves an account's name: CURRENT_USER is the session's own, a missing host is any.
func (s *Session) who(a syntax.Account) (user, host string) {
	if a.Current || a.UserFunc {
		own := s.account()
		return own.User, own.Host
	}
	if !a.HasHost {
		return a.User, "%"
	}
	return a.User, a.Host
}

func (s *Session) createUser(stmt *syntax.CreateUser) error {
	if stmt.DefaultRole != nil {
		return types.Errorf(types.ErNotSupportedYet, "DEFAULT ROLE; use GRANT to users")
	}
	changes := make([]func(*privilege.Account), len(stmt.Users)) // passwords are hashed before anything is locked
	for i := range stmt.Users {
		if user, _ := s.who(stmt.Users[i].Account); user == "" && !stmt.Alter {
			return errAnonymous()
		}
		var err error
		if changes[i], err = s.accountChange(&stmt.Users[i], stmt); err != nil {
			return err
		}
	}
	what := "CREATE USER"
	if stmt.Alter {
		what = "ALTER USER"
	}
	return s.node.Users.Update(what, func(e *privilege.Edit) error {
		for i, change := range changes {
			user, host := s.who(stmt.Users[i].Account)
			known := e.Find(user, host) != nil
			switch {
			case stmt.Alter && !known && stmt.IfExists:
				s.noteUser(types.ErUserDoesNotExist, user, host)
			case stmt.Alter:
				e.Alter(user, host, change)
			case known && stmt.IfExists:
				s.noteUser(types.ErUserAlreadyExists, user, host)
			default:
				a := &privilege.Account{User: user, Host: host, Plugin: defaultPlugin}
				change(a)
				if err := e.Create(a); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

// mayDrop requires the right to drop views. Objects of kinds that cannot exist here (dropAbsent) need none.
func (s *Session) mayDrop(stmt *syntax.DropObjects) error {
	if stmt.Kind != "VIEW" {
		return nil
	}
	return s.requireOnAll(privilege.Drop, stmt.Names)
}

func (s *Session) noteUser(number uint16, user, host string) {
	s.context.Warn(types.LevelNote, number, "'"+user+"'@'"+host+"'")
}

func (s *Session) renameUser(stmt *syntax.RenameUser) error {
	return s.node.Users.Update("RENAME USER", func(e *privilege.Edit) error {
		for _, pair := range stmt.Pairs {
			from, fromHost := s.who(pair.From)
			to, toHost := s.who(pair.To)
			if to == "" {
				return errAnonymous()
			}
			e.Rename(from, fromHost, to, toHost)
		}
		return nil
	})
}

// errAnonymous refuses accounts without a name, which match every user name: a client with an unknown name could see and kill others' sessions.
func errAnonymous() error {
	return types.Errorf(types.ErNotSupportedYet, "accounts without a user name; name each user")
}

// accountChange reads the clauses of CREATE and ALTER USER that concern one account.
func (s *Session) accountChange(spec *syntax.UserSpec, stmt *syntax.CreateUser) (func(*privilege.Account), error) {
	if len(spec.Auth) > 1 || spec.Factors != nil {
		return nil, types.Errorf(types.ErNotSupportedYet, "several authentication factors")
	}
	var changes []func(*privilege.Account)
	for i := range spec.Auth {
		change, err := s.authChange(&spec.Auth[i])
		if err != nil {
			return nil, err
		}
		changes = append(changes, change)
	}
	for _, r := range stmt.Require {
		if r.Kind != "SSL" {
			return nil, types.Errorf(types.ErNotSupportedYet, "REQUIRE "+r.Kind)
		}
		changes = append(changes, func(a *privilege.Account) { a.RequireTLS = true })
	}
	if stmt.RequireNone {
		changes = append(changes, func(a *privilege.Account) { a.RequireTLS = false })
	}
	if stmt.HasResources {
		return nil, types.Errorf(types.ErNotSupportedYet, "resource limits of accounts")
	}
	for _, o := range stmt.Options {
		switch o.Kind {
		case "ACCOUNT LOCK":
			changes = append(changes, func(a *privilege.Account) { a.Locked = true })
		case "ACCOUNT UNLOCK":
			changes = append(changes, func(a *privilege.Account) { a.Locked = false })
		default:
			return nil, types.Errorf(types.ErNotSupportedYet, o.Kind+" of accounts")
		}
	}
	return func(a *privilege.Account) {
		for _, change := range changes {
			change(a)
		}
	}, nil
}

func (s *Session) authChange(auth *syntax.AuthOption) (func(*privilege.Account), error) {
	plugin := strings.ToLower(auth.Plugin)
	if plugin == "" {
		plugin = defaultPlugin
	}
	hash := s.node.HashPassword
	if plugin != defaultPlugin && plugin != "mysql_native_password" {
		return nil, types.Errorf(types.ErPluginIsNotLoaded, auth.Plugin)
	}
	switch {
	case auth.Random || auth.Retain || auth.InitialBy != nil:
		return nil, types.Errorf(types.ErNotSupportedYet, "IDENTIFIED … BY RANDOM PASSWORD, RETAIN CURRENT PASSWORD and INITIAL AUTHENTICATION; use IDENTIFIED BY alone")
	case auth.As != nil:
		stored := []byte(auth.As.Value)
		return func(a *privilege.Account) { a.Plugin, a.Auth = plugin, stored }, nil
	case auth.By != nil && auth.By.Value != "":
		stored := hash(plugin, []byte(auth.By.Value))
		return func(a *privilege.Account) { a.Plugin, a.Auth = plugin, stored }, nil
	}
	return func(a *privilege.Account) { a.Plugin, a.Auth = plugin, nil }, nil
}

func (s *Session) dropUser(stmt *syntax.DropUser) error {
	what := "DROP USER"
	if stmt.Role {
		what = "DROP ROLE" // there are none, and none can be made
	}
	return s.node.Users.Update(what, func(e *privilege.Edit) error {
		for _, a := range stmt.Users {
			user, host := s.who(a)
			if stmt.Role && a.Host == "" {
				host = "%"
			}
			if stmt.Role && e.Find(user, host) != nil {
				return types.Errorf(types.ErNotSupportedYet, "DROP ROLE of a user; use DROP USER")
			}
			if stmt.IfExists && e.Find(user, host) == nil {
				s.noteUser(types.ErUserDoesNotExist, user, host)
				continue
			}
			e.Drop(user, host)
		}
		return nil
	})
}

func (s *Session) setPassword(stmt *syntax.SetPassword) error {
	if stmt.Random || stmt.Retain {
		return types.Errorf(types.ErNotSupportedYet, "SET PASSWORD with RANDOM or RETAIN CURRENT PASSWORD")
	}
	own := s.account()
	user, host := own.User, own.Host
	if stmt.For != nil {
		user, host = s.who(*stmt.For)
	}
	if user != own.User || host != own.Host {
		if err := s.require(privilege.CreateUser, "", ""); err != nil {
			return err
		}
		if err := s.checkTarget(*stmt.For); err != nil {
			return err
		}
	}
	a := s.node.Users.Find(user, host)
	if a == nil {
		return types.Errorf(types.ErPasswordNoMatch)
	}
	plugin := a.Plugin
	var stored []byte // hashed before anything is locked
	if stmt.Password.Value != "" {
		stored = s.node.HashPassword(plugin, []byte(stmt.Password.Value))
	}
	return s.node.Users.Update("SET PASSWORD", func(e *privilege.Edit) error {
		e.Alter(user, host, func(a *privilege.Account) { a.Plugin, a.Auth = plugin, stored })
		return nil
	})
}

// grant executes GRANT and REVOKE. The session's account must have what is granted, with the grant option.
func (s *Session) grant(stmt *syntax.Grant) error {
	if stmt.IsRole || stmt.ProxyUser != nil || stmt.As != nil || len(stmt.Specs) > 0 {
		return types.Errorf(types.ErNotSupportedYet, "roles, proxies and GRANT … IDENTIFIED BY; use CREATE USER")
	}
	if stmt.RevokeAll {
		return s.revokeAll(stmt)
	}
	set, err := grantedSet(stmt)
	if err != nil {
		return err
	}
	at := privilege.Level{}
	if !stmt.Level.AllSchemas {
		at.Database, at.Table = firstOf(stmt.Level.Schema, s.db), stmt.Level.Name
		if at.Database == "" {
			return types.Errorf(types.ErNoDB)
		}
		if stmt.Level.AllObjects {
			at.Table = ""
		}
	}
	if err := checkMeaning(set, at); err != nil {
		return err
	}
	if stmt.Level.ObjectType != "" && stmt.Level.ObjectType != "TABLE" {
		return types.Errorf(types.ErNotSupportedYet, "privileges on routines")
	}
	own := s.account()
	// All is narrowed to what exists at the level, as Edit.Grant does.
	if missing := own.MissingToGrant(privilege.GrantOption|set&at.All(), at); missing != 0 {
		return s.denied(missing, at.Database, at.Table)
	}
	for _, a := range stmt.Users {
		if err := s.checkGrantee(a); err != nil {
			return err
		}
	}
	if stmt.Revoke {
		return s.revoke(stmt, set, at)
	}
	if err := s.checkExistence(stmt, set, at); err != nil { // after the rights: without them nobody learns what there is
		return err
	}
	return s.node.Users.Update("GRANT", func(e *privilege.Edit) error {
		for _, a := range stmt.Users {
			user, host := s.who(a)
			e.Grant(user, host, set, at)
		}
		return nil
	})
}

// revoke takes privileges away at one level. IF EXISTS makes a warning of a grant that is not there.
func (s *Session) revoke(stmt *syntax.Grant, set privilege.Set, at privilege.Level) error {
	return s.node.Users.Update("REVOKE", func(e *privilege.Edit) error {
		for _, a := range stmt.Users {
			user, host := s.who(a)
			known := e.Find(user, host) != nil
			if !known && stmt.IgnoreUser {
				s.context.Warn(types.LevelWarning, types.ErUserDoesNotExist, "'"+user+"'@'"+host+"'")
				continue
			}
			err := e.Revoke(user, host, set, at)
			if missing, ok := err.(*types.Error); ok && known && stmt.IfExists {
				s.context.AddError(types.LevelWarning, missing)
				continue
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// revokeAll executes REVOKE ALL PRIVILEGES, GRANT OPTION FROM. It is about every level, so no level's rights allow it, but CREATE USER.
func (s *Session) revokeAll(stmt *syntax.Grant) error {
	if err := s.require(privilege.CreateUser, "", ""); err != nil {
		return err
	}
	for _, a := range stmt.Users {
		if err := s.checkTarget(a); err != nil {
			return err
		}
	}
	return s.node.Users.Update("REVOKE", func(e *privilege.Edit) error {
		for _, a := range stmt.Users {
			user, host := s.who(a)
			switch {
			case e.Find(user, host) != nil:
				e.RevokeAll(user, host)
			case stmt.IgnoreUser:
				s.context.Warn(types.LevelWarning, types.ErUserDoesNotExist, "'"+user+"'@'"+host+"'")
			default:
				return types.Errorf(types.ErRevokeGrants)
			}
		}
		return nil
	})
}

// checkMeaning refuses privileges that have no meaning at a level.
func checkMeaning(set privilege.Set, at privilege.Level) error {
	if bad := set &^ at.All(); bad&^privilege.GrantOption != 0 && set&privilege.All != privilege.All {
		if at.Table != "" {
			return types.Errorf(types.ErIllegalGrantForTable)
		}
		return types.Errorf(types.ErWrongUsage, "DB GRANT", "GLOBAL PRIVILEGES")
	}
	return nil
}

// checkExistence refuses a GRANT on a table that does not exist, unless it allows to create it, and to unknown accounts.
func (s *Session) checkExistence(stmt *syntax.Grant, set privilege.Set, at privilege.Level) error {
	if at.Table != "" && set&privilege.Create == 0 {
		if _, err := s.node.Catalog.Current().Table(at.Database, at.Table); err != nil {
			return err
		}
	}
	for _, a := range stmt.Users {
		if user, host := s.who(a); s.node.Users.Find(user, host) == nil {
			return types.Errorf(types.ErCantCreateUserWithGrant)
		}
	}
	return nil
}

func grantedSet(stmt *syntax.Grant) (privilege.Set, error) {
	var set privilege.Set
	for _, p := range stmt.Privs {
		if len(p.Columns) > 0 {
			return 0, types.Errorf(types.ErNotSupportedYet, "column privileges")
		}
		one, ok := privilege.Parse(p.Name)
		if !ok {
			return 0, types.Errorf(types.ErNotSupportedYet, "privilege "+p.Name+"; SUPER covers the dynamic ones")
		}
		set |= one
	}
	for _, o := range stmt.Options {
		if o.Kind == "GRANT OPTION" {
			set |= privilege.GrantOption
		}
	}
	return set, nil
}

// showAccount answers SHOW GRANTS and SHOW CREATE USER. Hashes are not shown.
func (s *Session) showAccount(stmt *syntax.Show, more bool, out Response) error {
	own := s.account()
	user, host := own.User, own.Host
	if stmt.User != nil {
		user, host = s.who(*stmt.User)
	}
	if user != own.User || host != own.Host {
		if err := s.require(privilege.CreateUser, "", ""); err != nil {
			return s.fail(err)
		}
	}
	a := s.node.Users.Find(user, host)
	if a == nil {
		return s.fail(types.Errorf(types.ErNonexistingGrant, user, host))
	}
	column, lines := "Grants for "+a.Name(), a.Grants()
	if stmt.Kind == syntax.ShowCreateUser {
		column = "CREATE USER for " + a.Name()
		line := "CREATE USER `" + a.User + "`@`" + a.Host + "` IDENTIFIED WITH '" + a.Plugin + "'"
		if a.RequireTLS {
			line += " REQUIRE SSL"
		} else {
			line += " REQUIRE NONE"
		}
		if a.Locked {
			line += " ACCOUNT LOCK"
		} else {
			line += " ACCOUNT UNLOCK"
		}
		lines = []string{line}
	}
	rows := make([][]types.Value, len(lines))
	for i := range lines {
		rows[i] = []types.Value{types.Text(lines[i])}
	}
	return s.sendRows([]sqlapi.ColumnInfo{textColumn(column, 1024)}, rows, more, out)
}
