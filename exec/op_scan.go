package exec

import (
	"bytes"
	"slices"

	"github.com/pandodb/pando/catalog"
	"github.com/pandodb/pando/expr"
	"github.com/pandodb/pando/kvapi"
	"github.com/pandodb/pando/table"
	"github.com/pandodb/pando/txn"
	"github.com/pandodb/pando/types"
)

// scanOp reads ranges page by page. No iterator outlives a page: the next one resumes
// at the key that the last returned.
type scanOp struct {
	rt      *Runtime
	node    *Scan
	latest  bool // candidates of a scanning write
	sink    rowSink
	out     *types.Batch
	spans   spanSet
	at      int    // next span, in the order of reading
	left    uint64 // rows that the plan above can still use
	page    int
	req     txn.ScanRequest
	hold    kvapi.Hold // between the spans of a batch
	back    backward
	portion *portion // below a Gather: what it reads
	read    int      // rows of the portion
	begun   bool     // a page of the span at hand has been read
	kind    scanKind
	mark    *uint64 // of the LockRows above, which sets it before it opens the scan; nil elsewhere
	short   bool    // what it reads is locked, and may be more than wanted: pages begin with one row
}

func (n *Scan) build(b *builder) (operator, error) { return n.newOp(b), nil }

func (n *Scan) newOp(b *builder) *scanOp {
	o := &scanOp{rt: b.rt, node: n, latest: b.latest, kind: n.kind, out: b.rt.getBatch(n.layout.types)}
	if b.seat != nil {
		o.portion, o.kind.shared = b.seat.portion, !b.seat.lead
	}
	o.sink.reset(&n.layout, o.out)
	o.back.mem = b.rt.account()
	o.req.Sink, o.req.Reverse, o.req.Hold = &o.sink, n.Reverse, &o.hold
	if b.locks != nil {
		o.mark = b.mark
		o.req.Rows = n.Index == nil || n.Index.Primary
		o.req.Locking, o.req.Wait, o.short = true, b.locks.Wait, b.locks.Limit != nil && !b.locks.Collect
	}
	return o
}

func (o *scanOp) open() (err error) {
	n := o.node
	if err := o.rt.checkReadable(n.Table, n.Index, o.latest); err != nil {
		return err
	}
	if o.left, err = o.rt.evalCount(n.Limit, ^uint64(0)); err != nil {
		return err
	}
	if o.portion != nil && !o.portion.whole {
		o.spans.spans = append(o.spans.spans[:0], o.portion.spans...)
	} else if err := o.spans.fill(o.rt, n.Table, n.Index, n.Ranges); err != nil {
		return err
	}
	if n.Reverse {
		slices.Reverse(o.spans.spans)
	}
	if o.mark != nil {
		o.req.Mark = *o.mark
	}
	o.at, o.begun, o.page, o.read = 0, false, pageRowsMax, 0
	if n.Limit != nil && n.Filter != nil {
		o.page = pageRowsFirst
	}
	if o.short {
		o.page = 1
	}
	return nil
}

// next fills a batch from as many spans as it takes.
func (o *scanOp) next() (*types.Batch, error) {
	for o.left > 0 && o.more() {
		if err := o.rt.poll(); err != nil {
			return nil, err
		}
		o.rt.Ctx.ResetArena()
		o.out.Reset()
		o.sink.bytes = 0
		want := o.page
		if o.node.Filter == nil && o.left < uint64(want) {
			want = int(o.left)
		}
		if o.portion != nil && o.portion.rows > 0 {
			want = min(want, o.portion.rows-o.read)
		}
		o.page = min(o.page*2, pageRowsMax)
		if err := o.readPages(want); err != nil {
			return nil, err
		}
		if err := o.filter(); err != nil {
			return nil, err
		}
		if o.out.Rows() > 0 {
			return o.out, nil
		}
	}
	return nil, nil
}

// more reports whether there is something to read. Below a Gather the scan may have to
// leave the rest to others.
func (o *scanOp) more() bool {
	if o.at >= len(o.spans.spans) {
		return false
	}
	p := o.portion
	if p == nil {
		return true
	}
	if p.quit != nil && p.quit() {
		return false
	}
	if p.rows == 0 || o.read < p.rows {
		return true
	}
	if !p.stop() {
		o.read = 0
		return true
	}
	p.rest, p.unread = slices.Clone(o.spans.spans[o.at:]), !o.begun
	for i := range p.rest { // the keys are in memory that the next execution uses again
		p.rest[i] = kvapi.Span{Start: bytes.Clone(p.rest[i].Start), End: bytes.Clone(p.rest[i].End)}
	}
	o.at = len(o.spans.spans)
	return false
}

// readPages fills the batch by pages of one span after the other.
func (o *scanOp) readPages(want int) error {
	defer o.hold.Rest()
	for o.at < len(o.spans.spans) && o.out.Len < want && o.sink.bytes < pageBytesMax {
		if err := o.readPage(want); err != nil {
			return err
		}
	}
	return nil
}

// readPage reads one page of the span at hand.
func (o *scanOp) readPage(want int) error {
	span := &o.spans.spans[o.at]
	if span.IsPoint() && !o.req.Locking {
		o.at++
		found, err := o.rt.get(span.Start, &o.hold, &o.sink, o.latest)
		o.rt.Work.key(o.kind.access, found)
		o.read++
		return err
	}
	if o.portion != nil && !o.begun {
		o.portion.from = append(o.portion.from[:0], span.Start...)
	}
	o.req.Span = *span
	o.req.LimitRows, o.req.LimitBytes = want-o.out.Len, pageBytesMax-o.sink.bytes
	before, bytes := o.out.Len, o.sink.bytes
	if err := o.back.begin(o.node.Reverse); err != nil {
		return err
	}
	resume, err := o.rt.scan(&o.req, o.latest)
	o.back.end(o.sink.bytes - bytes)
	if err != nil {
		return err
	}
	rows := uint64(o.out.Len - before)
	if o.req.Locking && span.IsPoint() {
		o.rt.Work.key(o.kind.access, rows > 0)
	} else {
		o.rt.Work.page(&o.kind, !o.begun, rows, resume == nil)
	}
	o.begun = resume != nil
	o.read += int(rows)
	switch {
	case resume == nil:
		o.at++
	case o.node.Reverse:
		span.End = resume
	default:
		span.Start = resume
	}
	return nil
}

// backward counts the copy that storage makes of a long row when it scans backwards. Its size is not known in advance: it is taken to be that of the
// last page, from the second page on.
type backward struct {
	mem  account
	last int
}

// begin counts the copy of a page that is about to be read.
func (b *backward) begin(reverse bool) error {
	if !reverse || b.last <= pageBytesMax {
		return nil
	}
	return b.mem.set(int64(b.last))
}

// end notes a page's bytes, and that storage has dropped its copy.
func (b *backward) end(bytes int) {
	b.mem.close()
	b.last = bytes
}

// filter applies the scan's condition and its limit to the batch.
func (o *scanOp) filter() error {
	if o.node.Filter != nil && o.out.Len > 0 {
		if err := expr.FilterBatch(o.rt.Ctx, o.node.Filter, o.out); err != nil {
			return err
		}
	}
	rows := uint64(o.out.Rows())
	if rows > o.left {
		if o.out.Sel == nil {
			panic("exec: scan read more rows than its limit")
		}
		o.out.Sel = o.out.Sel[:o.left]
		rows = o.left
	}
	o.left -= rows
	return nil
}

func (o *scanOp) close() { o.rt.putBatch(o.out); o.out = nil }

// pointGetOp reads single rows by unique keys.
type pointGetOp struct {
	rt     *Runtime
	node   *PointGet
	latest bool
	locks  *LockRows // for which it finds candidates, nil elsewhere
	sink   rowSink
	entry  pairCopy
	rowKey []byte
	out    *types.Batch
	spans  spanSet
	at     int
	hold   kvapi.Hold // between the keys of a batch
}

func (n *PointGet) build(b *builder) (operator, error) {
	o := &pointGetOp{rt: b.rt, node: n, latest: b.latest, locks: b.locks, out: b.rt.getBatch(n.layout.types)}
	o.sink.reset(&n.layout, o.out)
	return o, nil
}

func (o *pointGetOp) open() error {
	n := o.node
	if err := o.rt.checkReadable(n.Table, n.Index, o.latest); err != nil {
		return err
	}
	o.at = 0
	return o.spans.fillKeys(o.rt, n.Table, n.Index, n.Keys)
}

func (o *pointGetOp) next() (*types.Batch, error) {
	for o.at < len(o.spans.spans) {
		if err := o.rt.poll(); err != nil {
			return nil, err
		}
		o.rt.Ctx.ResetArena()
		o.out.Reset()
		o.sink.bytes = 0
		if err := o.fill(); err != nil {
			return nil, err
		}
		if o.out.Len > 0 && o.node.Filter != nil {
			if err := expr.FilterBatch(o.rt.Ctx, o.node.Filter, o.out); err != nil {
				return nil, err
			}
		}
		if o.out.Rows() > 0 {
			return o.out, nil
		}
	}
	return nil, nil
}

// fill reads the rows of as many keys as fit.
func (o *pointGetOp) fill() error {
	defer o.hold.Rest()
	for ; o.at < len(o.spans.spans) && o.out.Len < types.MaxBatchRows && o.sink.bytes < pageBytesMax; o.at++ {
		if err := o.read(o.spans.spans[o.at].Start); err != nil {
			return err
		}
	}
	return nil
}

// read appends the row of one key, if there is one.
func (o *pointGetOp) read(key []byte) error {
	n := o.node
	if n.keysOnly { // the row is read under its lock
		o.rt.Work.key(n.access, true)
		v := types.Bytes(key)
		for i := range o.out.Cols {
			o.out.Cols[i].Append(&v)
		}
		o.out.Len++
		return nil
	}
	if n.Covering || n.Index.Primary {
		found, err := o.rt.candidate(key, &o.hold, &o.sink, o.latest, o.locks)
		if !found && err == nil {
			found, err = o.lockAbsent(key, &o.sink)
		}
		o.rt.Work.key(n.access, found)
		return err
	}
	found, err := o.rt.get(key, &o.hold, &o.entry, o.latest)
	if !found && err == nil {
		found, err = o.lockAbsent(key, &o.entry)
	}
	o.rt.Work.key(n.access, found)
	if !found || err != nil {
		return err
	}
	if o.rowKey, err = table.AppendRowKeyOfEntry(o.rowKey[:0], n.Table, n.Index, o.entry.key, o.entry.value); err != nil {
		return err
	}
	_, err = o.rt.candidate(o.rowKey, &o.hold, &o.sink, o.latest, o.locks)
	return err
}

// lockAbsent locks a unique key without a row, for a locking read: nobody may insert it until the transaction ends. If
// whoever held the lock before has inserted it, the row is found.
func (o *pointGetOp) lockAbsent(key []byte, sink kvapi.Sink) (found bool, err error) {
	if o.locks == nil || o.rt.Txn.Level() == txn.ReadCommitted {
		return false, nil
	}
	o.hold.Rest()
	found, acquired, err := o.rt.Txn.Lock(key, o.locks.Mode, o.locks.Wait, sink)
	return found && acquired, err
}

func (o *pointGetOp) close() { o.rt.putBatch(o.out); o.out = nil }

// fillKeys evaluates the keys of a PointGet as point spans, sorted and without
// duplicates.
func (s *spanSet) fillKeys(rt *Runtime, t *catalog.Table, ix *catalog.Index, keys [][]expr.Expr) error {
	s.spans, s.buf = s.spans[:0], s.buf[:0]
next:
	for at, k := range keys {
		if err := pollEvery(rt, at); err != nil {
			return err
		}
		s.eq = s.eq[:0]
		for i, e := range k {
			v, ok, err := s.point(rt, e, t.Columns[ix.Columns[i].Col], false)
			if err != nil {
				return err
			}
			if !ok {
				continue next
			}
			s.eq = append(s.eq, v)
		}
		start := len(s.buf)
		s.buf = table.AppendIndexKey(s.buf, t, ix, s.eq)
		s.spans = append(s.spans, kvapi.Span{Start: s.buf[start:len(s.buf):len(s.buf)]})
	}
	if len(s.spans) > 1 {
		if err := s.sort(rt); err != nil {
			return err
		}
		s.spans = slices.CompactFunc(s.spans, func(a, b kvapi.Span) bool { return bytes.Equal(a.Start, b.Start) })
	}
	return nil
}

// lookupOp fetches the rows that an index scan names, in the scan's order.
type lookupOp struct {
	rt     *Runtime
	node   *IndexLookup
	latest bool
	locks  *LockRows // for which it finds candidates, nil elsewhere
	scan   operator
	sink   rowSink
	out    *types.Batch
	keys   *types.Batch // from the scan, not used up
	at     int
	left   uint64
	hold   kvapi.Hold // between the rows of a batch
}

func (n *IndexLookup) build(b *builder) (operator, error) {
	scan, err := b.node(n.keys())
	if err != nil {
		return nil, err
	}
	o := &lookupOp{rt: b.rt, node: n, latest: b.latest, locks: b.locks, scan: scan, out: b.rt.getBatch(n.layout.types)}
	o.sink.reset(&n.layout, o.out)
	return o, nil
}

func (o *lookupOp) open() (err error) {
	o.keys = nil
	if o.left, err = o.rt.evalCount(o.node.Limit, ^uint64(0)); err != nil {
		return err
	}
	return o.scan.open()
}

func (o *lookupOp) next() (*types.Batch, error) {
	for o.left > 0 {
		if o.keys == nil {
			b, err := o.scan.next()
			if b == nil || err != nil {
				return nil, err
			}
			o.keys, o.at = b, 0
		}
		if err := o.fetch(); err != nil {
			return nil, err
		}
		rows := uint64(o.out.Rows())
		if rows > o.left {
			o.truncate()
			rows = o.left
		}
		o.left -= rows
		if rows > 0 {
			return o.out, nil
		}
	}
	return nil, nil
}

// fetch reads the rows of the keys at hand, as many as fit.
func (o *lookupOp) fetch() error {
	if err := o.rt.poll(); err != nil {
		return err
	}
	o.out.Reset()
	o.sink.bytes = 0
	defer o.hold.Rest()
	col := &o.keys.Cols[o.node.KeyCol]
	n := o.keys.Rows()
	for ; o.at < n && o.out.Len < types.MaxBatchRows && o.sink.bytes < pageBytesMax; o.at++ {
		if o.node.Filter == nil && uint64(o.out.Len) == o.left {
			break
		}
		// A SERIALIZABLE scan reads the latest versions and may find the row gone;
		// everybody else reads entry and row at one timestamp.
		if _, err := o.rt.candidate(col.Value(o.keys.Row(o.at)).B, &o.hold, &o.sink, o.latest, o.locks); err != nil {
			return err
		}
	}
	if o.at == n {
		o.keys = nil
	}
	if o.node.Filter == nil || o.out.Len == 0 {
		return nil
	}
	return expr.FilterBatch(o.rt.Ctx, o.node.Filter, o.out)
}

// truncate cuts the batch to the rows that are left of the limit.
func (o *lookupOp) truncate() {
	if o.out.Sel == nil {
		panic("exec: lookup fetched more rows than its limit")
	}
	o.out.Sel = o.out.Sel[:o.left]
}

func (o *lookupOp) close() {
	o.scan.close()
	o.rt.putBatch(o.out)
	o.out = nil
}
