package store

import (
	"bytes"
	"errors"
	"fmt"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pandodb/pando/clock"
	"github.com/pandodb/pando/internal/testkit"
	"github.com/pandodb/pando/keys"
	"github.com/pandodb/pando/kvapi"
)

// TestSpanList compares the list with a set of small keys, and widening with its promise.
func TestSpanList(t *testing.T) {
	rng := testkit.Rand(testkit.Seed(t), 0)
	key := func(n int) []byte { return fmt.Appendf(nil, "%03d", n) }
	for range 300 {
		var l spanList
		var model [100]bool
		for range rng.IntN(20) {
			a, b := rng.IntN(100), rng.IntN(101)
			if a >= b {
				continue
			}
			s := kvapi.Span{Start: key(a), End: key(b)}
			if b == 100 {
				s.End = []byte{}
			}
			l = l.add(s)
			for i := a; i < b; i++ {
				model[i] = true
			}
			if rng.IntN(8) == 0 {
				n := len(l)
				if l = l.widen(rng.IntN(2) == 0); len(l) != (n+1)/2 {
					t.Fatalf("%d spans of %d", len(l), n)
				}
				for i := range model {
					was := model[i]
					if model[i] = l.contains(key(i)); was && !model[i] {
						t.Fatal("widening has lost a key")
					}
				}
			}
		}
		for i := range model {
			if l.contains(key(i)) != model[i] {
				t.Fatalf("%d: %v in %s", i, !model[i], l)
			}
			for j := i + 1; j <= 100; j++ {
				all := true
				for k := i; k < j; k++ {
					all = all && model[k]
				}
				if l.covers(kvapi.Span{Start: key(i), End: key(j)}) != (all && (j < 100 || len(l[len(l)-1].End) == 0 || bytes.Equal(l[len(l)-1].End, key(100)))) {
					t.Fatalf("covers %d to %d: %v in %s", i, j, !all, l)
				}
			}
		}
		for i := 1; i < len(l); i++ {
			if bytes.Compare(l[i-1].End, l[i].Start) >= 0 {
				t.Fatalf("spans touch: %s", l)
			}
		}
	}
}

// TestWidenKeepsIndexesApart: locks of one index are joined before those of several.
func TestWidenKeepsIndexesApart(t *testing.T) {
	var l spanList
	for index := range uint64(3) {
		for i := range 4 {
			key := append(keys.IndexPrefix(nil, 7, index+1), byte(2*i+1))
			l = l.add(kvapi.Span{Start: key, End: kvapi.ResumeAfter(key, false)})
		}
	}
	for _, want := range []int{6, 3, 3} {
		if l = l.widen(false); len(l) != want {
			t.Fatalf("%d spans, want %d", len(l), want)
		}
	}
	if l = l.widen(true); len(l) != 2 {
		t.Fatal(len(l))
	}
}

// rangeRig is a store with helpers for range locks over keys of table 1.
type rangeRig struct {
	*testing.T
	s *Store
}

func newRangeRig(t *testing.T) *rangeRig {
	s, err := Open(Options{Engine: memEngine(t)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return &rangeRig{t, s}
}

func (r *rangeRig) owner(id uint64) *Owner {
	o := new(Owner)
	r.s.OpenOwner(o, id)
	return o
}

func rangeKey(name string) []byte { return append(keys.RowPrefix(nil, 1), name...) }

func (r *rangeRig) refs() []kvapi.RegionRef { return []kvapi.RegionRef{r.s.Regions()[0].Ref()} }

func (r *rangeRig) lock(o *Owner, from, to string, kind kvapi.RangeKind) kvapi.RangeLockResult {
	r.Helper()
	span := kvapi.Span{Start: rangeKey(from), End: rangeKey(to)}
	res, err := r.s.LockRange(o, &kvapi.RangeLockRequest{Regions: r.refs(), Span: span, Kind: kind})
	if err != nil {
		r.Fatal(err)
	}
	r.s.KeepRange(o, span)
	return res
}

func (r *rangeRig) put(o *Owner, timeout time.Duration, i *kvapi.Interrupt, names ...string) error {
	q := &kvapi.CommitRequest{Regions: r.refs(), Timeout: timeout, Interrupt: i}
	for _, name := range names {
		q.Mutations = append(q.Mutations, kvapi.Mutation{Key: rangeKey(name), Value: []byte("v")})
	}
	_, err := r.s.Commit(o, q)
	return err
}

// TestRangesAreBounded: a transaction keeps rangesMax spans at most, and all that it has ever locked.
func TestRangesAreBounded(t *testing.T) {
	r := newRangeRig(t)
	o := r.owner(1)
	for i := range 3 * rangesMax {
		r.lock(o, fmt.Sprintf("%06d", 2*i), fmt.Sprintf("%06d", 2*i+1), kvapi.RangeKind(i%2))
		if o.ranges.spans > rangesMax {
			t.Fatalf("%d spans", o.ranges.spans)
		}
	}
	for i := range 3 * rangesMax {
		if !r.s.locks.ranges.conflict(r.owner(2), rangeKey(fmt.Sprintf("%06d", 2*i)), accessCreate) {
			t.Fatalf("span %d is lost", i)
		}
	}
	r.s.ReleaseLocks(o)
	if r.s.locks.ranges.conflict(r.owner(2), rangeKey("000000"), accessCreate) || len(r.s.locks.ranges.tables) != 0 {
		t.Fatal("locks that outlive their transaction")
	}
}

// TestRangeWaitsEnd: the wait of a commit, and of who is about to make a key, ends by timeout, interrupt and close.
func TestRangeWaitsEnd(t *testing.T) {
	for name, write := range map[string]func(*rangeRig, *Owner, time.Duration, *kvapi.Interrupt) error{
		"commit": func(r *rangeRig, o *Owner, d time.Duration, i *kvapi.Interrupt) error { return r.put(o, d, i, "5") },
		"intend": func(r *rangeRig, o *Owner, d time.Duration, i *kvapi.Interrupt) error {
			return r.s.Intend(o, &kvapi.LockRequest{Region: r.refs()[0], Key: rangeKey("5"), Mode: kvapi.LockExclusive, Timeout: d, Interrupt: i})
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRangeRig(t)
			holder := r.owner(1)
			r.lock(holder, "1", "9", kvapi.RangeGap)
			o := r.owner(2)
			if err := write(r, o, 10*time.Millisecond, nil); !errors.Is(err, kvapi.ErrLockTimeout) {
				t.Fatal(err)
			}
			var i kvapi.Interrupt
			done := make(chan error, 1)
			wait := func() {
				go func() { done <- write(r, o, patience, &i) }()
				testkit.Await(t, "the writer to wait", o.Waiting)
			}
			wait()
			i.Set(kvapi.ReasonKillQuery)
			if err := <-done; !errors.Is(err, kvapi.ErrInterrupted) {
				t.Fatal(err)
			}
			i.Reset()
			wait()
			r.s.ReleaseLocks(holder)
			if err := <-done; err != nil {
				t.Fatal(err)
			}
			r.s.ReleaseLocks(o)
			r.lock(holder, "1", "9", kvapi.RangeGap)
			o = r.owner(3)
			wait()
			_ = r.s.Close()
			if err := <-done; !errors.Is(err, kvapi.ErrClosed) {
				t.Fatal(err)
			}
		})
	}
}

// TestRangeOfSeveralTables: such a span is in everybody's way.
func TestRangeOfSeveralTables(t *testing.T) {
	r := newRangeRig(t)
	o := r.owner(1)
	for _, span := range []kvapi.Span{
		{Start: keys.TablePrefix(nil, 1), End: keys.TablePrefix(nil, 3)},
		{Start: []byte{}, End: []byte{}},
		{Start: []byte("a"), End: []byte("z")},
	} {
		if _, err := r.s.LockRange(o, &kvapi.RangeLockRequest{Regions: r.refs(), Span: span}); err != nil {
			t.Fatal(err)
		}
		r.s.KeepRange(o, span)
		if o.ranges.holders[0].id != rangeWide || !r.s.locks.ranges.conflict(r.owner(2), rangeKey("x"), accessCreate) {
			t.Errorf("%q to %q locks too little", span.Start, span.End)
		}
		r.s.ReleaseLocks(o)
	}
}

// TestRangesRest: writers stop looking for ranges a while after the last.
func TestRangesRest(t *testing.T) {
	r := newRangeRig(t)
	if r.s.Ranged() {
		t.Fatal("writers look for ranges that never were")
	}
	o := r.owner(1)
	r.lock(o, "1", "9", kvapi.RangeGap)
	ranges := &r.s.locks.ranges
	ranges.released -= 2 * rangeQuiet
	ranges.rest()
	if !r.s.Ranged() {
		t.Fatal("nobody looks for a range that is there")
	}
	r.s.ReleaseLocks(o)
	ranges.rest()
	if !r.s.Ranged() {
		t.Fatal("nobody looks any more at once")
	}
	ranges.released -= 2 * rangeQuiet
	ranges.rest()
	if r.s.Ranged() {
		t.Fatal("writers look for ever")
	}
}

const (
	barrierRows    = 400 // that TestBarrier lets writers add
	barrierIdleMax = 100 // rounds of its reader until it makes room for writers
)

// TestBarrier: what passed the check before a range was published is in the snapshot that its reader gets.
func TestBarrier(t *testing.T) {
	r := newRangeRig(t)
	stop := make(chan struct{})
	done := make(chan error)
	var committed atomic.Int64
	for w := range 4 {
		go func() {
			o := r.owner(uint64(100 + w))
			for i := 0; ; i++ {
				select {
				case <-stop:
					done <- nil
					return
				default:
				}
				if err := r.put(o, patience, nil, fmt.Sprintf("%d-%06d", w, i)); err != nil {
					done <- err
					return
				}
				committed.Add(1)
			}
		}()
	}
	o := r.owner(1)
	count := func(res kvapi.RangeLockResult) (n int) {
		span := kvapi.Span{Start: rangeKey("0"), End: rangeKey("9")}
		if _, err := r.s.Scan(&kvapi.ScanRequest{Regions: r.refs(), Span: span, TS: res.TS,
			Sink: sinkFunc(func(_, _ []byte) (bool, error) { n++; return true, nil })}); err != nil {
			t.Fatal(err)
		}
		return n
	}
	last, idle := 0, 0
	for began := clock.Mono(); last < barrierRows && clock.Since(began) < patience; {
		first := count(r.lock(o, "0", "9", kvapi.RangeGap))
		if again := count(r.lock(o, "0", "9", kvapi.RangeGap)); again != first {
			t.Fatalf("%d rows, then %d in a locked range", first, again)
		}
		before := committed.Load()
		r.s.ReleaseLocks(o)
		if idle++; first > last {
			last, idle = first, 0
		}
		// Readers do not wait for writers that wait: on one processor, this one would always have the range again before any of them runs.
		for idle > barrierIdleMax && committed.Load() == before && clock.Since(began) < patience {
			runtime.Gosched()
		}
	}
	close(stop)
	for range 4 {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	if last < barrierRows {
		t.Error("too little was committed meanwhile")
	}
}

// TestRevertRanges: what is reverted is what was locked under the mark, also where it has joined older spans, and nothing else; only the newest
// mark can be reverted, and once.
func TestRevertRanges(t *testing.T) {
	r := newRangeRig(t)
	rng := testkit.Rand(testkit.Seed(t), 1)
	for round := range 200 {
		o, other := r.owner(uint64(2*round+1)), r.owner(uint64(2*round+2))
		var locked, before [kvapi.RangeKinds][10]bool // of keys 0 to 9: the model
		last := uint64(0)
		for step := range 12 {
			mark := uint64(step/3 + 1)
			if rng.IntN(4) == 0 {
				mark = max(1, mark-1) // an older operator goes on
			}
			if rng.IntN(4) == 0 {
				if got, want := r.s.RevertRanges(o, mark), mark == last; got != want {
					t.Fatalf("round %d: revert of mark %d after %d: %v", round, mark, last, got)
				} else if got {
					locked, last = before, 0
				}
			} else {
				if mark != last {
					before, last = locked, mark
				}
				from := rng.IntN(10)
				to, kind := from+rng.IntN(10-from), kvapi.RangeKind(rng.IntN(2))
				span := kvapi.Span{Start: rangeKey(fmt.Sprint(from)), End: rangeKey(fmt.Sprint(to))}
				if _, err := r.s.LockRange(o, &kvapi.RangeLockRequest{Regions: r.refs(), Span: span, Kind: kind, Mark: mark}); err != nil {
					t.Fatal(err)
				}
				r.s.KeepRange(o, span)
				for at := from; at < to; at++ {
					locked[kind][at] = true
				}
			}
			for at := range 10 {
				gap := r.s.locks.ranges.conflict(other, rangeKey(fmt.Sprint(at)), accessCreate)
				whole := r.s.locks.ranges.conflict(other, rangeKey(fmt.Sprint(at)), accessChange)
				if wantWhole := locked[kvapi.RangeWhole][at]; whole != wantWhole || gap != (wantWhole || locked[kvapi.RangeGap][at]) {
					t.Fatalf("round %d, step %d, key %d: gap %v, whole %v; model %v", round, step, at, gap, whole, locked)
				}
			}
		}
		r.s.ReleaseLocks(o)
	}
}
