package tests

import (
	"testing"
	"time"
)

const (
	manyConnections = 2000
	manyStatements  = 200_000
	// manyBytes bounds the memory of a server with that many live prepared statements, which share their plans.
	manyBytes = 1 << 30
)

// TestManyConnections holds 2,000 connections at once, each of which answers; one more is told so at once and those that are there go on.
func TestManyConnections(t *testing.T) {
	n := startNode(t, "")
	clients := make([]*rawClient, manyConnections)
	for i := range clients {
		clients[i] = n.login()
		if err := clients[i].conn.SetDeadline(time.Now().Add(5 * rawDeadline)); err != nil {
			t.Fatal(err)
		}
	}
	if got := number(n.dial().read()); got != 1040 {
		t.Errorf("connection %d got error %d, want 1040", manyConnections+1, got)
	}
	for _, c := range clients {
		c.alive()
	}
	t.Logf("%d connections: %d MiB resident", manyConnections, n.rssBytes()>>20)
	clients[0].conn.Close()
	for deadline := time.Now().Add(rawDeadline); ; {
		c := n.dial()
		if hello := c.read(); len(hello) > 0 && hello[0] == 10 {
			break // a place that became free is given away
		}
		if time.Now().After(deadline) {
			t.Fatal("the place of a closed connection stayed taken")
		}
	}
}

// TestManyStatements prepares 200,000 statements and executes the last of each connection. The one above the cap gets 1461, and closing
// some makes room.
func TestManyStatements(t *testing.T) {
	n := startNode(t, "", "--max-prepared-statements", "200000")
	mustExec(t, n.open(""), "CREATE DATABASE sbtest")
	mustExec(t, n.open("sbtest"), "CREATE TABLE t (id INT PRIMARY KEY, c CHAR(120))")
	const connections = 40
	text := append([]byte{0x16}, "SELECT c FROM sbtest.t WHERE id=1"...)
	var last *rawClient
	for range connections {
		last = n.login()
		if err := last.conn.SetDeadline(time.Now().Add(5 * rawDeadline)); err != nil {
			t.Fatal(err)
		}
		for range manyStatements / connections {
			if answer := last.command(text...); len(answer) == 0 || answer[0] != 0 {
				t.Fatalf("PREPARE got %q", answer)
			}
			last.read() // the column
			last.read() // EOF
		}
	}
	if got := number(last.command(text...)); got != 1461 {
		t.Errorf("one statement more got error %d, want 1461", got)
	}
	rss := n.rssBytes()
	t.Logf("%d prepared statements: %d MiB resident", manyStatements, rss>>20)
	if rss > manyBytes {
		t.Errorf("%d bytes resident, above %d", rss, manyBytes)
	}
	last.seq = 0
	last.send([]byte{0x19, 1, 0, 0, 0}) // CLOSE has no answer
	if answer := last.command(text...); len(answer) == 0 || answer[0] != 0 {
		t.Errorf("PREPARE after CLOSE got %q", answer)
	}
}
