package infoschema

import (
	"encoding/hex"
	"slices"
	"strings"

	"github.com/pandodb/pando/privilege"
)

// visibleAccounts are those whose grants the account may see: all of them for who may read the schema mysql, else its own.
func (q *query) visibleAccounts() []*privilege.Account {
	if q.MayRead("mysql", "user") == nil {
		return q.Accounts()
	}
	return []*privilege.Account{q.Account()}
}

func grantee(a *privilege.Account) string {
	quote := func(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }
	return quote(a.User) + "@" + quote(a.Host)
}

// eachPrivilege calls f for every privilege of a set, or for USAGE if there is none and usage asks for it.
func eachPrivilege(set privilege.Set, usage bool, f func(name, grantable string) error) error {
	names := set.Names()
	if len(names) == 0 && usage {
		names = []string{"USAGE"}
	}
	for _, name := range names {
		if err := f(name, yesNo(set&privilege.GrantOption != 0)); err != nil {
			return err
		}
	}
	return nil
}

func userPrivileges(q *query) error {
	for _, a := range q.visibleAccounts() {
		err := eachPrivilege(a.Global, true, func(name, grantable string) error { return q.emit(grantee(a), catalogName, name, grantable) })
		if err != nil {
			return err
		}
	}
	return nil
}

func schemaPrivileges(q *query) error {
	for _, a := range q.visibleAccounts() {
		for _, pattern := range keysOf(a.Databases) {
			err := eachPrivilege(a.Databases[pattern], false, func(name, grantable string) error {
				return q.emit(grantee(a), catalogName, pattern, name, grantable)
			})
			if err != nil {
				return err
			}
		}
	}
	return nil
}

func tablePrivileges(q *query) error {
	for _, a := range q.visibleAccounts() {
		for _, key := range keysOf(a.Tables) {
			db, table, _ := strings.Cut(key, "\x00")
			err := eachPrivilege(a.Tables[key], false, func(name, grantable string) error {
				return q.emit(grantee(a), catalogName, db, table, name, grantable)
			})
			if err != nil {
				return err
			}
		}
	}
	return nil
}

func keysOf(m map[string]privilege.Set) []string {
	list := make([]string, 0, len(m))
	for k := range m {
		list = append(list, k)
	}
	slices.Sort(list)
	return list
}

func userAttributes(q *query) error {
	list := q.visibleAccounts()
	if len(list) == 1 && !q.Account().Has(privilege.CreateUser, "", "") {
		list = []*privilege.Account{q.Account()}
	}
	for _, a := range list {
		if err := q.emit(a.User, a.Host, nil); err != nil {
			return err
		}
	}
	return nil
}

// staticColumns are the columns of mysql.user and mysql.db for the static privileges.
var staticColumns = []struct {
	name string
	set  privilege.Set
}{
	{"Select_priv", privilege.Select}, {"Insert_priv", privilege.Insert}, {"Update_priv", privilege.Update}, {"Delete_priv", privilege.Delete},
	{"Create_priv", privilege.Create}, {"Drop_priv", privilege.Drop}, {"Reload_priv", privilege.Reload}, {"Shutdown_priv", privilege.Shutdown},
	{"Process_priv", privilege.Process}, {"File_priv", privilege.File}, {"Grant_priv", privilege.GrantOption}, {"References_priv", privilege.References},
	{"Index_priv", privilege.Index}, {"Alter_priv", privilege.Alter}, {"Show_db_priv", privilege.ShowDatabases}, {"Super_priv", privilege.Super},
	{"Create_tmp_table_priv", privilege.CreateTemporaryTables}, {"Lock_tables_priv", privilege.LockTables}, {"Execute_priv", privilege.Execute},
	{"Repl_slave_priv", privilege.ReplicationSlave}, {"Repl_client_priv", privilege.ReplicationClient}, {"Create_view_priv", privilege.CreateView},
	{"Show_view_priv", privilege.ShowView}, {"Create_routine_priv", privilege.CreateRoutine}, {"Alter_routine_priv", privilege.AlterRoutine},
	{"Create_user_priv", privilege.CreateUser}, {"Event_priv", privilege.Event}, {"Trigger_priv", privilege.Trigger},
	{"Create_tablespace_priv", privilege.CreateTablespace},
}

// privilegeColumns are the columns for a set of privileges, as far as the table has them.
func (q *query) privilegeColumns(set privilege.Set) []any {
	var pairs []any
	for _, c := range staticColumns {
		if q.layout.column(c.name) >= 0 {
			pairs = append(pairs, c.name, letter(set&c.set != 0))
		}
	}
	return pairs
}

func letter(b bool) string {
	if b {
		return "Y"
	}
	return "N"
}

// mysqlUser is mysql.user. Stored passwords are as they are kept: hashed.
func mysqlUser(q *query) error {
	for _, a := range q.Accounts() {
		ssl := ""
		if a.RequireTLS {
			ssl = "ANY"
		}
		pairs := append(q.privilegeColumns(a.Global), "Host", a.Host, "User", a.User, "ssl_type", ssl, "plugin", a.Plugin, "authentication_string", authText(a),
			"password_expired", "N", "account_locked", letter(a.Locked), "Create_role_priv", "N", "Drop_role_priv", "N")
		if err := q.emitNamed(pairs...); err != nil {
			return err
		}
	}
	return nil
}

// authText is what an account stores of its password, in hexadecimal where it is not text.
func authText(a *privilege.Account) string {
	if printable(a.Auth) {
		return string(a.Auth)
	}
	return strings.ToUpper(hex.EncodeToString(a.Auth))
}

func printable(b []byte) bool {
	for _, c := range b {
		if c < ' ' || c > '~' {
			return false
		}
	}
	return true
}

func mysqlDB(q *query) error {
	for _, a := range q.Accounts() {
		for _, pattern := range keysOf(a.Databases) {
			if err := q.emitNamed(append(q.privilegeColumns(a.Databases[pattern]), "Host", a.Host, "Db", pattern, "User", a.User)...); err != nil {
				return err
			}
		}
	}
	return nil
}

func mysqlTablesPriv(q *query) error {
	for _, a := range q.Accounts() {
		for _, key := range keysOf(a.Tables) {
			db, table, _ := strings.Cut(key, "\x00")
			names := a.Tables[key].Names()
			if a.Tables[key]&privilege.GrantOption != 0 {
				names = append(names, "Grant")
			}
			err := q.emitNamed("Host", a.Host, "Db", db, "User", a.User, "Table_name", table, "Table_priv", strings.Join(names, ","))
			if err != nil {
				return err
			}
		}
	}
	return nil
}
