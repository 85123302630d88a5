package backup

import (
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"slices"
	"strings"
	"syscall"

	"github.com/pandodb/pando/engine"
)

const (
	// chunkBytes are copied or summed at a time.
	chunkBytes = 1 << 20
	// tableSuffix is that of the files that nobody writes to once they are there.
	tableSuffix = ".sst"
)

// mover brings files from one directory to another.
type mover struct {
	fs       engine.FS
	from, to string
	// link is true for as long as the file systems have given a hard link.
	link bool
	// poll ends the work early by an error.
	poll   func() error
	chunk  []byte
	Copied int64 // bytes that were not linked
}

// makeDir makes a directory that may exist only if it is empty, and makes its name durable, with those of the parents that it makes. It
// tells whether it was there.
func makeDir(fs engine.FS, dir string) (existed bool, err error) {
	names, err := fs.List(dir)
	switch {
	case err == nil:
		names = slices.DeleteFunc(names, func(name string) bool { return name == "lost+found" })
		if len(names) > 0 {
			return true, occupied(dir, names)
		}
		return true, nil
	case !absent(err):
		return false, fmt.Errorf("%s cannot be made: %w", dir, err)
	}
	// The directories above, up to the first that is there, get new names in them.
	var parents []string
	for d := fs.PathDir(dir); ; d = fs.PathDir(d) {
		parents = append(parents, d)
		if _, err := fs.Stat(d); err == nil || d == fs.PathDir(d) {
			break
		}
	}
	if err := fs.MkdirAll(dir, 0o700); err != nil {
		return false, fmt.Errorf("%s cannot be made: %w", dir, err)
	}
	for _, d := range parents {
		if err := syncDir(fs, d); err != nil && !errors.Is(err, syscall.EACCES) {
			return false, fmt.Errorf("%s cannot be made: %w", dir, err)
		}
	}
	return false, nil
}

// occupied says what is in a directory that should be empty.
func occupied(dir string, names []string) error {
	switch {
	case slices.Contains(names, identityName):
		return fmt.Errorf("%w: there is a backup in %s already; choose a new directory", ErrOccupied, dir)
	case slices.Contains(names, halfName):
		return fmt.Errorf("%w: there is half a backup in %s, of one that was never finished; delete it, or choose a new directory", ErrOccupied, dir)
	case slices.Contains(names, RestoringName):
		return fmt.Errorf("%w: there is half a database in %s, of a restore that was never finished; delete it, or choose a new directory", ErrOccupied, dir)
	}
	return fmt.Errorf("%w: %s holds files; choose a new directory", ErrOccupied, dir)
}

// probe finds out whether a table can be linked, and whether there is room for what can't. reserve bytes are to stay free if both directories
// are on one disk.
func (m *mover) probe(names []string, reserve uint64) error {
	m.link = false
	if i := slices.IndexFunc(names, linkable); i >= 0 {
		to := m.fs.PathJoin(m.to, names[i])
		if m.link = m.fs.Link(m.fs.PathJoin(m.from, names[i]), to) == nil; m.link {
			if err := m.fs.Remove(to); err != nil {
				return err
			}
		}
	}
	need := uint64(0)
	for _, name := range names {
		if m.link && linkable(name) {
			continue
		}
		info, err := m.fs.Stat(m.fs.PathJoin(m.from, name))
		if absent(err) {
			continue // who moves it will tell
		}
		if err != nil {
			return err
		}
		need += uint64(info.Size())
	}
	from, err := m.fs.Stat(m.from)
	if err != nil {
		return err
	}
	to, err := m.fs.Stat(m.to)
	if err != nil {
		return err
	}
	if from.DeviceID() != to.DeviceID() {
		reserve = 0
	}
	if usage, err := m.fs.GetDiskUsage(m.to); err == nil && usage.AvailBytes < need+reserve { // file systems in memory have no size
		return fmt.Errorf("%w: %s has %d MiB free, and %d MiB are needed", ErrNoSpace, m.to, usage.AvailBytes>>20, (need+reserve)>>20)
	}
	return nil
}

func linkable(name string) bool { return strings.HasSuffix(name, tableSuffix) }

// move links or copies one file, durably but for its name, and returns what it is.
func (m *mover) move(name string) (File, error) {
	from, to := m.fs.PathJoin(m.from, name), m.fs.PathJoin(m.to, name)
	if m.link && linkable(name) && m.fs.Link(from, to) == nil {
		return m.sum(m.to, name)
	}
	f, err := m.fs.Create(to, category)
	if err != nil {
		return File{}, m.explain(name, err)
	}
	out, err := m.pump(from, name, f)
	if err == nil {
		err = f.Sync()
	}
	m.Copied += out.Bytes
	return out, m.explain(name, errors.Join(err, f.Close()))
}

// sum reads a file and returns what it is.
func (m *mover) sum(dir, name string) (File, error) {
	out, err := m.pump(m.fs.PathJoin(dir, name), name, io.Discard)
	return out, m.explain(name, err)
}

func (m *mover) pump(path, name string, to io.Writer) (out File, err error) {
	f, err := m.fs.Open(path)
	if err != nil {
		return out, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if m.chunk == nil {
		m.chunk = make([]byte, chunkBytes)
	}
	out.Name = name
	for {
		if err := m.poll(); err != nil {
			return out, err
		}
		n, err := f.Read(m.chunk)
		if n > 0 {
			out.Sum = crc32.Update(out.Sum, castagnoli, m.chunk[:n])
			out.Bytes += int64(n)
			if _, err := to.Write(m.chunk[:n]); err != nil {
				return out, err
			}
		}
		if errors.Is(err, io.EOF) {
			return out, nil
		}
		if err != nil {
			return out, err
		}
	}
}

// explain names the file, and a full disk.
func (m *mover) explain(name string, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT):
		return fmt.Errorf("%w: there is no room in %s for %s", ErrNoSpace, m.to, name)
	}
	return fmt.Errorf("%s: %w", name, err)
}
