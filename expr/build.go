package expr

import (
	"strings"
	"unsafe"

	"github.com/pandodb/pando/types"
)

// BuildContext is what building an expression depends on, for one goroutine at a time; a nil one has the defaults. The settings in it must
// be part of a plan cache's key. UserVarType and SysVarType need not be: expressions that were built with their answers have FlagTyped.
type BuildContext struct {
	// Ctx gives sql_mode, time zone and div_precision_increment. Building never adds warnings to it.
	Ctx *types.Context
	// Collation is collation_connection, which numbers have when they become text. 0 means the server's default.
	Collation types.CollationID
	// Client is character_set_client if literals and parameters must be converted from it to Collation's character set; nil if not.
	Client *types.Charset
	// Database is the current database, for the message of error 1305 (unknown function).
	Database string
	// UserVarType returns the type of @name's present value; if it is nil or returns TypeNull, the variable reads as a string.
	UserVarType func(name string) types.Type
	// SysVarType returns the type of a system variable or error 1193.
	SysVarType func(scope VarScope, name string) (types.Type, error)
	// GroupConcatMaxLen is group_concat_max_len, of which the type of GROUP_CONCAT is made; 0 means MySQL's default of 1024.
	GroupConcatMaxLen int
	// UTF8MB4 is default_collation_for_utf8mb4, the collation that utf8mb4 has where a character set is named alone; 0 is utf8mb4_0900_ai_ci.
	UTF8MB4 types.CollationID
	// Poll and Grow are those of Ctx, for what building itself evaluates and allocates; either may be nil.
	Poll func() error
	Grow func(bytes int64) error
	// DateParam is told of parameters whose text is compared with dates; nil where a text that is no date is no error, as of placeholders.
	DateParam func(ordinal int, need DateNeed)
	// DateConst is told of other texts without columns that are compared with dates; nil where nobody looks at them.
	DateConst func(text Expr, need DateNeed)
	// NoDateFits says that comparisons are parts of one that tolerates such a text; see toleratesNoDate.
	NoDateFits bool
	// BitBytes says that a constant text is compared with a BIT column by its bytes, and not as a number.
	BitBytes bool
	made     int64 // estimated bytes of the nodes built so far
	visited  int64 // arguments that building has looked at; a test asserts that it grows linearly
	// NoFold leaves constant calls unevaluated, for SHOW CREATE and tests.
	NoFold bool
}

// DefaultOf is the collation of a character set that is named alone: in definitions, by SET NAMES and before a literal.
func (b *BuildContext) DefaultOf(charset *types.Charset) types.CollationID {
	if charset.Default == types.DefaultCollation && b.UTF8MB4 != 0 {
		return b.UTF8MB4
	}
	return charset.Default
}

// Text returns the bytes of a literal or parameter that the client sent as a string in Collation. The value borrows raw unless it must be
// converted; characters that Collation's character set lacks become question marks, as in MySQL.
func (b *BuildContext) Text(raw []byte) types.Value {
	if b.Client != nil {
		raw = b.translate(raw)
	}
	return types.String(raw, b.Collation)
}

func (b *BuildContext) translate(raw []byte) []byte {
	out, _ := types.ConvertCharset(nil, raw, b.Client, b.Collation.Charset())
	return out
}

// function is one entry of the function table.
type function struct {
	min, max int   // argument count; max < 0 is unbounded
	flags    Flags // of the function itself; its arguments add theirs
	build    func(b *BuildContext, n *Node) error
}

// Call builds a function or operator over args. Names are lower case: "+", "-", "*", "/", "div", "%", "neg" (unary minus), "=", "<=>", "<>",
// "<", "<=", ">", ">=", "and", "or", "xor", "not", "in", "not in", "between", "not between", "like", "not like" (a third argument
// is ESCAPE), "sounds like", "regexp", "not regexp", "is null", "is not null", "is true", "is not true", "is false", "is not false",
// "is unknown", "is not unknown", "&", "|", "^", "<<", ">>", "~", "row", "case" (when, then, …[, else]), "case_value" (base, when, then,
// …[, else]), "collate" (e, name), "binary", "convert_using" (e, character set name), "interval", "->", "->>", "values" (column) and every
// function by its name. Units of DATE_ADD, EXTRACT, TIMESTAMPDIFF and so on are constant strings ("DAY") in the place where SQL has them;
// "date_add" and "date_sub" take (date, amount, unit). TRIM(BOTH x FROM s) is "trim"(s, x), and there are "trim_leading" and
// "trim_trailing".
//
// It fails with 1305 for unknown functions, 1582 for a wrong number of arguments, 1241 for misplaced rows, 1267 for mixed
// collations and 1235 for functions of MySQL that Pando lacks. A call over constants becomes a constant if its evaluation raises neither
// error nor warning (invariant 8).
func Call(b *BuildContext, name string, args ...Expr) (Expr, error) {
	f, ok := functions[name]
	if !ok || !f.takes(len(args)) {
		return nil, CheckCall(b, name, len(args))
	}
	n := newCall(name, args)
	n.flags |= f.flags
	n.readNumbers()
	n.readMoments(b)
	if err := f.build(b, n); err != nil {
		return nil, err
	}
	n.noteNullable(b, name, args)
	own := n.args
	if n.IsCall("and", "or") {
		own = args // those of a nested AND or OR were looked at when that was built
	}
	b.visit(len(own))
	if n.overBulky(own) {
		n.batch, n.filter = nil, nil
	}
	if err := b.meter(1 + len(args)); err != nil {
		return nil, err
	}
	return fold(b, n)
}

// CheckCall fails with 1305 for an unknown function and 1582 for a wrong number of arguments. The error shows the name as it is written.
func CheckCall(b *BuildContext, written string, args int) error {
	f, ok := functions[strings.ToLower(written)]
	switch {
	case !ok:
		return unknownFunction(b, written)
	case !f.takes(args):
		return types.Errorf(types.ErWrongParamcountToNativeFct, written)
	}
	return nil
}

// takes reports whether a function has so many arguments.
func (f *function) takes(args int) bool { return args >= f.min && (f.max < 0 || args <= f.max) }

// nodeBytes estimates the memory of a node, its slot in its parent's list of arguments and its aux.
const nodeBytes = int64(unsafe.Sizeof(Node{})) + 64

// meter counts the memory of nodes new nodes and polls the interrupt. The statement gives the bytes back when it ends, because trees live as
// long as their plan.
func (b *BuildContext) meter(nodes int) error {
	if b == nil {
		return nil
	}
	b.made += int64(nodes) * nodeBytes
	if b.Grow != nil {
		if err := b.Grow(int64(nodes) * nodeBytes); err != nil {
			return err
		}
	}
	return b.poll()
}

// Made returns the estimated bytes of the nodes built so far.
func (b *BuildContext) Made() int64 {
	if b == nil {
		return 0
	}
	return b.made
}

// visit counts arguments that a builder has looked at one by one.
func (b *BuildContext) visit(args int) {
	if b != nil {
		b.visited += int64(args)
	}
}

// Hold counts memory that building needs besides nodes. The statement gives it back when it ends.
func (b *BuildContext) Hold(bytes int) error {
	if b == nil || b.Grow == nil {
		return nil
	}
	return b.Grow(int64(bytes))
}

func (b *BuildContext) poll() error {
	if b == nil || b.Poll == nil {
		return nil
	}
	return b.Poll()
}

// pollEvery is poll for step i of a loop over a list.
func (b *BuildContext) pollEvery(i int) error {
	if i%listPollItems != 0 {
		return nil
	}
	return b.poll()
}

// listPollItems is how many items of a list are built between two polls of the interrupt.
const listPollItems = 1 << 10

// Cast is CAST(e AS t). t.Length and t.Scale are -1 where the statement leaves them out.
func Cast(b *BuildContext, e Expr, t types.Type) (Expr, error) {
	n := newCall("cast", []Expr{e})
	if err := buildCast(b, n, t); err != nil {
		return nil, err
	}
	n.notNull = e.notNull && !b.castMayFail(&t)
	return fold(b, n)
}

// UserVar reads @name.
func UserVar(b *BuildContext, name string) (Expr, error) { return buildUserVar(b, name) }

// SetUserVar is @name := e.
func SetUserVar(b *BuildContext, name string, e Expr) (Expr, error) {
	return buildSetUserVar(b, name, e)
}

// SysVar reads @@name within scope.
func SysVar(b *BuildContext, scope VarScope, name string) (Expr, error) {
	return buildSysVar(b, scope, name)
}

// newCall returns a call node with the flags of its arguments. It keeps args.
func newCall(name string, args []Expr) *Node {
	n := &Node{kind: kindCall, name: name, args: args, coer: CoerNumeric}
	for _, a := range args {
		n.flags |= a.flags
	}
	return n
}
