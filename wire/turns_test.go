package wire

import (
	"bytes"
	"io"
	"runtime"
	"slices"
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
		c := &conn{next: make(chan struct{}, 1)}
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
	c := &conn{srv: &Server{}, sess: &fakeSession{}}
	next := func(waited bool, answer int) bool {
		c.sock.waited, c.reply = waited, answer
		return c.turnOver(false)
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

// TestTurnOverCrowded: among many connections a turn ends with many short commands, with a few that take long, after some time, and
// with a transaction.
func TestTurnOverCrowded(t *testing.T) {
	sess := &fakeSession{}
	c := &conn{srv: &Server{}, sess: sess}
	// turn returns at which command after the first, which was waited for, the turn is over, when each takes the server as long.
	turn := func(took time.Duration, status func(i int) uint16) int {
		t.Helper()
		c.sock.waited = true
		for i := range 2 * turnCommands {
			sess.trans = status(i)
			if c.turnOver(true) {
				return i
			}
			c.reply, c.sock.waited = 1<<20, false
			c.turn.spent += took
		}
		t.Fatalf("no end of a turn of commands of %v", took)
		return 0
	}
	alone := func(int) uint16 { return 0 }
	inside := func(int) uint16 { return sqlapi.StatusInTrans }
	for _, test := range []struct {
		took   time.Duration
		status func(i int) uint16
		want   int
	}{
		{0, alone, turnCommands},
		{turnBrisk, alone, int((turnLongest + turnBrisk - 1) / turnBrisk)},
		{2*turnBrisk + 1, alone, 1},
		{2*turnBrisk + 1, inside, 1},
		{0, inside, turnCommands},
	} {
		for range 2 {
			if got := turn(test.took, test.status); got != test.want {
				t.Errorf("commands of %v: the turn is over at command %d, want %d", test.took, got, test.want)
			}
		}
	}
	each := func(commands int) func(i int) uint16 { // transactions, each of which the first command of the next one sees the end of
		return func(i int) uint16 {
			if i%commands == 0 {
				return 0
			}
			return sqlapi.StatusInTrans
		}
	}
	for _, test := range []struct {
		most, commands int
		took           time.Duration
		want           int
	}{
		{0, 10, 0, 10},
		{1, 10, 0, 10},
		{3, 10, 0, 30},
		{turnCommands, 16, 0, turnCommands},
		{turnCommands, 20, 0, turnCommands / 20 * 20},     // none is broken by the end of a turn
		{turnCommands, 20, turnLongest / 50, 40},          // likewise
		{turnCommands, 2 * turnCommands, 0, turnCommands}, // but for one that is longer than a turn
	} {
		c.srv.turnTxns.Store(int32(test.most))
		for range 2 {
			if got := turn(test.took, each(test.commands)); got != test.want {
				t.Errorf("%+v: the turn is over at command %d", test, got)
			}
		}
	}
	if turnLongest/turnBrisk < 30 {
		t.Error("of a turn that goes on as long as it may the first command is one in twenty or more")
	}
}

// TestTurnTime: among many connections the time counts until the answer begins to be written, and only there.
func TestTurnTime(t *testing.T) {
	s, client := socketPair(t)
	c := &conn{srv: &Server{}, count: &counterShard{}}
	c.stream = s
	write := func(bytes int) {
		t.Helper()
		if err := c.write(make([]byte, bytes)); err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadFull(client, make([]byte, bytes)); err != nil {
			t.Fatal(err)
		}
	}
	if write(1); c.turn.spent != 0 {
		t.Errorf("%v where connections are few", c.turn.spent)
	}
	c.began = clock.Mono() - time.Hour
	write(1)
	took := c.turn.spent
	if write(1); took < time.Hour || c.turn.spent != took {
		t.Errorf("%v by the first packet of an answer of an hour, %v by the second", took, c.turn.spent)
	}
}

// TestTurnOverScattered: turns are short while statements read much that is in no cache, but for those in a transaction.
func TestTurnOverScattered(t *testing.T) {
	sess := &fakeSession{}
	c := &conn{srv: &Server{}, sess: sess, count: &counterShard{}}
	// ends returns at which commands of a dozen, behind one that was waited for, a turn ends.
	ends := func(crowded bool) (at []int) {
		for i := range 13 {
			c.sock.waited, c.reply = i == 0, 100
			if c.turnOver(crowded) {
				at = append(at, i)
			}
		}
		return at
	}
	if few, many := ends(false), ends(true); few != nil || many != nil {
		t.Errorf("turns end at %v and %v though all is in the cache", few, many)
	}
	c.srv.scattered.Store(true)
	if few, many := ends(false), ends(true); !slices.Equal(few, []int{3, 6, 9, 12}) || !slices.Equal(many, []int{2, 4, 6, 8, 10, 12}) {
		t.Errorf("turns end at %v of few, at %v of many", few, many)
	}
	if n := c.count.shortTurns.Load(); n != 10 {
		t.Errorf("%d short turns are counted", n)
	}
	sess.trans = sqlapi.StatusInTrans
	if few, many := ends(false), ends(true); few != nil || many != nil {
		t.Errorf("in transactions turns end at %v and %v", few, many)
	}
	// Transactions of six commands: their ends are no ends of turns. Where connections are many, another rule ends those.
	c.sock.waited = true
	c.turnOver(false)
	for i := range 100 {
		c.sock.waited, sess.trans = false, sqlapi.StatusInTrans
		if i%6 == 0 {
			sess.trans = 0
		}
		if c.turnOver(false) {
			t.Fatalf("the turn of a client that has transactions ends at command %d", i)
		}
	}
	c.srv.lone.Store(true)
	if sess.trans = 0; ends(false) != nil {
		t.Error("a turn ends though nobody else is active")
	}
}

// TestMissing: half of the commands between two looks say that statements read much that is in no cache, if they are enough.
func TestMissing(t *testing.T) {
	var commands, misses uint64
	s := newPlacesServer()
	s.opt.BlockMisses = func() uint64 { return misses }
	for _, c := range []struct {
		commands, misses uint64
		want             bool
	}{{0, 0, false}, {1000, 0, false}, {1000, 499, false}, {1000, 500, true}, {1000, 5000, true}, {0, 0, false}, {99, 99, false}, {100, 50, true}, {1000, 0, false}} {
		commands, misses = commands+c.commands, misses+c.misses
		s.counters.shard(uint32(commands)).commands[ComQuery].Add(c.commands)
		if s.inspect(nil, 100); s.scattered.Load() != c.want {
			t.Errorf("%d misses of %d commands: %v", c.misses, c.commands, !c.want)
		}
	}
	s.opt.BlockMisses = nil
	if s.missing() {
		t.Error("what is not known counts")
	}
}

// TestCrowded: the reaper counts the connections that have been active of late, and those only. One of them is alone, unless it has
// the only processor. For each turnTxnConns of them a turn has a transaction.
func TestCrowded(t *testing.T) {
	const now = 100
	s := newPlacesServer()
	var conns []*conn
	look := func(want bool) {
		t.Helper()
		if s.inspect(conns, now); s.crowded.Load() != want || s.lone.Load() {
			t.Errorf("%d connections: crowded is %v, lone %v", len(conns), s.crowded.Load(), s.lone.Load())
		}
	}
	add := func(when uint64) *conn {
		c := &conn{srv: s.Server}
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
	last.standing.Store(true)
	look(true)
	for len(conns) < 2*turnTxnConns+crowdMin {
		add(now).state.Store(now<<16 | phaseBusy)
	}
	look(true)
	if txns := s.turnTxns.Load(); txns != 2 {
		t.Errorf("%d transactions a turn of %d connections", txns, len(conns)-crowdMin)
	}
	var misses uint64
	s.opt.BlockMisses = func() uint64 { misses += missSample; return misses }
	s.counters.shard(0).commands[ComQuery].Add(missSample)
	look(true)
	if txns := s.turnTxns.Load(); !s.scattered.Load() || txns != 1 {
		t.Errorf("%d transactions a turn while statements read what no cache has", txns)
	}
	if activeTicks <= reapPeriod/tick {
		t.Error("who had his command right after a look is not active for the next one, if that comes late")
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
