// Package check judges histories of transactions: given what clients did and
// saw, it names the anomalies.
//
// Place: tests of txn and above. It knows nothing of the product.
//
// Terms:
//   - A list-append history: transactions append unique values to lists and read
//     whole lists. A read tells the order of all appends before it, so the order
//     of versions needs no guessing (after Elle).
//   - A set is what satisfies a predicate: transactions add unique values to it and read
//     all that are in it. A value that a read does not find is read, too: as absent.
//   - ww, wr, rw: the second transaction overwrote the first's version, read it,
//     or overwrote what the first had read.
//
// Invariants:
//
//	C1. A reported anomaly is one: the checker infers only what follows from
//	    committed reads. It may miss anomalies that nobody observed.
//	C2. Every checker has a canary: a history that must be refused.
//
// The anomalies, after Adya and Elle:
//
//	G0           a cycle of ww
//	G1a          a read of an aborted append
//	G1b          a read that ends in an append which its writer appended to again
//	G1c          a cycle of ww and wr
//	G-single     a cycle with exactly one rw
//	G2-item      a cycle with more than one rw
//	G2           the same, where one of them is a value that a set did not have: a phantom
//	lost-update  two transactions read the same version of a key and appended to it
//	lost-append  an acknowledged append is missing from the final list
//	order        two reads disagree about the order of appends
//	stale        a read misses an append acknowledged before the read began
//
// Absent on purpose: values that leave a set, and histories larger than memory.
package check
