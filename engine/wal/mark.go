package wal

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// markPrefix begins the name of the mark.
const markPrefix = "log-mark-"

// mark says what is known to be durable of the log, so that Open can notice a loss. It is the name of an empty file, because a rename is
// atomic. A mark that is out of date, because a rename has failed or was not yet durable at a power loss, notices less, but is not wrong.
type mark struct {
	base  Position // of the newest segment
	bytes int64    // the least size of its file; 0 if not even its header is known to be durable
	end   Position // all below is durable; at a clean end that is the end of the log
}

func (m mark) name() string {
	return fmt.Sprintf("%s%016x-%016x-%016x", markPrefix, uint64(m.base), uint64(m.bytes), uint64(m.end))
}

// parseMark reads the name of a mark.
func parseMark(name string) (m mark, ok bool) {
	var base, bytes, end uint64
	digits, ok := strings.CutPrefix(name, markPrefix)
	if !ok {
		return mark{}, false
	}
	if n, err := fmt.Sscanf(digits, "%16x-%16x-%16x", &base, &bytes, &end); n != 3 || err != nil {
		return mark{}, false
	}
	m = mark{Position(base), int64(bytes), Position(end)}
	return m, m.name() == name
}

// readMark finds the mark among the names of the directory. A power loss during a rename may leave both names, and either may be used.
func (l *Log) readMark(names []string) {
	for _, name := range names {
		m, ok := parseMark(name)
		switch {
		case !ok:
		case !l.marked || m.base > l.mark.base || m.base == l.mark.base && m.bytes < l.mark.bytes:
			if l.marked {
				l.remove(l.mark.name())
			}
			l.mark, l.marked = m, true
		default:
			l.remove(name)
		}
	}
}

// setMark changes the mark. A failure is only logged: the old mark is still right. The caller holds filesMu, or no other goroutine has l yet.
func (l *Log) setMark(m mark) {
	if l.marked && l.mark == m {
		return
	}
	err := os.ErrNotExist
	if l.marked {
		err = l.o.Raw.Rename(l.path(l.mark.name()), l.path(m.name()))
	}
	if errors.Is(err, os.ErrNotExist) { // there is none yet, or it was removed
		l.marked = false
		var f vfs.File
		if f, err = l.o.Raw.Create(l.path(m.name()), category); err == nil {
			err = f.Close()
		}
	}
	if err != nil {
		l.o.Logger.Warn("cannot mark the log's end; a loss of its newest part may not be noticed", "error", err)
		return
	}
	l.mark, l.marked = m, true
}

// retractMark changes the mark, durably, before the newest segment is replaced by an empty file: to one that expects no header.
func (l *Log) retractMark() error {
	if !l.marked || l.mark.bytes == 0 {
		return nil
	}
	l.setMark(mark{l.mark.base, 0, l.mark.end})
	if l.mark.bytes != 0 {
		return errors.New("wal: the log's mark cannot be changed")
	}
	return SyncDir(l.o.FS, l.o.Dir)
}

// markClean notes where the log ends, after all of it has been synced.
func (l *Log) markClean() {
	if !l.marked {
		return
	}
	l.setMark(mark{l.mark.base, l.mark.bytes, l.end})
	if err := SyncDir(l.o.FS, l.o.Dir); err != nil {
		l.o.Logger.Warn("the mark of the log's end may not be on the disk", "error", err)
	}
}

// lost returns an error for a part of the log that was durable and is missing; with Options.AcceptLost it logs a warning and returns nil.
func (l *Log) lost(format string, args ...any) error {
	err := fmt.Errorf("%w: %s", ErrLost, fmt.Sprintf(format, args...))
	if !l.o.AcceptLost {
		return err
	}
	l.o.Logger.Warn("the end of the log was lost, and this is accepted: acknowledged commits may be gone", "error", err)
	return nil
}

// checkNewest compares the newest segment with the mark: its base, where its replay begins, the size of its file, and whether its header is
// present.
func (l *Log) checkNewest(base, from Position, size int64, present bool) error {
	marked := l.marked && l.mark.base == base
	switch {
	case l.marked && l.mark.base > base:
		return l.lost("the newest file is gone: %s, which held everything from position %d on", segmentName(l.mark.base), l.mark.base)
	case marked && size < l.mark.bytes:
		return l.lost("%s is cut off: it has %d bytes of at least %d", segmentName(base), size, l.mark.bytes)
	case !present && (from > base || marked && l.mark.bytes > 0):
		return l.lost("%s has lost its header, and with it everything from position %d on", segmentName(base), base)
	}
	return nil
}

// checkEnd compares where the log ends with the mark. written says that there are or were records: then there must be a mark, which is durable before the
// first of them; if it was removed, the newest segment may have been removed as well.
func (l *Log) checkEnd(end Position, written bool) error {
	if !l.marked && written {
		return l.lost("its mark, the file %s*, is gone, so that nobody knows whether a newest file of the log is gone, too", markPrefix)
	}
	if l.marked && end < l.mark.end {
		return l.lost("it ends at position %d, and was durable up to %d when the server last ended or began a file", end, l.mark.end)
	}
	return nil
}
