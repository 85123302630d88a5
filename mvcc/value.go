package mvcc

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/pandodb/pando/clock"
	"github.com/pandodb/pando/engine"
	"github.com/pandodb/pando/internal/assert"
)

// Flags of a version's value.
const (
	flagTombstone = 0x01
	flagDelta     = 0x02
	flagsKnown    = flagTombstone | flagDelta
)

// headLenMax is the flags byte and the longest delta.
const headLenMax = 1 + binary.MaxVarintLen64

// ErrCorrupt is wrapped by every error about malformed stored bytes.
var ErrCorrupt = errors.New("mvcc: corrupt version")

// Version is one version of a key.
type Version struct {
	TS        clock.Timestamp // commit timestamp
	Start     clock.Timestamp // start timestamp of the writer, 0 if it was not recorded
	Row       []byte          // valid until the iterator's next move; empty for a tombstone
	Tombstone bool
}

// Put writes a version of key. start may be zero; otherwise it must be below commit.
func Put(b *engine.Batch, key []byte, commit, start clock.Timestamp, row []byte) {
	var head [headLenMax]byte
	b.SetVersion(key, commit, head[:putHead(&head, 0, commit, start)], row)
}

// Delete writes a tombstone of key. start may be zero; otherwise it must be below commit.
func Delete(b *engine.Batch, key []byte, commit, start clock.Timestamp) {
	var head [headLenMax]byte
	b.SetVersion(key, commit, head[:putHead(&head, flagTombstone, commit, start)], nil)
}

// AppendValue appends the value of a version, for values that are built without a batch.
func AppendValue(dst []byte, commit, start clock.Timestamp, row []byte, tombstone bool) []byte {
	var head [headLenMax]byte
	flags := byte(0)
	if tombstone {
		flags, row = flagTombstone, nil
	}
	dst = append(dst, head[:putHead(&head, flags, commit, start)]...)
	return append(dst, row...)
}

// ValueLen returns the length of the value of a version with a row of that many
// bytes, written by a transaction that was one batch.
func ValueLen(rowLen int) int { return 1 + rowLen }

func putHead(head *[headLenMax]byte, flags byte, commit, start clock.Timestamp) int {
	// DecodeValue refuses values that violate this.
	assert.That(start < commit, "mvcc: a transaction starts before it commits")
	if start == 0 {
		head[0] = flags
		return 1
	}
	head[0] = flags | flagDelta
	return 1 + binary.PutUvarint(head[1:], uint64(commit-start))
}

// DecodeValue decodes the value of a version committed at ts. Row aliases value.
func DecodeValue(value []byte, ts clock.Timestamp) (Version, error) {
	if len(value) == 0 {
		return Version{}, fmt.Errorf("%w: empty value", ErrCorrupt)
	}
	// The common case first: a row without start timestamp.
	flags := value[0]
	v := Version{TS: ts, Row: value[1:]}
	if flags == 0 {
		return v, nil
	}
	return decodeRare(v, flags)
}

func decodeRare(v Version, flags byte) (Version, error) {
	if flags&^flagsKnown != 0 {
		return Version{}, fmt.Errorf("%w: flags %#x", ErrCorrupt, flags)
	}
	if flags&flagDelta != 0 {
		delta, n := binary.Uvarint(v.Row)
		if n <= 0 || delta == 0 || delta >= uint64(v.TS) {
			return Version{}, fmt.Errorf("%w: delta %d (%d bytes) at %d", ErrCorrupt, delta, n, v.TS)
		}
		v.Start = v.TS - clock.Timestamp(delta)
		v.Row = v.Row[n:]
	}
	if flags&flagTombstone != 0 {
		if len(v.Row) > 0 {
			return Version{}, fmt.Errorf("%w: tombstone with %d bytes of row", ErrCorrupt, len(v.Row))
		}
		v.Tombstone = true
	}
	return v, nil
}
