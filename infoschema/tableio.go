package infoschema

import (
	"strings"

	"github.com/pandodb/pando/catalog"
	"github.com/pandodb/pando/exec"
)

// usesMax is performance_schema_max_metadata_locks: how many uses of tables are listed.
const usesMax = 10_000

// IOKey names what rows are counted for: a table, and the index that found them, 0 for none, by their ids.
type IOKey struct{ Table, Index uint64 }

// RowCounts are rows that statements have read and written, by exec.AccessKind.
type RowCounts [exec.AccessKinds]uint64

func (c *RowCounts) add(o RowCounts) {
	for i, n := range o {
		c[i] += n
	}
}

// columns are the counts under their names in performance_schema. Nothing takes the time of single rows.
func (c *RowCounts) columns() []any {
	written := c[exec.AccessInsert] + c[exec.AccessUpdate] + c[exec.AccessDelete]
	return []any{"COUNT_STAR", c[exec.AccessFetch] + written, "COUNT_READ", c[exec.AccessFetch], "COUNT_WRITE", written, "COUNT_FETCH", c[exec.AccessFetch],
		"COUNT_INSERT", c[exec.AccessInsert], "COUNT_UPDATE", c[exec.AccessUpdate], "COUNT_DELETE", c[exec.AccessDelete]}
}

func tableIOByTable(q *query) error {
	all := q.TableIO()
	return q.eachTable(func(t *catalog.Table) error {
		if t.View != nil {
			return nil
		}
		sum := all[IOKey{Table: t.ID}]
		for _, index := range t.Indexes {
			sum.add(all[IOKey{t.ID, index.ID}])
		}
		return q.emitNamed(append([]any{"OBJECT_TYPE", "TABLE", "OBJECT_SCHEMA", t.Schema, "OBJECT_NAME", t.Name}, sum.columns()...)...)
	})
}

// tableIOByIndex has a row for each index, and one without an index for rows that scans of the whole table have read and INSERT has stored.
func tableIOByIndex(q *query) error {
	all := q.TableIO()
	return q.eachTable(func(t *catalog.Table) error {
		if t.View != nil {
			return nil
		}
		row := func(index any, counts RowCounts) error {
			return q.emitNamed(append([]any{"OBJECT_TYPE", "TABLE", "OBJECT_SCHEMA", t.Schema, "OBJECT_NAME", t.Name, "INDEX_NAME", index}, counts.columns()...)...)
		}
		for _, index := range t.Indexes {
			if index.State != catalog.StatePublic {
				continue
			}
			if err := row(index.Name, all[IOKey{t.ID, index.ID}]); err != nil {
				return err
			}
		}
		return row(nil, all[IOKey{Table: t.ID}])
	})
}

// metadataLocks lists who uses tables: what keeps schema changes and LOCK TABLES waiting, or waits for them.
func metadataLocks(q *query) error {
	for i, u := range q.TableUses(usesMax) {
		if !q.Visible(u.Table.Schema, u.Table.Name) {
			continue
		}
		kind, status := "SHARED_READ", "GRANTED"
		switch {
		case u.Whole && u.Owner == 0:
			kind = "EXCLUSIVE"
		case u.Whole && u.Write:
			kind = "SHARED_NO_READ_WRITE"
		case u.Whole:
			kind = "SHARED_READ_ONLY"
		case u.Write:
			kind = "SHARED_WRITE"
		}
		if u.Waiting {
			status = "PENDING"
		}
		var owner any
		if u.Owner != 0 {
			owner = u.Owner
		}
		err := q.emitNamed("OBJECT_TYPE", "TABLE", "OBJECT_SCHEMA", u.Table.Schema, "OBJECT_NAME", u.Table.Name, "OBJECT_INSTANCE_BEGIN", i+1, "LOCK_TYPE", kind,
			"LOCK_DURATION", "TRANSACTION", "LOCK_STATUS", status, "OWNER_THREAD_ID", owner)
		if err != nil {
			return err
		}
	}
	return nil
}

// ioSources are the tables about the use of tables, and the views of sys over them.
func ioSources() map[string]source {
	// None is found by a name: these columns compare names without regard to case, and the catalog does not.
	return map[string]source{
		"table_io_waits_summary_by_table":       filled(tableIOByTable),
		"table_io_waits_summary_by_index_usage": filled(tableIOByIndex),
		"metadata_locks":                        filled(metadataLocks),
	}
}

// latencies adds the time behind each count of a list of columns: nothing takes it.
func latencies(columns ...string) string {
	var list []string
	for _, c := range columns {
		list = append(list, "COUNT_"+c, "FORMAT_PICO_TIME(SUM_TIMER_"+c+")")
	}
	return strings.Join(list, ", ")
}

const byIndexUsage = " FROM performance_schema.table_io_waits_summary_by_index_usage "

func ioViews() map[string]source {
	return map[string]source{
		"schema_table_statistics": {view: "SELECT OBJECT_SCHEMA, OBJECT_NAME, FORMAT_PICO_TIME(SUM_TIMER_WAIT), " + latencies("FETCH", "INSERT", "UPDATE", "DELETE") +
			", NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL FROM performance_schema.table_io_waits_summary_by_table ORDER BY COUNT_STAR DESC"},
		"schema_index_statistics": {view: "SELECT OBJECT_SCHEMA, OBJECT_NAME, INDEX_NAME, " + latencies("FETCH", "INSERT", "UPDATE", "DELETE") + byIndexUsage +
			"WHERE INDEX_NAME IS NOT NULL ORDER BY COUNT_STAR DESC"},
		"schema_tables_with_full_table_scans": {view: "SELECT OBJECT_SCHEMA, OBJECT_NAME, COUNT_READ, FORMAT_PICO_TIME(SUM_TIMER_WAIT)" + byIndexUsage +
			"WHERE INDEX_NAME IS NULL AND COUNT_READ > 0 ORDER BY COUNT_READ DESC"},
		"schema_unused_indexes": {view: `SELECT t.OBJECT_SCHEMA, t.OBJECT_NAME, t.INDEX_NAME FROM performance_schema.table_io_waits_summary_by_index_usage t
	JOIN information_schema.STATISTICS s ON t.OBJECT_SCHEMA = s.TABLE_SCHEMA AND t.OBJECT_NAME = s.TABLE_NAME AND t.INDEX_NAME = s.INDEX_NAME
	WHERE t.COUNT_STAR = 0 AND t.OBJECT_SCHEMA <> 'mysql' AND t.INDEX_NAME <> 'PRIMARY' AND s.NON_UNIQUE = 1 AND s.SEQ_IN_INDEX = 1 ORDER BY t.OBJECT_SCHEMA, t.OBJECT_NAME`},
	}
}
