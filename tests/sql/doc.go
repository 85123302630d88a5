// Package sqltest reads and runs files in sqllogictest's format. The files of testdata hold statements whose results a real MySQL gave:
// a difference is a fault of Pando, or stands with its reason in testdata/differences.txt.
//
// # Format
//
// Records are parted by empty lines; a line that begins with # is a comment.
//
//	statement ok               the statement on the next lines succeeds
//	statement error 1054       it fails with this MySQL error number (without a number: with any)
//	statement count 3          it succeeds and affects 3 rows
//	query TIR rowsort          it answers rows; one letter a column (T text, I integer, R double), and how rows are put in order before
//	SELECT …                   they are compared: nosort, rowsort (as whole rows) or valuesort (value by value)
//	----
//	a	1	2.5                the values, parted by tabs or by line ends; or "30 values hashing to <MD5>"
//	skipif NAME, onlyif NAME   leaves out the next record for (for all but) this server; NAME is mysql, mariadb or pando
//	halt                       ends the file
//
// NULL is the word NULL, an empty text is (empty). Doubles are equal if they differ by less than one part in 10^12, since the order of a sum is free.
//
// # Commands
//
//	go run ./tests/sql/generate                                  writes the statements of testdata/gen_*.test, always the same
//	go run ./tests/sql/record -addr 127.0.0.1:3306 FILE...       fills in what a running MySQL answers
package sqltest
