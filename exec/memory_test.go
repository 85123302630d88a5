package exec

import (
	"strings"
	"sync"
	"testing"

	"github.com/pandodb/pando/expr"
	"github.com/pandodb/pando/internal/testkit"
	"github.com/pandodb/pando/types"
)

// TestMemTrackerIsShared: goroutines of one statement take and give back at the same time; nothing is lost, neither of the statement's sum
// nor of the node's.
func TestMemTrackerIsShared(t *testing.T) {
	seed := testkit.Seed(t)
	pool := NewMemPool(1 << 40)
	m := NewMemTracker(1 << 40)
	m.Share(pool, nil)
	var group sync.WaitGroup
	for worker := range uint64(8) {
		group.Go(func() {
			r := testkit.Rand(seed, worker)
			held := int64(0)
			for range 2000 {
				n := r.Int64N(4 << 20)
				if r.IntN(2) == 0 {
					n = -min(n, held)
				}
				held += n
				if err := m.Grow(n); err != nil {
					t.Error(err)
				}
			}
			if err := m.Grow(-held); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	if m.Used() != 0 || m.Peak() == 0 {
		t.Errorf("%d bytes used, peak %d", m.Used(), m.Peak())
	}
	m.Reset(1)
	if pool.Used() != 0 {
		t.Errorf("%d bytes of the pool are lost", pool.Used())
	}
}

// TestMemPoolTells: who tunes the collector hears of statements that take or give back much, and of no small ones.
func TestMemPoolTells(t *testing.T) {
	pool := NewMemPool(1 << 30)
	told := func() bool {
		select {
		case <-pool.Changes():
			return true
		default:
			return false
		}
	}
	m := NewMemTracker(1 << 30)
	m.Share(pool, nil)
	for i, step := range []struct {
		grow int64
		told bool
	}{{poolChange / 2, false}, {poolChange / 2, true}, {poolStep, false}, {4 * poolChange, true}, {-3 * poolChange, true}, {-poolChange, true}} {
		if err := m.Grow(step.grow); err != nil {
			t.Fatal(err)
		}
		if got := told(); got != step.told {
			t.Errorf("step %d: told %v, want %v", i, got, step.told)
		}
	}
}

// TestBatchesAreCounted: long values of a row are counted before the batch has all of them, and what they took is given back. Without memory they are
// the statement's error, also where nothing polls between the first and the last of them.
func TestBatchesAreCounted(t *testing.T) {
	k := newKit(t)
	const length, columns = 1 << 20, 20
	long := types.Type{ID: types.TypeLongText, Length: length, Coll: types.DefaultCollation}
	param := expr.Param(0, long)
	dual, wide := &Values{Out: []types.Type{bigintType}, Rows: [][]expr.Expr{{lit(1)}}}, make([]expr.Expr, columns)
	out := make([]types.Type, columns)
	for i := range wide {
		wide[i], out[i] = param, long
	}
	for name, root := range map[string]Node{
		"projection": &Project{Input: dual, Exprs: wide},
		"values":     &Values{Out: out, Rows: [][]expr.Expr{wide}},
		"join":       &Apply{Left: dual, Right: &Project{Input: dual, Exprs: wide}, Kind: JoinInner},
	} {
		for limit, want := range map[int64]uint16{columns * length: 8175, 16 * columns * length: 0} {
			rt := k.runtime()
			rt.Mem = NewMemTracker(limit)
			rt.Ctx.Params = []types.Value{types.Text(strings.Repeat("x", length))}
			if _, err := k.tryQuery(rt, queryPlan(root)); number(err) != want {
				t.Errorf("%s with %d bytes: %v", name, limit, err)
			}
			if peak := rt.Mem.Peak(); peak < columns*length {
				t.Errorf("%s: %d bytes were counted at most", name, peak)
			}
			clean(t, rt)
		}
	}
}

// TestArenaIsBookedBeforeItGrows: a list of long rows goes to disk before there are two copies of more than the statement may have.
func TestArenaIsBookedBeforeItGrows(t *testing.T) {
	k := newKit(t)
	const limit, length = 16 << 20, 1 << 20
	rt := k.runtime()
	rt.Mem = NewMemTracker(limit)
	var l rowList
	l.init(rt, []types.Type{{ID: types.TypeLongText, Length: length, Coll: types.DefaultCollation}})
	row := []types.Value{types.Text(strings.Repeat("x", length))}
	largest := 0
	for range 40 {
		if err := l.addRow(row); err != nil {
			t.Fatal(err)
		}
		largest = max(largest, cap(l.arena))
	}
	if l.file == nil || largest > limit*5/9+2*length { // it is a quarter larger than before
		t.Errorf("the arena had %d bytes of %d", largest, limit)
	}
	l.close()
	clean(t, rt)
}

// TestPoolLendsBuffers: the buffers of spill files are the node's, not the statement's, and come back.
func TestPoolLendsBuffers(t *testing.T) {
	k := newKit(t)
	rt := k.runtime()
	pool := NewMemPool(2 * spillBufferBytes)
	rt.Mem = NewMemTracker(1)
	rt.Mem.Share(pool, nil)
	open := func() (*spillFile, error) {
		f, err := rt.newSpill()
		if err != nil {
			t.Fatal(err)
		}
		return f, f.write([]byte("record"))
	}
	a, err := open()
	if err != nil {
		t.Fatal(err)
	}
	if err := a.rewind(); err != nil || pool.Used() != spillBufferBytes {
		t.Errorf("%d bytes of a file that is read: %v", pool.Used(), err)
	}
	b, err := open()
	if err != nil {
		t.Fatal(err)
	}
	c, err := open()
	if number(err) != 8176 {
		t.Errorf("a third file: %v", err)
	}
	for _, f := range []*spillFile{a, b, c} {
		f.close()
	}
	if pool.Used() != 0 {
		t.Errorf("%d bytes are lost", pool.Used())
	}
	clean(t, rt)
}

// TestLongKeysAreCounted: who sorts, groups or compares long texts counts their keys before they are made, and gives them back.
func TestLongKeysAreCounted(t *testing.T) {
	k := newKit(t)
	const length = 1 << 20
	long := types.Type{ID: types.TypeLongText, Length: length, Coll: types.DefaultCollation}
	rows := &Values{Out: []types.Type{long}, Rows: [][]expr.Expr{{expr.Param(0, long)}}}
	column := expr.Column(0, long, "s")
	for name, root := range map[string]Node{
		"sort":     &Sort{Input: rows, Keys: []SortKey{{Expr: column}}},
		"groups":   &HashAgg{Input: rows, Keys: []expr.Expr{column}},
		"distinct": &Distinct{Input: rows},
		"set":      &SetOp{Left: rows, Right: rows, Kind: SetIntersect, Out: []types.Type{long}},
	} {
		rt := k.runtime()
		rt.Mem = NewMemTracker(1 << 30)
		rt.Ctx.Params = []types.Value{types.Text(strings.Repeat("x", length))}
		if _, err := k.tryQuery(rt, queryPlan(root)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if peak := rt.Mem.Peak(); peak < (2+keyCopies)*length {
			t.Errorf("%s: %d bytes were counted at most", name, peak)
		}
		clean(t, rt)
	}
}
