package catalog

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"sync"
	"sync/atomic"

	"github.com/pandodb/pando/fsst"
	"github.com/pandodb/pando/keys"
	"github.com/pandodb/pando/kvapi"
	"github.com/pandodb/pando/txn"
)

const (
	// maxDictionaries is how many dictionaries a physical table may have. They
	// stay as long as its data, since any row may need them.
	maxDictionaries = 16
	// dictionaryGain: a new dictionary must save at least 1/dictionaryGain of the
	// sample's bytes more than the newest one.
	dictionaryGain = 10
	// sampleStride: samples for later dictionaries take one in sampleStride rows,
	// so that a sample spans several statements of a load.
	sampleStride = 8
	// maxSampleString is how many bytes of one string a sample takes.
	maxSampleString = fsst.SampleSize / 32
)

// lessons are the amounts of strings written to a table by this process, in
// bytes, after which a sample is taken. The first rows may be unlike those that
// follow. A sample is not larger than what was written before it, so that many
// small tables don't hold more of them than of data.
var lessons = [...]uint64{fsst.SampleSize, 1 << 20, 32 << 20, 1 << 30}

// Dictionaries are the compression dictionaries of one physical table, which all
// versions of its descriptor share. A row names the one that its strings are
// packed by; new rows take the newest. It is safe for concurrent use.
type Dictionaries struct {
	physID uint64
	// list holds number n at n-1. A published slice does not change.
	list atomic.Pointer[[]*fsst.Table]

	// written counts the bytes of strings that writers have reported; from next on
	// rows are wanted for a sample. offers counts those that might be taken.
	written, next, offers atomic.Uint64

	// mu guards the fields below and is held while a dictionary is made and
	// committed. It is only tried: a writer that finds it locked offers nothing.
	// Locks of the commit are taken under it.
	mu     sync.Mutex
	lesson int // index in lessons of next
	sample []byte
	ends   []int // of the strings in sample
}

func newDictionaries(physID uint64) *Dictionaries {
	d := &Dictionaries{physID: physID}
	d.next.Store(lessons[0])
	if IsTemporary(physID) {
		d.next.Store(math.MaxUint64) // none: nothing would delete them
	}
	return d
}

// learned moves on to the next of lessons. mu is held, or d is not shared yet.
func (d *Dictionaries) learned() {
	d.lesson++
	next := uint64(math.MaxUint64)
	if d.lesson < len(lessons) {
		next = lessons[d.lesson]
	}
	d.next.Store(next)
}

// Newest returns the dictionary that new rows are packed by and its number; nil
// and 0 while there is none.
func (d *Dictionaries) Newest() (*fsst.Table, uint32) {
	if list := d.list.Load(); list != nil {
		return (*list)[len(*list)-1], uint32(len(*list))
	}
	return nil, 0
}

// At returns the dictionary with that number, nil if there is none.
func (d *Dictionaries) At(number uint32) *fsst.Table {
	if list := d.list.Load(); list != nil && number-1 < uint32(len(*list)) {
		return (*list)[number-1]
	}
	return nil
}

// Wrote reports strings written, in bytes. Writers call it now and then, not for
// every row.
func (d *Dictionaries) Wrote(bytes uint64) {
	d.written.Add(bytes)
}

// Wanted reports whether the current row should be offered for a sample.
func (d *Dictionaries) Wanted() bool {
	return d.written.Load() >= d.next.Load() && (d.list.Load() == nil || d.offers.Add(1)%sampleStride == 0)
}

// Offer adds strings of a row to the sample, which copies them. The call that
// completes it makes a dictionary of it and, if that saves enough, stores it in
// a transaction of m's own before others see it: the log has it before any row
// that needs it. That takes some milliseconds, and happens once per lesson.
//
// Rows need no dictionary: if one cannot be stored, for instance because the disk
// is full, that is no error, and the next sample tries again. The only error is
// kvapi.ErrUndetermined, after which nothing can be written any more.
func (d *Dictionaries) Offer(m *txn.Manager, strings ...[]byte) error {
	if !d.mu.TryLock() {
		return nil
	}
	defer d.mu.Unlock()
	if d.written.Load() < d.next.Load() {
		return nil
	}
	for _, s := range strings {
		d.sample = append(d.sample, s[:min(len(s), maxSampleString)]...)
		d.ends = append(d.ends, len(d.sample))
	}
	if len(d.sample) < fsst.SampleSize {
		return nil
	}
	sample := make([][]byte, len(d.ends))
	from := 0
	for i, end := range d.ends {
		sample[i], from = d.sample[from:end], end
	}
	d.sample, d.ends = nil, nil
	newest, number := d.Newest()
	if number < maxDictionaries {
		made := fsst.Train(sample)
		if packedSize(made, sample)+from/dictionaryGain <= packedSize(newest, sample) {
			if err := d.add(m, made); errors.Is(err, kvapi.ErrUndetermined) {
				return err
			} else if err != nil {
				return nil
			}
		}
	}
	d.learned()
	return nil
}

// packedSize returns how long the strings are when they are packed by t; as they
// are if t is nil.
func packedSize(t *fsst.Table, strings [][]byte) (size int) {
	var buf []byte
	for _, s := range strings {
		if t != nil {
			if packed, ok := t.Pack(buf[:0], s, 1); ok {
				buf, s = packed, packed
			}
		}
		size += len(s)
	}
	return size
}

// add stores a dictionary and publishes it.
func (d *Dictionaries) add(m *txn.Manager, t *fsst.Table) error {
	_, number := d.Newest()
	tx := m.Begin(txn.Options{Level: txn.ReadCommitted})
	defer tx.Release()
	err := lockPut(tx, dictionaryKey(d.physID, number+1), sealDictionary(d.physID, number+1, t))
	if err == nil {
		err = tx.Commit()
	} else {
		tx.Rollback()
	}
	if err != nil {
		return fmt.Errorf("catalog: store dictionary: %w", err)
	}
	d.publish(t)
	return nil
}

func (d *Dictionaries) publish(t *fsst.Table) {
	var next []*fsst.Table
	if list := d.list.Load(); list != nil {
		next = append(next, *list...)
	}
	next = append(next, t)
	d.list.Store(&next)
}

func dictionaryKey(physID uint64, number uint32) []byte {
	return keys.SystemKey(nil, KindDictionary, IDPart(physID), binary.BigEndian.AppendUint32(nil, number))
}

const (
	dictionaryFormat = 1
	dictionaryHeader = 1 + 8 + 4
)

// sealDictionary returns the stored record; doc.go has its byte table.
func sealDictionary(physID uint64, number uint32, t *fsst.Table) []byte {
	b := []byte{dictionaryFormat}
	b = binary.BigEndian.AppendUint64(b, physID)
	b = binary.BigEndian.AppendUint32(b, number)
	return t.AppendBinary(b)
}

// loadDictionaries reads all dictionaries, by physical table.
func loadDictionaries(m *txn.Manager) (map[uint64]*Dictionaries, error) {
	raw, err := ScanAll(m, KindDictionary)
	if err != nil {
		return nil, fmt.Errorf("catalog: load dictionaries: %w", err)
	}
	all := map[uint64]*Dictionaries{}
	for _, b := range raw {
		if len(b) < dictionaryHeader || b[0] != dictionaryFormat {
			return nil, fmt.Errorf("catalog: load dictionaries: %w: record format", kvapi.ErrCorrupt)
		}
		physID, number := binary.BigEndian.Uint64(b[1:]), binary.BigEndian.Uint32(b[9:])
		t, err := fsst.Parse(b[dictionaryHeader:])
		if err != nil {
			return nil, fmt.Errorf("catalog: dictionary %d of data %d: %w: %w", number, physID, kvapi.ErrCorrupt, err)
		}
		d := all[physID]
		if d == nil {
			d = newDictionaries(physID)
			d.learned()
			all[physID] = d
		}
		if _, have := d.Newest(); number != have+1 {
			return nil, fmt.Errorf("catalog: dictionary %d of data %d: %w: number %d is missing", number, physID, kvapi.ErrCorrupt, have+1)
		}
		d.publish(t)
	}
	return all, nil
}

// DropDictionaries deletes the dictionaries of a physical table that is gone. It
// may be repeated after a crash.
func DropDictionaries(m *txn.Manager, physID uint64) error {
	tx := m.Begin(txn.Options{Level: txn.ReadCommitted})
	defer tx.Release()
	for number, found := uint32(1), true; found; number++ {
		key := dictionaryKey(physID, number)
		var err error
		if found, err = tx.LockDelete(key, nil); err == nil && found {
			err = tx.Delete(key)
		}
		if err != nil {
			tx.Rollback()
			return fmt.Errorf("catalog: drop dictionaries: %w", err)
		}
	}
	if err := tx.Commit(); err != nil {
		return fmt.Errorf("catalog: drop dictionaries: %w", err)
	}
	return nil
}
