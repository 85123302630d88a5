package expr

import (
	"math"
	"time"

	"github.com/pandodb/pando/clock"
	"github.com/pandodb/pando/types"
)

// variable names a user or system variable: @name, @@name or @@scope.name.
type variable struct {
	scope  VarScope
	name   string
	system bool
}

func (v variable) text() string {
	if !v.system {
		return "@" + v.name
	}
	return map[VarScope]string{ScopeAny: "@@", ScopeSession: "@@session.", ScopeGlobal: "@@global."}[v.scope] + v.name
}

// errNoSession is the error of functions that need a session in a context without one, such as a column default.
func errNoSession(n *Node) error { return types.Errorf(types.ErNotSupportedYet, n.String()) }

func buildUserVar(b *BuildContext, name string) (Expr, error) {
	n := newCall("user_variable", nil)
	n.aux, n.flags = variable{name: name}, FlagSession|FlagTyped
	n.typ = stringType(-1, b.collation())
	if b != nil && b.UserVarType != nil {
		if t := b.UserVarType(name); t.ID != types.TypeNull {
			n.typ = t
		}
	}
	n.coer = coercibilityOf(&n.typ, CoerImplicit)
	n.eval = func(ctx *Ctx, n *Node, _ []types.Value) (types.Value, error) {
		if ctx.Session == nil {
			return types.Null(), errNoSession(n)
		}
		v, ok := ctx.Session.UserVar(n.aux.(variable).name)
		if !ok || v.IsNull() {
			return types.Null(), nil
		}
		if v.K != n.typ.Kind() {
			return ctx.coerceValue(&v, Literal(v), &n.typ), nil
		}
		return v, nil
	}
	return n, nil
}

func buildSetUserVar(b *BuildContext, name string, e Expr) (Expr, error) {
	if err := rejectRows([]Expr{e}); err != nil {
		return nil, err
	}
	n := newCall("set_user_variable", []Expr{e})
	n.aux = variable{name: name}
	n.flags |= FlagSession | FlagSideEffect
	n.typ, n.coer, n.ascii, n.notNull = e.typ, e.coer, e.ascii, e.notNull
	n.pass(e)
	if e.typ.IsInteger() { // user variables are of type BIGINT, DOUBLE, DECIMAL or text
		n.typ.ID = types.TypeBigInt
	} else if classOf(&e.typ) == classFloat {
		n.typ = doubleType()
	}
	n.eval = func(ctx *Ctx, n *Node, row []types.Value) (types.Value, error) {
		v, err := n.args[0].EvalFull(ctx, row)
		if err != nil {
			return v, err
		}
		if ctx.Session == nil {
			return types.Null(), errNoSession(n)
		}
		kept := v
		switch v.K {
		case types.KindDate, types.KindDatetime, types.KindTimestamp, types.KindTime, types.KindEnum, types.KindSet, types.KindBit, types.KindJSON:
			kept = types.String(ctx.textOfTyped(&v, &n.args[0].typ), textCollation(&v))
		}
		ctx.Session.SetUserVar(n.aux.(variable).name, kept)
		return v, nil
	}
	return n, nil
}

func buildSysVar(b *BuildContext, scope VarScope, name string) (Expr, error) {
	if b == nil || b.SysVarType == nil {
		return nil, types.Errorf(types.ErUnknownSystemVariable, name)
	}
	t, err := b.SysVarType(scope, name)
	if err != nil {
		return nil, err
	}
	n := newCall("system_variable", nil)
	n.aux, n.typ, n.flags = variable{scope, name, true}, t, FlagStatement
	n.coer = coercibilityOf(&t, CoerSysconst)
	n.eval = func(ctx *Ctx, n *Node, _ []types.Value) (types.Value, error) {
		if ctx.Session == nil {
			return types.Null(), errNoSession(n)
		}
		v := n.aux.(variable)
		return ctx.Session.SysVar(v.scope, v.name)
	}
	return n, nil
}

// systemCollation is the collation of USER(), VERSION() and other facts about the server.
const systemCollation = types.Utf8mb3GeneralCI

// sysText returns the builder of a function whose result is a text of the session, of at most length characters.
func sysText(length int32, get func(s SessionInfo) string, emptyIsNull bool) func(*BuildContext, *Node) error {
	return func(_ *BuildContext, n *Node) error {
		n.typ, n.coer = stringType(length, systemCollation), CoerSysconst
		n.eval = func(ctx *Ctx, n *Node, _ []types.Value) (types.Value, error) {
			if ctx.Session == nil {
				return types.Null(), errNoSession(n)
			}
			s := get(ctx.Session)
			if s == "" && emptyIsNull {
				return types.Null(), nil
			}
			return types.String(ctx.copyString(s), systemCollation), nil
		}
		return nil
	}
}

// sysNumber returns the builder of a function whose result is a number of the session.
func sysNumber(t types.Type, get func(s SessionInfo) types.Value) func(*BuildContext, *Node) error {
	return func(_ *BuildContext, n *Node) error {
		n.typ, n.coer = t, CoerNumeric
		n.eval = func(ctx *Ctx, n *Node, _ []types.Value) (types.Value, error) {
			if ctx.Session == nil {
				return types.Null(), errNoSession(n)
			}
			return get(ctx.Session), nil
		}
		return nil
	}
}

var (
	databaseFn    = sysText(64, SessionInfo.Database, true)
	userFn        = sysText(288, SessionInfo.User, false)
	currentUserFn = sysText(288, SessionInfo.CurrentUser, false)
)

var sessionTable = map[string]function{
	"database": {0, 0, FlagStatement, databaseFn}, "schema": {0, 0, FlagStatement, databaseFn},
	"user": {0, 0, FlagStatement, userFn}, "session_user": {0, 0, FlagStatement, userFn}, "system_user": {0, 0, FlagStatement, userFn},
	"current_user":   {0, 0, FlagStatement, currentUserFn},
	"current_role":   {0, 0, FlagStatement, sysText(1024, SessionInfo.CurrentRole, false)},
	"version":        {0, 0, FlagStatement, sysText(60, SessionInfo.Version, false)},
	"connection_id":  {0, 0, FlagStatement, sysNumber(uintType(21), func(s SessionInfo) types.Value { return types.Uint(s.ConnectionID()) })},
	"row_count":      {0, 0, FlagStatement, sysNumber(intType(21), func(s SessionInfo) types.Value { return types.Int(s.RowCount()) })},
	"found_rows":     {0, 0, FlagStatement, sysNumber(intType(21), func(s SessionInfo) types.Value { return types.Int(int64(s.FoundRows())) })},
	"last_insert_id": {0, 1, FlagSession, buildLastInsertID},
	"benchmark":      {2, 2, FlagSideEffect, plain(intType(1), evalBenchmark)},
	"sleep":          {1, 1, FlagSideEffect, plain(intType(21), evalSleep)},
	"get_lock":       {2, 2, FlagSideEffect, plain(intType(1), evalGetLock)},
	"release_lock":   {1, 1, FlagSideEffect, plain(intType(1), namedLock(SessionInfo.ReleaseLock))},
	"is_free_lock":   {1, 1, FlagSession, plain(intType(1), namedLock(SessionInfo.IsFreeLock))},
	"is_used_lock":   {1, 1, FlagSession, plain(uintType(21), namedLock(SessionInfo.IsUsedLock))},
	"release_all_locks": {0, 0, FlagSideEffect, plain(uintType(21), func(ctx *Ctx, n *Node, _ []types.Value) (types.Value, error) {
		if ctx.Session == nil {
			return types.Null(), errNoSession(n)
		}
		return ctx.Session.ReleaseAllLocks()
	})},
	"values":       {1, 1, FlagOpaque, buildValues},
	"charset":      {1, 1, 0, collationFact(func(c types.CollationID) string { return c.Charset().Name })},
	"collation":    {1, 1, 0, collationFact(types.CollationID.Name)},
	"coercibility": {1, 1, 0, buildCoercibility},
}

func buildLastInsertID(_ *BuildContext, n *Node) error {
	if err := rejectRows(n.args); err != nil {
		return err
	}
	n.typ, n.coer = uintType(21), CoerNumeric
	if len(n.args) == 0 {
		n.flags = FlagStatement
	} else {
		n.flags |= FlagSideEffect
	}
	n.eval = func(ctx *Ctx, n *Node, row []types.Value) (types.Value, error) {
		if ctx.Session == nil {
			return types.Null(), errNoSession(n)
		}
		if len(n.args) == 0 {
			return types.Uint(ctx.Session.LastInsertID()), nil
		}
		v, err := n.args[0].eval(ctx, n.args[0], row)
		if err != nil {
			return v, err
		}
		if v.IsNull() {
			ctx.Session.SetLastInsertID(0)
			return v, nil
		}
		id := uint64(ctx.integer(&v))
		if v.K == types.KindUint {
			id = uint64(v.N)
		}
		ctx.Session.SetLastInsertID(id)
		return types.Uint(id), nil
	}
	return nil
}

// buildValues is VALUES(col) in ON DUPLICATE KEY UPDATE: the column of Ctx.InsertValues, or NULL elsewhere.
func buildValues(_ *BuildContext, n *Node) error {
	if n.args[0].kind != kindColumn {
		return types.Errorf(types.ErWrongArguments, "VALUES")
	}
	n.typ, n.coer = n.args[0].typ, n.args[0].coer
	n.eval = func(ctx *Ctx, n *Node, _ []types.Value) (types.Value, error) {
		if at := n.args[0].index; at < len(ctx.InsertValues) {
			return ctx.InsertValues[at], nil
		}
		return types.Null(), nil
	}
	return nil
}

// benchmarkPollRows is how many evaluations BENCHMARK does between two polls of the interrupt.
const benchmarkPollRows = 1024

func evalBenchmark(ctx *Ctx, n *Node, row []types.Value) (types.Value, error) {
	times, null, err := ctx.int(n.args[0], row)
	if err != nil {
		return types.Null(), err
	}
	if null || times < 0 {
		if !null {
			ctx.Warn(types.LevelWarning, types.ErWrongValueForType, "count", times, "benchmark")
		}
		return types.Null(), nil
	}
	for i := range times {
		if i%benchmarkPollRows == 0 {
			if err := ctx.poll(); err != nil {
				return types.Null(), err
			}
		}
		mark := ctx.mark()
		if _, err := n.args[1].EvalFull(ctx, row); err != nil {
			return types.Null(), err
		}
		ctx.rewind(mark)
	}
	return types.Int(0), nil
}

// sleepSlice is how long SLEEP waits between two polls of the interrupt if there is no Ctx.Done to wake it.
const sleepSlice = 20 * time.Millisecond

func evalSleep(ctx *Ctx, n *Node, row []types.Value) (types.Value, error) {
	s, null, err := ctx.real(n.args[0], row)
	if err != nil {
		return types.Null(), err
	}
	if null || s < 0 {
		if ctx.Context != nil && ctx.SQLMode&types.ModeStrict != 0 && !ctx.Ignore {
			return types.Null(), types.Errorf(types.ErWrongArguments, "sleep.")
		}
		ctx.Warn(types.LevelWarning, types.ErWrongArguments, "sleep.")
		return types.Int(0), nil
	}
	end := clock.Mono() + time.Duration(math.Min(s*1e9, math.MaxInt64/2))
	var done <-chan struct{}
	if ctx.Done != nil {
		done = ctx.Done()
	}
	if ctx.Waits != nil {
		ctx.Waits("User sleep")
		defer ctx.Waits("")
	}
	for {
		if ctx.poll() != nil {
			ctx.SleepCut = true
			return types.Int(1), nil
		}
		left := end - clock.Mono()
		if left <= 0 {
			return types.Int(0), nil
		}
		if done == nil {
			left = min(left, sleepSlice)
		}
		t := clock.NewTimer(left)
		select {
		case <-t.C:
		case <-done:
			t.Stop()
			ctx.SleepCut = true
			return types.Int(1), nil
		}
	}
}

// The limit of the names of user-level locks, and the error of others.
const (
	lockNameMax       = 64 // characters
	errLockName       = 3057
	errLockNameFormat = "Incorrect user-level lock name '"
)

func lockName(ctx *Ctx, n *Node, row []types.Value) (string, error) {
	if ctx.Session == nil {
		return "", errNoSession(n)
	}
	v, err := ctx.text(n.args[0], row)
	if err != nil {
		return "", err
	}
	if v.IsNull() || len(v.B) == 0 || v.Coll.Charset().CountChars(v.B) > lockNameMax {
		return "", types.NewError(errLockName, errLockNameFormat+string(v.B)+"'.")
	}
	return string(v.B), nil
}

func evalGetLock(ctx *Ctx, n *Node, row []types.Value) (types.Value, error) {
	name, err := lockName(ctx, n, row)
	if err != nil {
		return types.Null(), err
	}
	timeout, null, err := ctx.real(n.args[1], row)
	if err != nil {
		return types.Null(), err
	}
	if null {
		timeout = 0
	}
	return ctx.Session.GetLock(name, timeout)
}

// namedLock returns the evaluator of a function whose argument is the name of a lock.
func namedLock(f func(s SessionInfo, name string) (types.Value, error)) evalFunc {
	return func(ctx *Ctx, n *Node, row []types.Value) (types.Value, error) {
		name, err := lockName(ctx, n, row)
		if err != nil {
			return types.Null(), err
		}
		return f(ctx.Session, name)
	}
}

// collationFact returns the builder of CHARSET or COLLATION. Their results are known when the expression is built.
func collationFact(fact func(types.CollationID) string) func(*BuildContext, *Node) error {
	return func(b *BuildContext, n *Node) error {
		c := b.derive(n.args[0]).coll
		switch a := n.args[0]; {
		case a.typ.ID == types.TypeJSON && a.kind != kindColumn: // of a column it is how its documents are stored
		case !isTextual(&a.typ):
			c = types.Binary
		}
		n.typ, n.coer, n.ascii, n.aux = stringType(64, systemCollation), CoerCoercible, true, []byte(fact(c))
		n.eval = func(_ *Ctx, n *Node, _ []types.Value) (types.Value, error) {
			return types.String(n.aux.([]byte), systemCollation), nil
		}
		return nil
	}
}

func buildCoercibility(b *BuildContext, n *Node) error {
	n.typ, n.coer, n.aux = intType(10), CoerNumeric, b.derive(n.args[0]).coer
	n.eval = func(_ *Ctx, n *Node, _ []types.Value) (types.Value, error) {
		return types.Int(int64(n.aux.(Coercibility))), nil
	}
	return nil
}
