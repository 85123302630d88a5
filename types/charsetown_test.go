package types

import (
	"crypto/sha256"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"
)

// digester makes the texts of which tests/dictionary/record/digests.go asks a MySQL for the digests.
type digester struct {
	t    *testing.T
	want map[string]string
}

func (d *digester) check(name string, text func(n int) (string, bool), from, to int) {
	d.t.Helper()
	sum, first := sha256.New(), true
	for n := from; n <= to; n++ {
		s, ok := text(n)
		if !ok {
			continue
		}
		if !first {
			sum.Write([]byte{','})
		}
		first = false
		sum.Write([]byte(s))
	}
	if got := fmt.Sprintf("%x", sum.Sum(nil)[:16]); got != d.want[name] {
		d.t.Errorf("%s: digest %s, of MySQL's %s", name, got, d.want[name])
	}
	delete(d.want, name)
}

// hexes joins texts as HEX shows them.
func hexes(texts ...[]byte) string {
	parts := make([]string, len(texts))
	for i, s := range texts {
		parts[i] = fmt.Sprintf("%X", s)
	}
	return strings.Join(parts, ":")
}

// point is a code point in a character set, or '?'.
func point(cs *Charset, n int) []byte {
	out, _ := ConvertCharset(nil, utf8.AppendRune(nil, rune(n)), Utf8mb4Bin.Charset(), cs)
	return out
}

func convert(s []byte, from *Charset, to string) []byte {
	cs, _ := LookupCharset(to)
	out, _ := ConvertCharset(nil, s, from, cs)
	return out
}

func isPoint(n int) bool { return n < surrogateMin || n > surrogateMax }

// TestCharsetDigests: every character of the sets of this package converts as in MySQL, has its other cases and its weights, and texts are in its order.
func TestCharsetDigests(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("record/charset_digests.txt")
	if err != nil {
		t.Fatal(err)
	}
	d := &digester{t, map[string]string{}}
	for line := range strings.Lines(string(text)) {
		if at := strings.LastIndexByte(line, ' '); line[0] != '#' {
			d.want[line[:at]] = strings.TrimSpace(line[at:])
		}
	}
	all := func(c []byte, cs *Charset, decoded bool) string {
		parts := [][]byte{c}
		if decoded {
			parts = append(parts, convert(c, cs, "utf32"))
		}
		id := cs.Default
		return hexes(append(parts, AppendLower(nil, c, id), AppendUpper(nil, c, id), AppendWeightString(nil, c, id))...)
	}
	for _, name := range []string{"gbk", "big5", "gb18030"} {
		cs, _ := LookupCharset(name)
		d.check(name+" codes", func(n int) (string, bool) {
			c := []byte{byte(n >> 8), byte(n)}
			if cs.CountChars(c) != 1 || !cs.Valid(c) {
				return "", false
			}
			return all(c, cs, true), true
		}, 0x8140, 0xFEFE)
		d.check(name+" points", func(n int) (string, bool) { return all(point(cs, n), cs, false), isPoint(n) }, 1, 0x2FFFF)
	}
	weigh := func(collation string, char func(cs *Charset, n int) []byte) func(n int) (string, bool) {
		id, err := LookupCollation(collation)
		if err != nil {
			t.Fatal(err)
		}
		return func(n int) (string, bool) {
			c := char(id.Charset(), n)
			return hexes(c, AppendWeightString(nil, c, id)), isPoint(n)
		}
	}
	single := func(_ *Charset, n int) []byte { return []byte{byte(n)} }
	d.check("gb18030 unicode", weigh("gb18030_unicode_520_ci", point), 1, 0x2FFFF)
	thai, _ := LookupCharset("tis620")
	d.check("tis620 codes", func(n int) (string, bool) { return all([]byte{byte(n)}, thai, true), true }, 0, 255)
	d.check("tis620 points", func(n int) (string, bool) { return hexes(point(thai, n)), isPoint(n) }, 1, 0xFFFF)
	d.check("tis620 texts", weigh("tis620_thai_ci", func(_ *Charset, n int) []byte {
		sum := sha256.Sum256([]byte(strconv.Itoa(n)))
		return sum[:min(n%40, len(sum))]
	}), 0, 5000)
	d.check("latin1_german2_ci", weigh("latin1_german2_ci", single), 0, 255)
	for _, collation := range []string{"latin2_czech_cs", "cp1250_czech_cs"} {
		const letters = "aAbBcChH -.1 zZ"
		text := func(_ *Charset, n int) (s []byte) {
			for i := range 6 {
				s = append(s, letters[n*(7919+2*i)>>i%len(letters)])
			}
			return s
		}
		id, err := LookupCollation(collation)
		if err != nil {
			t.Fatal(err)
		}
		weights := weigh(collation, func(_ *Charset, n int) []byte { return []byte{byte(n >> 8), byte(n)} })
		d.check(collation+" pairs", func(n int) (string, bool) { s, _ := weights(n); return s, true }, 0, 0xFFFF)
		d.check(collation+" texts", weigh(collation, text), 0, 20000)
		d.check(collation+" order", func(n int) (string, bool) {
			return strconv.Itoa(max(-1, min(1, CompareStrings(text(nil, n), text(nil, n+1), id)))), true
		}, 0, 20000)
	}
	for _, collation := range []string{"utf8mb3_tolower_ci", "utf8mb3_general_mysql500_ci", "ucs2_general_mysql500_ci"} {
		d.check(collation, weigh(collation, point), 1, 0xFFFF)
	}
	for name := range d.want {
		collation, _ := strings.CutSuffix(name, " order")
		id, err := LookupCollation(collation)
		if err != nil {
			t.Fatal(err)
		}
		of := func(n int) (s []byte) {
			most := 400
			if n%2 != 0 {
				most = 55000
			}
			for i := range 3 {
				s = append(s, point(id.Charset(), n*(7919+2*i)%most+1)...)
			}
			return s
		}
		d.check(name, func(n int) (string, bool) {
			return strconv.Itoa(max(-1, min(1, CompareStrings(of(n), of(n+2), id)))), true
		}, 0, 20000)
	}
}

// TestWideForms: what is not well formed is a character of one byte, and codes without a character are well formed.
func TestWideForms(t *testing.T) {
	for _, c := range []struct {
		set, text string
		valid     int // bytes of the valid prefix
		chars     int
	}{
		{"gbk", "\x81", 0, 1}, {"gbk", "\x81\x7F", 0, 2}, {"gbk", "\x80a", 0, 2}, {"gbk", "\xA1\x40\xD5\\", 4, 2}, {"gbk", "\xFE\xFE\xFF", 2, 2},
		{"big5", "\xA1\x80", 0, 2}, {"big5", "\xA0\x40", 0, 2}, {"big5", "\xF9\xFE\xFA\x40", 2, 3}, {"big5", "\xA3\xC0", 2, 1},
		{"gb18030", "\x81\x30\x81\x30\x81\x30\x81", 4, 4}, {"gb18030", "\x81\x30\x81", 0, 3}, {"gb18030", "\xFE\x39\xFE\x39", 4, 1}, {"gb18030", "\xD5\\", 2, 1},
		{"tis620", "\xFF\x80", 2, 2},
	} {
		cs, err := LookupCharset(c.set)
		if err != nil {
			t.Fatal(err)
		}
		if v, n := cs.ValidPrefix([]byte(c.text)), cs.CountChars([]byte(c.text)); v != c.valid || n != c.chars {
			t.Errorf("%s %q: %d valid bytes, %d characters; want %d, %d", c.set, c.text, v, n, c.valid, c.chars)
		}
	}
}
