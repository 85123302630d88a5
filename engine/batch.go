package engine

import (
	"bytes"
	"fmt"

	"github.com/cockroachdb/pebble/v2"

	"github.com/pandodb/pando/clock"
	"github.com/pandodb/pando/engine/wal"
	"github.com/pandodb/pando/keys"
)

const (
	// hashesKept bounds the memory that a pooled batch keeps for the hashes of its keys: 32 KiB.
	hashesKept = 4096
	// exactMin is the size from which on a value gets the room that it needs, and exactSpare for operations that follow it. Pebble doubles a batch's memory: a
	// text of 20 MB would have 32 MiB, or 64 if a few bytes come after it, until it is flushed.
	exactMin   = 1 << 20
	exactSpare = 4 << 10
)

// Batch collects writes that are applied atomically. Batches are pooled: NewBatch takes one, Close gives it back. It is used by one
// goroutine at a time. All slices passed in are copied.
type Batch struct {
	b *pebble.Batch
	e *Engine
	// end is where the batch ends in the log; 0 until it is applied.
	end wal.Position
	// hashes are those of the logical keys of which the batch writes or deletes versions, ranges those of DeleteRange. See unflushed.
	hashes []uint64
	ranges []keyRange
}

// NewBatch returns an empty batch.
func (e *Engine) NewBatch() *Batch {
	b, _ := e.batch.Get().(*Batch)
	if b == nil {
		b = &Batch{e: e}
	}
	b.b = e.db.NewBatch()
	return b
}

// Set writes an engine key that is not a version's; for those there is SetVersion.
func (b *Batch) Set(key, value []byte) { b.SetParts(key, value, nil) }

// SetParts is Set of a value that is the concatenation of head and body, which are not copied into one buffer for it. Either may be empty.
func (b *Batch) SetParts(key, head, body []byte) {
	if n := len(head) + len(body); n >= exactMin && b.b.Len() <= n {
		b.widen(len(key) + n)
	}
	op := b.b.SetDeferred(len(key), len(head)+len(body))
	copy(op.Key, key)
	copy(op.Value[copy(op.Value, head):], body)
	finish(op)
}

// widen gives the batch room for a key and a value of n bytes together. It copies what the batch has, so it is not for one that has more than that: that is
// doubled by Pebble as it grows.
func (b *Batch) widen(n int) {
	repr := b.b.Repr()
	// Not by an option of NewBatch: a pooled batch would keep it.
	if err := b.b.SetRepr(append(make([]byte, 0, len(repr)+n+exactSpare), repr...)); err != nil {
		panic(fmt.Sprintf("engine: copy of a batch: %v", err)) // it fails only for bytes that are no batch
	}
}

// SetVersion writes one version of a logical key. The value is the concatenation of head and body, so that a caller can put
// a header in front of a row without building both in one buffer; either may be empty.
func (b *Batch) SetVersion(logical []byte, ts clock.Timestamp, head, body []byte) {
	if n := len(head) + len(body); n >= exactMin && b.b.Len() <= n {
		b.widen(keys.VersionLen(logical) + n)
	}
	op := b.b.SetDeferred(keys.VersionLen(logical), len(head)+len(body))
	keys.PutVersionKey(op.Key, logical, ts)
	copy(op.Value[copy(op.Value, head):], body)
	finish(op)
	b.hashes = append(b.hashes, b.e.unflushed.hash(logical))
}

// Delete deletes an engine key that is not a version's; for those there is DeleteVersion.
func (b *Batch) Delete(key []byte) {
	op := b.b.DeleteDeferred(len(key))
	copy(op.Key, key)
	finish(op)
}

// DeleteVersion deletes one version of a logical key. valueLen is the length of its value in bytes, from which Pebble estimates how
// much space a compaction of the tombstone will free.
func (b *Batch) DeleteVersion(logical []byte, ts clock.Timestamp, valueLen int) {
	op := b.b.DeleteSizedDeferred(keys.VersionLen(logical), uint32(valueLen))
	keys.PutVersionKey(op.Key, logical, ts)
	finish(op)
	b.hashes = append(b.hashes, b.e.unflushed.hash(logical))
}

// DeleteRange deletes all engine keys in [start, end). Both must be bare (without timestamp).
func (b *Batch) DeleteRange(start, end []byte) {
	op := b.b.DeleteRangeDeferred(len(start), len(end))
	copy(op.Key, start)
	copy(op.Value, end)
	finish(op)
	b.ranges = append(b.ranges, keyRange{start: bytes.Clone(start), end: bytes.Clone(end)})
}

// Len returns the size of the batch in bytes as it will be in the log.
func (b *Batch) Len() int { return b.b.Len() }

// Count returns the number of operations.
func (b *Batch) Count() int { return int(b.b.Count()) }

// Empty tells whether the batch holds nothing.
func (b *Batch) Empty() bool { return b.b.Empty() }

// Reset empties the batch for reuse.
func (b *Batch) Reset() {
	b.b.Reset()
	b.forget()
}

// forget resets the fields besides Pebble's batch.
func (b *Batch) forget() {
	b.end, b.ranges = 0, nil
	if b.hashes = b.hashes[:0]; cap(b.hashes) > hashesKept {
		b.hashes = nil
	}
}

// Apply is Engine.Apply of the batch.
func (b *Batch) Apply(sync bool) error { return b.e.Apply(b, sync) }

// SyncWait returns once the batch, applied by ApplyNoSync, is durable. Calling it again, or on a batch that was not applied,
// returns at once. An error means that durability is unknown and that the engine has failed.
func (b *Batch) SyncWait() error { return b.e.syncWAL(b.end) }

// Close gives the batch back, synced or not. b must not be used afterwards.
func (b *Batch) Close() {
	// It fails only for a batch closed twice, which the nil below turns into a panic at its next use.
	_ = b.b.Close()
	e := b.e
	b.b = nil
	b.forget()
	e.batch.Put(b)
}

// finish completes a deferred operation. It fails only for indexed batches, which this package does not make.
func finish(op *pebble.DeferredBatchOp) {
	if err := op.Finish(); err != nil {
		panic(fmt.Sprintf("engine: deferred write: %v", err))
	}
}
