package exec

import (
	"github.com/pandodb/pando/table"
	"github.com/pandodb/pando/types"
)

// lockOp locks candidates and passes on their latest versions.
type lockOp struct {
	rt     *Runtime
	node   *LockRows
	input  operator
	keys   rowList // with Collect: the keys of all candidates
	pair   pairCopy
	reader table.Reader // all columns
	row    []types.Value
	sink   rowSink
	out    *types.Batch
	cands  *types.Batch
	at     int
	left   uint64
	// While the operator has returned nothing it can begin again, and gives up the ranges that its scans have locked (mark) before it waits for
	// a row: a transaction that has the rows locked may be about to insert more. again says that it has waited, repeats how often it did.
	mark    uint64
	given   bool
	again   bool
	repeats int
}

// lockRepeatsMax is how often a locking read begins again. After that it waits with its ranges locked.
const lockRepeatsMax = 8

func (n *LockRows) build(b *builder) (operator, error) {
	o := &lockOp{rt: b.rt, node: n}
	below := &builder{rt: b.rt, latest: true, locks: n, mark: &o.mark}
	in, err := below.node(n.Input)
	if err != nil {
		return nil, err
	}
	o.input, o.out = in, b.rt.getBatch(n.layout.types)
	o.keys.init(b.rt, []types.Type{columnType(n.Table, RowKey)})
	o.reader.Reset(n.whole.shape)
	o.row = make([]types.Value, len(n.whole.field))
	o.sink.reset(&n.layout, o.out)
	o.pair.mem = b.rt.account()
	return o, nil
}

func (o *lockOp) open() error {
	o.given, o.repeats = false, 0
	if err := o.findGone(); err != nil {
		return err
	}
	return o.begin()
}

// begin reads the candidates from the first one on.
func (o *lockOp) begin() (err error) {
	o.cands, o.again = nil, false
	o.mark = o.rt.Txn.MarkRanges()
	if o.left, err = o.rt.evalCount(o.node.Limit, ^uint64(0)); err != nil {
		return err
	}
	if err := o.input.open(); err != nil {
		return err
	}
	if !o.node.Collect {
		return nil
	}
	if err := o.keys.reset(); err != nil {
		return err
	}
	var key [1]types.Value
	for {
		b, err := o.input.next()
		if err != nil {
			return err
		}
		if b == nil {
			return o.keys.rewind()
		}
		for i, n := 0, b.Rows(); i < n; i++ {
			key[0] = b.Cols[o.node.KeyCol].Value(b.Row(i))
			if err := o.keys.addRow(key[:]); err != nil {
				return err
			}
		}
	}
}

// findGone looks for rows that the statement would have met in the transaction's snapshot and does not meet now, because others have changed
// or deleted them since. Under snapshot isolation that is a conflict, which no candidate would show. Rows that still qualify, or do only
// now, are candidates, and locking them finds the commit that they are of.
func (o *lockOp) findGone() error {
	if !o.rt.Txn.SnapshotBehind() {
		return nil
	}
	before, err := (&builder{rt: o.rt}).node(o.node.Input)
	if err != nil {
		return err
	}
	defer before.close()
	if err := before.open(); err != nil {
		return err
	}
	for {
		b, err := before.next()
		if b == nil || err != nil {
			return err
		}
		for i, n := 0, b.Rows(); i < n; i++ {
			if err := o.rt.poll(); err != nil {
				return err
			}
			key := b.Cols[o.node.KeyCol].Value(b.Row(i)).B
			was, err := o.matches(key, false) // the input may name keys without looking
			is := was
			if was && err == nil {
				is, err = o.matches(key, true)
			}
			if err != nil {
				return err
			}
			if was != is {
				return o.rt.Txn.Gone(key)
			}
		}
	}
}

// matches tells whether a row satisfies the whole condition, in the transaction's snapshot or as the latest commits have left it.
func (o *lockOp) matches(key []byte, latest bool) (bool, error) {
	found, err := o.rt.get(key, nil, &o.pair, latest)
	if err != nil || !found || o.node.Where == nil {
		return found, err
	}
	return o.qualifies()
}

// candidates returns the next batch of candidates and the column of their keys.
func (o *lockOp) candidates() (b *types.Batch, err error) {
	if o.node.Collect {
		return o.keys.next()
	}
	return o.input.next()
}

func (o *lockOp) keyCol() int {
	if o.node.Collect {
		return 0
	}
	return o.node.KeyCol
}

func (o *lockOp) next() (*types.Batch, error) {
	o.out.Reset()
	bytes := 0
	for o.left > 0 && o.out.Len < types.MaxBatchRows && bytes < pageBytesMax {
		if o.cands == nil {
			b, err := o.candidates()
			if err != nil {
				return nil, err
			}
			if b == nil {
				break
			}
			o.cands, o.at = b, 0
		}
		if err := o.rt.poll(); err != nil {
			return nil, err
		}
		key := o.cands.Cols[o.keyCol()].Value(o.cands.Row(o.at)).B
		taken, err := o.lock(key)
		if err != nil {
			return nil, err
		}
		if o.again {
			o.out.Reset()
			bytes = 0
			if err := o.begin(); err != nil {
				return nil, err
			}
			continue
		}
		if taken {
			o.left--
			bytes += len(o.pair.key) + len(o.pair.value)
		}
		if o.at++; o.at == o.cands.Rows() {
			o.cands = nil
		}
	}
	if o.out.Len == 0 {
		return nil, nil
	}
	o.given = true
	return o.out, nil
}

// acquire locks a row and reads its latest version. If it has to wait, it sets again where that helps.
func (o *lockOp) acquire(key []byte) (found, acquired bool, err error) {
	tx, n := o.rt.Txn, o.node
	if !o.given && o.repeats < lockRepeatsMax && n.Wait == WaitDefault {
		if found, acquired, err = tx.TryLock(key, n.Mode, n.Delete, &o.pair); acquired || err != nil {
			return found, acquired, err
		}
		o.again = tx.RevertRanges(o.mark, n.Wait)
		o.repeats++
	}
	if n.Delete {
		found, err = tx.LockDelete(key, &o.pair)
		return found, err == nil, err
	}
	return tx.Lock(key, n.Mode, n.Wait, &o.pair)
}

// lock locks one row and appends its latest version if it still qualifies.
func (o *lockOp) lock(key []byte) (taken bool, err error) {
	tx := o.rt.Txn
	found, acquired, err := o.acquire(key)
	if err != nil || !acquired {
		return false, err
	}
	if !found {
		tx.Unlock(key)
		return false, nil
	}
	if o.node.Where != nil {
		ok, err := o.qualifies()
		if err != nil {
			return false, err
		}
		if !ok {
			tx.Unlock(key)
			return false, nil
		}
	}
	_, err = o.sink.Pair(o.pair.key, o.pair.value)
	return true, err
}

// qualifies evaluates the whole condition over the version just locked.
func (o *lockOp) qualifies() (bool, error) {
	if err := o.reader.Decode(o.pair.key, o.pair.value); err != nil {
		return false, err
	}
	o.reader.Values(o.row)
	o.rt.Ctx.ResetArena()
	return o.node.Where.EvalBool(o.rt.Ctx, o.row)
}

func (o *lockOp) close() {
	o.input.close()
	o.keys.close()
	o.pair.drop()
	o.rt.putBatch(o.out)
	o.out = nil
}
