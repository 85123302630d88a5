package main

import (
	"bufio"
	"bytes"
	"compress/flate"
	"context"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// charsets writes the tables of the character sets and collations that package types has of its own; types/tables.go describes the file.
// MySQL is asked for every character: what it converts to, its cases and its weights.
func charsets(ctx context.Context, conn *sql.Conn, out *bufio.Writer) error {
	r := &charsetRecorder{ctx: ctx, conn: conn}
	r.prepare()
	r.chinese()
	r.pinyin()
	r.big5()
	for _, name := range []string{"gbk_chinese_ci", "big5_chinese_ci", "gb18030_chinese_ci"} {
		r.numbers(1, r.ask(fmt.Sprintf("SELECT GROUP_CONCAT(HEX(WEIGHT_STRING(CONVERT(CHAR(n) USING %[1]s) COLLATE %[2]s)) ORDER BY n) FROM (%[3]s) r",
			charsetOf(name), name, series(0, 0x7F))))
	}
	for _, name := range []string{"gbk", "big5", "gb18030"} {
		r.cases(name)
	}
	r.single()
	r.czech()
	if r.err != nil {
		return r.err
	}
	w, err := flate.NewWriter(out, flate.BestCompression)
	if err == nil {
		_, err = w.Write(r.tables.Bytes())
	}
	if err == nil {
		err = w.Close()
	}
	return err
}

type charsetRecorder struct {
	ctx    context.Context
	conn   *sql.Conn
	tables bytes.Buffer
	err    error
}

// prepare lets a query count to a million and answer long texts.
func (r *charsetRecorder) prepare() {
	for _, setting := range []string{"SET sql_mode = ''", "SET cte_max_recursion_depth = 2000000", "SET group_concat_max_len = 100000000"} {
		if r.err == nil {
			_, r.err = r.conn.ExecContext(r.ctx, setting)
		}
	}
}

func charsetOf(collation string) string {
	for i := range collation {
		if collation[i] == '_' {
			return collation[:i]
		}
	}
	return collation
}

// series is a query of the numbers from one to another.
func series(from, to int) string {
	return fmt.Sprintf("WITH RECURSIVE r AS (SELECT %d n UNION ALL SELECT n + 1 FROM r WHERE n < %d) SELECT n FROM r", from, to)
}

// text is an expression for the character of code point n in a character set, and code one for the bytes of n.
func text(charset string) string {
	return "CONVERT(CONVERT(UNHEX(LPAD(HEX(n), 8, '0')) USING utf32) USING " + charset + ")"
}

func code(charset string) string {
	return "CONVERT(UNHEX(LPAD(HEX(n), 4, '0')) USING " + charset + ")"
}

// point is an expression for the code point of a character in hexadecimal.
func point(char string) string {
	return "HEX(CONVERT(" + char + " USING utf32))"
}

// ask returns the numbers, in hexadecimal and separated by commas, that a query returns.
func (r *charsetRecorder) ask(query string) (list []uint32) {
	for _, field := range bytes.Split([]byte(r.answer(query)), []byte(",")) {
		var n uint32
		if len(field) > 0 && r.err == nil {
			_, r.err = fmt.Sscanf(string(field), "%x", &n)
		}
		list = append(list, n)
	}
	return list
}

func (r *charsetRecorder) answer(query string) (answer string) {
	if r.err == nil {
		r.err = r.conn.QueryRowContext(r.ctx, query).Scan(&answer)
	}
	return answer
}

// numbers appends numbers of some bytes: the lowest byte of all, then the next of all, which compresses better than number by number.
func (r *charsetRecorder) numbers(bytes int, list []uint32) {
	for b := range bytes {
		for _, n := range list {
			r.tables.WriteByte(byte(n >> (8 * b)))
		}
	}
}

// pairs returns the two-byte codes of a character set in order.
func pairs(leadMin, leadMax int, trail func(c int) bool) (list []uint32) {
	for lead := leadMin; lead <= leadMax; lead++ {
		for c := range 256 {
			if trail(c) {
				list = append(list, uint32(lead<<8|c))
			}
		}
	}
	return list
}

// each asks for an expression over n for each of the codes, which answers in hexadecimal.
func (r *charsetRecorder) each(codes []uint32, expression string) []uint32 {
	all := r.ask("SELECT GROUP_CONCAT(" + expression + " ORDER BY n) FROM (" + series(0x8140, 0xFEFE) + ") r")
	list := make([]uint32, len(codes))
	for i, c := range codes {
		if r.err == nil {
			list[i] = all[c-0x8140]
		}
	}
	return list
}

// known is an expression for the code point of a code in hexadecimal, 0 for a code that is no character.
func known(charset string) string {
	c := code(charset)
	return "IF(" + point(c) + " IN ('', '0000003F'), 0, " + point(c) + ")"
}

// chinese records the two-byte codes of gb18030, those of gbk, which are the same as far as it has them, and the order of gbk_chinese_ci.
func (r *charsetRecorder) chinese() {
	codes := pairs(0x81, 0xFE, func(c int) bool { return c >= 0x40 && c != 0x7F && c != 0xFF })
	points := r.each(codes, known("gb18030"))
	r.numbers(2, points)
	has := r.each(codes, known("gbk"))
	for i, p := range has {
		if p != 0 && p != points[i] && r.err == nil {
			r.err = fmt.Errorf("gbk and gb18030 differ: %X is %X and %X", codes[i], p, points[i])
		}
		has[i] = min(p, 1)
	}
	r.numbers(1, has)
	const first = 0x8100
	order := make([]uint32, len(codes))
	for i, w := range r.each(codes, "COALESCE(HEX(WEIGHT_STRING("+code("gbk")+" COLLATE gbk_chinese_ci)), 0)") {
		if r.err == nil {
			order[w-first] = uint32(i)
		}
	}
	r.numbers(2, order)
}

// pinyin records the Han characters in the order of gb18030_chinese_ci. Their weights are FFA00001, FFA00002 …
func (r *charsetRecorder) pinyin() {
	type han struct{ point, weight uint32 }
	const from, to, first = 0x2E80, 0x2FFFF, 0xFFA00001
	points := "SELECT n FROM (" + series(from, to) + ") s WHERE n NOT BETWEEN 0xD800 AND 0xDFFF"
	var list []han
	for i, w := range r.ask("SELECT GROUP_CONCAT(HEX(WEIGHT_STRING(" + text("gb18030") + ")) ORDER BY n) FROM (" + points + ") r") {
		p := uint32(from + i)
		if p >= 0xD800 {
			p += 0x800
		}
		if w >= first {
			list = append(list, han{p, w})
		}
	}
	slices.SortFunc(list, func(a, b han) int { return int(a.weight) - int(b.weight) })
	r.numbers(2, []uint32{uint32(len(list))})
	order := make([]uint32, len(list))
	for i, h := range list {
		if r.err == nil && h.weight != first+uint32(i) {
			r.err = fmt.Errorf("the weight %X follows %X", h.weight, first+i-1)
		}
		order[i] = h.point
	}
	r.numbers(3, order)
}

// big5 records the two-byte codes of big5, and what WEIGHT_STRING says of them.
func (r *charsetRecorder) big5() {
	codes := pairs(0xA1, 0xF9, func(c int) bool { return c >= 0x40 && c <= 0x7E || c >= 0xA1 && c <= 0xFE })
	r.numbers(2, r.each(codes, known("big5")))
	r.numbers(2, r.each(codes, "COALESCE(HEX(WEIGHT_STRING("+code("big5")+" COLLATE big5_chinese_ci)), 0)"))
}

// cases records the characters that have another letter case: their code points, and those of the lower and of the upper case.
func (r *charsetRecorder) cases(charset string) {
	const marks = "n NOT BETWEEN 0xD800 AND 0xDFFF"
	c := text(charset)
	where := " FROM (SELECT n FROM (" + series(1, 0x1FFFF) + ") s WHERE " + marks + ") r WHERE HEX(LOWER(" + c + ")) <> HEX(" + c + ") OR HEX(UPPER(" + c + ")) <> HEX(" + c + ")"
	from := r.ask("SELECT GROUP_CONCAT(HEX(n) ORDER BY n)" + where)
	r.numbers(2, []uint32{uint32(len(from))})
	r.numbers(3, from)
	for _, f := range []string{"LOWER", "UPPER"} {
		r.numbers(3, r.ask("SELECT GROUP_CONCAT("+point(f+"("+c+")")+" ORDER BY n)"+where))
	}
}

// single records what is known by single bytes: the code points of tis620 and which of its bytes LIKE takes for the same, the one or two weights of
// latin1_german2_ci, and the weights of utf8mb3_tolower_ci where they are not the code points.
func (r *charsetRecorder) single() {
	bytes := series(0, 255)
	r.numbers(2, r.ask("SELECT GROUP_CONCAT("+point("CONVERT(CHAR(n) USING tis620)")+" ORDER BY n) FROM ("+bytes+") r"))
	const char = "CONVERT(CHAR(%s.n) USING tis620)"
	a, b := fmt.Sprintf(char, "a"), fmt.Sprintf(char, "b")
	r.numbers(1, r.ask("SELECT GROUP_CONCAT(HEX(m) ORDER BY n) FROM (SELECT a.n, MIN(b.n) m FROM ("+bytes+") a JOIN ("+bytes+") b ON a.n = b.n OR b.n NOT IN (37, 92, 95) AND "+
		a+" LIKE "+b+" GROUP BY a.n) r"))
	r.numbers(2, r.ask("SELECT GROUP_CONCAT(HEX(WEIGHT_STRING(CONVERT(CHAR(n) USING latin1) COLLATE latin1_german2_ci)) ORDER BY n) FROM ("+bytes+") r"))
	weight := "HEX(WEIGHT_STRING(" + text("utf8mb3") + " COLLATE utf8mb3_tolower_ci))"
	where := " FROM (SELECT n FROM (" + series(1, 0xFFFF) + ") s WHERE n NOT BETWEEN 0xD800 AND 0xDFFF) r WHERE " + weight + " <> LPAD(HEX(n), 4, '0')"
	from := r.ask("SELECT GROUP_CONCAT(HEX(n) ORDER BY n)" + where)
	r.numbers(2, []uint32{uint32(len(from))})
	r.numbers(2, from)
	r.numbers(2, r.ask("SELECT GROUP_CONCAT("+weight+" ORDER BY n)"+where))
}

// czech records the weights of latin2_czech_cs in its four passes and those of cp1250_czech_cs in its two: of each byte, and of ch, Ch and CH. The first
// parts passes by 01, has 00 at the end, and drops spaces there, whose weight is 02; bytes without a weight, here 0, are skipped in a pass.
func (r *charsetRecorder) czech() {
	const letters = "UNION ALL SELECT 256, 'ch' UNION ALL SELECT 257, 'Ch' UNION ALL SELECT 258, 'CH'"
	answers := func(charset, collation string) []string {
		return strings.Split(r.answer("SELECT GROUP_CONCAT(HEX(WEIGHT_STRING(CONVERT(c USING "+charset+") COLLATE "+collation+
			")) ORDER BY n) FROM (SELECT n, CAST(CHAR(n) AS BINARY) c FROM ("+series(0, 255)+") s "+letters+") r"), ",")
	}
	weights := func(charset, collation string, passes int, of func(pass int, answer []byte) byte) {
		list := answers(charset, collation)
		for pass := range passes {
			for _, text := range list {
				raw, err := hex.DecodeString(text)
				r.err = errors.Join(r.err, err)
				if r.err == nil {
					r.tables.WriteByte(of(pass, raw))
				}
			}
		}
	}
	weights("latin2", "latin2_czech_cs", 4, func(pass int, answer []byte) byte {
		if string(answer) == "\x01\x01\x01\x00" {
			return 2
		}
		passes := bytes.Split(answer[:len(answer)-1], []byte{1})
		if len(passes[pass]) == 0 {
			return 0
		}
		return passes[pass][0]
	})
	weights("cp1250", "cp1250_czech_cs", 2, func(pass int, answer []byte) byte { return answer[pass] })
}
