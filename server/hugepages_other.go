//go:build !linux

package server

import "errors"

func adviseHugePages(int64) error { return errors.New("not on this system") }
