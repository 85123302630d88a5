package privilege

import (
	"encoding/json"
	"fmt"
	"sort"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/pandodb/pando/keys"
	"github.com/pandodb/pando/kvapi"
	"github.com/pandodb/pando/txn"
	"github.com/pandodb/pando/types"
)

// accountSpace is the kind of the system keys that hold accounts.
const accountSpace = 'u'

// Limits on names, as MySQL has them.
const (
	userNameMax = 32
	hostNameMax = 255
	accountsMax = 100_000
)

// Level is what a grant covers: a table, a database pattern (empty Table), or everything (empty Database).
type Level struct{ Database, Table string }

// Store is the node's accounts. It is safe for concurrent use.
type Store struct {
	txns *txn.Manager
	// mu serialises changes: the record is committed before accounts is replaced.
	mu       sync.Mutex
	accounts atomic.Pointer[[]*Account] // most specific first
	version  atomic.Uint64
}

// Open loads the accounts; a fresh directory gets root@localhost without a password.
func Open(m *txn.Manager) (*Store, error) {
	s := &Store{txns: m}
	loader := &loader{}
	start := keys.SystemKey(nil, accountSpace)
	request := txn.ScanRequest{Span: kvapi.Span{Start: start, End: keys.PrefixEnd(nil, start)}, Sink: loader}
	for {
		resume, err := m.Scan(&request)
		if err != nil {
			return nil, fmt.Errorf("loading accounts: %w", err)
		}
		if resume == nil {
			break
		}
		request.Span.Start = resume
	}
	s.publish(loader.accounts)
	if len(loader.accounts) > 0 {
		return s, nil
	}
	return s, s.put(&Account{User: "root", Host: "localhost", Plugin: "caching_sha2_password", Global: All | GrantOption})
}

type loader struct{ accounts []*Account }

// Pair decodes one record.
func (l *loader) Pair(_, value []byte) (bool, error) {
	a := &Account{}
	if err := json.Unmarshal(value, a); err != nil {
		return false, fmt.Errorf("damaged account record: %w", err)
	}
	l.accounts = append(l.accounts, a)
	return true, nil
}

// publish sorts and shows a new list, the most specific host first. The order is total,
// so that it does not depend on that of the changes.
func (s *Store) publish(list []*Account) {
	sort.Slice(list, func(i, j int) bool {
		x, y := list[i], list[j]
		if a, b := specificity(x.Host), specificity(y.Host); a != b {
			return a > b
		}
		if x.User != y.User {
			return x.User > y.User
		}
		return x.Host > y.Host
	})
	s.accounts.Store(&list)
	s.version.Add(1)
}

// Version changes with every change of any account, so that sessions know when to look again.
func (s *Store) Version() uint64 { return s.version.Load() }

// Match returns the account that serves a client, or nil. host is "localhost" for this machine, else an address; addr is the address, empty
// where there is none. An account fits by either.
func (s *Store) Match(user, host, addr string) *Account {
	for _, a := range *s.accounts.Load() {
		if a.User == user && serves(a.Host, host, addr) {
			return a
		}
	}
	return nil
}

// Find returns the account with exactly that name, or nil.
func (s *Store) Find(user, host string) *Account {
	for _, a := range *s.accounts.Load() {
		if a.User == user && strings.EqualFold(a.Host, host) {
			return a
		}
	}
	return nil
}

// ByName returns the account called user@host, or nil.
func (s *Store) ByName(name string) *Account {
	for _, a := range *s.accounts.Load() {
		if a.Name() == name {
			return a
		}
	}
	return nil
}

// put commits one account's record and publishes it. Callers but Open hold mu.
func (s *Store) put(a *Account) error {
	if err := s.write(a, false); err != nil {
		return err
	}
	list := []*Account{a}
	for _, other := range *s.accounts.Load() {
		if other.Name() != a.Name() {
			list = append(list, other)
		}
	}
	s.publish(list)
	return nil
}

func (s *Store) write(a *Account, remove bool) error {
	tx := s.txns.Begin(txn.Options{Level: txn.ReadCommitted})
	defer tx.Release()
	key := keys.SystemKey(nil, accountSpace, []byte(a.User), []byte(strings.ToLower(a.Host)))
	err := func() error {
		if _, _, err := tx.Lock(key, kvapi.LockExclusive, kvapi.WaitDefault, nil); err != nil {
			return err
		}
		if remove {
			return tx.Delete(key)
		}
		record, err := json.Marshal(a)
		if err != nil {
			return err
		}
		return tx.Put(key, record)
	}()
	if err != nil {
		tx.Rollback()
		return err
	}
	return tx.Commit()
}

// Create adds an account. It fails if one of that name exists (1396) or a name is too long (1470).
func (s *Store) Create(a *Account) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case len(a.User) > userNameMax:
		return types.Errorf(types.ErWrongStringLength, a.User, "user name", userNameMax)
	case len(a.Host) > hostNameMax:
		return types.Errorf(types.ErWrongStringLength, a.Host, "host name", hostNameMax)
	case s.Find(a.User, a.Host) != nil:
		return cannot("CREATE USER", a.User, a.Host)
	case len(*s.accounts.Load()) >= accountsMax:
		return types.Errorf(types.ErOutOfResources)
	}
	return s.put(a)
}

func cannot(what, user, host string) error {
	return types.Errorf(types.ErCannotUser, what, "'"+user+"'@'"+host+"'")
}

// Drop removes an account (1396 if there is none).
func (s *Store) Drop(user, host string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	a := s.Find(user, host)
	if a == nil {
		return cannot("DROP USER", user, host)
	}
	if err := s.write(a, true); err != nil {
		return err
	}
	var list []*Account
	for _, other := range *s.accounts.Load() {
		if other != a {
			list = append(list, other)
		}
	}
	s.publish(list)
	return nil
}

// Rename gives an account another name and keeps its grants.
func (s *Store) Rename(user, host, toUser, toHost string) error {
	a := s.Find(user, host)
	if a == nil {
		return cannot("RENAME USER", user, host)
	}
	renamed := a.clone()
	renamed.User, renamed.Host = toUser, toHost
	if err := s.Create(renamed); err != nil {
		return cannot("RENAME USER", user, host)
	}
	return s.Drop(user, host)
}

// Alter changes an account under the store's lock; what names the statement for error 1396.
func (s *Store) Alter(what, user, host string, change func(a *Account)) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	a := s.Find(user, host)
	if a == nil {
		return cannot(what, user, host)
	}
	c := a.clone()
	change(c)
	return s.put(c)
}

// Grant adds privileges at a level.
func (s *Store) Grant(user, host string, set Set, at Level) error {
	return s.Alter("GRANT", user, host, func(a *Account) {
		switch {
		case at.Database == "":
			a.Global |= set
		case at.Table == "":
			a.Databases[at.Database] |= limited(set, databaseAll)
		default:
			a.Tables[at.Database+"\x00"+at.Table] |= limited(set, tableAll)
		}
	})
}

// limited narrows ALL to what the level has.
func limited(set, all Set) Set {
	if set&All == All {
		return all | set&GrantOption
	}
	return set & (all | GrantOption)
}

// Revoke takes privileges away at a level; what was not granted is left alone.
func (s *Store) Revoke(user, host string, set Set, at Level) error {
	return s.Alter("REVOKE", user, host, func(a *Account) {
		drop := func(m map[string]Set, key string) {
			if m[key] &^= set; m[key] == 0 {
				delete(m, key)
			}
		}
		switch {
		case at.Database == "":
			a.Global &^= set
		case at.Table == "":
			drop(a.Databases, at.Database)
		default:
			drop(a.Tables, at.Database+"\x00"+at.Table)
		}
	})
}

// RevokeAll takes everything away, at every level.
func (s *Store) RevokeAll(user, host string) error {
	return s.Alter("REVOKE", user, host, func(a *Account) { a.Global, a.Databases, a.Tables = 0, nil, nil })
}
