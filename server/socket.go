package server

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"syscall"
)

// socketBytesMax is the longest path of a unix socket, without its closing NUL.
const socketBytesMax = len(syscall.RawSockaddrUnix{}.Path) - 1

// socketMode lets every user of the machine connect, as in MySQL: accounts and passwords decide who can log in. The mode of the socket's
// directory may forbid it.
const socketMode = 0o777

// socketPath is where the socket is, empty for none.
func (o *Options) socketPath() string {
	if o.Socket == "" || filepath.IsAbs(o.Socket) {
		return o.Socket
	}
	return filepath.Join(o.DataDir, o.Socket)
}

// listenSocket listens on the unix socket. A socket that an ended process has left behind is replaced; a socket on which a process listens,
// and any other file of that name, is refused.
func listenSocket(path string) (net.Listener, error) {
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return nil, fmt.Errorf("--socket: %w", err)
	case info.Mode()&fs.ModeSocket == 0:
		return nil, fmt.Errorf("--socket: %s exists and is no socket: choose another path", path)
	default:
		if c, err := net.Dial("unix", path); err == nil {
			return nil, errors.Join(fmt.Errorf("the socket %s is in use by another process: stop it, or choose another path with --socket", path), c.Close())
		} else if !errors.Is(err, syscall.ECONNREFUSED) && !errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("--socket: %w", err)
		}
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("--socket: nobody listens at it, but %w", err)
		}
	}
	l, err := net.Listen("unix", path)
	if err != nil {
		return nil, fmt.Errorf("--socket: %w", err)
	}
	if err := os.Chmod(path, socketMode); err != nil {
		return nil, errors.Join(fmt.Errorf("--socket: %w", err), l.Close())
	}
	return l, nil
}
