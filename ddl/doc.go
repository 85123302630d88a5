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
// The last step of an ALTER is its only one that others notice: columns come, go
// and get their names, as the table itself does, all its indexes become public, those that it drops go,
// AUTO_INCREMENT rises. Until then its indexes are those of the table as it was:
// of a column that gets another name by the old one; of a column that comes by
// a copy of its description (catalog.IndexColumn.Added), in which every row has
// the same value, since no row that is written before the step holds another;
// with the name of an index that goes under one of their own
// (catalog.Index.Replaces). DROP INDEX as an ALTER's only action runs as the
// statement of that name does.
//
// A virtual generated column comes and goes with the descriptor alone. An index
// over an expression brings a hidden virtual column, which is published with the
// index in its first state and goes with it (catalog.Table.RemoveIndex). Where an
// ALTER adds a virtual column and an index over it, or an index over an expression
// beside changes of columns, it copies the table.
//
// Foreign keys tie tables together: kin.go names the tables whose descriptors a
// statement may have to change besides its own, and locks the names of all. Those
// that a new foreign key refers to have their gates closed with that of the child.
//
// An ALTER that changes what rows or their keys hold (needsCopy) writes them
// anew, converted, into a key space of its own, with all its other actions. The
// gate is closed from before the first row is read until the new descriptor is
// published. The new key space has a job from before the first write (jobCopy),
// which goes in the commit that publishes it and brings the job that frees the
// old one.
//
// A build that was interrupted by a crash goes on in slices of bounded length,
// between which the name is free: what changes the table meanwhile is found by
// the next slice. DROP INDEX, which finds no other index that is not public,
// turns the build into a removal, as Cancel does.
//
// In the table above | is a barrier. Data of dropped tables and indexes is freed by
// a job of its own, in the background, after the last snapshot that could read it;
// the counters, dictionaries and statistics of a dropped table are deleted with it.
//
// # Invariants
//
//	D1. States of an index that are in use together are adjacent: every step of
//	    an online change begins with a barrier or a closed gate, but for the one
//	    back to delete-only, with which an index begins to leave that nobody reads.
//	D2. A descriptor and the job that depends on it change in one commit.
//	D3. An index becomes public only after every row had its entry: rows older
//	    than write-only by the backfill, newer ones by their writers.
//	    What is filled has a timestamp of the past and yields to all that its
//	    writers have done since (fill.go).
//	D4. The backfill never waits for a row or an entry while it holds the lock of
//	    another row, so no deadlock ever involves it.
//	D5. A failed build leaves no public trace: the index is taken back through
//	    the same states, and its entries are freed.
//	D6. Nobody but users of the same table waits for a schema change, and a schema
//	    change waits at most lock_wait_timeout for them at each barrier or gate.
//	D7. An ALTER is atomic, whatever fails and whenever a crash comes: only one of
//	    its steps is visible, and an index that a crash leaves before that step
//	    (jobRecord.Part) is removed by the next Open.
//	D8. A foreign key and the referrers of its parent agree at every commit, and so do the
//	    names by which they call tables and columns.
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
// Copies of a table that stays in use. Several nodes: the barrier reaches them
// through leases later.
package ddl
