// Package pando is the root of Pando, a MySQL-compatible SQL database. It holds no code of the product: the database is the command in
// cmd/pando over the packages beside it.
//
// # Where to start
//
// README.md says what Pando does and how to run it. ARCHITECTURE.md maps the packages in stack order. docs/life-of-a-statement.md follows
// one statement from the socket to the disk and back. Each package then opens with a doc.go: purpose, place, terms, numbered invariants,
// and what is absent on purpose.
//
// # What lives here
//
// Tests over the whole repository: layers_test.go holds the table of allowed imports and the packages that alone may use a library,
// tidy_test.go the limits on files and functions and the banned calls.
package pando
