package wal

import (
	"bytes"
	"os"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/pandodb/pando/engine/aio"
)

// fullFile is a file whose descriptor meets a full disk, while its methods find room, as those of the engine's do after a while.
type fullFile struct {
	vfs.File
	full   *os.File
	data   []byte
	synced bool
}

func (f *fullFile) Fd() uintptr { return f.full.Fd() }

func (f *fullFile) WriteAt(b []byte, offset int64) (int, error) {
	f.data = append(f.data[:offset], b...)
	return len(b), nil
}

func (f *fullFile) SyncData() error { f.synced = true; return nil }

// TestDirectFullDisk: a direct write that finds no room goes by way of the file, which can make some.
func TestDirectFullDisk(t *testing.T) {
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skip(err)
	}
	defer full.Close()
	f := &fullFile{full: full}
	l := &Log{}
	l.writer.file = f
	b := aio.AlignedBytes(aio.AlignBytes)
	b[0] = 1
	if err := l.writeBlocks(b, 0, false); err != nil || !bytes.Equal(f.data, b) || !f.synced {
		t.Errorf("%v, %d bytes, synced %v", err, len(f.data), f.synced)
	}
}
