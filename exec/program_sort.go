package exec

import (
	"cmp"
	"errors"
	"slices"

	"github.com/pandodb/pando/sqlapi"
	"github.com/pandodb/pando/table"
	"github.com/pandodb/pando/types"
)

// sortSink keeps the stored fields of a short range to be sorted. Most comparisons are of an abbreviation of the first sort key, the
// others of the fields where they lie: whole sort keys would cost more than the few hundred comparisons of a hundred rows.
type sortSink struct {
	prog   *Program
	reader table.Reader
	width  int
	arena  []byte
	fields []sortField // width per row
	order  []sortRow   // in output order at the end
	rows   uint64
	whole  bool // a row has no abbreviation
}

// sortRow is a row to be sorted.
type sortRow struct {
	key uint64 // of the first sort key; it orders rows where it differs
	row int32
}

// sortField is one stored field in the arena; len<0 is NULL.
type sortField struct {
	off, len int32
}

// errTooMuch makes runSort fall back to the batch executor.
var errTooMuch = errors.New("exec: too much for a sort program")

// Pair keeps one row.
func (s *sortSink) Pair(key, value []byte) (more bool, err error) {
	if err := s.reader.Decode(key, value); err != nil {
		return false, err
	}
	if s.rows == sortRowsMax || len(s.arena) > sortBytesMax {
		return false, errTooMuch
	}
	s.rows++
	for f := 0; f < s.width; f++ {
		b, null := s.reader.Field(f)
		if null {
			s.fields = append(s.fields, sortField{len: -1})
			continue
		}
		s.fields = append(s.fields, sortField{off: int32(len(s.arena)), len: int32(len(b))})
		s.arena = append(s.arena, b...)
	}
	row := int32(s.rows - 1)
	s.order = append(s.order, sortRow{s.abbreviate(row), row})
	return true, nil
}

// abbreviate returns the key of a row. If one row has none, the keys of all are cleared.
func (s *sortSink) abbreviate(row int32) uint64 {
	if s.whole {
		return 0
	}
	sort := s.prog.sort
	key := uint64(0) // NULL is before everything
	if b, null := s.field(row, sort.keys[0]); !null {
		var ok bool
		if key, ok = types.AbbreviateStored(b, s.prog.shape.Type(sort.keys[0])); !ok {
			s.whole = true
			for i := range s.order {
				s.order[i].key = 0
			}
			return 0
		}
	}
	if sort.desc[0] {
		key = ^key
	}
	return key
}

func (s *sortSink) field(row int32, f int) (b []byte, null bool) {
	x := s.fields[int(row)*s.width+f]
	if x.len < 0 {
		return nil, true
	}
	return s.arena[x.off : x.off+x.len], false
}

// compare orders two rows by the sort keys; equal rows are 0.
func (s *sortSink) compare(a, b int32) int {
	p := s.prog
	for i, f := range p.sort.keys {
		c := s.compareField(a, b, f)
		if c != 0 {
			if p.sort.desc[i] {
				return -c
			}
			return c
		}
	}
	return 0
}

func (s *sortSink) compareField(a, b int32, f int) int {
	x, xNull := s.field(a, f)
	y, yNull := s.field(b, f)
	if xNull || yNull {
		switch {
		case xNull && yNull:
			return 0
		case xNull:
			return -1
		}
		return 1
	}
	t := s.prog.shape.Type(f)
	switch {
	case t.IsStringType():
		return types.CompareStrings(x, y, t.Coll)
	case t.ID == types.TypeEnum || t.ID == types.TypeSet: // they compare by name and are sorted by number
		return cmp.Compare(uint64(types.DecodeStored(x, t).N), uint64(types.DecodeStored(y, t).N))
	}
	return types.Compare(types.DecodeStored(x, t), types.DecodeStored(y, t), t.Coll)
}

func (p *Program) runSort(rt *Runtime, sink sqlapi.Sink) (res sqlapi.Result, err error) {
	rt.Ctx.ResetArena()
	s := &rt.scratch.program.sort
	s.prog, s.width, s.rows, s.whole = p, p.shape.Len(), 0, false
	s.reader.Reset(p.shape)
	s.arena, s.fields, s.order = s.arena[:0], s.fields[:0], s.order[:0]
	err = p.eachPage(rt, s, ^uint64(0), &s.rows, nil)
	if errors.Is(err, errTooMuch) {
		s.arena, s.fields = nil, nil
		return rt.runQuery(p.plan, sink)
	}
	if err == nil {
		err = rt.waitSeen()
	}
	if err != nil {
		return res, err
	}
	slices.SortFunc(s.order, func(a, b sortRow) int {
		if a.key != b.key {
			return cmp.Compare(a.key, b.key)
		}
		if c := s.compare(a.row, b.row); c != 0 {
			return c
		}
		return cmp.Compare(a.row, b.row)
	})
	rt.Work.Add(SortedRows, uint64(len(s.order)))
	return s.send(rt, sink)
}

// send encodes the rows in order.
func (s *sortSink) send(rt *Runtime, sink sqlapi.Sink) (res sqlapi.Result, err error) {
	p := s.prog
	enc, err := sink.Columns(p.columns)
	if err != nil {
		return res, err
	}
	flusher, _ := sink.(sqlapi.Flusher)
	sent := uint64(0)
	for i, at := range s.order {
		if p.sort.distinct && i > 0 && s.order[i-1].key == at.key && s.compare(s.order[i-1].row, at.row) == 0 {
			continue
		}
		enc.StartRow(len(p.fields))
		for c, f := range p.fields {
			if b, null := s.field(at.row, f); null {
				enc.Null()
			} else {
				enc.Stored(p.types[c], b)
			}
		}
		enc.EndRow()
		sent++
		if err := sink.RowDone(); err != nil {
			return res, err
		}
		if flusher != nil && sent%types.MaxBatchRows == 0 {
			if err := flusher.Flush(); err != nil {
				return res, err
			}
		}
	}
	return rt.queryResult(sent), nil
}
