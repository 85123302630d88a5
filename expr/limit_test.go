package expr_test

import (
	"runtime"
	"testing"

	"github.com/pandodb/pando/types"
)

// limitPacket is max_allowed_packet in the tests of what results may take.
const limitPacket = 1 << 20

// measured evaluates text with a small max_allowed_packet and returns, besides the value and the number of warning 1301, how many bytes
// the evaluation allocated.
func measured(t *testing.T, text string) (v types.Value, warned int, allocated uint64) {
	t.Helper()
	x := newBinder()
	x.b.NoFold = true
	e, err := x.parse(text)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	ctx := x.newContext()
	ctx.MaxAllowedPacket = limitPacket
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	v, err = e.Eval(ctx, nil)
	runtime.ReadMemStats(&after)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	for _, w := range ctx.Warnings() {
		if w.Number == types.ErWarnAllowedPacketOverflowed {
			warned++
		}
	}
	return v, warned, after.TotalAlloc - before.TotalAlloc
}

// TestResultsBeyondThePacket: what would be longer than max_allowed_packet is NULL with warning 1301, and is not built first.
func TestResultsBeyondThePacket(t *testing.T) {
	for _, text := range []string{
		"REPLACE(REPEAT('a', 4000), 'a', REPEAT('b', 10000))",
	} {
		v, warned, allocated := measured(t, text)
		if !v.IsNull() || warned != 1 {
			t.Errorf("%s: %d bytes, %d warnings", text, len(v.B), warned)
		}
		if allocated > 8*limitPacket {
			t.Errorf("%s: %d bytes were allocated", text, allocated)
		}
	}
}
