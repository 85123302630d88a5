package wire

import (
	"log/slog"

	"github.com/pandodb/pando/types"
)

// The numbers of exec's memory errors, which MySQL does not have.
const (
	errMemoryStatement = 8175
	errMemoryNode      = 8176
)

// reported are the errors of statements that are logged for operators, with the level. Their texts are the server's own: none holds
// what a client sent or what is in a row (W10).
var reported = map[uint16]slog.Level{
	types.ErLockWaitTimeout: slog.LevelWarn,
	types.ErLockDeadlock:    slog.LevelWarn,
	types.ErLockTableFull:   slog.LevelWarn,
	types.ErTxnTooLarge:     slog.LevelWarn,
	errMemoryStatement:      slog.LevelWarn,
	errMemoryNode:           slog.LevelWarn,
	types.ErDiskFull:        slog.LevelError,
	types.ErErrorOnWrite:    slog.LevelError,
	types.ErOutOfMemory:     slog.LevelError,
	types.ErOutOfResources:  slog.LevelError,
	types.ErIndexCorrupt:    slog.LevelError,
	types.ErNotKeyfile:      slog.LevelError,
	types.ErUnknownError:    slog.LevelError,
}

// report logs the error of a statement if it is in reported, at a bounded rate.
func (c *conn) report(e *types.Error) {
	level, ok := reported[e.Number]
	if !ok || !c.srv.failures.allow(c.srv.now.Load()) {
		return
	}
	c.srv.opt.Logger.Log(nil, level, "a statement failed", "conn", c.id, "account", c.info.Account, "number", e.Number, "error", e.Message)
}
