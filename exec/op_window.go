package exec

import (
	"bytes"

	"github.com/pandodb/pando/types"
)

// windowOp reads one partition at a time into a list, which spills, and then goes
// through it row by row. Whatever looks at other rows (peers, frames, lag) has a reader
// of its own, and all of them only go forward. A row in the list is its order key, then
// the input's columns.
type windowOp struct {
	rt        *Runtime
	node      *Window
	input     operator
	partKeys  keyer
	orderKeys keyer
	funcs     []*windowState
	rows      rowList
	batch     *types.Batch // of the input, not yet all in the list
	from      int          // its next live row
	ended     bool         // no more input
	partition []byte       // key of the rows in the list
	key       []byte
	values    []types.Value // a row to be added to the list

	at      int // the row at hand
	current rowReader
	// The row's peers are peerFirst..peerEnd; number counts the groups of peers from 1.
	peers              rowReader
	peerFirst, peerEnd int
	number             int
	peerKey            []byte
	out                *types.Batch
}

func (n *Window) build(b *builder) (operator, error) {
	in, err := b.node(n.Input)
	if err != nil {
		return nil, err
	}
	o := &windowOp{rt: b.rt, node: n, input: in, out: b.rt.getBatch(Types(n))}
	o.partKeys.init(b.rt, n.Partition)
	o.orderKeys.initSort(b.rt, n.Order)
	stored := append([]types.Type{columnType(nil, RowKey)}, Types(n.Input)...)
	o.rows.init(b.rt, stored)
	o.values = make([]types.Value, len(stored))
	o.current.init(&o.rows)
	o.peers.init(&o.rows)
	for _, f := range n.Funcs {
		o.funcs = append(o.funcs, newWindowState(o, f))
	}
	return o, nil
}

func (o *windowOp) open() error {
	o.batch, o.ended, o.at = nil, false, 0
	for _, f := range o.funcs {
		if err := f.open(); err != nil {
			return err
		}
	}
	if err := o.rows.reset(); err != nil {
		return err
	}
	return o.input.open()
}

func (o *windowOp) next() (*types.Batch, error) {
	if err := o.rt.poll(); err != nil {
		return nil, err
	}
	o.out.Reset()
	for !o.out.Full() {
		if o.at == o.rows.count {
			// The arena is free: nothing is held across the calls below.
			if ok, err := o.load(); !ok || err != nil {
				return o.emitted(), err
			}
		}
		if err := o.emit(); err != nil {
			return nil, err
		}
	}
	return o.out, nil
}

// emitted returns what is in the output, nil if that is nothing.
func (o *windowOp) emitted() *types.Batch {
	if o.out.Len == 0 {
		return nil
	}
	return o.out
}

// load reads the next partition into the list; ok=false at the end.
func (o *windowOp) load() (ok bool, err error) {
	if err := o.rows.reset(); err != nil {
		return false, err
	}
	o.at, o.peerFirst, o.peerEnd, o.number = 0, 0, 0, 0
	for {
		if o.batch == nil {
			if err := o.read(); err != nil {
				return false, err
			}
			if o.batch == nil {
				break
			}
		}
		if done, err := o.take(); done || err != nil {
			if err != nil {
				return false, err
			}
			break
		}
	}
	o.current.restart()
	o.peers.restart()
	for _, f := range o.funcs {
		f.restart()
	}
	return o.rows.count > 0, o.rows.account()
}

// read takes the next batch of the input.
func (o *windowOp) read() error {
	if o.ended {
		return nil
	}
	b, err := o.input.next()
	if err != nil {
		return err
	}
	if b == nil {
		o.ended = true
		return nil
	}
	o.batch, o.from = b, 0
	if err := o.partKeys.batch(b); err != nil {
		return err
	}
	return o.orderKeys.batch(b)
}

// take adds rows of the batch at hand; done says that the next one is of another
// partition.
func (o *windowOp) take() (done bool, err error) {
	for n := o.batch.Rows(); o.from < n; o.from++ {
		row := o.batch.Row(o.from)
		if o.key, err = o.partKeys.append(o.key[:0], row); err != nil {
			return false, err
		}
		if o.rows.count > 0 && !bytes.Equal(o.key, o.partition) {
			return true, nil
		}
		if o.rows.count == 0 {
			o.partition = append(o.partition[:0], o.key...)
		}
		if o.key, err = o.orderKeys.append(o.key[:0], row); err != nil {
			return false, err
		}
		o.values[0] = types.Bytes(nil)
		o.values[0].B = o.key
		o.batch.ReadRow(row, o.values[1:])
		if err := o.rows.addRow(o.values); err != nil {
			return false, err
		}
	}
	o.batch = nil
	return false, nil
}

// emit appends the row at hand with its functions to the output.
func (o *windowOp) emit() error {
	o.rt.Ctx.ResetArena()
	row, err := o.current.seek(o.at)
	if err != nil {
		return err
	}
	if o.at == o.peerEnd {
		if err := o.nextPeers(); err != nil {
			return err
		}
	}
	for c := range row {
		o.out.Cols[c].Append(&row[c])
	}
	for i, f := range o.funcs {
		v, err := f.value(row)
		if err == nil {
			err = pollColumns(o.rt, i)
		}
		if err != nil {
			return err
		}
		o.out.Cols[len(row)+i].Append(&v)
	}
	o.out.EndRow()
	o.at++
	return nil
}

// nextPeers finds the rows that are equal to the row at hand in the order.
func (o *windowOp) nextPeers() error {
	o.peerFirst = o.peerEnd
	o.number++
	if len(o.node.Order) == 0 {
		o.peerEnd = o.rows.count
		return nil
	}
	key, err := o.peers.key(o.peerFirst)
	if err != nil {
		return err
	}
	o.peerKey = append(o.peerKey[:0], key...)
	for o.peerEnd = o.peerFirst + 1; o.peerEnd < o.rows.count; o.peerEnd++ {
		if o.peerEnd%types.MaxBatchRows == 0 {
			if err := o.rt.poll(); err != nil {
				return err
			}
		}
		if key, err = o.peers.key(o.peerEnd); err != nil {
			return err
		}
		if !bytes.Equal(key, o.peerKey) {
			return nil
		}
	}
	return nil
}

func (o *windowOp) close() {
	o.input.close()
	o.current.cursor.close()
	o.peers.cursor.close()
	for _, f := range o.funcs {
		f.close()
	}
	o.rows.close()
	o.partKeys.close()
	o.orderKeys.close()
	o.rt.putBatch(o.out)
	o.out = nil
}

// rowReader holds one row of a list and moves to others, cheaply to later ones.
type rowReader struct {
	list   *rowList
	cursor rowCursor
	at     int // the row held; -1 is none
	row    []types.Value
}

func (r *rowReader) init(l *rowList) {
	r.list, r.at = l, -1
	r.row = make([]types.Value, len(l.types))
}

// restart follows a change of the list.
func (r *rowReader) restart() { r.at = -1 }

// seek moves to row i and returns its columns, without the order key. They borrow from
// the list and the reader.
func (r *rowReader) seek(i int) ([]types.Value, error) {
	if i != r.at {
		if err := r.move(i); err != nil {
			return nil, err
		}
		if _, err := r.cursor.nextRow(r.row); err != nil {
			return nil, err
		}
		r.at = i
	}
	return r.row[1:], nil
}

// key returns the order key of row i, which comes after the row held.
func (r *rowReader) key(i int) ([]byte, error) {
	if i == r.at {
		return r.row[0].B, nil
	}
	if err := r.move(i); err != nil {
		return nil, err
	}
	b, err := r.cursor.encoded()
	if err != nil {
		return nil, err
	}
	r.row[0], _ = decodeValue(b, types.Binary)
	r.at = i
	return r.row[0].B, nil
}

// move places the cursor before row i.
func (r *rowReader) move(i int) error {
	if r.at < 0 || i <= r.at {
		r.cursor.start(r.list, listMark{}, r.list.end())
		r.at = -1
	}
	skip := uint64(i - r.at - 1)
	r.at = -1 // until the row has been read
	return r.cursor.skip(skip)
}

// before places the reader before row i, without reading it.
func (r *rowReader) before(i int) error {
	if i == r.at+1 && i > 0 {
		return nil
	}
	if err := r.move(i); err != nil {
		return err
	}
	r.at = i - 1
	return nil
}

// moveFrom places the reader before the row of a mark.
func (r *rowReader) moveFrom(m listMark) {
	r.cursor.start(r.list, m, r.list.end())
	r.at = m.row - 1
}
