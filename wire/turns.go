package wire

import (
	"os"
	"sync"
	"time"
)

// A connection's turn is over when turnCommands commands in a row were already there, or one was after an answer of more than
// turnAnswerBytes, a packet of the network. To end a turn costs as much as a short command does, so those of a client that keeps
// up are served some milliseconds long; after an answer of some size it hardly shows (bench/results/2026-11-21-turns.md). With
// crowdMin connections the others' turns add up to half a second, so they are shorter, and shorter still where commands take long:
// of k in a turn the first waits for k times the mean, and is more than one in twenty (bench/results/2026-11-23-crowded.md).
const (
	turnCommands    = 128
	turnCrowded     = 8                      // in place of turnCommands where connections are many
	turnCrowdedMax  = 80 * time.Microsecond  // since the turn began: no further command then
	turnTxnMax      = 200 * time.Microsecond // the same in a transaction, whose locks others may be waiting for
	crowdMin        = 128
	turnAnswerBytes = 1460
)

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
		c.turn <- struct{}{}
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
	<-c.turn
}
