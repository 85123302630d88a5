package server

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pandodb/pando/engine"
	"github.com/pandodb/pando/keys"
	"github.com/pandodb/pando/kvapi"
	"github.com/pandodb/pando/txn"
	"github.com/pandodb/pando/types"
)

// valueKey is a key that nothing but these tests uses.
func valueKey(name string) []byte { return keys.SystemKey(nil, 'v', []byte(name)) }

// putValue commits one pair.
func putValue(t *testing.T, n *Node, name, value string) {
	t.Helper()
	tx := n.shared().Txns.Begin(txn.Options{Level: txn.ReadCommitted})
	defer tx.Release()
	if err := tx.Put(valueKey(name), append([]byte{byte(len(name))}, name+value...)); err != nil {
		t.Fatal(err)
	}
	if err := tx.Commit(); err != nil {
		t.Fatal(err)
	}
}

// valueOf reads one pair.
func valueOf(t *testing.T, n *Node, name string) string {
	t.Helper()
	sink := &valueSink{}
	found, err := n.shared().Txns.Get(valueKey(name), nil, sink)
	if err != nil {
		t.Fatal(err)
	}
	if !found {
		return "<none>"
	}
	return string(sink.value[1+len(name):])
}

type valueSink struct{ value []byte }

func (s *valueSink) Pair(_, value []byte) (bool, error) {
	s.value = append(s.value[:0], value...)
	return true, nil
}

func mustOpen(t *testing.T, o Options) *Node {
	t.Helper()
	n, err := Open(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func mustClose(t *testing.T, n *Node) {
	t.Helper()
	if err := n.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestBackupAndRestore: a node's backup, alone and as the first of a cluster, becomes a node with what was committed before it, and with
// nothing that was committed after; its timestamps go on above the backup's, and the backup stays what it was whatever the restored node does.
func TestBackupAndRestore(t *testing.T) {
	for _, cluster := range []bool{false, true} {
		t.Run(fmt.Sprintf("cluster=%v", cluster), func(t *testing.T) {
			o := testOptions(t)
			n := mustOpen(t, o)
			putValue(t, n, "a", "before promotion")
			if cluster {
				if _, err := n.promote(); err != nil {
					t.Fatal(err)
				}
			}
			putValue(t, n, "b", "before")
			dir := filepath.Join(t.TempDir(), "deep", "backup")
			made, err := n.backup(dir, nil)
			if err != nil {
				t.Fatal(err)
			}
			putValue(t, n, "b", "after")
			putValue(t, n, "c", "after")
			if _, err := os.Stat(filepath.Join(o.DataDir, stagingName)); err == nil {
				t.Error("the backup has left something in the data directory")
			}
			mustClose(t, n)
			for i := range 2 {
				restored := testOptions(t)
				restored.DataDir = filepath.Join(t.TempDir(), "new")
				told, err := Restore(context.Background(), dir, restored.DataDir)
				if err != nil {
					t.Fatal(err)
				}
				if told.Timestamp != made.Timestamp || told.Files != made.Files || told.Store != n.store.ID() {
					t.Errorf("restored %+v of %+v", told, made)
				}
				r := mustOpen(t, restored)
				for name, want := range map[string]string{"a": "before promotion", "b": "before", "c": "<none>"} {
					if got := valueOf(t, r, name); got != want {
						t.Errorf("restore %d: %s is %q, want %q", i, name, got, want)
					}
				}
				if ts, err := r.store.Timestamp(); err != nil || ts <= made.Timestamp {
					t.Errorf("the restored node's timestamp %d is not above the backup's %d: %v", ts, made.Timestamp, err)
				}
				putValue(t, r, "b", "restored")
				if err := r.engine.Barrier(); err != nil {
					t.Fatal(err)
				}
				mustClose(t, r)
			}
		})
	}
}

// TestBackupUnderWriters: of pairs that are written together by several writers, a backup has both or none, and all that were acknowledged.
func TestBackupUnderWriters(t *testing.T) {
	o := testOptions(t)
	n := mustOpen(t, o)
	defer mustClose(t, n)
	const writers = 4
	acked := make([]int, writers) // written by its writer until done is closed
	stop, done := make(chan struct{}), make(chan struct{})
	progress := make(chan int, writers)
	for w := range writers {
		go func() {
			defer func() { done <- struct{}{} }()
			for i := 1; ; i++ {
				select {
				case <-stop:
					return
				default:
				}
				tx := n.shared().Txns.Begin(txn.Options{Level: txn.ReadCommitted})
				err := errors.Join(tx.Put(valueKey(fmt.Sprintf("x%d", w)), fmt.Appendf(nil, "\x02x%d%d", w, i)), tx.Put(valueKey(fmt.Sprintf("y%d", w)), fmt.Appendf(nil, "\x02y%d%d", w, i)))
				if err == nil {
					err = tx.Commit()
				}
				tx.Release()
				if err != nil {
					t.Error(err)
					return
				}
				acked[w] = i
				if i == 100 {
					progress <- w
				}
			}
		}()
	}
	for range writers {
		<-progress
	}
	dir := filepath.Join(t.TempDir(), "backup")
	if _, err := n.backup(dir, nil); err != nil {
		t.Error(err)
	}
	close(stop)
	for range writers {
		<-done
	}
	restored := testOptions(t)
	if _, err := Restore(context.Background(), dir, restored.DataDir); err != nil {
		t.Fatal(err)
	}
	r := mustOpen(t, restored)
	defer mustClose(t, r)
	for w := range writers {
		x, y := valueOf(t, r, fmt.Sprintf("x%d", w)), valueOf(t, r, fmt.Sprintf("y%d", w))
		var i int
		if _, err := fmt.Sscan(x, &i); x != y || err != nil || i < 100 || i > acked[w] {
			t.Errorf("writer %d: %s and %s of at least 100 and at most %d", w, x, y, acked[w])
		}
	}
}

// TestBackupRefusals: where a backup must not go, and what ends it, has a number and a sentence, and leaves nothing.
func TestBackupRefusals(t *testing.T) {
	o := testOptions(t)
	outside := t.TempDir()
	if err := os.MkdirAll(filepath.Join(o.DataDir, stagingName, "left"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := writeIdentity(o.DataDir, 1); err != nil {
		t.Fatal(err)
	}
	n := mustOpen(t, o)
	defer mustClose(t, n)
	if _, err := os.Stat(filepath.Join(o.DataDir, stagingName)); err == nil {
		t.Error("a start leaves what a crash amid a backup has left")
	}
	if err := os.Symlink(o.DataDir, filepath.Join(outside, "link")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("nowhere", filepath.Join(outside, "dangling")); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(outside, "file"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	killed := &kvapi.Interrupt{}
	killed.Set(kvapi.ReasonKillQuery)
	for _, c := range []struct {
		dir, allowed string
		interrupt    *kvapi.Interrupt
		code         uint16
		says         string
	}{
		{"relative", "", nil, types.ErWrongArguments, "absolute"},
		{"", "", nil, types.ErWrongArguments, "absolute"},
		{o.DataDir, "", nil, types.ErWrongArguments, "inside"},
		{filepath.Join(o.DataDir, "x"), "", nil, types.ErWrongArguments, "inside"},
		{filepath.Join(outside, "link", "x"), "", nil, types.ErWrongArguments, "inside"},
		{filepath.Join(outside, "dangling", "x"), "", nil, types.ErWrongArguments, "dangling"},
		{outside, "", nil, types.ErFileExists, "choose a new directory"},
		{filepath.Join(outside, "file"), "", nil, types.ErUnknownError, "not a directory"},
		{filepath.Join(outside, "new"), backupOff, nil, types.ErOptionPreventsStatement, "--backup-dir=off"},
		{filepath.Join(outside, "new"), t.TempDir(), nil, types.ErOptionPreventsStatement, "--backup-dir="},
		{filepath.Join(outside, "new"), filepath.Join(outside, "new"), nil, types.ErOptionPreventsStatement, "--backup-dir="},
		{filepath.Join(outside, "new"), outside, killed, 0, ""},
		{"/proc/nothing/new", "", nil, types.ErUnknownError, "cannot be made"},
	} {
		n.options.BackupDir = c.allowed
		_, err := n.backup(c.dir, c.interrupt)
		var e *types.Error
		if c.code == 0 {
			if !errors.Is(err, kvapi.ErrInterrupted) {
				t.Errorf("a backup that was interrupted: %v", err)
			}
		} else if !errors.As(err, &e) || e.Number != c.code || !strings.Contains(e.Message, c.says) {
			t.Errorf("%s, allowed below %q: %v", c.dir, c.allowed, err)
		}
		if _, err := os.Stat(filepath.Join(outside, "new")); err == nil {
			t.Errorf("%s, allowed below %q: something is left", c.dir, c.allowed)
		}
	}
	n.options.BackupDir = outside
	n.backing.Lock()
	if _, err := n.backup(filepath.Join(outside, "new"), nil); err == nil || !strings.Contains(err.Error(), "one at a time") {
		t.Errorf("two backups at once: %v", err)
	}
	n.backing.Unlock()
	if _, err := n.backup(filepath.Join(outside, "new"), nil); err != nil {
		t.Errorf("a backup below the directory that is allowed: %v", err)
	}
	// A backup is no data directory, nor is half of one.
	for _, name := range []string{"BACKUP", "BACKUP.part"} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := claimDir(dir); err == nil || !strings.Contains(err.Error(), "is a backup") {
			t.Errorf("a start of %s: %v", name, err)
		}
	}
}

// TestOneBackupAtATime: a second backup is refused while one is being made, with MySQL's number for what is not waited for, and leaves nothing behind. The next is made.
func TestOneBackupAtATime(t *testing.T) {
	n := mustOpen(t, testOptions(t))
	defer mustClose(t, n)
	n.backing.Lock()
	dir := filepath.Join(t.TempDir(), "backup")
	_, err := n.backup(dir, nil)
	if e, is := errors.AsType[*types.Error](err); !is || e.Number != types.ErLockNowait || e.State != "HY000" || !strings.Contains(e.Message, "one at a time") {
		t.Errorf("a second backup: %v", err)
	}
	if _, err := os.Stat(dir); err == nil {
		t.Error("a backup that was refused leaves its directory")
	}
	n.backing.Unlock()
	if _, err := n.backup(dir, nil); err != nil {
		t.Errorf("a backup after another: %v", err)
	}
}

// TestRestoreRefusals: what is no backup, or half of one, and directories that hold something, are refused by a sentence.
func TestRestoreRefusals(t *testing.T) {
	n := mustOpen(t, testOptions(t))
	dir := filepath.Join(t.TempDir(), "backup")
	if _, err := n.backup(dir, nil); err != nil {
		t.Fatal(err)
	}
	data := n.options.DataDir
	mustClose(t, n)
	half := t.TempDir()
	if err := os.WriteFile(filepath.Join(half, "BACKUP.part"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	new := filepath.Join(t.TempDir(), "new")
	for _, c := range []struct{ from, to, says string }{
		{half, new, "never finished"},
		{data, new, "holds none"},
		{filepath.Join(half, "nothing"), new, "cannot be read"},
		{dir, data, "choose a new directory"},
		{dir, filepath.Join(dir, "new"), "inside of the backup"},
		{dir, dir, "inside of the backup"},
	} {
		if _, err := Restore(context.Background(), c.from, c.to); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("restore of %s to %s: %v", c.from, c.to, err)
		}
	}
	ctx, stop := context.WithCancel(context.Background())
	stop()
	if _, err := Restore(ctx, dir, new); !errors.Is(err, context.Canceled) {
		t.Errorf("a restore that was stopped: %v", err)
	}
	if _, err := os.Stat(new); err == nil {
		t.Error("a refused restore has left something")
	}
	old := knownFormats
	defer func() { knownFormats = old }()
	knownFormats.Engine = engine.FormatMax - 1
	if _, err := Restore(context.Background(), dir, new); err == nil || !strings.Contains(err.Error(), "newer") {
		t.Errorf("a restore by an older program: %v", err)
	}
	// A restore that a kill has ended is told from a database.
	if err := os.MkdirAll(filepath.Join(new, storeName), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(new, "RESTORE.part"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := claimDir(new); err == nil || !strings.Contains(err.Error(), "never finished") {
		t.Errorf("a start of half a restored directory: %v", err)
	}
}
