// Package tests drives the real binary over real sockets with real clients: sysbench, the mariadb client and Go's drivers.
//
// TestMain builds bin/pando once into a temporary directory. Each test starts its own node on free loopback ports and its own data
// directory, and ends it by process id. Invariants that the tests defend:
//
//  1. Every script of sysbench 1.0.20 runs in both statement modes, and the tables are right afterwards: row counts, sum of k, index equals table.
//  2. What was acknowledged survives kill -9, whenever it comes.
//  3. Nothing that a client sends ends the server, or takes memory or time from the others: TestBombs runs it in a memory cgroup where the machine has one.
//
// badfs below is a file system that misbehaves on command, for the directories of nodes. What a program of another build is needed for, such as one with a wrong clock or
// an older cluster version, is built with some files replaced (overlay_linux_test.go).
//
// Tests that need minutes run only with PANDO_SLOW=1.
package tests
