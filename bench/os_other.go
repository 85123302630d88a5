//go:build !linux

package bench

import (
	"os"
	"syscall"
)

// serverAttributes makes a server its own process group, so that Ctrl-C reaches only the runner.
func serverAttributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

func syncData(f *os.File) error { return f.Sync() }

func fileSystem(string) string { return "unknown" }
