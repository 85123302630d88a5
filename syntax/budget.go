package syntax

// Budget bounds the memory and time of parsing one statement. Either function may be nil. The parser calls them from its own goroutine, and returns
// their errors unchanged.
type Budget struct {
	// Grow adds to the estimated size of the tree in bytes, and returns an error if that exceeds the limit. bytes may be negative.
	Grow func(bytes int64) error
	// Poll returns an error if parsing must end (KILL, a time limit).
	Poll func() error
}

const (
	// tokensPerCharge is the number of tokens between two calls of a Budget. Shorter statements never call it.
	tokensPerCharge = 512
	// tokenBytes estimates the memory of a tree for each token of its text, including the garbage of growing lists: it ranges from 16 bytes in nested
	// parentheses to 120 in long select lists. Counting tokens needs code at one place; counting nodes would need it in each of some three hundred
	// productions. TestTreesAreCounted compares the estimate with actual allocations.
	tokenBytes = 96
)

// charge reports the tokens read since the last call to the Budget, and stops the parser if that returns an error.
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

// grow reports memory to the Budget that tokens do not account for.
func (p *parser) grow(bytes int64) {
	if b := p.opt.Budget; b != nil && b.Grow != nil && bytes != 0 {
		p.need(b.Grow(bytes))
	}
}

// stopped is the panic value that carries a Budget's error out of the parser.
type stopped struct{ err error }

func (p *parser) need(err error) {
	if err != nil {
		panic(stopped{err})
	}
}
