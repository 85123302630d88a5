package server

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/pandodb/pando/cluster/identity"
	"github.com/pandodb/pando/internal/testkit"
	"github.com/pandodb/pando/types"
)

// TestClusterSettings: each fault of the settings about a cluster is named, and what is right is taken.
func TestClusterSettings(t *testing.T) {
	for name, c := range map[string]struct {
		flags map[string]string
		want  string // part of the error; empty for none
	}{
		"nothing":                      {},
		"a port of this machine":       {flags: map[string]string{"cluster-listen": "127.0.0.1:0"}},
		"a port of the network":        {flags: map[string]string{"cluster-listen": "10.0.0.1:4100", "join": "10.0.0.2:4100,db3:4100"}},
		"all addresses and one":        {flags: map[string]string{"cluster-listen": "0.0.0.0:4100", "advertise": "10.0.0.1:4100"}},
		"all addresses":                {map[string]string{"cluster-listen": "0.0.0.0:4100"}, "is every address of this machine: say by advertise"},
		"all addresses without a word": {map[string]string{"cluster-listen": ":4100"}, "is every address of this machine"},
		"no address":                   {map[string]string{"cluster-listen": "here"}, "cluster-listen: \"here\" is not HOST:PORT"},
		"no port":                      {map[string]string{"cluster-listen": "here:http"}, "port \"http\""},
		"all addresses advertised":     {map[string]string{"cluster-listen": "10.0.0.1:1", "advertise": "[::]:1"}, "advertise: :: is every address"},
		"advertised without a port":    {map[string]string{"cluster-listen": "10.0.0.1:1", "advertise": "10.0.0.1"}, "advertise:"},
		"advertise alone":              {map[string]string{"advertise": "10.0.0.1:1"}, "advertise: it needs cluster-listen"},
		"join alone":                   {map[string]string{"join": "10.0.0.1:1"}, "join: it needs cluster-listen"},
		"join nothing":                 {map[string]string{"cluster-listen": "10.0.0.1:1", "join": "10.0.0.2"}, "join: \"10.0.0.2\" is not HOST:PORT"},
		"from loopback elsewhere":      {map[string]string{"cluster-listen": "127.0.0.1:1", "join": "10.0.0.2:1"}, "other machines cannot reach 127.0.0.1:1"},
		"a token that is none":         {map[string]string{"cluster-listen": "10.0.0.1:1", "join": "10.0.0.2:1", "join-token": "x"}, "it is no join token"},
		"two tokens":                   {map[string]string{"cluster-listen": "10.0.0.1:1", "join": "10.0.0.2:1", "join-token": "x", "join-token-file": "y"}, "exclude each other"},
		"a log that is not synced":     {map[string]string{"cluster-listen": "10.0.0.1:1", "join": "10.0.0.2:1", "join-token-file": "y", "sync-log": "false"}, "it must be on"},
	} {
		_, err := load(t, "", nil, c.flags)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// clusterOptions are those of a small node with a port for others.
func clusterOptions(dir string) Options {
	o := DefaultOptions()
	o.DataDir, o.Listen, o.HTTP, o.ClusterListen, o.CacheBytes, o.MemoryBytes = dir, "127.0.0.1:0", "", "127.0.0.1:0", 8<<20, 256<<20
	return o
}

// TestJoining: a directory that was refused by a cluster joins it with a good token later, as the node that it began to be, and starts without
// one from then on; directories with data of their own do not join.
func TestJoining(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	dir := t.TempDir()
	first, err := Open(ctx, clusterOptions(filepath.Join(dir, "first")))
	if err != nil {
		t.Fatal(err)
	}
	closeNode := func(n *Node) {
		t.Helper()
		if err := n.Close(); err != nil {
			t.Error(err)
		}
	}
	defer closeNode(first)
	if _, err := first.promote(); err != nil {
		t.Fatal(err)
	}
	row, err := first.newToken(2, 0)
	if err != nil {
		t.Fatal(err)
	}
	good := row.Text
	forged, err := identity.ParseToken(good)
	if err != nil {
		t.Fatal(err)
	}
	forged.Secret[0] ^= 1
	o := clusterOptions(filepath.Join(dir, "second"))
	o.Join = first.advertised()
	refused := func(o Options, want string) {
		t.Helper()
		n, err := Open(ctx, o)
		if err == nil {
			closeNode(n)
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	refused(o, "it needs join-token or join-token-file")
	o.JoinToken = forged.String()
	lost := clusterOptions(filepath.Join(dir, "lost"))
	lost.JoinToken = good
	refused(lost, "join-token: it needs join")
	lost.DataDir, lost.Listen = filepath.Join(dir, "abroad"), "0.0.0.0:0"
	refused(lost, "join-token: it needs join") // not that root has no password
	refused(o, "is not known")
	alone := o
	alone.Join, alone.JoinToken = "", ""
	refused(alone, "began to join a cluster")
	o.JoinToken, o.JoinTokenFile = "", filepath.Join(dir, "token")
	if err := os.WriteFile(o.JoinTokenFile, []byte(good+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	n, err := Open(ctx, o)
	if err != nil {
		t.Fatal(err)
	}
	number := n.store.ID()
	testkit.Await(t, "that the list of nodes warns of a single vote", func() bool {
		nodes, err := first.listNodes()
		if err != nil {
			t.Fatal(err)
		}
		return strings.Contains(nodes[0].Reason, "a third node makes three voters") && nodes[1].Reason == ""
	})
	testkit.Await(t, "that the cluster hears of it", func() bool {
		nodes, err := first.listNodes()
		if err != nil {
			t.Fatal(err)
		}
		for _, node := range nodes {
			if node.ID == number && node.State == "up" && node.Connected == "yes" {
				return true
			}
		}
		return false
	})
	closeNode(n)
	o.Join, o.JoinTokenFile = "", ""
	if n, err = Open(ctx, o); err != nil {
		t.Fatal(err)
	}
	if n.store.ID() != number {
		t.Errorf("node %d became %d", number, n.store.ID())
	}
	closeNode(n)
	quiet := o
	quiet.ClusterListen = ""
	refused(quiet, "start it with --cluster-listen")
	own := clusterOptions(filepath.Join(dir, "own"))
	if n, err = Open(ctx, own); err != nil {
		t.Fatal(err)
	}
	closeNode(n)
	own.Join, own.JoinToken = first.advertised(), good
	refused(own, "holds data of its own")
}

// TestPromoteAgain: a promotion after which the node could not become a member is finished by the next.
func TestPromoteAgain(t *testing.T) {
	o := clusterOptions(t.TempDir())
	n, err := Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := n.Close(); err != nil {
			t.Error(err)
		}
	}()
	inTheWay := filepath.Join(o.DataDir, membershipName+partSuffix)
	if err := os.Mkdir(inTheWay, privateDir); err != nil {
		t.Fatal(err)
	}
	if state, err := n.promote(); err == nil {
		t.Errorf("the membership was not written, and the answer is %q", state)
	}
	if _, err := n.newToken(1, 0); err == nil {
		t.Error("a token of a node that nobody can reach")
	}
	if err := os.Remove(inTheWay); err != nil {
		t.Fatal(err)
	}
	if state, err := n.promote(); err != nil || !strings.Contains(state, "already") {
		t.Errorf("%q, %v", state, err)
	}
	if _, err := n.newToken(1, 0); err != nil {
		t.Error(err)
	}
	// What who asks has done wrong has MySQL's number for that, and is none of the errors that are logged as the server's.
	_, many := n.newToken(1<<40, 0)
	_, nobody := n.removeNode(77)
	_, last := n.removeNode(n.store.ID())
	for _, err := range []error{many, nobody, last} {
		if e, is := errors.AsType[*types.Error](err); !is || e.Number != types.ErWrongArguments {
			t.Errorf("an error of another number: %v", err)
		}
	}
}
