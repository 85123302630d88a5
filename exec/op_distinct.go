package exec

import (
	"github.com/pandodb/pando/types"
)

// partitionsPerSpill is how many files hold the rows that did not fit, by hash. One
// spill divides the work by this number.
const partitionsPerSpill = 16

// spillDepthMax bounds how often a partition is partitioned again. Each level uses
// other bits of the hash; data that still does not fit is a memory error.
const spillDepthMax = 4

// distinctOp passes each row once. While memory lasts it keeps the rows seen in a
// keyTable; then the table is frozen, and rows that are not in it go to partitions,
// which are worked off one by one afterwards.
type distinctOp struct {
	rt    *Runtime
	input operator
	types []types.Type
	table keyTable
	mem   account
	long  account // of the keys of long texts
	key   []byte
	sel   []uint16
	parts partitions
	out   *types.Batch
	part  []byte
}

func (n *Distinct) build(b *builder) (operator, error) {
	in, err := b.node(n.Input)
	if err != nil {
		return nil, err
	}
	o := &distinctOp{rt: b.rt, input: in, types: Types(n), mem: b.rt.account(), long: b.rt.account()}
	o.table.init()
	return o, nil
}

func (o *distinctOp) open() error {
	if o.parts.spilled {
		o.table.release()
	} else {
		o.table.reset()
	}
	o.parts.close()
	return o.input.open()
}

func (o *distinctOp) next() (*types.Batch, error) {
	for !o.parts.draining {
		b, err := o.input.next()
		if err != nil {
			return nil, err
		}
		if b == nil {
			if err := o.parts.drain(); err != nil {
				return nil, err
			}
			break
		}
		if o.sel, err = o.long.passing(o.sel, b, o.add); err != nil {
			return nil, err
		}
		if len(o.sel) > 0 {
			b.Sel = o.sel
			return b, nil
		}
	}
	return o.nextSpilled()
}

// add reports whether physical row i of b is to be passed on now.
func (o *distinctOp) add(b *types.Batch, i int) (bool, error) {
	var err error
	if o.key, err = o.rt.appendRowKey(o.key[:0], b, i); err != nil {
		return false, err
	}
	h := o.table.hash(o.key)
	if o.parts.active() {
		if _, ok := o.table.find(o.key, h); ok {
			return false, nil
		}
		o.key = appendBatchRow(o.key[:0], b, i)
		return false, o.parts.write(h, o.key)
	}
	if err := o.table.makeRoom(o.rt, 1); err != nil {
		return false, err
	}
	_, fresh := o.table.insert(o.key, h)
	if !fresh {
		return false, nil
	}
	err = o.mem.set(o.table.bytes())
	if (o.mem.tight() || o.table.full()) && o.parts.canSpill(o.rt) {
		o.parts.begin(o.rt)
		err = nil
	} else if err == nil && o.table.full() {
		err = errStatementMemory
	}
	return true, err
}

// nextSpilled works off the partitions.
func (o *distinctOp) nextSpilled() (*types.Batch, error) {
	if o.out == nil {
		o.out = o.rt.getBatch(o.types)
	}
	one := o.rt.getBatch(o.types)
	defer o.rt.putBatch(one)
	o.out.Reset()
	for rows := 1; !o.out.Full(); rows++ {
		part, ok, err := o.parts.read(o.part)
		o.part = part
		if err == nil && rows%joinCheckRows == 0 { // a partition may be one row a million times
			err = o.rt.poll()
		}
		if err != nil {
			return nil, err
		}
		if !ok {
			if ok, err = o.parts.advance(); err != nil {
				return nil, err
			}
			if !ok {
				break
			}
			// Rows of one partition never equal rows of another, or of the table that
			// was frozen when they were written.
			o.table.release()
			continue
		}
		one.Reset()
		decodeInto(one, part)
		fresh, err := o.add(one, 0)
		if err != nil {
			return nil, err
		}
		if fresh {
			o.out.AppendFrom(one, 0)
		}
	}
	if o.out.Len == 0 {
		return nil, nil
	}
	return o.out, nil
}

func (o *distinctOp) close() {
	o.input.close()
	o.parts.close()
	o.mem.close()
	o.long.close()
	o.rt.putBatch(o.out)
	o.out = nil
}

// partition is a spill file waiting to be read.
type partition struct {
	file  *spillFile
	depth int
}

// partitions is the set of files of rows that an operator postponed. Rows are written
// while the operator's table is frozen; later each file is read back with an empty
// table, which may freeze again and add deeper partitions.
type partitions struct {
	rt       *Runtime
	writing  [partitionsPerSpill]*spillFile
	frozen   bool
	spilled  bool // the memory was short once
	draining bool
	depth    int // of the partition being read; 0 is the input
	queue    []partition
	reading  *spillFile
}

// active reports whether rows that are not in the table have to be written.
func (p *partitions) active() bool { return p.frozen }

// canSpill reports whether begin may be called at this depth.
func (p *partitions) canSpill(rt *Runtime) bool {
	return rt.TempDir != "" && p.depth < spillDepthMax
}

// begin freezes the table.
func (p *partitions) begin(rt *Runtime) {
	if !p.spilled {
		rt.Work.Add(TmpDiskTables, 1)
	}
	p.rt, p.frozen, p.spilled = rt, true, true
}

// write postpones a row with hash h.
func (p *partitions) write(h uint64, row []byte) error {
	// The table uses low bits for slots; partitions take others at every depth.
	i := h >> (40 + 4*uint(p.depth)) % partitionsPerSpill
	if p.writing[i] == nil {
		f, err := p.rt.newSpill()
		if err != nil {
			return err
		}
		p.writing[i] = f
	}
	return p.writing[i].write(row)
}

// drain ends the phase that reads the operator's input.
func (p *partitions) drain() error {
	p.draining = true
	return p.endPhase()
}

// endPhase queues the files written and thaws the table.
func (p *partitions) endPhase() error {
	for i, f := range p.writing {
		if f == nil {
			continue
		}
		p.writing[i] = nil
		p.queue = append(p.queue, partition{f, p.depth + 1})
		if err := f.rewind(); err != nil {
			return err
		}
	}
	p.frozen = false
	return nil
}

// advance ends the partition at hand and begins the next; the operator's table has to
// be emptied for it. ok=false is the end of all.
func (p *partitions) advance() (ok bool, err error) {
	if p.reading != nil {
		p.reading.close()
		p.reading = nil
		if err := p.endPhase(); err != nil {
			return false, err
		}
	}
	if len(p.queue) == 0 {
		return false, nil
	}
	last := p.queue[len(p.queue)-1]
	p.queue = p.queue[:len(p.queue)-1]
	p.reading, p.depth = last.file, last.depth
	return true, nil
}

// read returns the next row of the partition at hand in dst; ok=false at its end.
func (p *partitions) read(dst []byte) (row []byte, ok bool, err error) {
	if p.reading == nil {
		return dst, false, nil
	}
	return p.reading.read(dst)
}

// close removes all files and resets p.
func (p *partitions) close() {
	for _, f := range p.writing {
		f.close()
	}
	for _, q := range p.queue {
		q.file.close()
	}
	p.reading.close()
	*p = partitions{}
}
