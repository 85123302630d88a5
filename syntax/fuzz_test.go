package syntax

import (
	"errors"
	"strings"
	"testing"
)

// FuzzParse checks that no text makes the parser panic or return another error than
// *Error, that printing an accepted tree is a fixed point, and that the normalised
// text means the same.
func FuzzParse(f *testing.F) {
	_, texts := corpus(f)
	for _, sql := range texts {
		f.Add(sql, uint8(0))
		f.Add(sql, uint8(0x1f))
	}
	f.Fuzz(func(t *testing.T, sql string, modes uint8) {
		opt := Options{
			ANSIQuotes: modes&1 != 0, PipesAsConcat: modes&2 != 0, NoBackslashEscapes: modes&4 != 0,
			HighNotPrecedence: modes&8 != 0, IgnoreSpace: modes&16 != 0,
		}
		Digest(sql, opt)
		var n Normalized
		if Normalize(sql, opt, &n) {
			for i := range n.Literals {
				n.Value(i)
			}
		}
		stmt, rest, err := Parse(sql, opt)
		if err != nil {
			var e *Error
			if !errors.As(err, &e) || e.Code == 0 || int(e.Pos) > len(sql) {
				t.Fatalf("bad error %#v", err)
			}
			return
		}
		if !strings.HasSuffix(sql, rest) {
			t.Fatalf("rest %q is not the end of the text", rest)
		}
		printed := String(stmt) // for the default sql_mode
		stmt2, _, err := Parse(printed, Options{})
		if err != nil {
			t.Fatalf("%q\nprints as %q\n%v", sql, printed, err)
		}
		if twice := String(stmt2); twice != printed {
			t.Fatalf("%q\nprints as %q\nthen as   %q", sql, printed, twice)
		}
	})
}

// TestLimits checks that texts built to exhaust the parser are refused with the
// right number, and that ordinary large ones are not.
func TestLimits(t *testing.T) {
	deep := func(open, middle, closing string, n int) string {
		return strings.Repeat(open, n) + middle + strings.Repeat(closing, n)
	}
	const many = 1_000_000
	cases := []struct {
		name string
		sql  string
		code int
	}{
		{"parentheses", "select " + deep("(", "1", ")", many), CodeTooDeep},
		{"shallow parentheses", "select " + deep("(", "1", ")", 300), 0},
		{"not", "select " + strings.Repeat("not ", many) + "1", CodeTooDeep},
		{"minus", "select " + strings.Repeat("- ", many) + "1", CodeTooDeep},
		{"chain", "select 1" + strings.Repeat("+1", many), CodeTooDeep},
		{"long chain", "select 1 from t where " + strings.Repeat("a=1 or ", 20000) + "b=2", 0},
		{"calls", "select " + deep("f(", "1", ")", many), CodeTooDeep},
		{"case", "select " + deep("case when ", "1", " then 1 end", many), CodeTooDeep},
		{"subqueries", deep("select (", "select 1", ")", many), CodeTooDeep},
		{"queries", deep("(", "select 1", ")", many), CodeTooDeep},
		{"unions", "select 1" + strings.Repeat(" union select 1", many), CodeTooDeep},
		{"derived", "select * from " + deep("(", "t", ")", many), CodeTooDeep},
		{"joins", "select * from t" + strings.Repeat(" join t", many), CodeTooDeep},
		{"commas", "select * from t" + strings.Repeat(", t", many), CodeTooDeep},
		{"between", "select " + strings.Repeat("1 between 1 and ", many) + "1", CodeTooDeep},
		{"interval", "select a + " + strings.Repeat("interval ", many), CodeTooDeep},
		{"assignments", "select " + strings.Repeat("@a := ", many) + "1", CodeTooDeep},
		{"blocks", "create procedure p() " + strings.Repeat("begin ", many), CodeTooDeep},
		{"handlers", "create procedure p() " + strings.Repeat("declare exit handler for 1 ", many), CodeTooDeep},
		{"ctes", "with a as (" + strings.Repeat("with a as (", many), CodeTooDeep},
		{"explain", strings.Repeat("explain ", many), CodeParse},
		{"params", "select " + strings.Repeat("?,", paramsMax) + "?", CodeTooManyParams},
		{"most params", "select " + strings.Repeat("?,", paramsMax-1) + "?", 0},
		{"name", "select " + strings.Repeat("é", identCharsMax+1) + " from t", CodeTooLongIdent},
		{"longest name", "select " + strings.Repeat("é", identCharsMax) + " from t", 0},
	}
	for _, c := range cases {
		stmt, _, err := Parse(c.sql, Options{})
		var e *Error
		switch {
		case err == nil && c.code == 0:
			_ = String(stmt)
		case !errors.As(err, &e) || e.Code != c.code:
			t.Errorf("%s: got %.80v, want number %d", c.name, err, c.code)
		}
	}
}

// TestReservedWords checks that the two keyword tables agree.
func TestReservedWords(t *testing.T) {
	for kw, word := range map[keyword]string{
		kwAccessible: "accessible", kwSelect: "SeLeCt", kwZerofill: "ZEROFILL", kwMasterSslVerifyServerCert: "master_ssl_verify_server_cert",
	} {
		if lookupKeyword(word) != kw {
			t.Errorf("%s is not found", word)
		}
	}
	for _, word := range strings.Fields(reservedWords) {
		if !IsReserved(strings.ToLower(word)) {
			t.Errorf("%s is not found", word)
		}
	}
	if IsReserved("sbtest1") || IsReserved("offset") || IsReserved("a") {
		t.Error("a name is taken for a reserved word")
	}
}
