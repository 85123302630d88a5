package expr

import (
	"bytes"
	"errors"
	"strings"

	"github.com/pandodb/pando/types"
)

// JSONTable is a JSON_TABLE(doc, path COLUMNS (…)) without its document. It is immutable and safe for concurrent use.
type JSONTable struct {
	top   jsonLevel
	width int // number of columns
}

// JSONTableKind is the kind of a column of JSON_TABLE.
type JSONTableKind uint8

// The kinds of columns: the value at a path, whether there is one, the number of the row, and a nested path with columns.
const (
	JSONColumnValue JSONTableKind = iota
	JSONColumnExists
	JSONColumnOrdinality
	JSONColumnNested
)

// JSONTableColumn is the definition of one column, or of a nested path with its columns.
type JSONTableColumn struct {
	Kind             JSONTableKind
	Name             string
	Path             string
	Type             types.Type
	OnEmpty, OnError JSONTableOn
	Nested           []JSONTableColumn
}

// JSONTableOn is an ON EMPTY or ON ERROR clause: an error, a default, or NULL, which is the zero value.
type JSONTableOn struct {
	Error   bool
	Default []byte // JSON text; nil for none
}

// jsonLevel is a path and the columns of each value that it matches.
type jsonLevel struct {
	legs    []pathLeg
	columns []jsonColumn
	nested  []*jsonLevel
	from    int // the columns of this level and all below it are row[from:to]
	to      int
}

type jsonColumn struct {
	kind             JSONTableKind
	at               int // position in the row
	name             string
	legs             []pathLeg
	typ              types.Type
	onEmpty, onError jsonOn
}

// NewJSONTable compiles the definition of a JSON_TABLE. It fails for paths that are not valid (3143) and defaults that do not fit their column.
func NewJSONTable(b *BuildContext, path string, columns []JSONTableColumn) (*JSONTable, error) {
	t := &JSONTable{}
	return t, t.define(b, &t.top, path, columns)
}

func (t *JSONTable) define(b *BuildContext, l *jsonLevel, path string, columns []JSONTableColumn) (err error) {
	if l.legs, err = parsePath([]byte(path)); err != nil {
		return err
	}
	l.from = t.width
	for i := range columns {
		def := &columns[i]
		if def.Kind == JSONColumnNested {
			below := &jsonLevel{}
			l.nested = append(l.nested, below)
			if err := t.define(b, below, def.Path, def.Nested); err != nil {
				return err
			}
			continue
		}
		c := jsonColumn{kind: def.Kind, at: t.width, name: def.Name, typ: def.Type}
		t.width++
		if c.kind != JSONColumnOrdinality {
			if c.legs, err = parsePath([]byte(def.Path)); err != nil {
				return err
			}
		}
		if c.onEmpty, err = c.on(b, def.OnEmpty); err != nil {
			return err
		}
		if c.onError, err = c.on(b, def.OnError); err != nil {
			return err
		}
		l.columns = append(l.columns, c)
	}
	l.to = t.width
	return nil
}

// on converts the default of a clause to the column's type.
func (c *jsonColumn) on(b *BuildContext, on JSONTableOn) (jsonOn, error) {
	out := jsonOn{fail: on.Error, value: types.Null()}
	if on.Default == nil {
		return out, nil
	}
	ctx := b.quietCtx()
	text, message, pos, err := types.ParseJSON(ctx.Context, on.Default)
	if err != nil {
		return out, err
	}
	if message != "" {
		return out, types.Errorf(types.ErInvalidJSONTextInParam, 1, "JSON_TABLE", message, pos, "")
	}
	scalar, ok := types.JSONScalar(text)
	if !ok && c.typ.ID != types.TypeJSON {
		return out, types.Errorf(types.ErInvalidDefault, c.name)
	}
	v, ok := c.convert(ctx, text)
	switch {
	case ok:
		out.value = v.Clone()
	case scalar.K == types.KindString && c.typ.IsNumeric():
		return out, types.Errorf(types.ErInvalidJSONValueForCast, castName(&c.typ), c.name, 1)
	default:
		return out, types.Errorf(types.ErJTValueOutOfRange, c.name)
	}
	return out, nil
}

// castName returns the name of a numeric type in error messages.
func castName(t *types.Type) string {
	switch t.ID {
	case types.TypeFloat, types.TypeDouble:
		return "DOUBLE"
	case types.TypeDecimal:
		return "DECIMAL"
	}
	return "INTEGER"
}

// Rows evaluates doc, which reads no columns, and calls emit with each row of its table, until that returns an error. The row is valid until emit
// returns. A doc that is NULL has no rows.
func (t *JSONTable) Rows(ctx *Ctx, doc Expr, emit func(row []types.Value) error) error {
	mark := ctx.meterMark()
	defer ctx.unchargeTo(mark)
	v, err := doc.eval(ctx, doc, nil)
	if err != nil || v.IsNull() {
		return err
	}
	text := v.B
	if v.K != types.KindJSON {
		if text, err = jsonTableDocument(ctx, v); err != nil {
			return err
		}
	}
	r := &jsonRows{ctx: ctx, row: make([]types.Value, t.width), emit: emit}
	_, err = r.level(&t.top, ctx.parseTree(text))
	return err
}

// errJSONTableDocument is MySQL's ER_INVALID_TYPE_FOR_JSON for the document of JSON_TABLE.
var errJSONTableDocument = types.NewError(3146, "Invalid data type for JSON data in argument 1 to function json_table; a JSON string or JSON type is required.")

// CheckJSONTableDocument returns error 3146 if doc can be no document, by its type.
func CheckJSONTableDocument(doc Expr) error {
	if noDocument(doc) {
		return errJSONTableDocument
	}
	return nil
}

// noDocument reports whether e can be no document, by its type, as JSON_TABLE and JSON_VALUE look at it: an ENUM or SET is none, nor is one that IF or
// CASE chooses or else NULL.
func noDocument(e Expr) bool {
	if e.IsCall("if", "case", "case_value") {
		var some []Expr
		for _, r := range e.results() {
			if r = origin(r); r.typ.ID != types.TypeNull {
				some = append(some, r)
			}
		}
		if len(some) == 1 {
			return noDocument(some[0])
		}
	}
	t := &e.typ
	return t.ID == types.TypeEnum || t.ID == types.TypeSet || t.ID != types.TypeNull && t.ID != types.TypeJSON && !isTextual(t) && e.kind != kindParam
}

func jsonTableDocument(ctx *Ctx, v types.Value) ([]byte, error) {
	if v.K != types.KindString {
		return nil, errJSONTableDocument
	}
	text, ok := types.JSONText(&v)
	if !ok {
		return nil, types.Errorf(types.ErInvalidJSONCharset, "binary")
	}
	norm, message, pos, err := types.ParseJSON(ctx.Context, text)
	if err == nil && message != "" {
		err = types.Errorf(types.ErInvalidJSONTextInParam, 1, "json_table", message, pos, "")
	}
	return ctx.owned(norm), err
}

// jsonRows produces the rows of one document.
type jsonRows struct {
	ctx  *Ctx
	row  []types.Value
	emit func(row []types.Value) error
}

// level emits a row for each value that the path of l matches in t, or several for a value with nested paths. The rows of sibling paths come one
// after the other: the columns of the other siblings are NULL. It reports whether there was a row.
func (r *jsonRows) level(l *jsonLevel, t *jsonTree) (some bool, err error) {
	found, err := r.ctx.find(t, l.legs)
	if err != nil {
		return false, err
	}
	defer clear(r.row[l.from:l.to])
	for i, value := range found {
		if err := r.ctx.poll(); err != nil {
			return false, err
		}
		for k := range l.columns {
			if err := r.fill(&l.columns[k], value, i); err != nil {
				return false, err
			}
		}
		nested := false
		for _, below := range l.nested {
			rows, err := r.level(below, value)
			if err != nil {
				return false, err
			}
			nested = nested || rows
		}
		if !nested {
			if err := r.emit(r.row); err != nil {
				return false, err
			}
		}
	}
	return len(found) > 0, nil
}

// fill sets a column of the row for t, the match number i of its path.
func (r *jsonRows) fill(c *jsonColumn, t *jsonTree, i int) error {
	if c.kind == JSONColumnOrdinality {
		r.row[c.at] = types.Int(int64(i) + 1)
		return nil
	}
	found, err := r.ctx.find(t, c.legs)
	if err != nil {
		return err
	}
	if c.kind == JSONColumnExists {
		truth := byte('0')
		if len(found) > 0 {
			truth = '1'
		}
		r.row[c.at], _ = c.convert(r.ctx, []byte{truth})
		return nil
	}
	if len(found) == 0 {
		if c.onEmpty.fail {
			return types.Errorf(types.ErMissingJSONTableValue, c.name)
		}
		r.row[c.at] = c.onEmpty.value
		return nil
	}
	value := found[0]
	if len(found) > 1 {
		value = r.ctx.newArray(found...) // as JSON_EXTRACT does
	}
	text := value.text
	if text == nil {
		text = r.ctx.owned(value.append(nil))
	}
	return r.store(c, text)
}

// store sets a column to a value of the document, given as normalised text.
func (r *jsonRows) store(c *jsonColumn, text []byte) error {
	r.row[c.at] = types.Null()
	if string(text) == "null" {
		return nil
	}
	v, ok := c.convert(r.ctx, text)
	switch {
	case ok:
		r.row[c.at] = v
	case !c.onError.fail:
		r.row[c.at] = c.onError.value
	default:
		scalar, isScalar := types.JSONScalar(text)
		switch {
		case !isScalar:
			return types.Errorf(types.ErWrongJSONTableValue, c.name)
		case c.typ.IsNumeric() && (scalar.IsTemporal() || scalar.K == types.KindString && !isNumberText(scalar.B)):
			return types.Errorf(types.ErInvalidJSONValueForCast, castName(&c.typ), c.name, 1)
		}
		return types.Errorf(types.ErJTValueOutOfRange, c.name)
	}
	return nil
}

func isNumberText(text []byte) bool {
	_, rest, ok := types.ParseDecimal(text)
	return ok && len(rest) == 0
}

// convert converts a value of the document to the column's type as an assignment does. ok is false if it does not fit.
func (c *jsonColumn) convert(ctx *Ctx, text []byte) (v types.Value, ok bool) {
	if c.typ.ID == types.TypeJSON {
		return types.JSON(text), true
	}
	v, scalar := types.JSONScalar(text)
	if !scalar {
		return types.Null(), false
	}
	if v.IsNull() {
		return v, true
	}
	if b, bytes := types.JSONBytes(text); bytes && c.typ.IsStringType() {
		v = types.String(b, types.Utf8mb4Bin)
	} else if _, opaque := types.JSONOpaque(text); opaque || v.IsTemporal() {
		v = types.String(types.JSONScalarText(text), types.Utf8mb4Bin)
	}
	if c.typ.IsNumeric() {
		if v.K == types.KindString {
			if v, ok = c.number(ctx, v); !ok {
				return types.Null(), false
			}
		}
	} else if v.K != types.KindString {
		v = types.String(types.JSONBare(text), types.Utf8mb4Bin) // the text of a number: a DATE does not accept it as a number
	}
	return c.assign(ctx, v)
}

// number converts a text to a number, an integer if the column has an integer type. ok is false if it is not a number to its end.
func (c *jsonColumn) number(ctx *Ctx, v types.Value) (types.Value, bool) {
	switch {
	case c.typ.ID == types.TypeDecimal:
		d, rest, ok := types.ParseDecimal(bytes.TrimLeft(v.B, " "))
		return d, ok && len(bytes.TrimRight(rest, " ")) == 0
	case c.typ.ID == types.TypeFloat || c.typ.ID == types.TypeDouble:
		f, used := types.ParseFloat(v.B)
		return types.Float(f), used == len(v.B) // "" is 0
	}
	n, ok := exactInteger(ctx, v)
	return n, ok && integral(n.K) && !bytes.ContainsAny(bytes.TrimLeft(v.B, " "), ".eE ")
}

// assign converts v to the column's type as strict mode does. Of the warnings it keeps only notes. ok is false if v does not fit.
func (c *jsonColumn) assign(ctx *Ctx, v types.Value) (types.Value, bool) {
	if c.typ.IsText() && c.typ.Coll.Charset() != types.DefaultCollation.Charset() {
		bytes, bad := types.ConvertCharset(nil, v.B, types.DefaultCollation.Charset(), c.typ.Coll.Charset())
		if bad > 0 {
			return types.Null(), false
		}
		v = types.String(ctx.owned(bytes), c.typ.Coll)
	}
	strict := types.Context{Strict: true, SQLMode: ctx.SQLMode | types.ModeStrict, Loc: ctx.Location()}
	out, err := types.Convert(&strict, v, c.typ, c.name, 1)
	for _, w := range strict.Warnings() {
		if w.Level == types.LevelNote {
			ctx.AddError(w.Level, types.NewError(types.ErTruncatedWrongValue, "Incorrect "+strings.ToLower(c.typ.Name())+" value: '"+string(v.B)+"' for column '"+c.name+"' at row 1"))
		}
	}
	if err == nil {
		return out, true
	}
	var refused *types.Error
	if !c.takesPart(v) || !errors.As(err, &refused) {
		return types.Null(), false
	}
	lax := types.Context{SQLMode: ctx.SQLMode &^ types.ModeStrict, Loc: ctx.Location()}
	out, err = types.Convert(&lax, v, c.typ, c.name, 1)
	for _, w := range lax.Warnings() {
		if w.Number == types.ErWarnDataOutOfRange {
			return types.Null(), false
		}
	}
	return out, err == nil && (c.typ.ID != types.TypeTime || out.N != 0) // a number that is no time is none
}

// takesPart reports whether a text that strict mode refuses is converted as without it, as in MySQL: for an ENUM or SET a text that is no member,
// for a TIME one that begins with a digit.
func (c *jsonColumn) takesPart(v types.Value) bool {
	if c.typ.ID == types.TypeTime {
		text := bytes.TrimLeft(v.B, " ")
		return len(text) > 0 && text[0] >= '0' && text[0] <= '9'
	}
	return c.typ.ID == types.TypeEnum || c.typ.ID == types.TypeSet
}
