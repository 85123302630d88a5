package syntax

// CreateUser is CREATE USER or ALTER USER.
type CreateUser struct {
	Pos          Pos
	Alter        bool
	IfExists     bool // IF NOT EXISTS of CREATE, IF EXISTS of ALTER.
	Users        []UserSpec
	DefaultRole  *SetDefaultRole // Only Kind and Roles are used.
	Require      []RequireOption
	HasRequire   bool
	RequireNone  bool
	Resources    []UserOption // WITH MAX_QUERIES_PER_HOUR 5 ...
	HasResources bool
	Options      []UserOption // PASSWORD EXPIRE, ACCOUNT LOCK, COMMENT...
}

// UserSpec is an account with its authentication factors.
type UserSpec struct {
	Account Account
	Auth    []AuthOption // Joined by AND.
	// Factors holds the ADD|MODIFY|DROP n FACTOR and registration clauses of ALTER USER.
	Factors *Loose
	Discard bool // DISCARD OLD PASSWORD.
}

// AuthOption is IDENTIFIED [WITH plugin] [BY ...|AS ...].
type AuthOption struct {
	Plugin    string
	PluginStr bool // The plugin was a quoted string.
	HasWith   bool
	By        *Literal
	ByWord    bool // BY PASSWORD '...', the old spelling.
	Random    bool // BY RANDOM PASSWORD.
	As        *Literal
	Replace   *Literal
	Retain    bool // RETAIN CURRENT PASSWORD.
	InitialBy *Literal
}

// RequireOption is SSL, X509, or CIPHER, ISSUER, SUBJECT with Value. And
// records the optional word AND before it.
type RequireOption struct {
	Kind  string
	Value *Literal
	And   bool
}

// UserOption is an option whose words are Kind, with an optional number or
// string, such as PASSWORD EXPIRE INTERVAL 5 DAY (Kind "PASSWORD EXPIRE
// INTERVAL", Value 5, Tail "DAY").
type UserOption struct {
	Kind  string
	Value *Literal
	Tail  string
}

// DropUser is DROP USER or DROP ROLE.
type DropUser struct {
	Pos      Pos
	Role     bool
	IfExists bool
	Users    []Account
}

// RenameUser is RENAME USER a TO b.
type RenameUser struct {
	Pos   Pos
	Pairs []AccountPair
}

// AccountPair is one a TO b.
type AccountPair struct{ From, To Account }

// CreateRole is CREATE ROLE.
type CreateRole struct {
	Pos         Pos
	IfNotExists bool
	Roles       []Account
}

// Privilege is one privilege of GRANT or REVOKE: static ones in upper case
// ("SELECT", "ALL PRIVILEGES"), dynamic ones as written.
type Privilege struct {
	Name    string
	Columns []Ident
}

// PrivLevel is what a privilege applies to: *.*, db.*, *, db.t or t.
type PrivLevel struct {
	ObjectType string // TABLE, FUNCTION, PROCEDURE or empty.
	Schema     string
	Name       string
	AllSchemas bool // *.*
	AllObjects bool // db.*, or * for the current database.
}

// Grant is GRANT and REVOKE in all forms. With Roles set it grants roles;
// Proxy grants PROXY ON ProxyUser; REVOKE ALL PRIVILEGES, GRANT OPTION FROM
// has RevokeAll.
type Grant struct {
	Pos        Pos
	Revoke     bool
	IfExists   bool
	Privs      []Privilege
	Roles      []Account
	IsRole     bool
	Level      PrivLevel
	ProxyUser  *Account
	RevokeAll  bool
	AllWord    bool // ALL PRIVILEGES rather than ALL, with RevokeAll.
	Users      []Account
	Specs      []UserSpec // Instead of Users when IDENTIFIED BY is given, as 5.7 had.
	Require    []RequireOption
	Options    []UserOption // WITH GRANT OPTION, WITH ADMIN OPTION and the old limits.
	As         *Account
	WithRole   *SetRole // AS user WITH ROLE ...
	IgnoreUser bool     // IGNORE UNKNOWN USER.
}
