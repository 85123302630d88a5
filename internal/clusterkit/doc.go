// Package clusterkit makes stores whose regions have Raft logs, for tests of what stands above: one alone (Kit), or several of one cluster
// over a network that loses, repeats and cuts (Nodes, Net).
//
// Place: beside internal/testkit, which knows less of the product.
//
// Invariants:
//
//  1. Nodes do of elections what the server does, and no more: TakeOver where region 0 is led, StepDown where it was lost.
//  2. A node that loses its power sends nothing from that moment on, and what it writes does not count.
//  3. A kit is closed before its store, and reports the first failure of its groups then.
//
// Absent on purpose, in a Kit: the switch of a store with data, and region 0; timestamps come from a counter that starts at the clock.
package clusterkit
