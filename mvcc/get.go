package mvcc

import (
	"fmt"

	"github.com/pandodb/pando/clock"
	"github.com/pandodb/pando/internal/assert"
	"github.com/pandodb/pando/keys"
)

// Iterator is what the functions here need of an iterator over engine keys. *engine.Iter is one.
//
// Moves report whether the iterator is positioned on a key afterwards; if not, Error returns the error, if any. Keys and
// values are valid until the next move.
type Iterator interface {
	First() bool
	Last() bool
	SeekGE(key []byte) bool
	SeekPrefixGE(key []byte) bool // afterwards only Next, and only over versions of the same logical key
	SeekLT(key []byte) bool
	Next() bool
	NextPrefix() bool
	Prev() bool
	Key() []byte
	Value() ([]byte, error)
	ValueLen() int
	Shed() error // frees copies of values that moves backwards have made, and loses the position
	Error() error
	Scratch() *[]byte // a buffer that lives with the iterator
}

// Get returns the row of key that is visible at ts. versionTS is the commit timestamp of the visible version, also when that
// is a tombstone and found is false; it is zero when there is no version at all. The row is borrowed. It allocates nothing.
func Get(it Iterator, key []byte, ts clock.Timestamp) (row []byte, versionTS clock.Timestamp, found bool, err error) {
	v, found, err := Read(it, key, ts)
	if err != nil || !found {
		return nil, 0, false, err
	}
	return v.Row, v.TS, !v.Tombstone, nil
}

// Latest returns the row of the newest version of key, as Get does.
func Latest(it Iterator, key []byte) (row []byte, versionTS clock.Timestamp, found bool, err error) {
	return Get(it, key, clock.MaxTimestamp)
}

// Read returns the version of key that is visible at ts, tombstones included. The iterator is positioned on it afterwards.
func Read(it Iterator, key []byte, ts clock.Timestamp) (v Version, found bool, err error) {
	scratch := it.Scratch()
	*scratch = keys.VersionKey((*scratch)[:0], key, ts)
	if !it.SeekPrefixGE(*scratch) {
		return Version{}, false, it.Error()
	}
	v, err = current(it)
	assert.That(err != nil || v.TS <= ts, "mvcc: a read meets no version above its timestamp")
	return v, err == nil, err
}

// current decodes the version on which the iterator is positioned.
func current(it Iterator) (Version, error) {
	_, ts, err := currentKey(it)
	if err != nil {
		return Version{}, err
	}
	value, err := it.Value()
	if err != nil {
		return Version{}, err
	}
	return DecodeValue(value, ts)
}

// LastKey returns the last logical key within the iterator's bounds that has a version, be it a tombstone; nil if there is none. It is
// valid until the iterator's next move. The bounds must contain only versions.
func LastKey(it Iterator) ([]byte, error) {
	if !it.Last() {
		return nil, it.Error()
	}
	logical, _, err := currentKey(it)
	return logical, err
}

func currentKey(it Iterator) (logical []byte, ts clock.Timestamp, err error) {
	key := it.Key()
	logical, ts, ok := keys.DecodeVersionKey(key)
	if !ok {
		return nil, 0, fmt.Errorf("%w: key %x", ErrCorrupt, key)
	}
	return logical, ts, nil
}
