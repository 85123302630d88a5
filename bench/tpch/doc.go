// Package tpch is the workload of TPC-H (revision 3.0.1) over the MySQL protocol: its eight tables, filled by rules of clause 4.2.3, and its
// 22 queries with their validation parameters. Package bench measures servers with it and compares their answers; tests run it at small scales.
//
// It is no audited TPC-H. The generator is our own: it has the standard's row counts, keys, domains and the distributions that its queries
// select by, but not the bytes of the standard's program, so that its answers can't be compared with published ones, only with those of another
// server that holds the same rows.
//
// # Terms
//
//   - Scale factor: 1 has six million lines of orders, about a gigabyte of text. It may be a fraction.
//   - Answer: the rows of a query in a form that is the same for all servers that are right. See Answer.
//
// # Invariants
//
//  1. The same seed and scale factor load the same rows, whatever the server.
//  2. A query's ORDER BY may leave ties; an answer is a set of rows.
//
// # Absent on purpose
//
// The refresh functions, streams of several users, foreign keys, and other parameters than those of validation.
package tpch
