package wal

import (
	"os"
	"path/filepath"
	"testing"
)

// TestDataSyncer: the asynchronous sync works where the kernel has it, allocates nothing, steps aside when it is refused, and
// may be closed twice.
func TestDataSyncer(t *testing.T) {
	f, err := os.Create(filepath.Join(t.TempDir(), "f"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var s dataSyncer
	if err := s.open(); err != nil {
		t.Skip(err)
	}
	one := func() {
		if _, err := f.Write([]byte("x")); err != nil {
			t.Fatal(err)
		}
		if done, err := s.sync(f.Fd()); !done || err != nil {
			t.Fatal(done, err)
		}
	}
	one()
	if n := testing.AllocsPerRun(20, one); n != 0 && !raceEnabled {
		t.Errorf("a sync allocates %v times", n)
	}
	const noFile = 1 << 20
	if done, err := s.sync(noFile); done || err != nil {
		t.Errorf("a refused request: %v %v", done, err)
	}
	if done, _ := s.sync(f.Fd()); done {
		t.Error("it goes on after a refusal")
	}
	s.close()
	s.close()
}
