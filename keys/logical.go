package keys

import (
	"errors"
	"fmt"
)

// LogicalLenMax bounds a logical key. MySQL's 3,072-byte index keys, as collation sort keys with a primary key behind them,
// stay far below it.
const LogicalLenMax = 32 << 10

// First bytes of logical keys, and the mark behind a table's id.
const (
	TableByte  = 't'
	SystemByte = 'm'
	RowByte    = 'r'
	IndexByte  = 'i'
)

// TablePrefix appends the prefix of all keys of a table: t<physID>.
func TablePrefix(dst []byte, physID uint64) []byte {
	return AppendUint(append(dst, TableByte), physID)
}

// RowPrefix appends the prefix of a table's rows: t<physID>r.
func RowPrefix(dst []byte, physID uint64) []byte {
	return append(TablePrefix(dst, physID), RowByte)
}

// IndexPrefix appends the prefix of an index's entries: t<physID>i<indexID>.
func IndexPrefix(dst []byte, physID, indexID uint64) []byte {
	return AppendUint(append(TablePrefix(dst, physID), IndexByte), indexID)
}

// PrefixEnd appends the smallest key above all keys that begin with prefix. It appends nothing when there is no such key,
// which is only so for prefixes of nothing but 0xFF; no prefix built here is one.
func PrefixEnd(dst, prefix []byte) []byte {
	for i := len(prefix) - 1; i >= 0; i-- {
		if prefix[i] != 0xff {
			dst = append(dst, prefix[:i+1]...)
			dst[len(dst)-1]++
			return dst
		}
	}
	return dst
}

// SystemKey appends the key m<kind> with its parts. Each part carries its length in front, so that no part can run into the
// next; parts of one kind therefore sort by length first. Given fewer parts it is the prefix of the longer keys.
func SystemKey(dst []byte, kind byte, parts ...[]byte) []byte {
	dst = append(dst, SystemByte, kind)
	for _, part := range parts {
		dst = AppendUint(dst, uint64(len(part)))
		dst = append(dst, part...)
	}
	return dst
}

// DecodeSystemKey reads the kind of a system key and returns the bytes behind it; NextPart takes them apart.
func DecodeSystemKey(key []byte) (kind byte, rest []byte, ok bool) {
	if len(key) < 2 || key[0] != SystemByte {
		return 0, nil, false
	}
	return key[1], key[2:], true
}

// NextPart splits the first part off the rest of a system key.
func NextPart(b []byte) (part, rest []byte, ok bool) {
	n, rest, err := DecodeUint(b)
	if err != nil || n > uint64(len(rest)) {
		return nil, nil, false
	}
	return rest[:n], rest[n:], true
}

// DecodeTablePrefix reads the physical id of a table key and returns what follows it, beginning with RowByte or IndexByte.
func DecodeTablePrefix(key []byte) (physID uint64, rest []byte, ok bool) {
	if len(key) == 0 || key[0] != TableByte {
		return 0, nil, false
	}
	physID, rest, err := DecodeUint(key[1:])
	return physID, rest, err == nil
}

// DecodeIndexPrefix reads table and index id of an index entry and returns its columns.
func DecodeIndexPrefix(key []byte) (physID, indexID uint64, rest []byte, ok bool) {
	physID, rest, ok = DecodeTablePrefix(key)
	if !ok || len(rest) == 0 || rest[0] != IndexByte {
		return 0, 0, nil, false
	}
	indexID, rest, err := DecodeUint(rest[1:])
	return physID, indexID, rest, err == nil
}

// ErrMalformed is wrapped by every complaint about foreign bytes.
var ErrMalformed = errors.New("malformed key")

// CheckLogical tells whether foreign bytes can be a logical key: not empty, not too long, and of a known shape.
func CheckLogical(key []byte) error {
	switch {
	case len(key) == 0:
		return fmt.Errorf("keys: %w: empty", ErrMalformed)
	case len(key) > LogicalLenMax:
		return fmt.Errorf("keys: %w: %d bytes, over %d", ErrMalformed, len(key), LogicalLenMax)
	case key[0] == SystemByte:
		return checkSystem(key)
	case key[0] == TableByte:
		return checkTable(key)
	}
	return fmt.Errorf("keys: %w: first byte %#x", ErrMalformed, key[0])
}

func checkSystem(key []byte) error {
	_, rest, ok := DecodeSystemKey(key)
	for ok && len(rest) > 0 {
		_, rest, ok = NextPart(rest)
	}
	if !ok {
		return fmt.Errorf("keys: %w: system key %x", ErrMalformed, key)
	}
	return nil
}

func checkTable(key []byte) error {
	_, rest, ok := DecodeTablePrefix(key)
	if ok && len(rest) > 0 && rest[0] == IndexByte {
		_, _, _, ok = DecodeIndexPrefix(key)
	} else {
		ok = ok && len(rest) > 0 && rest[0] == RowByte
	}
	if !ok {
		return fmt.Errorf("keys: %w: table key %x", ErrMalformed, key)
	}
	return nil
}
