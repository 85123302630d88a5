// Package script runs the script tests of all packages: files of commands with the output that is expected of them, in the form of
// github.com/cockroachdb/datadriven. A case is a command with arguments, lines of input, a line of four dashes, and the output.
// `go test PACKAGE -rewrite` accepts what differs; read the difference as if it were code. Product packages do not import it.
package script
