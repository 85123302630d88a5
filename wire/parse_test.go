package wire

import "testing"

func TestCursorBounds(t *testing.T) {
	for _, b := range [][]byte{{}, {0xfb}, {0xff}, {0xfc, 1}, {0xfd, 1, 1}, {0xfe, 1, 1, 1, 1, 1, 1, 1}, {5, 1}, {0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1}} {
		p := cursor{b: b}
		if got := p.lenencBytes(); !p.bad || got != nil {
			t.Errorf("%x: %x, bad %v", b, got, p.bad)
		}
		if p.uint32() != 0 || p.cstring() != nil || p.cstringOrRest() != nil && len(p.b) != 0 {
			t.Errorf("%x: reading goes on", b)
		}
	}
	for _, n := range []uint64{0, 250, 251, 1<<16 - 1, 1 << 16, 1<<24 - 1, 1 << 24, 1<<64 - 1} {
		p := cursor{b: appendLenenc(nil, n)}
		if got := p.lenenc(); got != n || p.bad || len(p.b) != 0 {
			t.Errorf("%d came back as %d", n, got)
		}
	}
}
