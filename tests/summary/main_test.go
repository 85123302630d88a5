package main

import (
	"path/filepath"
	"strings"
	"testing"
)

// TestSummary: what failed is shown whole, what passed in a line, and what was skipped is remembered with its reason.
func TestSummary(t *testing.T) {
	skips := filepath.Join(t.TempDir(), "skips")
	in := strings.Join([]string{
		`{"ImportPath":"p/broken","Action":"build-output","Output":"x.go:1: does not compile\n"}`,
		`{"Action":"start","Package":"p/a"}`,
		`{"Action":"output","Package":"p/a","Test":"TestSkips","Output":"=== RUN   TestSkips\n"}`,
		`{"Action":"output","Package":"p/a","Test":"TestSkips","Output":"    a_test.go:7: needs root\n"}`,
		`{"Action":"output","Package":"p/a","Test":"TestSkips","Output":"--- SKIP: TestSkips (0.00s)\n"}`,
		`{"Action":"skip","Package":"p/a","Test":"TestSkips"}`,
		`{"Action":"output","Package":"p/a","Test":"TestPasses","Output":"    a_test.go:9: noise\n"}`,
		`{"Action":"pass","Package":"p/a","Test":"TestPasses"}`,
		`{"Action":"output","Package":"p/a","Output":"PASS\n"}`,
		`{"Action":"output","Package":"p/a","Output":"ok  \tp/a\t0.1s\n"}`,
		`{"Action":"pass","Package":"p/a"}`,
		`{"Action":"output","Package":"p/b","Test":"TestFails","Output":"    b_test.go:3: wrong\n"}`,
		`{"Action":"fail","Package":"p/b","Test":"TestFails"}`,
		`{"Action":"output","Package":"p/b","Output":"FAIL\tp/b\t0.2s\n"}`,
		`{"Action":"fail","Package":"p/b"}`,
		`go: a line of its own`,
	}, "\n")
	var out strings.Builder
	if err := run(skips, false, strings.NewReader(in), &out); err != nil {
		t.Fatal(err)
	}
	want := "x.go:1: does not compile\nok  \tp/a\t0.1s\n    b_test.go:3: wrong\nFAIL\tp/b\t0.2s\ngo: a line of its own\n"
	if out.String() != want {
		t.Errorf("got\n%s\nwant\n%s", out.String(), want)
	}
	if err := run(skips, false, strings.NewReader(in), &strings.Builder{}); err != nil { // a second stage
		t.Fatal(err)
	}
	var shown strings.Builder
	if err := run(skips, true, nil, &shown); err != nil || shown.String() != "skipped: needs root: p/a TestSkips\n" {
		t.Errorf("%v: %s", err, shown.String())
	}
	shown.Reset()
	if err := run(skips+"x", true, nil, &shown); err != nil || shown.String() != "no test was skipped\n" {
		t.Errorf("%v: %s", err, shown.String())
	}
}
