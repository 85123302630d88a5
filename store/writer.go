package store

import (
	"errors"

	"github.com/pandodb/pando/clock"
	"github.com/pandodb/pando/engine"
	"github.com/pandodb/pando/mvcc"
)

// Writer returns when the version of a key that is visible at a timestamp was committed, and when the transaction that wrote it began, which is zero if
// that was not recorded: in a store that is alone. Both are zero if there is none. It is for what errors tell: it looks at what is applied, and at this store alone.
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
