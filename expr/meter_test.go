package expr

import (
	"bytes"
	"errors"
	"testing"

	"github.com/pandodb/pando/types"
)

// TestRefusedText: a text for whose growth there is no memory is not copied to a larger place first.
func TestRefusedText(t *testing.T) {
	refused := errors.New("no memory")
	ctx := &Ctx{Grow: func(n int64) error {
		if n > 3<<20 {
			return refused
		}
		return nil
	}}
	text, more := make([]byte, 1<<20), make([]byte, 1<<10)
	if longer := ctx.extend(text[:1<<10:1<<10], more); len(longer) != 2<<10 || ctx.failed != nil {
		t.Fatalf("%d bytes, %v", len(longer), ctx.failed)
	}
	text = ctx.extend(text, more)
	if len(text) != 1<<20+1<<10 || ctx.failed != nil {
		t.Fatalf("%d bytes, %v", len(text), ctx.failed)
	}
	if same := ctx.extend(text[:cap(text)], more); cap(same) != cap(text) || !errors.Is(ctx.failed, refused) {
		t.Errorf("a place of %d bytes, %v", cap(same), ctx.failed)
	}
}

// TestCountedBase64: FROM_BASE64 counts its result and its copy of the text without white space, each before it is allocated.
func TestCountedBase64(t *testing.T) {
	const size = 1 << 20
	refused := errors.New("no memory")
	text := Const(types.Bytes(bytes.Repeat([]byte("QUJD"), size/4)), types.Type{ID: types.TypeBlob, Coll: types.Binary})
	n := newCall("from_base64", []Expr{text})
	for _, limit := range []int64{4 * size, size + size/2, size / 2} {
		counted := int64(0)
		ctx := &Ctx{Context: new(types.Context), Grow: func(n int64) error {
			if counted+n > limit {
				return refused
			}
			counted += n
			return nil
		}}
		v, err := evalFromBase64(ctx, n, nil)
		switch fits := limit >= size+size/4*3; {
		case fits && (err != nil || len(v.B) != size/4*3 || counted < size+size/4*3):
			t.Errorf("%d bytes counted for a result of %d: %v", counted, len(v.B), err)
		case !fits && ctx.failed == nil:
			t.Errorf("%d bytes of a result and its copy with a limit of %d", len(v.B), limit)
		}
	}
}
