package types

import "strconv"

// AppendTyped appends the text of v in a column or expression of type t: with leading zeros
// of ZEROFILL numbers and years, the fraction digits of FLOAT(M,D), and decimals rounded to
// the scale of t. The text of other values is that of AppendText.
func AppendTyped(dst []byte, ctx *Context, v *Value, t *Type) []byte {
	from := len(dst)
	switch v.K {
	case KindDecimal:
		d := *v
		if t.ID == TypeDecimal && int(v.Scale) > int(t.Scale) {
			d = DecRound(d, int(t.Scale))
		}
		return fillZeros(AppendDecimal(dst, d), from, t)
	case KindFloat:
		if t.ID == TypeFloat || t.ID == TypeDouble {
			return fillZeros(appendColumnFloat(dst, t, v.Float64()), from, t)
		}
	case KindInt:
		return fillZeros(strconv.AppendInt(dst, v.N, 10), from, t)
	case KindUint:
		if t.ID == TypeYear {
			return appendPadded(dst, int(v.N), 4)
		}
		return fillZeros(strconv.AppendUint(dst, uint64(v.N), 10), from, t)
	}
	return AppendText(dst, ctx, v)
}

// fillZeros inserts zeros before the number in dst[from:] up to the width of t, if that is
// ZEROFILL.
func fillZeros(dst []byte, from int, t *Type) []byte {
	if !t.ZeroFill {
		return dst
	}
	n := t.ZeroFillWidth() - (len(dst) - from)
	if n <= 0 {
		return dst
	}
	for range n {
		dst = append(dst, '0')
	}
	copy(dst[from+n:], dst[from:len(dst)-n])
	for i := range n {
		dst[from+i] = '0'
	}
	return dst
}

// Display widths of ZEROFILL columns that are declared without one.
const (
	floatFillWidth  = 12
	doubleFillWidth = 22
)

// ZeroFillWidth returns the width in characters to which numbers of a ZEROFILL type are
// filled.
func (t *Type) ZeroFillWidth() int {
	switch t.ID {
	case TypeDecimal:
		width := int(t.Length)
		if t.Scale > 0 {
			width++ // the point
		}
		return width
	case TypeFloat, TypeDouble:
		switch {
		case t.Length > 0:
			return int(t.Length)
		case t.ID == TypeFloat:
			return floatFillWidth
		}
		return doubleFillWidth
	}
	if t.Length > 0 {
		return int(t.Length)
	}
	switch t.ID {
	case TypeTinyInt:
		return 3
	case TypeSmallInt:
		return 5
	case TypeMediumInt:
		return 8
	case TypeInt:
		return 10
	}
	return 20
}
