package session_test

import (
	"sync"
	"testing"

	"github.com/pandodb/pando/engine"
	"github.com/pandodb/pando/internal/testkit"
	"github.com/pandodb/pando/tests/inproc"
)

// crashesMin is how many crashes a test of schema changes sees at least; fewer mean that it crashes nowhere.
const crashesMin = 20

// eachCrash runs statements in database d, crashes before every sync of a log, and judges what a node finds after each crash.
func eachCrash(t *testing.T, statements []string, judge func(crash int, node *inproc.Node)) {
	t.Helper()
	fs := engine.NewMemFS()
	var mu sync.Mutex
	var crashed []*engine.MemFS
	hook := &testkit.HookFS{FS: fs, OnSync: func(name string) (bool, error) {
		if testkit.IsWAL(name) {
			mu.Lock()
			defer mu.Unlock()
			crashed = append(crashed, fs.CrashClone(engine.CrashConfig{}))
		}
		return false, nil
	}}
	node := inproc.Open(t, inproc.Options{FS: hook})
	c := node.Root("")
	c.Must("CREATE DATABASE d")
	c.Must("USE d")
	for _, text := range statements {
		c.Must(text)
	}
	node.Close()
	for i, fs := range crashed {
		node := inproc.Open(t, inproc.Options{FS: fs})
		judge(i, node)
		node.Close()
	}
	if len(crashed) < crashesMin {
		t.Errorf("%d crashes", len(crashed))
	}
}
