package engine

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/cockroachdb/pebble/v2"

	"github.com/pandodb/pando/engine/wal"
)

// lockFileName is the file that Pebble locks.
const lockFileName = "LOCK"

// foreignNamesShown bounds the list of foreign files in an error.
const foreignNamesShown = 5

// prepareDir creates the directory and makes its name durable: synced files in a directory whose own entry was lost are lost.
func (e *Engine) prepareDir() error {
	if err := e.fs.MkdirAll(e.opts.Dir, 0o700); err != nil {
		return fmt.Errorf("engine: cannot create data directory %s: %w", e.opts.Dir, err)
	}
	parent := e.fs.PathDir(e.opts.Dir)
	if parent == "" {
		parent = "."
	}
	d, err := e.fs.OpenDir(parent)
	if err != nil {
		// A parent that this process may not read belongs to another user, who has created the directory before.
		if errors.Is(err, os.ErrPermission) {
			return nil
		}
		return fmt.Errorf("engine: open %s: %w", parent, err)
	}
	return errors.Join(d.Sync(), d.Close())
}

// inspectDir decides whether the locked directory is empty, ours, or to be refused. format is Pebble's format version of an existing one.
func (e *Engine) inspectDir() (format int, exists bool, err error) {
	names, err := e.fs.List(e.opts.Dir)
	if err != nil {
		return 0, false, fmt.Errorf("engine: read data directory %s: %w", e.opts.Dir, err)
	}
	desc, err := pebble.Peek(e.opts.Dir, e.fs)
	switch {
	case err != nil && strings.Contains(err.Error(), "unknown format major version"):
		return 0, false, e.newerFormat(err.Error())
	case err != nil:
		return 0, false, e.damaged(err)
	case desc.FormatMajorVersion > formatVersion:
		return 0, false, e.newerFormat(fmt.Sprintf("format %d", desc.FormatMajorVersion))
	case desc.Exists:
		return int(desc.FormatMajorVersion), true, nil
	}
	return 0, false, e.checkFresh(names)
}

// checkFresh refuses a directory that has no database but other files than those that an interrupted first start leaves behind.
func (e *Engine) checkFresh(names []string) error {
	var foreign []string
	for _, name := range names {
		switch {
		case strings.HasSuffix(name, ".sst") || strings.HasSuffix(name, ".blob"):
			// Tables are written long after the markers, so these have lost their manifest. Starting afresh would delete them.
			return e.damaged(fmt.Errorf("%s exists but no manifest names it", name))
		case wal.IsFile(name):
			// The log is begun after the first manifest, too.
			return e.damaged(fmt.Errorf("%s is a part of the log but there is no manifest", name))
		case !leftByFirstStart(name):
			foreign = append(foreign, name)
		}
	}
	if len(foreign) == 0 {
		return nil
	}
	slices.Sort(foreign)
	if len(foreign) > foreignNamesShown {
		foreign = append(foreign[:foreignNamesShown], "...")
	}
	return fmt.Errorf("%w: %s holds files that are not Pando's (%s); choose an empty or a new directory",
		ErrForeign, e.opts.Dir, strings.Join(foreign, ", "))
}

func leftByFirstStart(name string) bool {
	switch name {
	case lockFileName, "lost+found", ballastName:
		return true
	}
	return strings.HasPrefix(name, "MANIFEST-") || strings.HasPrefix(name, "OPTIONS-") || strings.HasPrefix(name, "marker.") ||
		strings.HasPrefix(name, "temporary.") || strings.HasSuffix(name, ".dbtmp") || strings.HasSuffix(name, ".log")
}

func (e *Engine) newerFormat(found string) error {
	return fmt.Errorf("%w: %s was written by a newer Pando (%s, this binary knows up to %d); start that version or a newer one",
		ErrNewerFormat, e.opts.Dir, found, formatVersion)
}

func (e *Engine) damaged(err error) error {
	return fmt.Errorf("%w: %s cannot be read (%v); delete nothing, copy it aside, check the disk, and restore a backup",
		ErrDamaged, e.opts.Dir, err)
}

// explainOpen turns Pebble's refusal into one of ours.
func (e *Engine) explainOpen(err error) error {
	text := err.Error()
	switch {
	case strings.Contains(text, "comparer name from") || strings.Contains(text, "merger name from") ||
		strings.Contains(text, "unknown key schema"):
		return fmt.Errorf("%w: %s was written by another program that uses Pebble (%v); choose another directory",
			ErrForeign, e.opts.Dir, err)
	case errors.Is(err, os.ErrPermission):
		return fmt.Errorf("engine: data directory %s is not accessible: %w", e.opts.Dir, err)
	case isDiskFull(err):
		return fmt.Errorf("engine: the disk of %s is full; free some space and start again: %w", e.opts.Dir, err)
	case pebble.IsCorruptionError(err), errors.Is(err, pebble.ErrDBDoesNotExist), errors.Is(err, os.ErrNotExist):
		return e.damaged(err)
	}
	return fmt.Errorf("engine: open %s: %w", e.opts.Dir, err)
}

// explainRead wraps an error of a read, corruption as ErrCorrupt, so that callers need not know Pebble's errors. It also notes damage.
func (e *Engine) explainRead(err error) error {
	if pebble.IsCorruptionError(err) {
		e.counters.corruptions.Inc()
		e.noteDamage(err)
		return fmt.Errorf("%w: %v", ErrCorrupt, err)
	}
	if isBadDisk(err) {
		e.noteDamage(err)
	}
	return fmt.Errorf("engine: read: %w", err)
}
