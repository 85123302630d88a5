package store

import (
	"errors"
	"testing"

	"github.com/pandodb/pando/engine"
	"github.com/pandodb/pando/placement/meta"
)

// TestCheckpointOfOneStore: a store is copied alone, and as the only one of a cluster, with the version of its records; one of several is not.
func TestCheckpointOfOneStore(t *testing.T) {
	e, err := engine.OpenMem()
	if err != nil {
		t.Fatal(err)
	}
	s, err := Open(Options{Engine: e})
	if err != nil {
		t.Fatal(err)
	}
	poll := func() error { return nil }
	for i, want := range []int{formatAlone, formatVersion} {
		if i == 1 {
			if err := s.Promote(); err != nil {
				t.Fatal(err)
			}
		}
		before, err := s.Timestamp()
		if err != nil {
			t.Fatal(err)
		}
		c, err := s.Checkpoint([]string{"alone", "promoted"}[i], poll)
		if err != nil || c.Records != want || c.Timestamp < before || c.Format != engine.FormatMax {
			t.Errorf("a checkpoint of a store with records of format %d, at or after %d: %+v, %v", want, before, c, err)
		}
	}
	if _, err := s.cluster.Load().meta.do(meta.PutStore(meta.Store{ID: 9, Incarnation: 1, Oldest: clusterVersion, Newest: clusterVersion})); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Checkpoint("several", poll); !errors.Is(err, ErrSeveral) {
		t.Errorf("a checkpoint of one of several stores: %v", err)
	}
	if err := errors.Join(s.Close(), e.Close()); err != nil {
		t.Fatal(err)
	}
}
