package wire

import (
	"bytes"
	"io"
	"net"
	"sync"
	"testing"
	"time"
)

// TestTurns lets many connections wait at once, and closes the line under them: everyone must come back.
func TestTurns(t *testing.T) {
	var line turns
	if err := line.open(); err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for range 16 {
		c := &conn{turn: make(chan struct{}, 1)}
		wg.Go(func() {
			for range 1000 {
				line.wait(c)
			}
		})
	}
	promptly(t, 10*time.Second, func() {
		line.close()
		wg.Wait()
	})
	if line.first != nil || line.last != nil {
		t.Error("somebody is still in the line")
	}
}

// TestTurnOver: a turn ends with many short commands in a row, or with one long answer, but not for who has to wait for his client.
func TestTurnOver(t *testing.T) {
	c := &conn{}
	next := func(waited bool, answer int) bool {
		c.sock.waited, c.reply = waited, answer
		return c.turnOver()
	}
	for round := range 3 {
		for i := range turnCommands {
			if over := next(false, 100); over != (i == turnCommands-1) {
				t.Fatalf("round %d, command %d: %v", round, i, over)
			}
		}
	}
	for i := range 3 * turnCommands {
		if next(i%(turnCommands-1) == 0, 100) {
			t.Fatal("a turn ended though the client was waited for")
		}
	}
	if next(true, 1<<20) {
		t.Error("a turn ended after a long answer though the client was waited for")
	}
	if !next(false, turnAnswerBytes+1) || next(false, turnAnswerBytes) {
		t.Error("a long answer does not end the turn, or a short one does")
	}
}

// TestSocketReads: reading a real socket allocates nothing, whether the bytes are there or have to be waited for, and tells which.
func TestSocketReads(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	client, err := net.Dial("tcp", listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	raw, err := listener.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer raw.Close()
	var s socket
	s.init(raw)
	if s.poll == nil {
		t.Fatal("a TCP connection is not read directly")
	}
	send := make(chan struct{})
	defer close(send)
	go func() {
		for range send {
			time.Sleep(time.Millisecond)
			if _, err := client.Write(ring); err != nil {
				t.Error(err)
			}
		}
	}()
	buf := make([]byte, 10)
	read := func() {
		if n, err := s.Read(buf); n != 1 || err != nil {
			t.Fatal(n, err)
		}
	}
	waits := 0
	n := testing.AllocsPerRun(50, func() {
		send <- struct{}{}
		s.waited = false
		if read(); s.waited {
			waits++
		}
	})
	if n != 0 || waits == 0 {
		t.Errorf("%v allocations; %d reads had to wait", n, waits)
	}
	n = testing.AllocsPerRun(50, func() {
		if _, err := client.Write(ring); err != nil {
			t.Fatal(err)
		}
		read()
	})
	if n != 0 {
		t.Errorf("%v allocations when the byte is there", n)
	}
	_ = client.Close() // the next read meets the end
	if n, err := s.Read(buf); n != 0 || err != io.EOF {
		t.Errorf("at the end: %d %v", n, err)
	}
}

// TestPipelined sends many commands at once: a connection that finds them all there takes turns with the others, and answers each.
func TestPipelined(t *testing.T) {
	const commands = 2000
	ts := startServer(t, nil)
	var wg sync.WaitGroup
	for range 4 {
		r := ts.dial(t)
		r.login(capProtocol41|capPluginAuth, "root")
		wg.Go(func() {
			if _, err := r.conn.Write(bytes.Repeat([]byte{1, 0, 0, 0, ComPing}, commands)); err != nil {
				t.Error(err)
				return
			}
			for i := range commands {
				if p, err := r.tryRead(); err != nil || p[0] != headerOK {
					t.Errorf("answer %d: %x, %v", i, p, err)
					return
				}
			}
		})
	}
	promptly(t, 10*time.Second, wg.Wait)
}
