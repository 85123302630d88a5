package server

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/pandodb/pando/exec"
	"github.com/pandodb/pando/session"
	"github.com/pandodb/pando/types"
)

const (
	// MySQL's numbers of errors of files: EE_STAT, EE_CANTCREATEFILE, EE_FILENOTFOUND and EE_WRITE.
	eeStat       = 13
	eeCantCreate = 1
	eeNotFound   = 29
	eeWrite      = 3
	// outFileMode is the mode of files that statements write, as in MySQL.
	outFileMode = 0o640
)

// secureFiles opens files for statements: those whose real paths, with all symbolic links followed, are in one directory, or anywhere, but
// never files in the data directory. A file below the directory is opened by os.Root, so that a link which is made between the check and
// the opening cannot lead out of it.
type secureFiles struct {
	dir     string // real path; empty for anywhere
	root    *os.Root
	dataDir string // real path
}

// openSecureFiles returns the session.Files for a value of secure_file_priv, nil if it forbids files.
func openSecureFiles(priv, dataDir string) (session.Files, error) {
	if priv == session.NoFiles {
		return nil, nil
	}
	own, err := filepath.Abs(dataDir)
	if err == nil {
		own, err = filepath.EvalSymlinks(own)
	}
	if err != nil {
		return nil, fmt.Errorf("data-dir: %w", err)
	}
	s := &secureFiles{dataDir: own}
	if priv == "" {
		return s, nil
	}
	if s.dir, err = filepath.EvalSymlinks(priv); err != nil {
		return nil, fmt.Errorf("secure-file-priv: %w", err)
	}
	if s.root, err = os.OpenRoot(s.dir); err != nil {
		return nil, fmt.Errorf("secure-file-priv: %w", err)
	}
	return s, nil
}

// allowed refuses a real path that statements may not use. Relative paths, which in MySQL are in the data directory, are refused.
func (s *secureFiles) allowed(path string) error {
	if !filepath.IsAbs(path) || within(s.dataDir, path) || s.dir != "" && !within(s.dir, path) {
		return types.Errorf(types.ErOptionPreventsStatement, "--secure-file-priv")
	}
	return nil
}

// open opens a real path that is allowed.
func (s *secureFiles) open(real string, flags int, mode os.FileMode) (*os.File, error) {
	flags |= syscall.O_NONBLOCK | syscall.O_NOFOLLOW // opening a FIFO without a writer would block; the caller checks the type afterwards
	if s.root == nil {
		return os.OpenFile(real, flags, mode)
	}
	rel, err := filepath.Rel(s.dir, real)
	if err != nil {
		return nil, err
	}
	return s.root.OpenFile(rel, flags, mode)
}

// Open implements session.Files.
func (s *secureFiles) Open(path string) (io.ReadCloser, error) {
	if !filepath.IsAbs(path) {
		return nil, s.allowed(path)
	}
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		if lost := s.allowed(existing(path)); lost != nil {
			return nil, lost // does not reveal whether a file outside exists
		}
		return nil, types.NewError(eeStat, fmt.Sprintf("Can't get stat of '%s' (OS errno %s)", path, osError(err)))
	}
	if err := s.allowed(real); err != nil {
		return nil, err
	}
	file, err := s.open(real, os.O_RDONLY, 0)
	if err != nil {
		return nil, types.NewError(eeNotFound, fmt.Sprintf("File '%s' not found (OS errno %s)", path, osError(err)))
	}
	if info, err := file.Stat(); err != nil || !info.Mode().IsRegular() {
		file.Close()
		return nil, types.Errorf(types.ErTextFileNotReadable, path)
	}
	return file, nil
}

// existing returns the real path of a file that need not exist, or the path itself if its directory cannot be resolved.
func existing(path string) string {
	path = filepath.Clean(path)
	dir, err := resolve(filepath.Dir(path))
	if err != nil {
		return path
	}
	return filepath.Join(dir, filepath.Base(path))
}

// osError formats an error of the operating system as MySQL does.
func osError(err error) string {
	var number syscall.Errno
	if !errors.As(err, &number) {
		if errors.Is(err, fs.ErrNotExist) {
			number = syscall.ENOENT
		} else {
			number = syscall.EACCES
		}
	}
	text := number.Error()
	return fmt.Sprintf("%d - %s", int(number), strings.ToUpper(text[:1])+text[1:])
}

// Create implements session.Files.
func (s *secureFiles) Create(path string) (exec.NewFile, error) {
	if !filepath.IsAbs(path) {
		return nil, s.allowed(path)
	}
	real := existing(path)
	if err := s.allowed(real); err != nil {
		return nil, err
	}
	if _, err := os.Lstat(path); err == nil {
		return nil, types.Errorf(types.ErFileExists, path)
	}
	file, err := s.open(real, os.O_WRONLY|os.O_CREATE|os.O_EXCL, outFileMode)
	if errors.Is(err, fs.ErrExist) {
		return nil, types.Errorf(types.ErFileExists, path)
	}
	if err != nil {
		return nil, types.NewError(eeCantCreate, fmt.Sprintf("Can't create/write to file '%s' (OS errno %s)", path, osError(err)))
	}
	f := &newFile{File: file, owner: s, real: real}
	if err := file.Chmod(outFileMode); err != nil { // because of the umask of KeepPrivate
		f.Abort()
		return nil, types.NewError(eeCantCreate, fmt.Sprintf("Can't create/write to file '%s' (OS errno %s)", path, osError(err)))
	}
	return f, nil
}

// newFile is a file that a statement writes.
type newFile struct {
	*os.File
	owner *secureFiles
	real  string
}

// Write implements io.Writer with the error that the client sees.
func (f *newFile) Write(b []byte) (int, error) {
	n, err := f.File.Write(b)
	if err != nil {
		err = types.NewError(eeWrite, fmt.Sprintf("Error writing file '%s' (OS errno %s)", f.real, osError(err)))
	}
	return n, err
}

// Abort implements exec.NewFile. It removes the file: half of it could be mistaken for the whole.
func (f *newFile) Abort() {
	f.Close()
	if f.owner.root == nil {
		_ = os.Remove(f.real) // if that fails it stays, as MySQL's does
	} else if rel, err := filepath.Rel(f.owner.dir, f.real); err == nil {
		_ = f.owner.root.Remove(rel)
	}
}
