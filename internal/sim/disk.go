package sim

import (
	"bytes"
	"maps"
	"math/rand/v2"
	"slices"
)

// change is one write of a batch: a value, or with end a deletion of a range.
type change struct {
	key, value, end []byte
}

// batch collects changes. It implements replica.Records.
type batch struct{ changes []change }

// Set implements replica.Records.
func (b *batch) Set(key, value []byte) {
	b.changes = append(b.changes, change{key: bytes.Clone(key), value: bytes.Clone(value)})
}

// SetParts implements replica.Records.
func (b *batch) SetParts(key, head, body []byte) { b.Set(key, slices.Concat(head, body)) }

// DeleteRange implements replica.Records.
func (b *batch) DeleteRange(start, end []byte) {
	b.changes = append(b.changes, change{key: bytes.Clone(start), end: bytes.Clone(end)})
}

// image is the state of a key space.
type image map[string][]byte

func (m image) apply(changes []change) {
	for _, c := range changes {
		if c.end == nil {
			m[string(c.key)] = c.value
			continue
		}
		maps.DeleteFunc(m, func(k string, _ []byte) bool { return k >= string(c.key) && k < string(c.end) })
	}
}

// disk is a model of the storage engine: what it promises of crashes, and nothing that it does not promise.
type disk struct {
	log    [][]change // batches, since the beginning
	synced int        // of them are durable
	now    image      // what readers see
	// pending are the batches since the last flush in the order in which they were applied; each says how many logged ones there are
	// up to it.
	pending []pendingBatch
	tables  image
	noted   int  // batches of the log that the tables hold; recovery replays from at or below that
	floor   int  // and not from below this, which a barrier has moved
	lie     bool // what is applied is said to be in tables
}

type pendingBatch struct {
	changes []change
	logged  int
}

func newDisk() *disk { return &disk{now: image{}, tables: image{}} }

// Get implements replica.Disk.
func (d *disk) Get(key []byte) ([]byte, bool, error) {
	v, found := d.now[string(key)]
	return bytes.Clone(v), found, nil
}

// Flushed implements replica.Disk.
func (d *disk) Flushed(key []byte) ([]byte, bool, error) {
	if d.lie {
		return d.Get(key)
	}
	v, found := d.tables[string(key)]
	return bytes.Clone(v), found, nil
}

// Scan implements replica.Disk.
func (d *disk) Scan(lower, upper []byte, f func(key, value []byte) bool) error {
	for _, k := range slices.Sorted(maps.Keys(d.now)) {
		if k >= string(lower) && k < string(upper) && !f([]byte(k), bytes.Clone(d.now[k])) {
			break
		}
	}
	return nil
}

// applyLogged appends a batch to the log and makes it visible. It returns its position for sync.
func (d *disk) applyLogged(b *batch) (position int) {
	d.log = append(d.log, b.changes)
	d.applyUnlogged(b)
	return len(d.log)
}

// applyUnlogged makes a batch visible.
func (d *disk) applyUnlogged(b *batch) {
	d.now.apply(b.changes)
	d.pending = append(d.pending, pendingBatch{changes: b.changes, logged: len(d.log)})
}

// sync makes the log durable up to a position.
func (d *disk) sync(position int) { d.synced = max(d.synced, position) }

// flush writes some of what was applied to tables, oldest first, as memtables are flushed. The log is made durable before.
func (d *disk) flush(rng *rand.Rand) {
	d.synced = len(d.log)
	n := len(d.pending)
	if n > 0 && rng.IntN(2) == 0 {
		n = 1 + rng.IntN(n)
	}
	for _, p := range d.pending[:n] {
		d.tables.apply(p.changes)
		d.noted = p.logged
	}
	d.pending = slices.Clone(d.pending[n:])
}

// barrier makes tables of all that was applied, and recovery replay none of it.
func (d *disk) barrier() {
	d.synced = len(d.log)
	for _, p := range d.pending {
		d.tables.apply(p.changes)
	}
	d.pending, d.noted, d.floor = nil, len(d.log), len(d.log)
}

// ingest puts a table in: it is durable at once, and not in the log.
func (d *disk) ingest(changes []change) {
	for _, p := range d.pending { // memtables that overlap are flushed first
		d.tables.apply(p.changes)
		d.noted = p.logged
	}
	d.synced, d.pending = len(d.log), nil
	d.now.apply(changes)
	d.tables.apply(changes)
}

// copyOf returns changes that make what lies between two keys as it is now, and nothing else.
func (d *disk) copyOf(lower, upper []byte) (changes []change) {
	changes = append(changes, change{key: bytes.Clone(lower), end: bytes.Clone(upper)})
	for _, k := range slices.Sorted(maps.Keys(d.now)) {
		if k >= string(lower) && k < string(upper) {
			changes = append(changes, change{key: []byte(k), value: bytes.Clone(d.now[k])})
		}
	}
	return changes
}

// crash is a power loss and what recovery makes of it.
func (d *disk) crash(rng *rand.Rand) {
	d.log = d.log[:d.synced+rng.IntN(len(d.log)-d.synced+1)]
	d.synced = len(d.log)
	d.now = maps.Clone(d.tables)
	// A note may lie some way behind what the tables hold.
	for _, changes := range d.log[max(d.floor, d.noted-rng.IntN(3)):] {
		d.now.apply(changes)
	}
	// What was replayed is flushed before anything else happens.
	d.tables, d.pending, d.noted, d.floor = maps.Clone(d.now), nil, len(d.log), min(d.floor, len(d.log))
}
