// Command pando is the database: one binary, one directory.
//
// The command line turns flags, PANDO_* variables and a TOML file into server.Options and runs the node; each subcommand has a file of
// its own. Only main exits the process; everything below returns errors.
package main
