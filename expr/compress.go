package expr

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"io"

	"github.com/pandodb/pando/types"
)

// compressTable is the compression functions. A compressed text begins with its length, 4 bytes, the least significant first; behind that
// stands zlib's format, and a dot where that would end with a space, which CHAR columns cut off. An empty text is empty.
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

// countedText is a text of unknown length that grows, and is counted before it does.
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

// pass writes s piece by piece and looks at the interrupt in between.
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

const compressPieceBytes = 1 << 20

// compressed evaluates the argument of a function over compressed text; ok is false for NULL and what is none, of which a warning tells.
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
		// The checksum comes behind the last byte, and nothing else may.
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
		// The text is shorter than it says, which is what MySQL answers, or was cut, which it refuses.
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
