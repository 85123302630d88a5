package store

import (
	"fmt"
	"testing"

	"github.com/pandodb/pando/engine"
	"github.com/pandodb/pando/internal/testkit"
	"github.com/pandodb/pando/keys"
)

// TestIdleSettles: a store without commits flushes what recovery would read, and then gets rid of what updates have left.
func TestIdleSettles(t *testing.T) {
	if testing.Short() {
		t.Skip("waits until a store counts as idle")
	}
	e, err := engine.Open(engine.Options{Dir: "d", FS: engine.NewMemFS(), MemTableBytes: 64 << 20})
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
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if err := e.Close(); err != nil {
		t.Error(err)
	}
}

// TestLoadWatch: large commits since the last pause are a load, whatever came before it; small ones, few and none are not.
func TestLoadWatch(t *testing.T) {
	var l loadWatch
	for i, c := range []struct {
		commits, bytes uint64
		want           bool
	}{
		{1000, 500_000, false},
		{1000, 500_000, false},
		{1100, 70_500_000, true},
		{1100, 70_500_000, false},
		{200_000, 270_000_000, false},
		{200_400, 470_000_000, true},
		{200_500, 530_000_000, false},
	} {
		if got := l.ended(c.commits, c.bytes); got != c.want {
			t.Errorf("pause %d: %t", i, got)
		}
	}
}
