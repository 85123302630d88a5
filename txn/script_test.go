package txn

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pandodb/pando/internal/script"
	"github.com/pandodb/pando/kvapi"
)

// session runs one client's commands on a goroutine of its own, since a command
// may wait for a lock.
type session struct {
	name string
	d    *db
	tx   *Txn
	// shown is tx for the runner, which asks whether it waits.
	shown   atomic.Pointer[Txn]
	todo    chan []string
	done    chan string
	pending string // the command that waits
}

// TestScripts runs the multi-session scripts. Each line is
//
//	<session> begin rc|rr|si|opt|ser|ro   si is rr with SnapshotConflict, opt Optimistic
//	<session> stmt                    BeginStatement
//	<session> get|update|insert|delete|lock|share|unlock KEY [VALUE] [nowait|skip]
//	<session> put|drop KEY [VALUE]    writes without a lock, as of an index entry
//	<session> scan|rscan|latest FROM TO
//	<session> range FROM TO [share|nowait|skip|reverse|first] a locking read: of a page of two, or of all; "first" stops at one row
//	<session> savepoint NAME | rollback_to NAME | rollback_stmt
//	<session> commit | rollback
//
// update, insert and delete lock first, as table code does; update of an absent
// key does nothing. A command that waits for a lock prints "waits", and its result
// later, behind the command that let it go on.
func TestScripts(t *testing.T) {
	script.Run(t, "testdata", func(t *testing.T) script.Commands {
		var r *scriptRunner
		t.Cleanup(func() {
			if r != nil {
				r.close()
			}
		})
		return script.Commands{script.Any: func(t *testing.T, td *script.Block) string {
			if td.Cmd == "reset" || r == nil {
				if r != nil {
					r.close()
				}
				r = &scriptRunner{d: openDB(t, nil), sessions: map[string]*session{}}
				for _, a := range td.CmdArgs {
					r.d.mustWrite(a.Key, a.Vals[0])
				}
			}
			return r.run(td.Input)
		}}
	})
}

type scriptRunner struct {
	d        *db
	sessions map[string]*session
	order    []*session // those that wait, in order
}

func (r *scriptRunner) close() {
	for _, s := range r.sessions {
		close(s.todo)
		<-s.done
	}
	clear(r.sessions)
}

func (r *scriptRunner) session(name string) *session {
	s := r.sessions[name]
	if s == nil {
		s = &session{name: name, d: r.d, todo: make(chan []string), done: make(chan string)}
		r.sessions[name] = s
		saves := map[string]Savepoint{}
		go func() {
			for words := range s.todo {
				s.done <- s.exec(words, saves)
			}
			if s.tx != nil {
				s.tx.Release()
			}
			close(s.done)
		}()
	}
	return s
}

func (r *scriptRunner) run(input string) string {
	var out strings.Builder
	for line := range strings.Lines(input) {
		words := strings.Fields(line)
		if len(words) == 0 {
			continue
		}
		s := r.session(words[0])
		if s.pending != "" {
			fmt.Fprintf(&out, "%s: still waits\n", s.name)
			continue
		}
		s.todo <- words[1:]
		s.pending = strings.Join(words[1:], " ")
		if !r.settle(&out, s) {
			fmt.Fprintf(&out, "%s: %s: waits\n", s.name, s.pending)
			r.order = append(r.order, s)
		}
		for i := 0; i < len(r.order); {
			if r.settle(&out, r.order[i]) {
				r.order = slices.Delete(r.order, i, i+1)
				i = 0 // what it did may have let another go on
			} else {
				i++
			}
		}
	}
	return out.String()
}

// settle waits until the session's command ends or stands in line.
func (r *scriptRunner) settle(out *strings.Builder, s *session) bool {
	for {
		select {
		case result := <-s.done:
			fmt.Fprintf(out, "%s: %s: %s\n", s.name, s.pending, result)
			s.pending = ""
			return true
		case <-time.After(100 * time.Microsecond):
			if tx := s.shown.Load(); tx != nil && tx.Waiting() {
				return false
			}
		}
	}
}

func errorName(err error) string {
	for name, e := range map[string]error{
		"deadlock": kvapi.ErrDeadlock, "timeout": kvapi.ErrLockTimeout, "nowait": kvapi.ErrLockNoWait,
		"conflict": kvapi.ErrWriteConflict, "read only": kvapi.ErrReadOnly, "finished": kvapi.ErrFinished,
	} {
		if errors.Is(err, e) {
			return "error: " + name
		}
	}
	return "error: " + err.Error()
}

func (s *session) exec(words []string, saves map[string]Savepoint) string {
	if words[0] == "begin" {
		levels := map[string]Options{
			"rc": {Level: ReadCommitted}, "rr": {Level: RepeatableRead}, "ser": {Level: Serializable},
			"si": {Level: RepeatableRead, SnapshotConflict: true}, "opt": {Optimistic: true}, "ro": {Level: RepeatableRead, ReadOnly: true},
		}
		s.tx = s.d.m.Begin(levels[words[1]])
		s.shown.Store(s.tx)
		return "ok"
	}
	if s.tx == nil {
		return "no transaction"
	}
	result, err := s.command(words, saves)
	if err == nil {
		return result
	}
	if errors.Is(err, kvapi.ErrDeadlock) || errors.Is(err, kvapi.ErrWriteConflict) {
		s.end()
		return errorName(err) + ", rolled back"
	}
	return errorName(err)
}

func (s *session) end() {
	if s.tx == nil {
		return // a commit that failed has ended it
	}
	s.shown.Store(nil)
	s.tx.Release()
	s.tx = nil
}

func (s *session) command(words []string, saves map[string]Savepoint) (string, error) {
	arg := func(i int) string {
		if i < len(words) {
			return words[i]
		}
		return ""
	}
	key := rowKey(arg(1))
	switch words[0] {
	case "stmt":
		s.tx.BeginStatement()
	case "rollback_stmt":
		s.tx.RollbackStatement()
	case "savepoint":
		saves[arg(1)] = s.tx.Savepoint()
	case "rollback_to":
		s.tx.RollbackTo(saves[arg(1)])
	case "get":
		var v valueSink
		found, err := s.tx.Get(key, nil, &v)
		return show(found, &v), err
	case "lock", "share":
		return s.lock(key, words[0] == "share", arg(2))
	case "unlock":
		s.tx.Unlock(key)
	case "update", "insert":
		lock := s.tx.LockNew
		if words[0] == "update" {
			lock = func(key []byte, sink kvapi.Sink) (bool, error) {
				found, _, err := s.tx.Lock(key, kvapi.LockExclusive, kvapi.WaitDefault, sink)
				return found, err
			}
		}
		found, err := lock(key, nil)
		if err != nil || found != (words[0] == "update") {
			return "no change", err
		}
		return "ok", s.tx.Put(key, []byte(arg(2)))
	case "put":
		return "ok", s.tx.PutNew(key, []byte(arg(2)))
	case "drop":
		return "ok", s.tx.Delete(key)
	case "range":
		return s.rangeRead(words[1:])
	case "delete":
		if _, err := s.tx.LockDelete(key, nil); err != nil {
			return "", err
		}
		return "ok", s.tx.Delete(key)
	case "scan", "rscan", "latest":
		scan := s.tx.Scan
		if words[0] == "latest" {
			scan = s.tx.ScanLatest
		}
		rows, err := scanAll(scan, rowSpan(arg(1), arg(2)), words[0] == "rscan", 2)
		if s.tx.StatementConflict() {
			rows = append(rows, "(conflict)")
		}
		return "[" + strings.Join(rows, " ") + "]", err
	case "conflict":
		return fmt.Sprint(s.tx.StatementConflict()), nil
	case "commit":
		err := s.tx.Commit()
		s.end()
		return "ok", err
	case "rollback":
		s.end()
	default:
		return "", fmt.Errorf("unknown command %q", words)
	}
	return "ok", nil
}

// keySink collects keys.
type keySink struct {
	keys [][]byte
	stop int
}

func (k *keySink) Pair(key, _ []byte) (bool, error) {
	k.keys = append(k.keys, bytes.Clone(key))
	return k.stop == 0 || len(k.keys) < k.stop, nil
}

// rangeRead is SELECT … FOR UPDATE of a range: candidates, and their locks.
func (s *session) rangeRead(words []string) (string, error) {
	mode, sink := kvapi.LockExclusive, &keySink{}
	r := ScanRequest{Span: rowSpan(words[0], words[1]), Sink: sink, LimitRows: 2, Locking: true}
	for _, w := range words[2:] {
		switch w {
		case "share":
			mode = kvapi.LockShared
		case "nowait":
			r.Wait = kvapi.WaitNone
		case "skip":
			r.Wait = kvapi.WaitSkip
		case "reverse":
			r.Reverse = true
		case "first":
			sink.stop = 1
		}
	}
	var rows []string
	for {
		resume, err := s.tx.ScanLatest(&r)
		if err != nil {
			return "", err
		}
		for _, key := range sink.keys {
			var v valueSink
			found, acquired, err := s.tx.Lock(key, mode, r.Wait, &v)
			if err != nil {
				return "", err
			}
			if found && acquired {
				rows = append(rows, rowName(key)+"="+string(v.value))
			}
		}
		if resume == nil || sink.stop > 0 && len(rows) >= sink.stop {
			break
		}
		sink.keys = nil
		if r.Reverse {
			r.Span.End = resume
		} else {
			r.Span.Start = resume
		}
	}
	if s.tx.StatementConflict() {
		rows = append(rows, "(conflict)")
	}
	return "[" + strings.Join(rows, " ") + "]", nil
}

func (s *session) lock(key []byte, shared bool, wait string) (string, error) {
	mode, policy := kvapi.LockExclusive, kvapi.WaitDefault
	if shared {
		mode = kvapi.LockShared
	}
	switch wait {
	case "nowait":
		policy = kvapi.WaitNone
	case "skip":
		policy = kvapi.WaitSkip
	}
	var v valueSink
	found, acquired, err := s.tx.Lock(key, mode, policy, &v)
	if err == nil && !acquired {
		return "skipped", nil
	}
	return show(found, &v), err
}

func show(found bool, v *valueSink) string {
	if !found {
		return "-"
	}
	return string(v.value)
}
