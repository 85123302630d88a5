package engine_test

import (
	"testing"

	"github.com/pandodb/pando/engine"
	"github.com/pandodb/pando/keys"
)

// TestGetFlushed: what is in a memtable only is not there, nor is what another key has.
func TestGetFlushed(t *testing.T) {
	e := open(t, engine.Options{Dir: "d", FS: engine.NewMemFS()})
	key, other := keys.LocalKey(nil, []byte("x")), keys.LocalKey(nil, []byte("y"))
	set := func(k []byte, v string) {
		b := e.NewBatch()
		defer b.Close()
		b.Set(k, []byte(v))
		if err := e.ApplyUnlogged(b); err != nil {
			t.Fatal(err)
		}
	}
	get := func(want string) {
		t.Helper()
		v, found, err := e.GetFlushed(nil, key)
		if err != nil || string(v) != want || found != (want != "") {
			t.Fatalf("%q, %t, %v, want %q", v, found, err, want)
		}
	}
	set(other, "z")
	get("")
	if err := e.Flush(); err != nil {
		t.Fatal(err)
	}
	get("")
	set(key, "1")
	get("")
	if err := e.Flush(); err != nil {
		t.Fatal(err)
	}
	set(key, "2")
	get("1")
}
