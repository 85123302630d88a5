package store

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/pandodb/pando/clock"
	"github.com/pandodb/pando/engine"
	"github.com/pandodb/pando/kvapi"
)

// fillRig is a store whose keys are looked at.
type fillRig struct {
	t  *testing.T
	s  *Store
	id uint64
}

func openFillRig(t *testing.T, fs engine.FS, dir string) *fillRig {
	t.Helper()
	e, err := engine.Open(engine.Options{Dir: dir, FS: fs, LowSpaceBytes: 1 << 30, BallastBytes: engine.NoSpace})
	if err != nil {
		t.Fatal(err)
	}
	s, err := Open(Options{Engine: e, GCInterval: time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	return &fillRig{t: t, s: s}
}

func (r *fillRig) close() {
	r.t.Helper()
	if err := errors.Join(r.s.Close(), r.s.engine.Close()); err != nil {
		r.t.Fatal(err)
	}
}

// commit writes a key, or deletes it if value is empty, as who holds no lock of it.
func (r *fillRig) commit(key, value string) {
	r.t.Helper()
	var o Owner
	r.id++
	r.s.OpenOwner(&o, r.id)
	m := kvapi.Mutation{Key: []byte(key), Value: []byte(value)}
	if value == "" {
		m.Kind = kvapi.MutationDelete
	}
	if _, err := r.s.Commit(&o, &kvapi.CommitRequest{Regions: []kvapi.RegionRef{r.s.Regions()[0].Ref()}, Mutations: []kvapi.Mutation{m}}); err != nil {
		r.t.Fatal(err)
	}
}

// want compares what keys hold now.
func (r *fillRig) want(when string, want map[string]string) {
	r.t.Helper()
	for key, value := range want {
		var sink rowSink
		found, err := r.s.Get(&kvapi.GetRequest{Region: r.s.Regions()[0].Ref(), Key: []byte(key), Sink: &sink})
		if err != nil || found != (value != "") || found && string(sink.row) != value {
			r.t.Errorf("%s: %s is %v %q, %v; want %q", when, key, found, sink.row, err, value)
		}
	}
}

// fill makes versions of all keys at a timestamp.
func (r *fillRig) fill(at clock.Timestamp, keys ...string) error {
	f, err := r.s.NewFill(kvapi.Span{Start: []byte("k"), End: []byte("l")}, 1, at)
	if err != nil {
		return err
	}
	defer f.Discard()
	for _, key := range keys {
		if err := f.Add([]byte(key), []byte("filled"), at); err != nil {
			return err
		}
	}
	return f.Apply(&kvapi.Interrupt{})
}

func (r *fillRig) collect() {
	r.t.Helper()
	for end := clock.Mono() + time.Minute; r.s.GCBacklog() > 0; clock.Sleep(time.Millisecond) {
		if r.s.CollectNow(); clock.Mono() > end {
			r.t.Fatal("the garbage stays")
		}
	}
}

// TestFill: what was written since the snapshot stays in force over what a fill makes, a deletion too, whether it was flushed or not, after a crash, and
// once garbage is collected. A backup has what was filled, and who has looked for a key before finds it.
func TestFill(t *testing.T) {
	fs := engine.NewMemFS()
	r := openFillRig(t, fs, "d")
	r.commit("k0", "before")
	var sn Snapshot
	r.s.Register(&sn)
	r.commit("k2", "newer")
	r.commit("k3", "newer")
	r.commit("k3", "")
	r.commit("k4", "") // which has never been there
	if err := r.s.engine.Flush(); err != nil {
		t.Fatal(err)
	}
	r.commit("k5", "newer")
	r.commit("k6", "")
	r.want("before", map[string]string{"k1": "", "k5": "newer", "k6": ""})
	if err := r.fill(sn.TS(), "k6", "k1", "k4", "k2", "k3", "k5"); err != nil {
		t.Fatal(err)
	}
	want := map[string]string{"k0": "before", "k1": "filled", "k2": "newer", "k3": "", "k4": "", "k5": "newer", "k6": ""}
	r.want("at once", want)
	if _, err := r.s.engine.Checkpoint("copy", func() error { return nil }); err != nil {
		t.Fatal(err)
	}
	crashed := fs.CrashClone(engine.CrashConfig{})
	r.s.Unregister(&sn)
	r.collect()
	r.want("without garbage", want)
	r.commit("k1", "later")
	r.commit("k2", "")
	r.collect()
	r.want("changed again", map[string]string{"k1": "later", "k2": ""})
	r.close()
	r = openFillRig(t, crashed, "d")
	r.want("after a crash", want)
	r.s.CollectNow()
	r.close()
	r = openFillRig(t, fs, "copy")
	r.want("in a backup", want)
	r.close()
}

// TestFillRefused: what would bring back what was deleted is refused, and so are keys from elsewhere and stores whose regions have logs.
func TestFillRefused(t *testing.T) {
	r := openFillRig(t, engine.NewMemFS(), "d")
	defer r.close()
	r.commit("k1", "before")
	var sn Snapshot
	r.s.Register(&sn)
	at := sn.TS()
	r.commit("k2", "")
	r.s.Unregister(&sn)
	r.collect()
	if err := r.fill(at, "k2"); !errors.Is(err, kvapi.ErrSnapshotTooOld) {
		t.Errorf("a snapshot that is not registered: %v", err)
	}
	r.want("refused", map[string]string{"k1": "before", "k2": ""})
	r.s.Register(&sn)
	if err := r.fill(sn.TS(), "k3", "m1"); err == nil {
		t.Error("a key outside of the span is taken")
	}
	if err := r.fill(sn.TS()); err != nil {
		t.Errorf("nothing: %v", err)
	}
	var killed kvapi.Interrupt
	killed.Set(kvapi.ReasonKillQuery)
	f, err := r.s.NewFill(kvapi.Span{Start: []byte("k"), End: []byte("l")}, 1, sn.TS())
	if err != nil {
		t.Fatal(err)
	}
	for i := range 10000 {
		if err := f.Add(fmt.Appendf(nil, "k%05d", i), nil, sn.TS()); err != nil {
			t.Fatal(err)
		}
	}
	if err := f.Apply(&killed); !errors.Is(err, kvapi.ErrInterrupted) {
		t.Errorf("interrupted: %v", err)
	}
	if err := r.s.Promote(); err != nil {
		t.Fatal(err)
	}
	if err := f.Apply(&kvapi.Interrupt{}); !errors.Is(err, kvapi.ErrNotAlone) {
		t.Errorf("a fill that meets a promotion: %v", err)
	}
	f.Discard()
	if err := r.fill(sn.TS(), "k4"); !errors.Is(err, kvapi.ErrNotAlone) {
		t.Errorf("of a cluster: %v", err)
	}
	r.s.Unregister(&sn)
}

// TestFillOnFullDisk: a fill looks at the disk by itself, also before it has written a file, and while it adds: without commits nobody else does.
func TestFillOnFullDisk(t *testing.T) {
	disk := &diskFS{FS: engine.NewMemFS()}
	disk.room.Store(1 << 40)
	r := openFillRig(t, disk, "d")
	defer r.close()
	r.commit("k0", "before")
	var sn Snapshot
	r.s.Register(&sn)
	defer r.s.Unregister(&sn)
	full := func(full bool) {
		disk.room.Store(1 << 40)
		if full {
			disk.room.Store(1 << 20)
		}
	}
	full(true)
	if err := r.fill(sn.TS(), "k1"); !errors.Is(err, kvapi.ErrDiskFull) {
		t.Errorf("what is put in: %v", err)
	}
	full(false)
	if err := r.fill(sn.TS(), "k1"); err != nil {
		t.Errorf("there is room again: %v", err)
	}
	f, err := r.s.NewFill(kvapi.Span{Start: []byte("k"), End: []byte("l")}, 1, sn.TS())
	if err != nil {
		t.Fatal(err)
	}
	defer f.Discard()
	full(true)
	value, added := make([]byte, 64<<10), 0
	for ; err == nil && added < 2*fillLookBytes; added += len(value) {
		err = f.Add(fmt.Appendf(nil, "k%09d", added), value, sn.TS())
	}
	if !errors.Is(err, kvapi.ErrDiskFull) {
		t.Errorf("%d bytes were added: %v", added, err)
	}
	full(false)
	r.want("in the end", map[string]string{"k0": "before", "k1": "filled"})
}
