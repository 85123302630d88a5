package exec

import (
	"github.com/pandodb/pando/expr"
	"github.com/pandodb/pando/types"
)

// cteState is a CTE in one execution: its rows, made at first use, and how to make
// them. Its operators run in a context of their own, because the first use may be in a
// subquery, whose context serves that alone.
type cteState struct {
	rt     *Runtime
	cte    *CTE
	ctx    *expr.Ctx
	root   operator
	step   operator // of Recursive
	rows   rowList
	seen   keyTable // with Distinct
	mem    account  // of seen
	key    []byte
	cut    *types.Batch // with texts cut to their columns
	slots  slotValues
	runs   uint64 // of Recursive, in this execution
	filled bool
	// Rows skip..limit are what readers see.
	skip, limit uint64
	// Rows from..to are what the last run added.
	from, to listMark
}

// cte returns the state of c in the present execution.
func (rt *Runtime) cte(c *CTE) *cteState {
	s := rt.shared.ctes[c]
	if s == nil {
		s = &cteState{rt: rt, cte: c, ctx: rt.Ctx.Child(), mem: rt.account(), slots: slotValues{slots: c.Slots}}
		s.rows.init(rt, c.Out)
		s.seen.init()
		rt.shared.ctes[c] = s
	}
	return s
}

// ensure makes the rows unless they are there.
func (s *cteState) ensure() error {
	if !s.slots.changed(s.rt) && s.filled {
		return nil
	}
	saved := s.rt.Ctx
	s.ctx.Follow(saved)
	s.rt.Ctx = s.ctx
	err := s.fill()
	s.rt.Ctx = saved
	s.filled = err == nil
	return err
}

func (s *cteState) fill() error {
	s.filled = false
	s.seen.release()
	if err := s.rows.reset(); err != nil {
		return err
	}
	if err := s.build(); err != nil {
		return err
	}
	if err := s.bounds(); err != nil {
		return err
	}
	s.from = s.rows.end()
	if err := s.run(s.root); err != nil || s.step == nil {
		return err
	}
	for depth := uint64(1); ; depth++ {
		s.to = s.rows.end()
		if s.to.row == s.from.row || uint64(s.to.row) >= s.limit {
			return nil
		}
		if depth > s.rt.CTEDepthMax {
			return types.Errorf(types.ErCteMaxRecursionDepth, depth)
		}
		if err := s.rt.poll(); err != nil {
			return err
		}
		added := s.to
		s.runs++
		if err := s.run(s.step); err != nil {
			return err
		}
		s.from = added
	}
}

// bounds evaluates the LIMIT.
func (s *cteState) bounds() (err error) {
	if s.limit, err = s.rt.evalCount(s.cte.Count, ^uint64(0)); err != nil {
		return err
	}
	if s.skip, err = s.rt.evalCount(s.cte.Offset, 0); err != nil {
		return err
	}
	if s.limit += s.skip; s.limit < s.skip {
		s.limit = ^uint64(0)
	}
	return nil
}

// build makes the operators, once.
func (s *cteState) build() (err error) {
	b := builder{rt: s.rt}
	if s.root == nil {
		if s.root, err = b.node(s.cte.Root); err != nil {
			return err
		}
	}
	if s.step == nil && s.cte.Recursive != nil {
		s.step, err = b.node(s.cte.Recursive)
	}
	return err
}

// run adds the rows of an operator.
func (s *cteState) run(op operator) error {
	if err := op.open(); err != nil {
		return err
	}
	for uint64(s.rows.count) < s.limit {
		b, err := op.next()
		if err != nil {
			return err
		}
		if b == nil {
			break
		}
		if op == s.step {
			if b, err = s.fitted(b); err != nil {
				return err
			}
		}
		if err := s.add(b); err != nil {
			return err
		}
	}
	return s.rows.account()
}

// fitted returns the batch with texts no longer than those of the seed, whose types the columns have: the CTE is a table, and storing into it
// cuts them, or fails in a strict mode.
func (s *cteState) fitted(b *types.Batch) (*types.Batch, error) {
	if !s.overlong(b) {
		return b, nil
	}
	if s.cut == nil {
		s.cut = s.rt.getBatch(s.cte.Out)
	}
	s.cut.Reset()
	row := make([]types.Value, len(s.cte.Out))
	store := s.rt.Ctx.Context
	if store.SQLMode&types.ModeStrict != 0 {
		store = store.Fork()
		store.Strict = true
	}
	for i, n := 0, b.Rows(); i < n; i++ {
		b.ReadRow(b.Row(i), row)
		for c := range row {
			t := &s.cte.Out[c]
			if !tooLong(t, &row[c]) {
				continue
			}
			var err error
			if row[c], err = types.Convert(store, row[c], *t, s.cte.Columns[c], 1); err != nil {
				return nil, err
			}
		}
		s.cut.AppendRow(row)
	}
	return s.cut, nil
}

func (s *cteState) overlong(b *types.Batch) bool {
	for c := range b.Cols {
		t := &s.cte.Out[c]
		if !t.IsStringType() || t.Length < 0 {
			continue
		}
		for i, n := 0, b.Rows(); i < n; i++ {
			if v := b.Cols[c].Value(b.Row(i)); tooLong(t, &v) {
				return true
			}
		}
	}
	return false
}

func tooLong(t *types.Type, v *types.Value) bool {
	if !t.IsStringType() || t.Length < 0 || v.K != types.KindString || len(v.B) <= int(t.Length) {
		return false
	}
	return t.Coll == types.Binary || t.Coll.Charset().CountChars(v.B) > int(t.Length)
}

func (s *cteState) add(b *types.Batch) error {
	if !s.cte.Distinct {
		return s.rows.addBatch(b)
	}
	err := s.seen.makeRoom(s.rt, b.Rows())
	if err != nil {
		return err
	}
	for i, n := 0, b.Rows(); i < n; i++ {
		row := b.Row(i)
		s.key = s.key[:0]
		for c := range b.Cols {
			if s.key, err = s.rt.appendKey(s.key, &b.Cols[c], row, &s.cte.Out[c]); err != nil {
				return err
			}
		}
		if _, fresh := s.seen.insert(s.key, s.seen.hash(s.key)); !fresh {
			continue
		}
		if err := s.rows.addBatchRow(b, row); err != nil {
			return err
		}
	}
	if s.seen.full() {
		return errStatementMemory
	}
	// The rows can go to disk; whether a row is new has to be known at once.
	if err := s.rows.account(); err != nil {
		return err
	}
	return s.mem.set(s.seen.bytes())
}

func (s *cteState) close() {
	if s.root != nil {
		s.root.close()
	}
	if s.step != nil {
		s.step.close()
	}
	s.rt.putBatch(s.cut)
	s.cut = nil
	s.rows.close()
	s.mem.close()
	s.ctx.ResetArena()
}

// cteOp reads the rows of a CTE, or, with delta, those that its last run added.
type cteOp struct {
	rt     *Runtime
	cte    *CTE
	delta  bool
	cursor rowCursor
}

func (n *CTEScan) build(b *builder) (operator, error) { return &cteOp{rt: b.rt, cte: n.CTE}, nil }

func (n *CTEDelta) build(b *builder) (operator, error) {
	return &cteOp{rt: b.rt, cte: n.CTE, delta: true}, nil
}

func (o *cteOp) open() error {
	s := o.rt.cte(o.cte)
	if o.delta {
		o.cursor.start(&s.rows, s.from, s.to)
		return nil
	}
	if err := s.ensure(); err != nil {
		return err
	}
	end := s.rows.end()
	if uint64(end.row) > s.limit {
		end.row = int(s.limit)
	}
	o.cursor.start(&s.rows, listMark{}, end)
	return o.cursor.skip(s.skip)
}

func (o *cteOp) next() (*types.Batch, error) { return o.cursor.next() }
func (o *cteOp) close()                      { o.cursor.close() }
