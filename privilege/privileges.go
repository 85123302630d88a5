package privilege

import (
	"sort"
	"strings"
)

// Set is a set of static privileges.
type Set uint32

// The static privileges of MySQL, as bits.
const (
	Select Set = 1 << iota
	Insert
	Update
	Delete
	Create
	Drop
	Reload
	Shutdown
	Process
	File
	GrantOption
	References
	Index
	Alter
	ShowDatabases
	Super
	CreateTemporaryTables
	LockTables
	Execute
	ReplicationSlave
	ReplicationClient
	CreateView
	ShowView
	CreateRoutine
	AlterRoutine
	CreateUser
	Event
	Trigger
	CreateTablespace
	end

	// All is what ALL PRIVILEGES gives on everything.
	All = (end - 1) &^ GrantOption
	// databaseAll and tableAll are what ALL PRIVILEGES gives on a database and on a table.
	databaseAll = Select | Insert | Update | Delete | Create | Drop | References | Index | Alter | CreateTemporaryTables | LockTables | Execute |
		CreateView | ShowView | CreateRoutine | AlterRoutine | Event | Trigger
	tableAll = Select | Insert | Update | Delete | Create | Drop | References | Index | Alter | CreateView | ShowView | Trigger
)

// names are in the order in which SHOW GRANTS prints them.
var names = []struct {
	bit  Set
	name string
}{
	{Select, "SELECT"}, {Insert, "INSERT"}, {Update, "UPDATE"}, {Delete, "DELETE"}, {Create, "CREATE"}, {Drop, "DROP"}, {Reload, "RELOAD"},
	{Shutdown, "SHUTDOWN"}, {Process, "PROCESS"}, {File, "FILE"}, {References, "REFERENCES"}, {Index, "INDEX"}, {Alter, "ALTER"},
	{ShowDatabases, "SHOW DATABASES"}, {Super, "SUPER"}, {CreateTemporaryTables, "CREATE TEMPORARY TABLES"}, {LockTables, "LOCK TABLES"},
	{Execute, "EXECUTE"}, {ReplicationSlave, "REPLICATION SLAVE"}, {ReplicationClient, "REPLICATION CLIENT"}, {CreateView, "CREATE VIEW"},
	{ShowView, "SHOW VIEW"}, {CreateRoutine, "CREATE ROUTINE"}, {AlterRoutine, "ALTER ROUTINE"}, {CreateUser, "CREATE USER"}, {Event, "EVENT"},
	{Trigger, "TRIGGER"}, {CreateTablespace, "CREATE TABLESPACE"}, {GrantOption, "GRANT OPTION"},
}

// Parse returns the privilege of that name, in any case. ALL [PRIVILEGES] gives All; USAGE gives the empty set. ok is false for names that
// are no static privilege.
func Parse(name string) (Set, bool) {
	upper := strings.ToUpper(name)
	switch upper {
	case "ALL", "ALL PRIVILEGES":
		return All, true
	case "USAGE":
		return 0, true
	}
	for _, n := range names {
		if n.name == upper {
			return n.bit, true
		}
	}
	return 0, false
}

// All is what ALL PRIVILEGES means at the level.
func (l Level) All() Set {
	switch {
	case l.Database == "":
		return All
	case l.Table == "":
		return databaseAll
	}
	return tableAll
}

// text lists the privileges of a set as SHOW GRANTS does; all is what ALL PRIVILEGES means at the level.
func (s Set) text(all Set) string {
	s &^= GrantOption
	if s == 0 {
		return "USAGE"
	}
	if s&all == all {
		return "ALL PRIVILEGES"
	}
	return strings.Join(s.list(), ", ")
}

func (s Set) list() []string {
	var out []string
	for _, n := range names {
		if s&n.bit != 0 {
			out = append(out, n.name)
		}
	}
	return out
}

// First names one privilege of the set, for error messages.
func (s Set) First() string {
	if list := s.list(); len(list) > 0 {
		return list[0]
	}
	return "USAGE"
}

// Account is one account with its grants. It is immutable: a change makes a new one.
type Account struct {
	User       string         `json:"user"`
	Host       string         `json:"host"`
	Plugin     string         `json:"plugin"`
	Auth       []byte         `json:"auth,omitempty"`
	RequireTLS bool           `json:"require_tls,omitempty"`
	Locked     bool           `json:"locked,omitempty"`
	Global     Set            `json:"global,omitempty"`
	Databases  map[string]Set `json:"databases,omitempty"` // by pattern
	Tables     map[string]Set `json:"tables,omitempty"`    // by "database\x00table"
}

// Name returns user@host, as CURRENT_USER() shows it.
func (a *Account) Name() string { return a.User + "@" + a.Host }

func (a *Account) identity() identity { return identify(a.User, a.Host) }

func (a *Account) clone() *Account {
	c := *a
	c.Databases, c.Tables = map[string]Set{}, map[string]Set{}
	for k, v := range a.Databases {
		c.Databases[k] = v
	}
	for k, v := range a.Tables {
		c.Tables[k] = v
	}
	return &c
}

// Has reports whether the account has all of want on a table; an empty table asks for the database, an empty database for everything.
func (a *Account) Has(want Set, database, table string) bool {
	return a.Missing(want, database, table) == 0
}

// Missing is the part of want that the account lacks.
func (a *Account) Missing(want Set, database, table string) Set {
	return a.missing(want, database, table, matches)
}

// MissingToGrant is the part of want that the account lacks at a level whose database is a pattern, so that it may not pass it on there.
// In a grant on a table the database is a name, as in MySQL.
func (a *Account) MissingToGrant(want Set, at Level) Set {
	if at.Table != "" {
		return a.missing(want, at.Database, at.Table, matches)
	}
	return a.missing(want, at.Database, "", covers)
}

func (a *Account) missing(want Set, database, table string, includes func(pattern, database string) bool) Set {
	have := a.Global
	if have&want == want {
		return 0
	}
	if database != "" {
		for pattern, set := range a.Databases {
			if includes(pattern, database) {
				have |= set
			}
		}
		if table != "" {
			have |= a.Tables[database+"\x00"+table]
		}
	}
	return want &^ have
}

// Sees reports whether the account has any privilege on a table, or on anything in the database when table is empty. Only privileges that
// tables, or databases, can have count: a right such as FILE says nothing about anybody's tables.
func (a *Account) Sees(database, table string) bool {
	shows := databaseAll | GrantOption // MySQL's DB_ACLS
	if table != "" {
		shows = tableAll
	}
	if a.Global&shows != 0 {
		return true
	}
	for pattern, set := range a.Databases {
		if set&shows != 0 && matches(pattern, database) {
			return true
		}
	}
	for key, set := range a.Tables {
		db, name, _ := strings.Cut(key, "\x00")
		if set != 0 && db == database && (table == "" || table == name) {
			return true
		}
	}
	return false
}

// Lists reports whether the account may know that the database is there.
func (a *Account) Lists(database string) bool {
	return a.Global&ShowDatabases != 0 || a.Sees(database, "")
}

// matches is LIKE with % and _ and \ as escape, over bytes.
func matches(pattern, s string) bool { return like(pattern, s, nameToken) }

// covers reports whether each name that the pattern asked matches is matched by granted too. It compares the patterns sign by sign, so it
// may miss that two of them mean the same, but never errs on the other side: _ does not cover %, nor does \_ cover _.
func covers(granted, asked string) bool { return like(granted, asked, patternToken) }

// sign is what a token of a pattern stands for.
type sign uint8

const (
	signEnd  sign = iota // there is no token left
	signByte             // itself
	signOne              // one byte
	signMany             // any number of bytes
)

// patternToken splits the first token off a pattern. c is the byte that it stands for.
func patternToken(p string) (what sign, c byte, rest string) {
	switch {
	case p == "":
		return signEnd, 0, ""
	case p[0] == '%':
		return signMany, 0, p[1:]
	case p[0] == '_':
		return signOne, 0, p[1:]
	case p[0] == '\\' && len(p) > 1:
		return signByte, p[1], p[2:]
	}
	return signByte, p[0], p[1:]
}

// nameToken is patternToken for a name, all of whose bytes stand for themselves.
func nameToken(s string) (what sign, c byte, rest string) {
	if s == "" {
		return signEnd, 0, ""
	}
	return signByte, s[0], s[1:]
}

// like matches the tokens of s. Only the last % is ever tried again, one token further: an earlier one could do no better, so the time is
// bounded by the product of the lengths.
func like(pattern, s string, token func(string) (sign, byte, string)) bool {
	star, behind, from := false, "", ""
	for s != "" {
		want, c, rest := patternToken(pattern)
		what, d, next := token(s)
		switch {
		case want == signMany:
			star, behind, from = true, rest, s
			pattern = rest
		case want == signOne && what != signMany, want == signByte && what == signByte && c == d:
			pattern, s = rest, next
		case !star:
			return false
		default:
			_, _, from = token(from)
			pattern, s = behind, from
		}
	}
	return strings.Trim(pattern, "%") == ""
}

// Grants lists the account's grants as SHOW GRANTS prints them.
func (a *Account) Grants() []string {
	to := " TO " + quote(a.User) + "@" + quote(a.Host)
	option := func(s Set) string {
		if s&GrantOption != 0 {
			return " WITH GRANT OPTION"
		}
		return ""
	}
	out := []string{"GRANT " + a.Global.text(All) + " ON *.*" + to + option(a.Global)}
	for _, pattern := range sorted(a.Databases) {
		set := a.Databases[pattern]
		out = append(out, "GRANT "+set.text(databaseAll)+" ON "+quote(pattern)+".*"+to+option(set))
	}
	for _, key := range sorted(a.Tables) {
		db, table, _ := strings.Cut(key, "\x00")
		set := a.Tables[key]
		out = append(out, "GRANT "+set.text(tableAll)+" ON "+quote(db)+"."+quote(table)+to+option(set))
	}
	return out
}

func quote(s string) string { return "`" + strings.ReplaceAll(s, "`", "``") + "`" }

func sorted(m map[string]Set) []string {
	out := make([]string, 0, len(m))
	for k := range m {
		out = append(out, k)
	}
	sort.Strings(out)
	return out
}

// Names lists the privileges of a set but GRANT OPTION, in the order of SHOW GRANTS.
func (s Set) Names() []string { return (s &^ GrantOption).list() }
