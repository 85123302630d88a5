//go:build !linux

package wal

import "errors"

// dataSyncer is available on Linux only.
type dataSyncer struct{}

func (s *dataSyncer) open() error { return errors.New("wal: no asynchronous sync on this system") }

func (s *dataSyncer) sync(uintptr) (done bool, err error) { return false, nil }

func (s *dataSyncer) close() {}
