package session

import (
	"strings"

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

// runSet assigns variables from left to right. MySQL makes none of the assignments of system variables if one is wrong; here those
// before the wrong one have been made, as MariaDB documents too.
func (s *Session) runSet(stmt *syntax.Set) error {
	for _, item := range stmt.Items {
		if err := s.setItem(item); err != nil {
			return err
		}
	}
	return nil
}

func (s *Session) setItem(item syntax.SetItem) error {
	switch item := item.(type) {
	case *syntax.SetUserVar:
		v, err := s.scalar(item.Value)
		if err != nil {
			return err
		}
		return s.setUserVar(item.Name, v)
	case *syntax.SetVar:
		return s.setSystemVar(item)
	case *syntax.SetNames:
		return s.setNames(item)
	case *syntax.SetCharset:
		return s.setCharset(item)
	}
	return types.Errorf(types.ErNotSupportedYet, "this form of SET")
}

// scalar evaluates an expression outside any table.
func (s *Session) scalar(e syntax.Expr) (types.Value, error) {
	s.params = s.params[:0]
	s.ctx.Params = nil
	bound, err := plan.Scalar(s.planEnv(""), e)
	if err != nil {
		return types.Null(), err
	}
	v, err := bound.Eval(&s.ctx, nil)
	return v.Clone(), err
}

func (s *Session) setUserVar(name string, v types.Value) error {
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
	s.userVars[key] = v.Clone()
	return nil
}

func (s *Session) setSystemVar(item *syntax.SetVar) error {
	if item.Prefix != "" {
		return types.Errorf(types.ErUnknownSystemVariable, item.Prefix+"."+item.Name)
	}
	if _, ok := item.Value.(*syntax.Default); ok {
		return s.setDefault(item)
	}
	v, err := s.setValue(item.Value)
	if err != nil {
		return err
	}
	return s.setVariable(item.Scope, item.Name, v)
}

// setValue evaluates the right side of an assignment, where a bare word such as ON or utf8mb4 stands for itself.
func (s *Session) setValue(e syntax.Expr) (types.Value, error) {
	if ref, ok := e.(*syntax.ColumnRef); ok && ref.Table == "" {
		return types.Text(ref.Column), nil
	}
	return s.scalar(e)
}

// setDefault gives a session variable the global value, and a global one the built-in value.
func (s *Session) setDefault(item *syntax.SetVar) error {
	i, v, err := s.node.table.lookup(item.Name)
	if err != nil {
		return err
	}
	text := v.def
	if item.Scope == syntax.ScopeDefault || item.Scope == syntax.ScopeSession || item.Scope == syntax.ScopeLocal {
		text = s.node.globalValues()[i]
	}
	return s.assign(item.Scope, i, v, text)
}

// setVariable assigns one system variable with all checks.
func (s *Session) setVariable(scope syntax.VarScope, name string, value types.Value) error {
	i, v, err := s.node.table.lookup(name)
	if err != nil {
		return err
	}
	text, err := v.parse(value, func(number uint16, args ...any) { s.context.Warn(types.LevelWarning, number, args...) })
	if err != nil {
		return err
	}
	return s.assign(scope, i, v, text)
}

func (s *Session) assign(where syntax.VarScope, i int, v *variable, text string) error {
	if v.readOnly {
		return types.Errorf(types.ErIncorrectGlobalLocalVar, v.name, "read only")
	}
	if v.check != nil {
		var err error
		if text, err = v.check(s, text); err != nil {
			return err
		}
	}
	if v.idle != "" && text != v.def {
		s.context.AddError(types.LevelWarning, types.NewError(types.ErNotSupportedYet, v.name+" has no effect: "+v.idle))
	}
	switch where {
	case syntax.ScopeGlobal, syntax.ScopePersist, syntax.ScopePersistOnly:
		return s.assignGlobal(where, i, v, text)
	}
	if v.scope&scopeSession == 0 {
		return types.Errorf(types.ErGlobalVariable, v.name)
	}
	s.storeAt(i, text)
	if v.apply != nil {
		return v.apply(s, text)
	}
	return nil
}

func (s *Session) assignGlobal(where syntax.VarScope, i int, v *variable, text string) error {
	if v.scope&scopeGlobal == 0 {
		return types.Errorf(types.ErLocalVariable, v.name)
	}
	if err := s.require(privilege.Super, "", ""); err != nil {
		return err
	}
	if where != syntax.ScopeGlobal {
		if err := s.node.persist(v.name, text); err != nil {
			return err
		}
		if where == syntax.ScopePersistOnly {
			return nil
		}
	}
	if v.applyGlobal != nil {
		if err := v.applyGlobal(s.node, text); err != nil {
			return err
		}
	}
	s.node.setGlobal(i, text)
	if v.scope == scopeGlobal {
		s.storeAt(i, text) // a session reads a global variable through its own copy
	}
	return nil
}

func (s *Session) setNames(item *syntax.SetNames) error {
	charset, collation := "utf8mb4", ""
	if !item.Default {
		name, err := checkClientCharset(s, item.Charset)
		if err != nil {
			return err
		}
		charset, collation = name, item.Collate
	}
	found, err := types.LookupCharset(charset)
	if err != nil {
		return err
	}
	id := found.Default
	if collation != "" {
		if id, err = types.LookupCollation(collation); err != nil {
			return err
		}
		if id.Charset().Name != charset {
			return types.Errorf(types.ErCollationCharsetMismatch, id.Name(), charset)
		}
	}
	s.store("character_set_client", charset)
	s.store("character_set_results", charset)
	s.store("character_set_connection", charset)
	s.store("collation_connection", id.Name())
	s.refreshContext()
	return nil
}

// setCharset is SET CHARACTER SET: the connection takes the database's collation.
func (s *Session) setCharset(item *syntax.SetCharset) error {
	charset := "utf8mb4"
	if !item.Default {
		name, err := checkClientCharset(s, item.Charset)
		if err != nil {
			return err
		}
		charset = name
	}
	s.store("character_set_client", charset)
	s.store("character_set_results", charset)
	s.store("collation_connection", s.get("collation_database"))
	s.store("character_set_connection", s.get("character_set_database"))
	s.refreshContext()
	return nil
}
