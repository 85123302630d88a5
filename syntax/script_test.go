package syntax

import (
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"github.com/pandodb/pando/internal/script"
)

// TestScripts runs testdata/script: one command a case, over the text below it.
//
//	parse [modes]      the tree, without positions and zero fields
//	print [modes]      the canonical text
//	error [modes]      the refusal: number, offset, line and message
//	multi              every statement of a text, one a line
//	normalize          the text with literals lifted, and the literals
//	digest             the digest's text
func TestScripts(t *testing.T) {
	script.Run(t, "testdata/script", func(*testing.T) script.Commands {
		return script.Pick(func(t *testing.T, d *script.Block) string {
			opt := Options{
				ANSIQuotes: d.HasArg("ansi"), PipesAsConcat: d.HasArg("pipes"),
				NoBackslashEscapes: d.HasArg("nobackslash"), HighNotPrecedence: d.HasArg("highnot"),
				IgnoreSpace: d.HasArg("ignorespace"),
			}
			if d.Cmd == "normalize" || d.Cmd == "digest" {
				return script.EachLine(d, func(sql string) string { return runText(d.Cmd, sql, opt) })
			}
			if d.Cmd == "multi" {
				return runMulti(d.Input, opt)
			}
			return runParse(t, d, opt)
		}, "parse", "print", "error", "multi", "normalize", "digest")
	})
}

func runParse(t *testing.T, d *script.Block, opt Options) string {
	stmt, _, err := Parse(d.Input, opt)
	if err != nil {
		var e *Error
		if !errors.As(err, &e) {
			t.Fatalf("not an *Error: %v", err)
		}
		return fmt.Sprintf("%d at %d, line %d: %s\n", e.Code, e.Pos, e.Line, e.Msg)
	}
	switch d.Cmd {
	case "parse":
		return dumpNode(reflect.ValueOf(stmt)) + "\n"
	case "print":
		return String(stmt) + "\n"
	}
	return "accepted: " + String(stmt) + "\n"
}

func runMulti(input string, opt Options) string {
	var b strings.Builder
	for rest := input; strings.TrimSpace(rest) != ""; {
		stmt, next, err := Parse(rest, opt)
		if err != nil {
			fmt.Fprintf(&b, "error: %v\n", err)
		} else {
			fmt.Fprintln(&b, String(stmt))
		}
		rest = next
	}
	return b.String()
}

func runText(cmd, sql string, opt Options) string {
	if cmd == "digest" {
		text, _ := Digest(sql, opt)
		return text
	}
	var n Normalized
	if !Normalize(sql, opt, &n) {
		return "refused"
	}
	var b strings.Builder
	b.Write(n.Text)
	for i, l := range n.Literals {
		fmt.Fprintf(&b, "\n  %s %q", [...]string{"int", "decimal", "float", "string"}[l.Kind], n.Value(i))
		if l.Limit {
			b.WriteString(" limit")
		}
	}
	return b.String()
}

// dumpNode writes a tree as nested parentheses, leaving out positions and
// fields that are zero.
func dumpNode(v reflect.Value) string {
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if v.IsNil() {
			return "nil"
		}
		return dumpNode(v.Elem())
	case reflect.Slice:
		parts := make([]string, v.Len())
		for i := range parts {
			parts[i] = dumpNode(v.Index(i))
		}
		return "[" + strings.Join(parts, " ") + "]"
	case reflect.Struct:
		var b strings.Builder
		b.WriteString("(" + v.Type().Name())
		for i := range v.NumField() {
			f := v.Field(i)
			if f.IsZero() || f.Type() == reflect.TypeFor[Pos]() {
				continue
			}
			b.WriteString(" " + v.Type().Field(i).Name + ":" + dumpNode(f))
		}
		return b.String() + ")"
	case reflect.String:
		return strconv.Quote(v.String())
	}
	if s, ok := v.Interface().(fmt.Stringer); ok {
		return s.String()
	}
	return fmt.Sprint(v.Interface())
}
