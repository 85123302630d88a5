package engine

import (
	"encoding/binary"
	"fmt"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2"

	"github.com/pandodb/pando/keys"
)

// TestMemtablesHold: what is in a memtable between two keys is seen, what is beside them or in tables is not.
func TestMemtablesHold(t *testing.T) {
	e, err := OpenMem()
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	row := func(i uint32) []byte { return binary.BigEndian.AppendUint32(keys.RowPrefix(nil, 7), i) }
	s := keySlice{keys.VersionKey(nil, row(10), 5), keys.VersionKey(nil, row(20), 5)}
	check := func(want bool, what string) {
		t.Helper()
		if held, err := e.memtablesHold(s); held != want || err != nil {
			t.Errorf("%s: %v, %v", what, held, err)
		}
	}
	write := func(i uint32) {
		t.Helper()
		b := e.NewBatch()
		defer b.Close()
		b.SetVersion(row(i), 7, nil, []byte("value"))
		if err := e.Apply(b, false); err != nil {
			t.Fatal(err)
		}
	}
	check(false, "nothing")
	write(9)
	write(21)
	check(false, "keys on both sides")
	write(15)
	check(true, "a key between the bounds")
	if err := e.Flush(); err != nil {
		t.Fatal(err)
	}
	check(false, "the key is in a table")
}

// TestLoneTables: tables of L0 are alone if they overlap none, of any level, and have more than one key.
func TestLoneTables(t *testing.T) {
	for _, c := range []struct{ l0, l5, l6, want string }{
		{"", "", "", ""},
		{"ab", "", "", "ab"},
		{"ef ab cd", "", "", "ab cd ef"},
		{"ab bc de", "", "", "de"},
		{"az bc de yz", "", "", ""},
		{"ah bc de ij", "", "", "ij"},
		{"aa bc", "", "", "bc"},
		{"bc fg jk", "", "ab gh", "jk"},
		{"bc fg jk", "", "de hi", "bc fg jk"},
		{"bf", "", "cd", ""},
		{"cd", "", "bf", ""},
		{"bc fg jk", "fg", "jk", "bc"},
	} {
		levels := make([][]pebble.SSTableInfo, 7)
		for level, tables := range map[int]string{0: c.l0, 5: c.l5, 6: c.l6} {
			for _, ends := range strings.Fields(tables) {
				var info pebble.SSTableInfo
				info.Smallest.UserKey = keys.VersionKey(nil, []byte(ends[:1]), 1)
				info.Largest.UserKey = keys.VersionKey(nil, []byte(ends[1:]), 1)
				levels[level] = append(levels[level], info)
			}
		}
		var got []string
		for _, s := range loneTables(levels) {
			got = append(got, fmt.Sprintf("%c%c", s.start[1], s.end[1]))
		}
		if want := fmt.Sprint(strings.Fields(c.want)); fmt.Sprint(got) != want {
			t.Errorf("L0 %q, L5 %q, L6 %q: %v are alone, want %s", c.l0, c.l5, c.l6, got, want)
		}
	}
}

// TestSinkRests: after a flush that was forced by what memtablesHold does not see, nothing is moved until the next note.
func TestSinkRests(t *testing.T) {
	e, err := OpenMem()
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	e.stopSinker() // it would do the same at another time
	rowOf := func(table uint64, i uint32) []byte {
		return binary.BigEndian.AppendUint32(keys.RowPrefix(nil, table), i)
	}
	row := func(i uint32) []byte { return rowOf(7, i) }
	apply := func(fill func(b *Batch)) {
		t.Helper()
		b := e.NewBatch()
		defer b.Close()
		fill(b)
		if err := e.Apply(b, false); err != nil {
			t.Fatal(err)
		}
	}
	// A table in L6 between the engine's own key and the rows keeps compactions of the former from them.
	apply(func(b *Batch) { b.SetVersion(rowOf(3, 1), 7, nil, []byte("value")) })
	if err := e.Compact(t.Context(), keys.Bare(nil, 0, nil), keys.VersionPrefix(nil, keys.TablePrefix(nil, 7))); err != nil {
		t.Fatal(err)
	}
	apply(func(b *Batch) {
		for i := range uint32(10) {
			b.SetVersion(row(i), 7, nil, []byte("value"))
		}
	})
	if err := e.Flush(); err != nil {
		t.Fatal(err)
	}
	apply(func(b *Batch) { b.DeleteVersion(row(5), 7, 0) })
	e.loads.note(7)
	if active, _ := e.loads.active(); len(active) != 1 {
		t.Fatalf("%d loads after the first note", len(active))
	}
	if err := e.sink(t.Context()); err != nil {
		t.Fatal(err)
	}
	if active, _ := e.loads.active(); len(active) != 0 {
		t.Error("the deletion has forced no flush, or the load does not rest after it")
	}
	e.loads.note(7)
	if active, _ := e.loads.active(); len(active) != 1 {
		t.Error("the load rests after another note")
	}
}
