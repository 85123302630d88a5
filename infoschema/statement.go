package infoschema

import (
	"encoding/hex"
	"time"

	"github.com/pandodb/pando/exec"
)

// StatementDigest are the executions of the statements with one digest.
type StatementDigest struct {
	// Known is false for the statements that there was no room for, which are counted together.
	Known        bool
	Schema, Text string
	Hash         [32]byte
	Count        uint64
	Took         time.Duration // together
	// Shortest and Longest are of one execution, Quantiles what 95, 99 and 99.9 of 100 did not exceed.
	Shortest, Longest time.Duration
	Quantiles         [3]time.Duration
	// Errors counts executions that failed; Warnings, Affected and Sent are of all.
	Errors, Warnings, Affected, Sent uint64
	// Examined are the rows that were read from tables, Sorted those that came out of sorts.
	Examined, Sorted, MergePasses, TmpDiskTables uint64
	MemoryMax                                    int64 // of one execution
	First, Last                                  time.Time
	// Profile are the figures of exec.Profile.
	Profile [len(exec.Profile{})]uint64
	// Sample is a statement that the digest is of, planned at SampleSeen; the first execution took SampleTook.
	Sample     string
	SampleSeen time.Time
	SampleTook time.Duration
}

// picoseconds is how performance_schema tells times.
func picoseconds(d time.Duration) uint64 { return uint64(max(d, 0)) * 1000 }

func statementDigests(q *query) error {
	for _, d := range q.Digests() {
		var schema, hash, text, sample any
		if d.Known {
			schema, hash, text, sample = orNull(d.Schema), hex.EncodeToString(d.Hash[:]), d.Text, d.Sample
		}
		err := q.emitNamed("SCHEMA_NAME", schema, "DIGEST", hash, "DIGEST_TEXT", text, "COUNT_STAR", d.Count, "SUM_TIMER_WAIT", picoseconds(d.Took),
			"MIN_TIMER_WAIT", picoseconds(d.Shortest), "AVG_TIMER_WAIT", picoseconds(d.Took)/max(d.Count, 1), "MAX_TIMER_WAIT", picoseconds(d.Longest),
			"SUM_ERRORS", d.Errors, "SUM_WARNINGS", d.Warnings, "SUM_ROWS_AFFECTED", d.Affected, "SUM_ROWS_SENT", d.Sent,
			"SUM_ROWS_EXAMINED", d.Examined, "SUM_SORT_ROWS", d.Sorted, "SUM_SORT_MERGE_PASSES", d.MergePasses,
			"SUM_CREATED_TMP_TABLES", d.Profile[exec.TmpTables], "SUM_CREATED_TMP_DISK_TABLES", d.TmpDiskTables,
			"SUM_SELECT_FULL_JOIN", d.Profile[exec.SelectFullJoin], "SUM_SELECT_FULL_RANGE_JOIN", d.Profile[exec.SelectFullRangeJoin],
			"SUM_SELECT_RANGE", d.Profile[exec.SelectRange], "SUM_SELECT_SCAN", d.Profile[exec.SelectScan], "SUM_SORT_SCAN", d.Profile[exec.SortScan], "SUM_NO_INDEX_USED", d.Profile[exec.NoIndexUsed],
			"MAX_CONTROLLED_MEMORY", d.MemoryMax, "MAX_TOTAL_MEMORY", d.MemoryMax, "FIRST_SEEN", at(d.First), "LAST_SEEN", at(d.Last),
			"QUANTILE_95", picoseconds(d.Quantiles[0]), "QUANTILE_99", picoseconds(d.Quantiles[1]), "QUANTILE_999", picoseconds(d.Quantiles[2]),
			"QUERY_SAMPLE_TEXT", sample, "QUERY_SAMPLE_SEEN", at(d.SampleSeen), "QUERY_SAMPLE_TIMER_WAIT", picoseconds(d.SampleTook))
		if err != nil {
			return err
		}
	}
	return nil
}

// summaries are the tables whose rows TRUNCATE TABLE can take away, by lower-case name. `mysqladmin flush-hosts` and refresh empty host_cache, which
// has none.
var summaries = map[string]bool{"events_statements_summary_by_digest": true, "host_cache": true}

// Truncates reports whether TRUNCATE TABLE empties a table of performance_schema.
func Truncates(table string) bool { return summaries[table] }
