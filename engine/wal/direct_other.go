//go:build !linux

package wal

import "errors"

func setDirect(uintptr, bool) error { return errors.New("wal: no direct writes on this system") }

func dropCached(uintptr) {}

func directWrite(uintptr, []byte, int64, bool) (int, error) { return 0, errors.ErrUnsupported }
