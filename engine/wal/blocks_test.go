package wal_test

import (
	"bytes"
	"errors"
	"testing"
	"unsafe"

	"github.com/pandodb/pando/engine/wal"
	"github.com/pandodb/pando/internal/testkit"
)

// diskBlocks is a file in memory that checks how it is written.
type diskBlocks struct {
	t      *testing.T
	data   []byte
	writes int
	synced int // writes with sync
	fail   error
}

func (d *diskBlocks) writeBlocks(b []byte, offset int64, sync bool) error {
	d.t.Helper()
	if uintptr(unsafe.Pointer(unsafe.SliceData(b)))%wal.BlockBytes != 0 || offset%wal.BlockBytes != 0 || len(b)%wal.BlockBytes != 0 || len(b) == 0 || len(b) > wal.StagingBytes {
		d.t.Fatalf("%d bytes at offset %d are not aligned", len(b), offset)
	}
	if d.fail != nil {
		return d.fail
	}
	if offset > int64(len(d.data)) {
		d.t.Fatalf("a hole from %d to %d", len(d.data), offset)
	}
	d.data = append(d.data[:offset], b...)
	d.writes++
	if sync {
		d.synced++
	}
	return nil
}

// TestBlocks: the file is what was written, padded with zeros to a block; a write that fits is one call.
func TestBlocks(t *testing.T) {
	rng := testkit.Rand(testkit.Seed(t), 0)
	var b wal.Blocks
	for range 4 {
		disk := &diskBlocks{t: t}
		head := []byte("a header")
		b.Begin(disk.writeBlocks, head)
		want := bytes.Clone(head)
		for range 30 {
			p := make([]byte, []int{0, 1, 8, 300, wal.BlockBytes - 1, wal.BlockBytes, 3*wal.BlockBytes + 8, wal.StagingBytes - wal.BlockBytes, 3*wal.StagingBytes + 5}[rng.IntN(9)])
			for i := range p {
				p[i] = byte(rng.Uint32()) | 1
			}
			sync, fits := rng.IntN(2) == 0, b.Fits(len(p))
			writes, synced := disk.writes, disk.synced
			if err := b.Write(p, sync); err != nil {
				t.Fatal(err)
			}
			if n := disk.writes - writes; fits != (n == 1) || (sync && disk.synced-synced != n) || (!sync && disk.synced != synced) {
				t.Fatalf("%d bytes, fits %v, sync %v: %d writes, %d of them synced", len(p), fits, sync, n, disk.synced-synced)
			}
			want = append(want, p...)
			padded := (len(want) + wal.BlockBytes - 1) / wal.BlockBytes * wal.BlockBytes
			if len(want)%wal.BlockBytes == 0 {
				padded = len(want)
			}
			if len(disk.data) < padded || !bytes.Equal(disk.data[:len(want)], want) || len(bytes.Trim(disk.data[len(want):], "\x00")) != 0 {
				t.Fatalf("after %d bytes the file of %d bytes is not what was written", len(want), len(disk.data))
			}
		}
	}
	disk := &diskBlocks{t: t, fail: errors.New("broken")}
	b.Begin(disk.writeBlocks, []byte("h"))
	if err := b.Write([]byte("x"), true); err != disk.fail {
		t.Error(err)
	}
}
