package server

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// What the data directory's files and directories are to other users of the machine: nothing. New ones are made so by the process's file
// mode mask, see KeepPrivate; closeDir sees to those of before.
const (
	privateFile = 0o600
	privateDir  = 0o700
	// passableDir lets others reach a socket in the directory, and see nothing else of it.
	passableDir = 0o711
	privateMask = 0o077
)

// KeepPrivate makes what the process creates from now on unreadable for other users of the machine. It is the process's to call, once, before
// it opens a node.
func KeepPrivate() { syscall.Umask(privateMask) }

// closeDir takes the rights of other users away from what is Pando's in a data directory, and returns of how many files it had to. With
// passable the directory itself may still be passed.
func closeDir(dir string, passable bool) (closed int, err error) {
	var faults []error
	limit := func(path string, info fs.FileInfo, mode fs.FileMode) {
		if info.Mode().Perm()&^mode == 0 || !info.Mode().IsRegular() && !info.IsDir() {
			return
		}
		if err := os.Chmod(path, info.Mode().Perm()&mode); err != nil && !errors.Is(err, fs.ErrNotExist) {
			faults = append(faults, err)
			return
		}
		closed++
	}
	for _, path := range []string{dir, filepath.Join(dir, storeName), filepath.Join(dir, tempName), filepath.Join(dir, identityName), filepath.Join(dir, membershipName)} {
		info, err := os.Lstat(path)
		switch {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			faults = append(faults, err)
		case path == dir && passable:
			limit(path, info, passableDir)
		case info.IsDir():
			limit(path, info, privateDir)
		default:
			limit(path, info, privateFile)
		}
	}
	entries, err := os.ReadDir(filepath.Join(dir, storeName))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		faults = append(faults, err)
	}
	for _, entry := range entries {
		if info, err := entry.Info(); err == nil { // otherwise it is gone
			mode := fs.FileMode(privateFile)
			if info.IsDir() {
				mode = privateDir
			}
			limit(filepath.Join(dir, storeName, entry.Name()), info, mode)
		}
	}
	return closed, errors.Join(faults...)
}

// within tells whether a path is below a directory.
func within(dir, path string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}
