package transfer

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

// show are records as text: line@start, then values in brackets; NULL without.
func show(r *csvReader) string {
	var out []string
	for {
		rec, err := r.next()
		if err == io.EOF {
			return strings.Join(out, "\n")
		}
		if err != nil {
			return strings.Join(append(out, fmt.Sprintf("%d: %v", r.line, err)), "\n")
		}
		text := fmt.Sprintf("%d@%d", rec.line, rec.start)
		for i, f := range rec.fields {
			if f.null {
				text += " NULL"
			} else {
				text += fmt.Sprintf(" [%s]", rec.value(i))
			}
		}
		out = append(out, text)
	}
}

// TestCSVRead: values, NULL, quotes, ends of lines and faults with their lines, in several formats.
func TestCSVRead(t *testing.T) {
	standard := DefaultCSV()
	for _, c := range []struct {
		name, file, want string
		format           CSV
	}{
		{"plain", "a,b\n1,\n,2", "1@0 [a] [b]\n2@4 [1] []\n3@7 [] [2]", standard},
		{"ends of lines", "a\r\nb\rc\n\n\r\n", "1@0 [a]\n2@3 [b\rc]\n3@7 []\n4@8 []", standard},
		{"quotes", "\"a,\"\"b\"\"\r\nc\",\"\"\nx\"y,z", "1@0 [a,\"b\"\r\nc] []\n3@16 [x\"y] [z]", standard},
		{"null", "\\N,\"\\N\",\\Nx,\\N", "1@0 NULL [\\N] [\\Nx] NULL", standard},
		{"mark", "\ufeffa,b\n\ufeff", "1@3 [a] [b]\n2@7 [\ufeff]", standard},
		{"empty is null", "a,,\"\"\n\n", "1@0 [a] NULL []\n2@6 NULL", CSV{Separator: ",", Quote: `"`}},
		{"escape", "a\\,b,\"\\\"\\n\\0\",\\N,\\\\N,\\Nx,c\\\nd,\\", "1@0 [a,b] [\"\n\x00] NULL [\\N] [Nx] [c\nd] [\\]", CSV{Separator: ",", Quote: `"`, Escape: `\`, Null: `\N`}},
		{"long separator", "a||b|c||\"||\"||\\N", "1@0 [a] [b|c] [||] NULL", CSV{Separator: "||", Quote: `"`, Null: `\N`}},
		{"no quote", "\"a\tb\"", "1@0 [\"a] [b\"]", CSV{Separator: "\t", Escape: `\`, Null: `\N`}},
		{"other quote", "'it''s';\"", "1@0 [it's] [\"]", CSV{Separator: ";", Quote: "'", Null: "NULL"}},
		{"open quote", "a\n\"b\nc\n", "1@0 [a]\n2: a quote has no end", standard},
		{"behind a quote", "a\n\n\"b\nc\"d\n", "1@0 [a]\n2@2 []\n3: what follows the end of a quote is neither a separator nor the end of the line", standard},
		{"fields", strings.Repeat(",", fieldsMax), "1: a line is longer than 64 MiB, or has more than 65536 fields", standard},
	} {
		if err := c.format.check("utf8mb4"); err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
		for how, src := range map[string]io.Reader{"whole": strings.NewReader(c.file), "byte by byte": iotest.OneByteReader(strings.NewReader(c.file))} {
			if got := show(newCSVReader(src, &c.format)); got != c.want {
				t.Errorf("%s, %s:\n%q\nwant:\n%q", c.name, how, got, c.want)
			}
		}
	}
}

// TestCSVBounded (TR3): a quote that does not end is refused before all of it is in memory, and a fault of the disk is none of the file.
func TestCSVBounded(t *testing.T) {
	format, rest := DefaultCSV(), &endless{}
	_, err := newCSVReader(io.MultiReader(strings.NewReader(`"`), rest), &format).next()
	if err != io.ErrUnexpectedEOF {
		t.Errorf("%d bytes of a quote: %v", rest.read, err)
	}
	long := io.MultiReader(strings.NewReader(`"`), io.LimitReader(&zeros{}, 2*statementBytesMax))
	if _, err := newCSVReader(long, &format).next(); err != errRecordTooLong {
		t.Errorf("a quote without an end: %v", err)
	}
}

type zeros struct{}

func (zeros) Read(b []byte) (int, error) {
	clear(b)
	return len(b), nil
}

// TestCSVCheck: formats in which values could not be told apart are refused.
func TestCSVCheck(t *testing.T) {
	for _, c := range []struct {
		format        CSV
		charset, want string
	}{
		{CSV{Separator: "", Quote: `"`}, "utf8mb4", "the separator"},
		{CSV{Separator: ",", Quote: `""`}, "utf8mb4", "longer than one byte"},
		{CSV{Separator: ",", Quote: `"`, Null: strings.Repeat("x", 65)}, "utf8mb4", "longer than 64"},
		{CSV{Separator: "\n", Quote: `"`}, "utf8mb4", "an end of a line"},
		{CSV{Separator: ",", Quote: ","}, "utf8mb4", "must be ASCII, and differ"},
		{CSV{Separator: ",", Quote: `"`, Escape: `"`}, "utf8mb4", "must be ASCII, and differ"},
		{CSV{Separator: "0", Quote: `"`, Escape: `\`}, "utf8mb4", "a letter or digit"},
		{CSV{Separator: ",", Quote: "\xff"}, "utf8mb4", "whole letters"},
		{CSV{Separator: "¦", Quote: `"`}, "latin1", "not ASCII in another"},
		{CSV{Separator: ",", Quote: `"`, Null: "a,b"}, "utf8mb4", "the sign for NULL"},
		{CSV{Separator: ",", Null: `\N`}, "utf8mb4", "without quotes there must be an escape"},
		{CSV{Separator: ",", Escape: `\`, Null: "NULL"}, "utf8mb4", "without quotes there must be an escape"},
		{CSV{Separator: ",", Quote: `"`}, "utf16", "none in which files can be read"},
		{CSV{Separator: ",", Quote: `"`}, "x' or 1", "none in which files can be read"},
		{CSV{Separator: "|", Quote: `"`}, "gbk", "a letter of gbk"},
		{CSV{Separator: ",", Quote: `"`, Escape: `\`}, "sjis", "a letter of sjis"},
	} {
		if err := c.format.check(c.charset); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v in %s: %v, want %s", c.format, c.charset, err, c.want)
		}
	}
	if f := DefaultCSV(); f.check("gbk") != nil || f.check("latin1") != nil {
		t.Error("the default is refused")
	}
}

// TestCSVTable: which table a file is for, and the names that an export gives lead back to the table.
func TestCSVTable(t *testing.T) {
	for name, want := range map[string]string{
		"t.csv": ".t", "d.t.csv": "d.t", "d.t.00012.csv": "d.t", "d.00001.csv": "d.00001", "t": ".t", "a.b.c.csv": "error", ".csv": "error", "d..csv": "error", "T.txt": ".T",
		fileName("a.b c") + "." + fileName("d@2e") + ".csv": "a.b c.d@2e", fileName("ä") + ".t.00001.csv": "ä.t",
	} {
		database, table, err := tableOf(name)
		got := database + "." + table
		if err != nil {
			got = "error"
		}
		if got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
}

// FuzzCSV: whatever values are written in whatever format is read again as what it was, and no file makes the reader panic or go on without end.
func FuzzCSV(f *testing.F) {
	f.Add([]byte("a,\"b\"\n\\N"), ",", `"`, "", `\N`, byte(2), uint16(5))
	f.Add([]byte("a\tb\\\r\n\x00"), "\t", "", `\`, `\N`, byte(1), uint16(0))
	f.Add([]byte("x||y|\xc2\xa6"), "||", "'", `\`, "NULL", byte(3), uint16(1))
	f.Fuzz(func(t *testing.T, data []byte, separator, quote, escape, null string, columns byte, nulls uint16) {
		format := CSV{Separator: separator, Quote: quote, Escape: escape, Null: null}
		if format.check("utf8mb4") != nil {
			return
		}
		show(newCSVReader(bytes.NewReader(data), &format))
		n := 1 + int(columns%4)
		var file []byte
		values := bytes.SplitN(data, []byte{','}, 16)
		values = values[:len(values)/n*n]
		for i, v := range values {
			switch {
			case i%n > 0:
				file = append(file, separator...)
			case i > 0:
				file = append(file, '\n')
			}
			if nulls>>i&1 == 1 {
				file = append(file, null...)
			} else {
				file = format.appendField(file, v, i%2 == 0)
			}
		}
		file = append(file, '\n')
		if bytes.HasPrefix(file, []byte("\ufeff")) || len(values) == 0 {
			return // a mark in front of the first value is none of it
		}
		r := newCSVReader(bytes.NewReader(file), &format)
		for i, v := range values {
			if i%n == 0 {
				if rec, err := r.next(); err != nil || len(rec.fields) != n {
					t.Fatalf("%q: %v, %d fields, want %d", file, err, len(rec.fields), n)
				}
			}
			isNull := nulls>>i&1 == 1
			if got := &r.record; got.fields[i%n].null != isNull || !isNull && !bytes.Equal(got.value(i%n), v) {
				t.Fatalf("value %[2]d of %[1]q is %[3]q, NULL %[4]v, want %[5]q, %[6]v", file, i, got.value(i%n), got.fields[i%n].null, v, isNull)
			}
		}
		if _, err := r.next(); err != io.EOF || r.offset != int64(len(file)) {
			t.Fatalf("%q goes on: %v, %d bytes", file, err, r.offset)
		}
	})
}
