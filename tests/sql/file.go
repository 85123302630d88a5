package sqltest

import (
	"fmt"
	"os"
	"strconv"
	"strings"
)

// Kind tells what a record expects.
type Kind int

// The kinds of record.
const (
	OK    Kind = iota // the statement succeeds
	Error             // it fails with Number
	Count             // it succeeds and affects Number rows
	Query             // it answers rows
	Halt              // the file ends here
)

// Record is one record of a file. Comments and conditions before it stay with it, so that a file can be written again.
type Record struct {
	Line     int
	Head     []string // comments and empty lines before it
	SkipIf   []string
	OnlyIf   []string
	Kind     Kind
	Number   int // -1: any
	Types    string
	Sort     string
	Label    string
	SQL      string
	Expected []string
}

// Skipped tells whether the record is not for this server.
func (r *Record) Skipped(server string) bool {
	for _, name := range r.SkipIf {
		if name == server {
			return true
		}
	}
	for _, name := range r.OnlyIf {
		if name != server {
			return true
		}
	}
	return false
}

// ReadFile reads a file.
func ReadFile(path string) ([]*Record, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	records, err := Parse(string(text))
	if err != nil {
		return nil, fmt.Errorf("%s:%w", path, err)
	}
	return records, nil
}

// Parse reads records. An error begins with the line's number.
func Parse(text string) ([]*Record, error) {
	var out []*Record
	lines := strings.Split(text, "\n")
	next := &Record{}
	for i := 0; i < len(lines); i++ {
		line := strings.TrimRight(lines[i], " \r")
		words := strings.Fields(line)
		if len(words) == 0 || strings.HasPrefix(line, "#") {
			next.Head = append(next.Head, line)
			continue
		}
		switch {
		case words[0] == "skipif" && len(words) > 1:
			next.SkipIf = append(next.SkipIf, words[1])
			continue
		case words[0] == "onlyif" && len(words) > 1:
			next.OnlyIf = append(next.OnlyIf, words[1])
			continue
		case words[0] == "hash-threshold": // the number of values from which a recorder may hash; ours never does
			next.Head = append(next.Head, line)
			continue
		}
		next.Line = i + 1
		if err := next.head(words); err != nil {
			return nil, fmt.Errorf("%d: %w", i+1, err)
		}
		if next.Kind == Halt {
			return append(out, next), nil
		}
		i = next.body(lines, i+1)
		if next.SQL == "" {
			return nil, fmt.Errorf("%d: no statement follows", next.Line)
		}
		out, next = append(out, next), &Record{}
	}
	return out, nil
}

// head reads a record's first line.
func (r *Record) head(words []string) (err error) {
	switch {
	case words[0] == "halt":
		r.Kind = Halt
	case words[0] == "statement" && len(words) == 2 && words[1] == "ok":
	case words[0] == "statement" && len(words) == 2 && words[1] == "error":
		r.Kind, r.Number = Error, -1
	case words[0] == "statement" && len(words) == 3 && (words[1] == "error" || words[1] == "count"):
		r.Kind = Error
		if words[1] == "count" {
			r.Kind = Count
		}
		r.Number, err = strconv.Atoi(words[2])
	case words[0] == "query" && len(words) >= 2 && len(words) <= 4 && strings.Trim(words[1], "TIR") == "":
		r.Kind, r.Types, r.Sort = Query, words[1], "nosort"
		if len(words) > 2 {
			r.Sort = words[2]
		}
		if len(words) > 3 {
			r.Label = words[3]
		}
		if r.Sort != "nosort" && r.Sort != "rowsort" && r.Sort != "valuesort" {
			return fmt.Errorf("unknown order %q", r.Sort)
		}
	default:
		return fmt.Errorf("not the head of a record: %q", strings.Join(words, " "))
	}
	return err
}

// body reads the statement and the expected values, and returns the number of the record's last line.
func (r *Record) body(lines []string, i int) int {
	var text []string
	for ; i < len(lines) && lines[i] != "" && lines[i] != "----"; i++ {
		text = append(text, lines[i])
	}
	r.SQL = strings.Join(text, "\n")
	if i < len(lines) && lines[i] == "----" {
		for i++; i < len(lines) && lines[i] != ""; i++ {
			r.Expected = append(r.Expected, lines[i])
		}
	}
	return i - 1
}

// Format writes records as a file.
func Format(records []*Record) string {
	var b strings.Builder
	for _, r := range records {
		for _, line := range r.Head {
			b.WriteString(line + "\n")
		}
		for _, name := range r.SkipIf {
			b.WriteString("skipif " + name + "\n")
		}
		for _, name := range r.OnlyIf {
			b.WriteString("onlyif " + name + "\n")
		}
		switch {
		case r.Kind == OK:
			b.WriteString("statement ok\n")
		case r.Kind == Error && r.Number < 0:
			b.WriteString("statement error\n")
		case r.Kind == Error:
			fmt.Fprintf(&b, "statement error %d\n", r.Number)
		case r.Kind == Count:
			fmt.Fprintf(&b, "statement count %d\n", r.Number)
		case r.Kind == Query:
			b.WriteString(strings.TrimRight("query "+r.Types+" "+r.Sort+" "+r.Label, " ") + "\n")
		case r.Kind == Halt:
			b.WriteString("halt\n")
			continue
		}
		b.WriteString(r.SQL + "\n")
		if r.Kind == Query {
			b.WriteString("----\n" + strings.Join(r.Expected, "\n"))
			if len(r.Expected) > 0 {
				b.WriteString("\n")
			}
		}
	}
	return b.String()
}
