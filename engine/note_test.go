package engine

import (
	"encoding/binary"
	"testing"

	"github.com/pandodb/pando/engine/wal"
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
	e.applying = append(e.applying, 7, 9)
	if got := noted(); got != 7 {
		t.Errorf("noted %d while a batch from 7 on is being applied", got)
	}
	e.applying = e.applying[:0]
	if got := noted(); got != e.end {
		t.Errorf("noted %d, the log ends at %d", got, e.end)
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
}
