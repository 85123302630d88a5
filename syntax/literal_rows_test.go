package syntax

import (
	"fmt"
	"strings"
	"testing"
)

// TestLiteralRows: LiteralRows of a long list of literals has the same rows as the list parsed into trees.
func TestLiteralRows(t *testing.T) {
	rows := []string{
		"(1, 'a', 0x41)", "(-2, 'it''s', NULL)", "( - 3 ,'\\n\\'', b'101')", "(TRUE,N'x',1.5)", "(FALSE, \"q\", -1.5)", "(4 /* c */,'' , x'4142')",
		"(-123456789012345678,'é',1e3)",
	}
	plain := []string{rows[0], rows[1], rows[3], rows[4], rows[5], rows[6]}
	var text strings.Builder
	text.WriteString("INSERT INTO t VALUES ")
	for i := range 600 {
		if i > 0 {
			text.WriteString(", ")
		}
		text.WriteString(plain[i%len(plain)])
	}
	parse := func(text string) *Insert {
		t.Helper()
		stmt, rest, err := Parse(text, Options{})
		if err != nil || rest != "" {
			t.Fatal(err, rest)
		}
		return stmt.(*Insert)
	}
	long := parse(text.String() + " AS n ON DUPLICATE KEY UPDATE a = n.a")
	if long.Literals == nil || long.Literals.Rows() != 600 || long.Literals.Width != 3 || long.RowAlias != "n" || len(long.OnDup) != 1 {
		t.Fatalf("%+v", long)
	}
	if long.Literals.HasBits(0) || long.Literals.HasBits(1) || !long.Literals.HasBits(2) {
		t.Error("hex and bit literals are elsewhere")
	}
	for i, row := range long.Literals.Exprs() {
		tree := parse("INSERT INTO t VALUES " + plain[i%len(plain)])
		if tree.Literals != nil {
			t.Fatal("a short list")
		}
		got, want := String(&Insert{Rows: [][]Expr{row}}), String(&Insert{Rows: tree.Rows})
		if got != want {
			t.Fatalf("row %d: %s, want %s", i, got, want)
		}
	}
	// A list that is not of literals, or not of one width, is parsed into trees, wherever the first difference is.
	for _, last := range []string{rows[2], "(NOW(), 1, 2)", "(1, 2)", "(1, 'a' 'b', 2)", "(1, _utf8mb4'x', 2)", "(-1234567890123456789, 1, 2)", "(DEFAULT, 1, 2)", "(1, 2, -1e3)", "(1, 2, 3+4)"} {
		s := parse(fmt.Sprintf("%s,%s", &text, last))
		if s.Literals != nil || len(s.Rows) != 601 {
			t.Errorf("%s: %d rows", last, len(s.Rows))
		}
	}
	if _, _, err := Parse(text.String()+",(1,", Options{}); err == nil {
		t.Error("no syntax error")
	}
	if s := parse("INSERT INTO t VALUES ()" + strings.Repeat(",()", 500)); s.Literals != nil || len(s.Rows) != 501 {
		t.Error("rows without values")
	}
}
