package wal_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/pandodb/pando/engine"
	"github.com/pandodb/pando/engine/wal"
	"github.com/pandodb/pando/internal/testkit"
)

// TestLostEnd: a newest segment that is gone, zeroed or cut is refused, after a crash and after a clean end, unless that is accepted. The
// log then goes on behind what is left, and is whole at the next start.
func TestLostEnd(t *testing.T) {
	spoil := map[string]func(r *rig, newest string){
		"gone": func(r *rig, newest string) {
			if err := r.fs.Remove("d/" + newest); err != nil {
				r.t.Fatal(err)
			}
		},
		"zeroed":             func(r *rig, newest string) { r.setContent(newest, make([]byte, len(r.content(newest)))) },
		"empty":              func(r *rig, newest string) { r.setContent(newest, nil) },
		"cut in header":      func(r *rig, newest string) { r.setContent(newest, r.content(newest)[:16]) },
		"cut at its end":     func(r *rig, newest string) { b := r.content(newest); r.setContent(newest, b[:len(b)-16]) },
		"gone with the mark": func(r *rig, newest string) { r.removeMark(); _ = r.fs.Remove("d/" + newest) },
		"mark gone":          func(r *rig, _ string) { r.removeMark() },
		"all gone": func(r *rig, _ string) {
			for _, name := range r.segments() {
				if err := r.fs.Remove("d/" + name); err != nil {
					r.t.Fatal(err)
				}
			}
		},
	}
	for name, spoil := range spoil {
		for _, clean := range []bool{false, true} {
			for _, spares := range []bool{false, true} {
				if !clean && !spares && name == "cut at its end" {
					continue // of a file that grows, nobody knows how long it was
				}
				t.Run(fmt.Sprintf("%s, clean %v, spares %v", name, clean, spares), func(t *testing.T) { lostEnd(t, spoil, clean, spares) })
			}
		}
	}
}

// removeMark removes the file that says where the log ended.
func (r *rig) removeMark() {
	names, err := r.fs.List("d")
	if err != nil {
		r.t.Fatal(err)
	}
	for _, name := range names {
		if strings.HasPrefix(name, "log-mark-") {
			if err := r.fs.Remove("d/" + name); err != nil {
				r.t.Fatal(err)
			}
		}
	}
}

// TestMarkRemoved: a mark that somebody removes while the log is open is there again when the next segment begins or the log is closed.
func TestMarkRemoved(t *testing.T) {
	r := newRig(t, engine.NewMemFS())
	r.mustOpen()
	r.sync(r.append("one"))
	r.removeMark()
	r.close()
	r.mustOpen()
	if len(r.read) != 1 {
		t.Errorf("%d records", len(r.read))
	}
	r.close()
}

func lostEnd(t *testing.T, spoil func(*rig, string), clean, spares bool) {
	mem := engine.NewMemFS()
	r := newRig(t, mem)
	r.noSpares = !spares
	r.mustOpen()
	written := 0
	write := func() {
		r.sync(r.append(fmt.Sprint(written) + strings.Repeat("x", 500)))
		written++
	}
	for range 20 {
		write()
	}
	if spares {
		testkit.Await(t, "a segment made of a spare", func() bool {
			write()
			names := r.segments()
			return int64(len(r.content(names[len(names)-1]))) == r.segment
		})
	}
	lost := r
	if clean {
		r.close()
	} else {
		lost = newRig(t, testkit.Crash(mem, 0, 0))
		lost.must = true
		r.close()
	}
	lost.noSpares = !spares
	names := lost.segments()
	spoil(lost, names[len(names)-1])
	if err := lost.open(); !errors.Is(err, wal.ErrLost) {
		t.Fatalf("opened with: %v", err)
	}
	lost.accept = true
	lost.mustOpen()
	left := len(lost.read)
	if left > written {
		t.Errorf("%d records of %d", left, written)
	}
	for i, content := range lost.read {
		if !strings.HasPrefix(content, fmt.Sprint(i)+"x") {
			t.Errorf("record %d is %.5q", i, content)
		}
	}
	lost.sync(lost.append("more"))
	lost.close()
	lost.accept = false
	lost.mustOpen()
	if len(lost.read) != left+1 || lost.read[left] != "more" {
		t.Errorf("%d records are left of %d and one", len(lost.read), left)
	}
	lost.close()
}
