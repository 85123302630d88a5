package syntax

// Budget bounds what parsing one statement takes. Either function may be nil.
type Budget struct {
	// Grow counts bytes of the tree and returns an error when there may be no more of them.
	Grow func(bytes int64) error
	// Poll returns an error once parsing has to end.
	Poll func() error
}

const (
	// tokensPerCharge is how many tokens are read between two calls of a Budget. A statement of fewer calls it never.
	tokensPerCharge = 512
	// tokenBytes is about what a tree takes for each token of its text, with what lists leave behind as they grow: from 16 bytes in nested
	// parentheses to 120 in long select lists. Counting tokens costs an addition at one place; counting nodes would cost one at each of some
	// three hundred. TestTreesAreCounted compares it with what trees really take.
	tokenBytes = 96
)

// charge counts the tokens read since the last time, and stops the parser if the statement may not go on.
func (p *parser) charge() {
	n := p.tokens
	p.tokens = 0
	b := p.opt.Budget
	if b == nil {
		return
	}
	if b.Grow != nil && !p.flat {
		p.need(b.Grow(int64(n) * tokenBytes))
	}
	if b.Poll != nil {
		p.need(b.Poll())
	}
}

// grow counts bytes of what is no tree.
func (p *parser) grow(bytes int64) {
	if b := p.opt.Budget; b != nil && b.Grow != nil && bytes != 0 {
		p.need(b.Grow(bytes))
	}
}

// stopped carries a Budget's error out of the parser.
type stopped struct{ err error }

func (p *parser) need(err error) {
	if err != nil {
		panic(stopped{err})
	}
}
