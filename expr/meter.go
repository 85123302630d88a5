package expr

import (
	"cmp"

	"github.com/pandodb/pando/types"
)

// meterUnit is how many bytes an execution may make between two calls of Grow and Poll. What stays below costs an addition, so that a
// point statement pays nothing.
const meterUnit = 64 << 10

// stepsPerPoll is how many steps a loop that makes nothing takes between two looks at the interrupt.
const stepsPerPoll = 64 << 10

// charge counts n bytes that evaluating has made or is about to make, until the arena is reset. It reports false once the statement may
// have no more or has to end. The error waits in ctx.failed for whoever called Eval: the functions in between answer NULL, so that
// not every one of them has to pass an error on that concerns the statement and not its value.
func (ctx *Ctx) charge(n int) bool {
	if ctx.owed += n; ctx.owed < meterUnit {
		return ctx.failed == nil
	}
	return ctx.settle()
}

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

// fits reports whether the statement may have n bytes more, before anything of that size is made, and counts them: whatever is made next has them.
func (ctx *Ctx) fits(n int) bool {
	if ctx.ahead > 0 { // what was asked for before has found room elsewhere
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

// chargeMade is charge for something large that is made in one piece, for which fits may have been asked.
func (ctx *Ctx) chargeMade(n int) bool {
	counted := min(ctx.ahead, n)
	ctx.ahead = 0
	return ctx.charge(n - counted)
}

// owned counts a result that has memory of its own, and returns it.
func (ctx *Ctx) owned(b []byte) []byte {
	ctx.chargeMade(cap(b))
	return b
}

// uncharge takes back n of the bytes that charge has counted.
func (ctx *Ctx) uncharge(n int64) {
	if n = min(n, ctx.held); n > 0 {
		ctx.held -= n
		ctx.Grow(-n) // giving back never fails
	}
}

// meterMark is what was counted at some moment; unchargeTo returns to it.
func (ctx *Ctx) meterMark() int64 { return ctx.held }

func (ctx *Ctx) unchargeTo(mark int64) {
	ctx.ahead = 0
	ctx.uncharge(ctx.held - mark)
}

// pieces calls do for one piece of s after the other, each of whole characters, until the statement has to end: whoever makes something of texts that
// may be as long as a packet.
func (ctx *Ctx) pieces(s []byte, cs *types.Charset, do func(piece []byte)) {
	_ = cs.Pieces(s, func(piece []byte) error {
		do(piece)
		if err := ctx.steps(len(piece)); err != nil && ctx.failed == nil {
			ctx.failed = err
		}
		return ctx.failed
	})
}

// compareTexts is types.CompareStrings of texts of any length: with long ones the interrupt is polled, and then the order says nothing.
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

// reads looks at the interrupt before a long text is read as a number.
func (ctx *Ctx) reads(v *types.Value) bool {
	if len(v.B) >= meterUnit && ctx.failed == nil {
		ctx.failed = ctx.steps(len(v.B))
	}
	return ctx.failed == nil
}

// steps counts n steps of a long loop and looks at the interrupt now and then.
func (ctx *Ctx) steps(n int) error {
	if ctx.stepped += n; ctx.stepped < stepsPerPoll {
		return nil
	}
	ctx.stepped = 0
	return ctx.poll()
}
