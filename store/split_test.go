package store

import (
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pandodb/pando/clock"
	"github.com/pandodb/pando/engine"
	"github.com/pandodb/pando/internal/testkit"
	"github.com/pandodb/pando/keys"
	"github.com/pandodb/pando/kvapi"
)

// TestSplitWaitsForLoad: a region that grows fast is not measured before it has stopped, or is several times too large.
func TestSplitWaitsForLoad(t *testing.T) {
	s, err := Open(Options{Engine: memEngine(t), RegionBytesMax: 64 << 10, SampleInterval: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	var o Owner
	s.OpenOwner(&o, 1)
	rows := 0
	// load commits a number of rows of a kilobyte.
	load := func(n int) {
		t.Helper()
		for range n {
			put := kvapi.Mutation{Key: fmt.Appendf(nil, "%05d", rows), Value: make([]byte, 1000)}
			rows++
			regions := s.Regions()
			at := s.regions.Load().find(put.Key)
			if _, err := s.Commit(&o, &kvapi.CommitRequest{Regions: []kvapi.RegionRef{regions[at].Ref()}, Mutations: []kvapi.Mutation{put}}); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, c := range []struct {
		name          string
		rows, regions int
	}{
		{"too large and growing", 100, 1},
		{"still growing", 100, 1},
		{"almost calm", 2, 6}, // of half of the greatest size
		{"the last one growing", 40, 6},
		{"the last one much too large while growing", 400, 20},
	} {
		load(c.rows)
		s.sampleRegions()
		if n := len(s.Regions()); n != c.regions {
			t.Errorf("%s: %d regions, want %d", c.name, n, c.regions)
		}
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

// splitRig is a store to split regions of: alone, or the first of a cluster.
type splitRig struct {
	t *testing.T
	s *Store
	o Owner
}

func openSplitRig(t *testing.T, e *engine.Engine, cluster bool, o Options) *splitRig {
	t.Helper()
	o.Engine, o.SampleInterval, o.GCInterval = e, time.Hour, time.Hour
	s, err := Open(o)
	if err != nil {
		t.Fatal(err)
	}
	r := &splitRig{t: t, s: s}
	if cluster && s.Cluster() == nil {
		if err := s.Promote(); err != nil {
			t.Fatal(err)
		}
	}
	s.OpenOwner(&r.o, 1)
	return r
}

// put commits a value, whatever becomes of the regions meanwhile.
func (r *splitRig) put(key, value []byte) error {
	for {
		var at kvapi.RegionRef
		for _, d := range r.s.Regions() {
			if d.Contains(key) {
				at = d.Ref()
			}
		}
		mutations := []kvapi.Mutation{{Key: key, Value: value}}
		var err error
		if c := r.s.Cluster(); c != nil {
			var start clock.Timestamp
			if start, err = c.Timestamp(); err == nil {
				_, err = c.Do(&kvapi.PrewriteRequest{Region: at, Start: start, Primary: key, Mutations: mutations, OnePhase: true})
			}
		} else {
			_, err = r.s.Commit(&r.o, &kvapi.CommitRequest{Regions: []kvapi.RegionRef{at}, Mutations: mutations})
		}
		if moved := (*kvapi.EpochError)(nil); !errors.As(err, &moved) {
			return err
		}
	}
}

// rows commits rows of a kilobyte with these numbers, of a table.
func (r *splitRig) rows(table uint64, from, to int) {
	r.t.Helper()
	for i := from; i < to; i++ {
		if err := r.put(rowOf(table, i), make([]byte, 1000)); err != nil {
			r.t.Fatal(err)
		}
	}
}

func rowOf(table uint64, i int) []byte { return fmt.Appendf(keys.RowPrefix(nil, table), "%05d", i) }

// sample has the store look at its regions until it splits no more.
func (r *splitRig) sample() {
	r.s.sampleRegions() // they grow
	for r.s.sampleRegions() {
	}
}

// bounds names where regions begin, by tables and rows, and checks that they follow each other.
func (r *splitRig) bounds() (out string) {
	r.t.Helper()
	var end []byte
	for i, d := range r.s.Regions() {
		if string(d.Start) != string(end) || i > 0 && len(d.Start) == 0 {
			r.t.Errorf("a region begins at %x, the one before ends at %x", d.Start, end)
		}
		end = d.End
		if table, rest, ok := keys.DecodeTablePrefix(d.Start); ok {
			out += fmt.Sprintf(" %d%s", table, rest)
		}
		if c := r.s.Cluster(); c != nil {
			testkit.Await(r.t, "a leader", func() bool { st, here := r.s.GroupStatus(d.ID); return here && st.Leads })
		}
	}
	if len(end) != 0 {
		r.t.Errorf("the last region ends at %x", end)
	}
	return strings.TrimSpace(out)
}

// TestSplits: where regions are cut, alone and in a cluster.
func TestSplits(t *testing.T) {
	type rows struct {
		table    uint64
		from, to int
	}
	for name, c := range map[string]struct {
		o    Options
		rows []rows
		want string
	}{
		"small":               {Options{RegionBytesMax: 64 << 10}, []rows{{5, 0, 14}}, ""},
		"halves":              {Options{RegionBytesMax: 64 << 10, TableBytesMax: 1 << 20}, []rows{{5, 0, 70}}, "5r00036"},
		"parts":               {Options{RegionBytesMax: 64 << 10, SplitBytes: 16 << 10, TableBytesMax: 1 << 20}, []rows{{5, 0, 80}}, "5r00016 5r00032 5r00048 5r00064"},
		"one row only":        {Options{RegionBytesMax: 64 << 10, TableBytesMax: 1 << 20}, []rows{{5, 7, 8}, {5, 7, 8}}, ""},
		"a large table":       {Options{RegionBytesMax: 64 << 10}, []rows{{4, 0, 5}, {5, 0, 20}, {6, 0, 5}, {7, 0, 5}}, "5 6"},
		"neighbours":          {Options{RegionBytesMax: 64 << 10}, []rows{{4, 0, 20}, {5, 0, 20}}, "5"},
		"small tables":        {Options{RegionBytesMax: 64 << 10}, []rows{{4, 0, 10}, {5, 0, 10}, {6, 0, 10}}, ""},
		"the only table":      {Options{RegionBytesMax: 64 << 10}, []rows{{4, 0, 20}}, ""},
		"too large, and more": {Options{RegionBytesMax: 64 << 10}, []rows{{4, 0, 5}, {5, 0, 70}, {6, 0, 5}}, "5 5r00037 6"},
	} {
		for _, cluster := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, cluster %v", name, cluster), func(t *testing.T) {
				r := openSplitRig(t, memEngine(t), cluster, c.o)
				defer func() {
					if err := r.s.Close(); err != nil {
						t.Error(err)
					}
				}()
				for _, rows := range c.rows {
					r.rows(rows.table, rows.from, rows.to)
				}
				r.sample()
				if got := r.bounds(); got != c.want {
					t.Errorf("regions begin at %q, want %q", got, c.want)
				}
				m := r.s.Metrics()
				if n := len(strings.Fields(c.want)); m.Splits != uint64(n) || m.BorderSplits > m.Splits || m.Regions != n+1 {
					t.Errorf("%d splits, %d at borders, %d regions", m.Splits, m.BorderSplits, m.Regions)
				}
				// What is known of the parts is what they hold, so that they are not looked at again without need.
				for _, st := range r.s.RegionStatuses() {
					if size, err := r.s.measure(st.Region); len(c.want) > 0 && (err != nil || st.Bytes < size.total/2 || st.Bytes > 2*size.total+1) {
						t.Errorf("region %d has %d bytes and is taken to have %d: %v", st.Region.ID, size.total, st.Bytes, err)
					}
				}
			})
		}
	}
}

// TestTableJoins: a large table that had a region for itself is cut off from small ones that come beside it, however little they have.
func TestTableJoins(t *testing.T) {
	for _, cluster := range []bool{false, true} {
		r := openSplitRig(t, memEngine(t), cluster, Options{RegionBytesMax: 64 << 10})
		for _, step := range []struct {
			table uint64
			rows  int
			want  string
		}{{4, 20, ""}, {5, 1, "5"}, {6, 1, "5"}, {3, 1, "4 5"}} {
			r.rows(step.table, 0, step.rows)
			r.sample()
			if got := r.bounds(); got != step.want {
				t.Errorf("cluster %v, rows of table %d: regions begin at %q, want %q", cluster, step.table, got, step.want)
			}
		}
		if err := r.s.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestVersionsStayTogether: a region that is too large for the versions of one key is not cut among them, nor in front of it.
func TestVersionsStayTogether(t *testing.T) {
	for _, cluster := range []bool{false, true} {
		r := openSplitRig(t, memEngine(t), cluster, Options{RegionBytesMax: 64 << 10})
		for range 100 {
			r.rows(5, 7, 8)
		}
		r.sample()
		if got := r.bounds(); got != "" {
			t.Errorf("cluster %v: regions begin at %q", cluster, got)
		}
		r.rows(5, 9, 10)
		for range 100 {
			r.rows(5, 7, 8)
		}
		r.sample()
		if got := r.bounds(); got != "5r00009" {
			t.Errorf("cluster %v: regions begin at %q", cluster, got)
		}
		if err := r.s.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestPowerLossDuringSplits: whichever write or sync of the log is the last one before the power goes, all rows that were acknowledged are
// there behind it, regions cover all keys, and what was not cut is cut then, under numbers of its own.
func TestPowerLossDuringSplits(t *testing.T) {
	steps := 0
	for stop := int64(1); ; stop++ {
		mem := engine.NewMemFS()
		var armed, done atomic.Int64
		var dead *engine.MemFS
		hook := &testkit.HookFS{FS: mem}
		step := func(name string) {
			if armed.Load() > 0 && testkit.IsWAL(name) && done.Add(1) == armed.Load() {
				dead = testkit.Crash(mem, int(stop%3)*50, uint64(stop))
			}
		}
		hook.OnWrite = func(name string, _ int) error { step(name); return nil }
		hook.OnSync = func(name string) (bool, error) { step(name); return false, nil }
		open := func(fs engine.FS) *engine.Engine {
			e, err := engine.Open(engine.Options{Dir: "d", FS: fs, LowSpaceBytes: engine.NoSpace, BallastBytes: engine.NoSpace, CacheBytes: 8 << 20})
			if err != nil {
				t.Fatalf("step %d: %v", stop, err)
			}
			return e
		}
		closeAll := func(r *splitRig, e *engine.Engine) {
			if err := errors.Join(r.s.Close(), e.Close()); err != nil {
				t.Errorf("step %d: %v", stop, err)
			}
		}
		o := Options{RegionBytesMax: 64 << 10, SplitBytes: 32 << 10, TableBytesMax: 1 << 20}
		e := open(hook)
		r := openSplitRig(t, e, true, o)
		r.rows(5, 0, 100)
		r.s.sampleRegions()
		armed.Store(stop)
		r.s.sampleRegions()
		all := done.Load()
		armed.Store(0)
		closeAll(r, e)
		if dead == nil {
			steps = int(all)
			break
		}
		e = open(dead)
		r = openSplitRig(t, e, true, o)
		if err := r.s.TakeOver(t.Context()); err != nil {
			t.Fatalf("step %d: %v", stop, err)
		}
		r.bounds()
		r.rows(5, 100, 140)
		r.sample()
		if n := len(strings.Fields(r.bounds())); n < 2 {
			t.Errorf("step %d: %d cuts", stop, n)
		}
		ids := map[kvapi.RegionID]bool{}
		for _, d := range r.s.Regions() {
			if ids[d.ID] {
				t.Errorf("step %d: region %d twice", stop, d.ID)
			}
			ids[d.ID] = true
		}
		for i := range 140 {
			key := rowOf(5, i)
			for _, d := range r.s.Regions() {
				if !d.Contains(key) {
					continue
				}
				var row rowSink
				if found, err := r.s.Cluster().Get(&kvapi.GetRequest{Region: d.Ref(), Key: key, TS: kvapi.Latest, Sink: &row}); err != nil || !found {
					t.Errorf("step %d: row %d is there: %v, %v", stop, i, found, err)
				}
			}
		}
		closeAll(r, e)
	}
	if steps < 2 {
		t.Errorf("splits took %d writes and syncs", steps)
	}
	t.Logf("%d steps", steps)
}
