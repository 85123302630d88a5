package expr_test

import (
	"encoding/json"
	"errors"
	"maps"
	"reflect"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/pandodb/pando/expr"
	"github.com/pandodb/pando/internal/testkit"
	"github.com/pandodb/pando/types"
)

// limitPacket is max_allowed_packet in the tests of what results may take.
const limitPacket = 1 << 20

// measure evaluates text with a small max_allowed_packet and returns how many bytes that allocated.
func measure(t *testing.T, text string) (v types.Value, ctx *expr.Ctx, allocated uint64, err error) {
	t.Helper()
	x := newBinder()
	x.b.NoFold = true
	e, err := x.parse(text)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	ctx = x.newContext()
	ctx.MaxAllowedPacket = limitPacket
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	v, err = e.Eval(ctx, nil)
	runtime.ReadMemStats(&after)
	return v, ctx, after.TotalAlloc - before.TotalAlloc, err
}

// TestResultsBeyondThePacket: what would be longer than max_allowed_packet is NULL with warning 1301, and is not built first.
func TestResultsBeyondThePacket(t *testing.T) {
	for _, text := range []string{
		"REPLACE(REPEAT('a', 4000), 'a', REPEAT('b', 10000))",
		"EXPORT_SET(0, '', REPEAT('a', 800000), REPEAT('b', 800000), 64)",
		"EXPORT_SET(7, REPEAT('a', 800000), '', '', 2)",
		"MAKE_SET(-1" + strings.Repeat(", REPEAT('a', 800000)", 64) + ")",
		"HEX(REPEAT('a', 800000))",
		"TO_BASE64(REPEAT('a', 800000))",
		"QUOTE(REPEAT('\\'', 800000))",
		"JSON_QUOTE(REPEAT('\"', 800000))",
		"JSON_QUOTE(REPEAT(CHAR(1 USING utf8mb4), 1000000))",
		"DATE_FORMAT('2000-09-06', REPEAT('%W', 500000))",
		"TIME_FORMAT('10:00:00', REPEAT('%r', 500000))",
		"JSON_EXTRACT(JSON_ARRAY(REPEAT('a', 500000))" + strings.Repeat(", '$'", 200) + ")",
		"JSON_PRETTY(CONCAT(REPEAT('[', 99), REPEAT('1, ', 10000), '1', REPEAT(']', 99)))",
		"CAST('' AS BINARY(100000000))",
		"CAST('a' AS CHAR(100000000))",
		"CONVERT(REPEAT('a', 800000) USING utf32)",
		"CAST(REPEAT('a', 800000) AS CHAR CHARACTER SET utf32)",
		"REGEXP_REPLACE(REPEAT('a', 4000), 'a', REPEAT('b', 10000))",
		"REGEXP_REPLACE(REPEAT('a', 800000), '(aaaaaaaa)', '$1$1$1$1')",
		"REGEXP_REPLACE(CONCAT('b', REPEAT('a', 800000)), '(a{8000})', REPEAT('$1', 1000), 1, 2)",
		"EXTRACTVALUE(CONCAT('<a>', REPEAT('a', 300000), '</a>'), 'concat(/a, /a, /a, /a, /a, /a, /a, /a)')",
	} {
		v, ctx, allocated, err := measure(t, text)
		w := ctx.Warnings()
		if err != nil || !v.IsNull() || len(w) != 1 || w[0].Number != types.ErWarnAllowedPacketOverflowed {
			t.Errorf("%.60s: %d bytes, warnings %v, %v", text, len(v.B), w, err)
		}
		if allocated > 24*limitPacket {
			t.Errorf("%.60s: %d bytes were allocated", text, allocated)
		}
	}
}

// TestResultsOfThePacketsSize: a result that is exactly as long as max_allowed_packet is not too long.
func TestResultsOfThePacketsSize(t *testing.T) {
	for text, fits := range map[string]bool{
		"MAKE_SET(1, REPEAT('a', 1048576))":      true,
		"MAKE_SET(2, '', REPEAT('a', 1048576))":  true,
		"MAKE_SET(3, REPEAT('a', 1048574), 'b')": true,
		"MAKE_SET(3, REPEAT('a', 1048575), 'b')": false,
		"MAKE_SET(3, '', REPEAT('a', 1048575))":  true,
		"MAKE_SET(3, '', REPEAT('a', 1048576))":  false,
	} {
		v, ctx, _, err := measure(t, text)
		if w := ctx.Warnings(); err != nil || v.IsNull() == fits || fits && len(v.B) != limitPacket || (len(w) == 0) != fits {
			t.Errorf("%s: %d bytes, warnings %v, %v", text, len(v.B), w, err)
		}
	}
}

// TestDocumentDepth: JSON_ARRAYAGG and JSON_OBJECTAGG refuse a member that would be too deep.
func TestDocumentDepth(t *testing.T) {
	x := newBinder()
	x.names, x.types = map[string]int{"j": 0}, []types.Type{{ID: types.TypeJSON, Coll: types.Utf8mb4Bin}}
	for _, a := range []aggText{{name: "json_arrayagg", args: []string{"j"}}, {name: "json_objectagg", args: []string{"'k'", "j"}}} {
		spec := a.build(t, x)
		for depth, want := range map[int]uint16{99: 0, 100: types.ErJSONDocumentTooDeep} {
			doc := strings.Repeat("[", depth) + strings.Repeat("]", depth)
			s := spec.NewStates()
			s.Grow(1)
			err := s.Add(x.newContext(), 0, []types.Value{types.JSON([]byte(doc))})
			var refused *types.Error
			if errors.As(err, &refused) != (want != 0) || want != 0 && refused.Number != want {
				t.Errorf("%s of depth %d: %v", a.name, depth, err)
			}
		}
	}
}

// TestManyMembers: objects of many members are made and merged in about the time that sorting takes; what they hold is what maps do.
func TestManyMembers(t *testing.T) {
	const members = 60_000
	r := testkit.Rand(testkit.Seed(t), 1)
	x := newBinder()
	x.names, x.types = map[string]int{"k": 0, "v": 1}, []types.Type{{ID: types.TypeVarchar, Coll: types.Utf8mb4Bin, Length: 20}, {ID: types.TypeInt}}
	spec := aggText{name: "json_objectagg", args: []string{"k", "v"}}.build(t, x)
	object := func(from int) (string, map[string]int) {
		s, want := spec.NewStates(), map[string]int{}
		s.Grow(1)
		for i := range members {
			key := strconv.Itoa(from + r.IntN(members))
			want[key] = i
			if err := s.Add(x.newContext(), 0, []types.Value{types.Text(key), types.Int(int64(i))}); err != nil {
				t.Fatal(err)
			}
		}
		v, err := s.Result(x.newContext(), 0)
		if err != nil {
			t.Fatal(err)
		}
		return string(v.B), want
	}
	docs := newBinder()
	docs.names, docs.types = map[string]int{"a": 0, "b": 1}, []types.Type{{ID: types.TypeJSON, Coll: types.Utf8mb4Bin}, {ID: types.TypeJSON, Coll: types.Utf8mb4Bin}}
	merge := func(text, a, b string) string {
		t.Helper()
		e, err := docs.parse(text)
		if err != nil {
			t.Fatal(err)
		}
		v, err := e.Eval(docs.newContext(), []types.Value{types.JSON([]byte(a)), types.JSON([]byte(b))})
		if err != nil {
			t.Fatal(err)
		}
		return string(v.B)
	}
	same := func(what, text string, want any) {
		t.Helper()
		normal, message, _, _ := types.ParseJSON(nil, []byte(text))
		if message != "" || string(normal) != text {
			t.Errorf("%s is not in order: %s", what, message)
		}
		var got any
		if err := json.Unmarshal([]byte(text), &got); err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		b, err := json.Marshal(want)
		if err != nil {
			t.Fatal(err)
		}
		var wanted any
		if err := json.Unmarshal(b, &wanted); err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(got, wanted) {
			t.Errorf("%s differs from the model", what)
		}
	}
	a, aWant := object(0)
	b, bWant := object(members / 2)
	same("JSON_OBJECTAGG", a, aWant)
	patched, preserved := maps.Clone(aWant), map[string]any{}
	maps.Copy(patched, bWant)
	for k, v := range patched {
		preserved[k] = v
		if old, ok := aWant[k]; ok {
			if later, ok := bWant[k]; ok {
				preserved[k] = []int{old, later}
			}
		}
	}
	same("JSON_MERGE_PATCH", merge("JSON_MERGE_PATCH(a, b)", a, b), patched)
	same("JSON_MERGE_PRESERVE", merge("JSON_MERGE_PRESERVE(a, b)", a, b), preserved)
	for key := range bWant {
		delete(aWant, key)
	}
	nulls := regexp.MustCompile(`: [0-9]+`).ReplaceAllString(b, ": null")
	same("JSON_MERGE_PATCH with nulls", merge("JSON_MERGE_PATCH(a, b)", a, nulls), aWant)
}

// TestConcatMemory: the memory of CONCAT is proportional to its result, not to the sum of its prefixes, and a short one allocates nothing.
func TestConcatMemory(t *testing.T) {
	text := "CONCAT('x'" + strings.Repeat(", REPEAT('x', 1000)", 1000) + ")"
	v, _, allocated, err := measure(t, text)
	if err != nil || len(v.B) != 1_000_001 {
		t.Errorf("%d bytes, %v", len(v.B), err)
	}
	if allocated > 24*limitPacket {
		t.Errorf("%d bytes were allocated", allocated)
	}
	x := newBinder()
	x.b.NoFold = true
	e, err := x.parse("CONCAT('abc', 1.5, 'def', -12, 'ghi')")
	if err != nil {
		t.Fatal(err)
	}
	ctx := x.newContext()
	if n := testing.AllocsPerRun(100, func() {
		ctx.ResetArena()
		if v, err = e.Eval(ctx, nil); err != nil || string(v.B) != "abc1.5def-12ghi" {
			t.Fatal(string(v.B), err)
		}
	}); n != 0 && !raceEnabled {
		t.Errorf("%v allocations", n)
	}
}

// TestSearchPolls: KILL ends a search in documents and texts that is under way.
func TestSearchPolls(t *testing.T) {
	const numbers, texts = "CONCAT('[', REPEAT('1, ', 10000), '1]')", "CONCAT('[', REPEAT('\"x\", ', 10000), '\"y\"]')"
	for _, text := range []string{
		"JSON_LENGTH(JSON_EXTRACT(" + numbers + ", '$**[0]'))",
		"JSON_OVERLAPS(" + numbers + ", REPLACE(" + numbers + ", '1', '2'))",
		"JSON_OVERLAPS(" + numbers + ", " + texts + ")",
		"JSON_CONTAINS(" + texts + ", REPLACE(" + texts + ", 'x', 'y'))",
		"JSON_CONTAINS(CONCAT('[', REPEAT('[[1], [2]], ', 60000), '0]'), '[[[3]]]')",
		"REGEXP_LIKE(REPEAT('a', 1000000), '(?>a*)x')", "REGEXP_LIKE(REPEAT('a', 1000000), '(?=(a*+x))b')", "REGEXP_REPLACE(REPEAT('a', 1000000), 'a', 'b')",
		"REPEAT('a', 1000000) LIKE CONCAT('%', REPEAT('a', 100000), '_b%')", "LOCATE(CONCAT(REPEAT('a', 100000), 'b'), REPEAT('a', 1000000))",
		"FIND_IN_SET('b', REPEAT('a,', 500000))",
		"UPPER(REPEAT('é', 1000000))", "LOWER(REPEAT('A', 2000000))", "REVERSE(REPEAT('é', 1000000))", "REPLACE(REPEAT('a', 1000000), 'a', 'b')",
		"CONVERT(REPEAT('é', 1000000) USING utf16)", "CAST(REPEAT('é', 1000000) AS CHAR CHARACTER SET utf16)", "REGEXP_INSTR(REPEAT('é', 1000000), '^b')",
		"REPEAT('é', 1000000) = REPEAT('É', 1000000)", "STRCMP(REPEAT('é', 1000000), REPEAT('É', 1000000))", "REPEAT('é', 1000000) IN (REPEAT('É', 1000000), 'b')",
		"'b' BETWEEN 'a' AND GREATEST(REPEAT('é', 1000000), REPEAT('É', 1000000))", "FIELD(REPEAT('é', 1000000), REPEAT('É', 1000000))",
		"NULLIF(REPEAT('é', 1000000), REPEAT('É', 1000000))", "'b' LIKE REPEAT('é', 1000000)", "STR_TO_DATE(REPEAT('1', 1000000), REPEAT('%w', 500000))",
		"UNHEX(REPEAT('ab', 1000000))", "TO_BASE64(REPEAT('a', 1000000))", "FROM_BASE64(REPEAT('aaaa', 500000))", "MD5(REPEAT('a', 2000000))", "SHA1(REPEAT('a', 2000000))",
		"SHA2(REPEAT('a', 2000000), 512)", "AES_ENCRYPT(REPEAT('a', 1000000), 'k')", "AES_DECRYPT(REPEAT('a', 1000000), 'k')", "COMPRESS(REPEAT('a', 2000000))",
		"REPEAT('1', 100000) + 0 + REPEAT('1', 100000) + REPEAT('1', 100000)", "REPEAT('1', 100000) | REPEAT('1', 100000) | REPEAT('1', 100000)",
	} {
		x := newBinder()
		x.b.NoFold = true
		e, err := x.parse(text)
		if err != nil {
			t.Fatal(err)
		}
		ctx, killed, polls := x.newContext(), errors.New("killed"), 0
		ctx.Poll = func() error {
			if polls++; polls > 4 {
				return killed
			}
			return nil
		}
		ctx.Context.Poll = ctx.Poll
		if _, err := e.Eval(ctx, nil); !errors.Is(err, killed) {
			t.Errorf("%s: %d polls, %v", text, polls, err)
		}
	}
}

// TestMessagesTakeNoText: a message that shows the beginning of a long text copies no more of it.
func TestMessagesTakeNoText(t *testing.T) {
	const text, textBytes = "REPEAT('a', 1000000)", 1_000_000
	for _, call := range []string{
		"CAST(" + text + " AS SIGNED)", "CAST(" + text + " AS DATE)", text + " + 0.0", "TIMEDIFF(" + text + ", '1')", "STR_TO_DATE(" + text + ", '%Y')",
		"CONVERT_TZ('2000-01-01', " + text + ", " + text + ")", "BIN_TO_UUID(" + text + ")",
		"CONV(REPEAT('1', 1000000), 10, 2)", "BIN(REPEAT('0', 1000000))", "OCT(REPEAT('1', 1000000))", "INET6_ATON(" + text + ")", "IS_IPV6(" + text + ")",
		"UNHEX(REPEAT('g', 1000001))", "CAST(" + text + " AS DOUBLE)", "CAST(REPEAT('1', 1000000) AS DOUBLE)",
	} {
		if _, _, allocated, _ := measure(t, call); allocated > 5*textBytes {
			t.Errorf("%s: %d bytes were allocated", call, allocated)
		}
	}
}

// TestCompressCounts: the memory in which COMPRESS gathers its result is counted before it is taken, and given back.
func TestCompressCounts(t *testing.T) {
	x := newBinder()
	x.b.NoFold = true
	x.names, x.types = map[string]int{"c": 0}, []types.Type{{ID: types.TypeLongBlob, Coll: types.Binary, Length: -1}}
	e, err := x.parse("LENGTH(COMPRESS(c))")
	if err != nil {
		t.Fatal(err)
	}
	r := testkit.Rand(testkit.Seed(t), 1)
	noise := make([]byte, 4<<20)
	for i := range noise {
		noise[i] = byte(r.Uint32())
	}
	ctx, enough := x.newContext(), errors.New("enough")
	var held, most int64
	ctx.Grow = func(n int64) error {
		held += n
		most = max(most, held)
		return nil
	}
	if v, err := e.Eval(ctx, []types.Value{types.Bytes(noise)}); err != nil || v.N < int64(len(noise)) || most < v.N {
		t.Errorf("%v of %d counted, %v", v, most, err)
	}
	if ctx.ResetArena(); held != 0 {
		t.Errorf("%d bytes are left", held)
	}
	ctx.Grow = func(n int64) error {
		if held += n; held > 1<<20 {
			return enough
		}
		return nil
	}
	if _, err := e.Eval(ctx, []types.Value{types.Bytes(noise)}); !errors.Is(err, enough) {
		t.Error(err)
	}
}

// TestDocumentsTakeNoTrees: functions for which a scan of the text suffices take a few times its memory, and those that need a tree count it.
func TestDocumentsTakeNoTrees(t *testing.T) {
	const document = "CONCAT('[', REPEAT('1,', 100000), '1]')"
	const object = "CONCAT('{\"a\": ', REPEAT('[1,', 10), '2', REPEAT(']', 10), ', \"b\": ', " + document + ", '}')"
	const textBytes = 300_000
	for _, text := range []string{
		"JSON_LENGTH(" + document + ")", "JSON_VALID(" + document + ")", "JSON_TYPE(" + document + ")", "JSON_DEPTH(" + document + ")",
		"JSON_EXTRACT(" + document + ", '$[77]')", "JSON_EXTRACT(" + document + ", '$[last]')", "JSON_EXTRACT(" + object + ", '$.b[last-1]')",
		"JSON_KEYS(" + object + ")", "JSON_CONTAINS_PATH(" + object + ", 'one', '$.c')", "JSON_PRETTY(" + object + ")",
		"JSON_SET(" + object + ", '$.a[0]', 1)", "JSON_OBJECT('k', CAST(" + document + " AS JSON))", "JSON_UNQUOTE(" + document + ")",
		"CAST(" + document + " AS JSON) = CAST(" + document + " AS JSON)",
	} {
		if _, _, allocated, err := measure(t, text); err != nil || allocated > 24*textBytes {
			t.Errorf("%s: %d bytes were allocated, %v", text, allocated, err)
		}
	}
	for _, text := range []string{"JSON_EXTRACT(" + document + ", '$[*]')", "JSON_CONTAINS(" + document + ", '5')", "JSON_SET(" + document + ", '$[5]', 1)"} {
		x := newBinder()
		x.b.NoFold = true
		e, err := x.parse(text)
		if err != nil {
			t.Fatal(err)
		}
		ctx, want := x.newContext(), errors.New("enough")
		var held, most int64
		ctx.Grow = func(n int64) error {
			if held += n; held > most {
				most = held
			}
			return nil
		}
		if _, err := e.Eval(ctx, nil); err != nil || most < 100_000*64 {
			t.Errorf("%s: %d bytes were counted for a tree, %v", text, most, err)
		}
		if ctx.ResetArena(); held != 0 {
			t.Errorf("%s: %d bytes are left", text, held)
		}
		ctx = x.newContext()
		ctx.Grow = func(n int64) error {
			if held += n; held > 4<<20 {
				return want
			}
			return nil
		}
		if _, err := e.Eval(ctx, nil); !errors.Is(err, want) {
			t.Errorf("%s: beyond the quota: %v", text, err)
		}
		held = 0
	}
}

// TestSchemaInterrupt: requirements that look for many names in a large object, or compare a large value with many, can be ended.
func TestSchemaInterrupt(t *testing.T) {
	const members = 600
	var names, object, needs []string
	for i := range members {
		key := strconv.Quote("member" + strconv.Itoa(i))
		names, object, needs = append(names, key), append(object, key+": 1"), append(needs, key+": []")
	}
	text := "{" + strings.Join(object, ", ") + "}"
	for _, c := range []struct{ schema, document string }{
		{`{"required": [` + strings.Join(names, ", ") + `]}`, text},
		{`{"dependencies": {` + strings.Join(needs, ", ") + `}}`, text},
		{`{"enum": [` + strings.Join(names, ", ") + `]}`, strconv.Quote(strings.Repeat("m", len(text)))},
		{`{"items": {"$ref": "#/definitions/x"}, "definitions": {` + strings.Join(needs, ", ") + `, "x": {}}}`, "[" + strings.Repeat("1, ", members) + "1]"},
		{`{"allOf": [` + strings.Repeat(`{"minLength": 1}, `, members) + `{}]}`, strconv.Quote(strings.Repeat("m", len(text)))},
	} {
		x := newBinder()
		x.names, x.types = map[string]int{"s": 0, "d": 1}, []types.Type{{ID: types.TypeJSON, Coll: types.Utf8mb4Bin}, {ID: types.TypeJSON, Coll: types.Utf8mb4Bin}}
		e, err := x.parse("JSON_SCHEMA_VALID(s, d)")
		if err != nil {
			t.Fatal(err)
		}
		row := []types.Value{types.JSON([]byte(c.schema)), types.JSON([]byte(c.document))}
		polls, killed := 0, types.Errorf(types.ErQueryInterrupted)
		ctx := x.newContext()
		ctx.Poll = func() error { polls++; return nil }
		if v, err := e.Eval(ctx, row); err != nil || (v.N == 0) != strings.Contains(c.schema, "enum") {
			t.Errorf("%.20s: %v, %v", c.schema, v, err)
		}
		if least := members * len(text) / (128 << 10); polls < least {
			t.Errorf("%.20s: %d polls, of at least %d", c.schema, polls, least)
		}
		left := polls / 2
		ctx.Poll = func() error {
			if left--; left < 0 {
				return killed
			}
			return nil
		}
		if _, err := e.Eval(ctx, row); !errors.Is(err, killed) {
			t.Errorf("%.20s: %v", c.schema, err)
		}
	}
}

// TestSchemaMemory: what a validation holds besides its documents is counted: patterns that it has compiled, and the paths of a report. Long names and
// references cost no more than their documents where there is no report, however deep they are.
func TestSchemaMemory(t *testing.T) {
	for _, text := range []string{
		`JSON_SCHEMA_VALID(CONCAT('{"$ref": "#', REPEAT('/', 400000), '"}'), '1')`,
		`JSON_SCHEMA_VALID(CONCAT('{"', REPEAT('k', 300000), '": {"items": {"$ref": "#/', REPEAT('k', 300000), '"}}, "$ref": "#/', REPEAT('k', 300000), '"}'),
			CONCAT(REPEAT('[', 40), REPEAT(']', 40)))`,
		`JSON_SCHEMA_VALID('{"additionalProperties": {}}', CONCAT('{"', REPEAT('%', 900000), '": 1}'))`,
	} {
		if v, _, allocated, err := measure(t, text); err != nil || v.N != 1 || allocated > 24*limitPacket {
			t.Errorf("%.60s: %v, %v, %d bytes allocated", text, v, err, allocated)
		}
	}
	patterns := make([]string, 5000)
	for i := range patterns {
		patterns[i] = `"a` + strconv.Itoa(i) + `": {}`
	}
	wide := make([]string, 300)
	for i := range wide {
		wide[i] = `{"pattern": "^[\\\\w\\\\p{N}]|` + strconv.Itoa(i) + `"}`
	}
	for _, text := range []string{
		`JSON_SCHEMA_VALID('{"patternProperties": {` + strings.Join(patterns, ", ") + `}}', '{"b": 1}')`,
		// a text that is counted and given back in between
		`JSON_SCHEMA_VALID('{"allOf": [` + strings.Join(wide, ", ") + `]}', CONCAT('"', REPEAT('a', 30000), '"'))`,
		`JSON_SCHEMA_VALIDATION_REPORT('{"additionalProperties": false}', CONCAT('{"', REPEAT('%', 900000), '": 1}'))`,
	} {
		x := newBinder()
		x.b.NoFold = true
		e, err := x.parse(text)
		if err != nil {
			t.Fatal(err)
		}
		ctx, held := x.newContext(), int64(0)
		refused := types.Errorf(types.ErOutOfResources)
		ctx.Grow = func(n int64) error {
			if held += n; held > 4<<20 {
				return refused
			}
			return nil
		}
		if v, err := e.Eval(ctx, nil); !errors.Is(err, refused) {
			t.Errorf("%.60s: %.60v, %v", text, v, err)
		}
	}
}

// TestXPathConcatMemory: what nested concat() of XPath hold at one time is counted, although each of them is shorter than a packet.
func TestXPathConcatMemory(t *testing.T) {
	x := newBinder()
	x.b.NoFold = true
	path := "/a"
	for range 20 {
		path = "concat(/a, " + path + ")"
	}
	e, err := x.parse("LENGTH(EXTRACTVALUE(CONCAT('<a>', REPEAT('a', 100000), '</a>'), '" + path + "'))")
	if err != nil {
		t.Fatal(err)
	}
	for limit, full := range map[int64]bool{1 << 20: true, 1 << 30: false} {
		ctx, held := x.newContext(), int64(0)
		refused := types.Errorf(types.ErOutOfResources)
		ctx.Grow = func(n int64) error {
			if held += n; held > limit {
				return refused
			}
			return nil
		}
		v, err := e.Eval(ctx, nil)
		if full != errors.Is(err, refused) || !full && (err != nil || v.N != 2_100_000) {
			t.Errorf("with %d bytes: %d, %v", limit, v.N, err)
		}
		if ctx.ResetArena(); err == nil && held != 0 {
			t.Errorf("%d bytes are still counted", held)
		}
	}
}

// TestShortUUIDsOfProcesses: a process that starts a moment after the end of another one, which had made many numbers, repeats none of them, and
// leaves room for the number of the server.
func TestShortUUIDsOfProcesses(t *testing.T) {
	for _, start := range []time.Time{time.Unix(1_700_000_000, 0), time.Unix(1_700_000_000, 1), time.Unix(1_700_000_000, 999_999_999)} {
		for _, uptime := range []time.Duration{time.Millisecond, time.Second, time.Hour} {
			const perSecond = 10_000_000
			last := expr.ShortUUIDStart(start) + uint64(uptime.Seconds()*perSecond)
			if next := expr.ShortUUIDStart(start.Add(uptime)); next <= last || next >= 1<<56 {
				t.Errorf("%x after %x and %s", next, last, uptime)
			}
		}
	}
}

// TestUUIDShort: numbers of UUID_SHORT are not repeated, however many there are in a second, and fit a BIGINT.
func TestUUIDShort(t *testing.T) {
	x := newBinder()
	e, err := x.parse("UUID_SHORT()")
	if err != nil {
		t.Fatal(err)
	}
	ctx, last := x.newContext(), int64(0)
	for range 100_000 {
		v, err := e.Eval(ctx, nil)
		if err != nil || v.K != types.KindUint || v.N <= last {
			t.Fatalf("%d after %d, %v", v.Uint64(), last, err)
		}
		last = v.N
	}
}
