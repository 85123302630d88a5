package wire

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/pandodb/pando/clock"
	"github.com/pandodb/pando/kvapi"
)

// disconnectPoll is how often Disconnect looks whether connections have ended.
const disconnectPoll = 5 * time.Millisecond

// Shutdown stops accepting, closes idle connections and lets busy ones finish their present command until ctx is done. Then it
// interrupts them, and after killGrace closes their sockets. It returns nil when every connection's goroutine has ended,
// otherwise how many are left after a second killGrace. A second call waits like the first.
func (s *Server) Shutdown(ctx context.Context) error {
	s.mu.Lock()
	first := !s.draining
	s.draining = true
	if first {
		close(s.quit)
	}
	for l := range s.listeners {
		_ = l.Close() // Serve returns on it
	}
	if first && len(s.list) == 0 {
		close(s.empty)
	}
	reaping := s.reaping
	s.reaping = true // none will be started any more
	s.mu.Unlock()

	// From here on no connection is added. The nudge ends idle ones now and busy ones after their command.
	for _, c := range s.snapshot(nil) {
		c.nudge(kvapi.ReasonShutdown)
	}
	err := s.drain(ctx)
	if first {
		close(s.stop)
		if !reaping {
			close(s.stopped)
		}
	}
	<-s.stopped
	return err
}

func (s *Server) drain(ctx context.Context) error {
	select {
	case <-s.empty:
		return nil
	case <-ctx.Done():
	}
	for _, c := range s.snapshot(nil) {
		c.interrupt(kvapi.ReasonShutdown)
	}
	if s.waitEmpty() {
		return nil
	}
	for _, c := range s.snapshot(nil) {
		_ = c.sock.Close() // its goroutine fails at its next read or write, and closes it again
	}
	if s.waitEmpty() {
		return nil
	}
	return fmt.Errorf("wire: %d connections did not end", len(s.snapshot(nil)))
}

// waitEmpty waits killGrace for the last connection to go.
func (s *Server) waitEmpty() bool {
	timer := clock.NewTimer(killGrace)
	defer timer.Stop()
	select {
	case <-s.empty:
		return true
	case <-timer.C:
		return false
	}
}

// Disconnect ends the connections that are open now, and accepts others meanwhile: it interrupts statements, and after killGrace closes the
// sockets of those that have not ended. Their sessions may take a moment longer.
func (s *Server) Disconnect() {
	conns := s.snapshot(nil)
	for _, c := range conns {
		c.nudge(kvapi.ReasonShutdown)
		c.interrupt(kvapi.ReasonShutdown)
	}
	for deadline := clock.Mono() + killGrace; clock.Mono() < deadline; clock.Sleep(disconnectPoll) {
		if conns = s.stillOpen(conns); len(conns) == 0 {
			return
		}
	}
	for _, c := range conns {
		_ = c.sock.Close() // its goroutine fails at its next read or write, and closes it again
	}
}

// stillOpen returns those of the connections that have not ended.
func (s *Server) stillOpen(conns []*conn) []*conn {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.DeleteFunc(conns, func(c *conn) bool { return s.conns[c.id] != c })
}
