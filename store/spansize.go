package store

import (
	"bytes"
	"errors"

	"github.com/pandodb/pando/engine"
	"github.com/pandodb/pando/keys"
	"github.com/pandodb/pando/kvapi"
	"github.com/pandodb/pando/mvcc"
)

// lookBytesMax ends lookAt early if rows are large.
const lookBytesMax = 8 << 20

// SpanSize reads at most versionsMax versions from the beginning of a span, which must not be a point, and asks the engine for the approximate size
// of all of it. It is for the tables of the data dictionary: it reads what is applied, durable or not, on this store only.
func (s *Store) SpanSize(span kvapi.Span, versionsMax int) (size kvapi.SpanSize, err error) {
	lower, upper := regionBounds(&kvapi.Region{Start: span.Start, End: span.End})
	it, err := s.engine.NewIter(engine.IterOptions{Lower: lower, Upper: upper})
	if err != nil {
		return size, err
	}
	part, err := lookAt(it, versionsMax, &size)
	if err = errors.Join(err, it.Error(), it.Close()); err != nil {
		return size, err
	}
	size.Whole = part == nil
	if size.Disk, err = s.engine.ApproxBytes(lower, upper); err != nil || size.Whole {
		return size, err
	}
	size.DiskPart, err = s.engine.ApproxBytes(lower, part)
	return size, err
}

// lookAt adds the newest versions of keys to size. It returns the engine key at which it stopped, nil at the end.
func lookAt(it *engine.Iter, versionsMax int, size *kvapi.SpanSize) (part []byte, err error) {
	var last []byte
	for ok := it.First(); ok; ok = it.Next() {
		if versionsMax--; versionsMax < 0 || size.Bytes >= lookBytesMax {
			return bytes.Clone(it.Key()), nil
		}
		logical, ts, known := keys.DecodeVersionKey(it.Key())
		if !known {
			return nil, mvcc.ErrCorrupt
		}
		size.Newest = max(size.Newest, ts)
		if last != nil && bytes.Equal(logical, last) {
			continue // an older version
		}
		last = append(last[:0], logical...)
		value, err := it.Value()
		if err != nil {
			return nil, err
		}
		v, err := mvcc.DecodeValue(value, ts)
		if err != nil {
			return nil, err
		}
		if !v.Tombstone {
			size.Keys++
			size.Bytes += uint64(len(logical) + len(v.Row))
		}
	}
	return nil, nil
}
