// Package offheap allocates memory that Go's collector does not know: for the blocks of the engine's cache, for the buffers that they
// are read into, and for memtables.
//
// A lookup that misses the cache leaves a block behind, and the compressed form of the one that it has read. On Go's heap both are
// garbage: with data of five times the cache the collector ran ten times a second, for a quarter of the processor time, and a fifth of
// the cache's size had to be kept free for it (docs/design/0009-memory-outside.md). Here they are freed and taken again.
//
// Pebble takes this memory where it is built with scripts/pebble.sh, as the Makefile does. Without that, and where the system has no
// such memory, it stays with Go's heap, and so does New here: Free knows which is which.
//
// # Layout
//
// The arena is a range of addresses, reserved once for the process and not backed by memory. It is divided into chunks of chunkBytes.
// A chunk has slots of one size class, or is in nobody's use. What is larger than slotMax is mapped by itself.
//
//	slot in use     its owner's
//	slot free       8 address of the next free slot of the chunk, 0: none | undefined
//
// There are classesPerDouble classes between each power of two and the next, so a slot is at most an eighth larger than what is asked
// for, and 64 bytes at least.
//
// A chunk whose last slot is freed is given to the class that wants one next. Of these, idleMax keep their memory; that of the others
// returns to the system.
//
// # Locks
//
// class.mu guards a class and the headers of its chunks; arena.mu guards the chunks in nobody's use. A class's is taken before the
// arena's. Nobody holds two classes' locks.
package offheap
