package engine_test

import (
	"encoding/binary"
	"math/rand/v2"
	"testing"

	"github.com/pandodb/pando/engine"
	"github.com/pandodb/pando/internal/testkit"
)

// scramble fills a value, whose length is a multiple of eight, with what no compressor makes smaller.
func scramble(r *rand.Rand, value []byte) {
	for at := 0; at < len(value); at += 8 {
		binary.LittleEndian.PutUint64(value[at:], r.Uint64())
	}
}

// fill writes values of 1 KiB that can't be compressed to every stepth of so many keys, into a table.
func fill(t *testing.T, e *engine.Engine, r *rand.Rand, keys, step int) {
	t.Helper()
	value := make([]byte, 1<<10)
	b := e.NewBatch()
	defer b.Close()
	for i := 0; i < keys; i += step {
		scramble(r, value)
		b.Set(local("%06d", i), value)
	}
	if err := e.Apply(b, false); err != nil {
		t.Fatal(err)
	}
	if err := e.Flush(); err != nil {
		t.Fatal(err)
	}
}

// TestSettle: an idle engine gets rid of the versions that updates at random have left, if there are enough of them and nobody
// is busy.
func TestSettle(t *testing.T) {
	if testing.Short() {
		t.Skip("writes 150 MiB")
	}
	const keys = 100 << 10 // 100 MiB, two slices
	r := testkit.Rand(testkit.Seed(t), 0)
	e := open(t, engine.Options{Dir: "d", FS: engine.NewMemFS(), MemTableBytes: 256 << 20})
	fill(t, e, r, keys, 1)
	if err := e.Compact(t.Context(), local(""), local("z")); err != nil {
		t.Fatal(err)
	}
	loaded := e.Metrics()

	settle := func(busy bool) (compactions uint64) {
		before := e.Metrics().Compactions
		if err := e.Settle(t.Context(), func() bool { return busy }); err != nil {
			t.Fatal(err)
		}
		return e.Metrics().Compactions - before
	}
	if n := settle(false); n != 0 {
		t.Errorf("%d compactions of what has just been compacted", n)
	}
	fill(t, e, r, keys, 25)
	if n := settle(false); n != 0 {
		t.Errorf("%d compactions for a twenty-fifth of the rows", n)
	}
	fill(t, e, r, keys, 4)
	if n := settle(true); n != 0 {
		t.Errorf("%d compactions while writers are busy", n)
	}
	if m := e.Metrics(); m.TableBytes < loaded.TableBytes/100*125 {
		t.Fatalf("%d bytes before, %d loaded: updates have left no garbage", m.TableBytes, loaded.TableBytes)
	}
	if n := settle(false); n == 0 {
		t.Error("no compaction for a quarter of the rows")
	}
	if m := e.Metrics(); m.TableBytes > loaded.TableBytes/100*101 {
		t.Errorf("%d bytes when settled, %d when loaded", m.TableBytes, loaded.TableBytes)
	}
}
