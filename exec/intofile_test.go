package exec

import (
	"bytes"
	"errors"
	"testing"

	"github.com/pandodb/pando/sqlapi"
)

// failingFile is a file of INTO OUTFILE that cannot be closed, as on a full network file system.
type failingFile struct {
	bytes.Buffer
	aborted bool
}

func (f *failingFile) Close() error { return errors.New("no space") }
func (f *failingFile) Abort()       { f.aborted = true }

// TestIntoFileCloseFails: a file that cannot be closed may not be whole, so it is removed as after any other error.
func TestIntoFileCloseFails(t *testing.T) {
	k := newKit(t)
	rt, file := k.runtime(), &failingFile{}
	rt.CreateFile = func(string) (NewFile, error) { return file, nil }
	n := &IntoFile{Input: (&source{rows: [][]any{{1}, {2}}}).node(1), Path: "/f", Columns: []sqlapi.ColumnInfo{{Type: bigintType}},
		Format: FileFormat{FieldEnd: []byte("\t"), LineEnd: []byte("\n")}}
	if _, err := rt.runIntoFile(n); err == nil || !file.aborted {
		t.Errorf("error %v, file removed: %v", err, file.aborted)
	}
	if file.String() != "1\n2\n" {
		t.Errorf("written: %q", file.String())
	}
}
