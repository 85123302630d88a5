package engine

import "errors"

// Reasons why Open refuses. The error that wraps one tells the operator what to do.
var (
	// ErrInUse: another process has the directory open.
	ErrInUse = errors.New("data directory in use")
	// ErrForeign: the directory belongs to something else.
	ErrForeign = errors.New("foreign data directory")
	// ErrNewerFormat: a newer Pando has raised the directory's format.
	ErrNewerFormat = errors.New("newer data format")
	// ErrLostLog: the newest part of the log is gone. Options.AcceptLostLog opens without it.
	ErrLostLog = errors.New("lost log")
	// ErrDamaged: the directory is Pando's but cannot be read.
	ErrDamaged = errors.New("damaged data directory")
)

// Reasons why a running engine refuses.
var (
	// ErrFailed: a fatal error has happened before; nothing is acknowledged any more.
	ErrFailed = errors.New("engine: stopped after a fatal storage error")
	// ErrCorrupt: bytes read from disk fail their checksum or make no sense.
	ErrCorrupt = errors.New("engine: corrupt data")
)
