package store

import (
	"errors"
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/pandodb/pando/engine"
	"github.com/pandodb/pando/internal/testkit"
	"github.com/pandodb/pando/keys"
	"github.com/pandodb/pando/kvapi"
)

// diskFS says how much room there is.
type diskFS struct {
	engine.FS
	room atomic.Uint64 // in bytes
}

func (f *diskFS) GetDiskUsage(string) (engine.DiskUsage, error) {
	return engine.DiskUsage{AvailBytes: f.room.Load(), TotalBytes: 1 << 40}, nil
}

// TestIdleSettles: a store without commits flushes what recovery would read, then gets rid of what updates have left, and sleeps; if
// the disk is full for a while meanwhile, writes are accepted again afterwards.
func TestIdleSettles(t *testing.T) {
	if testing.Short() {
		t.Skip("waits until a store counts as idle")
	}
	disk := &diskFS{FS: engine.NewMemFS()}
	disk.room.Store(1 << 40)
	e, err := engine.Open(engine.Options{Dir: "d", FS: disk, MemTableBytes: 64 << 20, LowSpaceBytes: 1 << 30, BallastBytes: engine.NoSpace})
	if err != nil {
		t.Fatal(err)
	}
	s, err := Open(Options{Engine: e})
	if err != nil {
		t.Fatal(err)
	}
	// Until its time: what it does to a store that has been idle for long, it would do while a slow machine is loading.
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	r := testkit.Rand(testkit.Seed(t), 0)
	noise := make([]byte, 2<<20)
	for i := range noise {
		noise[i] = byte(r.Uint32())
	}
	write := func() {
		const valueBytes = 64 << 10
		for i := range 256 { // 16 MiB
			from := r.IntN(len(noise) - valueBytes)
			set(t, e, keys.LocalKey(nil, fmt.Appendf(nil, "idle %03d", i)), noise[from:from+valueBytes])
		}
	}
	write()
	if err := e.Flush(); err != nil {
		t.Fatal(err)
	}
	if err := e.Compact(t.Context(), keys.LocalKey(nil, nil), keys.LocalKey(nil, []byte("z"))); err != nil {
		t.Fatal(err)
	}
	loaded := e.Metrics().TableBytes
	if s, err = Open(Options{Engine: e}); err != nil {
		t.Fatal(err)
	}
	write()
	if n := e.Metrics().WALLiveBytes; n < 16<<20 {
		t.Fatalf("%d bytes in the log after the updates", n)
	}
	testkit.Await(t, "the log is flushed", func() bool { return e.Metrics().WALLiveBytes == 0 })
	if n := e.Metrics().TableBytes; n < 2*loaded-loaded/10 {
		t.Errorf("%d bytes in tables before the store settles, %d loaded: the updates have left nothing", n, loaded)
	}
	testkit.Await(t, "the old versions are gone", func() bool { return e.Metrics().TableBytes < loaded+loaded/10 })
	testkit.Await(t, "maintenance sleeps", s.idle.Load)
	disk.room.Store(1 << 20)
	e.PollDisk() // as the end of a flush or compaction may
	disk.room.Store(1 << 40)
	var o Owner
	s.OpenOwner(&o, 1)
	commit := func() error {
		put := kvapi.Mutation{Kind: kvapi.MutationPut, Key: []byte("k"), Value: []byte("v")}
		_, err := s.Commit(&o, &kvapi.CommitRequest{Regions: []kvapi.RegionRef{s.Regions()[0].Ref()}, Mutations: []kvapi.Mutation{put}})
		return err
	}
	if err := commit(); !errors.Is(err, kvapi.ErrDiskFull) {
		t.Errorf("a commit to a full disk: %v", err)
	}
	testkit.Await(t, "writes are accepted again", func() bool { return commit() == nil })
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if err := e.Close(); err != nil {
		t.Error(err)
	}
}

// TestLoadWatch: large commits since the last pause are a load, whatever comes before and behind them; small ones, few and none are
// not.
func TestLoadWatch(t *testing.T) {
	var l loadWatch
	for i, c := range []struct {
		commits, bytes uint64
		pause, want    bool
	}{
		{commits: 1000, bytes: 500_000},
		{commits: 1000, bytes: 500_000, pause: true},
		{commits: 1100, bytes: 70_500_000, pause: true, want: true},
		{commits: 1100, bytes: 70_500_000, pause: true},
		{commits: 200_000, bytes: 270_000_000, pause: true},
		{commits: 200_400, bytes: 470_000_000, pause: true, want: true},
		{commits: 200_500, bytes: 530_000_000, pause: true},
		{commits: 300_000, bytes: 600_000_000},
		{commits: 300_100, bytes: 640_000_000},
		{commits: 300_200, bytes: 680_000_000},
		{commits: 400_000, bytes: 700_000_000},
		{commits: 400_000, bytes: 700_000_000, pause: true, want: true},
		{commits: 400_100, bytes: 740_000_000},
		{commits: 400_100, bytes: 740_000_000, pause: true},
		{commits: 400_200, bytes: 780_000_000, pause: true},
	} {
		l.tick(c.commits, c.bytes)
		if c.pause && l.ended() != c.want {
			t.Errorf("step %d: not %t", i, c.want)
		}
	}
}
