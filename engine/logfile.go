package engine

// logFile is an open WAL, or the directory of the WALs. An error of a write or sync ends the process by way of Options.Fatal
// before Pebble sees it: Pebble reports most of them to its logger, but panics on one that it meets while it changes logs.
type logFile struct {
	File
	e *Engine
}

// Write implements File.
func (f *logFile) Write(p []byte) (int, error) {
	n, err := f.File.Write(p)
	return n, f.check("write", err)
}

// Sync implements File.
func (f *logFile) Sync() error { return f.check("sync", f.File.Sync()) }

// SyncData implements File.
func (f *logFile) SyncData() error { return f.check("sync", f.File.SyncData()) }

func (f *logFile) check(what string, err error) error {
	if err != nil {
		return f.e.logFailed(what, err)
	}
	return nil
}

// logFailed reports an error of the log. While the directory is being opened it only refuses that.
func (e *Engine) logFailed(what string, err error) error {
	if e.opened.Load() {
		e.fail(what + " WAL: " + err.Error())
	}
	return err
}
