package clusterkit_test

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"testing"
	"time"

	"github.com/pandodb/pando/internal/clusterkit"
	"github.com/pandodb/pando/internal/testkit"
	"github.com/pandodb/pando/kv"
	"github.com/pandodb/pando/kvapi"
	"github.com/pandodb/pando/rpc"
)

// patience bounds every wait.
const patience = 2 * time.Minute

func start(t *testing.T, n int, cuts ...string) *clusterkit.Nodes {
	t.Helper()
	o := clusterkit.NodesOptions{Seed: testkit.Seed(t)}
	if os.Getenv("KITLOG") != "" {
		o.Logger = slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelInfo}))
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	var bounds [][]byte
	for _, c := range cuts {
		bounds = append(bounds, []byte(c))
	}
	ns, err := clusterkit.NewNodes(ctx, n, o, bounds...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := ns.Close(); err != nil {
			t.Error(err)
		}
	})
	return ns
}

type sink struct{ value string }

func (s *sink) Pair(_, v []byte) (bool, error) { s.value = string(v); return true, nil }

// TestTakeOver: what was acknowledged is there when another node has taken over.
func TestTakeOver(t *testing.T) {
	ns := start(t, 3, "m")
	var o kv.Owner
	c := kv.New(rpc.Loopback(ns.Gateway().Store))
	for i := range 20 {
		c.OpenOwner(&o, uint64(i+1))
		_, err := c.Commit(&o, &kvapi.CommitRequest{Mutations: []kvapi.Mutation{{Key: []byte(fmt.Sprintf("a%02d", i)), Value: []byte("1")}, {Key: []byte(fmt.Sprintf("z%02d", i)), Value: []byte("2")}}})
		if err != nil {
			t.Fatal(err)
		}
	}
	old := ns.Gateway()
	if err := old.Stop(nil); err != nil {
		t.Fatal(err)
	}
	deadline := time.Now().Add(patience)
	for ns.Gateway() == nil && time.Now().Before(deadline) {
		time.Sleep(10 * time.Millisecond)
	}
	g := ns.Gateway()
	if g == nil || g == old {
		t.Fatal("nobody has taken over")
	}
	c = kv.New(rpc.Loopback(g.Store))
	for i := range 20 {
		var s sink
		found, err := c.Get(&kvapi.GetRequest{Key: []byte(fmt.Sprintf("z%02d", i)), Sink: &s})
		if err != nil || !found || s.value != "2" {
			t.Fatalf("row %d is %q, %v: %v", i, s.value, found, err)
		}
	}
}
