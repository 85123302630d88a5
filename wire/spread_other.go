//go:build !linux

package wire

func newSpreadSystem() spreadSystem { return nil }
