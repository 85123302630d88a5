package plan

import (
	"encoding/hex"
	"fmt"
	"sort"
	"strings"
	"unicode/utf8"

	"github.com/pandodb/pando/catalog"
	"github.com/pandodb/pando/expr"
	"github.com/pandodb/pando/syntax"
	"github.com/pandodb/pando/types"
)

// defaults compiles the DEFAULT expressions of a table's columns, over its columns by ordinal; nil when every default is a literal.
func (b *builder) defaults(t *catalog.Table) ([]expr.Expr, error) {
	var out []expr.Expr
	for i, c := range t.Columns {
		if !hasDefaultExpr(c) {
			continue
		}
		e, err := b.columnDefault(t, c)
		if err != nil {
			return nil, err
		}
		if out == nil {
			out = make([]expr.Expr, len(t.Columns))
		}
		out[i] = b.note(e)
	}
	return out, nil
}

// DefaultText returns the text, in utf8mb4, that the catalog keeps of a DEFAULT expression; client is the character set of the statement. References
// to columns of the table itself lose the names of table and schema, which may change, as in MySQL; others keep them and are refused later.
func DefaultText(e syntax.Expr, schema, table string, client *types.Charset) (string, error) {
	tree, err := syntax.ParseExpr(syntax.String(e), syntax.Options{}) // a copy: a prepared statement keeps its own
	if err != nil {
		return "", err
	}
	walkSyntax(tree, func(e syntax.Expr) bool {
		switch e := e.(type) {
		case *syntax.ColumnRef:
			if e.Table == table && (e.Schema == "" || e.Schema == schema) {
				e.Schema, e.Table = "", ""
			}
		case *syntax.Literal:
			if e.Kind == syntax.LitString {
				keepString(e, false, client)
			}
		case *syntax.Introduced:
			if e.Lit.Kind == syntax.LitString {
				keepString(e.Lit, true, client)
			}
		}
		return true
	})
	return keptText(syntax.String(tree))
}

// ViewText returns the text, in utf8mb4, that the catalog keeps of a view's query; client is the character set of the statement.
func ViewText(q *syntax.Query, client *types.Charset) (string, error) {
	text := syntax.String(q)
	if !strings.ContainsFunc(text, func(r rune) bool { return r >= utf8.RuneSelf }) {
		return text, nil
	}
	tree, _, err := syntax.Parse(text, syntax.Options{Strings: func(lit *syntax.Literal, introduced bool) { keepString(lit, introduced, client) }})
	if err != nil {
		return "", err
	}
	return keptText(syntax.String(tree))
}

// keepString prepares a string literal of a text that the catalog keeps: it is converted into utf8mb4, and of one with an introducer the bytes are
// meant, whatever the client's character set: hexadecimal digits survive every conversion of the text.
func keepString(lit *syntax.Literal, introduced bool, client *types.Charset) {
	switch {
	case !introduced:
		out, _ := types.ConvertCharset(nil, []byte(lit.Value), client, types.DefaultCollation.Charset())
		lit.Value = string(out)
	case strings.ContainsFunc(lit.Value, func(r rune) bool { return r >= utf8.RuneSelf }):
		lit.Kind, lit.Value = syntax.LitHex, hex.EncodeToString([]byte(lit.Value))
	}
}

// keptText refuses a text that the catalog can't keep.
func keptText(text string) (string, error) {
	if valid := types.DefaultCollation.Charset().ValidPrefix([]byte(text)); valid != len(text) {
		return "", types.Errorf(types.ErInvalidCharacterString, types.DefaultCollation.Charset().Name, fmt.Sprintf("%X", text[valid]))
	}
	return text, nil
}

// DefaultShown is DefaultText, written as MySQL shows it.
func DefaultShown(e syntax.Expr, schema, table string, client *types.Charset) (string, error) {
	text, err := DefaultText(e, schema, table, client)
	if err != nil {
		return "", err
	}
	tree, err := syntax.ParseExpr(text, syntax.Options{})
	if err != nil {
		return "", err
	}
	whole := (keptExpr{kind: keptDefault}).allowed(tree) == nil
	walkSyntax(tree, func(e syntax.Expr) bool {
		c, ok := e.(*syntax.ColumnRef)
		whole = whole && !(ok && c.Table != "") // of another table
		return true
	})
	if !whole {
		return text, nil // CheckDefaults reports what is wrong
	}
	return shownText(tree), nil
}

func hasDefaultExpr(c *catalog.Column) bool {
	return c.Default != nil && c.Default.Kind == catalog.DefaultExpr
}

// columnDefault compiles one DEFAULT expression.
func (b *builder) columnDefault(t *catalog.Table, c *catalog.Column) (expr.Expr, error) {
	tree, err := syntax.ParseExpr(c.Default.Expr, syntax.Options{})
	if err != nil {
		return nil, err
	}
	outer := b.env
	b.env = outer.Stored()
	defer func() { b.env = outer }()
	bind := &binder{env: b.env, build: b, scope: tableScope(t, t.Name), clause: "default value expression"}
	return bind.bind(tree)
}

// CheckDefaults validates the DEFAULT expressions of a table that is about to be created (old is nil) or changed: a default may refer to
// columns, but to none whose value is made after its own: AUTO_INCREMENT columns, and later ones that are generated or have a DEFAULT expression.
func CheckDefaults(env *Env, old, next *catalog.Table) error {
	if old != nil {
		if err := checkDependents(env, old, next); err != nil {
			return err
		}
	}
	for i, c := range next.Columns {
		if !hasDefaultExpr(c) {
			continue
		}
		tree, err := syntax.ParseExpr(c.Default.Expr, syntax.Options{})
		if err != nil {
			return err
		}
		if err := (keptExpr{keptDefault, c.Name}).allowed(tree); err != nil {
			return err
		}
		b := newBuilder(env)
		e, err := b.columnDefault(next, c)
		if err != nil {
			return err
		}
		expr.Columns(e, func(at int) {
			switch other := next.Columns[at]; {
			case err != nil:
			case other.AutoInc:
				err = types.Errorf(types.ErDefaultValGeneratedRefAutoInc, c.Name)
			case at >= i && (hasDefaultExpr(other) || other.Generated != nil):
				err = types.Errorf(types.ErDefaultValGeneratedNonPrior, c.Name)
			}
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// checkDependents refuses to drop or rename a column to which a default refers, unless the statement defines that default anew.
func checkDependents(env *Env, old, next *catalog.Table) error {
	for _, c := range old.Columns {
		if !hasDefaultExpr(c) {
			continue
		}
		if now := next.ColumnByID(c.ID); now == nil || now.Default != c.Default {
			continue
		}
		b := newBuilder(env)
		e, err := b.columnDefault(old, c)
		if err != nil {
			continue // it did not compile before either; the check of next reports it
		}
		expr.Columns(e, func(at int) {
			other := old.Columns[at]
			if now := next.ColumnByID(other.ID); err == nil && (now == nil || now.Name != other.Name) {
				err = types.Errorf(types.ErDependentByDefaultGeneratedValue, other.Name, old.Name)
			}
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// defaultOf binds DEFAULT(column): the column's default as a constant.
func (b *binder) defaultOf(e *syntax.Default) (expr.Expr, error) {
	if e.Column == nil {
		return nil, syntaxError("DEFAULT")
	}
	bound, err := b.columnRef(e.Column)
	if err != nil {
		return nil, err
	}
	id, plain := bound.ColumnIndex()
	c := b.build.baseColumn(id)
	if handed, ok := b.build.handed[id]; ok && plain && c == nil {
		if c = handed.base; c == nil {
			return handed.value(), nil
		}
	}
	if !plain || c == nil {
		return nil, types.Errorf(types.ErNoDefaultForField, e.Column.Column)
	}
	if c.Default == nil && !c.AutoInc {
		return nil, types.Errorf(types.ErNoDefaultForField, c.Name)
	}
	if c.Default == nil || c.Default.Kind == catalog.DefaultNow { // which is the value of an insert, not the column's
		return handedColumn{notNull: c.NotNull, typ: c.Type}.value(), nil
	}
	switch c.Default.Kind {
	case catalog.DefaultLiteral:
		return expr.Const(c.Default.Value, c.Type), nil
	case catalog.DefaultExpr:
		return nil, types.NewError(3773, "DEFAULT function cannot be used with default value expressions")
	}
	return expr.Const(types.Null(), c.Type), nil
}

// handedColumn is a column of a derived table, view or CTE as DEFAULT(column) sees it: that of a base table, or one of the temporary table
// that MySQL makes where it does not merge the query.
type handedColumn struct {
	base    *catalog.Column
	notNull bool
	typ     types.Type
}

// value is the default that a column has without a default of its own.
func (c handedColumn) value() expr.Expr {
	if c.notNull {
		return expr.Const(types.ZeroOf(&c.typ), c.typ)
	}
	return expr.Const(types.Null(), c.typ)
}

// handOn notes the default of a column c that a query hands on, where the column has the id from; merged says that MySQL merges the query.
func (b *builder) handOn(c *column, from int, merged bool) {
	base := b.baseColumn(from)
	was, known := b.handed[from]
	switch {
	case base != nil && from == c.id:
		return
	case base != nil:
		was = handedColumn{base: base}
	case known:
	case merged:
		return
	default:
		was = handedColumn{notNull: c.info.NotNull, typ: c.info.Type}
	}
	b.hand(c.id, was)
}

func (b *builder) hand(id int, c handedColumn) {
	if b.handed == nil {
		b.handed = map[int]handedColumn{}
	}
	b.handed[id] = c
}

// baseColumn is the column of a base table that has an id, or nil.
func (b *builder) baseColumn(id int) *catalog.Column {
	if t := b.described; t != nil && id >= b.describedFirst && id < b.describedFirst+len(t.Columns) {
		return t.Columns[id-b.describedFirst]
	}
	i := sort.Search(len(b.gets), func(i int) bool { return b.gets[i].first > id }) - 1
	if i < 0 || id >= b.gets[i].rowID() {
		return nil
	}
	return b.gets[i].table.Columns[id-b.gets[i].first]
}
