package transfer

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

const (
	separatorBytesMax = 16
	nullBytesMax      = 64
)

// CSV is how files of comma-separated values are written and read: by RFC 4180, but that lines may end with LF alone and NULL has a sign.
type CSV struct {
	// Separator is between fields, of 16 bytes at most.
	Separator string
	// Quote is the byte around fields, and is doubled within them; empty for none.
	Quote string
	// Escape is the byte in front of others, as LOAD DATA has it; empty for none.
	Escape string
	// Null is what stands for NULL, where it is not quoted.
	Null string
	// NoHeader says that the first line is no list of columns.
	NoHeader bool
}

// DefaultCSV is the format where nothing else is said.
func DefaultCSV() CSV { return CSV{Separator: ",", Quote: `"`, Null: `\N`} }

// csvEnding is that of files of CSV.
const csvEnding = ".csv"

// lettersFrom is the least byte that may be a part of a longer letter, in character sets in which that is no byte above 127.
var lettersFrom = map[string]byte{"big5": 0x40, "gbk": 0x40, "sjis": 0x40, "cp932": 0x40, "euckr": 0x41, "gb18030": 0x30}

var (
	asciiWord   = regexp.MustCompile(`[0-9A-Za-z]`)
	charsetName = regexp.MustCompile(`^[a-z0-9]+$`)
	wideCharset = regexp.MustCompile(`^(ucs2|utf16|utf16le|utf32)$`)
)

// check refuses a format in which values could not be told apart.
func (f *CSV) check(charset string) error {
	if len(f.Separator) == 0 || len(f.Separator) > separatorBytesMax {
		return fmt.Errorf("the separator %q has not between 1 and %d bytes", f.Separator, separatorBytesMax)
	}
	if len(f.Quote) > 1 || len(f.Escape) > 1 {
		return fmt.Errorf("the quote %q or the escape %q is longer than one byte", f.Quote, f.Escape)
	}
	if len(f.Null) > nullBytesMax {
		return fmt.Errorf("the sign for NULL is longer than %d bytes", nullBytesMax)
	}
	marks := f.Separator + f.Quote + f.Escape
	if !utf8.ValidString(marks) || charset != "utf8mb4" && strings.IndexFunc(marks, func(c rune) bool { return c >= utf8.RuneSelf }) >= 0 {
		return fmt.Errorf("the separator %q is not of whole letters, or is not ASCII in another character set than utf8mb4", f.Separator)
	}
	if strings.ContainsAny(marks+f.Null, "\r\n") {
		return errors.New("an end of a line can't be a separator, quote, escape or a part of the sign for NULL")
	}
	if asciiWord.MatchString(marks) {
		return errors.New("a letter or digit can't be a part of a separator, quote or escape") // behind an escape it would be another byte
	}
	for i := range len(f.Quote + f.Escape) {
		if c := (f.Quote + f.Escape)[i]; strings.Count(marks, string(rune(c))) > 1 || c >= 0x80 {
			return fmt.Errorf("the quote %q and the escape %q must be ASCII, and differ from each other and from the separator", f.Quote, f.Escape)
		}
	}
	if strings.Contains(f.Null, f.Separator) || f.Quote != "" && strings.Contains(f.Null, f.Quote) {
		return fmt.Errorf("the sign for NULL %q has a separator or a quote in it", f.Null)
	}
	if f.Quote == "" && (f.Escape == "" || f.Null != f.Escape+"N") {
		return errors.New("without quotes there must be an escape, and NULL is the escape and N, such as \\N")
	}
	if !charsetName.MatchString(charset) || wideCharset.MatchString(charset) {
		return fmt.Errorf("the character set %q is none in which files can be read", charset)
	}
	if from, is := lettersFrom[charset]; is {
		for _, c := range []byte(marks) {
			if c >= from {
				return fmt.Errorf("%q may be a part of a letter of %s, and can't be a separator, quote or escape", c, charset)
			}
		}
	}
	return nil
}

// appendField appends a value. Texts are always quoted, so that an empty one, and one that looks like NULL, are what they are.
func (f *CSV) appendField(dst, value []byte, quoted bool) []byte {
	special := f.Separator + f.Quote + f.Escape + "\r\n"
	if f.Quote != "" && (quoted || string(value) == f.Null || bytes.ContainsAny(value, special)) {
		dst = append(dst, f.Quote[0])
		for _, c := range value {
			if c == f.Quote[0] {
				dst = append(dst, c)
			} else if f.Escape != "" && c == f.Escape[0] {
				dst = append(dst, c)
			}
			dst = append(dst, c)
		}
		return append(dst, f.Quote[0])
	}
	if f.Quote != "" {
		return append(dst, value...)
	}
	for _, c := range value {
		switch {
		case c == '\n':
			dst = append(dst, f.Escape[0], 'n')
		case c == '\r':
			dst = append(dst, f.Escape[0], 'r')
		case c == 0:
			dst = append(dst, f.Escape[0], '0')
		case c == f.Escape[0] || c == f.Separator[0]:
			dst = append(dst, f.Escape[0], c)
		default:
			dst = append(dst, c)
		}
	}
	return dst
}

// appendHeader appends the line that names the columns.
func (f *CSV) appendHeader(dst []byte, columns []string) []byte {
	for i, name := range columns {
		if i > 0 {
			dst = append(dst, f.Separator...)
		}
		dst = f.appendField(dst, []byte(name), false)
	}
	return append(dst, '\n')
}

// tableOf is the table that a file of CSV is for, by its name: TABLE.csv, DATABASE.TABLE.csv, and of an export also DATABASE.TABLE.00001.csv.
func tableOf(name string) (database, table string, err error) {
	for _, ending := range []string{csvEnding, ".tsv", ".txt"} {
		name = strings.TrimSuffix(name, ending)
	}
	parts := strings.Split(name, ".")
	if len(parts) == 3 && len(parts[2]) == partDigits && strings.Trim(parts[2], "0123456789") == "" {
		parts = parts[:2]
	}
	if len(parts) > 2 || slices.Contains(parts, "") {
		return "", "", errors.New("the file's name says no table: it is TABLE.csv or DATABASE.TABLE.csv, or --table says which")
	}
	table = nameOf(parts[len(parts)-1])
	if len(parts) == 2 {
		database = nameOf(parts[0])
	}
	return database, table, nil
}

var hexByte = regexp.MustCompile(`@[0-9a-f]{2}`)

// nameOf undoes fileName.
func nameOf(part string) string {
	return hexByte.ReplaceAllStringFunc(part, func(s string) string {
		var c byte
		_, _ = fmt.Sscanf(s[1:], "%02x", &c) // which the expression has checked
		return string([]byte{c})
	})
}
