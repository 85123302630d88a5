package engine

import (
	"errors"
	"io"
	"os"
	"slices"
	"strings"
	"sync"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// Overlay returns a file system that shows another one, below, and keeps in memory whatever is written, so that below does not change. With it
// an engine can be opened, recovery included, only to be read. Little should be written: a file that is opened for writing is copied to memory
// as a whole. Locks are taken in the file system below, if the lock's file exists there.
func Overlay(below FS) FS {
	return &overlay{FS: below, above: vfs.NewMem(), gone: map[string]bool{}}
}

// overlay is Overlay's file system. Methods that it does not implement are those of the file system below.
type overlay struct {
	FS
	above *vfs.MemFS
	mu    sync.Mutex      // guards gone; a leaf
	gone  map[string]bool // names below that were removed or renamed
}

// Unwrap implements vfs.FS. It returns nil, so that Pebble cannot write below.
func (o *overlay) Unwrap() FS { return nil }

func (o *overlay) isAbove(name string) bool {
	_, err := o.above.Stat(name)
	return err == nil
}

// hidden reports whether a name below was removed or renamed, so that it must not be shown.
func (o *overlay) hidden(name string) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.gone[name]
}

func (o *overlay) hide(name string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.gone[name] = true
}

func notThere(op, name string) error { return &os.PathError{Op: op, Path: name, Err: os.ErrNotExist} }

// room creates the directory, above, of a file that is going to be created there.
func (o *overlay) room(name string) error { return o.above.MkdirAll(o.FS.PathDir(name), 0o700) }

// lift copies a file from below to above, unless it is there.
func (o *overlay) lift(name string) error {
	switch {
	case o.isAbove(name):
		return nil
	case o.hidden(name):
		return notThere("open", name)
	}
	from, err := o.FS.Open(name)
	if err != nil {
		return err
	}
	defer func() { _ = from.Close() }() // it was read only
	if err := o.room(name); err != nil {
		return err
	}
	to, err := o.above.Create(name, vfs.WriteCategoryUnspecified)
	if err != nil {
		return err
	}
	_, err = io.Copy(to, from)
	return errors.Join(err, to.Close())
}

// Create implements vfs.FS.
func (o *overlay) Create(name string, category WriteCategory) (File, error) {
	if err := o.room(name); err != nil {
		return nil, err
	}
	return o.above.Create(name, category)
}

// Link implements vfs.FS.
func (o *overlay) Link(from, to string) error {
	if err := errors.Join(o.lift(from), o.room(to)); err != nil {
		return err
	}
	return o.above.Link(from, to)
}

// Open implements vfs.FS.
func (o *overlay) Open(name string, opts ...OpenOption) (File, error) {
	switch {
	case o.isAbove(name):
		return o.above.Open(name, opts...)
	case o.hidden(name):
		return nil, notThere("open", name)
	}
	return o.FS.Open(name, opts...)
}

// OpenReadWrite implements vfs.FS.
func (o *overlay) OpenReadWrite(name string, category WriteCategory, opts ...OpenOption) (File, error) {
	if err := o.lift(name); err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	if err := o.room(name); err != nil {
		return nil, err
	}
	return o.above.OpenReadWrite(name, category, opts...)
}

// OpenDir implements vfs.FS. Directories are only opened to be synced, which does nothing in memory.
func (o *overlay) OpenDir(name string) (File, error) {
	if err := o.above.MkdirAll(name, 0o700); err != nil {
		return nil, err
	}
	return o.above.OpenDir(name)
}

// Remove implements vfs.FS.
func (o *overlay) Remove(name string) error {
	if _, err := o.Stat(name); err != nil {
		return err
	}
	o.hide(name)
	if o.isAbove(name) {
		return o.above.Remove(name)
	}
	return nil
}

// RemoveAll implements vfs.FS.
func (o *overlay) RemoveAll(name string) error {
	if names, err := o.List(name); err == nil {
		for _, entry := range names {
			if err := o.RemoveAll(o.FS.PathJoin(name, entry)); err != nil {
				return err
			}
		}
	}
	if err := o.Remove(name); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}

// Rename implements vfs.FS.
func (o *overlay) Rename(from, to string) error {
	if err := errors.Join(o.lift(from), o.room(to)); err != nil {
		return err
	}
	o.hide(from)
	return o.above.Rename(from, to)
}

// ReuseForWrite implements vfs.FS.
func (o *overlay) ReuseForWrite(from, to string, category WriteCategory) (File, error) {
	if err := o.Rename(from, to); err != nil {
		return nil, err
	}
	return o.OpenReadWrite(to, category)
}

// MkdirAll implements vfs.FS.
func (o *overlay) MkdirAll(dir string, perm os.FileMode) error { return o.above.MkdirAll(dir, perm) }

// Lock implements vfs.FS.
func (o *overlay) Lock(name string) (io.Closer, error) {
	if _, err := o.FS.Stat(name); err == nil {
		return o.FS.Lock(name)
	}
	if err := o.room(name); err != nil {
		return nil, err
	}
	return o.above.Lock(name)
}

// List implements vfs.FS.
func (o *overlay) List(dir string) ([]string, error) {
	names, err := o.FS.List(dir)
	added, errAbove := o.above.List(dir)
	if err != nil && errAbove != nil {
		return nil, err
	}
	names = slices.DeleteFunc(names, func(name string) bool { return o.hidden(o.FS.PathJoin(dir, name)) })
	for _, name := range added {
		if name = strings.TrimSuffix(name, "/"); !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names, nil
}

// Stat implements vfs.FS.
func (o *overlay) Stat(name string) (vfs.FileInfo, error) {
	info, err := o.above.Stat(name)
	switch {
	case err == nil && (!info.IsDir() || o.hidden(name)):
		return info, nil
	case o.hidden(name):
		return nil, notThere("stat", name)
	}
	if below, errBelow := o.FS.Stat(name); errBelow == nil || err != nil {
		return below, errBelow
	}
	return info, err
}
