package session_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/pandodb/pando/internal/script"
	"github.com/pandodb/pando/tests/inproc"
)

// elapsed matches the times of EXPLAIN ANALYZE, which no script can know.
var elapsed = regexp.MustCompile(`time=[^)]*\)`)

// TestScripts runs testdata over a node in memory; the commands are described at inproc.Script. "actual" shows what executing queries did,
// "timed" is "sql" without the times of EXPLAIN ANALYZE.
func TestScripts(t *testing.T) {
	inproc.RunScripts(t, "testdata", map[string]func(*inproc.Script, *script.Block) string{
		"actual": func(s *inproc.Script, d *script.Block) string {
			var out strings.Builder
			for _, line := range inproc.Lines(d.Input) {
				out.WriteString(elapsed.ReplaceAllString(s.Root().Exec("EXPLAIN ANALYZE "+line).String(), "time=…)"))
			}
			return out.String()
		},
		"timed": func(s *inproc.Script, d *script.Block) string {
			d.Cmd = "sql"
			return elapsed.ReplaceAllString(s.Run(t, d), "time=…)")
		},
	})
}
