package wire

import (
	"os"
	"sync"
	"time"
)

// A connection's turn is over when turnCommands commands in a row were already there. To end a turn costs as much as a short command
// does, so those of a client that keeps up are served some milliseconds long (bench/results/2026-11-21-turns.md).
//
// Of k commands in a turn one waits until all others have had theirs, for k times the mean. If that is more than one in twenty it is
// p95, so that turns are to be much longer than that or have one command only: among crowdMin connections a turn goes on while it is
// brisk. What is brisk fits thirty times into turnLongest. Commands near that bound have turns of every length, and the bound is a time:
// which commands these are depends on the processor (bench/results/2026-11-26-brisk.md). A turn is also over at the end of a transaction,
// all of whose statements have waited for the same turn, and after turnLongest.
// Among fewer it is over after an answer of more than turnAnswerBytes, a packet of the network, where that hardly shows.
//
// Where they are very many, all that belongs to a client, its connection and its session has left the processors' caches when its turn
// comes, and to fetch it costs both sides as much as a few statements. A turn there has a transaction for each turnTxnConns active
// connections, as long as they fit into turnCommands and turnLongest: none is to wait in its middle for the turns of all others. The price
// is p95, which is then how long those turns take (bench/results/2026-11-26-turns-of-transactions.md).
const (
	turnCommands    = 128
	turnLongest     = 6 * time.Millisecond   // of the server's time, where connections are many
	turnBrisk       = 200 * time.Microsecond // mean time that commands of a brisk turn take the server, until it answers
	crowdMin        = 32
	turnTxnConns    = 192
	turnAnswerBytes = 1460
	// While statements read what no cache has, a client is preempted often enough that more than one command in twenty is waited for
	// anyhow, and p95 is how long the turns of the others last. So many commands in a row have a turn then, outside of transactions
	// (bench/results/2026-11-26-cold-turns.md).
	turnScatteredFew  = 3
	turnScatteredMany = 2
)

// Statements read much that is in no cache while they read a block for each missShare commands at least. Fewer commands than missSample
// between two looks of the reaper tell nothing, and need no turns.
const (
	missShare  = 2
	missSample = 100
)

// missWatch is what the server's totals were when the reaper looked last.
type missWatch struct{ commands, misses uint64 }

// missing tells whether statements read much that is in no cache. Only the reaper calls it. That share says what short turns are
// for without being changed by them: how often clients are waited for would, since a short turn of one makes others wait.
func (s *Server) missing() bool {
	if s.opt.BlockMisses == nil {
		return false
	}
	before, now := s.misses, s.Counters()
	s.misses = missWatch{commands: now.Questions(), misses: s.opt.BlockMisses()}
	commands, misses := s.misses.commands-before.commands, s.misses.misses-before.misses
	return commands >= missSample && misses*missShare >= commands
}

// turn is what a connection has had of its turn.
type turn struct {
	run   int           // commands in a row that were already there
	spent time.Duration // by the server on its commands until it answered, where connections are many
	txn   bool          // the command before was in a transaction, where connections are many
	txns  int           // transactions that have ended in this turn, where connections are many
	// singles is how many commands in a row came outside of transactions, while statements read what no cache has.
	singles int
}

// brisk tells whether the run commands of the turn and the one before them, which was waited for, are short. They have the time of
// one more between them, for one in which somebody else had the processor.
func (t *turn) brisk() bool { return t.spent <= time.Duration(t.run+2)*turnBrisk }

// fits tells whether one more transaction like those of the turn belongs to it, where it may have most of them.
func (t *turn) fits(most int) bool {
	next := t.txns + 1
	return next <= most && (t.run+1)*next <= turnCommands*t.txns && t.spent*time.Duration(next) <= turnLongest*time.Duration(t.txns)
}

// scatteredOver tells whether the turn, of which one more command is at hand, in a transaction or not, has been long enough while
// statements read what no cache has.
func (t *turn) scatteredOver(crowded, txn bool) bool {
	if txn {
		t.singles = 0
		return false
	}
	t.singles++
	if crowded {
		return t.singles >= turnScatteredMany
	}
	return t.singles >= turnScatteredFew
}

// turns makes connections take turns.
//
// A client that gets the processor as soon as its answer is written, or that sends ahead, has its next command in the socket before
// the connection looks for it. The connection's goroutine would then never block, and the runtime, which asks the network poller only
// when it has nothing to run, would serve it for 10 ms and more while the others wait in the poller. Yielding to the runtime is no
// remedy, because the poller is not asked then either.
//
// So who has had its turn waits for the usher, who waits for a byte in a pipe: the poller finds the byte behind all sockets that were
// ready before it was written. One byte is enough for all that wait.
type turns struct {
	mu          sync.Mutex // guards the list and closed; a leaf
	first, last *conn
	closed      bool // nobody waits any more
	ear, bell   *os.File
	done        chan struct{} // closed when the usher has ended
}

// open starts the usher. Without a pipe nobody waits.
func (t *turns) open() error {
	ear, bell, err := os.Pipe()
	if err != nil {
		t.closed = true
		return err
	}
	t.ear, t.bell, t.done = ear, bell, make(chan struct{})
	go t.usher()
	return nil
}

// close ends the usher and waits for it.
func (t *turns) close() {
	t.mu.Lock()
	t.closed = true
	t.mu.Unlock()
	if t.done == nil {
		return
	}
	_ = t.bell.Close() // the usher reads the end and releases who waits
	<-t.done
	_ = t.ear.Close()
}

func (t *turns) usher() {
	defer close(t.done)
	var heard [16]byte
	for {
		_, err := t.ear.Read(heard[:])
		t.release()
		if err != nil {
			return
		}
	}
}

// release wakes all that wait, in the order in which they came.
func (t *turns) release() {
	t.mu.Lock()
	c := t.first
	t.first, t.last = nil, nil
	t.mu.Unlock()
	for c != nil {
		next := c.behind
		c.behind = nil
		c.next <- struct{}{}
		c = next
	}
}

var ring = []byte{0}

// wait returns when the connections that were ready before the call have been given to the runtime.
func (t *turns) wait(c *conn) {
	t.mu.Lock()
	if t.closed {
		t.mu.Unlock()
		return
	}
	alone := t.first == nil
	if alone {
		t.first = c
	} else {
		t.last.behind = c
	}
	t.last = c
	t.mu.Unlock()
	if alone {
		if _, err := t.bell.Write(ring); err != nil {
			t.release()
		}
	}
	<-c.next
}
