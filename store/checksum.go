package store

import (
	"bytes"
	"errors"
	"fmt"
	"hash/fnv"

	"github.com/pandodb/pando/engine"
	"github.com/pandodb/pando/keys"
	"github.com/pandodb/pando/kvapi"
	"github.com/pandodb/pando/mvcc"
	"github.com/pandodb/pando/replica"
)

// Checksum returns a hash of a region's state on this store, and the log index that it is of: all replicas have the same hash at the same index.
// Versions that the region's GC point allows to be deleted are left out, since each replica deletes them at its own time. It reads all of
// the region.
func (s *Store) Checksum(id kvapi.RegionID) (index, sum uint64, err error) {
	it, err := s.engine.NewIter(engine.IterOptions{})
	if err != nil {
		return 0, 0, s.readError(err)
	}
	defer func() { err = errors.Join(err, it.Close()) }()
	desc, index, point, err := replica.ReadState(it, id)
	if err != nil {
		return 0, 0, err
	}
	h := fnv.New64a()
	note := func(key, value []byte) {
		// fnv's Write does not fail.
		_, _ = fmt.Fprintf(h, "%d %d ", len(key), len(value))
		_, _ = h.Write(key)
		_, _ = h.Write(value)
	}
	note(nil, replica.AppendRegion(nil, desc))
	var last []byte // the logical key whose newest version at or below the point has been seen
	for _, span := range replica.Spans(desc) {
		it.SetBounds(span.Lower, span.Upper)
		for ok := it.First(); ok; ok = it.Next() {
			value, err := it.Value()
			if err != nil {
				return 0, 0, s.readError(err)
			}
			if start, is := keys.DecodeTxnStart(it.Key()); is && start <= point {
				continue
			}
			key, ts, is := keys.DecodeVersionKey(it.Key())
			if is && ts <= point {
				if last != nil && bytes.Equal(last, key) {
					continue
				}
				last = append(last[:0], key...)
				if v, err := mvcc.DecodeValue(value, ts); err != nil {
					return 0, 0, s.readError(err)
				} else if v.Tombstone {
					continue
				}
			}
			note(it.Key(), value)
		}
		if err := it.Error(); err != nil {
			return 0, 0, s.readError(err)
		}
	}
	return index, h.Sum64(), nil
}
