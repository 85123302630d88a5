package engine_test

import (
	"testing"

	"github.com/pandodb/pando/engine"
)

// TestOverlay: an engine that a crash has left is opened through an overlay, recovered, written to and opened again there; the file system below
// keeps every file as it is.
func TestOverlay(t *testing.T) {
	mem := engine.NewMemFS()
	options := engine.Options{Dir: "d", FS: mem, MemTableBytes: 256 << 10, SpareLogBytes: 256 << 10}
	e := open(t, options)
	for i := range 500 {
		put(t, e, local("%d", i), string(make([]byte, 1000)), i%50 == 0)
	}
	put(t, e, local("k"), "below", true)
	below := mem.CrashClone(engine.CrashConfig{})
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	before := below.String()
	options.FS, options.SpareLogBytes, options.Inspect = engine.Overlay(below), 0, true
	for i, want := range []string{"below", "above"} {
		o := open(t, options)
		if got := get(t, o, local("k")); got != want {
			t.Errorf("open %d: %s, want %s", i, got, want)
		}
		put(t, o, local("k"), "above", true)
		if err := o.Flush(); err != nil {
			t.Fatal(err)
		}
		if err := o.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if after := below.String(); after != before {
		t.Errorf("below was\n%s\nand is\n%s", before, after)
	}
}
