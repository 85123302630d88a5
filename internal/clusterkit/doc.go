// Package clusterkit makes a store whose regions have Raft logs, for tests of what stands above.
//
// Place: beside internal/testkit, which knows less of the product.
//
// Invariants:
//
//  1. A kit is closed before its store, and reports the first failure of its groups then.
//
// Absent on purpose: the switch of a store with data, and region 0. Timestamps come from a counter that starts at the clock.
package clusterkit
