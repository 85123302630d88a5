package exec

import (
	"bytes"

	"github.com/pandodb/pando/types"
)

// subplanRows are the rows of a constant ANY or ALL, read once: by key in memory if
// there are keys and the memory lasts, else in a list, which spills.
type subplanRows struct {
	st     *subplanState
	filled bool
	hashed bool
	list   rowList

	keys    keyer
	byKey   keyTable
	heads   []uint32 // first row+1 of each key
	rows    keyTable // distinct rows in the row codec, numbered
	nexts   []uint32 // next row+1 with the same key
	nulls   []uint32 // rows with a NULL key, which may compare as unknown with anything
	mem     account
	key     []byte
	encoded []byte
}

func (r *subplanRows) init(st *subplanState) {
	r.st = st
	r.mem = st.rt.account()
	r.list.init(st.rt, Types(st.plan.Root))
}

// fill runs the subquery.
func (r *subplanRows) fill() error {
	if r.st.plan.Extreme != 0 {
		return r.fillExtreme()
	}
	r.hashed = len(r.st.plan.RightKeys) > 0
	if r.hashed {
		r.keys.init(r.st.rt, r.st.plan.RightKeys)
		r.keys.ctx = r.st.ctx
		r.byKey.init()
		r.rows.init()
	}
	err := r.st.each(func(b *types.Batch) (bool, error) {
		if r.hashed {
			return false, r.insert(b)
		}
		return false, r.list.addBatch(b)
	})
	r.filled = err == nil
	return err
}

// fillExtreme runs the subquery and keeps the rows that decide: the greatest or least, and one with NULL, if there is any, since all of these
// compare as NULL.
func (r *subplanRows) fillExtreme() error {
	r.keys.init(r.st.rt, r.st.plan.RightKeys)
	r.keys.ctx = r.st.ctx
	var best, null []byte
	found, unknown := false, false
	err := r.st.each(func(b *types.Batch) (bool, error) {
		if err := r.keys.batch(b); err != nil {
			return false, err
		}
		for i, n := 0, b.Rows(); i < n; i++ {
			row := b.Row(i)
			if r.keys.hasNull(row) {
				if !unknown {
					null, unknown = appendBatchRow(null, b, row), true
				}
				continue
			}
			var err error
			if r.encoded, err = r.keys.append(r.encoded[:0], row); err != nil {
				return false, err
			}
			if found && bytes.Compare(r.encoded, r.key)*r.st.plan.Extreme <= 0 {
				continue
			}
			r.key = append(r.key[:0], r.encoded...)
			best, found = appendBatchRow(best[:0], b, row), true
		}
		return false, nil
	})
	if found && err == nil {
		err = r.list.addEncoded(best)
	}
	if unknown && err == nil {
		err = r.list.addEncoded(null)
	}
	r.filled = err == nil
	return err
}

// insert hashes the rows of b. Rows that repeat to the byte compare alike and are kept
// once.
func (r *subplanRows) insert(b *types.Batch) error {
	if err := r.keys.batch(b); err != nil {
		return err
	}
	for _, t := range []*keyTable{&r.rows, &r.byKey} {
		if err := t.makeRoom(r.st.rt, b.Rows()); err != nil {
			return err
		}
	}
	var err error
	for i, n := 0, b.Rows(); i < n; i++ {
		row := b.Row(i)
		r.encoded = appendBatchRow(r.encoded[:0], b, row)
		id, fresh := r.rows.insert(r.encoded, r.rows.hash(r.encoded))
		if !fresh {
			continue
		}
		r.nexts = append(r.nexts, 0)
		if r.keys.hasNull(row) {
			r.nulls = append(r.nulls, id)
			continue
		}
		if r.key, err = r.keys.append(r.key[:0], row); err != nil {
			return err
		}
		key, first := r.byKey.insert(r.key, r.byKey.hash(r.key))
		if first {
			r.heads = append(r.heads, 0)
		}
		r.nexts[id], r.heads[key] = r.heads[key], id+1
	}
	err = r.mem.set(r.byKey.bytes() + r.rows.bytes() + int64(cap(r.heads)+cap(r.nexts)+cap(r.nulls))*4)
	if (err != nil || r.mem.tight()) && r.st.rt.TempDir != "" {
		return r.giveUpHash()
	}
	return err
}

// giveUpHash moves the rows to the list.
func (r *subplanRows) giveUpHash() error {
	r.hashed = false
	for id := range r.rows.len() {
		if err := pollEvery(r.st.rt, id); err != nil {
			return err
		}
		if err := r.list.addEncoded(r.rows.key(uint32(id))); err != nil {
			return err
		}
	}
	r.byKey, r.rows = keyTable{}, keyTable{}
	r.heads, r.nexts, r.nulls = nil, nil, nil
	r.mem.close()
	return r.list.account()
}

// judge compares the operands at hand with the rows.
func (r *subplanRows) judge(q *quantifier) error {
	if !r.filled {
		if err := r.fill(); err != nil {
			return err
		}
	}
	if r.hashed {
		return r.judgeHashed(q)
	}
	if err := r.list.rewind(); err != nil {
		return err
	}
	for {
		b, err := r.list.next()
		if b == nil || err != nil {
			return err
		}
		if done, err := r.st.judge(b, q); done || err != nil {
			return err
		}
	}
}

// judgeHashed compares the rows of equal key, and those with NULLs. All others compare
// as unequal, which decides neither ANY of "=" nor ALL of "<>".
func (r *subplanRows) judgeHashed(q *quantifier) error {
	st := r.st
	st.ctx.ResetArena()
	r.key = r.key[:0]
	for _, e := range st.plan.LeftKeys {
		v, err := e.Eval(st.ctx, st.row)
		if err != nil {
			return err
		}
		if v.IsNull() {
			return r.judgeUnknown(q)
		}
		if r.key, err = types.AppendKeyPolled(r.key, v, e.TypeRef(), false, 0, st.ctx.Poll); err != nil {
			return err
		}
	}
	if key, ok := r.byKey.find(r.key, r.byKey.hash(r.key)); ok {
		for next := r.heads[key]; next != 0; next = r.nexts[next-1] {
			if done, err := r.judgeRow(next-1, q); done || err != nil {
				return err
			}
		}
	}
	for _, id := range r.nulls {
		if done, err := r.judgeRow(id, q); done || err != nil {
			return err
		}
	}
	return nil
}

// judgeUnknown compares every row, because an operand is NULL: (NULL, 1) is unequal
// to (2, 3), while nothing is known of (2, 1). A single value compares as NULL with
// all rows alike.
func (r *subplanRows) judgeUnknown(q *quantifier) error {
	for id := range r.rows.len() {
		if id%types.MaxBatchRows == 0 {
			if err := r.st.rt.poll(); err != nil {
				return err
			}
		}
		done, err := r.judgeRow(uint32(id), q)
		if done || err != nil || len(Types(r.st.plan.Root)) == 1 {
			return err
		}
	}
	return nil
}

func (r *subplanRows) judgeRow(id uint32, q *quantifier) (done bool, err error) {
	st := r.st
	st.ctx.ResetArena()
	decodeRow(st.row[st.plan.Operands:], r.list.types, r.rows.key(id))
	return st.judgeRow(q)
}

func (r *subplanRows) close() {
	r.list.close()
	r.keys.close()
	r.mem.close()
}
