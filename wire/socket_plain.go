// The race detector takes what one goroutine writes and another reads for an order between them, which raw calls would hide from it.

//go:build !linux || race

package wire

import "syscall"

func rawRead(fd uintptr, b []byte) (int, error) { return syscall.Read(int(fd), b) }

func rawWrite(fd uintptr, b []byte) (int, error) { return syscall.Write(int(fd), b) }

func rawYield() bool { return false }
