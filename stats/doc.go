// Package stats keeps the statistics of tables that ANALYZE TABLE collects, and makes the optimizer's estimates from them.
//
// # Place
//
// session runs ANALYZE through it; plan asks it, through plan.Statistics, for row counts, numbers of distinct values and the share of rows
// within an interval. Statistics are records in the key space, cached whole in memory.
//
// # Terms
//
//   - sample: what statistics need of up to sampleRows rows chosen at random in a full scan (reservoir sampling, Vitter's algorithm R): the
//     first bytes of each key, and hashes of the keys of indexes.
//   - bounds: the sample's values at equal steps of rank, so that about as many rows lie between any two neighbours (equi-depth histogram).
//   - common values: those that the sample has far more often than an average one, with their fractions of the rows.
//   - histogram: what ANALYZE TABLE … UPDATE HISTOGRAM makes of a column, one bucket for each value or for several, as in MySQL (histogram.go).
//     Estimates prefer it to the sample.
//   - NDV: the number of distinct values of the leading columns of an index, estimated from the sample with the estimator Duj1 of Haas and Stokes
//     (sampler.estimated).
//   - count: the rows of a table without statistics: exact for a small one, else estimated from its beginning and the engine's sizes.
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
//  2. A table without statistics is estimated by its count alone; estimates that need more return that they are unknown.
//  3. The cache is bounded by the catalog: statistics of a dropped table are deleted with its data. Histograms are deleted by the ALTER TABLE that
//     drops or changes their columns, or names them in MODIFY, CHANGE or CONVERT TO without a change.
//
// # Absent on purpose
//
// There are no multi-column histograms.
package stats
