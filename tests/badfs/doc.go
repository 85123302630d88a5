// Package badfs is a file system for tests that lies in front of a directory and misbehaves on command: it answers errors to reads, writes and syncs
// of files that match, makes them wait, flips a bit in what passes, or is full. What it is asked for by a process comes from the real kernel, so that
// page cache, O_DIRECT, asynchronous I/O, locks and hard links are those of a real disk's file system.
//
// Place: beside the stack, for package tests alone. It is the only one that imports go-fuse, a library for FUSE.
//
// Terms:
//   - A rule: which operations of which files it meets, and what happens then. All rules that are set are looked at, in their order; each
//     that meets an operation does what it says, until one answers an error.
//   - The server: the process that answers the kernel. It is the test's own program, started once more (Serve): a process that starts others, as a test
//     does, must not wait for a file system that it serves itself.
//
// Invariants:
//  1. Without rules it is the directory behind it.
//  2. When the test's process ends, however that ends, the server unmounts the file system and ends: its standard input ends.
//  3. Hits tells how often a rule has met an operation, so that a test which expects a fault can demand that it happened.
//
// It needs Linux, /dev/fuse and root; Mount skips the test elsewhere and says so.
package badfs
