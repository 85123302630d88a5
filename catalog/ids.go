package catalog

import (
	"sync"

	"github.com/pandodb/pando/txn"
)

// idBlock is how many object ids are reserved by one durable write. A crash
// loses at most that many, of 2^64.
const idBlock = 128

// idAllocator hands out object ids from a durable counter, in blocks.
type idAllocator struct {
	txns *txn.Manager

	mu sync.Mutex
	// free is the next id, limit the first one not reserved yet. Guarded by mu,
	// which is held during the write: other callers need its result anyway.
	free, limit uint64
}

func (a *idAllocator) next() (uint64, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.free == a.limit {
		first, err := a.txns.AllocCounter(idCounterKey(), 1, idBlock) // id 0 means "none"
		if err != nil {
			return 0, err
		}
		a.free, a.limit = first, first+idBlock
	}
	id := a.free
	a.free++
	return id, nil
}
