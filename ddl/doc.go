// Package ddl runs schema changes: as single steps during which nobody may use
// the table, and as resumable jobs while it stays in use.
//
// Place: above table, catalog and txn, below session. It takes plain specs
// (spec.go); the session makes them from syntax trees.
//
// # Terms
//
//	name lock   serialises schema changes of one name; statements do not take it
//	gate        catalog's lock of a table against its users
//	barrier     waiting until no session uses an older version (catalog.WaitOlder)
//	job         a persisted piece of work that survives a crash
//	fence       a durable commit; the log is ordered, so all before it is durable too
//
// # Kinds of changes
//
//	CREATE/DROP DATABASE, CREATE TABLE    one commit under name locks
//	DROP, TRUNCATE, RENAME, instant ALTER name locks, close the gates, one commit, open
//	CREATE INDEX                          job: delete-only | write-only | backfill | public
//	DROP INDEX                            job: write-only | delete-only | absent
//	failed build                          job: delete-only | absent
//	ALTER                                 its CREATE INDEXes up to backfill, then all else as an instant ALTER
//	ALTER of types, NOT NULL, the primary
//	key, generated columns, defaults over
//	others                                name locks, close the gate, copy all rows, one commit, open
//	any of a temporary table              no lock and no commit: only its session has the descriptor (temporary.go)
//
// Only the last step of an ALTER is visible to other sessions: in one commit it
// adds, drops and renames columns, renames the table, makes all new indexes
// public, removes the dropped ones and raises AUTO_INCREMENT. Before it, the new
// indexes are built on the table as it was: an index on a renamed column refers to
// the old name; an index on an added column holds a copy of its description
// (catalog.IndexColumn.Added) and the same value for every row, because rows
// written before the last step do not have the column yet; an index that takes
// the name of a dropped one has a temporary name (catalog.Index.Replaces). An
// ALTER whose only action is DROP INDEX runs like the statement DROP INDEX.
//
// To add or drop a virtual generated column only the descriptor changes. An index
// over an expression has a hidden virtual column, which is published with the
// first state of the index and removed with it (catalog.Table.RemoveIndex). An
// ALTER that adds a virtual column and an index over it, or an index over an
// expression beside changes of columns, copies the table.
//
// The related tables of a table ("kin") are the parents of its foreign keys, and
// the tables whose foreign keys refer to it. kin.go lists those whose descriptors a
// statement may have to change besides its own, and locks the names of all. The
// gates of the parents of a new foreign key are closed together with the child's.
//
// An ALTER that changes the stored form of rows or of their keys (needsCopy)
// converts all rows and writes them into a new key space, together with all its
// other actions. The gate is closed from before the first row is read until the
// new descriptor is published. A job for the new key space (jobCopy) is stored
// before the first write; the commit that publishes the table deletes it and
// stores the job that frees the old key space.
//
// The worker resumes a build that a crash has interrupted, in slices of bounded
// length. Between them the name lock is free, and the next slice detects what has
// changed the table meanwhile. DROP INDEX of an index that is being built so turns
// the build into a removal, as Cancel does. A build that Pause makes rest holds
// nothing but, in a session, the name lock; the worker leaves it alone.
//
// In the table above | is a barrier. Data of dropped tables and indexes is freed by
// a job of its own, in the background, after the last snapshot that could read it;
// the counters, dictionaries and statistics of a dropped table are deleted with it.
//
// # Invariants
//
//	D1. States of an index that are in use at the same time are adjacent: every step
//	    of an online change begins with a barrier or a closed gate, except the one
//	    to delete-only that begins the removal of an index that nobody reads.
//	D2. A descriptor and the job that depends on it change in one commit.
//	D3. An index becomes public only after every row has its entry: rows older
//	    than write-only by the backfill, newer ones by their writers. Entries
//	    written by fill.go have the timestamps of their rows, so that entries and
//	    deletions by later writers supersede them.
//	D4. The backfill never waits for a row or an entry while it holds the lock of
//	    another row, so no deadlock ever involves it.
//	D5. A failed build leaves nothing visible: the index goes back through the same
//	    states until it is absent, and its entries are freed.
//	D6. Only users of the same table wait for a schema change, and a schema
//	    change waits at most lock_wait_timeout for them at each barrier or gate.
//	D7. An ALTER is atomic, whatever fails and whenever a crash comes: only one of
//	    its steps is visible, and an index that a crash leaves before that step
//	    (jobRecord.Part) is removed by the next Open.
//	D8. At every commit the descriptors of a foreign key's child and parent agree:
//	    the parent lists the child among its Referrers, and the foreign key has the
//	    present names of the parent and of its columns.
//
// # Storage
//
// A job is stored under keys.SystemKey(catalog.KindJob, id, 8 bytes big endian):
// format byte 1, then JSON of jobRecord; see there. JSON for the reasons given
// in package catalog.
//
// # Lock order
//
// Name locks (all at once, in ascending order), then gates, then row locks of
// the catalog's commit. Executor.mu and worker.mu are leaves.
//
// # Goroutines
//
//	Executor.work  started by Open, stopped and awaited by Close
//
// # Absent on purpose
//
// Copying a table while it stays in use. Barriers that include sessions of other
// nodes: in a cluster one node, the gateway, executes all SQL.
package ddl
