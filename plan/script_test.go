package plan_test

import (
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/pandodb/pando/tests/inproc"
)

// TestScripts runs testdata over a node in memory; the commands are described at inproc.Script.
func TestScripts(t *testing.T) {
	inproc.RunScripts(t, "testdata", map[string]func(*inproc.Script, *datadriven.TestData) string{})
}
