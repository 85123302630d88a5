//go:build !linux

package wal

import "errors"

// dataSyncer is available on Linux only.
type dataSyncer struct{}

func (s *dataSyncer) open() error { return errors.New("wal: no asynchronous sync on this system") }

func (s *dataSyncer) sync(uintptr) (done bool, err error) { return false, nil }

func (s *dataSyncer) write(uintptr, []byte, int64) (n int, done bool, err error) {
	return 0, false, nil
}

func (s *dataSyncer) close() {}

func setDirect(uintptr, bool) error { return errors.New("wal: no direct writes on this system") }

func directWrite(uintptr, []byte, int64, bool) (int, error) { panic("wal: no direct writes") }
