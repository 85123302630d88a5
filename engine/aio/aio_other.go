//go:build !linux

package aio

import "errors"

// Queue is available on Linux only.
type Queue struct{}

// Request is available on Linux only.
type Request struct{}

// Open fails.
func Open(int) (*Queue, error) { return nil, errors.New("aio: none on this system") }

// NewRequest is not called: there is no queue.
func (*Queue) NewRequest() (*Request, error) { return nil, errors.ErrUnsupported }

// Close is not called: there is no queue.
func (*Queue) Close() {}

// Refused is not called: there is no queue.
func (*Queue) Refused() bool { return true }

// Read is not called: there is no queue.
func (*Request) Read(uintptr, []byte, int64) (n int, done bool, err error) { return 0, false, nil }

// Write is not called: there is no queue.
func (*Request) Write(uintptr, []byte, int64) (n int, done bool, err error) { return 0, false, nil }

func unit(uintptr) int { return 0 }
