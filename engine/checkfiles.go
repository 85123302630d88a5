package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/cockroachdb/pebble/v2/cockroachkvs"
	"github.com/cockroachdb/pebble/v2/sstable"

	"github.com/pandodb/pando/engine/wal"
)

// FileCheck is what CheckFiles has read.
type FileCheck struct {
	Segments, Tables    int
	LogBytes, TableSize int64
}

// CheckFiles reads the log and every block of all tables in a directory that no engine has open, and calls fault for each file with a wrong
// checksum. It needs no manifest, so it works where Open refuses. An error of poll ends it early.
func CheckFiles(fs FS, dir string, poll func() error, fault func(name string, err error)) (c FileCheck, err error) {
	names, err := fs.List(dir)
	if err != nil {
		return c, fmt.Errorf("engine: check: %w", err)
	}
	if c.Segments, c.LogBytes, err = wal.Check(fs, dir, names, poll, fault); err != nil {
		return c, err
	}
	slices.Sort(names)
	for _, name := range names {
		if !strings.HasSuffix(name, tableSuffix) {
			continue
		}
		if err := poll(); err != nil {
			return c, err
		}
		c.Tables++
		size, err := checkTable(fs, fs.PathJoin(dir, name))
		if c.TableSize += size; err != nil {
			fault(name, err)
		}
	}
	return c, nil
}

// checkTable compares all blocks of a table with their checksums.
func checkTable(fs FS, path string) (size int64, err error) {
	f, err := fs.Open(path)
	if err != nil {
		return 0, err
	}
	readable, err := sstable.NewSimpleReadable(f)
	if err != nil {
		return 0, errors.Join(err, f.Close())
	}
	r, err := sstable.NewReader(context.Background(), readable, sstable.ReaderOptions{
		Comparer: &cockroachkvs.Comparer, KeySchemas: sstable.MakeKeySchemas(&cockroachkvs.KeySchema),
	})
	if err != nil {
		return readable.Size(), errors.Join(err, readable.Close())
	}
	return readable.Size(), errors.Join(r.ValidateBlockChecksums(), r.Close())
}
