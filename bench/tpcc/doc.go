// Package tpcc is the workload of TPC-C (revision 5.11) over the MySQL protocol: its nine tables, its five transactions in their mix, and its
// consistency conditions. Package bench measures servers with it; tests check a server with it.
//
// It is no audited TPC-C, and its rate is comparable with no published one: clients type nothing and think of nothing, so that a few of them
// keep a server busy, and each transaction takes a warehouse at random. The rate is tpmC, the committed New-Order transactions of a minute.
//
// # Terms
//
//   - Scale: how large the tables are. Full is the standard's for each warehouse; smaller ones are for tests.
//   - Mode: prepared statements, or text with the values in it.
//   - Retry: a transaction that the server has refused for reasons of concurrency begins anew. Its latency counts from its first begin.
//
// # Invariants
//
//  1. The same seed loads the same rows, whatever the server.
//  2. Conditions 1 to 12 of clause 3.3.2 hold after the load and after each run; Check says which don't.
//
// # Absent on purpose
//
// Terminals, keying and think times, the deferred queue of Delivery (a delivery is one transaction over all districts of a warehouse, as in
// other tools of this kind), foreign keys, and the deletion of what old orders leave behind.
package tpcc
