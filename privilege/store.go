package privilege

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"sort"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/pandodb/pando/keys"
	"github.com/pandodb/pando/kvapi"
	"github.com/pandodb/pando/txn"
)

// nativePlugin is the older of the two authentication plugins.
const nativePlugin = "mysql_native_password"

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

// key is the table's in Account.Tables.
func (l Level) key() string { return l.Database + "\x00" + l.Table }

// directory is the accounts at one time. It is never written again.
type directory struct {
	list   []*Account // most specific first
	byName map[identity]*Account
	byUser map[string][]*Account // the same order
	native float64               // share of the accounts of mysql_native_password
}

// Store is the node's accounts. It is safe for concurrent use.
type Store struct {
	// Fresh tells that Open has found no accounts and made the first.
	Fresh bool

	txns *txn.Manager
	// mu serialises changes: the record is committed before accounts is replaced.
	mu       sync.Mutex
	accounts atomic.Pointer[directory]
	version  atomic.Uint64
}

// Open loads the accounts. A fresh directory gets those that first returns, or if that is nil root@localhost without a password.
func Open(m *txn.Manager, first func() ([]*Account, error)) (*Store, error) {
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
	accounts := []*Account{{User: "root", Host: "localhost", Plugin: "caching_sha2_password", Global: All | GrantOption}}
	if first != nil {
		var err error
		if accounts, err = first(); err != nil {
			return nil, err
		}
	}
	s.Fresh = true
	return s, s.Update("CREATE USER", func(e *Edit) error {
		for _, a := range accounts {
			if err := e.Create(a); err != nil {
				return err
			}
		}
		return nil
	})
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
	d := &directory{list: list, byName: make(map[identity]*Account, len(list)), byUser: make(map[string][]*Account, len(list))}
	native := 0
	for _, a := range list {
		d.byName[a.identity()] = a
		d.byUser[a.User] = append(d.byUser[a.User], a)
		if a.Plugin == nativePlugin {
			native++
		}
	}
	if len(list) > 0 {
		d.native = float64(native) / float64(len(list))
	}
	s.accounts.Store(d)
	s.version.Add(1)
}

// Version changes with every change of any account, so that sessions know when to look again.
func (s *Store) Version() uint64 { return s.version.Load() }

// Match returns the account that serves a client, or nil. host is "localhost" for this machine, else an address; addr is the address, empty
// where there is none. An account fits by either. How long it takes does not depend on other names.
func (s *Store) Match(user, host, addr string) *Account {
	for _, a := range s.accounts.Load().byUser[user] {
		if serves(a.Host, host, addr) {
			return a
		}
	}
	return nil
}

// NativeShare returns the part of all accounts whose plugin is mysql_native_password.
func (s *Store) NativeShare() float64 { return s.accounts.Load().native }

// RootIsOpen tells whether an account of root, from wherever, lets in who knows no password.
func (s *Store) RootIsOpen() bool {
	return slices.ContainsFunc(s.accounts.Load().byUser["root"], func(a *Account) bool { return len(a.Auth) == 0 && !a.Locked })
}

// Find returns the account with exactly that name, or nil.
func (s *Store) Find(user, host string) *Account {
	return s.accounts.Load().byName[identify(user, host)]
}

// Accounts lists all accounts by host and user, the order of the primary key of mysql.user.
func (s *Store) Accounts() []*Account {
	list := slices.Clone(s.accounts.Load().list)
	slices.SortFunc(list, func(a, b *Account) int {
		return cmp.Or(strings.Compare(a.Host, b.Host), strings.Compare(a.User, b.User))
	})
	return list
}

// ByName returns the account called user@host, or nil.
func (s *Store) ByName(name string) *Account {
	for _, a := range s.accounts.Load().list {
		if a.Name() == name {
			return a
		}
	}
	return nil
}
