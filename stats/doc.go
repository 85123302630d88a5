// Package stats holds what ANALYZE TABLE learns about tables and answers the optimizer's questions from it.
//
// # Place
//
// session runs ANALYZE through it; plan asks it, through plan.Statistics, for row counts, numbers of distinct values and the share of rows
// within an interval. Statistics are records in the key space, cached whole in memory.
//
// # Terms
//
//   - sample: what statistics need of up to sampleRows rows drawn evenly from a full scan (reservoir sampling, Vitter's algorithm R): the
//     first bytes of each key, and hashes of the keys of indexes.
//   - histogram: the sample's values at equal steps of rank, so that each bucket holds as many rows as any other.
//   - NDV: the number of distinct values of the leading columns of an index, estimated from the sample with the GEE estimator
//     (Charikar et al., PODS 2000): √(N/n)·f1 + the values seen more than once.
//
// # Freshness
//
// Sessions tell how many rows of a table they have written (Changed). After autoRows and a fifth of what it had, the goroutine of Start analyses
// the table again, one at a time, resting nine times as long as it worked; cached plans over it are dropped then. STATS_AUTO_RECALC=0 of a
// table keeps it as ANALYZE TABLE left it.
//
// # Invariants
//
//  1. Statistics never decide what a statement returns, only how; wrong ones cost time.
//  2. A table without statistics is estimated from its counters alone, and an unknown answer is said to be unknown.
//  3. The cache is bounded by the catalog: statistics of a table that is gone are dropped with its data.
//
// # Absent on purpose
//
// There are no multi-column histograms, and no lists of the most common values.
package stats
