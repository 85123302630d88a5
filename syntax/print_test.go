package syntax

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// corpus returns the statements of testdata/*.sql, one a line, by file:line.
func corpus(t testing.TB) (names, texts []string) {
	files, err := filepath.Glob("testdata/*.sql")
	if err != nil || len(files) == 0 {
		t.Fatalf("no corpus: %v", err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for i, line := range strings.Split(string(data), "\n") {
			if line == "" || strings.HasPrefix(line, "-- ") {
				continue
			}
			names = append(names, fmt.Sprintf("%s:%d", filepath.Base(file), i+1))
			texts = append(texts, line)
		}
	}
	return names, texts
}

// normToken is a token after the normalisation below.
type normToken struct {
	text  string
	exact bool // The case of the text matters: a string.
}

// normalTokens lexes a statement and applies the listed normalisation, which is
// all that printing may change:
//
//  1. AS is dropped: the printer always writes it before aliases.
//  2. A name is its text, quoted or not, and may be written as a string where
//     the grammar takes either (aliases, accounts, character sets, engines).
//     The case of words does not matter.
//  3. != is <>, && is AND, || is OR, := is = (all but the first print as the
//     latter), infix MOD is %, CHARSET and CHAR SET are CHARACTER SET.
//  4. 0x41 and x'41', 0b1 and b'1' are the same; adjacent strings join.
//  5. MEMBER (x) is MEMBER OF (x); DATABASE is SCHEMA.
//  6. The comma before PARTITION BY and REMOVE PARTITIONING is dropped.
//  7. A final semicolon is dropped.
func normalTokens(t testing.TB, sql string) []normToken {
	var opt Options
	var l lexer
	l.init(sql, &opt)
	var out []normToken
	prevString := false
	for {
		tok := l.next()
		if tok.kind == tEOF {
			break
		}
		n := normToken{text: sql[tok.pos:tok.end]}
		isString := false
		switch tok.kind {
		case tIllegal:
			t.Fatalf("illegal token in %q at %d", sql, tok.pos)
		case tString:
			n.text, n.exact, isString = stringValue(sql, tok, 0, escapes{}), true, true
			if prevString {
				out[len(out)-1].text += n.text
				continue
			}
		case tNString:
			n.text, n.exact, isString = "N'"+stringValue(sql, tok, 1, escapes{}), true, true
		case tQuoted:
			n.text = quotedName(sql, tok, 0)
		case tUserVar:
			n.text = "@" + userVarName(sql, tok, escapes{})
		case tHex:
			n.text = "x'" + digitsOf(sql, tok)
		case tBit:
			n.text = "b'" + digitsOf(sql, tok)
		case tNe:
			n.text = "<>"
		case tAndAnd:
			n.text = "AND"
		case tOrOr:
			n.text = "OR"
		case tAssign:
			n.text = "="
		case tWord:
			n.text = normalWord(&l, tok, n.text)
		}
		prevString = isString
		if n.text == "" && !isString {
			continue
		}
		if k := len(out); k > 0 && out[k-1].text == "," && (strings.EqualFold(n.text, "PARTITION") ||
			strings.EqualFold(n.text, "REMOVE")) && strings.HasPrefix(strings.ToLower(sql), "alter") {
			out = out[:k-1]
		}
		out = append(out, n)
	}
	if k := len(out); k > 0 && out[k-1].text == ";" {
		out = out[:k-1]
	}
	return out
}

// normalWord applies the normalisation of words; "" drops the word.
func normalWord(l *lexer, tok token, text string) string {
	rest := strings.TrimLeft(l.text[tok.end:], " ")
	upper := strings.ToUpper(text)
	switch {
	case upper == "AS", upper == "OF" && strings.HasPrefix(rest, "("):
		return ""
	case upper == "CHARSET":
		return "CHARACTERSET"
	case (upper == "CHARACTER" || upper == "CHAR") && strings.HasPrefix(strings.ToUpper(rest), "SET"):
		l.next()
		return "CHARACTERSET"
	case upper == "MOD" && !strings.HasPrefix(rest, "("):
		return "%"
	case upper == "DATABASE":
		return "SCHEMA"
	}
	return text
}

// diffTokens describes the first difference of two token lists, or "".
func diffTokens(a, b []normToken) string {
	for i := 0; i < max(len(a), len(b)); i++ {
		switch {
		case i >= len(a):
			return fmt.Sprintf("added %q", b[i].text)
		case i >= len(b):
			return fmt.Sprintf("lost %q", a[i].text)
		case a[i].exact && b[i].exact && a[i].text != b[i].text, !strings.EqualFold(a[i].text, b[i].text):
			return fmt.Sprintf("token %d: %q became %q", i, a[i].text, b[i].text)
		}
	}
	return ""
}

// TestPrintTokenForToken checks that no clause of any statement of the corpus
// is dropped, and that printing is a fixed point.
func TestPrintTokenForToken(t *testing.T) {
	names, texts := corpus(t)
	if len(texts) < 300 {
		t.Fatalf("the corpus shrank to %d statements", len(texts))
	}
	for i, sql := range texts {
		stmt, rest, err := Parse(sql, Options{})
		if err != nil {
			t.Errorf("%s: %s\n\t%v", names[i], sql, err)
			continue
		}
		if strings.TrimSpace(rest) != "" {
			t.Errorf("%s: %s\n\trest %q", names[i], sql, rest)
		}
		printed := String(stmt)
		again, _, err := Parse(printed, Options{})
		if err != nil {
			t.Errorf("%s: %s\n\tprinted as %s\n\t%v", names[i], sql, printed, err)
			continue
		}
		if d := diffTokens(normalTokens(t, sql), normalTokens(t, printed)); d != "" {
			t.Errorf("%s: %s\n\tprinted as %s\n\t%s", names[i], sql, printed, d)
		}
		if twice := String(again); twice != printed {
			t.Errorf("%s: printed as %s\n\tthen as    %s", names[i], printed, twice)
		}
	}
}

// TestGrammarSample checks that no statement of grammar_sample.sql is missing.
func TestGrammarSample(t *testing.T) {
	names, _ := corpus(t)
	n := 0
	for _, name := range names {
		if strings.HasPrefix(name, "grammar_sample.sql:") {
			n++
		}
	}
	if n != 98 {
		t.Fatalf("%d statements of the grammar sample, want 98", n)
	}
}

// TestComparerCanary checks that the token comparer notices dropped clauses.
func TestComparerCanary(t *testing.T) {
	stmt, _, err := Parse("select distinct a from t use index (i) where b = 'x' order by c desc limit 3 for update",
		Options{})
	if err != nil {
		t.Fatal(err)
	}
	whole := String(stmt)
	q := stmt.(*Query)
	s := q.Body.(*Select)
	canaries := []struct {
		name string
		drop func()
	}{
		{"limit", func() { q.Limit = nil }},
		{"lock", func() { q.Locks = nil }},
		{"direction", func() { q.OrderBy[0].Order = OrderDefault }},
		{"where", func() { s.Where = nil }},
		{"hint", func() { s.From.(*TableRef).Hints = nil }},
		{"distinct", func() { s.Distinct = DistinctDefault }},
	}
	before := whole
	for _, c := range canaries {
		c.drop()
		after := String(stmt)
		if diffTokens(normalTokens(t, before), normalTokens(t, after)) == "" {
			t.Errorf("dropping %s went unnoticed", c.name)
		}
		before = after
	}
	if diffTokens(normalTokens(t, "select 'a'"), normalTokens(t, "select 'A'")) == "" {
		t.Error("a changed string went unnoticed")
	}
}
