package expr

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/pbkdf2"
	"crypto/sha512"
	"strconv"
	"strings"

	"github.com/pandodb/pando/types"
)

// cryptTable has the encryption functions. They depend on the variable block_encryption_mode.
var cryptTable = map[string]function{
	"aes_encrypt": {2, 6, FlagStatement, bytesOut(aesLength, evalAES)}, "aes_decrypt": {2, 6, FlagStatement, bytesOut(lengthOfArg(0, 1), evalAES)},
}

// aesLength is the length of AES_ENCRYPT: that of the text in bytes, padded to whole blocks.
func aesLength(n *Node) int32 {
	l := byteLength(&n.args[0].typ)
	if l < 0 {
		return -1
	}
	return known((l/aes.BlockSize + 1) * aes.BlockSize)
}

// Errors, limits and names of the encryption functions.
const (
	errAESInvalidIV       = 1882
	errKDFName            = 3235
	errKDFIterations      = 3236
	warnOptionIgnored     = 1618
	kdfIterationsMin      = 1000
	kdfIterationsMax      = 65535
	kdfIterationsMessage  = "For KDF method pbkdf2_hmac iterations value less than 1000 or more than 65535 is not allowed due to security reasons. Please provide iterations >= 1000 and iterations < 65535"
	blockEncryptionMode   = "block_encryption_mode"
	defaultEncryptionMode = "aes-128-ecb"
)

// aesMode returns the parts of block_encryption_mode, which is aes-KEYBITS-MODE.
func (ctx *Ctx) aesMode() (keyBytes int, mode string, err error) {
	name := defaultEncryptionMode
	if ctx.Session != nil {
		v, err := ctx.Session.SysVar(ScopeSession, blockEncryptionMode)
		if err != nil {
			return 0, "", err
		}
		name = string(v.B)
	}
	parts := strings.Split(strings.ToLower(name), "-")
	bits, err := strconv.Atoi(parts[1]) // the variable was checked when it was set
	return bits / 8, parts[2], err
}

func evalAES(ctx *Ctx, n *Node, row []types.Value) (types.Value, error) {
	keyBytes, mode, err := ctx.aesMode()
	if err != nil {
		return types.Null(), err
	}
	if mode != "ecb" && len(n.args) < 3 {
		return types.Null(), types.Errorf(types.ErWrongParamcountToNativeFct, n.name)
	}
	text, err := ctx.text(n.args[0], row)
	if err != nil {
		return text, err
	}
	key, err := ctx.text(n.args[1], row)
	if err != nil {
		return key, err
	}
	var iv []byte
	switch {
	case mode != "ecb":
		v, err := ctx.text(n.args[2], row)
		if err != nil {
			return v, err
		}
		if len(v.B) < aes.BlockSize {
			return types.Null(), types.NewError(errAESInvalidIV, "The initialization vector supplied to "+n.name+" is too short. Must be at least 16 bytes long")
		}
		iv = v.B[:aes.BlockSize]
	case len(n.args) > 2:
		ctx.AddError(types.LevelWarning, types.NewError(warnOptionIgnored, "<IV> option ignored"))
	}
	if text.IsNull() || key.IsNull() {
		return types.Null(), nil
	}
	derived, ok, err := ctx.aesKey(n, key.B, keyBytes, row)
	if err != nil || !ok {
		return types.Null(), err
	}
	block, err := aes.NewCipher(derived)
	if err != nil {
		return types.Null(), err
	}
	if ctx.tooLong(n, len(text.B)+aes.BlockSize) {
		return types.Null(), nil
	}
	if n.name == "aes_encrypt" {
		out := ctx.copyPadded(text.B, mode)
		return types.Bytes(out), ctx.crypt(newAES(block, mode, iv, true), out)
	}
	if padded(mode) && (len(text.B) == 0 || len(text.B)%aes.BlockSize != 0) {
		return types.Null(), nil
	}
	out := ctx.alloc(len(text.B))
	copy(out, text.B)
	if err := ctx.crypt(newAES(block, mode, iv, false), out); err != nil {
		return types.Null(), err
	}
	if padded(mode) {
		if out, ok = unpadded(out); !ok {
			return types.Null(), nil
		}
	}
	return types.Bytes(out), nil
}

// aesKey derives a key of size bytes from key: with the key derivation function in the fourth argument, or else as MySQL always did, by XOR of
// its parts of that size. ok is false if the result of the function is NULL.
func (ctx *Ctx) aesKey(n *Node, key []byte, size int, row []types.Value) (out []byte, ok bool, err error) {
	if len(n.args) < 4 {
		out = make([]byte, size)
		for i, c := range key {
			out[i%size] ^= c
		}
		return out, true, nil
	}
	var more [3][]byte // the function's name, salt, and info or iterations
	given := n.args[3:]
	for i, a := range given {
		v, err := ctx.text(a, row)
		if err != nil || v.IsNull() {
			return nil, false, err
		}
		more[i] = v.B
	}
	switch string(more[0]) {
	case "hkdf":
		out, err = hkdf.Key(sha512.New, key, more[1], string(more[2]), size)
		return out, err == nil, err
	case "pbkdf2_hmac":
		iterations := kdfIterationsMin
		if len(given) > 2 {
			iterations, err = strconv.Atoi(string(more[2]))
			if err != nil || iterations < kdfIterationsMin || iterations > kdfIterationsMax {
				return nil, false, types.NewError(errKDFIterations, kdfIterationsMessage)
			}
		}
		out, err = pbkdf2.Key(sha512.New, string(key), more[1], iterations, size)
		return out, err == nil, err
	}
	return nil, false, types.NewError(errKDFName, "KDF method name is not valid. Please use hkdf or pbkdf2_hmac method name")
}

// padded reports whether a mode encrypts whole blocks.
func padded(mode string) bool { return mode == "ecb" || mode == "cbc" }

// copyPadded copies s into the arena, with PKCS #7 padding if the mode encrypts whole blocks.
func (ctx *Ctx) copyPadded(s []byte, mode string) []byte {
	pad := 0
	if padded(mode) {
		pad = aes.BlockSize - len(s)%aes.BlockSize
	}
	out := ctx.alloc(len(s) + pad)
	copy(out, s)
	for i := len(s); i < len(out); i++ {
		out[i] = byte(pad)
	}
	return out
}

// crypt changes b in place, piece by piece, and polls the interrupt between them: in some modes each bit takes a block of the cipher.
func (ctx *Ctx) crypt(change func(b []byte), b []byte) error {
	for len(b) > 0 {
		piece := b[:min(cryptPieceBytes, len(b))]
		change(piece)
		b = b[len(piece):]
		if err := ctx.steps(cryptPieceBytes); err != nil {
			return err
		}
	}
	return nil
}

// cryptPieceBytes are whole blocks.
const cryptPieceBytes = 64 << 10

// newAES returns what encrypts or decrypts a text in place, of which it gets one part after the other; all but the last are whole blocks.
func newAES(block cipher.Block, mode string, iv []byte, encrypt bool) func(b []byte) {
	switch {
	case mode == "cbc" && encrypt:
		c := cipher.NewCBCEncrypter(block, iv)
		return func(b []byte) { c.CryptBlocks(b, b) }
	case mode == "cbc":
		c := cipher.NewCBCDecrypter(block, iv)
		return func(b []byte) { c.CryptBlocks(b, b) }
	case mode == "ecb":
		one := block.Decrypt
		if encrypt {
			one = block.Encrypt
		}
		return func(b []byte) {
			for i := 0; i < len(b); i += aes.BlockSize {
				one(b[i:], b[i:])
			}
		}
	}
	register := bytes.Clone(iv)
	return func(b []byte) { streamAES(block, mode, register, b, encrypt) }
}

// unpadded removes the padding; ok is false where it is wrong, as with another key.
func unpadded(b []byte) (out []byte, ok bool) {
	pad := int(b[len(b)-1])
	if pad < 1 || pad > aes.BlockSize || bytes.Count(b[len(b)-pad:], []byte{byte(pad)}) != pad {
		return nil, false
	}
	return b[:len(b)-pad], true
}

// streamAES encrypts or decrypts b in place in a mode that makes a stream cipher of a block cipher: output feedback, or cipher feedback of 1, 8
// or 128 bits (NIST SP 800-38A). crypto/cipher's OFB and CFB are deprecated, because they are not authenticated, and CFB1 and CFB8 are missing
// there; MySQL has them, and data is stored in them. register is left for the part that follows, which begins at a block.
func streamAES(block cipher.Block, mode string, register, b []byte, encrypt bool) {
	var pad [aes.BlockSize]byte
	switch mode {
	case "ofb":
		for i := range b {
			if i%aes.BlockSize == 0 {
				block.Encrypt(register, register)
			}
			b[i] ^= register[i%aes.BlockSize]
		}
	case "cfb128":
		for i := range b {
			at := i % aes.BlockSize
			if at == 0 {
				block.Encrypt(register, register)
			}
			in := b[i]
			b[i] ^= register[at]
			if register[at] = in; encrypt {
				register[at] = b[i]
			}
		}
	case "cfb8":
		for i := range b {
			block.Encrypt(pad[:], register)
			in := b[i]
			b[i] ^= pad[0]
			copy(register, register[1:])
			if register[aes.BlockSize-1] = in; encrypt {
				register[aes.BlockSize-1] = b[i]
			}
		}
	case "cfb1":
		for i := range b {
			in, out := b[i], byte(0)
			for bit := 7; bit >= 0; bit-- {
				block.Encrypt(pad[:], register)
				plain := in >> bit & 1
				crypted := plain ^ pad[0]>>7
				out |= crypted << bit
				fed := plain
				if encrypt {
					fed = crypted
				}
				for k := range register[:aes.BlockSize-1] {
					register[k] = register[k]<<1 | register[k+1]>>7
				}
				register[aes.BlockSize-1] = register[aes.BlockSize-1]<<1 | fed
			}
			b[i] = out
		}
	}
}
