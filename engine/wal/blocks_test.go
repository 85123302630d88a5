package wal_test

import (
	"bytes"
	"errors"
	"testing"
	"unsafe"

	"github.com/pandodb/pando/engine/aio"
	"github.com/pandodb/pando/engine/wal"
	"github.com/pandodb/pando/internal/testkit"
)

// diskBlocks is a file in memory that checks how it is written.
type diskBlocks struct {
	t      *testing.T
	size   int // of a block
	data   []byte
	writes int
	synced int // writes with sync
	fail   error
}

func (d *diskBlocks) writeBlocks(b []byte, offset int64, sync bool) error {
	d.t.Helper()
	if uintptr(unsafe.Pointer(unsafe.SliceData(b)))%aio.AlignBytes != 0 || offset%int64(d.size) != 0 || len(b)%d.size != 0 || len(b) == 0 || len(b) > wal.StagingBytes {
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
	testkit.OneGoroutine(t)
	rng := testkit.Rand(testkit.Seed(t), 0)
	var b wal.Blocks
	for _, size := range []int{aio.SectorBytes, aio.AlignBytes, aio.SectorBytes, aio.AlignBytes} {
		disk := &diskBlocks{t: t, size: size}
		head := []byte("a header")
		b.Begin(disk.writeBlocks, size, head)
		want := bytes.Clone(head)
		for range 30 {
			p := make([]byte, []int{0, 1, 8, 300, size - 1, size, 3*size + 8, wal.StagingBytes - size, 3*wal.StagingBytes + 5}[rng.IntN(9)])
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
			padded := (len(want) + size - 1) / size * size
			if len(disk.data) < padded || !bytes.Equal(disk.data[:len(want)], want) || len(bytes.Trim(disk.data[len(want):], "\x00")) != 0 {
				t.Fatalf("after %d bytes the file of %d bytes is not what was written", len(want), len(disk.data))
			}
		}
	}
	disk := &diskBlocks{t: t, size: aio.SectorBytes, fail: errors.New("broken")}
	b.Begin(disk.writeBlocks, disk.size, []byte("h"))
	if err := b.Write([]byte("x"), true); err != disk.fail {
		t.Error(err)
	}
}
