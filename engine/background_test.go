package engine_test

import (
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/pandodb/pando/engine"
)

// hearer counts what a Background is told.
type hearer struct {
	mu                    sync.Mutex
	begun, ended, pressed int
}

func (h *hearer) Begin(urgent bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.begun++
	if urgent {
		h.pressed++
	}
}

func (h *hearer) End() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.ended++
}

// TestBackgroundTold: each flush and each compaction is told, both ends of it, and none of an engine at rest is urgent.
func TestBackgroundTold(t *testing.T) {
	var h hearer
	e := open(t, engine.Options{Dir: "d", FS: engine.NewMemFS(), Background: &h})
	flushes, compactions := e.Metrics().Flushes, e.Metrics().Compactions
	h.mu.Lock()
	before := h.begun
	h.mu.Unlock()
	for i := range 3 {
		put(t, e, local("key%d", i), strings.Repeat("x", 1000), true)
		if err := e.Flush(); err != nil {
			t.Fatal(err)
		}
	}
	if err := e.Compact(t.Context(), local(""), local("z")); err != nil {
		t.Fatal(err)
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	m := e.Metrics()
	want := int(m.Flushes - flushes + m.Compactions - compactions)
	if h.begun-before != want || h.ended != h.begun || h.pressed != 0 || m.Compactions == compactions {
		t.Errorf("told of %d beginnings, %d ends, %d of them urgent; there were %d flushes and compactions", h.begun-before, h.ended, h.pressed, want)
	}
}

// looker asks the engine at both ends of a flush or compaction whether tables are in work.
type looker struct {
	engine       atomic.Pointer[engine.Engine]
	looks, found atomic.Int32
}

func (l *looker) Begin(bool) { l.look() }
func (l *looker) End()       { l.look() }

func (l *looker) look() {
	if e := l.engine.Load(); e != nil { // Open flushes, too
		l.looks.Add(1)
		if e.TablesInWork() {
			l.found.Add(1)
		}
	}
}

// TestTablesInWork: tables are in work from the beginning of a flush or compaction to its end, and not before or after that.
func TestTablesInWork(t *testing.T) {
	var l looker
	e := open(t, engine.Options{Dir: "d", FS: engine.NewMemFS(), Background: &l})
	if e.TablesInWork() {
		t.Error("tables of an empty engine are in work")
	}
	l.engine.Store(e)
	for i := range 2 {
		put(t, e, local("key%d", i), "x", true)
		if err := e.Flush(); err != nil {
			t.Fatal(err)
		}
	}
	if err := e.Compact(t.Context(), local(""), local("z")); err != nil {
		t.Fatal(err)
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	if looks, found := l.looks.Load(), l.found.Load(); looks < 6 || found != looks {
		t.Errorf("tables were in work at %d of %d ends of flushes and compactions", found, looks)
	}
	if e.TablesInWork() {
		t.Error("tables are in work still")
	}
}
