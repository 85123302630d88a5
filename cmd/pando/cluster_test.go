package main

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/pandodb/pando/server"
)

// startServer opens a server in an empty directory until the test ends.
func startServer(t *testing.T) (port, socket string) {
	t.Helper()
	o := server.DefaultOptions()
	o.DataDir, o.Listen, o.HTTP, o.Socket, o.CacheBytes, o.MemoryBytes = t.TempDir(), "127.0.0.1:0", "", "s", 8<<20, 256<<20
	node, err := server.Open(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := node.Close(); err != nil {
			t.Error(err)
		}
	})
	_, port, _ = strings.Cut(node.MySQLAddr(), ":")
	return port, filepath.Join(o.DataDir, "s")
}

// TestAdminCommands: the subcommands reach a server by port and by socket, and show what it answers, its errors too.
func TestAdminCommands(t *testing.T) {
	port, socket := startServer(t)
	at := map[string][]string{"port": {"--port", port}, "socket": {"--socket", socket}}
	ask := func(way string, args ...string) (string, error) {
		var out strings.Builder
		err := run(append(args, at[way]...), nil, &out, &out)
		return out.String(), err
	}
	for way := range at {
		for _, args := range [][]string{{"token"}, {"token", "--uses", "3", "--hours", "2"}, {"node", "ls"}, {"node", "remove", "7"}, {"region", "ls"}} {
			out, err := ask(way, args...)
			if err == nil || out != "" || !strings.Contains(err.Error(), "1235") || !strings.HasPrefix(err.Error(), strings.Join(args[:min(len(args), 2)], " ")[:4]) {
				t.Errorf("%v by %s at a node that is no cluster's: %q %v", args, way, out, err)
			}
		}
	}
	for want, args := range map[string][]string{
		"is no number of a node":         {"node", "remove", "x"},
		"takes the number of one node":   {"node", "remove"},
		"a use and an hour at least":     {"token", "--uses", "0"},
		"has a use and an hour at least": {"token", "--hours", "0"},
	} {
		if _, err := ask("port", args...); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v", args, err)
		}
	}
	for way, want := range map[string]string{"port": "the store is the first of a cluster", "socket": "the store is the first of a cluster"} {
		if out, err := ask(way, "promote"); err != nil || !strings.HasPrefix(out, want) {
			t.Errorf("promote by %s: %q %v", way, out, err)
		}
	}
}

// TestPasswordOfEnvironment: the password in the environment is for commands, and root of a new directory has none. A refused login says where its password came from,
// --password ” means none, and a playground asks without one, too.
func TestPasswordOfEnvironment(t *testing.T) {
	port, _ := startServer(t)
	env := []string{"PANDO_PASSWORD=geheim"}
	ask := func(args ...string) error { return run(append(args, "--port", port), env, io.Discard, io.Discard) }
	dump := filepath.Join(t.TempDir(), "dump.sql")
	if err := os.WriteFile(dump, []byte("SELECT 1;\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"promote"}, {"backup", t.TempDir()}, {"export", t.TempDir()}, {"import", dump}} { // few, since each is answered later than the one before
		err := ask(args...)
		if err == nil || !strings.Contains(err.Error(), "1045") || !strings.Contains(err.Error(), "PANDO_PASSWORD") || strings.Contains(err.Error(), "geheim") {
			t.Errorf("%v with a password that root does not have: %v", args, err)
		}
	}
	if err := ask("promote", "--password", "wrong"); err == nil || !strings.Contains(err.Error(), "1045") || strings.Contains(err.Error(), "PANDO_PASSWORD") {
		t.Errorf("a wrong password of the command line: %v", err)
	}
	if err := ask("promote", "--password", ""); err != nil {
		t.Errorf("promote without a password: %v", err)
	}
	number, err := strconv.Atoi(port)
	if err != nil {
		t.Fatal(err)
	}
	for _, change := range []string{"SELECT 1", "ALTER USER root@localhost IDENTIFIED BY 'geheim'", "SELECT 2"} { // the last with the password
		if _, err := asRoot(env)(t.Context(), number, change); err != nil {
			t.Errorf("a playground's %s: %v", change, err)
		}
	}
	if _, err := asRoot([]string{"PANDO_PASSWORD=x"})(t.Context(), number, "SELECT 3"); err == nil || !strings.Contains(err.Error(), "using password: YES") {
		t.Errorf("a playground with a wrong password: %v", err)
	}
}

// TestShow: rows are columns under their names, or the first of each.
func TestShow(t *testing.T) {
	for table, want := range map[bool]string{true: "ID  NAME\n1   a\n22\n", false: "1\n22\n"} {
		var out strings.Builder
		if err := show(&out, []string{"ID", "NAME"}, [][]string{{"1", "a"}, {"22", ""}}, table); err != nil || out.String() != want {
			t.Errorf("%q %v", out.String(), err)
		}
	}
}
