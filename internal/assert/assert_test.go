package assert_test

import (
	"strings"
	"testing"

	"github.com/pandodb/pando/internal/assert"
)

// TestThat: what holds costs nothing, what does not panics and says what it was.
func TestThat(t *testing.T) {
	holds := true
	if n := testing.AllocsPerRun(100, func() { assert.That(holds, "holds") }); n != 0 {
		t.Errorf("%v allocations", n)
	}
	defer func() {
		if text, _ := recover().(string); !strings.Contains(text, "rows are sorted") {
			t.Errorf("panic: %q", text)
		}
	}()
	assert.That(!holds, "rows are sorted")
}
