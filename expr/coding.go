package expr

import (
	"bytes"
	"crypto/md5"
	"crypto/rand"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"hash"
	"hash/crc32"
	"math"
	"math/bits"
	"strconv"
	"strings"

	"github.com/pandodb/pando/types"
)

var stringTable = map[string]function{
	"concat": {1, -1, 0, buildConcat}, "concat_ws": {2, -1, 0, buildConcatWS},
	"substring": {2, 3, 0, buildSubstring}, "substr": {2, 3, 0, buildSubstring}, "mid": {2, 3, 0, buildSubstring},
	"left": {2, 2, 0, buildLeft}, "right": {2, 2, 0, buildLeft},
	"length": {1, 1, 0, plain(intType(11), evalLength)}, "octet_length": {1, 1, 0, plain(intType(11), evalLength)},
	"char_length": {1, 1, 0, plain(intType(11), evalLength)}, "character_length": {1, 1, 0, plain(intType(11), evalLength)},
	"bit_length": {1, 1, 0, plain(intType(11), evalLength)},
	"upper":      {1, 1, 0, mapText(lengthOfArg(0, 1), textUpper)}, "ucase": {1, 1, 0, mapText(lengthOfArg(0, 1), textUpper)},
	"lower": {1, 1, 0, mapText(lengthOfArg(0, 1), textUpper)}, "lcase": {1, 1, 0, mapText(lengthOfArg(0, 1), textUpper)},
	"trim": {1, 2, 0, mapSubject(lengthOfArg(0, 1), textTrim)}, "ltrim": {1, 1, 0, mapText(lengthOfArg(0, 1), textTrim)},
	"rtrim":        {1, 1, 0, mapText(lengthOfArg(0, 1), textTrim)},
	"trim_leading": {1, 2, 0, mapSubject(lengthOfArg(0, 1), textTrim)}, "trim_trailing": {1, 2, 0, mapSubject(lengthOfArg(0, 1), textTrim)},
	"lpad": {3, 3, 0, buildPad}, "rpad": {3, 3, 0, buildPad}, "repeat": {2, 2, 0, buildRepeat}, "space": {1, 1, 0, buildRepeat},
	"replace": {3, 3, 0, mapSubject(replaceLength, textReplace)}, "reverse": {1, 1, 0, mapText(lengthOfArg(0, 1), textReverse)},
	"locate": {2, 3, 0, buildLocate}, "position": {2, 2, 0, buildLocate}, "instr": {2, 2, 0, buildLocate},
	"insert": {4, 4, 0, buildInsert}, "elt": {2, -1, 0, buildElt}, "field": {2, -1, 0, buildField},
	"find_in_set": {2, 2, 0, countText(3, textFindInSet)}, "make_set": {2, -1, 0, buildMakeSet},
	"export_set": {3, 5, 0, buildExportSet}, "substring_index": {3, 3, 0, buildSubstringIndex},
	"soundex": {1, 1, 0, mapText(soundexLength, textSoundex)}, "quote": {1, 1, 0, buildQuote},
	"ascii": {1, 1, 0, plain(intType(3), evalASCII)}, "ord": {1, 1, 0, plain(intType(21), evalOrd)}, "char": {1, -1, 0, buildChar}, "char_using": {2, -1, 0, buildChar},
}

var codingTable = map[string]function{
	"hex": {1, 1, 0, asciiText(hexLength, evalHex)}, "unhex": {1, 1, 0, bytesOut(bytesOfArg(1, 2, 1), evalUnhex)},
	"bin": {1, 1, 0, readable(asciiText(chars(65), evalRadix(2)))}, "oct": {1, 1, 0, readable(asciiText(chars(65), evalRadix(8)))},
	"conv":      {3, 3, 0, readable(asciiText(chars(65), evalConv))},
	"to_base64": {1, 1, 0, asciiText(base64Length, evalToBase64)}, "from_base64": {1, 1, 0, readable(bytesOut(bytesOfArg(3, 4, 0), evalFromBase64))},
	"md5": {1, 1, 0, asciiText(chars(32), evalDigest)}, "sha": {1, 1, 0, asciiText(chars(40), evalDigest)},
	"sha1": {1, 1, 0, asciiText(chars(40), evalDigest)}, "sha2": {2, 2, 0, asciiText(sha2Length, evalSHA2)},
	"crc32":        {1, 1, 0, plain(uintType(10), evalCRC32)},
	"random_bytes": {1, 1, FlagVolatile, bytesOut(chars(1024), evalRandomBytes)},
	"bit_count":    {1, 1, 0, plain(intType(21), evalBitCount)}, "weight_string": {1, 2, 0, buildWeightString},
}

// bytesOut returns the builder of a function whose result is a binary string of at most length(n) bytes.
func bytesOut(length func(*Node) int32, eval evalFunc) func(*BuildContext, *Node) error {
	return func(_ *BuildContext, n *Node) error {
		if err := rejectRows(n.args); err != nil {
			return err
		}
		n.typ, n.coer, n.eval = stringType(length(n), types.Binary), CoerCoercible, eval
		return nil
	}
}

func evalASCII(ctx *Ctx, n *Node, row []types.Value) (types.Value, error) {
	s, err := ctx.text(n.args[0], row)
	if err != nil || s.IsNull() {
		return types.Null(), err
	}
	if len(s.B) == 0 {
		return types.Int(0), nil
	}
	return types.Int(int64(s.B[0])), nil
}

// evalOrd is ORD: the bytes of the first character as a big-endian number.
func evalOrd(ctx *Ctx, n *Node, row []types.Value) (types.Value, error) {
	s, err := ctx.text(n.args[0], row)
	if err != nil || s.IsNull() {
		return types.Null(), err
	}
	code := int64(0)
	for _, c := range s.B[:s.Coll.Charset().CharPrefix(s.B, 1)] {
		code = code<<8 | int64(c)
	}
	return types.Int(code), nil
}

// buildChar is CHAR(n, …): for each number its bytes, big-endian, as few as it needs. CHAR(n, … USING cs) is "char_using" (cs, n, …), whose
// result is converted by CONVERT: there each number is padded to whole code units of the character set.
func buildChar(_ *BuildContext, n *Node) error {
	if err := rejectRows(n.args); err != nil {
		return err
	}
	args, to := n.args, types.Binary.Charset()
	if n.name == "char_using" {
		name, _ := n.args[0].ConstValue()
		cs, err := types.LookupCharset(string(name.B))
		if err != nil {
			return err
		}
		args, to = n.args[1:], cs
	}
	n.typ, n.coer = stringType(int32(4*len(args)), types.Binary), CoerCoercible
	n.eval = func(ctx *Ctx, n *Node, row []types.Value) (types.Value, error) {
		var out []byte
		for _, a := range n.args[len(n.args)-len(args):] {
			code, null, err := ctx.int(a, row)
			if err != nil {
				return types.Null(), err
			}
			if null {
				continue
			}
			used := binary.BigEndian.AppendUint32(nil, uint32(code))
			for len(used) > 1 && used[0] == 0 {
				used = used[1:]
			}
			out = append(out, to.Align(used)...)
		}
		return types.Bytes(out), nil
	}
	return nil
}

// buildQuote is QUOTE. QUOTE(NULL) is the text NULL without quotes.
func buildQuote(b *BuildContext, n *Node) error {
	own := b.derive(n.args[0]).coer
	if err := b.joinText(n, 0, 0); err != nil {
		return err
	}
	if own == CoerNumeric {
		n.coer = own
	}
	length := charLength(&n.args[0].typ)
	if length >= 0 {
		length = 2*length + 2
	}
	coll := n.typ.Coll
	switch {
	case coll == types.Binary:
		coll = b.collation()
	case coll.Charset().MinLen > 1: // evaluation converts the result back
		n.args[0] = b.toCharset(n.args[0], types.DefaultCollation)
	}
	n.typ = stringType(length, coll)
	n.eval = func(ctx *Ctx, n *Node, row []types.Value) (types.Value, error) {
		s, err := ctx.text(n.args[0], row)
		if err != nil {
			return s, err
		}
		if s.IsNull() {
			return ctx.fromUTF8(n, []byte("NULL")), nil
		}
		if to := n.typ.Coll.Charset(); s.Coll == types.Binary && !to.Valid(s.B) {
			return types.Null(), noConversion(s.B, s.Coll.Charset(), to)
		}
		size := len(s.B) + 2
		for _, c := range s.B {
			if c == '\\' || c == '\'' || c == 0 || c == 26 {
				size++
			}
		}
		if ctx.tooLong(n, size) {
			return types.Null(), nil
		}
		out := append(ctx.alloc(size)[:0], '\'')
		for _, c := range s.B {
			switch c {
			case '\\', '\'':
				out = append(out, '\\', c)
			case 0:
				out = append(out, '\\', '0')
			case 26:
				out = append(out, '\\', 'Z')
			default:
				out = append(out, c)
			}
		}
		out = append(out, '\'')
		if n.typ.Coll.Charset().MinLen > 1 {
			return ctx.fromUTF8(n, out), nil
		}
		return n.textResult(out), nil
	}
	return nil
}

// evalHex is HEX: the bytes of a text, or a number in base 16.
func evalHex(ctx *Ctx, n *Node, row []types.Value) (types.Value, error) {
	v, err := n.args[0].eval(ctx, n.args[0], row)
	if err != nil || v.IsNull() {
		return types.Null(), err
	}
	if v.IsNumeric() || v.K == types.KindBit {
		bits := ctx.bitOperand(&v)
		if v.K == types.KindDecimal && types.DecSign(v) > 0 {
			bits = min(bits, math.MaxInt64) // it is read as a signed number
		}
		if f := v.Float64(); v.K == types.KindFloat && (f >= math.MaxInt64 || f < math.MinInt64) {
			if _, computed := n.args[0].aux.(*folded); computed || n.args[0].kind == kindCall {
				return v, outOfRange(n.args[0], "BIGINT")
			}
			if bits = math.MaxInt64; f < 0 {
				bits++
			}
		}
		return n.textResult([]byte(strings.ToUpper(strconv.FormatUint(bits, 16)))), nil
	}
	b := ctx.textOfResult(&v, n.args[0])
	if ctx.tooLong(n, 2*len(b)) {
		return types.Null(), nil
	}
	const digits = "0123456789ABCDEF"
	out := ctx.alloc(2 * len(b))
	for i, c := range b {
		out[2*i], out[2*i+1] = digits[c>>4], digits[c&15]
	}
	return n.textResult(out), nil
}

func evalUnhex(ctx *Ctx, n *Node, row []types.Value) (types.Value, error) {
	s, err := ctx.text(n.args[0], row)
	if err != nil || s.IsNull() {
		return types.Null(), err
	}
	src, odd := s.B, len(s.B)%2
	if !ctx.fits(len(src)/2 + odd) {
		return types.Null(), nil
	}
	out := ctx.alloc(len(src)/2 + odd)
	var first error
	if odd == 1 {
		_, first = hex.Decode(out[:1], []byte{'0', src[0]})
	}
	wrong := first != nil
	for at := odd; at < len(src) && !wrong; at += codePieceBytes {
		_, err := hex.Decode(out[(at+odd)/2:], src[at:min(at+codePieceBytes, len(src))])
		if wrong = err != nil; !wrong {
			if err = ctx.steps(codePieceBytes); err != nil {
				return types.Null(), err
			}
		}
	}
	if wrong {
		ctx.Warn(types.LevelWarning, types.ErWrongValueForType, "string", quoted(s.B), "unhex")
		return types.Null(), nil
	}
	return types.Bytes(out), nil
}

func evalRadix(base int) evalFunc {
	return func(ctx *Ctx, n *Node, row []types.Value) (types.Value, error) {
		v, err := ctx.numberText(n.args[0], row)
		if err != nil || v.IsNull() || len(v.B) == 0 {
			return types.Null(), err
		}
		u, ok := parseRadix(v.B, 10, false)
		if !ok {
			u = 0
		}
		return n.textResult([]byte(strconv.FormatUint(u, base))), nil
	}
}

// numberText is Ctx.text with a BIT as the digits of its number: BIN, OCT and CONV read the digits of their argument's text.
func (ctx *Ctx) numberText(e Expr, row []types.Value) (types.Value, error) {
	v, err := e.eval(ctx, e, row)
	switch v.K {
	case types.KindNull, types.KindString:
		return v, err
	case types.KindBit:
		v.K = types.KindUint
	}
	return types.String(ctx.textOfResult(&v, e), textCollation(&v)), err
}

// parseRadix reads the longest prefix of s that is a number in base. A negative number is returned in two's complement. Numbers out of range
// become the largest or smallest: of an int64 if signed, else of a uint64. ok is false if there are no digits.
func parseRadix(s []byte, base int, signed bool) (n uint64, ok bool) {
	s = bytes.TrimLeft(s, " \t\n\v\f\r")
	neg := len(s) > 0 && s[0] == '-'
	if len(s) > 0 && (s[0] == '-' || s[0] == '+') {
		s = s[1:]
	}
	end, over := 0, false
	for ; end < len(s) && digitOf(s[end]) < base; end++ {
		high, low := bits.Mul64(n, uint64(base))
		low, carry := bits.Add64(low, uint64(digitOf(s[end])), 0)
		if n = low; over || high+carry > 0 {
			over, n = true, math.MaxUint64
		}
	}
	if end == 0 {
		return 0, false
	}
	switch {
	case signed && neg:
		n = -min(n, 1<<63)
	case signed:
		n = min(n, math.MaxInt64)
	case neg && !over:
		n = -n
	}
	return n, true
}

func digitOf(c byte) int {
	switch {
	case c >= '0' && c <= '9':
		return int(c - '0')
	case c >= 'a' && c <= 'z':
		return int(c-'a') + 10
	case c >= 'A' && c <= 'Z':
		return int(c-'A') + 10
	}
	return 99
}

// evalConv is CONV(s, from, to). A negative base means that numbers are signed.
func evalConv(ctx *Ctx, n *Node, row []types.Value) (types.Value, error) {
	s, err := ctx.numberText(n.args[0], row)
	if err != nil {
		return s, err
	}
	from, null1, err1 := ctx.int(n.args[1], row)
	to, null2, err2 := ctx.int(n.args[2], row)
	if s.IsNull() || null1 || null2 {
		return types.Null(), firstError(err1, err2)
	}
	good := func(b int64) bool { return b >= 2 && b <= 36 || b <= -2 && b >= -36 }
	if !good(from) || !good(to) || len(s.B) == 0 {
		return types.Null(), nil
	}
	u, _ := parseRadix(s.B, int(max(from, -from)), from < 0)
	if to < 0 {
		return n.textResult([]byte(strings.ToUpper(strconv.FormatInt(int64(u), int(-to))))), nil
	}
	return n.textResult([]byte(strings.ToUpper(strconv.FormatUint(u, int(to))))), nil
}

// base64Line is how many characters TO_BASE64 puts on a line.
const base64Line = 76

func evalToBase64(ctx *Ctx, n *Node, row []types.Value) (types.Value, error) {
	s, err := ctx.text(n.args[0], row)
	if err != nil || s.IsNull() {
		return types.Null(), err
	}
	size := base64.StdEncoding.EncodedLen(len(s.B))
	size += max(size-1, 0) / base64Line
	if ctx.tooLong(n, size) {
		return types.Null(), nil
	}
	const lineBytes = base64Line / 4 * 3
	out, raw := ctx.alloc(size)[:0], s.B
	for len(raw) > lineBytes {
		out = append(base64.StdEncoding.AppendEncode(out, raw[:lineBytes]), '\n')
		raw = raw[lineBytes:]
		if err := ctx.steps(lineBytes); err != nil {
			return types.Null(), err
		}
	}
	return n.textResult(base64.StdEncoding.AppendEncode(out, raw)), nil
}

func evalFromBase64(ctx *Ctx, n *Node, row []types.Value) (types.Value, error) {
	s, err := ctx.text(n.args[0], row)
	if err != nil || s.IsNull() {
		return types.Null(), err
	}
	if !ctx.fits(len(s.B)) {
		return types.Null(), nil
	}
	clean := ctx.owned(make([]byte, 0, len(s.B)))
	ctx.pieces(s.B, types.Binary.Charset(), func(piece []byte) {
		for _, c := range piece {
			if c != ' ' && (c < '\t' || c > '\r') {
				clean = append(clean, c)
			}
		}
	})
	if ctx.failed != nil || !ctx.fits(base64.StdEncoding.DecodedLen(len(clean))) {
		return types.Null(), ctx.failed
	}
	out, length := ctx.alloc(base64.StdEncoding.DecodedLen(len(clean))), 0
	for len(clean) > 0 {
		piece := clean[:min(codePieceBytes, len(clean))]
		clean = clean[len(piece):]
		k, err := base64.StdEncoding.Decode(out[length:], piece)
		if err != nil || len(clean) > 0 && k < codePieceBytes/4*3 { // padding stands at the end only
			return types.Null(), nil
		}
		length += k
		if err := ctx.steps(len(piece)); err != nil {
			return types.Null(), err
		}
	}
	return types.Bytes(out[:length]), nil
}

// codePieceBytes is how much of a long text is coded at once, in bytes: whole groups of base64, and of hexadecimal digits.
const codePieceBytes = 256 << 10

// hashed is the hash of a text of any length: the interrupt is polled while it is made.
func (ctx *Ctx) hashed(h hash.Hash, s []byte) ([]byte, error) {
	if err := ctx.pass(h, s); err != nil {
		return nil, err
	}
	return h.Sum(nil), nil
}

func evalDigest(ctx *Ctx, n *Node, row []types.Value) (types.Value, error) {
	s, err := ctx.text(n.args[0], row)
	if err != nil || s.IsNull() {
		return types.Null(), err
	}
	if len(s.B) < meterUnit {
		if n.name == "md5" {
			d := md5.Sum(s.B)
			return n.textResult([]byte(hex.EncodeToString(d[:]))), nil
		}
		d := sha1.Sum(s.B)
		return n.textResult([]byte(hex.EncodeToString(d[:]))), nil
	}
	h := sha1.New()
	if n.name == "md5" {
		h = md5.New()
	}
	d, err := ctx.hashed(h, s.B)
	return n.textResult([]byte(hex.EncodeToString(d))), err
}

func evalSHA2(ctx *Ctx, n *Node, row []types.Value) (types.Value, error) {
	s, err := ctx.text(n.args[0], row)
	if err != nil || s.IsNull() {
		return types.Null(), err
	}
	length, null, err := ctx.int(n.args[1], row)
	if null {
		return types.Null(), err
	}
	var h hash.Hash
	switch length {
	case 0, 256:
		h = sha256.New()
	case 224:
		h = sha256.New224()
	case 384:
		h = sha512.New384()
	case 512:
		h = sha512.New()
	default:
		ctx.Warn(types.LevelWarning, types.ErWrongParametersToNativeFct, n.name)
		return types.Null(), nil
	}
	d, err := ctx.hashed(h, s.B)
	return n.textResult([]byte(hex.EncodeToString(d))), err
}

func evalCRC32(ctx *Ctx, n *Node, row []types.Value) (types.Value, error) {
	s, err := ctx.text(n.args[0], row)
	if err != nil || s.IsNull() {
		return types.Null(), err
	}
	return types.Uint(uint64(crc32.ChecksumIEEE(s.B))), nil
}

// randomBytesMax is MySQL's limit of RANDOM_BYTES.
const randomBytesMax = 1024

func evalRandomBytes(ctx *Ctx, n *Node, row []types.Value) (types.Value, error) {
	k, null, err := ctx.int(n.args[0], row)
	if null {
		return types.Null(), err
	}
	if k < 1 || k > randomBytesMax {
		return types.Null(), types.Errorf(types.ErDataOutOfRange, "length", n.name)
	}
	out := make([]byte, k)
	_, err = rand.Read(out)
	return types.Bytes(out), err
}

func buildWeightString(b *BuildContext, n *Node) error {
	if err := bytesOut(chars(-1), evalWeightString)(b, n); err != nil {
		return err
	}
	n.coer = b.derive(n.args[0]).coer
	return nil
}

// evalWeightString is WEIGHT_STRING. A second argument is the n of AS CHAR(n): the text is cut off after n characters, and padded with spaces to
// n under a PAD SPACE collation.
func evalWeightString(ctx *Ctx, n *Node, row []types.Value) (types.Value, error) {
	v, err := n.args[0].eval(ctx, n.args[0], row)
	if err != nil || v.K != types.KindString {
		return types.Null(), err
	}
	if len(n.args) > 1 {
		chars, null, err := ctx.int(n.args[1], row)
		if null || err != nil {
			return types.Null(), err
		}
		cs := v.Coll.Charset()
		v.B = v.B[:cs.CharPrefix(v.B, int(min(chars, int64(len(v.B)))))]
		if missing := chars - int64(cs.CountChars(v.B)); missing > 0 && v.Coll.PadSpace() {
			if ctx.tooLong(n, int(min(int64(len(v.B))+missing*int64(cs.MinLen), 1<<40))) {
				return types.Null(), nil
			}
			blank, _ := types.ConvertCharset(nil, []byte{' '}, types.DefaultCollation.Charset(), cs)
			out := ctx.alloc(len(v.B) + int(missing)*len(blank))
			ctx.repeat(out[copy(out, v.B):], blank, int(missing))
			v.B = out
		}
	}
	if v.Coll == types.Binary || !v.Coll.Charset().Valid(v.B) {
		return types.Bytes(v.B), nil
	}
	if !ctx.fits(2 * len(v.B)) {
		return types.Null(), nil
	}
	out, err := types.AppendWeightStringPolled(nil, v.B, v.Coll, ctx.Poll)
	return types.Bytes(ctx.owned(out)), err
}
