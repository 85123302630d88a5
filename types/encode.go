package types

import (
	"encoding/binary"
	"math"
	"strconv"
	"time"
)

// packetHeaderLen is the number of bytes that StartRow reserves for the packet header, which
// package wire writes.
const packetHeaderLen = 4

// roomMin is the most bytes of a value for which Room is not called.
const roomMin = 64 << 10

// lenEncMax is the most bytes of a length-encoded integer.
const lenEncMax = 9

// nullText is the text protocol's NULL.
const nullText = 0xFB

// RowEncoder encodes the rows of one result set into Buf, in the text or binary protocol.
// Package wire sends Buf and truncates it. Fields are appended between StartRow and EndRow.
// It allocates only to grow Buf. It is used by one goroutine at a time.
type RowEncoder struct {
	Buf    []byte
	Binary bool
	// Loc is the session zone, for TIMESTAMP columns; nil is UTC.
	Loc *time.Location
	// Results is character_set_results, to which strings are converted. With nil
	// (SET character_set_results = NULL) and binary they are sent as they are stored.
	Results *Charset

	// Room, if set, is called before a value of more than roomMin bytes is appended, with
	// the number of bytes that Buf needs then, including its old memory while it is
	// copied. If it returns an error, the value is left out and Full returns the error.
	Room func(n int) error
	// Poll, if set, is called between the pieces of a long text that is converted. Its
	// error has the effect of Room's.
	Poll func() error

	full   error
	start  int // position of the row's packet header in Buf
	bitmap int // position of the null bitmap in Buf
	col    int // next column
}

// StartRow begins a row: it reserves the packet header and, in the binary
// protocol, writes the row's own header and the null bitmap.
func (e *RowEncoder) StartRow(ncols int) {
	e.start, e.col, e.full = len(e.Buf), 0, nil
	e.Buf = append(e.Buf, 0, 0, 0, 0)
	if !e.Binary {
		return
	}
	e.Buf = append(e.Buf, 0)
	e.bitmap = len(e.Buf)
	for n := (ncols + 9) / 8; n > 0; n-- {
		e.Buf = append(e.Buf, 0)
	}
}

// Row appends a row that another encoder has encoded, with its packet header.
func (e *RowEncoder) Row(row []byte) {
	e.start, e.full = len(e.Buf), nil
	if !e.hasRoom(len(row)) {
		row = row[:packetHeaderLen]
	}
	e.Buf = append(e.Buf, row...)
}

// EndRow ends the row and returns its position: Buf[start:start+4] is reserved for the
// packet header, and Buf[start+4:] is the payload, which package wire splits if it is
// longer than a packet.
func (e *RowEncoder) EndRow() (start int) { return e.start }

// Full returns the error that Room or Poll has returned for a value of the current row,
// which must not be sent then.
func (e *RowEncoder) Full() error { return e.full }

// Null appends a NULL field.
func (e *RowEncoder) Null() {
	if e.Binary {
		bit := e.col + 2 // the protocol's offset
		e.Buf[e.bitmap+bit>>3] |= 1 << (bit & 7)
	} else {
		e.Buf = append(e.Buf, nullText)
	}
	e.col++
}

// Stored appends a field from its stored bytes (AppendStored), without a Value.
func (e *RowEncoder) Stored(t *Type, b []byte) {
	e.col++
	switch typeKinds[t.ID] {
	case KindString:
		e.text(b, t.stringColl())
	case KindInt:
		if t.Unsigned {
			e.uintField(t, storedUint(b))
		} else {
			e.intField(t, storedInt(b))
		}
	case KindUint:
		e.uintField(t, storedUint(b))
	case KindFloat:
		e.float(t, storedFloat(b, t))
	case KindJSON:
		e.text(ShownJSON(b), Utf8mb4Bin)
	default:
		if t.ID == TypeSet {
			e.set(t, storedUint(b))
			return
		}
		v := DecodeStored(b, t)
		e.value(t, &v)
	}
}

// Value appends a field from a value. A value of another kind than the column's is
// converted without warnings, so that the client always receives the type in the column
// definition.
func (e *RowEncoder) Value(t *Type, v *Value) {
	if v.K == KindNull {
		e.Null()
		return
	}
	e.col++
	e.value(t, v)
}

func (e *RowEncoder) value(t *Type, v *Value) {
	switch k := typeKinds[t.ID]; k {
	case KindInt, KindUint:
		e.integer(t, v)
	case KindFloat:
		f := v.Float64()
		if v.K != KindFloat {
			f = ToFloat(nil, v)
		}
		e.float(t, f)
	case KindDecimal:
		e.decimal(t, v)
	case KindDate, KindDatetime, KindTimestamp, KindTime:
		e.temporal(t, k, v)
	case KindBit:
		if v.K != KindBit {
			e.converted(v)
			return
		}
		e.Buf = append(e.Buf, byte(t.BitBytes()))
		e.Buf = appendBigEndian(e.Buf, uint64(v.N), t.BitBytes())
	default:
		switch v.K {
		case KindString, KindEnum:
			e.text(v.B, v.Coll)
		case KindSet:
			if v.B == nil && t.ID == TypeSet {
				e.set(t, uint64(v.N)) // from Vector.Encode
				return
			}
			e.text(v.B, v.Coll)
		case KindJSON:
			e.text(ShownJSON(v.B), Utf8mb4Bin)
		default:
			e.converted(v)
		}
	}
}

func (e *RowEncoder) integer(t *Type, v *Value) {
	switch {
	case v.K == KindUint || v.K == KindBit:
		e.uintField(t, uint64(v.N))
	case v.K == KindInt:
		if t.Unsigned {
			e.uintField(t, uint64(v.N))
		} else {
			e.intField(t, v.N)
		}
	case t.Unsigned || t.ID == TypeYear:
		e.uintField(t, ToUint(nil, v))
	default:
		e.intField(t, ToInt(nil, v))
	}
}

func (e *RowEncoder) intField(t *Type, n int64) {
	if e.Binary {
		e.fixed(t, uint64(n))
		return
	}
	at := e.open()
	e.Buf = strconv.AppendInt(e.Buf, n, 10)
	e.close(at)
}

func (e *RowEncoder) uintField(t *Type, n uint64) {
	if e.Binary {
		e.fixed(t, n)
		return
	}
	at := e.open()
	switch {
	case t.ID == TypeYear:
		e.Buf = appendPadded(e.Buf, int(n), 4)
	default:
		e.Buf = fillZeros(strconv.AppendUint(e.Buf, n, 10), at+1, t)
	}
	e.close(at)
}

// fixed appends an integer in the width of its protocol type.
func (e *RowEncoder) fixed(t *Type, n uint64) {
	switch t.ID {
	case TypeTinyInt:
		e.Buf = append(e.Buf, byte(n))
	case TypeSmallInt, TypeYear:
		e.Buf = binary.LittleEndian.AppendUint16(e.Buf, uint16(n))
	case TypeMediumInt, TypeInt:
		e.Buf = binary.LittleEndian.AppendUint32(e.Buf, uint32(n))
	default:
		e.Buf = binary.LittleEndian.AppendUint64(e.Buf, n)
	}
}

func (e *RowEncoder) float(t *Type, f float64) {
	if e.Binary {
		if t.ID == TypeFloat {
			e.Buf = binary.LittleEndian.AppendUint32(e.Buf, math.Float32bits(float32(f)))
		} else {
			e.Buf = binary.LittleEndian.AppendUint64(e.Buf, math.Float64bits(f))
		}
		return
	}
	at := len(e.Buf)
	e.Buf = append(e.Buf, 0)
	e.Buf = fillZeros(appendColumnFloat(e.Buf, t, f), at+1, t)
	if n := len(e.Buf) - at - 1; n > maxShortLen {
		e.widen(at) // FLOAT(m,d) of huge values
	} else {
		e.Buf[at] = byte(n)
	}
}

// appendColumnFloat appends the text of a double in a column of type t.
func appendColumnFloat(dst []byte, t *Type, f float64) []byte {
	switch {
	case t.Scale >= 0 && t.Length > 0:
		return AppendFixed(dst, f, int(t.Scale))
	case t.ID == TypeFloat:
		return AppendFloat32(dst, f)
	}
	return AppendFloat(dst, f)
}

func (e *RowEncoder) decimal(t *Type, v *Value) {
	d := *v
	if d.K != KindDecimal {
		d = ToDecimal(nil, v)
	}
	at := e.open()
	e.Buf = fillZeros(AppendDecimal(e.Buf, d), at+1, t)
	e.close(at)
}

// maxShortLen is the largest length-encoded integer of one byte.
const maxShortLen = 250

// open begins a field of at most maxShortLen bytes: it reserves the byte of the length and
// returns its position, for close.
func (e *RowEncoder) open() int {
	e.Buf = append(e.Buf, 0)
	return len(e.Buf) - 1
}

func (e *RowEncoder) close(at int) { e.Buf[at] = byte(len(e.Buf) - at - 1) }

// widen replaces the length byte at position at by a length of three bytes.
func (e *RowEncoder) widen(at int) {
	n := len(e.Buf) - at - 1
	e.Buf = append(e.Buf, 0, 0)
	copy(e.Buf[at+3:], e.Buf[at+1:at+1+n])
	e.Buf[at], e.Buf[at+1], e.Buf[at+2] = 0xFC, byte(n), byte(n>>8)
}

// text appends a string, converted to character_set_results if needed.
func (e *RowEncoder) text(b []byte, c CollationID) {
	if cs := c.Charset(); e.Results != nil && c != Binary && cs != e.Results && !sameBytes(b, cs, e.Results) {
		e.translated(b, cs)
		return
	}
	if !e.hasRoom(len(b)) {
		b = nil
	}
	e.Buf = AppendLenEnc(e.Buf, uint64(len(b)))
	e.Buf = append(e.Buf, b...)
}

// translated appends a string of another character set. It computes the length first, so
// that a long string is converted directly into Buf.
func (e *RowEncoder) translated(b []byte, from *Charset) {
	p := scratch.Get().(*[]byte)
	out, length := (*p)[:0], 0
	_ = from.Pieces(b, func(piece []byte) error {
		out, _ = ConvertCharset(out[:0], piece, from, e.Results)
		length += len(out)
		return e.poll(b)
	})
	if e.full != nil || !e.hasRoom(length) {
		b, length = nil, 0
	}
	e.Buf = AppendLenEnc(e.Buf, uint64(length))
	if len(b) <= pieceBytes { // one piece, which is in out already
		e.Buf = append(e.Buf, out[:length]...)
	} else {
		_ = from.Pieces(b, func(piece []byte) error {
			e.Buf, _ = ConvertCharset(e.Buf, piece, from, e.Results)
			return e.poll(b)
		})
	}
	putScratch(p, out)
}

// poll calls Poll while a long text is converted.
func (e *RowEncoder) poll(text []byte) error {
	if len(text) > pieceBytes && e.Poll != nil && e.full == nil {
		e.full = e.Poll()
	}
	return e.full
}

// hasRoom asks Room whether n bytes may be appended, if they are more than roomMin, and grows
// Buf for them, without doubling it.
func (e *RowEncoder) hasRoom(n int) bool {
	if n <= roomMin {
		return true
	}
	need, meanwhile := len(e.Buf)+n+lenEncMax, 0
	if need > cap(e.Buf) {
		meanwhile = cap(e.Buf)
		if n < len(e.Buf) {
			need += need / 4
		}
	}
	if e.Room != nil {
		if err := e.Room(need + meanwhile); err != nil {
			e.full = err
			return false
		}
	}
	if need > cap(e.Buf) {
		wider := make([]byte, len(e.Buf), need)
		copy(wider, e.Buf)
		e.Buf = wider
	}
	return true
}

// set appends the members of a SET.
func (e *RowEncoder) set(t *Type, mask uint64) {
	p := scratch.Get().(*[]byte)
	b := t.appendSet((*p)[:0], mask)
	e.text(b, t.Coll)
	putScratch(p, b)
}

// converted appends the text of a value whose kind is not that of its column.
func (e *RowEncoder) converted(v *Value) {
	p := scratch.Get().(*[]byte)
	b := appendTextIn((*p)[:0], v, e.location())
	c := DefaultCollation
	if v.IsString() {
		c = v.Coll
	}
	e.text(b, c)
	putScratch(p, b)
}

func (e *RowEncoder) location() *time.Location {
	if e.Loc == nil {
		return time.UTC
	}
	return e.Loc
}

// AppendLenEnc appends a length-encoded integer of the client protocol.
func AppendLenEnc(dst []byte, n uint64) []byte {
	switch {
	case n <= maxShortLen:
		return append(dst, byte(n))
	case n < 1<<16:
		return append(dst, 0xFC, byte(n), byte(n>>8))
	case n < 1<<24:
		return append(dst, 0xFD, byte(n), byte(n>>8), byte(n>>16))
	}
	return binary.LittleEndian.AppendUint64(append(dst, 0xFE), n)
}

// temporal appends a date or time for a column of kind k.
func (e *RowEncoder) temporal(t *Type, k Kind, v *Value) {
	fsp := uint8(max(t.Scale, 0))
	if k == KindTime {
		us := v.N
		if v.K != KindTime {
			tv, _ := ToTime(&Context{Loc: e.Loc}, v)
			us = tv.N
		}
		if e.Binary {
			e.binaryTime(us)
			return
		}
		at := e.open()
		e.Buf = AppendTime(e.Buf, us, fsp)
		e.close(at)
		return
	}
	n := v.N
	switch v.K {
	case KindDate, KindDatetime:
	case KindTimestamp:
		n = packedFromUnix(v.N, e.location())
	default:
		dv, _ := ToDatetime(&Context{Loc: e.Loc}, v)
		n = dv.N
	}
	if k == KindDate {
		n = n >> packedDateShift << packedDateShift
	}
	if e.Binary {
		e.binaryDatetime(n, k == KindDate)
		return
	}
	at := e.open()
	if k == KindDate {
		e.Buf = AppendDate(e.Buf, n)
	} else {
		e.Buf = AppendDatetime(e.Buf, n, fsp)
	}
	e.close(at)
}

func (e *RowEncoder) binaryDatetime(n int64, dateOnly bool) {
	d := UnpackDatetime(n)
	size := byte(11)
	switch {
	case n == 0:
		size = 0
	case d.Micro == 0 && d.Hour|d.Minute|d.Second == 0 || dateOnly:
		size = 4
	case d.Micro == 0:
		size = 7
	}
	e.Buf = append(e.Buf, size)
	if size >= 4 {
		e.Buf = append(e.Buf, byte(d.Year), byte(d.Year>>8), byte(d.Month), byte(d.Day))
	}
	if size >= 7 {
		e.Buf = append(e.Buf, byte(d.Hour), byte(d.Minute), byte(d.Second))
	}
	if size == 11 {
		e.Buf = binary.LittleEndian.AppendUint32(e.Buf, uint32(d.Micro))
	}
}

func (e *RowEncoder) binaryTime(us int64) {
	if us == 0 {
		e.Buf = append(e.Buf, 0)
		return
	}
	neg := byte(0)
	if us < 0 {
		neg, us = 1, -us
	}
	micro, sec := us%1e6, us/1e6
	size := byte(8)
	if micro != 0 {
		size = 12
	}
	e.Buf = append(e.Buf, size, neg)
	e.Buf = binary.LittleEndian.AppendUint32(e.Buf, uint32(sec/86400))
	e.Buf = append(e.Buf, byte(sec/3600%24), byte(sec/60%60), byte(sec%60))
	if micro != 0 {
		e.Buf = binary.LittleEndian.AppendUint32(e.Buf, uint32(micro))
	}
}
