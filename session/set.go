package session

import (
	"errors"
	"maps"
	"strings"

	"github.com/pandodb/pando/clock"
	"github.com/pandodb/pando/exec"
	"github.com/pandodb/pando/plan"
	"github.com/pandodb/pando/privilege"
	"github.com/pandodb/pando/syntax"
	"github.com/pandodb/pando/types"
)

// userVarsMax bounds the user variables of one session, userVarBytesMax the bytes of one of them.
const (
	userVarsMax     = 10_000
	userVarBytesMax = 16 << 20
)

// change makes an assignment that has been checked.
type change func() error

// runSet makes all of its assignments or, if one is wrong, none, as MySQL does: every value is computed and checked before the first
// system variable changes. User variables change on the way, because later values may read them, and are put back on an error.
func (s *Session) runSet(stmt *syntax.Set) error {
	var changes []change
	var before map[string]types.Value
	for _, item := range stmt.Items {
		if _, ok := item.(*syntax.SetUserVar); ok && before == nil && len(stmt.Items) > 1 {
			before = maps.Clone(s.userVars)
			if before == nil {
				before = map[string]types.Value{}
			}
		}
		c, err := s.setItem(item)
		if err != nil {
			if before != nil {
				_ = s.kept.Grow(varBytes(before) - varBytes(s.userVars)) // it was allowed before
				s.kept.Trim()
				s.userVars = before
			}
			return err
		}
		if c != nil {
			changes = append(changes, c)
		}
	}
	for _, c := range changes {
		if err := c(); err != nil {
			return err
		}
	}
	return nil
}

// setItem checks one assignment. The change is nil for a user variable, which has been set.
func (s *Session) setItem(item syntax.SetItem) (change, error) {
	switch item := item.(type) {
	case *syntax.SetUserVar:
		v, err := s.scalar(item.Value)
		if err != nil {
			return nil, err
		}
		s.noteChange()
		return nil, s.setUserVar(item.Name, v)
	case *syntax.SetVar:
		return s.setSystemVar(item)
	case *syntax.SetNames:
		return s.setNames(item)
	case *syntax.SetCharset:
		return s.setCharset(item)
	}
	return nil, types.Errorf(types.ErNotSupportedYet, "this form of SET")
}

// scalar evaluates an expression outside any table, which may have parameters in a prepared statement without a plan.
func (s *Session) scalar(e syntax.Expr) (types.Value, error) { return s.scalarIn(s.planEnv(""), e) }

func (s *Session) scalarIn(env *plan.Env, e syntax.Expr) (types.Value, error) {
	s.params = s.params[:0]
	env.ParamTypes, s.ctx.Params = paramTypes(s.args), s.args
	bound, err := plan.Scalar(env, e)
	if errors.Is(err, plan.ErrSubquery) {
		return s.subqueryScalar(env, e)
	}
	if err != nil {
		return types.Null(), err
	}
	v, err := bound.EvalFull(&s.ctx, nil)
	return v.Clone(), err
}

func (s *Session) setUserVar(name string, v types.Value) error {
	if v.K == types.KindJSON { // variables hold no documents, but their text
		v = types.String(types.ShownJSON(v.B), types.Utf8mb4Bin)
	}
	if len(v.B) > userVarBytesMax {
		return types.Errorf(types.ErOutOfResources)
	}
	key := strings.ToLower(name)
	if s.userVars == nil {
		s.userVars = map[string]types.Value{}
	}
	if _, known := s.userVars[key]; !known && len(s.userVars) >= userVarsMax {
		return types.Errorf(types.ErOutOfResources)
	}
	if err := s.keep(len(v.B) - len(s.userVars[key].B)); err != nil {
		return err
	}
	s.userVars[key] = v.Clone()
	return nil
}

// keep counts what the session keeps from now on, beyond its statement, as the node's memory. What is refused is not counted.
func (s *Session) keep(bytes int) error {
	err := s.kept.Grow(int64(bytes))
	if err != nil {
		_ = s.kept.Grow(-int64(bytes)) // giving back never fails
	}
	s.kept.Trim()
	return err
}

// dropUserVar forgets a user variable.
func (s *Session) dropUserVar(key string) {
	_ = s.keep(-len(s.userVars[key].B)) // giving back never fails
	delete(s.userVars, key)
}

func varBytes(vars map[string]types.Value) (n int64) {
	for _, v := range vars {
		n += int64(len(v.B))
	}
	return n
}

func (s *Session) setSystemVar(item *syntax.SetVar) (change, error) {
	if item.Prefix != "" {
		return nil, types.Errorf(types.ErUnknownSystemVariable, item.Prefix+"."+item.Name)
	}
	if _, ok := item.Value.(*syntax.Default); ok {
		return s.setDefault(item)
	}
	v, err := s.setValue(item.Value)
	if err != nil {
		return nil, err
	}
	return s.checkedVariable(item.Scope, item.Name, v)
}

// setValue evaluates the right side of an assignment, where a bare word such as ON or utf8mb4 stands for itself.
func (s *Session) setValue(e syntax.Expr) (types.Value, error) {
	if ref, ok := e.(*syntax.ColumnRef); ok && ref.Table == "" {
		return types.Text(ref.Column), nil
	}
	return s.scalar(e)
}

// setDefault gives a session variable the global value, and a global one the built-in value.
func (s *Session) setDefault(item *syntax.SetVar) (change, error) {
	i, v, err := s.node.table.lookup(item.Name)
	if err != nil {
		return nil, err
	}
	text := v.def
	if item.Scope == syntax.ScopeDefault || item.Scope == syntax.ScopeSession || item.Scope == syntax.ScopeLocal {
		text = s.node.globalValues()[i]
	}
	return s.assign(item.Scope, i, v, text)
}

// setVariable assigns one system variable with all checks.
func (s *Session) setVariable(scope syntax.VarScope, name string, value types.Value) error {
	c, err := s.checkedVariable(scope, name, value)
	if err != nil {
		return err
	}
	return c()
}

// checkedVariable prepares the assignment of one system variable.
func (s *Session) checkedVariable(scope syntax.VarScope, name string, value types.Value) (change, error) {
	i, v, err := s.node.table.lookup(name)
	if err != nil {
		return nil, err
	}
	if err := s.permitted(scope, v); err != nil { // before the value, which may be wrong too
		return nil, err
	}
	text, err := v.parse(value, func(number uint16, args ...any) { s.context.Warn(types.LevelWarning, number, args...) })
	if err != nil {
		return nil, err
	}
	return s.assign(scope, i, v, text)
}

func readOnlyError(where syntax.VarScope, v *variable) error {
	if where == syntax.ScopePersistOnly {
		return types.Errorf(types.ErIncorrectGlobalLocalVar, v.name, "non persistent read only")
	}
	return types.Errorf(types.ErIncorrectGlobalLocalVar, v.name, "read only")
}

// errNotPersisted is the number of what RESET PERSIST says of a variable that SET PERSIST has not kept.
const errNotPersisted = 3615

// resetPersist drops what SET PERSIST has kept, of one variable or of all.
func (s *Session) resetPersist(stmt *syntax.Loose) error {
	if err := s.require(privilege.Super, "", ""); err != nil {
		return err
	}
	name, ifExists := "", false
	for _, part := range stmt.Parts {
		switch {
		case part.Kind == syntax.LooseName:
			name = strings.ToLower(part.Text)
		case part.Text == "EXISTS":
			ifExists = true
		}
	}
	if name == "" {
		kept, err := s.node.loadPersisted()
		for i := 0; err == nil && i < len(kept); i++ {
			_, err = s.node.unpersist(kept[i].Name)
		}
		return exec.MapError(err, &s.interrupt)
	}
	found, err := s.node.unpersist(name)
	if err != nil || found {
		return err
	}
	missing := types.NewError(errNotPersisted, "Variable "+name+" does not exist in persisted config file")
	if !ifExists {
		return missing
	}
	s.context.AddError(types.LevelWarning, missing)
	return nil
}

// assign checks scope, rights and value, and returns the change itself.
func (s *Session) assign(where syntax.VarScope, i int, v *variable, text string) (change, error) {
	if err := s.permitted(where, v); err != nil {
		return nil, err
	}
	global := isGlobal(where)
	switch {
	case !global && v.given:
		return nil, types.Errorf(types.ErVariableIsReadonly, "SESSION", v.name, "GLOBAL")
	case !global && v.guarded && !s.account().Has(privilege.Super, "", ""):
		return nil, types.Errorf(types.ErSpecificAccessDenied, "SUPER, SYSTEM_VARIABLES_ADMIN or SESSION_VARIABLES_ADMIN")
	}
	if v.check != nil {
		var err error
		if text, err = v.check(s, text); err != nil {
			return nil, err
		}
	}
	if v.idle != "" && text != v.def && !(v.clustered && s.node.Clustered != nil && s.node.Clustered()) {
		s.context.AddError(types.LevelWarning, types.NewError(types.ErNotSupportedYet, v.name+" has no effect: "+v.idle))
	}
	if global {
		return func() error { return s.assignGlobal(where, i, v, text) }, nil
	}
	return func() error { return s.hold(i, text) }, nil
}

// isGlobal reports whether an assignment is of the value of the whole server.
func isGlobal(where syntax.VarScope) bool {
	return where == syntax.ScopeGlobal || where == syntax.ScopePersist || where == syntax.ScopePersistOnly
}

// permitted returns why the session cannot assign to a variable in a scope, whatever the value.
func (s *Session) permitted(where syntax.VarScope, v *variable) error {
	global := isGlobal(where)
	switch {
	case v.readOnly:
		return readOnlyError(where, v)
	case global && v.scope&scopeGlobal == 0:
		return types.Errorf(types.ErLocalVariable, v.name)
	case !global && v.scope&scopeSession == 0:
		return types.Errorf(types.ErGlobalVariable, v.name)
	case global:
		return s.require(privilege.Super, "", "")
	}
	return nil
}

// hold makes a value, which is right for the session's variable, its own.
func (s *Session) hold(i int, text string) error {
	s.storeAt(i, text)
	if apply := s.node.table.list[i].apply; apply != nil {
		if err := apply(s, text); err != nil {
			return err
		}
	}
	s.noteVariable(i)
	return nil
}

func (s *Session) assignGlobal(where syntax.VarScope, i int, v *variable, text string) error {
	if where != syntax.ScopeGlobal {
		if err := s.node.persist(v.name, text); err != nil {
			return err
		}
		if where == syntax.ScopePersistOnly {
			return nil
		}
	}
	act := func() error {
		if v.applyGlobal != nil {
			if err := v.applyGlobal(s.node, text); err != nil {
				return err
			}
		}
		s.node.setGlobal(i, text)
		return nil
	}
	if v.around != nil {
		if err := v.around(s, text, act); err != nil {
			return err
		}
	} else if err := act(); err != nil {
		return err
	}
	s.node.setBy.Store(v.name, variableOrigin{"DYNAMIC", clock.Now(), s.client.User, s.client.Host})
	return nil
}

func (s *Session) setNames(item *syntax.SetNames) (change, error) {
	charset, collation := "utf8mb4", ""
	if !item.Default {
		name, err := checkClientCharset(s, item.Charset)
		if err != nil {
			return nil, err
		}
		charset, collation = name, item.Collate
	}
	found, err := types.LookupCharset(charset)
	if err != nil {
		return nil, err
	}
	id := s.build.DefaultOf(found)
	if collation != "" {
		if id, err = types.LookupCollation(collation); err != nil {
			return nil, err
		}
		if id.Charset().Name != charset {
			return nil, types.Errorf(types.ErCollationCharsetMismatch, id.Name(), charset)
		}
	}
	return func() error {
		s.storeNames(charset, charset, id.Name())
		s.noteNames()
		return nil
	}, nil
}

// noteNames records for the tracker that SET NAMES has set its variables.
func (s *Session) noteNames() {
	for _, name := range []string{"character_set_client", "character_set_results", "character_set_connection", "collation_connection"} {
		s.noteVariable(s.node.table.byName[name])
	}
}

// storeNames sets the character set that the client speaks and that of its literals.
func (s *Session) storeNames(client, connection, collation string) {
	s.store("character_set_client", client)
	s.store("character_set_results", client)
	s.store("character_set_connection", connection)
	s.store("collation_connection", collation)
	s.refreshContext()
}

// setCharset is SET CHARACTER SET: the connection takes the database's collation.
func (s *Session) setCharset(item *syntax.SetCharset) (change, error) {
	charset := "utf8mb4"
	if !item.Default {
		name, err := checkClientCharset(s, item.Charset)
		if err != nil {
			return nil, err
		}
		charset = name
	}
	return func() error {
		s.storeNames(charset, s.get("character_set_database"), s.get("collation_database"))
		s.noteNames()
		return nil
	}, nil
}
