package expr

import (
	"bytes"
	"fmt"
	"math"
	"strconv"

	"github.com/pandodb/pando/types"
)

// JSON Schema, draft 4, as in MySQL: keywords that are unknown or of a wrong type are ignored, format is not checked, and a reference ($ref) must
// be to a part of the same schema.

// schemaNestingMax bounds the nesting of schemas and references, which may be circular.
const schemaNestingMax = types.MaxJSONDepth

// jsonSchema is the text of a schema with its compiled patterns.
type jsonSchema struct {
	root     []byte
	patterns map[string]*types.Regexp // nil for a pattern that is not valid
}

// schemaCheck is one validation.
type schemaCheck struct {
	ctx      *Ctx
	schema   *jsonSchema
	document schemaPath // to the current value
	where    schemaPath // to the current schema
	failed   schemaFailure
	quiet    int // > 0 where failures are not reported: within alternatives, and where nobody asks for a report
}

// schemaPath is a JSON pointer (RFC 6901) as a URI fragment: a root, # or that of a reference, and steps. Names may be as long as a packet, so that
// they stay in their documents until there is a failure to report.
type schemaPath struct {
	root  []byte
	steps []pathStep
}

// pathStep is a keyword or a number, and behind it the name of a member, which is escaped; one of them may be empty.
type pathStep struct {
	word string
	name []byte
}

// append writes the path.
func (p *schemaPath) append(dst []byte) []byte {
	dst = append(dst, p.root...)
	for _, s := range p.steps {
		dst = appendPointer(append(append(dst, '/'), s.word...), s.name)
	}
	return dst
}

// size is the most bytes that append writes.
func (p *schemaPath) size() int {
	n := len(p.root)
	for _, s := range p.steps {
		n += 1 + len(s.word) + escapedBytesMax*len(s.name)
	}
	return n
}

// escapedBytesMax is how many bytes of a pointer one of a name becomes at most.
const escapedBytesMax = 3

// schemaFailure is the first requirement that failed.
type schemaFailure struct {
	keyword         string
	document, where []byte
}

func buildJSONSchema(_ *BuildContext, n *Node) error {
	if err := rejectRows(n.args); err != nil {
		return err
	}
	n.typ, n.coer, n.ascii = boolType(), CoerNumeric, true
	if n.name == "json_schema_validation_report" {
		n.typ, n.coer, n.ascii = jsonType, CoerImplicit, false
	}
	n.eval = overDocuments(evalJSONSchema)
	return nil
}

func evalJSONSchema(ctx *Ctx, n *Node, row []types.Value) (types.Value, error) {
	schema, ok, err := ctx.documentText(n, 0, row)
	if !ok {
		return types.Null(), err
	}
	if len(schema) == 0 || schema[0] != '{' {
		return types.Null(), types.Errorf(types.ErInvalidJSONType, 1, n.name, "object")
	}
	document, ok, err := ctx.documentText(n, 1, row)
	if !ok {
		return types.Null(), err
	}
	schema, document = ctx.shown(schema), ctx.shown(document) // without marks: a date is a string
	c := schemaCheck{ctx: ctx, schema: &jsonSchema{root: schema, patterns: map[string]*types.Regexp{}}}
	c.document.root, c.where.root = []byte{'#'}, []byte{'#'}
	if n.name == "json_schema_valid" {
		c.quiet++
	}
	valid, err := c.valid(schema, document, 1)
	if err == nil {
		err = ctx.failed
	}
	switch {
	case err != nil:
		return types.Null(), err
	case n.name == "json_schema_valid":
		return types.Bool(valid), nil
	}
	return types.JSON(c.report(valid)), nil
}

// report returns the result of JSON_SCHEMA_VALIDATION_REPORT.
func (c *schemaCheck) report(valid bool) []byte {
	if valid {
		return []byte(`{"valid": true}`)
	}
	f := &c.failed
	out := append([]byte(nil), `{"valid": false, "reason": `...)
	out = types.AppendJSONString(out, fmt.Appendf(nil, "The JSON document location '%s' failed requirement '%s' at JSON Schema location '%s'", f.document, f.keyword, f.where))
	for _, member := range []struct {
		name  string
		value []byte
	}{{"schema-location", f.where}, {"document-location", f.document}, {"schema-failed-keyword", []byte(f.keyword)}} {
		out = append(append(append(out, `, "`...), member.name...), `": `...)
		out = types.AppendJSONString(out, member.value)
	}
	return append(out, '}')
}

// reportCopies is how often a report has the paths, the buffers that it outgrows included.
const reportCopies = 8

// fail records the keyword that failed, unless within an alternative, and returns false.
func (c *schemaCheck) fail(keyword string) bool {
	if c.quiet == 0 && c.failed.keyword == "" && c.ctx.charge(reportCopies*(c.document.size()+c.where.size())) {
		c.failed = schemaFailure{keyword, c.document.append(nil), c.where.append(nil)}
	}
	return false
}

// member returns the value of key in the text of an object, nil if there is none.
func member(object []byte, key string) []byte {
	if len(object) == 0 || object[0] != '{' {
		return nil
	}
	for it := types.NewJSONIter(object); ; {
		k, v, ok := it.Next()
		if !ok {
			return nil
		}
		if string(types.UnquoteJSON(k)) == key {
			return v
		}
	}
}

// kind returns the type of a value: '{', '[', '"', 't' for true and false, 'n' for null, '0' for numbers.
func kind(text []byte) byte {
	switch {
	case len(text) == 0:
		return 'n'
	case text[0] == 'f':
		return 't'
	case text[0] == '-', text[0] >= '0' && text[0] <= '9':
		return '0'
	}
	return text[0]
}

// within runs check one step further.
func (p *schemaPath) within(step pathStep, check func() (bool, error)) (bool, error) {
	before := p.steps
	p.steps = append(before, step)
	ok, err := check()
	p.steps = before
	return ok, err
}

// appendPointer appends key as a step of a JSON pointer in a URI fragment.
func appendPointer(dst []byte, key []byte) []byte {
	const hex = "0123456789ABCDEF"
	for _, b := range key {
		switch {
		case b == '~':
			dst = append(dst, "~0"...)
		case b == '/':
			dst = append(dst, "~1"...)
		case b >= 'a' && b <= 'z', b >= 'A' && b <= 'Z', b >= '0' && b <= '9', b == '-', b == '.', b == '_':
			dst = append(dst, b)
		default:
			dst = append(dst, '%', hex[b>>4], hex[b&15])
		}
	}
	return dst
}

// valid reports whether value satisfies schema, both texts of JSON. nesting is the number of schemas and references around, plus one.
func (c *schemaCheck) valid(schema, value []byte, nesting int) (bool, error) {
	if nesting > schemaNestingMax {
		return false, types.Errorf(types.ErJSONDocumentTooDeep)
	}
	if err := c.ctx.steps(len(schema) + len(value) + 1); err != nil { // both are read
		return false, err
	}
	if kind(schema) != '{' {
		return true, nil
	}
	if ref := member(schema, "$ref"); kind(ref) == '"' {
		return c.reference(types.UnquoteJSON(ref), value, nesting)
	}
	if !c.rightType(member(schema, "type"), value) {
		return c.fail("type"), nil
	}
	ok, err := true, error(nil)
	switch kind(value) {
	case '0':
		ok = c.number(schema, value)
	case '"':
		ok, err = c.text(schema, types.UnquoteJSON(value))
	case '[':
		ok, err = c.array(schema, value, nesting)
	case '{':
		ok, err = c.object(schema, value, nesting)
	}
	if !ok || err != nil {
		return false, err
	}
	if list := member(schema, "enum"); kind(list) == '[' {
		if ok, err := c.oneOfValues(list, value); err != nil || !ok {
			return err == nil && c.fail("enum"), err
		}
	}
	return c.combined(schema, value, nesting)
}

// reference is valid against the schema that ref, such as "#/definitions/x", refers to.
func (c *schemaCheck) reference(ref, value []byte, nesting int) (bool, error) {
	if len(ref) == 0 || ref[0] != '#' {
		return false, types.Errorf(types.ErNotSupportedYet, "references in JSON Schema")
	}
	_, rest, some := bytes.Cut(ref[1:], []byte{'/'})
	at := c.schema.root
	for some && at != nil {
		if err := c.ctx.steps(len(at)); err != nil {
			return false, err
		}
		var step []byte
		step, rest, some = bytes.Cut(rest, []byte{'/'})
		step = unescapePointer(step)
		if kind(at) == '[' {
			k, err := strconv.Atoi(string(step))
			it := types.NewJSONIter(at)
			for at = nil; err == nil && k >= 0; k-- {
				if _, at, _ = it.Next(); at == nil {
					break
				}
			}
			continue
		}
		at = member(at, string(step))
	}
	if at == nil {
		return true, nil
	}
	before := c.where
	c.where = schemaPath{root: ref}
	ok, err := c.valid(at, value, nesting+1)
	c.where = before
	return ok, err
}

func unescapePointer(step []byte) []byte {
	if bytes.IndexByte(step, '~') < 0 && bytes.IndexByte(step, '%') < 0 {
		return step
	}
	out := make([]byte, 0, len(step))
	for i := 0; i < len(step); i++ {
		switch {
		case step[i] == '~' && i+1 < len(step) && (step[i+1] == '0' || step[i+1] == '1'):
			out = append(out, "~/"[step[i+1]-'0'])
			i++
		case step[i] == '%' && i+2 < len(step):
			if b, err := strconv.ParseUint(string(step[i+1:i+3]), 16, 8); err == nil {
				out = append(out, byte(b))
				i += 2
				continue
			}
			fallthrough
		default:
			out = append(out, step[i])
		}
	}
	return out
}

// schemaTypes are the kinds of the types in schemas.
var schemaTypes = map[string]byte{"null": 'n', "boolean": 't', "object": '{', "array": '[', "string": '"', "number": '0', "integer": '0'}

// rightType reports whether value has the type want, a name or an array of names; nil is any type. No value has an unknown type. A number is an
// integer if it is written without point and exponent.
func (c *schemaCheck) rightType(want, value []byte) bool {
	one := func(name []byte) bool {
		k, known := schemaTypes[string(types.UnquoteJSON(name))]
		return known && k == kind(value) && (string(name) != `"integer"` || !bytes.ContainsAny(value, ".eE"))
	}
	if want == nil {
		return true
	}
	if kind(want) != '[' {
		return kind(want) == '"' && one(want)
	}
	for it := types.NewJSONIter(want); ; {
		_, name, more := it.Next()
		if !more || kind(name) == '"' && one(name) {
			return more
		}
	}
}

func sameJSON(a, b []byte) bool {
	return types.Compare(types.JSON(a), types.JSON(b), types.Utf8mb4Bin) == 0
}

func (c *schemaCheck) oneOfValues(list, value []byte) (bool, error) {
	for it := types.NewJSONIter(list); ; {
		_, v, ok := it.Next()
		if !ok || sameJSON(v, value) {
			return ok, nil
		}
		if err := c.ctx.steps(len(v) + len(value)); err != nil {
			return false, err
		}
	}
}

func (c *schemaCheck) number(schema, value []byte) bool {
	for _, bound := range []struct {
		keyword, exclusive string
		sign               int
	}{{"minimum", "exclusiveMinimum", 1}, {"maximum", "exclusiveMaximum", -1}} {
		limit := member(schema, bound.keyword)
		if kind(limit) != '0' || limit == nil {
			continue
		}
		order := bound.sign * types.Compare(types.JSON(value), types.JSON(limit), types.Utf8mb4Bin)
		if order < 0 || order == 0 && string(member(schema, bound.exclusive)) == "true" {
			return c.fail(bound.keyword)
		}
	}
	if of := member(schema, "multipleOf"); kind(of) == '0' && of != nil && !multiple(value, of) {
		return c.fail("multipleOf")
	}
	return true
}

// multiple reports whether a is a multiple of b, computed with integers if both are, else with doubles.
func multiple(a, b []byte) bool {
	x, _ := types.JSONScalar(a)
	y, _ := types.JSONScalar(b)
	if x.K == types.KindInt && y.K == types.KindInt && y.N > 0 {
		return x.N%y.N == 0
	}
	f, g := math.Abs(types.ToFloat(nil, &x)), math.Abs(types.ToFloat(nil, &y))
	return g == 0 || f-math.Floor(f/g)*g <= 0
}

// count returns the value of a keyword that must be an integer >= 0; ok is false if it is missing or not one.
func count(schema []byte, keyword string) (n int64, ok bool) {
	v, _ := types.JSONScalar(member(schema, keyword))
	return v.N, v.K == types.KindInt && v.N >= 0 && kind(member(schema, keyword)) == '0'
}

// counted checks the number n against the keywords least and most.
func (c *schemaCheck) counted(schema []byte, n int, least, most string) bool {
	if limit, ok := count(schema, most); ok && int64(n) > limit {
		return c.fail(most)
	}
	if limit, ok := count(schema, least); ok && int64(n) < limit {
		return c.fail(least)
	}
	return true
}

func (c *schemaCheck) text(schema, s []byte) (bool, error) {
	if !c.counted(schema, types.DefaultCollation.Charset().CountChars(s), "minLength", "maxLength") {
		return false, nil
	}
	pattern := member(schema, "pattern")
	if kind(pattern) != '"' {
		return true, nil
	}
	hit, err := c.matches(types.UnquoteJSON(pattern), s, true)
	if err != nil || !hit {
		return err == nil && c.fail("pattern"), err
	}
	return true, nil
}

// matches reports whether pattern matches somewhere in s. For a pattern that is not valid it returns otherwise.
func (c *schemaCheck) matches(pattern, s []byte, otherwise bool) (bool, error) {
	re, ok := c.schema.patterns[string(pattern)]
	if !ok {
		var err error
		if re, err = compileChars(c.ctx, pattern, 0, types.Utf8mb4Bin); c.ctx.failed != nil {
			return false, err
		}
		if !c.ctx.charge(len(pattern) + jsonTreeBytes) {
			return false, c.ctx.failed
		}
		c.schema.patterns[string(pattern)] = re
	}
	if re == nil {
		return otherwise, nil
	}
	mark := c.ctx.meterMark()
	defer c.ctx.unchargeTo(mark)
	if !c.ctx.fits(runeBytes * len(s)) {
		return false, c.ctx.failed
	}
	m := re.Matcher(c.ctx.regexLimits()) // not kept: it has the text, and a stack that may be 16 MB
	m.Reset(types.AppendRunes(make([]rune, 0, len(s)), s, types.Utf8mb4Bin))
	return m.Find(0, c.ctx.Poll)
}

func (c *schemaCheck) array(schema, value []byte, nesting int) (bool, error) {
	items, more := member(schema, "items"), member(schema, "additionalItems")
	unique := string(member(schema, "uniqueItems")) == "true"
	seen := map[string]struct{}{}
	known := -1 // number of elements with their own schema; -1: one schema for all
	if kind(items) == '[' {
		known = types.JSONLength(items)
	}
	list := types.NewJSONIter(items)
	n := 0
	for it := types.NewJSONIter(value); ; n++ {
		_, v, some := it.Next()
		if !some {
			break
		}
		place := strconv.Itoa(n)
		ok, err := c.document.within(pathStep{word: place}, func() (bool, error) {
			if unique {
				key, err := types.AppendKeyPolled(nil, types.JSON(v), &jsonType, false, 0, c.ctx.Poll)
				if err != nil {
					return false, err
				}
				if _, twice := seen[string(key)]; twice {
					return c.fail("uniqueItems"), nil
				}
				if !c.ctx.charge(len(key) + jsonTreeBytes) {
					return false, c.ctx.failed
				}
				seen[string(key)] = struct{}{}
			}
			switch {
			case known < 0:
				return c.where.within(pathStep{word: "items"}, func() (bool, error) { return c.valid(items, v, nesting+1) })
			case n < known:
				_, schema, _ := list.Next()
				return c.where.within(pathStep{word: "items/" + place}, func() (bool, error) { return c.valid(schema, v, nesting+1) })
			case string(more) == "false":
				return c.fail("additionalItems"), nil
			}
			return c.where.within(pathStep{word: "additionalItems"}, func() (bool, error) { return c.valid(more, v, nesting+1) })
		})
		if err != nil || !ok {
			return false, err
		}
	}
	return c.counted(schema, n, "minItems", "maxItems"), nil
}

func (c *schemaCheck) object(schema, value []byte, nesting int) (bool, error) {
	n := 0
	for it := types.NewJSONIter(value); ; n++ {
		key, v, some := it.Next()
		if !some {
			break
		}
		name := types.UnquoteJSON(key)
		ok, err := c.document.within(pathStep{name: name}, func() (bool, error) { return c.property(schema, name, v, nesting) })
		if err != nil || !ok {
			return false, err
		}
	}
	if list := member(schema, "required"); kind(list) == '[' {
		if ok, err := c.hasAll(value, list); err != nil || !ok {
			return err == nil && c.fail("required"), err
		}
	}
	if !c.counted(schema, n, "minProperties", "maxProperties") {
		return false, nil
	}
	return c.dependencies(schema, value, nesting)
}

// property checks the value of a member against the schemas for its name.
func (c *schemaCheck) property(schema, name, value []byte, nesting int) (bool, error) {
	if err := c.ctx.steps(len(schema)); err != nil {
		return false, err
	}
	known := false
	if own := member(member(schema, "properties"), string(name)); own != nil {
		known = true
		ok, err := c.where.within(pathStep{"properties/", name}, func() (bool, error) { return c.valid(own, value, nesting+1) })
		if err != nil || !ok {
			return false, err
		}
	}
	patterns := member(schema, "patternProperties")
	if kind(patterns) == '{' {
		for it := types.NewJSONIter(patterns); ; {
			pattern, own, some := it.Next()
			if !some {
				break
			}
			hit, err := c.matches(types.UnquoteJSON(pattern), name, false)
			if err != nil {
				return false, err
			}
			if !hit {
				continue
			}
			known = true
			c.quiet++
			ok, err := c.valid(own, value, nesting+1)
			c.quiet--
			if err != nil || !ok {
				return err == nil && c.fail("patternProperties"), err
			}
		}
	}
	other := member(schema, "additionalProperties")
	switch {
	case known:
		return true, nil
	case string(other) == "false":
		return c.fail("additionalProperties"), nil
	}
	return c.where.within(pathStep{word: "additionalProperties"}, func() (bool, error) { return c.valid(other, value, nesting+1) })
}

// hasAll reports whether an object has members of all the names in list. Each name is searched in the whole object.
func (c *schemaCheck) hasAll(object, list []byte) (bool, error) {
	for it := types.NewJSONIter(list); ; {
		_, name, ok := it.Next()
		if !ok {
			return true, nil
		}
		if kind(name) == '"' && member(object, string(types.UnquoteJSON(name))) == nil {
			return false, nil
		}
		if err := c.ctx.steps(len(object)); err != nil {
			return false, err
		}
	}
}

func (c *schemaCheck) dependencies(schema, value []byte, nesting int) (bool, error) {
	all := member(schema, "dependencies")
	if kind(all) != '{' {
		return true, nil
	}
	for it := types.NewJSONIter(all); ; {
		key, needs, some := it.Next()
		if !some {
			return true, nil
		}
		if err := c.ctx.steps(len(value)); err != nil {
			return false, err
		}
		if member(value, string(types.UnquoteJSON(key))) == nil {
			continue
		}
		ok, err := true, error(nil)
		if kind(needs) == '[' {
			ok, err = c.hasAll(value, needs)
		} else {
			c.quiet++
			ok, err = c.valid(needs, value, nesting+1)
			c.quiet--
		}
		if err != nil || !ok {
			return err == nil && c.fail("dependencies"), err
		}
	}
}

// combined checks allOf, anyOf, oneOf and not.
func (c *schemaCheck) combined(schema, value []byte, nesting int) (bool, error) {
	for _, keyword := range []string{"allOf", "anyOf", "oneOf"} {
		list := member(schema, keyword)
		if kind(list) != '[' {
			continue
		}
		hits, n := 0, 0
		for it := types.NewJSONIter(list); ; n++ {
			_, own, some := it.Next()
			if !some {
				break
			}
			c.quiet++
			ok, err := c.valid(own, value, nesting+1)
			c.quiet--
			if err != nil {
				return false, err
			}
			if ok {
				hits++
			}
		}
		if n > 0 && (keyword == "allOf" && hits < n || keyword == "anyOf" && hits == 0 || keyword == "oneOf" && hits != 1) {
			return c.fail(keyword), nil
		}
	}
	if not := member(schema, "not"); kind(not) == '{' {
		c.quiet++
		ok, err := c.valid(not, value, nesting+1)
		c.quiet--
		if err != nil || ok {
			return err == nil && c.fail("not"), err
		}
	}
	return true, nil
}
