package expr

import (
	"strconv"

	"github.com/pandodb/pando/types"
)

var jsonTable = map[string]function{
	"json_extract": {2, -1, 0, jsonFn(evalJSONExtract)}, "->": {2, 2, 0, jsonFn(evalJSONExtract)},
	"->>": {2, 2, 0, jsonText(evalJSONExtract)}, "json_unquote": {1, 1, 0, jsonText(evalJSONArg)},
	"json_array": {0, -1, 0, jsonFn(evalJSONArray)}, "json_object": {0, -1, 0, buildJSONObject},
	"json_quote": {1, 1, 0, jsonText(evalJSONQuote)}, "json_valid": {1, 1, 0, buildJSONValid},
	"json_type": {1, 1, 0, buildJSONType}, "json_depth": {1, 1, 0, plain(intType(21), overDocuments(evalJSONDepth))},
	"json_length": {1, 2, 0, plain(intType(21), overDocuments(evalJSONLength))}, "json_keys": {1, 2, 0, jsonFn(evalJSONKeys)},
	"json_contains": {2, 3, 0, plain(intType(21), overDocuments(evalJSONContains))}, "json_contains_path": {3, -1, 0, plain(intType(21), overDocuments(evalJSONContainsPath))},
	"json_overlaps": {2, 2, 0, plain(boolType(), overDocuments(evalJSONOverlaps))}, "member of": {2, 2, 0, plain(boolType(), overDocuments(evalMemberOf))},
	"json_set": {3, -1, 0, jsonFn(jsonChange(jsonInsert | jsonReplace))}, "json_insert": {3, -1, 0, jsonFn(jsonChange(jsonInsert))},
	"json_replace": {3, -1, 0, jsonFn(jsonChange(jsonReplace))}, "json_array_append": {3, -1, 0, jsonFn(jsonChange(jsonArrayAppend))},
	"json_array_insert": {3, -1, 0, jsonFn(jsonChange(jsonArrayInsert))}, "json_remove": {2, -1, 0, jsonFn(evalJSONRemove)},
	"json_merge_patch": {2, -1, 0, jsonFn(evalJSONMergePatch)}, "json_merge_preserve": {2, -1, 0, jsonFn(evalJSONMergePreserve)},
	"json_merge": {2, -1, 0, jsonFn(evalJSONMergePreserve)}, "json_pretty": {1, 1, 0, jsonText(evalJSONPretty)},
	"json_storage_size": {1, 1, 0, plain(intType(21), overDocuments(evalJSONStorageSize))}, "json_storage_free": {1, 1, 0, plain(intType(21), overDocuments(evalJSONDepthZero))},
	"json_search": {3, -1, 0, buildJSONSearch}, "json_schema_valid": {2, 2, 0, buildJSONSchema}, "json_schema_validation_report": {2, 2, 0, buildJSONSchema},
	"json_value": {2, 2, 0, buildJSONValue},
}

var jsonType = types.Type{ID: types.TypeJSON, Coll: types.Utf8mb4Bin}

// jsonFn returns the builder of a function whose result is a JSON document.
func jsonFn(eval evalFunc) func(*BuildContext, *Node) error {
	return func(b *BuildContext, n *Node) error {
		if err := rejectRows(n.args); err != nil {
			return err
		}
		n.ownDigits(b)
		n.typ, n.coer, n.eval = jsonType, CoerImplicit, overDocuments(eval)
		return nil
	}
}

// jsonText returns the builder of a function whose result is the JSON value of eval as a text, a JSON string without its quotes.
func jsonText(eval evalFunc) func(*BuildContext, *Node) error {
	return func(_ *BuildContext, n *Node) error {
		if err := rejectRows(n.args); err != nil {
			return err
		}
		n.typ, n.coer = stringType(-1, types.Utf8mb4Bin), CoerCoercible
		n.eval = overDocuments(func(ctx *Ctx, n *Node, row []types.Value) (types.Value, error) {
			v, err := eval(ctx, n, row)
			if err != nil || v.IsNull() || v.K != types.KindJSON {
				return v, err
			}
			if text := types.JSONBare(v.B); len(text) > 0 && text[0] == '"' {
				if !ctx.fits(len(text)) {
					return types.Null(), nil
				}
				return types.String(ctx.owned(types.UnquoteJSON(text)), types.Utf8mb4Bin), nil
			}
			return types.String(ctx.shown(v.B), types.Utf8mb4Bin), nil
		})
		return nil
	}
}

// overDocuments wraps eval so that of the memory it counts, only that of its result stays counted: the documents it has parsed are garbage.
func overDocuments(eval evalFunc) evalFunc {
	return func(ctx *Ctx, n *Node, row []types.Value) (types.Value, error) {
		mark := ctx.meterMark()
		v, err := eval(ctx, n, row)
		ctx.unchargeTo(mark)
		ctx.charge(cap(v.B))
		return v, err
	}
}

// document evaluates argument i as a JSON document; ok is false for SQL NULL and errors.
func (ctx *Ctx) document(n *Node, i int, row []types.Value) (t *jsonTree, ok bool, err error) {
	text, ok, err := ctx.documentText(n, i, row)
	if !ok {
		return nil, false, err
	}
	return ctx.parseTree(text), true, nil
}

// documentText is document that returns the normalised text.
func (ctx *Ctx) documentText(n *Node, i int, row []types.Value) (text []byte, ok bool, err error) {
	v, err := n.args[i].eval(ctx, n.args[i], row)
	if err != nil {
		return nil, false, err
	}
	return ctx.documentIn(n, i, v)
}

// documentIn is documentText of v, which is the value of argument i.
func (ctx *Ctx) documentIn(n *Node, i int, v types.Value) (text []byte, ok bool, err error) {
	if v.IsNull() { // its type is looked at even so
		if t := &n.args[i].typ; t.ID != types.TypeNull && t.ID != types.TypeJSON && !isTextual(t) && n.args[i].kind != kindParam {
			return nil, false, invalidJSONType(n, i)
		}
		return nil, false, nil
	}
	switch v.K {
	case types.KindJSON:
		return v.B, true, nil
	case types.KindString:
		text, ok := types.JSONText(&v)
		if !ok {
			return nil, false, types.Errorf(types.ErInvalidJSONCharset, "binary")
		}
		norm, err := ctx.normal(n, i, text)
		return norm, err == nil, err
	}
	return nil, false, invalidJSONType(n, i)
}

// normal parses the text of argument i and returns it normalised; error 3141 if it is no JSON document.
func (ctx *Ctx) normal(n *Node, i int, text []byte) ([]byte, error) {
	norm, message, pos, err := types.ParseJSON(ctx.Context, text)
	if err != nil {
		return nil, err
	}
	if message != "" {
		return nil, types.Errorf(types.ErInvalidJSONTextInParam, i+1, n.name, message, pos, "")
	}
	return ctx.owned(norm), nil
}

// invalidJSONType returns error 3146 for argument i.
func invalidJSONType(n *Node, i int) error {
	return types.NewError(3146, "Invalid data type for JSON data in argument "+strconv.Itoa(i+1)+" to function "+n.name+"; a JSON string or JSON type is required.")
}

// element evaluates argument i as a value to be put into a document: a text becomes a JSON string, NULL becomes null.
func (ctx *Ctx) element(n *Node, i int, row []types.Value) (*jsonTree, error) {
	v, err := n.args[i].eval(ctx, n.args[i], row)
	if err != nil {
		return nil, err
	}
	switch {
	case v.IsNull():
		return ctx.jsonNull(), nil
	case v.K == types.KindJSON:
		return ctx.parseTree(v.B), nil
	case v.K == types.KindInt && isPredicate(n.args[i]):
		return ctx.parseTree(strconv.AppendBool(nil, v.N != 0)), nil
	}
	t := ctx.jsonSource(n.args[i], &v)
	return ctx.parseTree(ctx.jsonFrom(&v, &t).B), nil
}

// jsonFrom is types.JSONFrom that counts the memory of long texts before it is allocated: escaped, a text can have six times its length, and a
// binary string is base64, of which there are two copies for a time.
func (ctx *Ctx) jsonFrom(v *types.Value, t *types.Type) types.Value {
	if v.K == types.KindString && len(v.B) >= meterUnit {
		size := 3 * len(v.B)
		if v.Coll != types.Binary {
			size = types.JSONStringLen(v.B)
		}
		if !ctx.fits(size) {
			return types.JSON(jsonNullText)
		}
	}
	out := types.JSONFrom(ctx.Context, v, t)
	ctx.chargeMade(cap(out.B))
	return out
}

// isPredicate reports whether e is a truth value, which JSON shows as true and false.
func isPredicate(e Expr) bool {
	if f, ok := e.aux.(*folded); ok {
		e = f.from
	}
	if e.kind == kindConst && e.name == truthLiteralName {
		return true
	}
	if e.kind == kindSubquery {
		s, ok := e.aux.(interface{ IsTruth() bool })
		return ok && s.IsTruth()
	}
	_, compare := compareMasks[e.name]
	return e.kind == kindCall && (compare || predicates[e.name])
}

// predicates are the operators and functions, besides comparisons, whose result JSON shows as true or false.
var predicates = map[string]bool{
	"and": true, "or": true, "xor": true, "not": true, "in": true, "between": true, "like": true, "is null": true, "is not null": true,
	"is true": true, "is false": true, "is not true": true, "is not false": true, "strcmp": true, "is_ipv4": true, "is_ipv6": true,
	"is_ipv4_compat": true, "is_ipv4_mapped": true, "is_uuid": true, "json_schema_valid": true, "regexp": true, "regexp_like": true, "json_valid": true, "json_contains": true, "json_contains_path": true,
	"json_overlaps": true, "member of": true, "exists": true,
}

// truthAsJSON converts a truth value to JSON's true or false. It returns other expressions as they are.
func truthAsJSON(e Expr) Expr {
	if !isPredicate(e) {
		return e
	}
	if v, ok := e.ConstValue(); ok {
		if v.IsNull() {
			return e
		}
		return Const(jsonTruth(v), jsonType)
	}
	n := newCall("json truth", []Expr{e})
	n.hidden, n.coer, n.typ, n.notNull = true, CoerImplicit, jsonType, e.notNull
	n.eval = func(ctx *Ctx, n *Node, row []types.Value) (types.Value, error) {
		v, err := n.args[0].eval(ctx, n.args[0], row)
		if err != nil || v.IsNull() {
			return types.Null(), err
		}
		return jsonTruth(v), nil
	}
	return n
}

// jsonOperand converts what a document is compared with: truth values, and binary strings, which differ if their types do (BLOB, BINARY, VARBINARY).
func jsonOperand(e Expr) Expr {
	if !e.typ.IsStringType() || e.typ.Coll != types.Binary {
		return truthAsJSON(e)
	}
	n := newCall("json bytes", []Expr{e})
	n.hidden, n.coer, n.typ, n.notNull = true, CoerImplicit, jsonType, e.notNull
	n.eval = func(ctx *Ctx, n *Node, row []types.Value) (types.Value, error) {
		v, err := n.args[0].eval(ctx, n.args[0], row)
		if err != nil || v.IsNull() {
			return types.Null(), err
		}
		t := ctx.jsonSource(n.args[0], &v)
		return types.JSONFrom(ctx.Context, &v, &t), nil
	}
	return n
}

func jsonTruth(v types.Value) types.Value { return types.JSON(strconv.AppendBool(nil, v.N != 0)) }

// path evaluates argument i as a JSON path; ok is false for NULL and errors.
func (ctx *Ctx) path(n *Node, i int, row []types.Value) (legs []pathLeg, ok bool, err error) {
	v, err := ctx.text(n.args[i], row)
	if err != nil || v.IsNull() {
		return nil, false, err
	}
	text, ok := types.JSONText(&v)
	if !ok {
		return nil, false, types.Errorf(types.ErInvalidJSONPathCharset, hexText(v.B), "binary")
	}
	legs, err = ctx.parsePath(text)
	return legs, err == nil, err
}

// evalJSONArg is the argument of JSON_UNQUOTE: a text in double quotes has to be a JSON string.
func evalJSONArg(ctx *Ctx, n *Node, row []types.Value) (types.Value, error) {
	v, err := n.args[0].eval(ctx, n.args[0], row)
	if err != nil || v.IsNull() || v.K == types.KindJSON {
		return v, err
	}
	text, err := jsonArgumentText(n, &v)
	if err != nil {
		return v, err
	}
	v = types.String(text, types.Utf8mb4Bin)
	if len(v.B) < 2 || v.B[0] != '"' || v.B[len(v.B)-1] != '"' {
		return v, nil
	}
	norm, err := ctx.normal(n, 0, v.B)
	if err != nil {
		return types.Null(), err
	}
	return types.JSON(norm), nil
}

func evalJSONExtract(ctx *Ctx, n *Node, row []types.Value) (types.Value, error) {
	t, ok, err := ctx.document(n, 0, row)
	if !ok {
		return types.Null(), err
	}
	wrap := len(n.args) > 2
	var found []*jsonTree
	for i := range n.args[1:] {
		legs, ok, err := ctx.path(n, i+1, row)
		if !ok {
			return types.Null(), err
		}
		wrap = wrap || many(legs)
		matches, err := ctx.find(t, legs)
		if err != nil {
			return types.Null(), err
		}
		found = append(found, matches...)
	}
	switch {
	case len(found) == 0:
		return types.Null(), nil
	case wrap:
		return ctx.jsonResult(n, ctx.newArray(found...))
	}
	return ctx.jsonResult(n, found[0])
}

func evalJSONArray(ctx *Ctx, n *Node, row []types.Value) (types.Value, error) {
	t := ctx.newArray()
	for i := range n.args {
		e, err := ctx.element(n, i, row)
		if err != nil {
			return types.Null(), err
		}
		t.items = append(t.items, e)
	}
	return ctx.jsonResult(n, t)
}

func buildJSONObject(b *BuildContext, n *Node) error {
	if len(n.args)%2 != 0 {
		return types.Errorf(types.ErWrongParamcountToNativeFct, n.name)
	}
	return jsonFn(func(ctx *Ctx, n *Node, row []types.Value) (types.Value, error) {
		t := ctx.newObject()
		for i := 0; i < len(n.args); i += 2 {
			k, err := ctx.text(n.args[i], row)
			if err != nil {
				return k, err
			}
			if k.IsNull() {
				return k, types.NewError(errJSONNullKey, "JSON documents may not contain NULL member names.")
			}
			e, err := ctx.element(n, i+1, row)
			if err != nil {
				return types.Null(), err
			}
			name, ok := types.JSONText(&k)
			if !ok {
				return types.Null(), types.Errorf(types.ErInvalidJSONCharset, "binary")
			}
			t.setMember(string(name), e)
		}
		return ctx.jsonResult(n, t)
	})(b, n)
}

func evalJSONQuote(ctx *Ctx, n *Node, row []types.Value) (types.Value, error) {
	s, err := n.args[0].eval(ctx, n.args[0], row)
	if err != nil || s.IsNull() {
		return types.Null(), err
	}
	text, err := jsonArgumentText(n, &s)
	if err != nil {
		return types.Null(), err
	}
	size := types.JSONStringLen(text)
	if ctx.tooLong(n, size) {
		return types.Null(), nil
	}
	return n.textResult(types.AppendJSONString(ctx.alloc(size)[:0], text)), nil
}

// jsonArgumentText returns the text v, the argument of JSON_QUOTE or JSON_UNQUOTE, in UTF-8. Other values are error 3064.
func jsonArgumentText(n *Node, v *types.Value) ([]byte, error) {
	switch v.K {
	case types.KindString, types.KindEnum, types.KindSet:
	default:
		return nil, types.Errorf(types.ErIncorrectType, "1", n.name)
	}
	text, ok := types.JSONText(v)
	if !ok {
		return nil, types.Errorf(types.ErInvalidJSONCharset, "binary")
	}
	return text, nil
}

// buildJSONValid is JSON_VALID. An argument whose type is neither text nor JSON is not valid, even if it is NULL.
func buildJSONValid(b *BuildContext, n *Node) error {
	eval := overDocuments(evalJSONValid)
	if err := rejectRows(n.args); err != nil {
		return err
	}
	switch t := &n.args[0].typ; classOf(t) {
	case classNull, classJSON:
	default:
		if !t.IsStringType() || t.ID == types.TypeEnum || t.ID == types.TypeSet {
			eval = func(*Ctx, *Node, []types.Value) (types.Value, error) { return types.Bool(false), nil }
		}
	}
	return plain(intType(21), eval)(b, n)
}

func evalJSONValid(ctx *Ctx, n *Node, row []types.Value) (types.Value, error) {
	v, err := n.args[0].eval(ctx, n.args[0], row)
	if err != nil || v.IsNull() {
		return types.Null(), err
	}
	if v.K == types.KindString {
		text, ok := types.JSONText(&v)
		if !ok {
			return types.Bool(false), nil
		}
		valid, err := types.ValidJSON(ctx.Context, text)
		return types.Bool(valid), err
	}
	return types.Bool(v.K == types.KindJSON), nil
}

// buildJSONType is JSON_TYPE, whose text has the collation of documents instead of the connection's.
func buildJSONType(b *BuildContext, n *Node) error {
	if err := asciiText(chars(51), overDocuments(evalJSONType))(b, n); err != nil {
		return err
	}
	n.typ.Coll = types.Utf8mb4Bin
	return nil
}

func evalJSONType(ctx *Ctx, n *Node, row []types.Value) (types.Value, error) {
	t, ok, err := ctx.document(n, 0, row)
	if !ok {
		return types.Null(), err
	}
	return n.textResult([]byte(t.typeName())), nil
}

func evalJSONDepth(ctx *Ctx, n *Node, row []types.Value) (types.Value, error) {
	t, ok, err := ctx.document(n, 0, row)
	if !ok {
		return types.Null(), err
	}
	return types.Int(int64(t.depth())), nil
}

// evalJSONDepthZero is JSON_STORAGE_FREE: documents are not updated in place, so there is never free space in them.
func evalJSONDepthZero(ctx *Ctx, n *Node, row []types.Value) (types.Value, error) {
	_, ok, err := ctx.document(n, 0, row)
	if !ok {
		return types.Null(), err
	}
	return types.Int(0), nil
}

// errJSONPathWildcard is MySQL's ER_INVALID_JSON_PATH_WILDCARD.
const (
	errJSONPathWildcard = 3149
	jsonPathWildcard    = "In this situation, path expressions may not contain the * and ** tokens or an array range."
)

// within returns the value in t at the path in argument i, t if there is no such argument, and nil if there is no such value or an error.
func (ctx *Ctx) within(n *Node, t *jsonTree, i int, row []types.Value) (*jsonTree, error) {
	if len(n.args) <= i {
		return t, nil
	}
	legs, ok, err := ctx.path(n, i, row)
	if !ok {
		return nil, err
	}
	if many(legs) {
		return nil, types.NewError(errJSONPathWildcard, jsonPathWildcard)
	}
	found, err := ctx.find(t, legs)
	if err != nil || len(found) == 0 {
		return nil, err
	}
	return found[0], nil
}

func evalJSONLength(ctx *Ctx, n *Node, row []types.Value) (types.Value, error) {
	t, ok, err := ctx.document(n, 0, row)
	if !ok {
		return types.Null(), err
	}
	if len(n.args) == 1 {
		return types.Int(int64(t.length())), nil
	}
	legs, ok, err := ctx.path(n, 1, row)
	if !ok {
		return types.Null(), err
	}
	found, err := ctx.find(t, legs)
	switch {
	case err != nil || len(found) == 0:
		return types.Null(), err
	case many(legs): // the length of the array that JSON_EXTRACT returns
		return types.Int(int64(len(found))), nil
	}
	return types.Int(int64(found[0].length())), nil
}

func evalJSONKeys(ctx *Ctx, n *Node, row []types.Value) (types.Value, error) {
	t, ok, err := ctx.document(n, 0, row)
	if !ok {
		return types.Null(), err
	}
	if t, err = ctx.within(n, t, 1, row); t == nil || t.kind != '{' {
		return types.Null(), err
	}
	out := ctx.newArray()
	for it := types.NewJSONIter(t.text); ; { // t is not open: within does not open what it finds
		key, _, ok := it.Next()
		if !ok {
			return ctx.jsonResult(n, out)
		}
		if !ctx.charge(jsonTreeBytes) {
			return types.Null(), nil
		}
		out.items = append(out.items, ctx.parseTree(key))
	}
}

func evalJSONContains(ctx *Ctx, n *Node, row []types.Value) (types.Value, error) {
	t, ok, err := ctx.document(n, 0, row)
	if !ok {
		return types.Null(), err
	}
	what, ok, err := ctx.document(n, 1, row)
	if !ok {
		return types.Null(), err
	}
	if t, err = ctx.within(n, t, 2, row); t == nil {
		return types.Null(), err
	}
	m := jsonMatch{ctx: ctx}
	found := m.contains(t, what)
	return types.Bool(found), m.err
}

func evalJSONContainsPath(ctx *Ctx, n *Node, row []types.Value) (types.Value, error) {
	t, ok, err := ctx.document(n, 0, row)
	if !ok {
		return types.Null(), err
	}
	all, ok, err := ctx.oneOrAll(n, row)
	if !ok {
		return types.Null(), err
	}
	for i := range n.args[2:] {
		legs, ok, err := ctx.path(n, i+2, row)
		if !ok {
			return types.Null(), err
		}
		found, err := ctx.find(t, legs)
		if err != nil {
			return types.Null(), err
		}
		if hit := len(found) > 0; hit != all {
			return types.Bool(hit), nil
		}
	}
	return types.Bool(all), nil
}

func evalJSONOverlaps(ctx *Ctx, n *Node, row []types.Value) (types.Value, error) {
	a, ok, err := ctx.document(n, 0, row)
	if !ok {
		return types.Null(), err
	}
	b, ok, err := ctx.document(n, 1, row)
	if !ok {
		return types.Null(), err
	}
	m := jsonMatch{ctx: ctx}
	found := m.overlaps(a, b)
	return types.Bool(found), m.err
}

// evalMemberOf is x MEMBER OF(array).
func evalMemberOf(ctx *Ctx, n *Node, row []types.Value) (types.Value, error) {
	v, err := n.args[0].eval(ctx, n.args[0], row)
	if err != nil || v.IsNull() {
		return types.Null(), err
	}
	x, err := ctx.element(n, 0, row)
	if err != nil {
		return types.Null(), err
	}
	t, ok, err := ctx.document(n, 1, row)
	if !ok {
		return types.Null(), err
	}
	m := jsonMatch{ctx: ctx}
	for _, e := range t.elements() {
		if m.equal(e, x) {
			return types.Int(1), nil
		}
	}
	return types.Int(0), m.err
}

// jsonChange returns the evaluator of JSON_SET, JSON_INSERT, JSON_REPLACE, JSON_ARRAY_APPEND or JSON_ARRAY_INSERT. Each of the pairs of path and
// value is applied to the result of those before it.
func jsonChange(how int) evalFunc {
	return func(ctx *Ctx, n *Node, row []types.Value) (types.Value, error) {
		if len(n.args)%2 == 0 {
			return types.Null(), types.Errorf(types.ErWrongParamcountToNativeFct, n.name)
		}
		t, ok, err := ctx.document(n, 0, row)
		if !ok {
			return types.Null(), err
		}
		for i := 1; i+1 < len(n.args); i += 2 {
			legs, ok, err := ctx.path(n, i, row)
			if !ok {
				return types.Null(), err
			}
			if many(legs) {
				return types.Null(), types.NewError(errJSONPathWildcard, jsonPathWildcard)
			}
			if how&jsonArrayInsert != 0 && (len(legs) == 0 || legs[len(legs)-1].kind != '[') {
				return types.Null(), types.Errorf(types.ErInvalidJSONPathArrayCell)
			}
			edit := jsonEdit{how: how, value: func() (*jsonTree, error) { return ctx.element(n, i+1, row) }}
			if how&jsonReplace != 0 { // JSON_REPLACE and JSON_SET evaluate it in any case, as in MySQL
				v, err := ctx.element(n, i+1, row)
				if err != nil {
					return types.Null(), err
				}
				edit.value = func() (*jsonTree, error) { return v, nil }
			}
			if t = t.change(legs, &edit, 1); edit.err != nil {
				return types.Null(), edit.err
			}
			if edit.deepest > types.MaxJSONDepth {
				return types.Null(), types.Errorf(types.ErJSONDocumentTooDeep)
			}
		}
		return ctx.jsonResult(n, t)
	}
}

func evalJSONRemove(ctx *Ctx, n *Node, row []types.Value) (types.Value, error) {
	t, ok, err := ctx.document(n, 0, row)
	if !ok {
		return types.Null(), err
	}
	for i := range n.args[1:] {
		legs, ok, err := ctx.path(n, i+1, row)
		if !ok {
			return types.Null(), err
		}
		if many(legs) {
			return types.Null(), types.NewError(errJSONPathWildcard, jsonPathWildcard)
		}
		if len(legs) == 0 {
			return types.Null(), types.NewError(3153, "The path expression '$' is not allowed in this context.")
		}
		t = t.change(legs, &jsonEdit{how: jsonRemove}, 1)
	}
	return ctx.jsonResult(n, t)
}

// mergePatch returns t changed by the JSON merge patch patch (RFC 7396).
func mergePatch(t, patch *jsonTree) *jsonTree {
	if patch.kind != '{' {
		return patch
	}
	if t.kind != '{' {
		t = patch.ctx.newObject()
	}
	return mergeMembers(t, patch, func(old, p *jsonTree) *jsonTree {
		if p.kind == 's' && string(p.text) == "null" {
			return nil
		}
		if old == nil {
			old = p.ctx.jsonNull()
		}
		return mergePatch(old, p)
	})
}

// mergePreserve returns a and b merged: the members of both objects, or else an array of both values or their elements.
func mergePreserve(a, b *jsonTree) *jsonTree {
	if a.kind == '{' && b.kind == '{' {
		return mergeMembers(a, b, func(old, v *jsonTree) *jsonTree {
			if old == nil {
				return v
			}
			return mergePreserve(old, v)
		})
	}
	return a.ctx.newArray(append(append([]*jsonTree(nil), a.elements()...), b.elements()...)...)
}

// mergeMembers returns an object with the members of a and b. For each member of b it calls merge with a's value, nil if a has none, and b's;
// if that returns nil, the member is left out.
func mergeMembers(a, b *jsonTree, merge func(old, v *jsonTree) *jsonTree) *jsonTree {
	t := a.ctx.newObject()
	a.open()
	b.open()
	i := 0
	for j, key := range b.keys {
		for ; i < len(a.keys) && compareMembers(a.keys[i], key) < 0; i++ {
			t.addMember(a.keys[i], a.items[i])
		}
		var old *jsonTree
		if i < len(a.keys) && a.keys[i] == key {
			old, i = a.items[i], i+1
		}
		if v := merge(old, b.items[j]); v != nil {
			t.addMember(key, v)
		}
	}
	t.keys, t.items = append(t.keys, a.keys[i:]...), append(t.items, a.items[i:]...)
	return t
}

// evalJSONMergePatch is JSON_MERGE_PATCH, from left to right. NULL makes the result NULL, until a patch that is no object replaces it.
func evalJSONMergePatch(ctx *Ctx, n *Node, row []types.Value) (types.Value, error) {
	var t *jsonTree // nil: NULL
	for i := range n.args {
		d, ok, err := ctx.document(n, i, row)
		switch {
		case err != nil:
			return types.Null(), err
		case !ok:
			t = nil
		case i == 0 || t == nil && d.kind != '{':
			t = d
		case t != nil:
			t = mergePatch(t, d)
		}
	}
	if t == nil {
		return types.Null(), nil
	}
	return ctx.jsonResult(n, t)
}

// evalJSONMergePreserve is JSON_MERGE_PRESERVE. Arguments after a NULL are not evaluated.
func evalJSONMergePreserve(ctx *Ctx, n *Node, row []types.Value) (types.Value, error) {
	var t *jsonTree
	for i := range n.args {
		d, ok, err := ctx.document(n, i, row)
		if err != nil || !ok {
			return types.Null(), err
		}
		if t == nil {
			t = d
		} else {
			t = mergePreserve(t, d)
		}
	}
	return ctx.jsonResult(n, t)
}

func evalJSONPretty(ctx *Ctx, n *Node, row []types.Value) (types.Value, error) {
	t, ok, err := ctx.document(n, 0, row)
	if !ok {
		return types.Null(), err
	}
	b, err := ctx.print(n, t, true)
	if b == nil || err != nil {
		return types.Null(), err
	}
	return types.String(ctx.shown(b), types.Utf8mb4Bin), nil
}
