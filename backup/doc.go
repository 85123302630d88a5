// Package backup writes the copy of a node's files that a backup is, reads it, and makes a data directory's files of it again.
//
// # Place
//
// Below server, which has the engine make a checkpoint (engine.Checkpoint) and decides who may write where. It works on the file system of
// package engine, so that tests can cut the power at every step, and knows nothing of what is in the files.
//
// # Terms
//
//   - Staged: the checkpoint, in a directory of the node's own file system; its tables are hard links.
//   - Identity: the file BACKUP, which says what the backup is of and lists every other file with its checksum.
//   - Whole: a backup with an identity. Half: one without, in which BACKUP.part says that it has been begun.
//
// # Invariants
//
//  1. The identity is written last, when everything that it lists is durable with its name. So a backup with an identity is whole whatever
//     has happened, and one without never passes for a backup.
//  2. What may be written to later is copied, never linked: links are for tables alone, in a backup as in a restored directory. Nobody
//     writes to a table. So neither a node nor a restored one changes a backup.
//  3. A backup is not a data directory, nor is one that is being restored: both lack a node's identity, which server writes last.
//  4. What is restored has the sizes and checksums that the identity lists, and nothing besides.
//
// # The directory
//
//	BACKUP       the identity
//	BACKUP.part  there is no identity yet: when the backup was begun, for people
//	store/       the files of the checkpoint
//
// A directory that is being restored has RESTORE.part in the place of a node's identity.
//
// The identity is text: lines that begin with # and lines `name = value`, in this order. Every later format has the lines format and end in
// the same places.
//
//	format       of this file and directory, 1
//	program      the version of the program that wrote it
//	directory    the format of the data directory
//	records      the format of the store's records (package store)
//	engine       the format of the engine
//	store        the number of the store
//	incarnation  how often the store had been started
//	timestamp    all commits that were acknowledged when the backup began have this timestamp or a lower one
//	began, ended moments of the node's clock, RFC 3339
//	log          the positions between which the log is in the backup
//	file         CRC-32C in 8 hexadecimal digits, size in bytes, name in store/; one line per file, sorted by names
//	end          CRC-32C of all lines before, in 8 hexadecimal digits
//
// # Goroutines
//
// None.
//
// # Absent on purpose
//
// Increments: tables that two backups on one file system have in common take space once, because they are links of one file. Encryption and
// transport: a backup is a directory, which other tools can pack and send. Checks of contents: pando check has them.
package backup
