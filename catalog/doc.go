// Package catalog holds the schema: descriptors, their storage, and who uses them.
//
// Place: above types and txn, below expr, table and ddl. Only package ddl
// changes the schema; everybody else reads a Snapshot.
//
// # Terms
//
//	descriptor  the immutable description of one version of a database or table
//	snapshot    all current descriptors at one moment; Catalog.Current
//	use         a session's mark that its open statement or transaction depends on a table
//	gate        the mutable word that all versions of a table share: version, open or closed, guarded or not
//	guard       what keeps other sessions from writing a table: LOCK TABLES … READ
//	freeze      what keeps all sessions from writing any table and from committing writes
//	barrier     waiting until nobody uses an older version of a table
//	dictionary  a table of symbols (package fsst) by which strings in rows are packed
//	computer    what computes a table's virtual columns; package plan makes it (ComputeWith)
//	hidden      a virtual column that stands for an expression in an index, and that no statement knows of
//	lesson      an amount of written bytes after which a sample is taken for a dictionary
//
// # How a statement uses a table
//
//	for {
//		t := the table of a cached plan, or from catalog.Current()
//		switch use.Enter(t, mode) {
//		case Entered: run the statement
//		case Stale:   plan again
//		case Closed:  use.Wait(t, mode, lock_wait_timeout, interrupt), then plan again
//		case Guarded: use.EnterGuarded(t, mode) if the session may write at all
//		}
//	}
//	use.Release() // after an autocommit statement, or at the end of the transaction
//
// Entered also validates a cached plan: it means that t is the current version
// of its table. Table names that a plan did not find must be looked up again.
// A session calls Release only after its commit was acknowledged or its rollback
// done, and before it runs DDL of its own.
//
// # Invariants
//
//	U1. After Enter(t) == Entered and until Release, no schema change publishes a
//	    version of t's table that is more than one step away from t's.
//	U2. After Close returned, no session uses the tables, and none can enter
//	    until Open. Commits of former users are covered by the watermark.
//	U3. Sessions that wait at a gate enter before the next schema change closes
//	    it; a session that already uses a table passes its closed gate.
//	U4. A schema change waits for users of its own tables only. It ends with
//	    1205 after lock_wait_timeout; a session that closes a cycle of waits at
//	    gates gets 1213. No other session is ever disturbed.
//	U5. After Lock returned, nobody but its session uses the tables that it took for
//	    writing, and nobody writes those that it took for reading, until Release.
//	U6. After Freeze returned no statement that commits by itself writes, and no
//	    transaction commits, until Thaw. Open transactions are not waited for: they
//	    wait where they write or commit.
//	C1. Descriptors are durable before they are visible.
//	C2. Published descriptors never change; equal pointers mean equal versions. A
//	    descriptor's version is the timestamp of the commit that wrote it, on every
//	    node. It is not stored but read with the scan that loads the descriptor. For
//	    the same reason a descriptor that is committed with the beginning of a table's
//	    data is marked fresh, and only later ones store ReadableFrom.
//	C3. Object ids, physical ids, column ids and index ids are never reused. Those of
//	    temporary tables lie in a range of their own, from 2^62 on, and are not
//	    stored: temporary.go.
//	C4. Table and database names are case-sensitive, as MySQL's on Linux; column
//	    and index names are not.
//	C5. A dictionary is durable before a row is packed by it, never changes, and
//	    stays as long as the data of its physical table. Numbers have no gaps.
//
// # Storage
//
// Descriptors lie under keys.SystemKey, kinds as in codec.go:
//
//	key                                      value
//	'd' | database id, 8 bytes big endian    format byte 1, JSON of databaseJSON
//	't' | table id, 8 bytes big endian       format byte 1, JSON of tableJSON;
//	                                         2 for a view, with the field view
//	                                         3 for a table with CHECK constraints, with the field checks
//	                                         4 for one with foreign_keys or referrers
//	                                         5 for one with columns that are generated, hidden ones included
//	                                         6 for one with a column whose original is a JSON document with
//	                                         marks (package types)
//	'n'                                      counter: next object id
//	'z' | physical id, 8 bytes | number, 4    a dictionary:
//	                                         byte     content
//	                                         1        format 1
//	                                         8, 4     physical id, number, as in the key
//	                                         rest     symbols, as package fsst stores them
//
// JSON, because descriptors are read at open and written by DDL only, so that
// size and speed do not matter, while a support engineer can read one, and a
// field added later is simply absent in older ones. A field whose absence would
// be misread needs a new format byte. Types and collations are stored by name,
// default values in the stored form of package types, index columns by column id, or
// in full while it is not in the table yet (IndexColumn.Added).
//
// # Lock order
//
// Uses.mu before Use.mu; Catalog.mu before Gate.mu before Use.mu. Use.mu and stops.mu are leaves.
// Dictionaries.mu is never waited for; under it comes the commit of a dictionary.
//
// # Goroutines
//
// None of its own.
//
// # Absent on purpose
//
// Routines and triggers (another kind of descriptor later), temporary tables in
// storage (temporary.go: their sessions have their descriptors), system schemas
// (package infoschema computes them), privileges, statistics, validation of
// definitions (package ddl).
package catalog
