package exec

import (
	"slices"

	"github.com/pandodb/pando/expr"
	"github.com/pandodb/pando/kvapi"
	"github.com/pandodb/pando/sqlapi"
	"github.com/pandodb/pando/table"
	"github.com/pandodb/pando/txn"
	"github.com/pandodb/pando/types"
)

// Limits of programSort: what does not fit is run again by the batch executor, which
// can spill.
const (
	sortRowsMax  = 4096
	sortBytesMax = 1 << 20
)

// programState is the scratch memory of a session's programs.
type programState struct {
	spans spanSet
	req   txn.ScanRequest
	pair  pairCopy
	key   []byte
	rows  encodeSink
	sort  sortSink
	write writeState
	hold  kvapi.Hold // between the ranges of a page, and the two reads of a row by a unique index
	back  backward
}

// encodeSink sends pairs to the client as they come.
type encodeSink struct {
	prog   *Program
	reader table.Reader
	enc    *types.RowEncoder
	out    sqlapi.Sink // nil: the caller finishes the row itself
	sent   uint64
	bytes  int  // of the pairs
	long   bool // one of them was long
	due    bool // the last row is to be sent at once, when no iterator is open
}

// Pair encodes one row.
func (s *encodeSink) Pair(key, value []byte) (more bool, err error) {
	if err := s.reader.Decode(key, value); err != nil {
		return false, err
	}
	s.enc.StartRow(len(s.prog.fields))
	for i, f := range s.prog.fields {
		if b, null := s.reader.Field(f); null {
			s.enc.Null()
		} else {
			s.enc.Stored(s.prog.types[i], b)
		}
	}
	s.enc.EndRow()
	s.sent++
	s.bytes += len(value)
	if len(value) >= pairLong {
		s.long = true
	}
	if s.out == nil {
		return true, nil
	}
	if len(s.enc.Buf) >= sqlapi.AnswerBytesMax {
		s.due = true
		return false, nil
	}
	return true, s.out.RowDone()
}

// finish sends the row that waited for the end of its page.
func (s *encodeSink) finish() error {
	s.due = false
	return s.out.RowDone()
}

// run executes the program.
func (p *Program) run(rt *Runtime, sink sqlapi.Sink) (sqlapi.Result, error) {
	if rt.Txn != nil {
		if err := rt.checkReadable(p.table, p.index, p.set != nil); err != nil {
			return sqlapi.Result{}, err
		}
	}
	switch p.kind {
	case programPoint:
		return p.runPoint(rt, sink)
	case programRange:
		return p.runRange(rt, sink)
	case programAgg:
		return p.runAgg(rt, sink)
	case programSort:
		return p.runSort(rt, sink)
	case programUpdate:
		return p.runUpdate(rt)
	}
	return p.runDelete(rt)
}

// evalKey builds the key of a point program in the state. ok=false: no row can have it.
func (p *Program) evalKey(rt *Runtime) (key []byte, ok bool, err error) {
	st := &rt.scratch.program
	st.spans.eq = st.spans.eq[:0]
	for i, e := range p.key {
		v, ok, err := st.spans.point(rt, e, p.table.Columns[p.index.Columns[i].Col], false)
		if !ok || err != nil {
			return nil, false, err
		}
		st.spans.eq = append(st.spans.eq, v)
	}
	st.key = table.AppendIndexKey(st.key[:0], p.table, p.index, st.spans.eq)
	return st.key, true, nil
}

// pointGet reads one key: at the watermark without a transaction, which costs no
// registration because it is one read.
func (rt *Runtime) pointGet(key []byte, sink kvapi.Sink) (found bool, err error) {
	if rt.Txn != nil {
		return rt.Txn.Get(key, nil, sink)
	}
	return rt.Manager.Get(key, rt.Interrupt, sink)
}

func (p *Program) runPoint(rt *Runtime, sink sqlapi.Sink) (res sqlapi.Result, err error) {
	st := &rt.scratch.program
	rt.Ctx.ResetArena()
	key, ok, err := p.evalKey(rt)
	if err != nil {
		return res, err
	}
	s := &st.rows
	s.prog, s.out, s.sent = p, nil, 0
	s.reader.Reset(p.shape)
	if s.enc, err = sink.Columns(p.columns); err != nil {
		return res, err
	}
	switch {
	case !ok:
	case p.covering:
		_, err = rt.pointGet(key, s)
	default:
		err = p.pointByEntry(rt, key, s)
	}
	if ok {
		rt.Work.key(p.access, s.sent > 0)
	}
	if err == nil && s.sent > 0 {
		// A large row is sent at once.
		if err = rt.waitSeen(); err == nil {
			err = sink.RowDone()
		}
	}
	return rt.queryResult(s.sent), err
}

// pointByEntry reads a row through a unique index: two reads, which must be of one
// snapshot.
func (p *Program) pointByEntry(rt *Runtime, key []byte, s *encodeSink) error {
	st := &rt.scratch.program
	defer st.hold.Rest()
	found, err := rt.get(key, &st.hold, &st.pair, false)
	if !found || err != nil {
		return err
	}
	if st.key, err = table.AppendRowKeyOfEntry(st.key[:0], p.table, p.index, st.pair.key, st.pair.value); err != nil {
		return err
	}
	_, err = rt.get(st.key, &st.hold, s, false)
	return err
}

// queryResult is the tail of a query's answer.
func (rt *Runtime) queryResult(sent uint64) sqlapi.Result {
	rt.FoundRowsCount = sent
	return sqlapi.Result{AffectedRows: sent, HasRows: true, Warnings: rt.warnings()}
}

// eachPage reads the program's ranges page by page into sink; between pages, with no
// iterator open, it flushes pause, which may be nil.
func (p *Program) eachPage(rt *Runtime, sink kvapi.Sink, limit uint64, rows *uint64, pause sqlapi.Flusher) error {
	st := &rt.scratch.program
	if err := st.spans.fill(rt, p.table, p.index, p.ranges); err != nil {
		return err
	}
	if p.reverse {
		slices.Reverse(st.spans.spans)
	}
	r := &st.req
	r.Sink, r.Reverse, r.LimitBytes, r.Hold = sink, p.reverse, pageBytesMax, &st.hold
	defer st.hold.Rest()
	flushed := *rows
	for i := range st.spans.spans {
		r.Span = st.spans.spans[i]
		for first := true; *rows < limit; first = false {
			r.LimitRows = int(min(limit-*rows, pageRowsMax))
			before, point := *rows, first && r.Span.IsPoint()
			resume, err := p.readPage(rt, r)
			if err != nil {
				return err
			}
			if point {
				rt.Work.key(p.scan.access, *rows > before)
			} else {
				rt.Work.page(&p.scan, first, *rows-before, resume == nil)
			}
			// Short ranges share an iterator, and make a page together.
			if resume != nil || *rows-flushed >= pageRowsMax {
				st.hold.Rest()
				flushed = *rows
				if pause != nil {
					if err := pause.Flush(); err != nil {
						return err
					}
				}
			}
			if resume == nil {
				break
			}
			if p.reverse {
				r.Span.End = resume
			} else {
				r.Span.Start = resume
			}
		}
	}
	r.Sink = nil
	return nil
}

// readPage reads one page. A row so long that it is to be sent at once ends the page, and is sent when no iterator is open.
func (p *Program) readPage(rt *Runtime, r *txn.ScanRequest) (resume []byte, err error) {
	st := &rt.scratch.program
	if err := st.back.begin(p.reverse); err != nil {
		return nil, err
	}
	bytes := st.rows.bytes
	resume, err = rt.scan(r, false)
	st.back.end(st.rows.bytes - bytes)
	if err == nil && st.rows.due {
		st.hold.Rest()
		err = st.rows.finish()
	}
	return resume, err
}

func (p *Program) runRange(rt *Runtime, sink sqlapi.Sink) (res sqlapi.Result, err error) {
	if rt.Txn != nil && rt.Txn.Level() == txn.Serializable {
		// A program sends large rows page by page, and would not wait before that for what was read under locks (X10).
		return rt.runQuery(p.plan, sink)
	}
	rt.Ctx.ResetArena()
	limit, err := rt.evalCount(p.limit, ^uint64(0))
	if err != nil {
		return res, err
	}
	s := &rt.scratch.program.rows
	s.prog, s.out, s.sent, s.due = p, sink, 0, false
	rt.scratch.program.back = backward{mem: rt.account()}
	s.reader.Reset(p.shape)
	if s.enc, err = sink.Columns(p.columns); err != nil {
		return res, err
	}
	pause, _ := sink.(sqlapi.Flusher)
	err = p.eachPage(rt, s, limit, &s.sent, pause)
	s.out = nil
	return rt.queryResult(s.sent), err
}

// aggState is the memory of one execution of a programAgg; it is its sink.
type aggState struct {
	rt     *Runtime
	reader table.Reader
	row    []types.Value
	slabs  []*expr.AggStates
	rows   uint64
	plain  bool // no aggregate reads a column: COUNT(*)
}

func (p *Program) newAggState() *aggState {
	s := &aggState{row: make([]types.Value, p.shape.Len()), slabs: make([]*expr.AggStates, len(p.aggs.specs)), plain: true}
	for i, spec := range p.aggs.specs {
		s.slabs[i] = spec.NewStates()
		s.plain = s.plain && len(spec.Args()) == 0
	}
	s.reader.Reset(p.shape)
	return s
}

// Pair adds one row to the aggregates.
func (s *aggState) Pair(key, value []byte) (more bool, err error) {
	s.rows++
	if !s.plain {
		if err := s.reader.Decode(key, value); err != nil {
			return false, err
		}
		s.reader.Values(s.row)
	}
	for _, a := range s.slabs {
		if err := a.Add(s.rt.Ctx, 0, s.row); err != nil {
			return false, err
		}
	}
	return true, nil
}

// addRows adds all rows to the aggregates. If there are so many that workers should share them, it stops, drops its warnings, and short is false.
func (p *Program) addRows(rt *Runtime, s *aggState) (short bool, err error) {
	if !p.shared || rt.Pool.Free() == 0 || !rt.mayShare() {
		return true, p.eachPage(rt, s, ^uint64(0), &s.rows, nil)
	}
	limit, notes := uint64(rt.Pool.lead), rt.Ctx.Context
	rt.Ctx.Context = notes.Fork()
	err = p.eachPage(rt, s, limit, &s.rows, nil)
	tried := rt.Ctx.Context
	rt.Ctx.Context = notes
	if short = err != nil || s.rows < limit; short {
		notes.Absorb(tried)
	}
	return short, err
}

func (p *Program) runAgg(rt *Runtime, sink sqlapi.Sink) (res sqlapi.Result, err error) {
	rt.Ctx.ResetArena()
	s, _ := p.aggs.pool.Get().(*aggState)
	if s == nil {
		s = p.newAggState()
	}
	s.rt, s.rows = rt, 0
	defer func() { s.rt = nil; p.aggs.pool.Put(s) }()
	for _, a := range s.slabs {
		a.Reset()
		a.Grow(1)
	}
	if short, err := p.addRows(rt, s); err != nil {
		return res, err
	} else if !short {
		return rt.runQuery(p.plan, sink)
	}
	if err := rt.waitSeen(); err != nil {
		return res, err
	}
	enc, err := sink.Columns(p.columns)
	if err != nil {
		return res, err
	}
	enc.StartRow(len(p.aggs.outputs))
	for i, out := range p.aggs.outputs {
		v, err := s.slabs[out].Result(rt.Ctx, 0)
		if err != nil {
			return res, err
		}
		enc.Value(p.types[i], &v)
	}
	enc.EndRow()
	return rt.queryResult(1), sink.RowDone()
}
