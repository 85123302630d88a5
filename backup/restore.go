package backup

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/pandodb/pando/engine"
)

// Restorer is a directory that is being made of a backup.
type Restorer struct {
	fs      engine.FS
	dir     string
	existed bool
	move    mover
}

// Restore brings the files of a backup into a directory that must be absent or empty, and compares them with what the identity lists on the
// way. The directory is not a node's until the caller has given it a node's identity and has called Done. If it fails nothing is left.
func Restore(fs engine.FS, from, to string, id *Identity, poll func() error) (*Restorer, error) {
	existed, err := makeDir(fs, to)
	if err != nil {
		return nil, err
	}
	r := &Restorer{fs: fs, dir: to, existed: existed}
	r.move = mover{fs: fs, from: fs.PathJoin(from, storeName), to: fs.PathJoin(to, storeName), poll: poll}
	if err := r.restore(id); err != nil {
		return nil, errors.Join(err, r.Abort())
	}
	return r, nil
}

func (r *Restorer) restore(id *Identity) error {
	if err := writeFile(r.fs, r.fs.PathJoin(r.dir, RestoringName), []byte("# A database that is being restored here.\n")); err != nil {
		return r.move.explain(RestoringName, err)
	}
	if err := r.fs.MkdirAll(r.move.to, 0o700); err != nil {
		return r.move.explain(storeName, err)
	}
	if err := syncDir(r.fs, r.dir); err != nil {
		return err
	}
	names, err := listed(r.fs, r.move.from, id)
	if err != nil {
		return err
	}
	if err := r.move.probe(names, 0); err != nil {
		return err
	}
	for _, want := range id.Files {
		got, err := r.move.move(want.Name)
		if err = judge(want, got, err); err != nil {
			return err
		}
	}
	return syncDir(r.fs, r.move.to)
}

// Copied is how many bytes were copied, because they could not be linked.
func (r *Restorer) Copied() int64 { return r.move.Copied }

// Done takes the mark of a half restored directory away, after the caller has made it a node's.
func (r *Restorer) Done() error {
	return errors.Join(r.fs.Remove(r.fs.PathJoin(r.dir, RestoringName)), syncDir(r.fs, r.dir))
}

// Abort removes what has been written; the mark goes last.
func (r *Restorer) Abort() error {
	return clear(r.fs, r.dir, r.existed, storeName, RestoringName)
}

// listed makes sure that a backup's files are those that its identity lists, and returns their names.
func listed(fs engine.FS, dir string, id *Identity) ([]string, error) {
	found, err := fs.List(dir)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	names := make([]string, len(id.Files))
	for i, f := range id.Files {
		names[i] = f.Name
	}
	slices.Sort(names)
	for _, name := range found {
		if _, known := slices.BinarySearch(names, name); !known {
			return nil, fmt.Errorf("%w: the file %s was not there when it was made", ErrDamaged, name)
		}
	}
	return names, nil
}

// judge compares a file with what the identity says of it. err is why it could not be read.
func judge(want, got File, err error) error {
	switch {
	case absent(err):
		return fmt.Errorf("%w: the file %s is gone", ErrDamaged, want.Name)
	case err != nil:
		return err
	}
	var faults []string
	if want.Bytes != got.Bytes {
		faults = append(faults, fmt.Sprintf("it has %d bytes and had %d", got.Bytes, want.Bytes))
	} else if want.Sum != got.Sum {
		faults = append(faults, fmt.Sprintf("its checksum is %08x and was %08x", got.Sum, want.Sum))
	}
	if len(faults) == 0 {
		return nil
	}
	return fmt.Errorf("%w: the file %s has changed since: %s", ErrDamaged, want.Name, strings.Join(faults, ", "))
}

// Verify compares all files of a backup with its identity. It returns one error per fault.
func Verify(fs engine.FS, dir string, id *Identity, poll func() error) (faults []error, err error) {
	m := mover{fs: fs, from: fs.PathJoin(dir, storeName), poll: poll}
	if _, err := listed(fs, m.from, id); err != nil {
		faults = append(faults, err)
	}
	for _, want := range id.Files {
		got, err := m.sum(m.from, want.Name)
		if polled := poll(); polled != nil {
			return faults, polled
		}
		if err = judge(want, got, err); err != nil {
			faults = append(faults, err)
		}
	}
	return faults, nil
}
