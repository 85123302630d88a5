package placement

import (
	"errors"
	"testing"

	"github.com/pandodb/pando/clock"
	"github.com/pandodb/pando/internal/testkit"
)

// marks is a MarkStore in memory.
type marks struct {
	saved clock.Timestamp
	n     int
	err   error
}

func (m *marks) SaveMark(mark clock.Timestamp) error {
	if m.err != nil {
		return m.err
	}
	m.saved = mark
	m.n++
	return nil
}

func newTestOracle(t *testing.T, o OracleOptions) *Oracle {
	t.Helper()
	oracle, err := NewOracle(o)
	if err != nil {
		t.Fatal(err)
	}
	return oracle
}

// TestOracleOrder lets the clock jump about, restarts the oracle from its mark,
// and demands ascending timestamps throughout (P1, P2, P3).
func TestOracleOrder(t *testing.T) {
	rng := testkit.Rand(testkit.Seed(t), 0)
	wall := clock.NewManual(1_700_000_000_000)
	m := &marks{}
	var last clock.Timestamp
	o := newTestOracle(t, OracleOptions{NowMillis: wall.NowMillis, Store: m})
	for i := range 20_000 {
		switch rng.IntN(50) {
		case 0:
			wall.Set(wall.NowMillis() + rng.Int64N(10_000) - 5_000)
		case 1:
			o = newTestOracle(t, OracleOptions{Mark: m.saved, NowMillis: wall.NowMillis, Store: m})
		}
		var ts clock.Timestamp
		var err error
		if rng.IntN(2) == 0 {
			if ts, err = o.Next(); err != nil {
				t.Fatal(err)
			}
		} else {
			n := 1 + rng.IntN(3)
			first, mark := o.NextInBatch(n)
			if mark != 0 {
				m.saved = mark
			}
			if first <= last {
				t.Fatalf("step %d: %d after %d", i, first, last)
			}
			ts = first + clock.Timestamp(n-1)
		}
		if ts <= last {
			t.Fatalf("step %d: %d after %d", i, ts, last)
		}
		if ts > m.saved {
			t.Fatalf("step %d: %d issued above the mark %d", i, ts, m.saved)
		}
		last = ts
	}
}

// TestOracleOverflow issues more timestamps in a frozen millisecond than fit.
func TestOracleOverflow(t *testing.T) {
	wall := clock.NewManual(1_700_000_000_000)
	o := newTestOracle(t, OracleOptions{NowMillis: wall.NowMillis, Store: &marks{}})
	first, _ := o.NextInBatch(1)
	next, _ := o.NextInBatch(clock.LogicalMax)
	last, _ := o.NextInBatch(2)
	if next != first+1 || last.PhysicalMillis() != first.PhysicalMillis()+1 {
		t.Fatalf("overflow: %d, %d, %d", first, next, last)
	}
}

func TestOracleStartsAboveCommits(t *testing.T) {
	wall := clock.NewManual(1_000)
	o := newTestOracle(t, OracleOptions{CommitMax: clock.Make(5_000, 7), NowMillis: wall.NowMillis, Store: &marks{}})
	if ts, err := o.Next(); err != nil || ts <= clock.Make(5_000, 7) {
		t.Fatal(ts, err)
	}
}

// TestOracleIdle checks that few marks are saved, and none without timestamps (P4).
func TestOracleIdle(t *testing.T) {
	wall := clock.NewManual(1_700_000_000_000)
	m := &marks{}
	o := newTestOracle(t, OracleOptions{NowMillis: wall.NowMillis, Store: m})
	wall.Set(wall.NowMillis() + 3_600_000)
	if m.n != 0 {
		t.Fatal("an idle oracle wrote")
	}
	for range 3_000 {
		wall.Set(wall.NowMillis() + 1)
		if _, err := o.Next(); err != nil {
			t.Fatal(err)
		}
	}
	if m.n < 2 || m.n > 3 {
		t.Fatalf("%d marks saved in 3 s", m.n)
	}
}

func TestOracleSaveFails(t *testing.T) {
	m := &marks{err: errors.New("disk")}
	o := newTestOracle(t, OracleOptions{Store: m})
	if _, err := o.Next(); !errors.Is(err, m.err) {
		t.Fatal(err)
	}
	if _, err := NewOracle(OracleOptions{Mark: clock.MaxTimestamp - 1}); !errors.Is(err, ErrExhausted) {
		t.Fatal(err)
	}
}

func BenchmarkNextInBatch(b *testing.B) {
	o, err := NewOracle(OracleOptions{Store: &marks{}})
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		o.NextInBatch(1)
	}
}

// TestOracleNextN issues timestamps in groups, with and without somebody who extends the window ahead: they ascend, stay below the saved
// mark, and whoever is asked for them saves nothing where the window was extended in time. Another store takes over in between.
func TestOracleNextN(t *testing.T) {
	wall := clock.NewManual(1_700_000_000_000)
	m := &marks{}
	o := newTestOracle(t, OracleOptions{NowMillis: wall.NowMillis, Store: m})
	last, asked := clock.Timestamp(0), 0
	next := func() {
		t.Helper()
		before := m.n
		first, err := o.NextN(3)
		if err != nil || first <= last {
			t.Fatalf("%d after %d: %v", first, last, err)
		}
		if last = first + 2; last > m.saved {
			t.Fatalf("%d issued above the mark %d", last, m.saved)
		}
		asked += m.n - before
	}
	next()
	for range 200 {
		wall.Set(wall.NowMillis() + 100)
		if err := o.Extend(); err != nil {
			t.Fatal(err)
		}
		next()
	}
	if asked != 1 {
		t.Errorf("%d timestamps waited for a mark, but only the first had to", asked)
	}
	before := m.n
	wall.Set(wall.NowMillis() + 3_600_000)
	for range 3 {
		if err := o.Extend(); err != nil {
			t.Fatal(err)
		}
	}
	if m.n > before+1 {
		t.Errorf("an idle oracle saved %d marks", m.n-before)
	}
	other := &marks{saved: o.Mark()}
	o.Move(other)
	wall.Set(wall.NowMillis() + 3_600_000)
	m = other
	next()
	if other.n != 1 {
		t.Error("the new store was not asked")
	}
}
