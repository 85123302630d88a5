package plan_test

import (
	"testing"

	"github.com/pandodb/pando/internal/script"
	"github.com/pandodb/pando/tests/inproc"
)

// TestScripts runs testdata over a node in memory; the commands are described at inproc.Script.
func TestScripts(t *testing.T) {
	inproc.RunScripts(t, "testdata", map[string]func(*inproc.Script, *script.Block) string{}, nil)
}
