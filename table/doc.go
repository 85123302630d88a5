// Package table turns rows into keys and values and back: rows, index entries,
// spans, uniqueness, index maintenance, AUTO_INCREMENT.
//
// Place: above catalog and txn, below ddl and exec. It knows descriptors and
// values, no expressions and no plans.
//
// # Terms
//
//	ordinal     a column's position in catalog.Table.Columns
//	row id      the hidden key of a table without a primary key; ordinal Table.RowIDOrdinal
//	full row    the values of all columns by ordinal, and the row id if there is one
//	stored form a column's bytes inside a row (types.AppendStored)
//	original    a column's stored form inside an index value, kept because the
//	            key holds something it can't be recovered from (a sort key)
//	layout      a generation of rows: which columns they hold, in which order
//
// # Keys
//
//	t<physID>r <pk columns | row id>            a row
//	t<physID>i<indexID> <columns>               an entry of a unique index, no column NULL
//	t<physID>i<indexID> <columns> <pk columns>  any other entry
//
// Columns are encoded by types.AppendKey; a row id is a BIGINT UNSIGNED column.
//
// # Row value
//
//	bytes          content
//	1              bits 0-3: format 1, or 2 if columns are packed, 3 and 4 alike if a JSON
//	               document may have marks (package types); bit 4: null bitmap present;
//	               bits 5-6: offset width 1, 2, 4 as 0, 1, 2
//	1..5           layout version, uvarint
//	1..5           formats 2, 4: number of the dictionary, uvarint
//	(n+7)/8        formats 2, 4: packing bitmap, bit i%8 of byte i/8: column i of the layout is packed
//	(n+7)/8 or 0   null bitmap, alike: column i is NULL; n columns in the layout
//	n × width      end of each column, little endian, counted from the first value byte; NULL: empty
//	rest           stored forms, in layout order; of packed columns their packed form (package fsst)
//
// Strings of minPackLen bytes and more are packed, each by itself, by the newest
// of the table's dictionaries if that saves minPackGain bytes. Readers look up
// the dictionary that the row names (catalog.Dictionaries).
//
// A layout holds every column but virtual generated ones and the primary key
// columns that the key gives back (types.KeyRecoverable). A stored generated
// column is a column like any other. A virtual one is computed of the others by
// whoever reads it (virtual.go); only index entries hold its value. A column that
// a row's layout lacks has the column's original default.
//
// # Index value
//
//	bytes          content
//	1              bits 0-3: format 1; bit 4: primary key present; bit 5: originals present
//	uvarint, pk    length and key bytes of the primary key, if the entry's key lacks it
//	per original   uvarint: 0 NULL, else length + 1; stored form
//
// Originals are, in order, the index columns and then the primary key columns
// that are not recoverable from either key part, each once. Columns indexed by
// a prefix have no original: such an index does not cover them (Covers).
//
// # Counters
//
// Each AUTO_INCREMENT column and each row id has a durable counter (kind 'a',
// parts physical id and column id, 0 for row ids, and behind them 4 bytes of the
// descriptor's Counting unless that is 0): the first id that may not
// have been handed out. A clean shutdown adds a record (kind 'e', same parts):
// format byte 1, the counter, the exact next id, both 8 bytes big endian. The
// record counts only while the counter is still what it names, and not beside
// the largest one; for that the counter may rise above the column's range. Both
// are dropped with the data of the physical id, which no other table ever gets.
//
// # Invariants
//
//	R1. A column is found by two offset reads, whatever the others are.
//	R2. Readers accept every layout in the descriptor and refuse others.
//	W1. The pk key and every unique entry, old and new, are locked exclusively
//	    before they are written; other entries are covered by their row's lock.
//	W2. Insert checks everything before it writes anything.
//	W3. A delete-only index loses the entries of changed rows and gains none; a
//	    write-only index is maintained like a public one.
//	W4. A row that does not change in stored form is not written, and only
//	    indexes that name a changed column (or every one, if the row moves) are.
//	W5. Rows are compared and copied to the caller in stored form, never in packed
//	    form: nobody above this package can tell how a row was packed.
//	V1. The values of virtual columns in index entries are always computed by
//	    catalog.Computer, both when an entry is written and when it is removed: never by
//	    a session, whose sql_mode and time zone could change them.
//	F1. An entry of a foreign key's index is written only under a lock of its parent's
//	    key (the unique entry referred to, or the row): so whoever holds that key
//	    exclusively finds all children (Finder). LockKept holds it until the transaction's end.
//	A1. Ids are handed out in ascending order, never twice, not even after a
//	    crash: the durable counter is above an id, or raised by the commit of its row.
//	    CheckCounter finds rows that violate this.
//	A2. A counter never wraps: past the end of the range it repeats the largest
//	    id, for the unique key to refuse, or fails with 1467.
//
// # Goroutines
//
// None.
//
// # Absent on purpose
//
// Conversion and defaults of values, actions of foreign keys, the values of
// stored generated columns (exec), partitions, statistics.
package table
