package syntax

// slabMax is the number of nodes in the largest chunk. Chunks double up to it,
// so that a point select allocates one node and a bulk INSERT one chunk in 512.
const slabMax = 512

// slab hands out literals and short expression lists from chunks. Bulk
// INSERTs are thousands of rows of literals, and an allocation for each would
// dominate parsing.
type slab struct {
	lits     []Literal
	litSize  int
	exprs    []Expr
	exprSize int
	scratch  []Expr
}

// literal returns a new literal.
func (s *slab) literal() *Literal {
	if len(s.lits) == 0 {
		s.litSize = min(max(1, s.litSize*2), slabMax)
		s.lits = make([]Literal, s.litSize)
	}
	lit := &s.lits[0]
	s.lits = s.lits[1:]
	return lit
}

// list returns a copy of elems that shares a chunk with other lists. Its
// capacity is its length, so that appending to it never touches a neighbour.
func (s *slab) list(elems []Expr) []Expr {
	n := len(elems)
	if n > len(s.exprs) {
		s.exprSize = min(max(1, s.exprSize*2), slabMax)
		s.exprs = make([]Expr, max(n, s.exprSize))
	}
	out := s.exprs[:n:n]
	s.exprs = s.exprs[n:]
	copy(out, elems)
	return out
}

// forget drops the chunks, which belong to the tree just made. The scratch list is
// kept for the next statement, unless it is large. It holds elements only if an
// error interrupted a list.
func (s *slab) forget() {
	scratch := s.scratch
	if cap(scratch) > slabMax*8 {
		scratch = nil
	}
	clear(scratch)
	*s = slab{scratch: scratch[:0]}
}
