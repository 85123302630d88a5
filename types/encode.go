package types

import (
	"encoding/binary"
	"math"
	"strconv"
	"time"
)

// packetHeaderLen is the space that StartRow leaves for wire's packet header.
const packetHeaderLen = 4

// roomMin is from which size on Room is asked for a value's room.
const roomMin = 64 << 10

// lenEncMax is the longest length that AppendLenEnc writes.
const lenEncMax = 9

// nullText is the text protocol's NULL.
const nullText = 0xFB

// RowEncoder writes the rows of one result set into Buf, in the text or the
// binary protocol. wire owns it, sends Buf and cuts it back; fields are appended
// between StartRow and EndRow. It allocates only to grow Buf.
type RowEncoder struct {
	Buf    []byte
	Binary bool
	// Loc is the session zone, in which TIMESTAMP columns are shown; nil is UTC.
	Loc *time.Location
	// Results is character_set_results: strings of other character sets are
	// translated. Nil (SET character_set_results = NULL) or binary sends them as
	// they are stored.
	Results *Charset

	// Room, if set, is asked before a value of more than roomMin bytes makes Buf as long as it is told. Its error leaves the value out, and is
	// Full's.
	Room func(n int) error
	// Poll, if set, is asked between the pieces of a long text that is translated. Its error does what Room's does.
	Poll func() error

	full   error
	start  int // of the row's packet header in Buf
	bitmap int // of the null bitmap in Buf
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

// Row appends a row that another encoder has made, with its packet header.
func (e *RowEncoder) Row(row []byte) {
	e.start, e.full = len(e.Buf), nil
	if !e.hasRoom(len(row)) {
		row = row[:packetHeaderLen]
	}
	e.Buf = append(e.Buf, row...)
}

// EndRow ends the row and returns where it starts: Buf[start:start+4] is the
// place of the packet header and Buf[start+4:] the payload, of any length: wire
// splits what exceeds 16 MiB.
func (e *RowEncoder) EndRow() (start int) { return e.start }

// Full returns the error of Room or Poll for a value of the row at hand: the row is not to be sent.
func (e *RowEncoder) Full() error { return e.full }

// Null writes a NULL field.
func (e *RowEncoder) Null() {
	if e.Binary {
		bit := e.col + 2 // the protocol's offset
		e.Buf[e.bitmap+bit>>3] |= 1 << (bit & 7)
	} else {
		e.Buf = append(e.Buf, nullText)
	}
	e.col++
}

// Stored writes a field from its stored bytes (AppendStored) without making a Value.
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

// Value writes a field from a value. A value of another kind than the column's
// is coerced silently, so that the client always finds what the metadata says.
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
				e.set(t, uint64(v.N)) // from a Vector, which keeps the number only
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

// fixed writes an integer in the width of its protocol type.
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

// appendColumnFloat prints a float as its column shows it.
func appendColumnFloat(dst []byte, t *Type, f float64) []byte {
	switch {
	case t.Scale >= 0 && t.Length > 0:
		return strconv.AppendFloat(dst, f, 'f', int(t.Scale), 64)
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

// maxShortLen is the longest length of one byte in the protocol's encoding.
const maxShortLen = 250

// open reserves the length byte of a field that is shorter than 251 bytes.
func (e *RowEncoder) open() int {
	e.Buf = append(e.Buf, 0)
	return len(e.Buf) - 1
}

func (e *RowEncoder) close(at int) { e.Buf[at] = byte(len(e.Buf) - at - 1) }

// widen turns the one length byte at at into a three-byte one.
func (e *RowEncoder) widen(at int) {
	n := len(e.Buf) - at - 1
	e.Buf = append(e.Buf, 0, 0)
	copy(e.Buf[at+3:], e.Buf[at+1:at+1+n])
	e.Buf[at], e.Buf[at+1], e.Buf[at+2] = 0xFC, byte(n), byte(n>>8)
}

// text writes a string, translated to character_set_results if need be.
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

// translated writes a string of another character set. Of a long one the length is found out first, so that there is no copy of it beside Buf.
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
	if len(b) <= pieceBytes { // as always but for long ones
		e.Buf = append(e.Buf, out[:length]...)
	} else {
		_ = from.Pieces(b, func(piece []byte) error {
			e.Buf, _ = ConvertCharset(e.Buf, piece, from, e.Results)
			return e.poll(b)
		})
	}
	putScratch(p, out)
}

// poll looks at the interrupt while a long text is translated.
func (e *RowEncoder) poll(text []byte) error {
	if len(text) > pieceBytes && e.Poll != nil && e.full == nil {
		e.full = e.Poll()
	}
	return e.full
}

// hasRoom asks whether so many bytes may be appended, if they are many, and makes room for them, and not for many more.
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

// set writes the members of a SET; their text is built in borrowed memory.
func (e *RowEncoder) set(t *Type, mask uint64) {
	p := scratch.Get().(*[]byte)
	b := t.appendSet((*p)[:0], mask)
	e.text(b, t.Coll)
	putScratch(p, b)
}

// converted writes the text of a value whose kind is not its column's.
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

// AppendLenEnc appends a length-encoded integer of the protocol.
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

// temporal writes a date or time for a column of kind k.
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
