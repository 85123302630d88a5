package exec

import (
	"bytes"
	"os"
	"testing"

	"github.com/pandodb/pando/types"
)

// TestSpillSpace: spill files take of the space of all when they are written, end with 1114 where there is none, and give it back when they are removed,
// large ones later.
func TestSpillSpace(t *testing.T) {
	const limit = 128 << 20
	space := NewSpillSpace(limit)
	rt := &Runtime{TempDir: t.TempDir(), Spill: space}
	record := bytes.Repeat([]byte("x"), 1<<20)
	fill := func(most int) (*spillFile, error) {
		f, err := rt.newSpill()
		if err != nil {
			t.Fatal(err)
		}
		for range most {
			if err := f.write(record); err != nil {
				return f, err
			}
		}
		return f, nil
	}
	small, err := fill(4)
	if err != nil || space.Used() < 4<<20 || space.Used() > 6<<20 {
		t.Fatal(err, space.Used())
	}
	large, err := fill(limit >> 20)
	if number(err) != types.ErRecordFileFull || space.Used() > limit {
		t.Fatal(err, space.Used())
	}
	if large.taken < spillCloseLater {
		t.Fatal("the large file is not large")
	}
	file := large.file
	large.close()
	large.close()
	space.Wait()
	if _, err := file.Stat(); err == nil {
		t.Error("the large file is still open")
	}
	again, err := fill(limit >> 21)
	if err != nil {
		t.Fatal(err)
	}
	small.close()
	again.close()
	space.Wait()
	if space.Used() != 0 {
		t.Errorf("%d bytes are still taken", space.Used())
	}
	if left, _ := os.ReadDir(rt.TempDir); len(left) > 0 {
		t.Errorf("%d files are left", len(left))
	}
	var l rowList
	l.init(rt, nil)
	rt.Spill = NewSpillSpace(1 << 20)
	if err := l.toFile(); err != nil {
		t.Fatal(err)
	}
	defer l.close()
	for i := 0; err == nil; i++ {
		if err = l.addEncoded(record[:1<<18]); i > 8 {
			t.Fatal("a list in a file has no bound")
		}
	}
	if number(err) != types.ErRecordFileFull {
		t.Error(err)
	}
}
