// Package status is the vocabulary in which every other package counts: counters, gauges, histograms, and the registry that
// shows them.
//
// A package keeps its metrics as plain fields of its own struct and registers them under a name when server assembles the
// node. There is no global registry, so two nodes in one test do not mix, and a metric that nobody registers still works.
//
// # Terms
//
//   - Counter: only grows. Gauge: goes both ways. Histogram: counts observations in fixed buckets.
//   - Family: all metrics of one name; labels tell its members apart.
//
// # Invariants
//
//  1. The zero value of Counter, Gauge and Histogram is ready. Add, Set and Observe take no lock and allocate nothing.
//  2. A histogram's buckets are fixed: two per power of two, from 1 to 2^40, so that histograms of different nodes add up.
//     Observations are integers in the metric's own unit; durations are nanoseconds and shown as seconds.
//  3. Reading a metric while it is written gives some recent value; sum and count of a histogram may differ by observations
//     in flight.
//  4. Names are checked when they are registered; registering a bad or taken name is an error, never a panic.
//
// # Absent on purpose
//
// The HTTP port (server) and summaries with quantiles computed in the process: Prometheus computes them from buckets.
package status
