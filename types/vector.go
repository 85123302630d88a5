package types

import "unsafe"

// MaxBatchRows is the most rows that a Batch holds.
const MaxBatchRows = 1024

const nullWords = MaxBatchRows / 64

// Vector is a typed column of up to MaxBatchRows values. Numbers are in N; strings,
// JSON and wide decimals have their bytes in Data. ENUM and SET have their number in N
// and their text in Type. Kernels of package expr read the fields and write N and Nulls;
// others use the methods. A Vector is used by one goroutine at a time.
type Vector struct {
	Type  Type
	Nulls []uint64 // bit i set: row i is NULL
	N     []int64  // Value.N of row i; 0 for NULL and strings
	Off   []uint32 // row i is Data[Off[i]:Off[i+1]]; empty for kinds without bytes
	Data  []byte

	kind  Kind
	bytes bool // Off and Data are used
	nulls int  // NULLs that were appended
	room  Room
	held  int // bytes of Data that room has granted
}

// Room is called before a vector allocates memory for a long value, with the number of
// bytes, and with a negative number when the memory is given back. If it returns false,
// the value becomes empty; the caller of SetRoom has to end the statement then.
type Room func(bytes int) bool

// vectorLong is the fewest bytes of a value for which Room is called. The sum of shorter
// values is bounded by BatchBytesMax.
const vectorLong = 64 << 10

// NewVector returns an empty vector.
func NewVector(t Type) *Vector {
	v := new(Vector)
	v.Init(t)
	return v
}

// Init removes all rows and sets the type. It keeps the memory.
func (v *Vector) Init(t Type) {
	v.Type, v.kind = t, t.Kind()
	v.bytes = v.kind == KindString || v.kind == KindJSON || v.kind == KindDecimal
	if v.Nulls == nil {
		v.Nulls = make([]uint64, nullWords)
	}
	v.Reset()
}

// Reset removes all rows and keeps the memory.
func (v *Vector) Reset() {
	clear(v.Nulls)
	v.nulls = 0
	v.N, v.Data = v.N[:0], v.Data[:0]
	v.Off = v.Off[:0]
	if v.bytes {
		v.Off = append(v.Off, 0)
	}
}

// Kind returns the kind of the values.
func (v *Vector) Kind() Kind { return v.kind }

// Len returns the number of rows.
func (v *Vector) Len() int { return len(v.N) }

// IsNull reports whether row i is NULL.
func (v *Vector) IsNull(i int) bool { return v.Nulls[i>>6]>>(uint(i)&63)&1 != 0 }

// HasNulls reports whether a NULL was appended. A kernel that writes Nulls makes it true,
// see shape in package expr.
func (v *Vector) HasNulls() bool { return v.nulls > 0 }

// Bytes returns the bytes of row i, which are valid until Reset.
func (v *Vector) Bytes(i int) []byte { return v.Data[v.Off[i]:v.Off[i+1]:v.Off[i+1]] }

// Value returns row i. B is valid until Reset.
func (v *Vector) Value(i int) Value {
	if v.IsNull(i) {
		return Value{}
	}
	switch v.kind {
	case KindString:
		return Value{K: KindString, Coll: v.Type.stringColl(), B: v.Bytes(i)}
	case KindDecimal:
		return v.decimal(i)
	case KindJSON:
		return JSON(v.Bytes(i))
	case KindEnum:
		return v.Type.EnumValue(uint64(v.N[i]))
	case KindSet:
		return v.Type.SetValue(uint64(v.N[i]))
	case KindBit:
		return Value{K: KindBit, Scale: uint8(v.Type.BitBytes()), N: v.N[i]}
	case KindFloat:
		if v.Type.ID == TypeFloat {
			return Value{K: KindFloat, Scale: SinglePrecision, N: v.N[i]}
		}
	case KindDatetime, KindTimestamp, KindTime:
		return Value{K: v.kind, Scale: uint8(v.Type.Scale), N: v.N[i]}
	}
	return Value{K: v.kind, N: v.N[i]}
}

// decimal returns row i. It has no bytes in Data if the number is in N and has the type's
// scale, else the scale, and then the wide decimal if it is one.
func (v *Vector) decimal(i int) Value {
	d := Value{K: KindDecimal, Scale: uint8(v.Type.Scale), N: v.N[i]}
	if b := v.Bytes(i); len(b) > 0 {
		d.Scale = b[0]
		if len(b) > 1 {
			d.B = b[1:]
		}
	}
	return d
}

// end completes the row whose bytes were appended to Data.
func (v *Vector) end() {
	if v.bytes {
		v.Off = append(v.Off, uint32(len(v.Data)))
	}
}

// AppendNull appends a NULL.
func (v *Vector) AppendNull() {
	i := len(v.N)
	v.Nulls[i>>6] |= 1 << (uint(i) & 63)
	v.nulls++
	v.N = append(v.N, 0)
	v.end()
}

// AppendInt appends a value that is in N entirely.
func (v *Vector) AppendInt(n int64) {
	v.N = append(v.N, n)
	v.end()
}

// AppendBytes appends a copy of a string or JSON text.
func (v *Vector) AppendBytes(b []byte) {
	v.N = append(v.N, 0)
	if len(b) < vectorLong || v.grow(len(b)) {
		v.Data = append(v.Data, b...)
	}
	v.Off = append(v.Off, uint32(len(v.Data)))
}

// grow makes room in Data for n bytes more. Because a text may be as long as a packet, it
// does not double the capacity. It returns false if Room does.
func (v *Vector) grow(n int) bool {
	need := len(v.Data) + n
	if need > max(v.held, cap(v.Data)) && n < len(v.Data) {
		need += need / 4
	}
	if v.room != nil && need > v.held {
		if !v.room(need - v.held) {
			return false
		}
		v.held = need
	}
	if need > cap(v.Data) {
		data := make([]byte, len(v.Data), need)
		copy(data, v.Data)
		v.Data = data
	}
	return true
}

// SetRoom sets the Room of v, and gives back what the one before has granted.
func (v *Vector) SetRoom(room Room) {
	if v.held > 0 {
		v.room(-v.held)
		v.held = 0
	}
	v.room = room
}

// Append appends a copy of x. A value of another kind is converted without warnings, as
// by RowEncoder.
func (v *Vector) Append(x *Value) {
	if x.K == KindNull {
		v.AppendNull()
		return
	}
	if x.K != v.kind {
		v.appendOther(x)
		return
	}
	switch v.kind {
	case KindString, KindJSON:
		v.AppendBytes(x.B)
	case KindDecimal:
		if x.B != nil || x.Scale != uint8(v.Type.Scale) {
			v.Data = append(v.Data, x.Scale)
			v.Data = append(v.Data, x.B...)
		}
		v.AppendInt(x.N)
	default:
		v.AppendInt(x.N)
	}
}

func (v *Vector) appendOther(x *Value) {
	y := Value{K: v.kind}
	switch v.kind {
	case KindInt, KindUint:
		y.N = x.N
		if x.K != KindInt && x.K != KindUint && x.K != KindBit {
			if v.kind == KindInt {
				y.N = ToInt(nil, x)
			} else {
				y.N = int64(ToUint(nil, x))
			}
		}
	case KindFloat:
		y = Float(ToFloat(nil, x))
	case KindDecimal:
		y = ToDecimal(nil, x)
	case KindDate:
		y, _ = ToDate(nil, x)
	case KindDatetime:
		y, _ = ToDatetime(nil, x)
	case KindTime:
		y, _ = ToTime(nil, x)
	case KindString, KindJSON:
		if x.IsString() && (x.K != KindJSON || v.kind == KindJSON || !JSONMarked(x.B)) {
			y.B = x.B
			break
		}
		p := scratch.Get().(*[]byte)
		b := AppendText((*p)[:0], nil, x)
		v.AppendBytes(b)
		putScratch(p, b)
		return
	default:
		c, err := Convert(nil, *x, v.Type, "", 0)
		if err != nil || c.K == KindNull {
			v.AppendNull()
			return
		}
		y = c
	}
	v.Append(&y)
}

// AppendStored appends a value from the stored bytes of a column of v.Type.
func (v *Vector) AppendStored(b []byte) {
	switch v.kind {
	case KindString, KindJSON:
		v.AppendBytes(b)
	case KindInt:
		v.AppendInt(storedInt(b))
	case KindUint, KindEnum, KindSet, KindBit:
		v.AppendInt(int64(storedUint(b)))
	case KindDecimal:
		if len(b) <= 8 {
			v.AppendInt(storedInt(b))
			return
		}
		v.Data = append(v.Data, uint8(v.Type.Scale))
		v.Data = append(v.Data, b...)
		v.AppendInt(0)
	default:
		x := DecodeStored(b, &v.Type)
		v.AppendInt(x.N)
	}
}

// AppendFrom appends row i of a vector of the same type.
func (v *Vector) AppendFrom(src *Vector, i int) {
	if src.IsNull(i) {
		v.AppendNull()
		return
	}
	if v.bytes {
		if b := src.Bytes(i); len(b) < vectorLong || v.grow(len(b)) {
			v.Data = append(v.Data, b...)
		}
	}
	v.AppendInt(src.N[i])
}

// MemSize returns the memory of v in bytes, used or not.
func (v *Vector) MemSize() int {
	return int(unsafe.Sizeof(*v)) + 8*cap(v.Nulls) + 8*cap(v.N) + 4*cap(v.Off) + cap(v.Data)
}

// Encode writes row i as a field.
func (v *Vector) Encode(e *RowEncoder, i int) {
	if v.IsNull(i) {
		e.Null()
		return
	}
	if v.kind == KindSet {
		x := Value{K: KindSet, Coll: v.Type.Coll, N: v.N[i]}
		e.Value(&v.Type, &x) // without B: the encoder builds the text
		return
	}
	x := v.Value(i)
	e.Value(&v.Type, &x)
}

// CompareRows orders row i of v and row j of o, which is of the same type: NULL
// first, strings under the type's collation.
func (v *Vector) CompareRows(i int, o *Vector, j int) int {
	a, b := v.IsNull(i), o.IsNull(j)
	if a || b {
		return compareInts(boolInt(!a), boolInt(!b))
	}
	switch v.kind {
	case KindInt, KindDate, KindDatetime, KindTimestamp, KindTime:
		return compareInts(v.N[i], o.N[j])
	case KindUint, KindBit, KindEnum, KindSet: // ENUM and SET are ordered by number
		return compareUints(uint64(v.N[i]), uint64(o.N[j]))
	case KindString:
		return CompareStrings(v.Bytes(i), o.Bytes(j), v.Type.stringColl())
	}
	return Compare(v.Value(i), o.Value(j), v.Type.Coll)
}

// Hash returns the hash of row i, see Hash64.
func (v *Vector) Hash(seed uint64, i int) uint64 {
	if v.IsNull(i) {
		return Hash64(seed, Value{}, 0)
	}
	switch v.kind {
	case KindInt, KindUint, KindBit:
		return mix(seed^hashNumber, uint64(v.N[i]))
	case KindString:
		return hashString(seed, v.Bytes(i), v.Type.stringColl())
	}
	return Hash64(seed, v.Value(i), v.Type.Coll) // ENUM and SET by their text
}

// NullCount returns how many NULLs were appended.
func (v *Vector) NullCount() int { return v.nulls }
