package session_test

import (
	"maps"
	"regexp"
	"strings"
	"testing"

	"github.com/pandodb/pando/internal/script"
	"github.com/pandodb/pando/internal/testkit"
	"github.com/pandodb/pando/tests/inproc"
)

// elapsed matches the times of EXPLAIN ANALYZE, which no script can know.
var elapsed = regexp.MustCompile(`time=[^)]*\)`)

// conflictFigures are timestamps and keys in the text of error 9007, and conflictStart is what only a cluster tells there.
var (
	conflictFigures = regexp.MustCompile(`((?:txnStartTS|conflictCommitTS|key)=)[1-9a-f][0-9a-f]*`)
	conflictStart   = regexp.MustCompile(` conflictStartTS=[1-9][0-9]*,`)
)

// moments matches dates with times, and numbers of connections.
var moments = regexp.MustCompile(`\d+-\d+-\d+ \d+:\d+:\d+`)

// TestScripts runs testdata over a node in memory; the commands are described at inproc.Script. "file" and "cat" make and show files, "deadlock" shows the last deadlock, "actual" shows what executing queries did,
// "work" the counters that each statement moves, "timed" is "sql" without the times of EXPLAIN ANALYZE.
func TestScripts(t *testing.T) {
	t.Parallel()
	inproc.RunScripts(t, "testdata", scriptCommands(t), func(t *testing.T, name string) {
		switch name {
		case "long_keys":
			testkit.OneGoroutine(t) // of a hundred megabytes of keys
		default:
			parallelWait(t, name)
		}
	})
}

// TestScriptsPromoted: a cluster of one answers what the node alone does, where transactions meet each other, locks and schema changes.
// PANDO_PROMOTED=1 has all tests run so.
func TestScriptsPromoted(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"alter_actions", "alter_copy", "autoid_lower", "diagnostics", "foreign", "generated", "isolation", "kill", "load_data", "lock_gate", "lock_node", "lock_tables", "lock_wait", "on_duplicate", "optimistic", "schema_wait", "temporary",
		"transaction", "view_write"} {
		t.Run(name, func(t *testing.T) {
			parallelWait(t, name)
			inproc.RunScript(t, "testdata/"+name+".txt", scriptCommands(t), inproc.Options{Promoted: true})
		})
	}
}

// parallelWait lets scripts run beside others that do little but wait, a second each time, until a lock is not to be had.
func parallelWait(t *testing.T, name string) {
	if name == "lock_node" || name == "lock_tables" {
		t.Parallel()
	}
}

func scriptCommands(t *testing.T) map[string]func(*inproc.Script, *script.Block) string {
	commands := inproc.FileCommands()
	maps.Copy(commands, map[string]func(*inproc.Script, *script.Block) string{
		"actual": func(s *inproc.Script, d *script.Block) string {
			var out strings.Builder
			for _, line := range inproc.Lines(d.Input) {
				out.WriteString(elapsed.ReplaceAllString(s.Root().Exec("EXPLAIN ANALYZE "+line).String(), "time=…)"))
			}
			return out.String()
		},
		"conflict": func(s *inproc.Script, d *script.Block) string {
			d.Cmd = "sql"
			return conflictStart.ReplaceAllString(conflictFigures.ReplaceAllString(s.Run(t, d), "$1…"), "")
		},
		"deadlock": func(s *inproc.Script, _ *script.Block) string {
			text := s.Root().Must("SHOW ENGINE INNODB STATUS").Rows[0][2]
			_, text, _ = strings.Cut(text, "LATEST DETECTED DEADLOCK")
			text, _, _ = strings.Cut(text, "LIST OF")
			return moments.ReplaceAllString(text, "…") + "\n"
		},
		"work": func(s *inproc.Script, d *script.Block) string {
			var out strings.Builder
			for _, line := range inproc.Lines(d.Input) {
				s.Root().Must("FLUSH STATUS")
				s.Root().Exec(line)
				out.WriteString(line + ":")
				for _, row := range s.Root().Must("SHOW SESSION STATUS WHERE Variable_name REGEXP '^(Handler|Sort|Created)_' AND Value > 0").Rows {
					out.WriteString(" " + strings.TrimPrefix(row[0], "Handler_") + "=" + row[1])
				}
				out.WriteString("\n")
			}
			return out.String()
		},
		"timed": func(s *inproc.Script, d *script.Block) string {
			d.Cmd = "sql"
			return elapsed.ReplaceAllString(s.Run(t, d), "time=…)")
		},
	})
	return commands
}
