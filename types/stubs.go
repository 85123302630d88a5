package types

import "time"

// CollationID is MySQL's number of a collation.
type CollationID uint16

// The collations that code names.
const (
	Latin1SwedishCI  CollationID = 8
	ASCIIGeneralCI   CollationID = 11
	Utf8mb3GeneralCI CollationID = 33
	Utf8mb4GeneralCI CollationID = 45
	Utf8mb4Bin       CollationID = 46
	Binary           CollationID = 63
	Utf8mb40900AICI  CollationID = 255
	Utf8mb40900Bin   CollationID = 309
	DefaultCollation             = Utf8mb40900AICI
)

const DefaultDivIncrement = 4

// Charset is a character set.
type Charset struct {
	Name, Description string
	MinLen, MaxLen    int
	Default, Bin      CollationID
}

func LookupCollation(name string) (CollationID, error)                      { panic("soon") } // 1273
func LookupCharset(name string) (*Charset, error)                           { panic("soon") } // 1115
func Collations() []CollationID                                             { panic("soon") } // in order of id
func Charsets() []*Charset                                                  { panic("soon") } // in order of name
func (c CollationID) Valid() bool                                           { panic("soon") }
func (c CollationID) Name() string                                          { panic("soon") }
func (c CollationID) Charset() *Charset                                     { panic("soon") }
func (c CollationID) IsBin() bool                                           { panic("soon") } // *_bin and binary
func (c CollationID) IsDefault() bool                                       { panic("soon") }
func (c CollationID) PadSpace() bool                                        { panic("soon") }
func (c CollationID) MaxCharLen() int                                       { panic("soon") }
func (c CollationID) WeightsChecksum() uint64                               { panic("soon") }
func CompareStrings(a, b []byte, c CollationID) int                         { panic("soon") }
func AppendSortKey(dst, s []byte, c CollationID) []byte                     { panic("soon") } // self-delimiting, as in AppendKey
func AppendLower(dst, s []byte, c CollationID) []byte                       { panic("soon") }
func AppendUpper(dst, s []byte, c CollationID) []byte                       { panic("soon") }
func (cs *Charset) ValidPrefix(s []byte) int                                { panic("soon") } // bytes up to the first invalid one
func (cs *Charset) CountChars(s []byte) int                                 { panic("soon") }
func (cs *Charset) CharPrefix(s []byte, n int) int                          { panic("soon") } // bytes of the first n characters
func ConvertCharset(dst, s []byte, from, to *Charset) (out []byte, bad int) { panic("soon") } // '?' for what does not fit; bad counts those

// Like is a compiled LIKE pattern; immutable.
type Like struct{ _ int }

func NewLike(pattern []byte, escape rune, c CollationID) *Like { panic("soon") } // escape 0: none
func (l *Like) Match(s []byte) bool                            { panic("soon") }

// Convert is assignment conversion; Cast is CAST(); see the contract.
func Convert(ctx *Context, v Value, to Type, col string, row int) (Value, error) { panic("soon") }
func Cast(ctx *Context, v Value, to Type) (Value, error)                         { panic("soon") }

// Compare compares values of one class (ints with uints, dates with datetimes, numbers with numbers are fine);
// NULL sorts first. CompareMixed applies MySQL's implicit rules for comparing different classes, not NULL.
func Compare(a, b Value, coll CollationID) int                    { panic("soon") }
func CompareMixed(ctx *Context, a, b Value, coll CollationID) int { panic("soon") }

// Coercions with 1292 warnings in ctx (nil ctx: silent).
func ToInt(ctx *Context, v *Value) int64                   { panic("soon") } // rounding, saturating
func ToUint(ctx *Context, v *Value) uint64                 { panic("soon") }
func ToFloat(ctx *Context, v *Value) float64               { panic("soon") }
func ToDecimal(ctx *Context, v *Value) Value               { panic("soon") }
func ToBool(ctx *Context, v *Value) bool                   { panic("soon") }
func AppendText(dst []byte, ctx *Context, v *Value) []byte { panic("soon") } // the text of v; NULL appends nothing
func ToDatetime(ctx *Context, v *Value) (Value, bool)      { panic("soon") } // KindDatetime; false: NULL with warning
func ToDate(ctx *Context, v *Value) (Value, bool)          { panic("soon") }
func ToTime(ctx *Context, v *Value) (Value, bool)          { panic("soon") }

// Keys: see doc.go.
func AppendKey(dst []byte, v Value, t *Type, desc bool, prefixChars int) []byte { panic("soon") } // prefixChars 0: whole
func SkipKey(b []byte, t *Type, desc bool) (rest []byte, err error)             { panic("soon") }
func DecodeKey(b []byte, t *Type, desc bool) (v Value, rest []byte, err error)  { panic("soon") }
func KeyRecoverable(t *Type, prefixChars int) bool                              { panic("soon") }
func AppendStored(dst []byte, v Value, t *Type) []byte                          { panic("soon") } // v not null and of t's kind (Convert first)
func DecodeStored(b []byte, t *Type) Value                                      { panic("soon") }
func ValidStored(b []byte, t *Type) bool                                        { panic("soon") } // for checks of corruption

// RowEncoder writes the rows of one result set into Buf.
type RowEncoder struct {
	Buf     []byte
	Binary  bool
	Loc     *time.Location // session zone for TIMESTAMP; nil is UTC
	Results *Charset       // character_set_results; nil sends bytes as they are

	start, bitmap, col int
}

func (e *RowEncoder) StartRow(ncols int)       { panic("soon") } // reserves 4 header bytes
func (e *RowEncoder) Stored(t *Type, b []byte) { panic("soon") }
func (e *RowEncoder) Value(t *Type, v *Value)  { panic("soon") }
func (e *RowEncoder) Null()                    { panic("soon") }
func (e *RowEncoder) EndRow() (start int)      { panic("soon") } // Buf[start:start+4] is for the packet header
func AppendLenEnc(dst []byte, n uint64) []byte { panic("soon") }

// DecodeParam decodes one COM_STMT_EXECUTE parameter; fieldType is a protocol type (MYSQL_TYPE_*); v.B aliases b.
func DecodeParam(fieldType byte, unsigned bool, b []byte, coll CollationID) (v Value, rest []byte, err error) {
	panic("soon")
}

// Protocol facts of a column definition.
func (t *Type) WireType() byte                      { panic("soon") }
func (t *Type) WireLength(results *Charset) uint32  { panic("soon") }
func (t *Type) WireCharset(results *Charset) uint16 { panic("soon") }
func (t *Type) WireFlags() uint16                   { panic("soon") } // UNSIGNED, ZEROFILL, BINARY, BLOB, ENUM, SET, TIMESTAMP; callers add key flags
func (t *Type) WireDecimals() byte                  { panic("soon") }

// MaxBatchRows is the most rows a Batch holds.
const MaxBatchRows = 1024

// Vector is a typed column.
type Vector struct {
	Type  Type
	Nulls []uint64 // bit i set: row i is NULL
	N     []int64  // Value.N of row i
	Off   []uint32 // len(N)+1 offsets into Data; empty for kinds without bytes
	Data  []byte
	kind  Kind
}

func NewVector(t Type) *Vector                            { panic("soon") }
func (v *Vector) Init(t Type)                             { panic("soon") }
func (v *Vector) Reset()                                  { panic("soon") }
func (v *Vector) Len() int                                { return len(v.N) }
func (v *Vector) IsNull(i int) bool                       { return v.Nulls[i>>6]>>(uint(i)&63)&1 != 0 }
func (v *Vector) Value(i int) Value                       { panic("soon") } // B aliases Data
func (v *Vector) Append(x *Value)                         { panic("soon") }
func (v *Vector) AppendNull()                             { panic("soon") }
func (v *Vector) AppendStored(b []byte)                   { panic("soon") } // stored bytes of v.Type
func (v *Vector) AppendInt(n int64)                       { panic("soon") }
func (v *Vector) AppendFrom(src *Vector, i int)           { panic("soon") }
func (v *Vector) MemSize() int                            { panic("soon") }
func (v *Vector) Encode(e *RowEncoder, i int)             { panic("soon") }
func (v *Vector) CompareRows(i int, o *Vector, j int) int { panic("soon") }
func (v *Vector) Hash(seed uint64, i int) uint64          { panic("soon") }

// Batch is up to MaxBatchRows rows; Sel, if not nil, names the live ones in order.
type Batch struct {
	Cols []Vector
	Len  int
	Sel  []uint16
}

func NewBatch(ts []Type) *Batch               { panic("soon") }
func (b *Batch) Init(ts []Type)               { panic("soon") }
func (b *Batch) Reset()                       { panic("soon") }
func (b *Batch) Rows() int                    { panic("soon") } // live rows
func (b *Batch) Row(i int) int                { panic("soon") } // physical row of live row i
func (b *Batch) AppendRow(row []Value)        { panic("soon") }
func (b *Batch) ReadRow(i int, row []Value)   { panic("soon") } // physical row i into row
func (b *Batch) AppendFrom(src *Batch, i int) { panic("soon") }
func (b *Batch) MemSize() int                 { panic("soon") }

// Hash64 hashes v under a collation so that values that compare equal in one class hash alike.
func Hash64(seed uint64, v Value, coll CollationID) uint64 { panic("soon") }

// Decimals (all take and give KindDecimal).
func ParseDecimal(s []byte) (v Value, rest []byte, ok bool)     { panic("soon") } // longest numeric prefix, exponents too
func DecimalFromFloat(f float64) Value                          { panic("soon") }
func DecimalFromUint(n uint64) Value                            { panic("soon") }
func DecimalFromInt128(hi int64, lo uint64, scale uint8) Value  { panic("soon") }
func DecAdd(a, b Value) (Value, error)                          { panic("soon") } // 1690 beyond 65 digits
func DecSub(a, b Value) (Value, error)                          { panic("soon") }
func DecMul(a, b Value) (Value, error)                          { panic("soon") }
func DecDiv(a, b Value, incr int) (v Value, ok bool, err error) { panic("soon") } // !ok: division by zero
func DecIntDiv(a, b Value) (v Value, ok bool)                   { panic("soon") }
func DecMod(a, b Value) (v Value, ok bool)                      { panic("soon") }
func DecNeg(a Value) Value                                      { panic("soon") }
func DecAbs(a Value) Value                                      { panic("soon") }
func DecSign(a Value) int                                       { panic("soon") }
func DecRound(a Value, scale int) Value                         { panic("soon") } // half away from zero; scale may be negative
func DecTruncate(a Value, scale int) Value                      { panic("soon") }
func DecFloor(a Value) Value                                    { panic("soon") }
func DecCeil(a Value) Value                                     { panic("soon") }
func DecCompare(a, b Value) int                                 { panic("soon") }
func DecPrecision(a Value) int                                  { panic("soon") }
func DecToFloat(a Value) float64                                { panic("soon") }
func DecToInt(a Value) (n int64, ok bool)                       { panic("soon") } // rounds, saturates
func DecToUint(a Value) (n uint64, ok bool)                     { panic("soon") }
func AppendDecimal(dst []byte, a Value) []byte                  { panic("soon") }

// AppendFloat prints a double as MySQL does, AppendFloat32 a float.
func AppendFloat(dst []byte, f float64) []byte   { panic("soon") }
func AppendFloat32(dst []byte, f float64) []byte { panic("soon") }

// ParseFloat reads the longest numeric prefix; used counts its bytes.
func ParseFloat(s []byte) (f float64, used int)            { panic("soon") }
func ParseInt(s []byte) (n int64, used int, overflow bool) { panic("soon") }
