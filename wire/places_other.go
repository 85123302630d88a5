//go:build !linux

package wire

func newIdleClock() idleClock { return nil }
