package testkit

import (
	"strings"
	"sync/atomic"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/pandodb/pando/engine"
)

// HookFS lets a test watch and fail what a file system does. Hooks may be nil, are called by many goroutines at once, and are
// set before the engine is opened.
type HookFS struct {
	engine.FS
	// OnSync runs before every sync of a file (Sync, SyncData, SyncTo). skip drops the sync and reports success; an error is
	// returned in its place.
	OnSync func(name string) (skip bool, err error)
	// OnSyncDir runs before every sync of a directory, as OnSync does.
	OnSyncDir func(name string) (skip bool, err error)
	// OnWrite runs before every write of n bytes to a file; an error is returned in its place.
	OnWrite func(name string, n int) error
}

// Create implements engine.FS.
func (h *HookFS) Create(name string, category engine.WriteCategory) (engine.File, error) {
	f, err := h.FS.Create(name, category)
	return h.wrap(f, name, err)
}

// OpenReadWrite implements engine.FS.
func (h *HookFS) OpenReadWrite(name string, category engine.WriteCategory, opts ...engine.OpenOption) (engine.File, error) {
	f, err := h.FS.OpenReadWrite(name, category, opts...)
	return h.wrap(f, name, err)
}

// ReuseForWrite implements engine.FS.
func (h *HookFS) ReuseForWrite(oldname, newname string, category engine.WriteCategory) (engine.File, error) {
	f, err := h.FS.ReuseForWrite(oldname, newname, category)
	return h.wrap(f, newname, err)
}

// OpenDir implements engine.FS.
func (h *HookFS) OpenDir(name string) (engine.File, error) {
	f, err := h.FS.OpenDir(name)
	if err != nil {
		return nil, err
	}
	return &hookFile{File: f, name: name, sync: h.OnSyncDir}, nil
}

// Unwrap implements engine.FS.
func (h *HookFS) Unwrap() engine.FS { return h.FS }

func (h *HookFS) wrap(f engine.File, name string, err error) (engine.File, error) {
	if err != nil {
		return nil, err
	}
	return &hookFile{File: f, name: name, sync: h.OnSync, write: h.OnWrite}, nil
}

// hookFile is a file on its way through the hooks.
type hookFile struct {
	engine.File
	name  string
	sync  func(name string) (skip bool, err error)
	write func(name string, n int) error
}

// Fd hides the descriptor: what is done to it would pass the hooks by.
func (f *hookFile) Fd() uintptr { return engine.InvalidFd }

// Write implements engine.File.
func (f *hookFile) Write(b []byte) (int, error) {
	if err := f.askWrite(len(b)); err != nil {
		return 0, err
	}
	return f.File.Write(b)
}

// WriteAt implements engine.File.
func (f *hookFile) WriteAt(b []byte, offset int64) (int, error) {
	if err := f.askWrite(len(b)); err != nil {
		return 0, err
	}
	return f.File.WriteAt(b, offset)
}

func (f *hookFile) askWrite(n int) error {
	if f.write == nil {
		return nil
	}
	return f.write(f.name, n)
}

// Sync implements engine.File.
func (f *hookFile) Sync() error {
	if skip, err := f.ask(); skip || err != nil {
		return err
	}
	return f.File.Sync()
}

// SyncData implements engine.File.
func (f *hookFile) SyncData() error {
	if skip, err := f.ask(); skip || err != nil {
		return err
	}
	return f.File.SyncData()
}

// SyncTo implements engine.File.
func (f *hookFile) SyncTo(length int64) (fullSync bool, err error) {
	if skip, err := f.ask(); skip || err != nil {
		return true, err
	}
	return f.File.SyncTo(length)
}

func (f *hookFile) ask() (skip bool, err error) {
	if f.sync == nil {
		return false, nil
	}
	return f.sync(f.name)
}

// IsWAL tells whether a file name is that of a segment of the write-ahead log.
func IsWAL(name string) bool { return strings.HasSuffix(name, ".wal") }

// CountFS counts syncs on their way to the file system below.
type CountFS struct {
	HookFS
	files, wal, dirs atomic.Int64
}

// NewCountFS wraps fs.
func NewCountFS(fs engine.FS) *CountFS {
	c := &CountFS{HookFS: HookFS{FS: fs}}
	c.OnSync = func(name string) (bool, error) {
		c.files.Add(1)
		if IsWAL(name) {
			c.wal.Add(1)
		}
		return false, nil
	}
	c.OnSyncDir = func(string) (bool, error) {
		c.dirs.Add(1)
		return false, nil
	}
	return c
}

// Syncs returns how often files have been synced, WALSyncs how often write-ahead logs, DirSyncs how often directories.
func (c *CountFS) Syncs() int64 { return c.files.Load() }

// WALSyncs returns how often write-ahead logs have been synced.
func (c *CountFS) WALSyncs() int64 { return c.wal.Load() }

// DirSyncs returns how often directories have been synced.
func (c *CountFS) DirSyncs() int64 { return c.dirs.Load() }

// Crash returns the file system as a power loss at this moment may leave it: all that was synced, and of the rest each block
// and each directory entry with the given chance, drawn from seed.
func Crash(fs *engine.MemFS, unsyncedPercent int, seed uint64) *engine.MemFS {
	return fs.CrashClone(engine.CrashConfig{UnsyncedDataPercent: unsyncedPercent, RNG: Rand(seed, 0)})
}

// SpaceFS reports as much free space as it is told, of a disk of 2 GiB.
type SpaceFS struct {
	engine.FS
	Free atomic.Uint64
}

// GetDiskUsage implements engine.FS.
func (s *SpaceFS) GetDiskUsage(string) (vfs.DiskUsage, error) {
	return vfs.DiskUsage{AvailBytes: s.Free.Load(), TotalBytes: 2 << 30}, nil
}
