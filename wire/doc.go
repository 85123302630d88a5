// Package wire is the server side of the MySQL client/server protocol 4.1.
package wire
