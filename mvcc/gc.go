package mvcc

import (
	"github.com/pandodb/pando/clock"
	"github.com/pandodb/pando/engine"
	"github.com/pandodb/pando/internal/assert"
)

// Collect adds to b the deletions of what key no longer needs at the safepoint: the versions shadowed there and, if nothing is
// left below it, the tombstone that shadows them. It deletes at most limit versions, and perhaps the tombstone, and returns how many;
// if more is true the caller applies the batch and calls again with a new iterator. The iterator must show every batch that has
// written the key.
func Collect(it Iterator, b *engine.Batch, key []byte, safepoint clock.Timestamp, limit int) (deleted int, more bool, err error) {
	v, found, err := Read(it, key, safepoint)
	if err != nil || !found {
		return 0, false, err
	}
	anchor, tombstone, anchorLen := v.TS, v.Tombstone, it.ValueLen()
	for it.Next() {
		if deleted >= limit {
			return deleted, true, nil
		}
		_, ts, err := currentKey(it)
		if err != nil {
			return deleted, false, err
		}
		assert.That(ts < anchor && anchor <= safepoint, "mvcc: only versions that are shadowed at the safepoint are collected")
		b.DeleteVersion(key, ts, it.ValueLen())
		deleted++
	}
	if err := it.Error(); err != nil {
		return deleted, false, err
	}
	if tombstone {
		b.DeleteVersion(key, anchor, anchorLen)
		deleted++
	}
	return deleted, false, nil
}
