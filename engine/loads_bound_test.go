package engine

import (
	"bytes"
	"testing"

	"github.com/pandodb/pando/clock"
	"github.com/pandodb/pando/keys"
)

// Borders are those of the tables noted last, a bounded number of them, until some flushes have passed without a note.
func TestLoadsBounds(t *testing.T) {
	var l loads
	row := func(physID uint64) []byte {
		return keys.VersionKey(nil, append(keys.RowPrefix(nil, physID), 1), clock.Timestamp(7))
	}
	entry := func(physID uint64) []byte {
		return keys.VersionKey(nil, append(keys.IndexPrefix(nil, physID, 3), 1), clock.Timestamp(7))
	}
	table := func(physID uint64) []byte { return keys.VersionPrefix(nil, keys.TablePrefix(nil, physID)) }
	rows := func(physID uint64) []byte { return keys.VersionPrefix(nil, keys.RowPrefix(nil, physID)) }
	if end := l.next(row(1)); end != nil {
		t.Errorf("a border %x without loads", end)
	}
	l.note(5)
	l.note(6)
	l.note(9)
	for _, c := range []struct{ start, want []byte }{
		{row(1), table(5)},
		{table(5), rows(5)},
		{entry(5), rows(5)},
		{rows(5), table(6)},
		{row(5), table(6)},
		{row(6), table(7)},
		{row(7), table(9)},
		{row(9), table(10)},
		{table(10), nil},
		{row(12), nil},
	} {
		if got := l.next(c.start); !bytes.Equal(got, c.want) {
			t.Errorf("the border above %x is %x, want %x", c.start, got, c.want)
		}
	}
	for range loadFlushes {
		l.flushed()
	}
	l.note(9)
	l.flushed()
	if got := l.next(row(1)); !bytes.Equal(got, table(9)) {
		t.Errorf("the first border is %x when only table 9 is still noted", got)
	}
	for physID := uint64(100); physID < 100+3*loadsMax; physID++ {
		l.note(physID)
	}
	if n := len(l.tables); n != loadsMax {
		t.Errorf("%d tables are known", n)
	}
	if got := l.next(row(1)); !bytes.Equal(got, table(100+2*loadsMax)) {
		t.Errorf("the first border is %x, not that of the oldest of the last %d tables", got, loadsMax)
	}
	for range loadFlushes + 1 {
		l.flushed()
	}
	if len(l.tables) != 0 || l.next(row(1)) != nil {
		t.Errorf("%d tables are known after flushes without a note", len(l.tables))
	}
}
