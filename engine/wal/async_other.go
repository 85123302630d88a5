//go:build !linux

package wal

import "errors"

// asyncWriter is available on Linux only, and so are direct writes.
type asyncWriter struct{}

func (a *asyncWriter) open() error { return errors.New("wal: no asynchronous writes on this system") }

func (a *asyncWriter) write(uintptr, []byte, int64) (n int, done bool, err error) {
	return 0, false, nil
}

func (a *asyncWriter) close() {}

func setDirect(uintptr, bool) error { return errors.New("wal: no direct writes on this system") }

func directAlign(uintptr) int { return 0 }

func dropCached(uintptr) {}

func directWrite(uintptr, []byte, int64, bool) (int, error) { return 0, errors.ErrUnsupported }
