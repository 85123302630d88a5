package mvcc

import (
	"bytes"

	"github.com/pandodb/pando/clock"
	"github.com/pandodb/pando/engine"
	"github.com/pandodb/pando/keys"
)

// GCResult says what a collection did.
type GCResult struct {
	Deleted int    // versions deleted, tombstones included
	Bytes   int    // their keys and values
	Moves   int    // iterator moves, the measure of its cost
	More    bool   // the limit was reached; there may be more to delete
	Resume  []byte // CollectSpan only: where to go on, nil when the span is done; a copy
}

// Collect writes into b the deletion of what key no longer needs at the safepoint: versions shadowed there and then, if
// nothing is left below, the tombstone that shadowed them. It deletes at most limit versions; with More set the caller applies
// the batch and calls again with a new iterator. The iterator must show every batch that has touched the key.
func Collect(it Iterator, b *engine.Batch, key []byte, safepoint clock.Timestamp, limit int) (GCResult, error) {
	var r GCResult
	v, found, err := Read(it, key, safepoint)
	if err != nil || !found {
		return r, err
	}
	anchor, tombstone, anchorLen := v.TS, v.Tombstone, it.ValueLen()
	r.Moves++
	for it.Next() {
		r.Moves++
		if r.Deleted >= limit {
			r.More = true
			return r, nil
		}
		_, ts, err := currentKey(it)
		if err != nil {
			return r, err
		}
		r.drop(b, key, ts, it.ValueLen())
	}
	if err := it.Error(); err != nil {
		return r, err
	}
	if tombstone {
		r.drop(b, key, anchor, anchorLen)
	}
	return r, nil
}

// CollectSpan does what Collect does for all keys within the iterator's bounds, from resume on (nil: from the start). It stops
// after about limit deletions or moves moves, but not before one key is done, and then says where to go on. Above limit by
// limitSlack it also stops within a key.
func CollectSpan(it Iterator, b *engine.Batch, resume []byte, safepoint clock.Timestamp, limit, moves int) (GCResult, error) {
	c := spanCollector{b: b, safepoint: safepoint}
	valid := false
	if resume == nil {
		valid = it.First()
	} else {
		scratch := it.Scratch()
		*scratch = keys.VersionPrefix((*scratch)[:0], resume)
		valid = it.SeekGE(*scratch)
	}
	for ; valid; valid = it.Next() {
		c.r.Moves++
		logical, ts, err := currentKey(it)
		if err != nil {
			return c.r, err
		}
		if !bytes.Equal(logical, c.key) || !c.started {
			c.finishKey()
			if c.r.Moves > 1 && (c.r.Deleted >= limit || c.r.Moves > moves) {
				c.r.More = true
				c.r.Resume = bytes.Clone(logical)
				return c.r, nil
			}
			c.startKey(logical)
		} else if c.r.Deleted >= limit+limitSlack {
			// A key with very many versions: stop within it. Its tombstone stays, since finishKey is not reached.
			c.r.More = true
			c.r.Resume = bytes.Clone(logical)
			return c.r, nil
		}
		if err := c.version(it, ts); err != nil {
			return c.r, err
		}
	}
	if err := it.Error(); err != nil {
		return c.r, err
	}
	c.finishKey()
	return c.r, nil
}

// limitSlack lets CollectSpan finish a key that reaches the limit in its middle.
const limitSlack = 64

// spanCollector is the state of CollectSpan within one key.
type spanCollector struct {
	b         *engine.Batch
	safepoint clock.Timestamp
	r         GCResult

	started   bool
	key       []byte
	anchor    clock.Timestamp // newest version at or below the safepoint, 0 before it is met
	anchorLen int
	tombstone bool
}

func (c *spanCollector) startKey(logical []byte) {
	c.key = append(c.key[:0], logical...)
	c.started, c.anchor, c.tombstone = true, 0, false
}

func (c *spanCollector) version(it Iterator, ts clock.Timestamp) error {
	switch {
	case ts > c.safepoint:
		return nil
	case c.anchor != 0:
		c.r.drop(c.b, c.key, ts, it.ValueLen())
		return nil
	}
	v, err := current(it)
	if err != nil {
		return err
	}
	c.anchor, c.tombstone, c.anchorLen = ts, v.Tombstone, it.ValueLen()
	return nil
}

func (c *spanCollector) finishKey() {
	if c.started && c.tombstone {
		c.r.drop(c.b, c.key, c.anchor, c.anchorLen)
	}
	c.started = false
}

func (r *GCResult) drop(b *engine.Batch, key []byte, ts clock.Timestamp, valueLen int) {
	b.DeleteVersion(key, ts, valueLen)
	r.Deleted++
	r.Bytes += keys.VersionLen(key) + valueLen
}
