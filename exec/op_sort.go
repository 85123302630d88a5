package exec

import (
	"bytes"
	"cmp"
	"container/heap"
	"slices"

	"github.com/pandodb/pando/keys"
	"github.com/pandodb/pando/types"
)

// sortEntry is one row in a sorter's arena: its order key, then the row's codec.
type sortEntry struct {
	prefix uint64 // first eight bytes of the key, which decide most comparisons
	off    uint64
	klen   uint32
	rlen   uint32
}

// sortEntryBytes is the memory of a sortEntry, for accounting.
const sortEntryBytes = 24

// mergeWays bounds the runs merged at once; beyond it runs are merged to longer ones
// first, so that open files and read buffers stay bounded.
const mergeWays = 32

// sortOp sorts by order keys: comparing two rows is bytes.Compare whatever their
// types. Sorted runs go to spill files when memory is short and are merged at the end.
type sortOp struct {
	rt      *Runtime
	input   operator
	keys    keyer
	mem     account
	arena   []byte
	entries []sortEntry
	runs    []*spillFile
	merge   *merger
	out     *types.Batch
	at      int
}

func (n *Sort) build(b *builder) (operator, error) {
	in, err := b.node(n.Input)
	if err != nil {
		return nil, err
	}
	o := &sortOp{rt: b.rt, input: in, mem: b.rt.account(), out: b.rt.getBatch(Types(n))}
	o.keys.initSort(b.rt, n.Keys)
	return o, nil
}

func (o *sortOp) open() error {
	o.release()
	if err := o.input.open(); err != nil {
		return err
	}
	for {
		b, err := o.input.next()
		if err != nil {
			return err
		}
		if b == nil {
			break
		}
		if err := o.add(b); err != nil {
			return err
		}
	}
	return o.finish()
}

// finish puts the rows added into order.
func (o *sortOp) finish() error {
	if err := o.sort(); err != nil || len(o.runs) == 0 {
		return err
	}
	if err := o.spill(); err != nil {
		return err
	}
	return o.mergeRuns()
}

// add takes the rows of b, spilling the run before memory is out.
func (o *sortOp) add(b *types.Batch) error {
	if err := o.keys.batch(b); err != nil {
		return err
	}
	if err := o.widen(b); err != nil {
		return err
	}
	for i, n := 0, b.Rows(); i < n; i++ {
		e, err := o.entry(b, b.Row(i))
		if err != nil {
			return err
		}
		o.entries = append(o.entries, e)
	}
	err := o.mem.set(int64(cap(o.arena)) + int64(cap(o.entries))*sortEntryBytes)
	if o.rt.TempDir == "" || err == nil && !o.mem.tight() {
		return err
	}
	return o.spillSorted()
}

func (o *sortOp) spillSorted() error {
	if err := o.sort(); err != nil {
		return err
	}
	return o.spill()
}

// widen makes a large arena larger for the rows and keys of b, or empties it.
func (o *sortOp) widen(b *types.Batch) (err error) {
	need := len(o.arena) + 2*b.TextBytes()
	if need <= max(cap(o.arena), arenaLarge) {
		return nil
	}
	if o.arena, err = o.mem.widen(o.arena, need); err == nil || o.rt.TempDir == "" {
		return err
	}
	return o.spillSorted()
}

// entry appends physical row i of b to the arena.
func (o *sortOp) entry(b *types.Batch, i int) (e sortEntry, err error) {
	e.off = uint64(len(o.arena))
	if o.arena, err = o.keys.append(o.arena, i); err != nil {
		return e, err
	}
	e.klen = uint32(uint64(len(o.arena)) - e.off)
	e.prefix = keys.Head(o.arena[e.off:])
	o.arena = appendBatchRow(o.arena, b, i)
	e.rlen = uint32(uint64(len(o.arena)) - e.off - uint64(e.klen))
	return e, nil
}

func (o *sortOp) key(e *sortEntry) []byte { return o.arena[e.off : e.off+uint64(e.klen)] }
func (o *sortOp) row(e *sortEntry) []byte {
	start := e.off + uint64(e.klen)
	return o.arena[start : start+uint64(e.rlen)]
}

// sortPollCompares is how many comparisons a sort makes between two looks at the interrupt.
const sortPollCompares = 64 << 10

// sortPolled is a slices.SortFunc that polls the interrupt: a gigabyte of short rows takes
// seconds. A sort can't be left; after an interrupt all elements compare as equal, and the
// sort ends within two passes.
func sortPolled[E any](rt *Runtime, list []E, compare func(a, b E) int) (err error) {
	compared := 0
	slices.SortFunc(list, func(a, b E) int {
		if compared++; compared%sortPollCompares == 0 && err == nil {
			err = rt.poll()
		}
		if err != nil {
			return 0
		}
		return compare(a, b)
	})
	return err
}

// sort orders the entries; the arena's order breaks ties, which keeps the sort stable.
func (o *sortOp) sort() error {
	return sortPolled(o.rt, o.entries, func(a, b sortEntry) int {
		if a.prefix != b.prefix {
			if a.prefix < b.prefix {
				return -1
			}
			return 1
		}
		if c := bytes.Compare(o.key(&a), o.key(&b)); c != 0 {
			return c
		}
		if a.off < b.off {
			return -1
		}
		return 1
	})
}

// byArrival orders the entries as they came.
func (o *sortOp) byArrival() {
	slices.SortFunc(o.entries, func(a, b sortEntry) int { return cmp.Compare(a.off, b.off) })
}

// spill writes the sorted entries as a run and empties the arena.
func (o *sortOp) spill() error {
	if len(o.entries) == 0 {
		return nil
	}
	run, err := o.rt.newSpill()
	if err != nil {
		return err
	}
	o.runs = append(o.runs, run)
	for i := range o.entries {
		if err := pollEvery(o.rt, i); err != nil {
			return err
		}
		e := &o.entries[i]
		if err := run.write(o.key(e), o.row(e)); err != nil {
			return err
		}
	}
	o.arena, o.entries = nil, nil
	return o.mem.set(0)
}

// mergeRuns prepares the final merge, after reducing the runs to mergeWays.
func (o *sortOp) mergeRuns() error {
	for len(o.runs) > mergeWays {
		o.rt.Work.Add(SortMergePasses, 1)
		m, err := newMerger(o.runs[:mergeWays])
		if err != nil {
			return err
		}
		longer, err := o.rt.newSpill()
		if err != nil {
			return err
		}
		done := o.runs[:mergeWays]
		// The merged run takes the place of the first ones: order among runs decides
		// ties.
		if err := m.copyTo(longer, o.rt); err != nil {
			longer.close()
			return err
		}
		for _, r := range done {
			r.close()
		}
		o.runs = append([]*spillFile{longer}, o.runs[mergeWays:]...)
	}
	o.rt.Work.Add(SortMergePasses, 1)
	m, err := newMerger(o.runs)
	o.merge = m
	return err
}

func (o *sortOp) next() (*types.Batch, error) {
	if err := o.rt.poll(); err != nil {
		return nil, err
	}
	o.out.Reset()
	for !o.out.Full() {
		if o.merge != nil {
			row, err := o.merge.next()
			if err != nil {
				return nil, err
			}
			if row == nil {
				break
			}
			decodeInto(o.out, row.row)
			continue
		}
		if o.at == len(o.entries) {
			break
		}
		decodeInto(o.out, o.row(&o.entries[o.at]))
		o.at++
	}
	if o.out.Len == 0 {
		return nil, nil
	}
	o.rt.Work.Add(SortedRows, uint64(o.out.Len))
	return o.out, nil
}

// release drops rows and runs of an earlier opening.
func (o *sortOp) release() {
	for _, r := range o.runs {
		r.close()
	}
	o.runs, o.merge, o.at = nil, nil, 0
	o.arena, o.entries = o.arena[:0], o.entries[:0]
}

func (o *sortOp) close() {
	o.input.close()
	o.release()
	o.arena, o.entries = nil, nil
	o.mem.close()
	o.keys.close()
	o.rt.putBatch(o.out)
	o.out = nil
}

// runHead is the current record of one run in a merge.
type runHead struct {
	run      *spillFile
	order    int
	key, row []byte
}

// advance reads the run's next record; ok=false at its end.
func (h *runHead) advance() (ok bool, err error) {
	if h.key, ok, err = h.run.read(h.key); !ok || err != nil {
		return false, err
	}
	h.row, ok, err = h.run.read(h.row)
	return ok, err
}

// merger merges sorted runs; of equal keys the earlier run's comes first.
type merger struct {
	heads []*runHead
	last  *runHead // handed out by next and not advanced yet
}

func newMerger(runs []*spillFile) (*merger, error) {
	m := &merger{}
	for i, r := range runs {
		if err := r.rewind(); err != nil {
			return nil, err
		}
		h := &runHead{run: r, order: i}
		ok, err := h.advance()
		if err != nil {
			return nil, err
		}
		if ok {
			m.heads = append(m.heads, h)
		}
	}
	heap.Init(m)
	return m, nil
}

// next returns the next record, nil at the end; borrowed until the next call.
func (m *merger) next() (*runHead, error) {
	if m.last != nil {
		ok, err := m.last.advance()
		if err != nil {
			return nil, err
		}
		if ok {
			heap.Fix(m, 0)
		} else {
			heap.Pop(m)
		}
		m.last = nil
	}
	if len(m.heads) == 0 {
		return nil, nil
	}
	m.last = m.heads[0]
	return m.last, nil
}

func (m *merger) copyTo(to *spillFile, rt *Runtime) error {
	for n := 0; ; n++ {
		if n%types.MaxBatchRows == 0 {
			if err := rt.poll(); err != nil {
				return err
			}
		}
		h, err := m.next()
		if h == nil || err != nil {
			return err
		}
		if err := to.write(h.key, h.row); err != nil {
			return err
		}
	}
}

// Len, Less, Swap, Push and Pop are container/heap's.
func (m *merger) Len() int { return len(m.heads) }

// Less orders by key, then by the order of the runs.
func (m *merger) Less(i, j int) bool {
	a, b := m.heads[i], m.heads[j]
	if c := bytes.Compare(a.key, b.key); c != 0 {
		return c < 0
	}
	return a.order < b.order
}

// Swap implements heap.Interface.
func (m *merger) Swap(i, j int) { m.heads[i], m.heads[j] = m.heads[j], m.heads[i] }

// Push implements heap.Interface.
func (m *merger) Push(x any) { m.heads = append(m.heads, x.(*runHead)) }

// Pop implements heap.Interface.
func (m *merger) Pop() any {
	last := m.heads[len(m.heads)-1]
	m.heads = m.heads[:len(m.heads)-1]
	return last
}
