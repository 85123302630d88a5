package tests

import (
	"bytes"
	"fmt"
	"net"
	"testing"
	"time"

	"github.com/pandodb/pando/internal/testkit"
)

// The number of clients of a flood, and capabilities that floods ask for.
const (
	floodClients  = 400
	capAttributes = 1 << 27 // query attributes
	floodLeft     = 64 << 20
)

// floods are what clients do together by means of the protocol rather than of a statement: each is done by floodClients clients on connections that
// stay open until all have, and none of which has more than a MiB of anything. send returns the bytes that a client sends once it has logged in.
var floods = map[string]struct {
	caps uint32
	send func(c *rawClient) []byte
}{
	"query attributes": {capAttributes, func(*rawClient) []byte {
		const n = 65_000
		b := append([]byte{3, 0xfc, n & 0xff, n >> 8, 1}, bytes.Repeat([]byte{0xff}, (n+7)/8)...)
		b = append(append(b, 1), bytes.Repeat([]byte{6, 0, 0}, n)...)
		return rawPacket(append(b, "SELECT SLEEP(5)"...))
	}},
	"short statements": {0, func(*rawClient) []byte { return rawQuery("SELECT LENGTH(CONCAT(REPEAT('a',900000),SLEEP(5)))") }},
	"user variables":   {0, func(*rawClient) []byte { return rawQuery("SET @a=REPEAT('a',900000)") }},
	"buffers that are kept": {0, func(*rawClient) []byte {
		return rawQuery("SELECT COUNT(CONCAT(REPEAT(t.s,60),u.s)) FROM t JOIN t u")
	}},
	"parts of packets": {0, func(*rawClient) []byte { return append([]byte{0xff, 0xff, 0xff, 0, 3}, make([]byte, 60_000)...) }},
	"long data": {0, func(c *rawClient) []byte {
		answer := c.command(append([]byte{0x16}, "SELECT ?,?"...)...)
		if len(answer) < 5 || answer[0] != 0 {
			c.t.Fatalf("PREPARE got %q", answer)
		}
		data := append(append([]byte{0x18}, answer[1:5]...), 0, 0)
		return rawPacket(append(data, make([]byte, 900_000)...))
	}},
	"long data of many parameters": {0, func(c *rawClient) []byte {
		const n = 10_000
		answer := c.command(append([]byte{0x16}, "SELECT ?"+string(bytes.Repeat([]byte(",?"), n-1))...)...)
		if len(answer) < 5 || answer[0] != 0 {
			return nil // there is no memory for the statement
		}
		var b []byte
		for i := range n {
			b = append(b, rawPacket(append(append([]byte{0x18}, answer[1:5]...), byte(i), byte(i>>8), 'x'))...)
		}
		return b
	}},
	"savepoints": {0, func(*rawClient) []byte {
		b := rawQuery("BEGIN")
		for i := range 1000 {
			b = append(b, rawQuery(fmt.Sprintf("SAVEPOINT a%d_%050d", i, i))...)
		}
		return b
	}},
	"answers that nobody reads": {0, func(*rawClient) []byte {
		return bytes.Repeat(rawQuery("SELECT REPEAT('a',60000) UNION ALL SELECT REPEAT('b',60000)"), 100)
	}},
}

// rawPacket is a payload with its header.
func rawPacket(payload []byte) []byte {
	return append([]byte{byte(len(payload)), byte(len(payload) >> 8), byte(len(payload) >> 16), 0}, payload...)
}

func rawQuery(text string) []byte { return rawPacket(append([]byte{3}, text...)) }

// TestFloods: hundreds of clients that take little each don't end a server of a 512 MB memory cgroup. Others go on, and all memory is given back.
func TestFloods(t *testing.T) {
	t.Parallel() // its clients wait much of the time
	n := cagedNode(t, 64<<20)
	db := n.open("")
	mustExec(t, db, "CREATE DATABASE d", "CREATE TABLE d.t (id INT PRIMARY KEY, s VARCHAR(20))")
	for i := range 100 {
		mustExec(t, db, fmt.Sprintf("INSERT INTO d.t VALUES (%d,'abcdefgh')", i))
	}
	names := map[string]string{}
	for name := range floods {
		names[name] = name
	}
	bombard(t, n, names, flood, floodLeft)
}

// flood lets clients send what a flood has them send, and looks whether the server still answers one that waits for its end.
func flood(t *testing.T, n *node, name, _ string) {
	t.Helper()
	f := floods[name]
	sent := make(chan error, floodClients)
	var clients []*rawClient
	for range floodClients {
		c := n.loginWith(f.caps)
		clients = append(clients, c)
		if err := c.conn.SetDeadline(time.Now().Add(5 * rawDeadline)); err != nil { // hundreds of others are served first
			t.Fatal(err)
		}
		if f.caps == 0 {
			c.command(append([]byte{2}, 'd')...)
		}
	}
	for _, c := range clients {
		b := f.send(c)
		go func() {
			_, err := c.conn.Write(b) // an error if the server refuses more, or at the end
			sent <- err
		}()
	}
	waits := n.loginWith(0)
	if answer := waits.command(append([]byte{3}, "SELECT SLEEP(6)"...)...); number(answer) != 0 {
		t.Errorf("%s: a client that waits: %q", name, answer)
	}
	for _, c := range append(clients, waits) {
		_ = c.conn.(*net.TCPConn).SetLinger(0)
		_ = c.conn.Close()
	}
	for range clients {
		<-sent
	}
	testkit.Await(t, name+": its clients are gone", func() bool {
		return queryInt(t, n.open(""), "SELECT COUNT(*) FROM information_schema.processlist") < floodClients/2
	})
}
