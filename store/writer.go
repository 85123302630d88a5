package store

import (
	"errors"

	"github.com/pandodb/pando/clock"
	"github.com/pandodb/pando/engine"
	"github.com/pandodb/pando/mvcc"
)

// Writer returns when the version of a key that is visible at a timestamp was committed, and when the transaction that wrote it began, zero if that was
// not recorded. Both are zero if there is no version. It is for texts of errors: it reads what is applied, on this store only.
func (s *Store) Writer(key []byte, at clock.Timestamp) (commit, start clock.Timestamp, err error) {
	it, err := s.engine.NewIter(engine.IterOptions{Only: key})
	if err != nil {
		return 0, 0, s.readError(err)
	}
	v, _, err := mvcc.Read(it, key, at)
	if err = errors.Join(err, it.Close()); err != nil {
		return 0, 0, s.readError(err)
	}
	return v.TS, v.Start, nil
}
