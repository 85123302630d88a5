package expr

import (
	"github.com/pandodb/pando/types"
)

// Lengths of what functions of text yield, as MySQL tells them, wherever the result fits: a column that is made of an expression has them.

// byteLength is how many bytes a value of a type has as text, -1 if that is unknown.
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

// known is n as a length, -1 for more than a type can say.
func known(n int64) int32 {
	if n < 0 || n > 1<<30 {
		return -1
	}
	return int32(n)
}

// hexLength is that of HEX: of a number 64 bits, of all else its bytes.
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

// bytesOfArg is the length rule of decoders: their argument's bytes times a fraction, rounded up.
func bytesOfArg(times, by int64) func(*Node) int32 {
	return func(n *Node) int32 {
		bytes := byteLength(&n.args[0].typ)
		if bytes < 0 {
			return -1
		}
		return known((bytes*times + by - 1) / by)
	}
}

// sha2Length follows a constant size.
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

// replaceLength is that of a text all of whose parts become longer ones. MySQL counts less than it can be.
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

// soundexLength is at least that of a letter and three digits.
func soundexLength(n *Node) int32 {
	l := charLength(&n.args[0].typ)
	if l < 0 {
		return -1
	}
	return max(l, 4)
}

// compressLength is the most that zlib makes of the argument's bytes, and the head with their number.
func compressLength(n *Node) int32 {
	bytes := byteLength(&n.args[0].typ)
	if bytes < 0 {
		return -1
	}
	return known(bytes + bytes>>12 + bytes>>14 + bytes>>25 + 18)
}

// formatLength has room for the separators of all digits, the sign and point, and the most decimals, 30.
func formatLength(n *Node) int32 {
	l := charLength(&n.args[0].typ)
	if l < 0 {
		return -1
	}
	return known(int64(l) + int64(l)/3 + 2 + 30)
}
