package engine

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/pandodb/pando/clock"
)

// pebbleLogger logs Pebble's own messages. Pebble calls Fatalf when it cannot write its manifest.
type pebbleLogger struct{ e *Engine }

// Infof implements pebble.Logger.
func (l *pebbleLogger) Infof(format string, args ...any) {
	log := l.e.opts.Logger
	if log.Enabled(context.Background(), slog.LevelDebug) {
		log.Debug("pebble", "message", fmt.Sprintf(format, args...))
	}
}

// Errorf implements pebble.Logger.
func (l *pebbleLogger) Errorf(format string, args ...any) {
	l.e.opts.Logger.Error("pebble", "message", fmt.Sprintf(format, args...))
}

// Fatalf implements pebble.Logger.
func (l *pebbleLogger) Fatalf(format string, args ...any) {
	l.e.fail(fmt.Sprintf(format, args...))
}

// eventListener turns Pebble's events into log lines and counts. Callbacks run with Pebble's mutex held at times, so they do
// no I/O besides logging and never call Pebble.
func (e *Engine) eventListener() *pebble.EventListener {
	log := e.opts.Logger
	l := &pebble.EventListener{
		BackgroundError: e.backgroundFailed,
		DataCorruption: func(info pebble.DataCorruptionInfo) {
			e.counters.corruptions.Inc()
			e.noteDamage(fmt.Errorf("%s: %w", info.Path, info.Details))
			log.Error("corrupt data on disk", "path", info.Path, "error", info.Details)
		},
		DiskSlow: func(info vfs.DiskSlowInfo) {
			e.counters.slowWrites.Inc()
			log.Warn("the disk is slow", "op", info.OpType.String(), "duration", info.Duration)
		},
		LowDiskSpace: func(info pebble.LowDiskSpaceInfo) {
			if info.AvailBytes < e.disk.lowBytes {
				e.disk.full.Store(true)
			}
			log.Warn("disk space runs low", "free_bytes", info.AvailBytes, "size_bytes", info.TotalBytes)
		},
		WriteStallBegin: func(info pebble.WriteStallBeginInfo) {
			e.counters.stalls.Inc()
			e.counters.stallSince.Store(int64(clock.Mono()))
			e.stalled.Store(true)
			log.Warn("writes are stalled until flushes and compactions catch up", "reason", info.Reason)
		},
		WriteStallEnd: func() {
			e.stalled.Store(false)
			d := clock.Since(time.Duration(e.counters.stallSince.Load()))
			e.counters.stallNanos.Add(uint64(d))
			log.Info("writes go on after a stall", "duration", d)
		},
		FlushEnd: func(info pebble.FlushInfo) {
			e.flushEnded(info.Err)
			e.unflushed.flushed(&info)
			e.garbage.ended(&info)
			e.loads.flushed()
			e.settling.ended()
			log.Debug("flushed a memtable", "job", info.JobID, "reason", info.Reason, "bytes", info.InputBytes,
				"duration", info.Duration, "error", info.Err)
			// Pebble flushes while it is being opened, too.
			if e.opened.Load() {
				e.log.Kick()
				e.kickSinker()
			}
		},
		CompactionEnd: func(info pebble.CompactionInfo) {
			e.settling.ended()
			log.Debug("compacted", "job", info.JobID, "reason", info.Reason, "to_level", info.Output.Level,
				"duration", info.Duration, "error", info.Err)
		},
		FormatUpgrade: func(v pebble.FormatMajorVersion) {
			log.Debug("storage format raised", "dir", e.opts.Dir, "format", int(v))
		},
	}
	l.EnsureDefaults(nil)
	return l
}
