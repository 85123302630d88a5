package backup

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/pandodb/pando/engine"
)

// Writer is a backup that is being made.
type Writer struct {
	fs      engine.FS
	dir     string
	existed bool
	move    mover
}

// Begin makes the directory of a backup, which must be absent or empty, and marks it as a half one.
func Begin(fs engine.FS, dir string, began time.Time) (*Writer, error) {
	existed, err := makeDir(fs, dir)
	if err != nil {
		return nil, err
	}
	w := &Writer{fs: fs, dir: dir, existed: existed}
	text := fmt.Sprintf("# A backup that was begun at %s and is not finished: no database can be made of it.\n", began.UTC().Format(time.RFC3339))
	err = writeFile(fs, fs.PathJoin(dir, halfName), []byte(text))
	if err == nil {
		err = fs.MkdirAll(fs.PathJoin(dir, storeName), 0o700)
	}
	if err == nil {
		err = syncDir(fs, dir)
	}
	if err != nil {
		w.move.to = dir
		return nil, errors.Join(w.move.explain(halfName, err), w.Abort())
	}
	return w, nil
}

// Take brings the staged files into the backup. reserve bytes are to stay free on the disk that they are on.
func (w *Writer) Take(staged string, reserve uint64, poll func() error) ([]File, error) {
	w.move = mover{fs: w.fs, from: staged, to: w.fs.PathJoin(w.dir, storeName), poll: poll}
	names, err := w.fs.List(staged)
	if err != nil {
		return nil, err
	}
	slices.Sort(names)
	if err := w.move.probe(names, reserve); err != nil {
		return nil, err
	}
	files := make([]File, 0, len(names))
	for _, name := range names {
		f, err := w.move.move(name)
		if err != nil {
			return nil, err
		}
		files = append(files, f)
	}
	return files, syncDir(w.fs, w.move.to)
}

// Copied is how many bytes were copied, because they could not be linked.
func (w *Writer) Copied() int64 { return w.move.Copied }

// Finish makes the backup whole (invariant 1).
func (w *Writer) Finish(id *Identity) error {
	path := func(name string) string { return w.fs.PathJoin(w.dir, name) }
	err := writeFile(w.fs, path(nextName), id.encode())
	if err == nil {
		err = w.fs.Rename(path(nextName), path(identityName))
	}
	if err == nil {
		err = syncDir(w.fs, w.dir)
	}
	if err != nil {
		return w.move.explain(identityName, err)
	}
	// With an identity the mark of a half backup says nothing any more.
	return errors.Join(w.fs.Remove(path(halfName)), syncDir(w.fs, w.dir))
}

// Abort removes what has been written. What cannot be removed stays marked as half a backup, because the mark goes last.
func (w *Writer) Abort() error {
	return clear(w.fs, w.dir, w.existed, storeName, nextName, identityName, halfName)
}

// clear removes entries of a directory in this order, and itself unless it was there before.
func clear(fs engine.FS, dir string, keep bool, names ...string) error {
	for _, name := range names {
		if err := fs.RemoveAll(fs.PathJoin(dir, name)); err != nil && !absent(err) {
			return fmt.Errorf("what was written to %s cannot be removed: %w", dir, err)
		}
	}
	if keep {
		return nil
	}
	return fs.Remove(dir)
}
