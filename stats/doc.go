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
//   - bounds: the sample's values at equal steps of rank, so that as many rows lie between any two.
//   - common values: those that the sample has far more often than an average one, with their parts of the rows.
//   - histogram: what ANALYZE TABLE … UPDATE HISTOGRAM makes of a column, value by value or in buckets, as MySQL does it (histogram.go). It is
//     asked before what the sample says.
//   - NDV: the number of distinct values of the leading columns of an index, estimated from the sample with the estimator of Haas and Stokes
//     (Charikar et al., PODS 2000): √(N/n)·f1 + the values seen more than once.
//   - count: the rows of a table that nobody has analysed: exact for a small one, else by what a look at its beginning and the engine's sizes say.
//
// # Freshness
//
// Sessions tell how many rows of a table they have written (Changed). After autoRows and a fifth of what it had, the goroutine of Start analyses
// the table again, one at a time, resting nine times as long as it worked; cached plans over it are dropped then. STATS_AUTO_RECALC=0 of a
// table keeps it as ANALYZE TABLE left it. Counts are not stored: they are made when a plan asks for them, and again after as many changes, whatever
// STATS_AUTO_RECALC says, because a plan for three rows must not be used for three million. Histograms stay as they are, but for those made with AUTO UPDATE.
//
// # Invariants
//
//  1. Statistics never decide what a statement returns, only how; wrong ones cost time.
//  2. A table without statistics is estimated by its count alone, and an unknown answer is said to be unknown.
//  3. The cache is bounded by the catalog: statistics of a table that is gone are dropped with its data, and histograms of columns that are gone,
//     have become others, or that MODIFY, CHANGE or CONVERT TO defines again as they were, with the change.
//
// # Absent on purpose
//
// There are no multi-column histograms.
package stats
