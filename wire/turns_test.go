package wire

import (
	"bytes"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/pandodb/pando/clock"
	"github.com/pandodb/pando/sqlapi"
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
	sess := &fakeSession{}
	c := &conn{srv: &Server{}, sess: sess}
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
	c.srv.crowded.Store(true)
	for i := range turnCrowded {
		if over := next(false, 100); over != (i == turnCrowded-1) {
			t.Fatalf("many connections, command %d: %v", i, over)
		}
		c.began = clock.Mono() + time.Hour // a slow machine must not end the turn
	}
	for range 3 {
		if next(false, 100) {
			t.Fatal("many connections: the first command ends the turn")
		}
		c.began = clock.Mono() - turnCrowdedMax
		if !next(false, 100) {
			t.Fatal("many connections: a turn that has taken long goes on")
		}
	}
	sess.trans = sqlapi.StatusInTrans
	// after tells whether a turn that has taken so long is over, by the second command.
	after := func(taken time.Duration) bool {
		if next(true, 100) || next(false, 100) {
			t.Fatal("many connections: the first command ends the turn")
		}
		c.began = clock.Mono() - taken
		return next(false, 100)
	}
	goesOn := false
	for range 1000 { // the machine may stop in between
		goesOn = goesOn || !after(turnCrowdedMax)
	}
	if !goesOn {
		t.Error("many connections: a transaction's turns are no longer than others")
	}
	if !after(turnTxnMax) {
		t.Error("many connections: a transaction's turn does not end")
	}
	c.srv.crowded.Store(false)
	for i := range 3 * turnCommands {
		if next(i%(turnCommands-1) == 0, 100) {
			t.Fatal("a turn ended though the client was waited for")
		}
	}
	if next(true, 1<<20) {
		t.Error("a turn ended after a long answer though the client was waited for")
	}
	c.srv.lone.Store(true)
	for range 3 * turnCommands {
		if next(false, turnAnswerBytes+1) {
			t.Fatal("a turn ended though nobody else was active")
		}
	}
	c.srv.lone.Store(false)
	if !next(false, turnAnswerBytes+1) || next(false, turnAnswerBytes) {
		t.Error("a long answer does not end the turn, or a short one does")
	}
}

// TestCrowded: the reaper counts the connections that have been active of late, and those only. One of them is alone, unless it has
// the only processor.
func TestCrowded(t *testing.T) {
	const now = 100
	s := &Server{}
	var conns []*conn
	look := func(want bool) {
		t.Helper()
		if s.inspect(conns, now); s.crowded.Load() != want || s.lone.Load() {
			t.Errorf("%d connections: crowded is %v, lone %v", len(conns), s.crowded.Load(), s.lone.Load())
		}
	}
	add := func(when uint64) *conn {
		c := &conn{srv: s}
		c.state.Store(when<<16 | phaseIdle)
		conns = append(conns, c)
		return c
	}
	look(false)
	add(now)
	for procs := range 2 {
		before := runtime.GOMAXPROCS(procs + 1)
		s.inspect(conns, now)
		runtime.GOMAXPROCS(before)
		if s.lone.Load() != (procs == 1) {
			t.Errorf("one connection, %d processors: lone is %v", procs+1, s.lone.Load())
		}
	}
	for range crowdMin - 2 {
		add(now)
	}
	for range crowdMin {
		add(now - activeTicks - 1)
	}
	look(false)
	last := add(now - activeTicks)
	look(true)
	last.state.Store((now - activeTicks - 1) << 16)
	look(false)
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
