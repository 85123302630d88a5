package store

import (
	"errors"
	"fmt"

	"github.com/pandodb/pando/engine"
	"github.com/pandodb/pando/keys"
	"github.com/pandodb/pando/kvapi"
)

// inspectPollKeys is how many keys are read between two looks at the interrupt.
const inspectPollKeys = 1024

// Inspect reads every version that the store holds, visible or not, and calls visit with its logical key, which is valid during the call. It calls
// fault for keys that are not those of versions, and for versions above all timestamps that the store has issued: later commits could go below those.
func (s *Store) Inspect(intr *kvapi.Interrupt, visit func(logical []byte), fault func(err error)) (versions uint64, err error) {
	it, err := s.engine.NewIter(engine.IterOptions{Lower: keys.Bare(nil, keys.SpaceVersion, nil), Upper: keys.SpaceEnd(nil, keys.SpaceVersion)})
	if err != nil {
		return 0, s.readError(err)
	}
	defer func() { err = errors.Join(err, it.Close()) }()
	issued := s.oracle.Last()
	for ok := it.First(); ok; ok = it.Next() {
		if versions++; versions%inspectPollKeys == 0 {
			if err := intr.Err(); err != nil {
				return versions, err
			}
		}
		logical, ts, is := keys.DecodeVersionKey(it.Key())
		switch {
		case !is || keys.CheckLogical(logical) != nil:
			fault(fmt.Errorf("the key %x is not that of a version", it.Key()))
			continue
		case ts == 0 || ts > issued:
			fault(fmt.Errorf("the version of %x at %d is above the last timestamp %d", logical, ts, issued))
		}
		if _, err := it.Value(); err != nil {
			return versions, s.readError(err)
		}
		visit(logical)
	}
	if err := it.Error(); err != nil {
		return versions, s.readError(err)
	}
	return versions, nil
}
