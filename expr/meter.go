package expr

import (
	"cmp"

	"github.com/pandodb/pando/types"
)

// meterUnit is how many bytes an execution may allocate between two calls of Grow and Poll. A statement that stays below only adds numbers.
const meterUnit = 64 << 10

// stepsPerPoll is how many steps a loop without allocations takes between two polls of the interrupt.
const stepsPerPoll = 64 << 10

// charge counts n bytes that evaluation has allocated or is about to, until the arena is reset. It returns false once the statement has
// reached its memory limit or has to end. The error is kept in ctx.failed, which Eval returns: the functions in between return NULL, so that
// they need not pass on an error that concerns the statement and not their value.
func (ctx *Ctx) charge(n int) bool {
	if ctx.owed += n; ctx.owed < meterUnit {
		return ctx.failed == nil
	}
	return ctx.settle()
}

// settle passes the bytes that charge has collected to Grow, and polls.
func (ctx *Ctx) settle() bool {
	if ctx.failed != nil {
		return false
	}
	n := int64(ctx.owed)
	ctx.owed = 0
	if ctx.Grow != nil {
		ctx.held += n
		if ctx.failed = ctx.Grow(n); ctx.failed != nil {
			return false
		}
	}
	ctx.failed = ctx.poll()
	return ctx.failed == nil
}

// fits counts n bytes before they are allocated and reports whether the statement may have them. The next allocation that is counted by
// chargeMade is taken out of them, so that it is not counted twice. Less than meterUnit is not counted here.
func (ctx *Ctx) fits(n int) bool {
	if ctx.ahead > 0 { // the allocation that the last call was for did not come
		ctx.uncharge(int64(ctx.ahead))
		ctx.ahead = 0
	}
	switch {
	case n < meterUnit:
		return ctx.failed == nil
	case !ctx.chargeMade(n):
		return false
	}
	ctx.ahead = n
	return true
}

// chargeMade is charge for an allocation that fits may have counted already.
func (ctx *Ctx) chargeMade(n int) bool {
	counted := min(ctx.ahead, n)
	ctx.ahead = 0
	return ctx.charge(n - counted)
}

// owned counts the memory of b, which is not in the arena, and returns b.
func (ctx *Ctx) owned(b []byte) []byte {
	ctx.chargeMade(cap(b))
	return b
}

// uncharge gives back n of the bytes that were passed to Grow.
func (ctx *Ctx) uncharge(n int64) {
	if n = min(n, ctx.held); n > 0 {
		ctx.held -= n
		ctx.Grow(-n) // giving back never fails
	}
}

// meterMark returns how many bytes are counted now, those included that are not passed to Grow yet. unchargeTo gives back what was counted since, and
// no more: the bytes before the mark may have been passed on in between.
func (ctx *Ctx) meterMark() int64 { return ctx.held + int64(ctx.owed) }

func (ctx *Ctx) unchargeTo(mark int64) {
	ctx.ahead = 0
	since := ctx.meterMark() - mark
	if since <= 0 {
		return
	}
	owed := min(since, int64(ctx.owed))
	ctx.owed -= int(owed)
	ctx.uncharge(since - owed)
}

// pieces calls do with one piece of s after the other, each of whole characters, and polls the interrupt in between; it stops when the
// statement has to end. It is for functions of texts that may be as long as a packet.
func (ctx *Ctx) pieces(s []byte, cs *types.Charset, do func(piece []byte)) {
	_ = cs.Pieces(s, func(piece []byte) error {
		do(piece)
		if err := ctx.steps(len(piece)); err != nil && ctx.failed == nil {
			ctx.failed = err
		}
		return ctx.failed
	})
}

// compareTexts is types.CompareStrings that polls the interrupt while it compares long texts. If the statement has to end, ctx.failed is set
// and the order has no meaning.
func (ctx *Ctx) compareTexts(a, b []byte, c types.CollationID) int {
	if len(a)+len(b) < meterUnit {
		return types.CompareStrings(a, b, c)
	}
	if ctx.failed != nil {
		return 0
	}
	order, err := types.CompareTexts(a, b, c, ctx.Poll)
	if err == nil {
		err = ctx.steps(len(a) + len(b))
	}
	ctx.failed = err
	return order
}

// compare is types.Compare, with compareTexts for texts.
func (ctx *Ctx) compare(a, b *types.Value, c types.CollationID) int {
	if a.K == types.KindString && b.K == types.KindString {
		return ctx.compareTexts(a.B, b.B, cmp.Or(c, a.Coll))
	}
	return types.Compare(*a, *b, c)
}

// reads polls the interrupt before a long text is converted to a number. It returns false if the statement has to end.
func (ctx *Ctx) reads(v *types.Value) bool {
	if len(v.B) >= meterUnit && ctx.failed == nil {
		ctx.failed = ctx.steps(len(v.B))
	}
	return ctx.failed == nil
}

// steps counts n steps of a long loop and polls the interrupt once per stepsPerPoll.
func (ctx *Ctx) steps(n int) error {
	if ctx.stepped += n; ctx.stepped < stepsPerPoll {
		return nil
	}
	ctx.stepped = 0
	return ctx.poll()
}
