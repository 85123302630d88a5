package server

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/pandodb/pando/backup"
	"github.com/pandodb/pando/clock"
	"github.com/pandodb/pando/engine"
	"github.com/pandodb/pando/kvapi"
	"github.com/pandodb/pando/session"
	"github.com/pandodb/pando/store"
	"github.com/pandodb/pando/types"
)

const (
	// stagingName is the directory of a backup's checkpoint while the backup is being made: in the data directory, so that tables can be
	// hard links, but outside of the store's. The next start or backup deletes what a crash has left of it.
	stagingName = "backup.part"
	// backupOff, as Options.BackupDir, forbids backups by statements.
	backupOff = "off"
)

// errInterrupted ends a backup whose statement has to stop.
var errInterrupted = kvapi.ErrInterrupted

// knownFormats are those that this program can read.
var knownFormats = backup.Formats{Directory: directoryFormat, Records: store.RecordsMax, Engine: engine.FormatMax}

// backup executes ADMIN BACKUP TO: it copies the node's files, while statements go on, to a directory that is absent or empty.
func (n *Node) backup(dir string, interrupt *kvapi.Interrupt) (*session.Backup, error) {
	dir, err := n.backupTarget(dir)
	if err != nil {
		return nil, err
	}
	if !n.backing.TryLock() {
		return nil, types.NewError(types.ErLockNowait, "Another backup is being made; there is one at a time")
	}
	defer n.backing.Unlock()
	poll := func() error {
		if interrupt.Reason() != kvapi.ReasonNone {
			return errInterrupted
		}
		return nil
	}
	made, err := n.writeBackup(dir, poll)
	if err != nil {
		return nil, explainBackup(dir, err)
	}
	n.log.Info("made a backup", "dir", made.Dir, "files", made.Files, "bytes", made.Bytes, "copied_bytes", made.CopiedBytes, "timestamp", uint64(made.Timestamp), "took", made.Took)
	return made, nil
}

func (n *Node) writeBackup(dir string, poll func() error) (made *session.Backup, err error) {
	start, began := clock.Mono(), clock.Now()
	w, err := backup.Begin(engine.OSFS(), dir, began)
	if err != nil {
		return nil, err
	}
	staging := filepath.Join(n.options.DataDir, stagingName)
	defer func() {
		if removed := os.RemoveAll(staging); removed != nil {
			n.log.Warn("cannot remove what a backup has left in the data directory", "dir", staging, "error", removed)
		}
		if err != nil {
			err = errors.Join(err, w.Abort())
		}
	}()
	if err := os.RemoveAll(staging); err != nil {
		return nil, err
	}
	point, err := n.store.Checkpoint(staging, poll)
	if err != nil {
		return nil, err
	}
	files, err := w.Take(staging, n.engine.LowSpaceBytes(), poll)
	if err != nil {
		return nil, err
	}
	id := &backup.Identity{Program: Version, Formats: backup.Formats{Directory: directoryFormat, Records: point.Records, Engine: point.Format}, Store: n.store.ID(),
		Incarnation: n.store.Incarnation(), Timestamp: point.Timestamp, Began: began, Ended: clock.Now(), LogFrom: point.LogFrom, LogEnd: point.LogEnd, Files: files}
	if err := w.Finish(id); err != nil {
		return nil, err
	}
	return &session.Backup{Dir: dir, Files: len(files), Bytes: id.Bytes(), CopiedBytes: w.Copied(), Timestamp: point.Timestamp, Took: clock.Since(start)}, nil
}

// backupTarget checks that a backup may be written to a directory, and returns its path with links and dots resolved.
func (n *Node) backupTarget(dir string) (string, error) {
	wrong := func(why string) error {
		return types.NewError(types.ErWrongArguments, "Incorrect arguments to ADMIN BACKUP TO: "+why)
	}
	allowed := n.options.BackupDir
	switch {
	case allowed == backupOff:
		return "", types.Errorf(types.ErOptionPreventsStatement, "--backup-dir="+backupOff)
	case dir == "" || !filepath.IsAbs(dir):
		return "", wrong("the directory must be an absolute path on the server's machine")
	}
	dir, err := resolve(dir)
	if err != nil {
		return "", wrong(err.Error())
	}
	data, err := resolve(n.options.DataDir)
	if err != nil {
		return "", wrong(err.Error())
	}
	if within(data, dir) {
		return "", wrong("the directory must not be inside of the data directory, nor be it: " + dir)
	}
	if allowed != "" {
		if allowed, err = resolve(allowed); err != nil || !within(allowed, dir) || dir == allowed {
			return "", types.Errorf(types.ErOptionPreventsStatement, "--backup-dir="+n.options.BackupDir)
		}
	}
	return dir, nil
}

// resolve makes a path absolute and follows the links of as much of it as exists.
func resolve(path string) (string, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	rest := ""
	for at := path; ; at = filepath.Dir(at) {
		real, err := filepath.EvalSymlinks(at)
		if err == nil {
			return filepath.Join(real, rest), nil
		}
		// A dangling link is refused: it could lead anywhere once its target exists.
		switch _, there := os.Lstat(at); {
		case there == nil && errors.Is(err, fs.ErrNotExist):
			return "", fmt.Errorf("%s is a link to nothing", at)
		case !errors.Is(err, fs.ErrNotExist) || at == filepath.Dir(at):
			return "", err
		}
		rest = filepath.Join(filepath.Base(at), rest)
	}
}

// explainBackup converts the error of a backup to one with a MySQL error number.
func explainBackup(dir string, err error) error {
	var known *types.Error
	switch {
	case errors.As(err, &known) || errors.Is(err, errInterrupted):
		return err
	case errors.Is(err, backup.ErrNoSpace):
		return types.NewError(types.ErDiskFull, fmt.Sprintf("Disk full (%s); the backup was not made (errno: %d - %s): %v", dir, int(syscall.ENOSPC), syscall.ENOSPC.Error(), err))
	case errors.Is(err, store.ErrSeveral):
		return types.Errorf(types.ErNotSupportedYet, "ADMIN BACKUP in a cluster of several stores; dump it (mysqldump --single-transaction)")
	case errors.Is(err, backup.ErrOccupied):
		return types.NewError(types.ErFileExists, "The backup was not made: "+err.Error())
	}
	return types.NewError(types.ErUnknownError, "The backup was not made: "+err.Error())
}

// Restored is the result of Restore.
type Restored struct {
	Program            string
	Store              uint64
	Timestamp          clock.Timestamp
	Began              time.Time
	Files              int
	Bytes, CopiedBytes int64
}

// Restore creates a data directory, which must be absent or empty, from a backup. If it fails it leaves nothing there.
func Restore(ctx context.Context, from, dir string) (*Restored, error) {
	files := engine.OSFS()
	from, err := resolve(from)
	if err != nil {
		return nil, fmt.Errorf("the backup cannot be read: %w", err)
	}
	if dir, err = resolve(dir); err != nil {
		return nil, fmt.Errorf("the data directory cannot be made: %w", err)
	}
	if within(from, dir) {
		return nil, fmt.Errorf("the data directory must not be inside of the backup: %s", dir)
	}
	id, err := backup.Read(files, from, knownFormats)
	if err != nil {
		return nil, err
	}
	r, err := backup.Restore(files, from, dir, id, ctx.Err)
	if err != nil {
		return nil, err
	}
	err = writeIdentity(dir, id.Store)
	if err == nil {
		err = r.Done()
	}
	if err != nil {
		gone := errors.Join(os.RemoveAll(filepath.Join(dir, identityName)), os.RemoveAll(filepath.Join(dir, identityPart)))
		return nil, errors.Join(err, gone, r.Abort())
	}
	return &Restored{Program: cmp.Or(id.Program, "?"), Store: id.Store, Timestamp: id.Timestamp, Began: id.Began, Files: len(id.Files), Bytes: id.Bytes(), CopiedBytes: r.Copied()}, nil
}
