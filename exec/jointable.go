package exec

import (
	"github.com/pandodb/pando/types"
)

// joinTable holds the rows of a hash join's build side by their keys; rows of one key
// are chained in the order in which they came. Rows stay in batches, so that they reach
// the output column by column.
type joinTable struct {
	rt       *Runtime
	types    []types.Type
	keysOnly bool // nobody reads the rows: a semi or anti join on its keys alone
	keys     keyTable
	heads    []rowRef // first row of each key
	tails    []rowRef // last row of each key
	batches  []*types.Batch
	nexts    [][]rowRef // per batch and row, the next row of the same key
	full     int        // batches that take no more rows
	bytes    int64      // of the full ones
	mem      account
}

// rowRef names a row of a joinTable: its batch and its place there, plus one; 0 is none.
type rowRef uint64

// refRowBits is how many bits of a rowRef are the place within the batch.
const refRowBits = 10

const _ = uint(1<<refRowBits - types.MaxBatchRows) // a batch's places fit

// joinKeepBytes is how much memory a table keeps for being filled again.
const joinKeepBytes = 1 << 20

func (t *joinTable) init(rt *Runtime, ts []types.Type, keysOnly bool) {
	t.rt, t.types, t.keysOnly = rt, ts, keysOnly
	t.mem = rt.account()
	t.keys.init()
}

// reset empties the table, and releases its memory if that is much or the statement is short of memory.
func (t *joinTable) reset() error {
	t.heads, t.tails, t.full, t.bytes = t.heads[:0], t.tails[:0], 0, 0
	if t.mem.held <= joinKeepBytes && !t.mem.tight() {
		t.keys.reset()
		for i, b := range t.batches {
			b.Reset()
			t.nexts[i] = t.nexts[i][:0]
		}
		return nil
	}
	return t.release()
}

// release empties the table and gives its memory back.
func (t *joinTable) release() error {
	t.keys.release()
	t.heads, t.tails, t.batches, t.nexts, t.full, t.bytes = nil, nil, nil, nil, 0, 0
	return t.account()
}

func (t *joinTable) next(r rowRef) rowRef {
	r--
	return t.nexts[r>>refRowBits][r&(1<<refRowBits-1)]
}

// at returns the batch and the place of a row.
func (t *joinTable) at(r rowRef) (*types.Batch, int) {
	r--
	return t.batches[r>>refRowBits], int(r & (1<<refRowBits - 1))
}

// find returns the first row with the key, 0 if there is none.
func (t *joinTable) find(key []byte) rowRef {
	if id, ok := t.keys.find(key, t.keys.hash(key)); ok {
		return t.heads[id]
	}
	return 0
}

// insert adds physical row i of b.
func (t *joinTable) insert(key []byte, h uint64, b *types.Batch, i int) {
	if out := t.place(key, h); out != nil {
		out.AppendFrom(b, i)
	}
}

// insertEncoded adds a row in the row codec.
func (t *joinTable) insertEncoded(key []byte, h uint64, row []byte) {
	if out := t.place(key, h); out != nil {
		decodeInto(out, row)
	}
}

// place links a row and returns the batch that takes it, or nil.
func (t *joinTable) place(key []byte, h uint64) *types.Batch {
	id, fresh := t.keys.insert(key, h)
	if t.keysOnly {
		if fresh {
			t.heads = append(t.heads, 1)
		}
		return nil
	}
	if t.full < len(t.batches) && t.batches[t.full].Full() {
		t.bytes += int64(t.batches[t.full].MemSize())
		t.full++
	}
	if t.full == len(t.batches) {
		t.batches, t.nexts = append(t.batches, types.NewBatch(t.types)), append(t.nexts, nil)
	}
	out := t.batches[t.full]
	ref := rowRef(t.full<<refRowBits+out.Len) + 1
	t.nexts[t.full] = append(t.nexts[t.full], 0)
	if fresh {
		t.heads, t.tails = append(t.heads, ref), append(t.tails, ref)
		return out
	}
	last := t.tails[id] - 1
	t.nexts[last>>refRowBits][last&(1<<refRowBits-1)] = ref
	t.tails[id] = ref
	return out
}

// account tells the tracker how much memory the table holds.
func (t *joinTable) account() error {
	n := t.keys.bytes() + int64(cap(t.heads)+cap(t.tails))*8 + t.bytes
	for i := t.full; i < len(t.batches); i++ {
		n += int64(t.batches[i].MemSize())
	}
	for _, next := range t.nexts {
		n += int64(cap(next)) * 8
	}
	return t.mem.set(n)
}

// short reports whether the rows should be spilled.
func (t *joinTable) short() bool { return t.mem.tight() || t.keys.full() }

// each calls f for every row: rows of one key together, in their order.
func (t *joinTable) each(f func(key []byte, b *types.Batch, i int) error) error {
	for id := range t.keys.len() {
		key := t.keys.key(uint32(id))
		if t.keysOnly {
			if err := f(key, nil, 0); err != nil {
				return err
			}
			continue
		}
		for r := t.heads[id]; r != 0; r = t.next(r) {
			b, i := t.at(r)
			if err := f(key, b, i); err != nil {
				return err
			}
		}
	}
	return nil
}

func (t *joinTable) close() {
	t.keys, t.batches, t.nexts = keyTable{}, nil, nil
	t.mem.close()
}
