package expr

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"io"

	"github.com/pandodb/pando/types"
)

// compressTable has the compression functions. A compressed text is the length of the original in bytes, 4 bytes little-endian, then zlib's
// format (RFC 1950), and a dot if that would end with a space, which CHAR columns remove. An empty text stays empty.
var compressTable = map[string]function{
	"compress": {1, 1, 0, bytesOut(compressLength, evalCompress)}, "uncompress": {1, 1, 0, bytesOut(chars(-1), evalUncompress)},
	"uncompressed_length": {1, 1, 0, plain(intType(11), evalUncompressedLength)},
}

const (
	compressedHeadBytes    = 4
	uncompressedLengthMask = 0x3FFFFFFF // the upper two bits are reserved
	warnZlibBuffer         = 1258
	warnZlibData           = 1259
)

func evalCompress(ctx *Ctx, n *Node, row []types.Value) (types.Value, error) {
	s, err := ctx.text(n.args[0], row)
	if err != nil || s.IsNull() {
		return types.Null(), err
	}
	if len(s.B) == 0 {
		return types.Bytes(nil), nil
	}
	if ctx.tooLong(n, compressedHeadBytes+len(s.B)/2) {
		return types.Null(), nil
	}
	out := countedText{ctx: ctx, b: binary.LittleEndian.AppendUint32(nil, uint32(len(s.B)))}
	w := zlib.NewWriter(&out)
	if err := ctx.pass(w, s.B); err != nil {
		return types.Null(), err
	}
	if err := w.Close(); err != nil {
		return types.Null(), err
	}
	b := out.b
	if b[len(b)-1] == ' ' {
		b = append(b, '.')
	}
	if ctx.tooLong(n, len(b)) {
		return types.Null(), nil
	}
	return types.Bytes(b), nil
}

// countedText is an io.Writer to a growing buffer whose memory is counted before it is allocated.
type countedText struct {
	ctx *Ctx
	b   []byte
}

func (t *countedText) Write(more []byte) (int, error) {
	if need := len(t.b) + len(more); need > cap(t.b) {
		size := max(need, 2*cap(t.b))
		if !t.ctx.chargeMade(size) {
			return 0, t.ctx.failed
		}
		wider := append(make([]byte, 0, size), t.b...)
		t.ctx.uncharge(int64(cap(t.b)))
		t.b = wider
	}
	t.b = append(t.b, more...)
	return len(more), nil
}

// pass writes s to w in pieces of compressPieceBytes and polls the interrupt after each.
func (ctx *Ctx) pass(w io.Writer, s []byte) error {
	for len(s) > 0 {
		k := min(len(s), compressPieceBytes)
		if _, err := w.Write(s[:k]); err != nil {
			return err
		}
		s = s[k:]
		if err := ctx.poll(); err != nil {
			return err
		}
	}
	return nil
}

const compressPieceBytes = 256 << 10

// compressed evaluates the argument of n as a compressed text: the length of the original, and the zlib data, nil if both are empty. ok is false
// for NULL, and for a text that is too short, with warning 1259.
func (ctx *Ctx) compressed(n *Node, row []types.Value) (length int, data []byte, ok bool, err error) {
	s, err := ctx.text(n.args[0], row)
	if err != nil || s.IsNull() {
		return 0, nil, false, err
	}
	if len(s.B) == 0 {
		return 0, nil, true, nil
	}
	if len(s.B) <= compressedHeadBytes {
		ctx.AddError(types.LevelWarning, types.NewError(warnZlibData, "ZLIB: Input data corrupted"))
		return 0, nil, false, nil
	}
	return int(binary.LittleEndian.Uint32(s.B) & uncompressedLengthMask), s.B[compressedHeadBytes:], true, nil
}

func evalUncompress(ctx *Ctx, n *Node, row []types.Value) (types.Value, error) {
	length, data, ok, err := ctx.compressed(n, row)
	if !ok {
		return types.Null(), err
	}
	if data == nil {
		return types.Bytes(nil), nil
	}
	if length > ctx.packetLimit() {
		ctx.Warn(types.LevelWarning, types.ErTooBigForUncompress, ctx.packetLimit())
		return types.Null(), nil
	}
	if !ctx.fits(length) {
		return types.Null(), nil
	}
	corrupt := types.NewError(warnZlibData, "ZLIB: Input data corrupted")
	r, err := zlib.NewReader(bytes.NewReader(data))
	if err != nil {
		ctx.AddError(types.LevelWarning, corrupt)
		return types.Null(), nil
	}
	out := ctx.alloc(length)
	got := 0
	for got < len(out) && err == nil {
		var k int
		k, err = io.ReadFull(r, out[got:min(len(out), got+compressPieceBytes)])
		got += k
		if err := ctx.poll(); err != nil {
			return types.Null(), err
		}
	}
	if err == nil {
		// Reading on verifies the checksum behind the last byte. There must be no more data.
		var one [1]byte
		if k, last := r.Read(one[:]); k > 0 {
			ctx.AddError(types.LevelWarning, types.NewError(warnZlibBuffer, "ZLIB: Not enough room in the output buffer (probably, length of uncompressed data was corrupted)"))
			return types.Null(), nil
		} else if last != io.EOF {
			err = last
		}
	}
	switch err {
	case nil, io.EOF:
		return types.Bytes(out[:got]), nil
	case io.ErrUnexpectedEOF:
		// Either the text is shorter than its length says, which MySQL accepts, or the zlib data was cut off, which it refuses.
		if _, last := r.Read(make([]byte, 1)); last == io.EOF {
			return types.Bytes(out[:got]), nil
		}
	}
	ctx.AddError(types.LevelWarning, corrupt)
	return types.Null(), nil
}

func evalUncompressedLength(ctx *Ctx, n *Node, row []types.Value) (types.Value, error) {
	s, err := ctx.text(n.args[0], row)
	if err != nil || s.IsNull() {
		return types.Null(), err
	}
	if len(s.B) > 0 && len(s.B) < compressedHeadBytes {
		ctx.AddError(types.LevelWarning, types.NewError(warnZlibData, "ZLIB: Input data corrupted"))
	}
	if len(s.B) <= compressedHeadBytes {
		return types.Int(0), nil
	}
	return types.Int(int64(binary.LittleEndian.Uint32(s.B) & uncompressedLengthMask)), nil
}
