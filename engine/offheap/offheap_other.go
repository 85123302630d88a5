//go:build !linux

package offheap

import "unsafe"

func mapMemory(int, int) (base, header unsafe.Pointer) { return nil, nil }
func openChunk(unsafe.Pointer) bool                    { return false }
func adviseChunk(unsafe.Pointer, bool)                 {}
func dropChunk(unsafe.Pointer)                         {}
func mapLarge(int) unsafe.Pointer                      { return nil }
func unmapLarge(unsafe.Pointer, int)                   {}
