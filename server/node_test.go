package server

import (
	"bytes"
	"context"
	"encoding/binary"
	"io"
	"math"
	"net"
	"strings"
	"testing"

	"github.com/pandodb/pando/keys"
	"github.com/pandodb/pando/txn"
)

// testOptions are those of a node on free ports over a fresh directory.
func testOptions(t *testing.T) Options {
	t.Helper()
	o := DefaultOptions()
	o.DataDir, o.Listen, o.HTTP = t.TempDir(), "127.0.0.1:0", "127.0.0.1:0"
	o.CacheBytes, o.MemoryBytes = 16<<20, 256<<20
	return o
}

// TestOpenAndClose: a node opens on an empty directory, closes, and opens again on the same one.
func TestOpenAndClose(t *testing.T) {
	o := testOptions(t)
	for range 2 {
		n, err := Open(context.Background(), o)
		if err != nil {
			t.Fatal(err)
		}
		if c, err := net.Dial("tcp", n.MySQLAddr()); err != nil {
			t.Error(err)
		} else {
			c.Close()
		}
		if err := n.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// TestSettingsOfVariables: a setting that a variable takes over is checked as SET checks it, and what is fixed at the start is told.
func TestSettingsOfVariables(t *testing.T) {
	o := testOptions(t)
	o.DefaultTimeZone = "Europe/Nowhere"
	if n, err := Open(context.Background(), o); err == nil || !strings.Contains(err.Error(), "time_zone") || !strings.Contains(err.Error(), "Nowhere") {
		t.Errorf("an unknown time zone: %v", err)
		if err == nil {
			_ = n.Close()
		}
	}
	o.DefaultTimeZone, o.RequireTLS = "system", true
	n, err := Open(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	defer n.Close()
	for name, want := range map[string]string{"time_zone": "SYSTEM", "require_secure_transport": "ON", "innodb_flush_log_at_trx_commit": "1"} {
		if got := n.shared().Global(name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
}

// TestSecureTransportPersisted: the variable tells what the listener does, not what an older version, which took SET PERSIST, has kept.
func TestSecureTransportPersisted(t *testing.T) {
	o := testOptions(t)
	const name = "require_secure_transport"
	for _, kept := range []string{"ON", "OFF"} {
		o.RequireTLS = false
		n, err := Open(context.Background(), o)
		if err != nil {
			t.Fatal(err)
		}
		tx := n.shared().Txns.Begin(txn.Options{Level: txn.ReadCommitted})
		if err := tx.Put(keys.SystemKey(nil, 'v', []byte(name)), append([]byte{byte(len(name))}, name+kept...)); err != nil {
			t.Fatal(err)
		}
		if err := tx.Commit(); err != nil {
			t.Fatal(err)
		}
		tx.Release()
		if err := n.Close(); err != nil {
			t.Fatal(err)
		}
		o.RequireTLS = kept == "OFF"
		if n, err = Open(context.Background(), o); err != nil {
			t.Fatal(err)
		}
		if got := n.shared().Global(name); got == kept {
			t.Errorf("with TLS required %v, the variable is %s", o.RequireTLS, got)
		}
		if err := n.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// TestKillWideID: a number that only ends like a connection's is nobody's. KILL has looked up the whole number when it checked who may.
func TestKillWideID(t *testing.T) {
	n, err := Open(context.Background(), testOptions(t))
	if err != nil {
		t.Fatal(err)
	}
	defer n.Close()
	c, err := net.Dial("tcp", n.MySQLAddr())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	greeting := make([]byte, 128)
	if _, err := io.ReadAtLeast(c, greeting, len(greeting)/2); err != nil {
		t.Fatal(err)
	}
	// Behind the packet's header and the protocol's version comes the server's, ended by a zero.
	_, rest, _ := bytes.Cut(greeting[5:], []byte{0})
	id := uint64(binary.LittleEndian.Uint32(rest))
	for _, wide := range []uint64{id | 1<<32, id | math.MaxUint32<<32} {
		if n.shared().Kill(wide, true) {
			t.Errorf("KILL %d reached connection %d", wide, id)
		}
	}
	if !n.shared().Kill(id, true) {
		t.Errorf("there is no connection %d", id)
	}
}

// TestRefusals: what stands in the way of a start is said in a sentence, and nothing is left open.
func TestRefusals(t *testing.T) {
	o := testOptions(t)
	n, err := Open(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	defer n.Close()
	same := o
	if _, err := Open(context.Background(), same); err == nil || !strings.Contains(err.Error(), "another process") {
		t.Errorf("a second node on the same directory: %v", err)
	}
	busy := testOptions(t)
	busy.Listen = n.MySQLAddr()
	if _, err := Open(context.Background(), busy); err == nil || !strings.Contains(err.Error(), "in use") || !strings.Contains(err.Error(), "--listen") {
		t.Errorf("a busy port: %v", err)
	}
	bad := testOptions(t)
	bad.MaxConnections, bad.LogLevel = -1, "loud"
	if _, err := Open(context.Background(), bad); err == nil || !strings.Contains(err.Error(), "max-connections") || !strings.Contains(err.Error(), "log-level") {
		t.Errorf("bad settings: %v", err)
	}
	stopped, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Open(stopped, testOptions(t)); err == nil {
		t.Error("a start that was stopped went on")
	}
}
