package server

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// The modes of the data directory's files and directories, which are not accessible for other users of the machine. New ones get their mode
// by the process's umask, see KeepPrivate, those of older versions by closeDir.
const (
	privateFile = 0o600
	privateDir  = 0o700
	// passableDir lets other users reach a socket in the directory, but not list it.
	passableDir = 0o711
	privateMask = 0o077
)

// KeepPrivate sets the process's umask, so that new files are not accessible for other users of the machine. The program calls it once, before
// Open.
func KeepPrivate() { syscall.Umask(privateMask) }

// closeDir removes the rights of other users from Pando's files in a data directory, and returns how many files it changed. With passable it
// lets them traverse the directory itself.
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

// within reports whether a path is a directory or below it.
func within(dir, path string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}
