package expr

import (
	"github.com/pandodb/pando/types"
)

// The functions below compute the lengths of text results as MySQL does. They are in the metadata of result columns, and CREATE TABLE … SELECT
// makes columns of these lengths.

// byteLength returns the most bytes that a value of type t has as text; -1 is unbounded.
func byteLength(t *types.Type) int64 {
	l := int64(charLength(t))
	switch {
	case l < 0:
		return -1
	case t.IsStringType() || t.ID == types.TypeEnum || t.ID == types.TypeSet:
		return l * int64(max(t.Coll.MaxCharLen(), 1))
	}
	return l
}

// known returns n as the length of a type, -1 (unbounded) if it is too large for one.
func known(n int64) int32 {
	if n < 0 || n > 1<<30 {
		return -1
	}
	return int32(n)
}

// hexLength is the length of HEX: 16 digits for a number, else two per byte.
func hexLength(n *Node) int32 {
	t := &n.args[0].typ
	switch classOf(t) {
	case classInt, classDecimal, classFloat:
		if !n.args[0].isHexLiteral() {
			return 16
		}
	}
	bytes := byteLength(t)
	if bytes < 0 {
		return -1
	}
	return known(2 * bytes)
}

func base64Length(n *Node) int32 {
	bytes := byteLength(&n.args[0].typ)
	if bytes < 0 {
		return -1
	}
	chars := (bytes + 2) / 3 * 4
	return known(chars + max(chars-1, 0)/base64Line)
}

// bytesOfArg returns the length rule of a decoder: the bytes of its argument times times/by, rounded up if rest is by-1.
func bytesOfArg(times, by, rest int64) func(*Node) int32 {
	return func(n *Node) int32 {
		bytes := byteLength(&n.args[0].typ)
		if bytes < 0 {
			return -1
		}
		return known((bytes*times + rest) / by)
	}
}

// sha2Length is the length of SHA2: that of its second argument if it is constant, else the longest.
func sha2Length(n *Node) int32 {
	if v, ok := n.args[1].ConstValue(); ok && v.K == types.KindInt {
		switch v.N {
		case 224, 256, 384:
			return int32(v.N / 4)
		case 0:
			return 64
		}
	}
	return 128
}

// replaceLength is the length of REPLACE if every occurrence is replaced by a longer text. An occurrence is taken as one character long unless
// it is constant. MySQL's length can be smaller than the result.
func replaceLength(n *Node) int32 {
	whole, from, to := int64(charLength(&n.args[0].typ)), int64(1), int64(charLength(&n.args[2].typ))
	if whole < 0 || to < 0 {
		return -1
	}
	if v, ok := n.args[1].ConstValue(); ok && v.K == types.KindString {
		from = max(int64(v.Coll.Charset().CountChars(v.B)), 1)
	}
	return known(whole + whole/from*max(to-from, 0))
}

// soundexLength is the length of SOUNDEX, which is at least a letter and three digits.
func soundexLength(n *Node) int32 {
	l := charLength(&n.args[0].typ)
	if l < 0 {
		return -1
	}
	return max(l, 4)
}

// compressLength is the most bytes that COMPRESS returns: zlib's compressBound (13 bytes and a part of the input) and 5 bytes more, for the
// length in front and a possible end mark.
func compressLength(n *Node) int32 {
	bytes := byteLength(&n.args[0].typ)
	if bytes < 0 {
		return -1
	}
	return known(bytes + bytes>>12 + bytes>>14 + bytes>>25 + 18)
}

// formatLength is the length of FORMAT: the digits with their separators, sign and point, and 30 decimals.
func formatLength(n *Node) int32 {
	l := charLength(&n.args[0].typ)
	if l < 0 {
		return -1
	}
	return known(int64(l) + int64(l)/3 + 2 + 30)
}
