package sqltest

import (
	"crypto/md5"
	"encoding/hex"
	"fmt"
	"math"
	"slices"
	"sort"
	"strconv"
	"strings"
)

// Answer is what a server said to one statement. A value is the text of the protocol, NULL the word NULL.
type Answer struct {
	Types    string // of the columns: T, I, R; empty if the statement answers no rows
	Rows     [][]string
	Affected int
	Number   int // the error's number; 0 without one, -1 for an error that is not MySQL's
	Message  string
}

// Cell renders a value so that it stays on its line.
func Cell(s string) string {
	if s == "" {
		return "(empty)"
	}
	return strings.ReplaceAll(s, "\n", `\n`)
}

// doubleTolerance is how much two doubles may differ, relatively: sums depend on the order of rows, which is free.
const doubleTolerance = 1e-12

// Mismatch returns what the answer is instead of what the record expects, or "".
func (r *Record) Mismatch(a *Answer) string {
	got := ""
	if a.Number != 0 {
		got = fmt.Sprintf("error %d: %s", a.Number, a.Message)
	}
	switch r.Kind {
	case Error:
		if a.Number == 0 {
			return "success"
		}
		if r.Number >= 0 && a.Number != r.Number || a.Number < 0 {
			return got
		}
		return ""
	case OK:
		return got
	case Count:
		if got == "" && a.Affected != r.Number {
			return fmt.Sprintf("%d rows affected", a.Affected)
		}
		return got
	}
	if got != "" {
		return got
	}
	if len(a.Types) != len(r.Types) {
		return fmt.Sprintf("%d columns", len(a.Types))
	}
	return r.compare(a.Rows)
}

// compare returns the rows if they are not those expected.
func (r *Record) compare(rows [][]string) string {
	want := strings.Split(strings.Join(r.Expected, "\t"), "\t")
	if len(r.Expected) == 0 {
		want = nil
	}
	got := values(order(rows, r.Sort), r.Sort)
	if len(r.Expected) == 1 && strings.Contains(r.Expected[0], " values hashing to ") {
		sum := md5.Sum([]byte(strings.Join(got, "\n") + "\n"))
		line := fmt.Sprintf("%d values hashing to %s", len(got), hex.EncodeToString(sum[:]))
		if line != r.Expected[0] {
			return line
		}
		return ""
	}
	same := len(want) == len(got)
	for i := 0; same && i < len(want); i++ {
		same = equal(r.Types[i%len(r.Types)], want[i], got[i])
	}
	if same {
		return ""
	}
	if lines := Lines(rows, r.Sort); len(lines) > 0 {
		return strings.Join(lines, "\n")
	}
	return "no rows"
}

func equal(kind byte, want, got string) bool {
	if want == got {
		return true
	}
	if kind != 'R' {
		return false
	}
	a, err1 := strconv.ParseFloat(want, 64)
	b, err2 := strconv.ParseFloat(got, 64)
	return err1 == nil && err2 == nil && math.Abs(a-b) <= doubleTolerance*max(math.Abs(a), math.Abs(b), 1)
}

// order sorts rows as the mode says.
func order(rows [][]string, mode string) [][]string {
	if mode == "rowsort" {
		rows = slices.Clone(rows)
		sort.SliceStable(rows, func(i, j int) bool { return slices.Compare(rows[i], rows[j]) < 0 })
	}
	return rows
}

func values(rows [][]string, mode string) []string {
	var out []string
	for _, row := range rows {
		out = append(out, row...)
	}
	if mode == "valuesort" {
		sort.Strings(out)
	}
	return out
}

// Lines are rows as a file holds them.
func Lines(rows [][]string, mode string) []string {
	if mode == "valuesort" {
		return values(rows, mode)
	}
	var out []string
	for _, row := range order(rows, mode) {
		out = append(out, strings.Join(row, "\t"))
	}
	return out
}

// Settings make two servers speak of the same things.
var Settings = []string{"SET NAMES utf8mb4", "SET time_zone = '+00:00'", "SET timestamp = 1709212455"}

// Fill makes the record expect this answer. A statement that was counted stays so, and rows that were not expected make it a query.
func (r *Record) Fill(a *Answer) {
	r.Expected = nil
	switch {
	case a.Number != 0:
		r.Kind, r.Number = Error, a.Number
	case a.Types != "":
		r.Kind, r.Types = Query, a.Types
		if r.Sort == "" {
			r.Sort = "rowsort"
		}
		r.Expected = Lines(a.Rows, r.Sort)
	case r.Kind == Count:
		r.Number = a.Affected
	default:
		r.Kind = OK
	}
}
