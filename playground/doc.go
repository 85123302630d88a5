// Package playground runs a cluster of several nodes on one machine, to try things out: pando playground.
//
// Place: an instrument over the program and its sockets. It knows the flags of `pando start`, the status port and two statements, and nothing
// of the packages behind them.
//
// # Files in its directory
//
//	playground.json   the nodes with their ports and processes; written whenever all of them are ready, read to start them again,
//	                  when it becomes playground.json.before until they are ready
//	node1, node2, …   their data directories
//	node1.log, …      what they log
//	haproxy.cfg       with --haproxy: a configuration that spreads clients over the nodes
//
// # Goroutines
//
// One for each process waits for its end; Run ends all of them before it returns.
package playground
