package main

import (
	"bufio"
	"context"
	"database/sql"
	"fmt"
	"strings"
)

// czech is of which letters texts are made for the collations with several passes.
const czech = "aAbBcChH -.1 zZ"

// digests writes digests (the beginning of SHA-256) of what MySQL says of every character of the sets of charsets.go. TestCharsetDigests of package types makes the
// same texts.
func digests(ctx context.Context, conn *sql.Conn, out *bufio.Writer) error {
	r := &charsetRecorder{ctx: ctx, conn: conn}
	r.prepare()
	fmt.Fprint(out, "# Digests (the beginning of SHA-256) of MySQL's answers about every character, written by tests/dictionary/record; TestCharsetDigests says what is digested.\n")
	digest := func(name, expression, numbers string) {
		fmt.Fprintln(out, name, r.answer("SELECT LEFT(SHA2(GROUP_CONCAT("+expression+" ORDER BY n), 256), 32) FROM ("+numbers+") r"))
	}
	hex := func(c string, functions ...string) string {
		parts := []string{"HEX(" + c + ")"}
		for _, f := range functions {
			parts = append(parts, "HEX("+fmt.Sprintf(f, c)+")")
		}
		return "CONCAT_WS(':', " + strings.Join(parts, ", ") + ")"
	}
	const points = " WHERE n NOT BETWEEN 0xD800 AND 0xDFFF"
	for _, charset := range []string{"gbk", "big5", "gb18030"} {
		c := code(charset)
		digest(charset+" codes", hex(c, "CONVERT(%s USING utf32)", "LOWER(%s)", "UPPER(%s)", "WEIGHT_STRING(%s)"),
			"SELECT n FROM ("+series(0x8140, 0xFEFE)+") s WHERE LENGTH("+c+") = 2")
		digest(charset+" points", hex(text(charset), "LOWER(%s)", "UPPER(%s)", "WEIGHT_STRING(%s)"), "SELECT n FROM ("+series(1, 0x2FFFF)+") s"+points)
	}
	digest("gb18030 unicode", hex(text("gb18030"), "WEIGHT_STRING(%s COLLATE gb18030_unicode_520_ci)"), "SELECT n FROM ("+series(1, 0x2FFFF)+") s"+points)
	digest("tis620 codes", hex("CONVERT(CHAR(n) USING tis620)", "CONVERT(%s USING utf32)", "LOWER(%s)", "UPPER(%s)", "WEIGHT_STRING(%s)"), series(0, 255))
	digest("tis620 points", hex(text("tis620")), "SELECT n FROM ("+series(1, 0xFFFF)+") s"+points)
	digest("tis620 texts", hex("CONVERT(UNHEX(LEFT(SHA2(n, 256), n % 40 * 2)) USING tis620)", "WEIGHT_STRING(%s)"), series(0, 5000))
	digest("latin1_german2_ci", hex("CONVERT(CHAR(n) USING latin1)", "WEIGHT_STRING(%s COLLATE latin1_german2_ci)"), series(0, 255))
	for _, collation := range []string{"latin2_czech_cs", "cp1250_czech_cs"} {
		charset := charsetOf(collation)
		pairs := "CONVERT(UNHEX(LPAD(HEX(n), 4, '0')) USING " + charset + ")"
		digest(collation+" pairs", hex(pairs, "WEIGHT_STRING(%s COLLATE "+collation+")"), series(0, 0xFFFF))
		chars := func(n string) string {
			parts := make([]string, 6)
			for i := range parts {
				parts[i] = fmt.Sprintf("SUBSTRING('%s', (%s * %d >> %d) %% %d + 1, 1)", czech, n, 7919+2*i, i, len(czech))
			}
			return "CONVERT(CONCAT(" + strings.Join(parts, ", ") + ") USING " + charset + ") COLLATE " + collation
		}
		digest(collation+" texts", hex(chars("n"), "WEIGHT_STRING(%s)"), series(0, 20000))
		digest(collation+" order", "STRCMP("+chars("n")+", "+chars("(n + 1)")+")", series(0, 20000))
	}
	for _, collation := range []string{"utf8mb3_tolower_ci", "utf8mb3_general_mysql500_ci", "ucs2_general_mysql500_ci"} {
		digest(collation, hex(text(charsetOf(collation)), "WEIGHT_STRING(%s COLLATE "+collation+")"), "SELECT n FROM ("+series(1, 0xFFFF)+") s"+points)
	}
	for _, collation := range []string{"gbk_chinese_ci", "gbk_bin", "big5_chinese_ci", "big5_bin", "gb18030_chinese_ci", "gb18030_bin",
		"gb18030_unicode_520_ci", "tis620_thai_ci", "tis620_bin", "latin1_german2_ci"} {
		at := func(n string) string { // a text of three characters
			chars := make([]string, 3)
			for i := range chars {
				chars[i] = fmt.Sprintf("LPAD(HEX(%s * %d %% IF(%s %% 2, 55000, 400) + 1), 8, '0')", n, 7919+2*i, n)
			}
			return "CONVERT(CONVERT(UNHEX(CONCAT(" + strings.Join(chars, ", ") + ")) USING utf32) USING " + charsetOf(collation) + ") COLLATE " + collation
		}
		digest(collation+" order", "STRCMP("+at("n")+", "+at("(n + 2)")+")", series(0, 20000))
	}
	return r.err
}
