package exec

import (
	"bytes"
	"container/heap"

	"github.com/pandodb/pando/types"
)

// topNHeapMax is the most rows that TopN keeps in its heap; with a larger LIMIT it
// sorts, because sorting can spill.
const topNHeapMax = 1 << 16

// topNOp keeps the smallest count+offset rows of its input in a heap whose root is
// the largest.
type topNOp struct {
	sortOp // the arena, keys, entries and output; a full sort when the limit is large
	node   *TopN
	keep   uint64
	skip   uint64
	left   uint64
	limit  *limitOp // cuts the output of the full sort; nil while the heap does
	wasted int      // bytes of the arena that belong to rows dropped
	key1   []byte
}

func (n *TopN) build(b *builder) (operator, error) {
	in, err := b.node(n.Input)
	if err != nil {
		return nil, err
	}
	o := &topNOp{node: n}
	o.sortOp = sortOp{rt: b.rt, input: in, mem: b.rt.account(), out: b.rt.getBatch(Types(n))}
	o.keys.initSort(b.rt, n.Keys)
	return o, nil
}

func (o *topNOp) open() (err error) {
	o.release()
	o.limit, o.wasted = nil, 0
	if o.left, err = o.rt.evalCount(o.node.Count, ^uint64(0)); err != nil {
		return err
	}
	if o.skip, err = o.rt.evalCount(o.node.Offset, 0); err != nil {
		return err
	}
	o.keep = o.left + o.skip
	if o.left == 0 {
		return nil
	}
	if o.keep < o.left || o.keep > topNHeapMax {
		o.giveUp()
	}
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
		if o.limit != nil {
			err = o.add(b)
		} else {
			err = o.addTop(b)
		}
		if err != nil {
			return err
		}
	}
	if o.limit != nil {
		return o.finish()
	}
	if err := o.sort(); err != nil {
		return err
	}
	o.at = int(min(o.skip, uint64(len(o.entries))))
	if o.node.Top {
		o.rt.skippedRows += uint64(o.at)
	}
	return nil
}

// giveUp goes over to a full sort, which can spill, of the rows kept so far and those
// to come; a limit cuts its output.
func (o *topNOp) giveUp() {
	o.limit = &limitOp{rt: o.rt, input: &o.sortOp, left: o.left, skip: o.skip, top: o.node.Top}
}

// addTop considers the rows of b.
func (o *topNOp) addTop(b *types.Batch) (err error) {
	if err := o.keys.batch(b); err != nil {
		return err
	}
	h := (*topHeap)(&o.sortOp)
	for i, n := 0, b.Rows(); i < n; i++ {
		row := b.Row(i)
		if uint64(len(o.entries)) < o.keep {
			e, err := o.entry(b, row)
			if err != nil {
				return err
			}
			o.entries = append(o.entries, e)
			if uint64(len(o.entries)) == o.keep {
				heap.Init(h)
			}
			continue
		}
		// Most rows lose against the root: compare before copying the row.
		if o.key1, err = o.keys.append(o.key1[:0], row); err != nil {
			return err
		}
		if bytes.Compare(o.key1, o.sortOp.key(&o.entries[0])) >= 0 {
			continue
		}
		o.wasted += int(o.entries[0].klen + o.entries[0].rlen)
		if o.entries[0], err = o.entry(b, row); err != nil {
			return err
		}
		heap.Fix(h, 0)
	}
	if o.wasted > len(o.arena)/2 && o.wasted > spillFloor {
		o.compact()
	}
	err = o.mem.set(int64(cap(o.arena)) + int64(cap(o.entries))*sortEntryBytes)
	if o.rt.TempDir == "" || err == nil && !o.mem.tight() {
		return err
	}
	o.giveUp()
	if err := o.sort(); err != nil {
		return err
	}
	return o.spill()
}

// compact copies the rows kept into a fresh arena in the order of their arrival,
// which is the order of their offsets and breaks ties.
func (o *topNOp) compact() {
	o.sortOp.byArrival()
	fresh := make([]byte, 0, len(o.arena)-o.wasted+spillFloor)
	for i := range o.entries {
		e := &o.entries[i]
		start := uint64(len(fresh))
		fresh = append(fresh, o.arena[e.off:e.off+uint64(e.klen)+uint64(e.rlen)]...)
		e.off = start
	}
	o.arena, o.wasted = fresh, 0
	if uint64(len(o.entries)) == o.keep {
		heap.Init((*topHeap)(&o.sortOp))
	}
}

func (o *topNOp) next() (*types.Batch, error) {
	if o.limit != nil {
		return o.limit.next()
	}
	if o.left == 0 {
		return nil, nil
	}
	return o.sortOp.next()
}

// topHeap is a sorter's entries as a heap with the largest at the root; of equal
// keys the later row is larger.
type topHeap sortOp

// Len, Less, Swap, Push and Pop are container/heap's.
func (h *topHeap) Len() int { return len(h.entries) }

// Less says that i is above j: larger.
func (h *topHeap) Less(i, j int) bool {
	a, b := &h.entries[i], &h.entries[j]
	if c := bytes.Compare((*sortOp)(h).key(a), (*sortOp)(h).key(b)); c != 0 {
		return c > 0
	}
	return a.off > b.off
}

// Swap implements heap.Interface.
func (h *topHeap) Swap(i, j int) { h.entries[i], h.entries[j] = h.entries[j], h.entries[i] }

// Push is not used: the heap has a fixed size.
func (h *topHeap) Push(any) { panic("exec: push on the heap of TopN") }

// Pop is not used.
func (h *topHeap) Pop() any { panic("exec: pop from the heap of TopN") }
