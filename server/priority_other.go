//go:build !linux

package server

// lowerPriority does nothing where a thread has no priority of its own.
func lowerPriority(int) {}
