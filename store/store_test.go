package store

import (
	"encoding/binary"
	"errors"
	"strings"
	"testing"

	"github.com/pandodb/pando/engine"
	"github.com/pandodb/pando/keys"
	"github.com/pandodb/pando/kvapi"
	"github.com/pandodb/pando/replica"
)

func memEngine(t *testing.T) *engine.Engine {
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

func set(t *testing.T, e *engine.Engine, key, value []byte) {
	t.Helper()
	b := e.NewBatch()
	defer b.Close()
	b.Set(key, value)
	if err := e.Apply(b, true); err != nil {
		t.Fatal(err)
	}
}

// TestOpenRefuses: what is not ours, newer or damaged is refused with a reason.
func TestOpenRefuses(t *testing.T) {
	newer := ident{storeID: 1}.encode()
	binary.BigEndian.PutUint32(newer[4:], formatVersion+1)
	damaged := ident{storeID: 1}.encode()
	damaged[10] ^= 1
	for _, c := range []struct {
		name  string
		key   []byte
		value []byte
		want  error
	}{
		{"newer format", identKey, newer, ErrNewerFormat},
		{"damaged identity", identKey, damaged, kvapi.ErrCorrupt},
		{"other identity", identKey, []byte("something else"), ErrForeign},
		{"data without identity", keys.LocalKey(nil, []byte("x")), nil, ErrForeign},
		{"no regions", identKey, ident{storeID: 1}.encode(), kvapi.ErrCorrupt},
	} {
		t.Run(c.name, func(t *testing.T) {
			e := memEngine(t)
			set(t, e, c.key, c.value)
			_, err := Open(Options{Engine: e})
			if !errors.Is(err, c.want) {
				t.Fatalf("%v, want %v", err, c.want)
			}
			t.Log(err)
		})
	}
	if _, err := Open(Options{RegionBytesMax: 1, GCInterval: -1}); err == nil || strings.Count(err.Error(), "\n") != 2 {
		t.Errorf("not every bad option is named: %v", err)
	}
}

// TestOpenDamagedRegions: gaps, overlaps and flipped bits are found.
func TestOpenDamagedRegions(t *testing.T) {
	mk := func(id kvapi.RegionID, start, end string) []byte {
		return replica.AppendRegion(nil, &kvapi.Region{ID: id, Mode: kvapi.ModeSolo, Start: []byte(start), End: []byte(end)})
	}
	flipped := mk(1, "", "")
	flipped[3] ^= 1
	for name, records := range map[string][][]byte{
		"gap":     {mk(1, "", "a"), mk(2, "b", "")},
		"overlap": {mk(1, "", "b"), mk(2, "a", "")},
		"end":     {mk(1, "", "b")},
		"flipped": {flipped},
		"short":   {flipped[:5]},
	} {
		e := memEngine(t)
		set(t, e, identKey, ident{storeID: 1}.encode())
		for i, r := range records {
			set(t, e, replica.RegionKey(kvapi.RegionID(i+1)), r)
		}
		if _, err := Open(Options{Engine: e}); !errors.Is(err, kvapi.ErrCorrupt) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestEpochs: a request that names a region at another epoch, or the wrong
// region, does nothing.
func TestEpochs(t *testing.T) {
	e := memEngine(t)
	s, err := Open(Options{Engine: e})
	if err != nil {
		t.Fatal(err)
	}
	old := s.Regions()[0].Ref()
	if err := s.Split([]byte("m")); err != nil {
		t.Fatal(err)
	}
	left, right := s.Regions()[0].Ref(), s.Regions()[1].Ref()
	var o Owner
	s.OpenOwner(&o, 1)
	put := []kvapi.Mutation{{Key: []byte("a"), Value: []byte("v")}}
	stale := func(err error) bool {
		var epoch *kvapi.EpochError
		return errors.As(err, &epoch)
	}
	for _, refs := range [][]kvapi.RegionRef{{old}, nil} {
		if _, err := s.Commit(&o, &kvapi.CommitRequest{Regions: refs, Mutations: put}); !stale(err) {
			t.Errorf("commit with %v: %v", refs, err)
		}
	}
	if _, err := s.Get(&kvapi.GetRequest{Region: right, Key: []byte("a")}); !stale(err) {
		t.Error("get from the wrong region:", err)
	}
	if _, err := s.Lock(&o, &kvapi.LockRequest{Region: old, Key: []byte("a")}); !stale(err) || o.Locks() != 0 {
		t.Error("lock:", err, o.Locks())
	}
	span := kvapi.Span{Start: []byte("a"), End: []byte("z")}
	for _, refs := range [][]kvapi.RegionRef{{old}, {left}, {right}, {right, left}, {left, left}} {
		if _, err := s.Scan(&kvapi.ScanRequest{Regions: refs, Span: span}); !stale(err) {
			t.Errorf("scan with %v: %v", refs, err)
		}
	}
	if _, err := s.Scan(&kvapi.ScanRequest{Regions: []kvapi.RegionRef{left, right}, Span: span}); err != nil {
		t.Error(err)
	}
	if err := s.Split([]byte("m")); !errors.Is(err, ErrNoCut) {
		t.Error("split at a region's start:", err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Commit(&o, &kvapi.CommitRequest{Regions: []kvapi.RegionRef{left}, Mutations: put}); !errors.Is(err, kvapi.ErrClosed) {
		t.Error("commit after close:", err)
	}
}

// sinkFunc is a function as a sink.
type sinkFunc func(key, row []byte) (bool, error)

func (f sinkFunc) Pair(key, row []byte) (bool, error) { return f(key, row) }
