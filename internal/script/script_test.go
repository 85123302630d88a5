package script

import (
	"testing"
)

// TestRun: each file has commands of its own, a word without an entry goes to Any, and lines are questions.
func TestRun(t *testing.T) {
	opened := 0
	Run(t, "testdata", func(t *testing.T) Commands {
		opened++
		said := 0
		commands := Pick(func(_ *testing.T, b *Block) string {
			return EachLine(b, func(line string) string { said++; return b.Cmd + " " + line })
		}, "say", "shout")
		commands["count"] = func(*testing.T, *Block) string { return string(rune('0'+said)) + "\n" }
		commands[Any] = func(_ *testing.T, b *Block) string { return "no " + b.Cmd + "\n" }
		return commands
	})
	if opened != 2 {
		t.Errorf("opened %d times for two files", opened)
	}
}
