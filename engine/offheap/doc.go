// Package offheap allocates memory outside of Go's heap, which the garbage collector does not see: for the blocks of the engine's cache,
// for the buffers that they are read into, and for memtables.
//
// A lookup that misses the cache evicts a block, and drops the compressed form of the one that it has read. On Go's heap both are
// garbage: with data of five times the cache the collector ran ten times a second, for a quarter of the processor time, and a fifth of
// the cache's size had to be kept free for it (docs/design/0009-memory-outside.md). Here they are freed and reused explicitly.
//
// Pebble uses this memory if it is built with scripts/pebble.sh, as the Makefile does. Otherwise Pebble uses Go's heap. If the system
// refuses such memory New returns memory on Go's heap, which Free recognises.
//
// # Layout
//
// The arena is a range of addresses, reserved once for the process and not backed by memory at first. It is divided into chunks of
// chunkBytes. A chunk has slots of one size class, or is unused. An allocation of more than slotMax is mapped separately.
//
//	slot in use     its owner's
//	slot free       8 address of the next free slot of the chunk, 0: none | undefined
//
// There are classesPerDouble classes between each power of two and the next, so a slot is at most an eighth larger than what is asked
// for, and 64 bytes at least.
//
// A chunk whose last slot is freed becomes unused, and any class may take it. At most idleMax unused chunks keep their memory; that of
// others is returned to the system.
//
// # Locks
//
// class.mu guards a class and the headers of its chunks; arena.mu guards the lists of unused chunks. A class's lock is taken before the
// arena's. Nobody holds the locks of two classes.
package offheap
