package script

import (
	"os"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
)

// Block is one case: its command (Cmd), arguments (HasArg, ScanArgs) and Input.
type Block = datadriven.TestData

// Commands are the words that a script knows. What one returns is its output.
type Commands map[string]func(t *testing.T, b *Block) string

// Any, as a word, stands for all that have no entry of their own.
const Any = "*"

// Run runs every script below dir as a test of the file's name. open is called for each, so that scripts share nothing; what it opens it
// closes by t.Cleanup.
func Run(t *testing.T, dir string, open func(t *testing.T) Commands) {
	t.Helper()
	if entries, err := os.ReadDir(dir); err != nil || len(entries) == 0 {
		t.Fatalf("no scripts in %s: %v", dir, err)
	}
	datadriven.Walk(t, dir, func(t *testing.T, path string) {
		if strings.Contains(path, "/testdata/fuzz/") || strings.HasPrefix(path, "testdata/fuzz/") {
			return // inputs that fuzzing has found
		}
		RunFile(t, path, open)
	})
}

// RunFile runs one script.
func RunFile(t *testing.T, path string, open func(t *testing.T) Commands) {
	t.Helper()
	commands := open(t)
	datadriven.RunTest(t, path, func(t *testing.T, b *Block) string {
		run := commands[b.Cmd]
		if run == nil {
			run = commands[Any]
		}
		if run == nil {
			t.Fatalf("%s: unknown command %s", b.Pos, b.Cmd)
		}
		return run(t, b)
	})
}

// EachLine is the output of a block each of whose lines is a question of its own. Empty lines are none.
func EachLine(b *Block, answer func(line string) string) string {
	var out strings.Builder
	for line := range strings.SplitSeq(b.Input, "\n") {
		if line != "" {
			out.WriteString(answer(line) + "\n")
		}
	}
	return out.String()
}

// Pick makes one function the command of several words.
func Pick(run func(t *testing.T, b *Block) string, words ...string) Commands {
	commands := Commands{}
	for _, word := range words {
		commands[word] = run
	}
	return commands
}
