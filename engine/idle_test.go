package engine_test

import (
	"strings"
	"testing"
	"time"

	"github.com/pandodb/pando/engine"
)

// TestFlushIdle: an idle engine flushes what a crash would have to replay, if it is worth a file.
func TestFlushIdle(t *testing.T) {
	e := open(t, engine.Options{Dir: "d", FS: engine.NewMemFS()})
	before := e.Metrics().Flushes // a new directory begins with one
	put(t, e, local("small"), strings.Repeat("x", 100<<10), true)
	e.FlushIdle()
	if n := e.Metrics().WALLiveBytes; n < 100<<10 {
		t.Fatalf("%d bytes in the log after a small write", n)
	}
	for i := range 20 {
		put(t, e, local("large%d", i), strings.Repeat("x", 100<<10), true)
	}
	e.FlushIdle()
	for deadline := time.Now().Add(2 * time.Minute); e.Metrics().WALLiveBytes > 0; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%d bytes are still in the log", e.Metrics().WALLiveBytes)
		}
	}
	if n := e.Metrics().Flushes - before; n != 1 {
		t.Errorf("%d flushes, want 1", n)
	}
}
