// Command summary shows what `go test -json` prints as people know it from `go test`, and remembers what was skipped: tests that lack a
// program or a right to mount skip without a word otherwise, and nobody learns that they never run.
//
//	go test -json ./... | summary -skips FILE     results; skipped tests are added to FILE
//	summary -skips FILE -print                    each reason once, with its tests
package main

import (
	"bufio"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
)

func main() {
	skips := flag.String("skips", "", "file of the skipped tests")
	show := flag.Bool("print", false, "print what the file has")
	flag.Parse()
	if err := run(*skips, *show, os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(path string, show bool, in io.Reader, out io.Writer) error {
	if show {
		text, err := os.ReadFile(path)
		if err != nil && !os.IsNotExist(err) {
			return err
		}
		fmt.Fprint(out, reasons(string(text)))
		return nil
	}
	s := &summary{out: out, outputs: map[key]*strings.Builder{}}
	err := s.read(in)
	if path == "" || len(s.skipped) == 0 {
		return err
	}
	file, openErr := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if openErr != nil {
		return openErr
	}
	_, writeErr := file.WriteString(strings.Join(s.skipped, ""))
	if closeErr := file.Close(); writeErr == nil {
		writeErr = closeErr
	}
	if err == nil {
		err = writeErr
	}
	return err
}

// event is one line of go test -json.
type event struct {
	Action, Package, Test, Output, ImportPath string
	Elapsed                                   float64
}

// key names a test, or a package where Test is empty.
type key struct{ pkg, test string }

type summary struct {
	out     io.Writer
	outputs map[key]*strings.Builder // of tests that have not ended, and of packages
	skipped []string                 // lines "reason<tab>package test"
}

// lineMax bounds a line: a test may print a whole script.
const lineMax = 16 << 20

func (s *summary) read(in io.Reader) error {
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, lineMax)
	for lines.Scan() {
		var e event
		if json.Unmarshal(lines.Bytes(), &e) != nil || e.Action == "" {
			fmt.Fprintf(s.out, "%s\n", lines.Bytes()) // of the go command itself
			continue
		}
		s.event(&e)
	}
	return lines.Err()
}

func (s *summary) event(e *event) {
	k := key{e.Package, e.Test}
	switch e.Action {
	case "build-output":
		fmt.Fprint(s.out, e.Output)
	case "output":
		if s.outputs[k] == nil {
			s.outputs[k] = &strings.Builder{}
		}
		s.outputs[k].WriteString(e.Output)
	case "fail":
		if said := s.outputs[k]; said != nil && (e.Test == "" || said.Len() > 0) {
			fmt.Fprint(s.out, said.String())
		}
		delete(s.outputs, k)
	case "skip":
		if e.Test != "" {
			s.skipped = append(s.skipped, reasonOf(s.outputs[k])+"\t"+e.Package+" "+e.Test+"\n")
		}
		delete(s.outputs, k)
	case "pass":
		if said := s.outputs[k]; e.Test == "" && said != nil {
			fmt.Fprint(s.out, lastLine(said.String()))
		}
		delete(s.outputs, k)
	}
}

// lastLine of a package that passed is its "ok"; what its tests print is for those that fail.
func lastLine(text string) string {
	lines := strings.SplitAfter(strings.TrimRight(text, "\n")+"\n", "\n")
	return lines[len(lines)-2]
}

// logged is a line of t.Log, t.Skip and their like.
var logged = regexp.MustCompile(`(?m)^\s+\S+\.go:\d+: (.*)$`)

// reasonOf is the last thing that a skipped test said.
func reasonOf(said *strings.Builder) string {
	if said == nil {
		return "no reason given"
	}
	found := logged.FindAllStringSubmatch(said.String(), -1)
	if len(found) == 0 {
		return "no reason given"
	}
	return strings.ReplaceAll(found[len(found)-1][1], "\t", " ")
}

// shownMax is how many tests are named for a reason.
const shownMax = 4

// reasons lists each reason once. The same test may have been skipped in several stages.
func reasons(text string) string {
	tests := map[string][]string{}
	for line := range strings.Lines(text) {
		reason, test, _ := strings.Cut(strings.TrimRight(line, "\n"), "\t")
		if !slices.Contains(tests[reason], test) {
			tests[reason] = append(tests[reason], test)
		}
	}
	if len(tests) == 0 {
		return "no test was skipped\n"
	}
	var out strings.Builder
	for _, reason := range slices.Sorted(maps.Keys(tests)) {
		names := tests[reason]
		more := ""
		if len(names) > shownMax {
			more = fmt.Sprintf(" and %d more", len(names)-shownMax)
			names = names[:shownMax]
		}
		fmt.Fprintf(&out, "skipped: %s: %s%s\n", reason, strings.Join(names, ", "), more)
	}
	return out.String()
}
