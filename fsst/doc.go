// Package fsst compresses short strings, each on its own, by a static table of
// up to 255 symbols of 1 to 8 bytes.
//
// Place: a leaf below catalog and table; it knows bytes only.
//
// Source: P. Boncz, T. Neumann, V. Leis, "FSST: Fast Random Access String
// Compression", PVLDB 13(11), 2020. Training is its algorithm 3 (bottom-up, five
// generations over one sample); encoding is greedy, longest symbol first, as in
// its section 5.1. Differences: the lookup of two-byte symbols is a matrix over
// the bytes that occur in them instead of an array of 64 Ki entries, so that a
// table takes some 10 KiB and a server may hold thousands; and long symbols that
// cover little of the sample are left out (longShare in train.go).
//
// # Packed string
//
//	byte     content
//	0..254   the symbol of that number
//	255      escape: the next byte stands for itself
//
// # Table (AppendBinary, Parse)
//
//	bytes           content
//	1               format 1
//	1               number of symbols, n
//	n × (1 + len)   length 1 to 8, bytes
//
// # Invariants
//
//	F1. Packing is a function of table and string: equal strings have equal packed
//	    forms, and different strings different ones.
//	F2. Unpack never panics, whatever the bytes, and its result is at most eight
//	    times as long as its input. A code without a symbol stands for nothing:
//	    checksums are for who stores the bytes.
//	F3. Pack gives up rather than save less than it was asked to, and at every KiB
//	    where it has saved less than a sixteenth of what it has read.
//
// # Goroutines
//
// None. A Table is immutable and may be used by all goroutines.
//
// # Absent on purpose
//
// Long strings and blocks of rows: other compressors see more there, and the
// engine has one.
package fsst
