package privilege

import (
	"strings"
	"testing"

	"github.com/pandodb/pando/engine"
	"github.com/pandodb/pando/kv"
	"github.com/pandodb/pando/rpc"
	"github.com/pandodb/pando/store"
	"github.com/pandodb/pando/txn"
	"github.com/pandodb/pando/types"
)

// openStore returns the accounts of a store in memory, and a function that reads them anew.
func openStore(t *testing.T) (*Store, func() *Store) {
	t.Helper()
	e, err := engine.OpenMem()
	if err != nil {
		t.Fatal(err)
	}
	s, err := store.Open(store.Options{Engine: e})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = s.Close(), e.Close() })
	m := txn.NewManager(kv.New(rpc.Loopback(s)), txn.ManagerOptions{})
	open := func() *Store {
		accounts, err := Open(m, nil)
		if err != nil {
			t.Fatal(err)
		}
		return accounts
	}
	return open(), open
}

// The changes of one account, each as a statement of its own.
func (s *Store) create(a *Account) error {
	return s.Update("CREATE USER", func(e *Edit) error { return e.Create(a) })
}

func (s *Store) change(what string, change func(e *Edit)) error {
	return s.Update(what, func(e *Edit) error {
		change(e)
		return nil
	})
}

func (s *Store) grant(user, host string, set Set, at Level) error {
	return s.change("GRANT", func(e *Edit) { e.Grant(user, host, set, at) })
}

func number(err error) uint16 {
	if e, ok := err.(*types.Error); ok {
		return e.Number
	}
	return 0
}

// TestFirstAccount: a fresh directory has root@localhost, who may do everything and comes from this machine only.
func TestFirstAccount(t *testing.T) {
	s, _ := openStore(t)
	root := s.Match("root", "localhost", "")
	if root == nil || !root.Has(All|GrantOption, "", "") || root.Auth != nil {
		t.Fatalf("root: %+v", root)
	}
	if s.Match("root", "10.0.0.1", "10.0.0.1") != nil || s.Match("", "localhost", "") != nil {
		t.Error("somebody else may log in")
	}
}

// TestMatch: the most specific host wins.
func TestMatch(t *testing.T) {
	s, _ := openStore(t)
	for _, host := range []string{"%", "10.%", "10.0.0.7", "localhost", "10.0.%"} {
		if err := s.create(&Account{User: "u", Host: host}); err != nil {
			t.Fatal(err)
		}
	}
	for host, want := range map[string]string{"10.0.0.7": "10.0.0.7", "10.0.0.8": "10.0.%", "10.9.0.8": "10.%", "1.2.3.4": "%", "localhost": "localhost", "LOCALHOST": "localhost"} {
		if a := s.Match("u", host, ""); a == nil || a.Host != want {
			t.Errorf("%s is served by %+v, not %s", host, a, want)
		}
	}
	if s.Match("U", "localhost", "") != nil {
		t.Error("user names differ by case")
	}
}

// TestGrants: what is granted is had, at its level and nowhere else, and survives a restart until it is revoked.
func TestGrants(t *testing.T) {
	s, reopen := openStore(t)
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(s.create(&Account{User: "u", Host: "%"}))
	must(s.grant("u", "%", Select|Insert, Level{Database: "app\\_%"}))
	must(s.grant("u", "%", Update, Level{Database: "other", Table: "t"}))
	must(s.grant("u", "%", All|GrantOption, Level{Database: "own"}))
	check := func(a *Account, want Set, db, table string, has bool) {
		t.Helper()
		if a.Has(want, db, table) != has {
			t.Errorf("%v on %s.%s: %v", want.list(), db, table, !has)
		}
	}
	s = reopen()
	a := s.Find("u", "%")
	check(a, Select|Insert, "app_1", "x", true)
	check(a, Select, "appx1", "x", false)
	check(a, Update, "app_1", "x", false)
	check(a, Update, "other", "t", true)
	check(a, Update, "other", "u", false)
	check(a, Select, "other", "t", false)
	check(a, Drop|Create|GrantOption, "own", "", true)
	check(a, Super, "own", "", false)
	check(a, Select, "", "", false)
	if !a.Sees("other", "t") || a.Sees("other", "u") || !a.Sees("other", "") || a.Sees("elsewhere", "") {
		t.Error("what the account sees")
	}
	text := strings.Join(a.Grants(), "\n")
	for _, line := range []string{"GRANT USAGE ON *.* TO `u`@`%`", "GRANT SELECT, INSERT ON `app\\_%`.*", "GRANT UPDATE ON `other`.`t`", "GRANT ALL PRIVILEGES ON `own`.* TO `u`@`%` WITH GRANT OPTION"} {
		if !strings.Contains(text, line) {
			t.Errorf("%q is missing in\n%s", line, text)
		}
	}
	version := s.Version()
	must(s.Update("REVOKE", func(e *Edit) error { return e.Revoke("u", "%", Insert, Level{Database: "app\\_%"}) }))
	if s.Version() == version {
		t.Error("a change left the version as it was")
	}
	check(s.Find("u", "%"), Insert, "app_1", "x", false)
	check(s.Find("u", "%"), Select, "app_1", "x", true)
	must(s.change("REVOKE", func(e *Edit) { e.RevokeAll("u", "%") }))
	check(reopen().Find("u", "%"), Select, "own", "", false)
}

// TestCovers: a pattern that is granted covers the patterns that match nothing beyond it, so that nobody grants more than he has.
func TestCovers(t *testing.T) {
	for _, c := range []struct {
		granted, asked string
		name, pattern  bool // asked as a name, and as a pattern
	}{
		{"db", "db", true, true},
		{"db", "dbx", false, false},
		{"db", "d", false, false},
		{"db", "", false, false},
		{"", "", true, true},
		{"my_app", "my_app", true, true},
		{"my_app", "my%app", true, false},
		{"my_app", "myxapp", true, true},
		{"my_app", "my\\_app", false, true},
		{"my_app", "my\\%app", false, true},
		{"my\\_app", "my_app", true, false},
		{"my\\_app", "my\\_app", false, true},
		{"my\\_app", "my%app", false, false},
		{"my\\%", "my%", true, false},
		{"d\\b", "db", true, true},
		{"db", "d\\b", false, true},
		{"my%", "my%", true, true},
		{"my%", "my", true, true},
		{"my%", "my%app_", true, true},
		{"my%", "m%", false, false},
		{"my%", "%my", false, false},
		{"my_%", "my%", true, false},
		{"my_%", "my%_", true, false}, // the same names, but nobody has to find that out
		{"my%_", "my%_", true, true},
		{"%a%b", "xaxb", true, true},
		{"%a%b", "%a%a%b", true, true},
		{"%a%b", "%a%b%", false, false},
		{"%", "%", true, true},
		{"%%", "", true, true},
		{"_", "_", true, true},
		{"_", "%", true, false},
		{"__", "_", false, false},
		{"a\\", "a\\", true, true},
		{strings.Repeat("%a", 32) + "%", strings.Repeat("a", 64), true, true},
		{strings.Repeat("%a", 32) + "b", strings.Repeat("a", 64), false, false}, // in a time that bears no relation to the number of ways to try
	} {
		if got := matches(c.granted, c.asked); got != c.name {
			t.Errorf("%q matches the name %q: %v", c.granted, c.asked, got)
		}
		if got := covers(c.granted, c.asked); got != c.pattern {
			t.Errorf("%q covers the pattern %q: %v", c.granted, c.asked, got)
		}
	}
}

// TestRefusals: error 1396 and 1470, and nothing changed.
func TestRefusals(t *testing.T) {
	s, _ := openStore(t)
	for name, err := range map[string]error{
		"create twice":  s.create(&Account{User: "root", Host: "localhost"}),
		"drop unknown":  s.change("DROP USER", func(e *Edit) { e.Drop("nobody", "%") }),
		"alter unknown": s.change("ALTER USER", func(e *Edit) { e.Alter("nobody", "%", func(*Account) {}) }),
		"rename onto":   s.change("RENAME USER", func(e *Edit) { e.Rename("root", "localhost", "root", "localhost") }),
	} {
		if number(err) != types.ErCannotUser {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := s.create(&Account{User: strings.Repeat("x", userNameMax+1), Host: "%"}); number(err) != types.ErWrongStringLength {
		t.Errorf("long name: %v", err)
	}
	if s.Find("root", "localhost") == nil {
		t.Error("root is gone")
	}
}

// TestRename keeps the grants and the password.
func TestRename(t *testing.T) {
	s, reopen := openStore(t)
	if err := s.create(&Account{User: "a", Host: "%", Auth: []byte("secret"), Global: Select}); err != nil {
		t.Fatal(err)
	}
	if err := s.change("RENAME USER", func(e *Edit) { e.Rename("a", "%", "b", "localhost") }); err != nil {
		t.Fatal(err)
	}
	s = reopen()
	b := s.Find("b", "localhost")
	if s.Find("a", "%") != nil || b == nil || string(b.Auth) != "secret" || b.Global != Select {
		t.Errorf("%+v", b)
	}
}
