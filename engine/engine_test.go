package engine_test

import (
	"fmt"
	"testing"

	"github.com/pandodb/pando/engine"
	"github.com/pandodb/pando/keys"
)

func open(t testing.TB, o engine.Options) *engine.Engine {
	t.Helper()
	e, err := engine.Open(o)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func openMem(t testing.TB) *engine.Engine {
	t.Helper()
	e, err := engine.OpenMem()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
	return e
}

func local(format string, args ...any) []byte {
	return keys.LocalKey(nil, []byte(fmt.Sprintf(format, args...)))
}

// put applies one unversioned pair.
func put(t testing.TB, e *engine.Engine, key []byte, value string, sync bool) {
	t.Helper()
	b := e.NewBatch()
	defer b.Close()
	b.Set(key, []byte(value))
	if err := e.Apply(b, sync); err != nil {
		t.Fatal(err)
	}
}

func get(t testing.TB, e *engine.Engine, key []byte) string {
	t.Helper()
	v, found, err := e.Get(nil, key)
	if err != nil {
		t.Fatal(err)
	}
	if !found {
		return "<none>"
	}
	return string(v)
}

func TestReopen(t *testing.T) {
	for _, name := range []string{"disk", "mem"} {
		t.Run(name, func(t *testing.T) {
			o := engine.Options{Dir: t.TempDir() + "/data"}
			if name == "mem" {
				o = engine.Options{Dir: "data", FS: engine.NewMemFS()}
			}
			e := open(t, o)
			put(t, e, local("a"), "1", true)
			put(t, e, local("b"), "2", false)
			if err := e.Close(); err != nil {
				t.Fatal(err)
			}
			e = open(t, o)
			if got := get(t, e, local("a")) + get(t, e, local("b")) + get(t, e, local("c")); got != "12<none>" {
				t.Errorf("got %s", got)
			}
			if err := e.Close(); err != nil {
				t.Fatal(err)
			}
		})
	}
}

func TestBatch(t *testing.T) {
	e := openMem(t)
	b := e.NewBatch()
	b.Set(local("a"), []byte("x"))
	b.Set(local("b"), []byte("y"))
	b.Delete(local("a"))
	if b.Count() != 3 || b.Empty() || b.Len() == 0 {
		t.Errorf("count %d, len %d", b.Count(), b.Len())
	}
	if err := e.ApplyNoSync(b); err != nil {
		t.Fatal(err)
	}
	if got := get(t, e, local("a")) + get(t, e, local("b")); got != "<none>y" {
		t.Errorf("got %s", got)
	}
	b.Reset()
	b.DeleteRange(local(""), local("zz"))
	if err := e.Apply(b, true); err != nil {
		t.Fatal(err)
	}
	b.Close()
	if got := get(t, e, local("b")); got != "<none>" {
		t.Errorf("got %s", got)
	}
}
