package server

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/pandodb/pando/clock"
	"github.com/pandodb/pando/store"
)

const (
	// takeOverMax bounds the attempt to lead all regions: a node that lacks a copy of one, or has lost its network, must make way for another.
	takeOverMax = 20 * time.Second
	// takeOverPause is the pause before a node that leads region 0 tries again to become the gateway, after it failed or has lost that role.
	takeOverPause = 500 * time.Millisecond
	// resignMax bounds the wait for another node to lead what this one, which ends or leaves the cluster, has led.
	resignMax = 3 * time.Second
	// sessionsEndMax is after what time it is logged that the sessions of a former gateway have not ended.
	sessionsEndMax = 10 * time.Second
	// leadWhileEnding is how long a former gateway may lead region 0 again while its old sessions have not ended, so that it cannot serve: then it hands
	// the leadership over.
	leadWhileEnding = 2 * time.Second
)

// keepRole is the goroutine of a node of a cluster: while its store leads region 0 the node is the gateway and executes SQL; otherwise it
// relays its clients to the gateway (docs/design/0021).
func (n *Node) keepRole() {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	n.loops.Go(func() {
		<-n.stop
		cancel()
	})
	for {
		gateway, here, term, changed := n.store.Role()
		n.handOn.cutOthers(gateway)
		var again <-chan time.Time
		switch {
		case here:
			err := n.lead(ctx)
			if ctx.Err() != nil {
				return
			}
			if err != nil {
				n.log.Warn("this node leads region 0 and could not become the gateway", "term", term, "error", err)
			}
			// It tries again, as the leader and the term may stay the same: if all nodes were suspended at once, the lease has expired, but
			// nobody else was elected.
			again = clock.After(takeOverPause)
		case gateway != 0:
			n.log.Info("clients are handed on to the gateway", "gateway", gateway, "term", term)
		}
		select {
		case <-n.stop:
			return
		case <-changed:
		case <-again:
		}
	}
}

// lead makes the node the gateway, unless it already is, and returns when it has lost that role or ctx ends.
func (n *Node) lead(ctx context.Context) error {
	if n.sql.get() == nil {
		limited, cancel := context.WithTimeout(ctx, takeOverMax)
		err := n.store.TakeOver(limited)
		late := limited.Err() != nil && ctx.Err() == nil
		cancel()
		switch {
		case late:
			n.store.StepDown()
			n.store.HandOver()
			return fmt.Errorf("it cannot lead all regions, another node is asked to: %w", err)
		case errors.Is(err, store.ErrNotGateway):
			return nil // another was elected meanwhile
		case err != nil:
			return err
		}
		if err := n.openSQL(); err != nil {
			n.store.StepDown()
			n.store.HandOver() // another may be able to
			return err
		}
		n.log.Info("clients are served here: this node is the gateway")
	}
	lost := n.store.Lost()
	repairing, stop := context.WithCancel(ctx)
	var repair sync.WaitGroup
	repair.Go(func() { n.keepMembers(repairing) })
	repair.Go(func() { n.askForFacts(repairing) })
	select {
	case <-ctx.Done():
	case <-lost:
	}
	stop()
	repair.Wait()
	if ctx.Err() == nil {
		n.yieldGateway()
	}
	return nil
}

// resign makes another node the gateway, and waits for that for a moment.
func (n *Node) resign() {
	ctx, cancel := context.WithTimeout(context.Background(), resignMax)
	defer cancel()
	n.store.Resign(ctx)
}

// yieldGateway ends the sessions and closes the SQL layer.
func (n *Node) yieldGateway() {
	began := clock.Mono()
	g := n.sql.set(nil)
	n.log.Warn("this node is not the gateway any more; its clients are disconnected", "clients", n.wire.OpenConnections())
	ended := make(chan struct{})
	n.loops.Go(func() {
		n.wire.Disconnect()
		g.open.Wait()
		close(ended)
	})
	n.awaitSessions(ended)
	if err := g.close(true); err != nil {
		n.log.Warn("ending what executes SQL", "error", err)
	}
	n.store.StepDown()
	n.log.Info("what executes SQL has ended", "took", clock.Since(began))
}

// awaitSessions returns when the sessions of a former gateway have ended. If this node is elected again meanwhile, it hands over, as it cannot serve.
func (n *Node) awaitSessions(ended <-chan struct{}) {
	late := clock.NewTimer(sessionsEndMax)
	defer late.Stop()
	ticker := clock.NewTicker(leadWhileEnding)
	defer ticker.Stop()
	led := false
	for {
		select {
		case <-ended:
			return
		case <-late.C:
			n.log.Warn("sessions take long to end", "clients", n.wire.OpenConnections())
		case <-ticker.C:
			_, here, term, _ := n.store.Role()
			if led && here {
				n.log.Warn("this node leads region 0 again while its sessions end; another is asked to be the gateway", "region", 0, "term", term)
				n.store.HandOver()
			}
			led = here
		}
	}
}
