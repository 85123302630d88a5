package mvcc_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/pandodb/pando/clock"
	"github.com/pandodb/pando/engine"
	"github.com/pandodb/pando/internal/script"
	"github.com/pandodb/pando/keys"
	"github.com/pandodb/pando/mvcc"
)

// TestScripts runs testdata. Each file has an engine of its own in memory. Commands:
//
//	write                        lines "put KEY@TS[-START] VALUE", "del KEY@TS[-START]", "raw KEY@TS HEX", one batch
//	get k=KEY ts=TS              latest k=KEY
//	scan ts=TS [from= to= seek=] [reverse]
//	gc k=KEY safepoint=TS [limit=N]
//	gcspan safepoint=TS [limit=N] [moves=N]    until done, a batch a line
//	dump                         all versions, newest first
//	flush                        move everything into tables
func TestScripts(t *testing.T) {
	script.Run(t, "testdata", func(t *testing.T) script.Commands {
		s := &scriptRun{t: t}
		var err error
		if s.e, err = engine.OpenMem(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := s.e.Close(); err != nil {
				t.Error(err)
			}
		})
		return script.Pick(s.run, "write", "get", "latest", "scan", "gc", "gcspan", "dump", "flush")
	})
}

type scriptRun struct {
	t *testing.T
	e *engine.Engine
}

func (s *scriptRun) run(t *testing.T, d *script.Block) string {
	var out strings.Builder
	switch d.Cmd {
	case "write":
		s.write(d)
		return "ok"
	case "get", "latest":
		s.get(d, &out)
	case "scan":
		s.scan(d, &out)
	case "gc":
		s.gc(d, &out)
	case "dump":
		s.dump(&out)
	case "flush":
		if err := s.e.Flush(); err != nil {
			t.Fatal(err)
		}
		return "ok"
	default:
		d.Fatalf(t, "unknown command %s", d.Cmd)
	}
	return out.String()
}

func (s *scriptRun) write(d *script.Block) {
	b := s.e.NewBatch()
	defer b.Close()
	for line := range strings.Lines(d.Input) {
		f := strings.Fields(line)
		var key string
		var ts, start uint64
		at := strings.SplitN(f[1], "@", 2)
		key = at[0]
		if _, err := fmt.Sscanf(at[1], "%d-%d", &ts, &start); err != nil && ts == 0 {
			d.Fatalf(s.t, "bad version %s", f[1])
		}
		switch f[0] {
		case "put":
			mvcc.Put(b, []byte(key), clock.Timestamp(ts), clock.Timestamp(start), []byte(f[2]))
		case "del":
			mvcc.Delete(b, []byte(key), clock.Timestamp(ts), clock.Timestamp(start))
		case "raw":
			var value []byte
			if len(f) > 2 {
				if _, err := fmt.Sscanf(f[2], "%x", &value); err != nil {
					d.Fatalf(s.t, "bad hex %s", f[2])
				}
			}
			b.SetVersion([]byte(key), clock.Timestamp(ts), value, nil)
		default:
			d.Fatalf(s.t, "unknown write %s", f[0])
		}
	}
	if err := s.e.Apply(b, true); err != nil {
		s.t.Fatal(err)
	}
}

func (s *scriptRun) get(d *script.Block, out *strings.Builder) {
	var key string
	ts := uint64(clock.MaxTimestamp)
	d.ScanArgs(s.t, "k", &key)
	d.MaybeScanArgs(s.t, "ts", &ts)
	it := newIter(s.t, s.e)
	defer closeIter(s.t, it)
	row, vts, found, err := mvcc.Get(it, []byte(key), clock.Timestamp(ts))
	switch {
	case err != nil:
		fmt.Fprintf(out, "error: %v\n", err)
	case found:
		fmt.Fprintf(out, "%s@%d\n", row, uint64(vts))
	case vts != 0:
		fmt.Fprintf(out, "deleted@%d\n", uint64(vts))
	default:
		fmt.Fprintln(out, "none")
	}
}

func (s *scriptRun) scan(d *script.Block, out *strings.Builder) {
	ts := uint64(clock.MaxTimestamp)
	var from, to, seek string
	d.MaybeScanArgs(s.t, "ts", &ts)
	o := engine.IterOptions{}
	if d.MaybeScanArgs(s.t, "from", &from) {
		o.Lower = keys.VersionPrefix(nil, []byte(from))
	}
	if d.MaybeScanArgs(s.t, "to", &to) {
		o.Upper = keys.VersionPrefix(nil, []byte(to))
	}
	it, err := s.e.NewIter(o)
	if err != nil {
		s.t.Fatal(err)
	}
	defer closeIter(s.t, it)
	var sc mvcc.Scanner
	sc.Init(it, clock.Timestamp(ts), d.HasArg("reverse"), nil)
	if d.MaybeScanArgs(s.t, "seek", &seek) {
		sc.Seek([]byte(seek))
	}
	for sc.Next() {
		fmt.Fprintf(out, "%s=%s@%d\n", sc.Key(), sc.Row(), uint64(sc.TS()))
	}
	if sc.Err() != nil {
		fmt.Fprintf(out, "error: %v\n", sc.Err())
	}
	if out.Len() == 0 {
		fmt.Fprintln(out, "none")
	}
}

func (s *scriptRun) gc(d *script.Block, out *strings.Builder) {
	var key string
	var safepoint uint64
	limit := 1000
	d.ScanArgs(s.t, "k", &key)
	d.ScanArgs(s.t, "safepoint", &safepoint)
	d.MaybeScanArgs(s.t, "limit", &limit)
	it := newIter(s.t, s.e)
	defer closeIter(s.t, it)
	b := s.e.NewBatch()
	defer b.Close()
	deleted, more, err := mvcc.Collect(it, b, []byte(key), clock.Timestamp(safepoint), limit)
	if err != nil {
		fmt.Fprintf(out, "error: %v\n", err)
		return
	}
	if err := s.e.Apply(b, true); err != nil {
		s.t.Fatal(err)
	}
	fmt.Fprintf(out, "deleted=%d more=%v\n", deleted, more)
}

func (s *scriptRun) dump(out *strings.Builder) {
	it := newIter(s.t, s.e)
	defer closeIter(s.t, it)
	for ok := it.First(); ok; ok = it.Next() {
		key, ts, _ := keys.DecodeVersionKey(it.Key())
		value, err := it.Value()
		if err != nil {
			s.t.Fatal(err)
		}
		v, err := mvcc.DecodeValue(value, ts)
		switch {
		case err != nil:
			fmt.Fprintf(out, "%s@%d bad\n", key, uint64(ts))
			continue
		case v.Tombstone:
			fmt.Fprintf(out, "%s@%d deleted", key, uint64(ts))
		default:
			fmt.Fprintf(out, "%s@%d %s", key, uint64(ts), v.Row)
		}
		if v.Start != 0 {
			fmt.Fprintf(out, " start=%d", uint64(v.Start))
		}
		out.WriteByte('\n')
	}
	if out.Len() == 0 {
		fmt.Fprintln(out, "empty")
	}
}

func closeIter(t testing.TB, it *engine.Iter) {
	t.Helper()
	if err := it.Close(); err != nil {
		t.Error(err)
	}
}
