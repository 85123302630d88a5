package session

import (
	"encoding/hex"
	"errors"
	"slices"
	"strings"

	"github.com/pandodb/pando/expr"
	"github.com/pandodb/pando/syntax"
	"github.com/pandodb/pando/types"
)

// sessionInfo is the session as expressions see it.
type sessionInfo Session

func (i *sessionInfo) session() *Session { return (*Session)(i) }

func (i *sessionInfo) Database() string     { return i.db }
func (i *sessionInfo) User() string         { return i.client.User + "@" + i.client.Host }
func (i *sessionInfo) CurrentUser() string  { return i.client.Account }
func (i *sessionInfo) CurrentRole() string  { return "NONE" }
func (i *sessionInfo) Version() string      { return i.node.Version }
func (i *sessionInfo) ConnectionID() uint64 { return i.id }
func (i *sessionInfo) LastInsertID() uint64 { return i.lastInsertID }
func (i *sessionInfo) RowCount() int64      { return i.rowCount }
func (i *sessionInfo) FoundRows() uint64    { return i.foundRows }

// SetLastInsertID is LAST_INSERT_ID(id): the OK packet of the running statement then carries id, too, which is how clients keep
// sequences in a table and learn of the row that ON DUPLICATE KEY UPDATE changed.
func (i *sessionInfo) SetLastInsertID(id uint64) { i.lastInsertID, i.insertIDGiven = id, true }

func (i *sessionInfo) UserVar(name string) (types.Value, bool) {
	v, ok := i.userVars[strings.ToLower(name)]
	return v, ok
}

// SetUserVar drops a value beyond the session's limits, because assignments inside expressions can't fail; SET reports it.
func (i *sessionInfo) SetUserVar(name string, v types.Value) {
	if err := i.session().setUserVar(name, v); err != nil {
		i.context.Warn(types.LevelWarning, types.ErOutOfResources)
	}
}

// attributeScale is how many digits of a second's fraction times in attributes have, as in MySQL.
const attributeScale = 6

// Attribute returns the value of the first attribute of a name, which is in utf8mb4; of the first of all if it is empty. Those without a name
// have no value.
func (i *sessionInfo) Attribute(name []byte) types.Value {
	for k := range i.attributes {
		a := &i.attributes[k]
		if len(a.Name) == 0 {
			continue
		}
		own := i.build.Text(a.Name)
		if len(name) > 0 && !types.EqualStrings(inUTF8(own).B, name, types.DefaultCollation) {
			continue
		}
		v := a.Value
		switch {
		case v.K == types.KindDatetime || v.K == types.KindTime:
			v.Scale = attributeScale
		case v.IsString() && v.Coll != types.Binary:
			return inUTF8(i.build.Text(v.B))
		}
		return v
	}
	return types.Null()
}

// inUTF8 is a text in utf8mb4.
func inUTF8(v types.Value) types.Value {
	if from, to := v.Coll.Charset(), types.DefaultCollation.Charset(); !types.SameBytes(from, to) {
		v.B, _ = types.ConvertCharset(nil, v.B, from, to)
	}
	return v
}

func (i *sessionInfo) SysVar(scope expr.VarScope, name string) (types.Value, error) {
	return i.session().sysVar(scope, name)
}

// sysVar reads @@name. Without a scope the session's value wins, where there is one.
func (s *Session) sysVar(where expr.VarScope, name string) (types.Value, error) {
	i, v, err := s.node.table.lookup(name)
	if err != nil {
		return types.Null(), err
	}
	switch {
	case where == expr.ScopeSession && v.scope&scopeSession == 0:
		return types.Null(), types.Errorf(types.ErIncorrectGlobalLocalVar, v.name, "GLOBAL")
	case where == expr.ScopeGlobal && v.scope&scopeGlobal == 0:
		return types.Null(), types.Errorf(types.ErIncorrectGlobalLocalVar, v.name, "SESSION")
	case v.dynamic != nil:
		value := v.dynamic(s)
		if value.IsString() {
			value.Coll = types.Utf8mb3GeneralCI
		}
		return value, nil
	case where == expr.ScopeGlobal || v.scope == scopeGlobal:
		return v.value(s.node.globalValues()[i]), nil
	}
	return s.sessionValue(i, v), nil
}

// sessionValue reads a session variable, some of which live outside the value set.
func (s *Session) sessionValue(i int, v *variable) types.Value {
	switch v.name {
	case "last_insert_id":
		return types.Uint(s.lastInsertID)
	case "timestamp":
		return types.Float(float64(s.now().UnixMicro()) / 1e6)
	}
	return v.value(s.values[i])
}

func (s *Session) sysVarType(where expr.VarScope, name string) (types.Type, error) {
	v, err := s.sysVar(where, name)
	if err != nil {
		return types.Type{}, err
	}
	t := paramType(&v)
	switch v.K {
	case types.KindFloat:
		t.Length, t.Scale = sysVarLength, sysVarDecimals
	case types.KindNull:
		t.ID, t.Coll, t.Length = types.TypeVarchar, types.Utf8mb3GeneralCI, types.MaxVarcharBytes/4
	}
	return t, nil
}

// The width of variables that are no integers, and their digits behind the point.
const (
	sysVarLength   = 23
	sysVarDecimals = 6
)

func (s *Session) userVarType(name string) types.Type {
	v := s.userVars[strings.ToLower(name)]
	return paramType(&v)
}

// HasConnection asks the listener, which lists this connection too; a session without one is all that there is.
func (i *sessionInfo) HasConnection(id uint64) bool {
	if i.node.Processes == nil {
		return id == i.id
	}
	return slices.ContainsFunc(i.node.Processes(), func(p Process) bool { return p.ID == id })
}

// errDigestArgument is what the digest functions answer for text that is no statement.
const errDigestArgument = 3676

// StatementDigest parses the text as the session would, because what is no statement has no digest.
func (i *sessionInfo) StatementDigest(text string) (normal, hash string, err error) {
	s := i.session()
	if _, _, err := syntax.Parse(text, s.parse); err != nil {
		var e *types.Error
		if err = parseError(err); errors.As(err, &e) && e.Number != types.ErParseError && e.Number != types.ErEmptyQuery {
			return "", "", err
		}
		return "", "", types.NewError(errDigestArgument, `Could not parse argument to digest function: "`+e.Message+`".`)
	}
	normal, sum := syntax.Digest(text, s.parse)
	return normal, hex.EncodeToString(sum[:]), nil
}

func (i *sessionInfo) GetLock(name string, timeoutSeconds float64) (types.Value, error) {
	return i.node.locks.get(i.session(), name, timeoutSeconds)
}

func (i *sessionInfo) ReleaseLock(name string) (types.Value, error) {
	return i.node.locks.release(i.session(), name), nil
}

func (i *sessionInfo) ReleaseAllLocks() (types.Value, error) {
	return types.Int(int64(i.node.locks.releaseAll(i.session()))), nil
}

func (i *sessionInfo) IsFreeLock(name string) (types.Value, error) {
	return types.Bool(i.node.locks.holder(name) == 0), nil
}

func (i *sessionInfo) IsUsedLock(name string) (types.Value, error) {
	if id := i.node.locks.holder(name); id != 0 {
		return types.Uint(id), nil
	}
	return types.Null(), nil
}
