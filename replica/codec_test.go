package replica

import (
	"bytes"
	"errors"
	"reflect"
	"testing"

	"github.com/pandodb/pando/kvapi"
)

func sampleEntries() []Entry {
	mutations := []kvapi.Mutation{
		{Key: []byte("a"), Value: []byte("1")},
		{Key: []byte("b"), Value: []byte{}, Kind: kvapi.MutationDelete, Shadow: kvapi.ShadowAt, Prev: 7, PrevLen: 3},
		{Key: []byte("c"), Value: bytes.Repeat([]byte("x"), 300), Shadow: kvapi.ShadowNone},
	}
	keys := [][]byte{[]byte("a"), []byte("b")}
	return []Entry{
		{Epoch: kvapi.Epoch{Version: 1, ConfVer: 2}},
		{Commands: []Command{
			&Write{Start: 5, TS: 9, Mutations: mutations, Counters: []kvapi.CounterRaise{{Key: []byte("n"), Value: 1 << 40}}},
			&Write{TS: 10},
			&Prewrite{Start: 5, Node: 1, NodeEpoch: 2, Primary: keys[0], Async: true, Secondaries: keys[1:], Least: 6, Mutations: mutations},
			&Commit{Start: 5, TS: 9, Keys: keys},
			&Rollback{Start: 5, Marker: true, Keys: keys},
			&Alloc{Key: keys[0], Least: 1, N: 2},
			&DropCounters{Span: kvapi.Span{Start: keys[0], End: keys[1]}},
			&DropSpan{Span: kvapi.Span{Start: keys[0]}},
			&GCPoint{TS: 77},
			&Split{Key: keys[1], Right: 12, Peers: []uint64{300, 301}},
			&Meta{Content: []byte("m")},
			&Renew{Start: 5, Key: []byte("k"), TTL: 3000},
		}},
	}
}

// TestEntry encodes and decodes all commands. Each entry has one encoding.
func TestEntry(t *testing.T) {
	for _, e := range sampleEntries() {
		b := e.Append(nil)
		got, err := DecodeEntry(b)
		if err != nil || !reflect.DeepEqual(got, e) {
			t.Fatalf("%+v became %+v, %v", e, got, err)
		}
		for n := range b {
			if _, err := DecodeEntry(b[:n]); !errors.Is(err, ErrEntry) {
				t.Fatalf("%d of %d bytes: %v", n, len(b), err)
			}
		}
	}
	for k := range 256 {
		c := newCommand(Kind(k))
		if c != nil && c.Kind() != Kind(k) {
			t.Errorf("kind %d makes a command of kind %d", k, c.Kind())
		}
	}
	if _, err := DecodeEntry([]byte{2, 0, 0, 0}); !errors.Is(err, ErrEntry) {
		t.Error("an entry of another version was taken")
	}
}

// FuzzEntry: whatever the bytes, decoding does not panic, and what it takes is what Append makes.
func FuzzEntry(f *testing.F) {
	for _, e := range sampleEntries() {
		f.Add(e.Append(nil))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		e, err := DecodeEntry(b)
		if err != nil {
			return
		}
		if again := e.Append(nil); !bytes.Equal(again, b) {
			t.Fatalf("%x was decoded and encoded as %x", b, again)
		}
	})
}
