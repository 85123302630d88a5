//go:build !linux

package engine

import "errors"

// readNoWait needs Linux.
func readNoWait(uintptr, []byte, int64) (n int, wait bool, err error) {
	return 0, false, errors.ErrUnsupported
}

// pagesCached needs Linux.
func pagesCached(uintptr, int64, int) (bool, error) { return false, errors.ErrUnsupported }

func openDirect(uintptr) (past uintptr, unit int64) { return 0, 0 }

func closeDirect(uintptr) error { return nil }
