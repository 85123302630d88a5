package privilege

import (
	"encoding/json"
	"sort"
	"strings"

	"github.com/pandodb/pando/keys"
	"github.com/pandodb/pando/kvapi"
	"github.com/pandodb/pando/txn"
	"github.com/pandodb/pando/types"
)

// identity is what tells accounts apart. The host is in lower case.
type identity struct{ user, host string }

func identify(user, host string) identity { return identity{user, strings.ToLower(host)} }

// Edit is the changes of one statement. They are seen by its own methods at once, and by nobody else before Update has committed them.
type Edit struct {
	base    *directory
	changed map[identity]*Account // nil for one that is removed
	count   int
	refused []string // accounts that make the statement fail with 1396
}

// Update makes all the changes that change asks for, in one transaction, or none if it fails or one of them was refused. what names the
// statement for error 1396, which lists all the accounts that were refused, as MySQL's does. change must not wait: it runs under mu.
func (s *Store) Update(what string, change func(*Edit) error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	base := s.accounts.Load()
	e := &Edit{base: base, changed: map[identity]*Account{}, count: len(base.list)}
	if err := change(e); err != nil {
		return err
	}
	if len(e.refused) > 0 {
		return types.Errorf(types.ErCannotUser, what, strings.Join(e.refused, ","))
	}
	if len(e.changed) == 0 {
		return nil
	}
	if err := s.commit(e); err != nil {
		return err
	}
	list := make([]*Account, 0, e.count)
	for _, a := range base.list {
		if _, changed := e.changed[a.identity()]; !changed {
			list = append(list, a)
		}
	}
	for _, a := range e.changed {
		if a != nil {
			list = append(list, a)
		}
	}
	s.publish(list)
	return nil
}

// commit writes the changed records, in the order of their keys.
func (s *Store) commit(e *Edit) error {
	order := make([]identity, 0, len(e.changed))
	for id := range e.changed {
		order = append(order, id)
	}
	sort.Slice(order, func(i, j int) bool {
		return order[i].user < order[j].user || order[i].user == order[j].user && order[i].host < order[j].host
	})
	tx := s.txns.Begin(txn.Options{Level: txn.ReadCommitted})
	defer tx.Release()
	for _, id := range order {
		if err := write(tx, id, e.changed[id]); err != nil {
			tx.Rollback()
			return err
		}
	}
	return tx.Commit()
}

// write puts one account's record; nil removes it.
func write(tx *txn.Txn, id identity, a *Account) error {
	key := keys.SystemKey(nil, accountSpace, []byte(id.user), []byte(id.host))
	if _, _, err := tx.Lock(key, kvapi.LockExclusive, kvapi.WaitDefault, nil); err != nil {
		return err
	}
	if a == nil {
		return tx.Delete(key)
	}
	record, err := json.Marshal(a)
	if err != nil {
		return err
	}
	return tx.Put(key, record)
}

// Find returns the account of that name as the statement has left it so far, or nil.
func (e *Edit) Find(user, host string) *Account {
	id := identify(user, host)
	if a, changed := e.changed[id]; changed {
		return a
	}
	return e.base.byName[id]
}

func (e *Edit) refuse(user, host string) { e.refused = append(e.refused, "'"+user+"'@'"+host+"'") }

// CheckLengths refuses names of accounts that are too long (1470).
func CheckLengths(user, host string) error {
	switch {
	case len(user) > userNameMax:
		return types.Errorf(types.ErWrongStringLength, user, "user name", userNameMax)
	case len(host) > hostNameMax:
		return types.Errorf(types.ErWrongStringLength, host, "host name", hostNameMax)
	}
	return nil
}

// Create adds an account, and refuses one that exists. It fails if a name is too long (1470) or there are too many accounts.
func (e *Edit) Create(a *Account) error {
	if err := CheckLengths(a.User, a.Host); err != nil {
		return err
	}
	switch {
	case e.Find(a.User, a.Host) != nil:
		e.refuse(a.User, a.Host)
		return nil
	case e.count >= accountsMax:
		return types.Errorf(types.ErOutOfResources)
	}
	e.count++
	e.changed[a.identity()] = a
	return nil
}

// Drop removes an account, and refuses one that does not exist.
func (e *Edit) Drop(user, host string) {
	if e.Find(user, host) == nil {
		e.refuse(user, host)
		return
	}
	e.count--
	e.changed[identify(user, host)] = nil
}

// Rename gives an account another name and keeps its grants. It is refused if there is none, or the other exists or is too long.
func (e *Edit) Rename(user, host, toUser, toHost string) {
	a := e.Find(user, host)
	if a == nil || e.Find(toUser, toHost) != nil || len(toUser) > userNameMax || len(toHost) > hostNameMax {
		e.refuse(user, host)
		return
	}
	renamed := a.clone()
	renamed.User, renamed.Host = toUser, toHost
	e.changed[a.identity()] = nil
	e.changed[renamed.identity()] = renamed
}

// Alter changes an account, and refuses one that does not exist.
func (e *Edit) Alter(user, host string, change func(a *Account)) {
	a := e.Find(user, host)
	if a == nil {
		e.refuse(user, host)
		return
	}
	c := a.clone()
	change(c)
	e.changed[c.identity()] = c
}

// Grant adds privileges at a level.
func (e *Edit) Grant(user, host string, set Set, at Level) {
	e.Alter(user, host, func(a *Account) {
		add := func(m map[string]Set, key string, set Set) {
			if set != 0 { // USAGE leaves no entry
				m[key] |= set
			}
		}
		switch {
		case at.Database == "":
			a.Global |= set
		case at.Table == "":
			add(a.Databases, at.Database, limited(set, databaseAll))
		default:
			add(a.Tables, at.key(), limited(set, tableAll))
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

// Revoke takes privileges away at a level. It fails if there is no such account, or if the level is a database (1141) or a table (1147) on
// which nothing was granted to it; of what was granted there, a part that is missing is left alone, as in MySQL.
func (e *Edit) Revoke(user, host string, set Set, at Level) error {
	a := e.Find(user, host)
	switch {
	case a == nil, at.Table == "" && at.Database != "" && a.Databases[at.Database] == 0:
		return types.Errorf(types.ErNonexistingGrant, user, host)
	case at.Table != "" && a.Tables[at.key()] == 0:
		return types.Errorf(types.ErNonexistingTableGrant, user, host, at.Table)
	}
	e.Alter(user, host, func(a *Account) {
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
			drop(a.Tables, at.key())
		}
	})
	return nil
}

// RevokeAll takes everything away, at every level.
func (e *Edit) RevokeAll(user, host string) {
	e.Alter(user, host, func(a *Account) { a.Global, a.Databases, a.Tables = 0, nil, nil })
}
