package keys

import (
	"encoding/binary"
	"fmt"

	"github.com/pandodb/pando/clock"
)

// Spaces: the first byte of an engine key.
const (
	SpaceEngine  = 0x00
	SpaceLocal   = 0x01
	SpaceLock    = 0x02
	SpaceTxn     = 0x03
	SpaceCounter = 0x04
	SpaceMeta    = 0x05
	SpaceVersion = 0x10
)

// Lengths of what surrounds a logical key in an engine key.
const (
	sentinelLen   = 1
	timestampLen  = 8
	suffixLen     = timestampLen + 1 // the last byte is the suffix length itself
	VersionExtra  = 1 + sentinelLen + suffixLen
	bareExtra     = 1 + sentinelLen
	EngineLenMax  = LogicalLenMax + VersionExtra
	suffixLenByte = suffixLen
)

// Head returns the first eight bytes of a key as a number, of any key that bytes.Compare orders: where two heads differ, their order is
// that of the keys.
func Head(key []byte) uint64 {
	if len(key) >= 8 {
		return binary.BigEndian.Uint64(key)
	}
	var b [8]byte
	copy(b[:], key)
	return binary.BigEndian.Uint64(b[:])
}

// VersionKey appends the engine key of one version. ts must not be zero: zero is spelled as no suffix at all.
func VersionKey(dst, logical []byte, ts clock.Timestamp) []byte {
	dst = append(dst, SpaceVersion)
	dst = append(dst, logical...)
	return appendSuffix(dst, ts)
}

// VersionPrefix appends the engine key that sorts before every version of a logical key and after all versions of smaller
// ones. It is the bound of spans in the version space and the seek key of the newest version.
func VersionPrefix(dst, logical []byte) []byte {
	return Bare(dst, SpaceVersion, logical)
}

// PutVersionKey writes the engine key of a version into dst, which must be VersionLen(logical) long. It is VersionKey for
// callers that own the destination, such as a write batch.
func PutVersionKey(dst, logical []byte, ts clock.Timestamp) {
	dst[0] = SpaceVersion
	n := 1 + copy(dst[1:], logical)
	dst[n] = 0
	binary.BigEndian.PutUint64(dst[n+1:], uint64(ts))
	dst[n+1+timestampLen] = suffixLenByte
}

// VersionLen returns the length of a version's engine key.
func VersionLen(logical []byte) int { return len(logical) + VersionExtra }

// Bare appends the engine key of a logical key without version in the given space. An empty logical key gives the start of
// the space.
func Bare(dst []byte, space byte, logical []byte) []byte {
	dst = append(dst, space)
	dst = append(dst, logical...)
	return append(dst, 0)
}

// LocalKey appends the engine key of store-local data.
func LocalKey(dst, name []byte) []byte { return Bare(dst, SpaceLocal, name) }

// LockKey appends the engine key of the lock on a logical key.
func LockKey(dst, logical []byte) []byte { return Bare(dst, SpaceLock, logical) }

// TxnKey appends the engine key of a transaction record: its primary key and start timestamp.
func TxnKey(dst, logical []byte, start clock.Timestamp) []byte {
	dst = append(dst, SpaceTxn)
	dst = append(dst, logical...)
	return appendSuffix(dst, start)
}

// CounterKey appends the engine key of an unversioned counter.
func CounterKey(dst, logical []byte) []byte { return Bare(dst, SpaceCounter, logical) }

// MetaKey appends the engine key of a record of region 0.
func MetaKey(dst, name []byte) []byte { return Bare(dst, SpaceMeta, name) }

// SpaceEnd appends the first engine key above a space.
func SpaceEnd(dst []byte, space byte) []byte { return append(dst, space+1, 0) }

func appendSuffix(dst []byte, ts clock.Timestamp) []byte {
	dst = append(dst, 0)
	dst = binary.BigEndian.AppendUint64(dst, uint64(ts))
	return append(dst, suffixLenByte)
}

// DecodeVersionKey takes a version's engine key apart. logical aliases key. ok is false for anything else, whatever the bytes.
func DecodeVersionKey(key []byte) (logical []byte, ts clock.Timestamp, ok bool) {
	n := len(key) - sentinelLen - suffixLen
	if n < 1 || key[0] != SpaceVersion || key[len(key)-1] != suffixLenByte || key[n] != 0 {
		return nil, 0, false
	}
	ts = clock.Timestamp(binary.BigEndian.Uint64(key[n+1:]))
	return key[1:n:n], ts, ts != 0
}

// DecodeTxnStart returns the start timestamp in the engine key of a transaction record. ok is false for anything else, whatever the bytes.
func DecodeTxnStart(key []byte) (start clock.Timestamp, ok bool) {
	n := len(key) - sentinelLen - suffixLen
	if n < 1 || key[0] != SpaceTxn || key[len(key)-1] != suffixLenByte || key[n] != 0 {
		return 0, false
	}
	start = clock.Timestamp(binary.BigEndian.Uint64(key[n+1:]))
	return start, start != 0
}

// DecodeBare takes an engine key without version apart. logical aliases key.
func DecodeBare(key []byte) (space byte, logical []byte, ok bool) {
	n := len(key) - sentinelLen
	if n < 1 || key[n] != 0 {
		return 0, nil, false
	}
	return key[0], key[1:n:n], true
}

// CheckEngine tells whether foreign bytes can be handed to the engine: known space, a suffix whose length byte tells the
// truth, a NUL in front of it. Pebble's comparer panics on less.
func CheckEngine(key []byte) error {
	if len(key) < bareExtra {
		return fmt.Errorf("keys: %w: engine key of %d bytes", ErrMalformed, len(key))
	}
	if len(key) > EngineLenMax {
		return fmt.Errorf("keys: %w: engine key of %d bytes, over %d", ErrMalformed, len(key), EngineLenMax)
	}
	switch key[0] {
	case SpaceLocal, SpaceLock, SpaceTxn, SpaceCounter, SpaceMeta, SpaceVersion:
	default:
		return fmt.Errorf("keys: %w: space %#x", ErrMalformed, key[0])
	}
	suffix := int(key[len(key)-1])
	sentinel := len(key) - 1 - suffix
	if (suffix != 0 && suffix != suffixLen) || sentinel < 1 || key[sentinel] != 0 {
		return fmt.Errorf("keys: %w: engine key %x has a bad suffix", ErrMalformed, key)
	}
	return nil
}
