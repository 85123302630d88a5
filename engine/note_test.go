package engine

import (
	"encoding/binary"
	"slices"
	"testing"

	"github.com/pandodb/pando/engine/wal"
	"github.com/pandodb/pando/keys"
)

// TestNoteBelowApplying: a note doesn't cover batches that are in the log and not yet in the memtable, whose table may come later.
func TestNoteBelowApplying(t *testing.T) {
	e, err := OpenMem()
	if err != nil {
		t.Fatal(err)
	}
	noted := func() wal.Position {
		b := e.NewBatch()
		defer b.Close()
		if err := e.apply(b, true); err != nil {
			t.Fatal(err)
		}
		v, _, err := e.Get(nil, noteKey)
		if err != nil {
			t.Fatal(err)
		}
		return wal.Position(binary.LittleEndian.Uint64(v))
	}
	if got := noted(); got != e.end {
		t.Errorf("noted %d, the log ends at %d", got, e.end)
	}
	low := e.end
	other := e.NewBatch()
	defer other.Close()
	other.Set(keys.Bare(nil, keys.SpaceEngine, []byte("other")), []byte("value"))
	if err := e.apply(other, false); err != nil {
		t.Fatal(err)
	}
	e.applying = append(e.applying, e.end, low)
	if got := noted(); got != low {
		t.Errorf("noted %d while %d is on its way", got, low)
	}
	e.applying = e.applying[:0]
	if got := noted(); got != e.end {
		t.Errorf("noted %d, the log ends at %d", got, e.end)
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestNotesDoNotFall: of two notes either could reach a table first if both were on their way at once, and the log may be dropped below
// that one. So there is one at a time, and a later one names no less, whatever else is on its way, nor more than is in memtables: all
// orders of six steps are tried.
func TestNotesDoNotFall(t *testing.T) {
	e, err := OpenMem()
	if err != nil {
		t.Fatal(err)
	}
	needed := map[wal.Position]bool{} // by where a batch begins: it has more than a note
	const none = ^wal.Position(0)
	noting := none // where the batch begins that has the note on its way
	begin := func(content, note bool) (noted wal.Position) {
		b := e.NewBatch()
		defer b.Close()
		if needed[e.end] = content; content {
			b.Set(keys.Bare(nil, keys.SpaceEngine, []byte("other")), []byte("value"))
		}
		if note {
			noted, noting = e.note(b), e.end
		}
		e.applying = append(e.applying, e.end)
		e.end += wal.RecordBytes(b.b.Len())
		return noted
	}
	var steps func(left int, last wal.Position)
	steps = func(left int, last wal.Position) {
		if left == 0 {
			return
		}
		end, flying, held, named := e.end, e.applying, noting, e.lastNote
		for _, kind := range []struct{ content, note bool }{{true, false}, {true, true}, {false, true}} {
			if kind.note && held != none {
				continue
			}
			e.applying = slices.Clone(flying)
			noted := begin(kind.content, kind.note)
			if kind.note && noted < last {
				t.Fatalf("%d is noted after %d, with %v on their way", noted, last, flying)
			}
			for _, start := range flying {
				if noted > start && needed[start] {
					t.Fatalf("%d is noted while the batch at %d is on its way", noted, start)
				}
			}
			steps(left-1, max(noted, last))
			e.end, noting, e.lastNote = end, held, named
		}
		for i, start := range flying {
			e.applying = slices.Delete(slices.Clone(flying), i, i+1)
			if start == held {
				noting = none
			}
			steps(left-1, last)
			noting, e.lastNote = held, named
		}
		e.applying = flying
	}
	steps(6, 0)
	e.end, e.applying = 0, nil
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
}
