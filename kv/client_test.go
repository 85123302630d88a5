package kv

import (
	"bytes"
	"fmt"
	"slices"
	"testing"

	"github.com/pandodb/pando/engine"
	"github.com/pandodb/pando/kvapi"
	"github.com/pandodb/pando/rpc"
	"github.com/pandodb/pando/store"
)

func open(t testing.TB) (*Client, *store.Store) {
	t.Helper()
	e, err := engine.OpenMem()
	if err != nil {
		t.Fatal(err)
	}
	s, err := store.Open(store.Options{Engine: e})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
	return New(rpc.Loopback(s)), s
}

type countSink struct{ keys []string }

func (c *countSink) Pair(key, _ []byte) (bool, error) {
	c.keys = append(c.keys, string(key))
	return true, nil
}

// TestStaleCache splits regions behind a client's back: every request works,
// and the cache is read anew once per change, not per request.
func TestStaleCache(t *testing.T) {
	c, s := open(t)
	var o Owner
	c.OpenOwner(&o, 1)
	var want []string
	for i := range 50 {
		key := []byte(fmt.Sprintf("k%02d", i))
		want = append(want, string(key))
		if i%10 == 5 {
			if err := s.Split(key); err != nil {
				t.Fatal(err)
			}
		}
		r := &kvapi.CommitRequest{Mutations: []kvapi.Mutation{{Key: key, Value: []byte("v")}}}
		if i > 0 {
			// A commit over several regions.
			r.Mutations = slices.Insert(r.Mutations, 0, kvapi.Mutation{Key: []byte("k00"), Value: []byte("v")})
		}
		if _, err := c.Commit(&o, r); err != nil {
			t.Fatal(err)
		}
		if found, err := c.Get(&kvapi.GetRequest{Key: key}); !found || err != nil {
			t.Fatal(found, err)
		}
		if res, err := c.Lock(&o, &kvapi.LockRequest{Key: key, Mode: kvapi.LockExclusive}); err != nil || !res.Version.Found {
			t.Fatal(res, err)
		}
		c.ReleaseLocks(&o)
	}
	if n := c.Refreshes(); n != 6 {
		t.Errorf("the region cache was read %d times for 5 splits", n)
	}
	var sink countSink
	if err := s.Split([]byte("k33")); err != nil {
		t.Fatal(err)
	}
	resume, err := c.Scan(&kvapi.ScanRequest{Span: kvapi.Span{Start: []byte("k"), End: []byte("l")}, Sink: &sink})
	if err != nil || resume != nil || !slices.Equal(sink.keys, want) {
		t.Fatal(sink.keys, resume, err)
	}
}

// TestCacheCover compares the cache's answers with a plain search.
func TestCacheCover(t *testing.T) {
	bounds := []string{"", "b", "d", "dd", "x", ""}
	c := &regionCache{}
	for i := range len(bounds) - 1 {
		c.sorted = append(c.sorted, &kvapi.Region{
			ID: kvapi.RegionID(i + 1), Start: []byte(bounds[i]), End: []byte(bounds[i+1]),
		})
	}
	names := []string{"", "a", "b", "c", "d", "da", "dd", "e", "x", "y"}
	for _, from := range names {
		if r := c.sorted[c.find([]byte(from))]; !r.Contains([]byte(from)) {
			t.Errorf("%q found in [%s,%s)", from, r.Start, r.End)
		}
		for _, to := range names {
			span := kvapi.Span{Start: []byte(from), End: []byte(to)}
			if span.Empty() {
				continue
			}
			var want []kvapi.RegionRef
			for _, r := range c.sorted {
				if (to == "" || bytes.Compare(r.Start, span.End) < 0) && (len(r.End) == 0 || bytes.Compare(span.Start, r.End) < 0) {
					want = append(want, r.Ref())
				}
			}
			if got := c.cover(nil, span); !slices.Equal(got, want) {
				t.Errorf("[%s,%s): %v, want %v", from, to, got, want)
			}
		}
	}
}

func BenchmarkLoopbackGet(b *testing.B) {
	c, s := open(b)
	for i := range 100 {
		if err := s.Split([]byte(fmt.Sprintf("k%02d", i))); err != nil {
			b.Fatal(err)
		}
	}
	c.refresh()
	key := []byte("k57")
	ref := s.Regions()[58].Ref()
	b.Run("through kv", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			r := kvapi.GetRequest{Key: key}
			if _, err := c.Get(&r); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("store alone", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			r := kvapi.GetRequest{Key: key, Region: ref}
			if _, err := s.Get(&r); err != nil {
				b.Fatal(err)
			}
		}
	})
}
