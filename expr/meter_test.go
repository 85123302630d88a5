package expr

import (
	"errors"
	"testing"
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
