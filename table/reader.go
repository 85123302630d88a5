package table

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/pandodb/pando/catalog"
	"github.com/pandodb/pando/kvapi"
	"github.com/pandodb/pando/types"
)

// fieldSource says where a field comes from.
type fieldSource uint8

const (
	fromRow      fieldSource = iota // a column of the row value
	fromKey                         // rebuilt from a key column
	fromOriginal                    // the originals of an index value
	fromTwin                        // an earlier field of the same column
	fromExpr                        // computed from other fields: a virtual column
)

// fieldInfo describes one requested column.
type fieldInfo struct {
	col    int
	typ    *types.Type
	source fieldSource
	pos    int // fromOriginal: position among the originals; fromTwin: the earlier field
}

// keyField is one key column in key order, up to the last one needed.
type keyField struct {
	typ   *types.Type
	desc  bool
	field int // requested field it fills, -1 to skip
}

// Shape says where the columns that a statement needs lie in rows (of every
// layout) or in the entries of an index. It is immutable and shared by all
// executions of a plan.
type Shape struct {
	info   *info
	index  *indexInfo // nil: rows
	fields []fieldInfo
	// keyFields are the key columns to walk: of the row key, or of the index
	// columns; pkFields those of the primary key behind or beside the latter.
	keyFields, pkFields []keyField
	keyParts            int // all index columns, when the pk has to be found behind them
	prefixLen           int
	// positions[version-first][field] is the column's position in that layout, -1 if absent.
	positions [][]int16
	widths    []int // columns per layout
	first     uint32
	originals bool // some field comes from the originals
	// twins are the fields whose column an earlier field has too, as in SELECT id, id.
	twins []int
	// visible is how many fields were asked for. The sources of virtual columns follow them.
	visible int
	// computed are the fields of virtual columns, in the order in which they are computed, and sources all others but twins.
	computed, sources []int
}

// NewShape returns the shape of cols (ordinals; RowIDOrdinal stands for the
// hidden row id) in the rows of t, or in the entries of ix if ix is not nil and
// not the primary key. It panics if ix does not cover cols.
func NewShape(t *catalog.Table, ix *catalog.Index, cols []int) *Shape {
	in := infoOf(t)
	if ix == nil || ix.Primary {
		return newRowShape(in, cols)
	}
	return newIndexShape(in, ix, cols)
}

func fieldsOf(in *info, cols []int) []fieldInfo {
	fields := make([]fieldInfo, len(cols))
	for i, col := range cols {
		fields[i] = fieldInfo{col: col, typ: &rowIDType}
		if col < len(in.table.Columns) {
			fields[i].typ = &in.table.Columns[col].Type
		}
		if twin := slices.Index(cols[:i], col); twin >= 0 {
			fields[i].source, fields[i].pos = fromTwin, twin
		}
	}
	return fields
}

// twinsOf lists the fields that are copies of earlier ones.
func twinsOf(fields []fieldInfo) (twins []int) {
	for i := range fields {
		if fields[i].source == fromTwin {
			twins = append(twins, i)
		}
	}
	return twins
}

func newRowShape(in *info, cols []int) *Shape {
	visible := len(cols)
	if in.computer != nil {
		cols = in.withSources(cols)
	}
	s := &Shape{info: in, prefixLen: len(in.rowPrefix), fields: fieldsOf(in, cols), visible: visible}
	s.twins = twinsOf(s.fields)
	for i := range s.fields {
		switch f := &s.fields[i]; {
		case f.source == fromTwin:
		case in.isVirtual(f.col):
			f.source = fromExpr
		case in.inKey[f.col]:
			f.source = fromKey
		}
	}
	if in.computer != nil {
		s.arrange()
	}
	s.keyFields = walk(in.pk, s.fields)
	layouts := in.table.Layouts
	s.first = layouts[0].Version
	for _, l := range layouts {
		at := make(map[uint32]int16, len(l.Columns))
		for i, id := range l.Columns {
			at[id] = int16(i)
		}
		pos := make([]int16, len(cols))
		for i, f := range s.fields {
			pos[i] = -1
			if f.source == fromRow {
				if p, ok := at[in.table.Columns[f.col].ID]; ok {
					pos[i] = p
				}
			}
		}
		s.positions = append(s.positions, pos)
		s.widths = append(s.widths, len(l.Columns))
	}
	return s
}

// walk lists key columns up to the last one that fills a field.
func walk(parts []keyPart, fields []fieldInfo) []keyField {
	var out []keyField
	last := 0
	for _, p := range parts {
		k := keyField{typ: p.typ, desc: p.desc, field: -1}
		for i, f := range fields {
			if f.col == p.col && f.source == fromKey && types.KeyRecoverable(p.typ, p.prefix) {
				k.field = i
			}
		}
		out = append(out, k)
		if k.field >= 0 {
			last = len(out)
		}
	}
	return out[:last]
}

func newIndexShape(in *info, ix *catalog.Index, cols []int) *Shape {
	x := in.index(ix)
	s := &Shape{info: in, index: x, prefixLen: len(x.prefix), fields: fieldsOf(in, cols), keyParts: len(x.parts), visible: len(cols)}
	s.twins = twinsOf(s.fields)
	for i := range s.fields {
		f := &s.fields[i]
		if f.source == fromTwin {
			continue
		}
		f.source = fromKey
		for pos, o := range x.originals {
			if o.col == f.col {
				f.source, f.pos, s.originals = fromOriginal, pos, true
			}
		}
		if !in.covers(ix, f.col) {
			panic(fmt.Sprintf("table: index %s of %s does not cover column %d", ix.Name, in.table.Name, f.col))
		}
	}
	s.keyFields = walk(x.parts, s.fields)
	// A column that is part of both is taken from the index columns.
	rest := make([]fieldInfo, len(s.fields))
	copy(rest, s.fields)
	for _, k := range s.keyFields {
		if k.field >= 0 {
			rest[k.field].source = fromOriginal
		}
	}
	s.pkFields = walk(in.pk, rest)
	return s
}

func (in *info) index(ix *catalog.Index) *indexInfo {
	for i := range in.secondary {
		if in.secondary[i].desc.ID == ix.ID {
			return &in.secondary[i]
		}
	}
	panic(fmt.Sprintf("table: %s has no index %s", in.table.Name, ix.Name))
}

// Len returns the number of fields.
func (s *Shape) Len() int { return s.visible }

// Type returns the type of field i.
func (s *Shape) Type(i int) *types.Type { return s.fields[i].typ }

// Reader decodes the fields of a Shape from one pair after another, without
// allocating. Everything it returns borrows the pair and the Reader's scratch:
// valid until the next Decode. One goroutine at a time.
type Reader struct {
	shape   *Shape
	fields  []field
	scratch []byte
	row     rowView
	key     []byte
	value   []byte
	virtual computing
}

type field struct {
	b    []byte
	null bool
}

// Init prepares r to read cols from the rows of t. Statements that run often
// build the Shape once and use Reset.
func (r *Reader) Init(t *catalog.Table, cols []int) { r.Reset(NewShape(t, nil, cols)) }

// Reset prepares r for pairs of shape s and keeps its memory.
func (r *Reader) Reset(s *Shape) {
	r.shape = s
	if cap(r.fields) < len(s.fields) {
		r.fields = make([]field, len(s.fields))
	}
	r.fields = r.fields[:len(s.fields)]
}

// Decode reads the fields of one pair. The error wraps kvapi.ErrCorrupt.
func (r *Reader) Decode(key, value []byte) error {
	s := r.shape
	r.scratch = r.scratch[:0]
	r.key, r.value = key, value
	if len(key) < s.prefixLen {
		return fmt.Errorf("table: %w: short key", kvapi.ErrCorrupt)
	}
	if err := r.decodePair(key[s.prefixLen:], value); err != nil {
		return err
	}
	if s.computed != nil {
		if err := r.compute(); err != nil {
			return err
		}
	}
	for _, i := range s.twins {
		r.fields[i] = r.fields[s.fields[i].pos]
	}
	return nil
}

func (r *Reader) decodePair(cols, value []byte) error {
	if r.shape.index != nil {
		return r.decodeEntry(cols, value)
	}
	if len(r.shape.keyFields) > 0 {
		if _, err := r.decodeKey(cols, r.shape.keyFields); err != nil {
			return err
		}
	}
	return r.decodeRow(value)
}

func (r *Reader) decodeRow(value []byte) error {
	s := r.shape
	version, rest, err := readLayout(value)
	if err != nil {
		return err
	}
	l := version - s.first
	if version < s.first || int(l) >= len(s.positions) {
		return errRow("layout is not in the descriptor")
	}
	if err := r.row.parse(value, rest, s.widths[l]); err != nil {
		return err
	}
	pos := s.positions[l]
	for i := range s.fields {
		if s.fields[i].source != fromRow {
			continue
		}
		f := &r.fields[i]
		if pos[i] < 0 {
			d := &s.info.defaults[s.fields[i].col]
			f.b, f.null = d.b, d.null
			continue
		}
		if f.b, f.null, err = r.row.column(int(pos[i])); err != nil {
			return err
		}
		if r.row.isPacked(int(pos[i])) {
			start := len(r.scratch)
			if r.scratch, err = r.row.unpack(r.scratch, f.b, s.info.table.Dictionaries()); err != nil {
				return err
			}
			f.b = r.scratch[start:len(r.scratch):len(r.scratch)]
		}
	}
	return nil
}

// decodeKey walks key columns and rebuilds the stored form of those needed.
func (r *Reader) decodeKey(b []byte, parts []keyField) (rest []byte, err error) {
	for i := range parts {
		p := &parts[i]
		if p.field < 0 {
			if b, err = types.SkipKey(b, p.typ, p.desc); err != nil {
				return nil, fmt.Errorf("table: %w: key: %v", kvapi.ErrCorrupt, err)
			}
			continue
		}
		v, after, err := types.DecodeKey(b, p.typ, p.desc)
		if err != nil {
			return nil, fmt.Errorf("table: %w: key: %v", kvapi.ErrCorrupt, err)
		}
		b = after
		f := &r.fields[p.field]
		if f.null = v.IsNull(); f.null {
			f.b = nil
			continue
		}
		start := len(r.scratch)
		r.scratch = types.AppendStored(r.scratch, v, p.typ)
		f.b = r.scratch[start:len(r.scratch):len(r.scratch)]
	}
	return b, nil
}

func (r *Reader) decodeEntry(cols, value []byte) error {
	s := r.shape
	rest, err := r.decodeKey(cols, s.keyFields)
	if err != nil {
		return err
	}
	pk, originals, err := splitEntry(value)
	if err != nil {
		return err
	}
	if len(s.pkFields) > 0 {
		if pk == nil {
			for i := len(s.keyFields); i < s.keyParts; i++ {
				p := &s.index.parts[i]
				if rest, err = types.SkipKey(rest, p.typ, p.desc); err != nil {
					return fmt.Errorf("table: %w: key: %v", kvapi.ErrCorrupt, err)
				}
			}
			pk = rest
		}
		if _, err := r.decodeKey(pk, s.pkFields); err != nil {
			return err
		}
	}
	if s.originals {
		return r.decodeOriginals(originals)
	}
	return nil
}

// decodeOriginals reads the stored columns of an index value.
func (r *Reader) decodeOriginals(b []byte) error {
	s := r.shape
	for pos := range s.index.originals {
		n, used := binary.Uvarint(b)
		if used <= 0 || n > uint64(len(b)-used)+1 {
			return fmt.Errorf("table: %w: index value", kvapi.ErrCorrupt)
		}
		b = b[used:]
		var f field
		if n == 0 {
			f.null = true
		} else {
			f.b, b = b[:n-1:n-1], b[n-1:]
		}
		for i := range s.fields {
			if s.fields[i].source == fromOriginal && s.fields[i].pos == pos {
				r.fields[i] = f
			}
		}
	}
	return nil
}

// Field returns the stored form of field i.
func (r *Reader) Field(i int) (stored []byte, null bool) {
	f := &r.fields[i]
	return f.b, f.null
}

// Value returns field i as a value.
func (r *Reader) Value(i int) types.Value {
	f := &r.fields[i]
	if f.null {
		return types.Null()
	}
	return types.DecodeStored(f.b, r.shape.fields[i].typ)
}

// Values decodes all fields into row, which has at least Shape.Len elements.
func (r *Reader) Values(row []types.Value) {
	for i := range r.shape.visible {
		row[i] = r.Value(i)
	}
}

// Encode writes field i to the wire.
func (r *Reader) Encode(i int, e *types.RowEncoder) {
	f := &r.fields[i]
	if f.null {
		e.Null()
		return
	}
	e.Stored(r.shape.fields[i].typ, f.b)
}

// AppendRowKeyOf appends the row key that the index entry decoded last points to.
func (r *Reader) AppendRowKeyOf(dst []byte) ([]byte, error) {
	if r.shape.index == nil {
		return append(dst, r.key...), nil
	}
	return r.shape.index.appendRowKey(dst, r.shape.info, r.key, r.value)
}

// AppendRowKeyOfEntry appends the key of the row that an entry of ix points to.
func AppendRowKeyOfEntry(dst []byte, t *catalog.Table, ix *catalog.Index, key, value []byte) ([]byte, error) {
	in := infoOf(t)
	return in.index(ix).appendRowKey(dst, in, key, value)
}

func (x *indexInfo) appendRowKey(dst []byte, in *info, key, value []byte) ([]byte, error) {
	pk, _, err := splitEntry(value)
	if err != nil {
		return dst, err
	}
	if pk == nil {
		if !bytes.HasPrefix(key, x.prefix) {
			return dst, fmt.Errorf("table: %w: key of another index", kvapi.ErrCorrupt)
		}
		pk = key[len(x.prefix):]
		for i := range x.parts {
			if pk, err = types.SkipKey(pk, x.parts[i].typ, x.parts[i].desc); err != nil {
				return dst, fmt.Errorf("table: %w: key: %v", kvapi.ErrCorrupt, err)
			}
		}
	}
	if len(pk) == 0 {
		return dst, fmt.Errorf("table: %w: index entry without primary key", kvapi.ErrCorrupt)
	}
	dst = append(dst, in.rowPrefix...)
	return append(dst, pk...), nil
}

// splitEntry takes an index value apart. pk is nil when the key carries it.
func splitEntry(value []byte) (pk, originals []byte, err error) {
	if len(value) == 0 || value[0]&formatMask != formatV1 {
		return nil, nil, fmt.Errorf("table: %w: unknown format of an index value", kvapi.ErrCorrupt)
	}
	rest := value[1:]
	if value[0]&entryHasPK != 0 {
		n, used := binary.Uvarint(rest)
		if used <= 0 || n == 0 || n > uint64(len(rest)-used) {
			return nil, nil, fmt.Errorf("table: %w: primary key of an index value", kvapi.ErrCorrupt)
		}
		pk, rest = rest[used:used+int(n)], rest[used+int(n):]
	}
	return pk, rest, nil
}

// AppendIndexKey appends the key of the entries of ix that begin with vals: all
// of its columns, or the first few. For a unique index with all columns given
// and none NULL it is the entry's whole key. A nil ix is the rows: by primary key, or by one Uint for a table with a hidden row id.
func AppendIndexKey(dst []byte, t *catalog.Table, ix *catalog.Index, vals []types.Value) []byte {
	prefix, parts := partsFor(t, ix)
	dst = append(dst, prefix...)
	for i := range vals {
		p := &parts[i]
		dst = types.AppendKey(dst, vals[i], p.typ, p.desc, p.prefix)
	}
	return dst
}

// partsFor returns prefix and columns of an index; nil or the primary key mean the rows.
func partsFor(t *catalog.Table, ix *catalog.Index) (prefix []byte, parts []keyPart) {
	in := infoOf(t)
	if ix == nil || ix.Primary {
		return in.rowPrefix, in.pk
	}
	x := in.index(ix)
	return x.prefix, x.parts
}

// RowPrefix returns the prefix of all rows of t; shared, not to be changed.
func RowPrefix(t *catalog.Table) []byte { return infoOf(t).rowPrefix }
