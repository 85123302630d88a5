//go:build !linux

package engine

import "errors"

// readNoWait needs Linux.
func readNoWait(uintptr, []byte, int64) (n int, wait bool, err error) {
	return 0, false, errors.ErrUnsupported
}
