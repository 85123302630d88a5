// Package bench measures a server of the MySQL protocol against others on the same machine, and says how sure it is.
//
// It is an instrument, not a part of the database: it knows its targets by their sockets, their process ids and their
// command lines, and imports nothing of the product but package clock. `pando bench` is its command line.
//
// # Terms
//
//   - Plan: a file that names tables, rows, workloads, numbers of clients, modes and demands. One exists per published report.
//   - Target: a server under test: started by the runner in a temporary directory, or given by its address. The first
//     target is the subject; every other one is a peer; the base is the peer that the demands speak of.
//   - Step: one workload in one prepared-statement mode at one thread count.
//   - Round: one run of every target at one step, back to back. The order reverses with each round (A-B, B-A, ...). Steps that
//     share tables have their first rounds in turn, then their second, and so on. Between rounds is a rest of the length of a run, so that no
//     target runs twice in a row.
//   - Run: one execution of sysbench (or of a built-in driver) against one target, with what it cost the server, which for sysbench's
//     workloads counts until somebody talks to the server again: a run pays for the flushes and compactions that it leaves behind.
//   - Ratio: the subject's rate over the peer's within one round. A step's ratio is the median over its rounds.
//   - Twin: a second server of the subject's kind and program. The ratios of the two say how much equals differ in this session (A/A).
//   - Demand: a limit on the geometric mean of a workload's ratios to the base, over its steps. It is missed beyond what equals differ by, and
//     when that shows twice: a workload that missed one is measured once more at the end, whole.
//   - Placement: which processors and which network servers and clients have. Clients are here, beside the servers, or apart.
//   - Spread: the smallest and largest ratio of a step's rounds. Noise is twice the median distance
//     of the rounds from their median.
//   - Calibration: the rate of a loopback ping-pong and of fdatasync, which tell a slow machine from a slow server.
//
// # Invariants
//
//  1. A ratio is only taken within a round, so that a machine that slows down slows both sides.
//  2. A run that failed has no figures: it appears as a failure, and its workload cannot meet a demand. Nor does what was not measured.
//  3. Both sides sync each commit to the disk and have the same cache size; the settings are part of the report.
//  4. What is written names no path, user or host of the machine.
//  5. Whatever ends a session early, the targets are stopped, their directories removed, given targets left as they were, and the runs so far kept.
//
// # Absent on purpose
//
// Means of QPS over rounds (an outlier would speak for the step). Warm-up by discarding intervals: their percentiles can't be added up.
// The server is warmed by a run of its own whose figures are thrown away.
package bench
