package transport

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/pandodb/pando/clock"
)

// callTimeMax bounds a call without a deadline.
const callTimeMax = time.Minute

// cutNumber takes a number off the front.
func cutNumber(b []byte) (uint64, []byte, error) {
	v, n := binary.Uvarint(b)
	if n <= 0 {
		return 0, nil, errors.New("a malformed frame")
	}
	return v, b[n:], nil
}

// Call asks a node and waits for its answer, for as long as ctx lasts. Errors are ErrBusy, ErrUnreachable, a *RemoteError, or ctx's.
func (t *Transport) Call(ctx context.Context, to uint64, kind byte, payload []byte) ([]byte, error) {
	if len(payload) > callBytesMax {
		return nil, fmt.Errorf("transport: a request of %d bytes, of %d that it may have", len(payload), callBytesMax)
	}
	p := t.peer(to)
	if p == nil {
		return nil, ErrClosed
	}
	ctx, cancel := context.WithTimeout(ctx, callTimeMax)
	defer cancel()
	c, err := p.callLink(ctx)
	if err != nil {
		return nil, err
	}
	t.metrics.Calls.Inc()
	return c.call(ctx, kind, payload)
}

// caller is the asking end of a link for calls.
type caller struct {
	link *link

	mu     sync.Mutex // guards what follows; taken before nothing
	number uint64
	calls  map[uint64]chan answer // each has room for one
	ended  error
}

type answer struct {
	b   []byte
	err error
}

func newCaller(l *link) *caller { return &caller{link: l, calls: map[uint64]chan answer{}} }

func (c *caller) call(ctx context.Context, kind byte, payload []byte) ([]byte, error) {
	deadline, _ := ctx.Deadline()
	left := deadline.Sub(clock.Now())
	if left <= 0 {
		return nil, context.DeadlineExceeded
	}
	reply := make(chan answer, 1)
	c.mu.Lock()
	if c.ended != nil {
		defer c.mu.Unlock()
		return nil, c.ended
	}
	if len(c.calls) >= callsMax {
		c.mu.Unlock()
		c.link.t.metrics.Busy.Inc()
		return nil, ErrBusy
	}
	c.number++
	number := c.number
	c.calls[number] = reply
	c.mu.Unlock()
	head := binary.AppendUvarint(nil, number)
	forget := func() {
		c.mu.Lock()
		delete(c.calls, number)
		c.mu.Unlock()
	}
	if !c.link.out.put(kindRequest, binary.AppendUvarint(append(head, kind), uint64(left.Milliseconds()+1)), payload) {
		forget()
		return nil, ErrBusy
	}
	select {
	case a := <-reply:
		return a.b, a.err
	case <-ctx.Done():
		forget()
		c.link.out.put(kindCancel, binary.AppendUvarint(nil, number), nil)
		return nil, ctx.Err()
	}
}

// take takes a reply.
func (c *caller) take(k kind, payload []byte) error {
	number, rest, err := cutNumber(payload)
	if err != nil || k != kindReply || len(rest) == 0 {
		return fmt.Errorf("a frame of kind %d that does not belong here", k)
	}
	a := answer{b: rest[1:]}
	switch rest[0] {
	case statusOK:
	case statusBusy:
		a = answer{err: ErrBusy}
	default:
		a = answer{err: &RemoteError{string(rest[1:])}}
	}
	c.mu.Lock()
	reply := c.calls[number]
	delete(c.calls, number)
	c.mu.Unlock()
	if reply != nil { // otherwise nobody waits any more
		reply <- a
	}
	return nil
}

// fail ends all calls.
func (c *caller) fail(err error) {
	c.mu.Lock()
	c.ended = err
	calls := c.calls
	c.calls = nil
	c.mu.Unlock()
	for _, reply := range calls {
		reply <- answer{err: err}
	}
}

// callServer is the answering end.
type callServer struct {
	link   *link
	ctx    context.Context // ends with the link
	cancel context.CancelFunc
	wg     sync.WaitGroup

	mu      sync.Mutex // guards running; a leaf
	running map[uint64]context.CancelFunc
}

func newCallServer(l *link) *callServer {
	s := &callServer{link: l, running: map[uint64]context.CancelFunc{}}
	s.ctx, s.cancel = context.WithCancel(l.t.ctx)
	return s
}

// close waits for the answers that are being made.
func (s *callServer) close() {
	s.cancel()
	s.wg.Wait()
}

func (s *callServer) take(k kind, payload []byte) error {
	number, rest, err := cutNumber(payload)
	if err != nil {
		return err
	}
	switch {
	case k == kindCancel:
		s.mu.Lock()
		cancel := s.running[number]
		s.mu.Unlock()
		if cancel != nil {
			cancel()
		}
		return nil
	case k != kindRequest || len(rest) == 0:
		return fmt.Errorf("a frame of kind %d that does not belong here", k)
	}
	what := rest[0]
	millis, body, err := cutNumber(rest[1:])
	if err != nil {
		return err
	}
	s.mu.Lock()
	_, repeated := s.running[number]
	if busy := len(s.running) >= callsMax; busy || repeated {
		s.mu.Unlock()
		if repeated {
			return fmt.Errorf("call %d is made twice", number)
		}
		s.link.t.metrics.Busy.Inc()
		s.reply(number, statusBusy, nil)
		return nil
	}
	ctx, cancel := context.WithTimeout(s.ctx, min(time.Duration(min(millis, uint64(callTimeMax/time.Millisecond)))*time.Millisecond, callTimeMax))
	s.running[number] = cancel
	s.mu.Unlock()
	s.wg.Go(func() {
		defer cancel()
		b, err := s.link.t.o.Handler.Call(ctx, s.link.node, what, body)
		s.mu.Lock()
		delete(s.running, number)
		s.mu.Unlock()
		switch {
		case ctx.Err() != nil && errors.Is(err, ctx.Err()):
			// The caller's own deadline says the same, or it has lost interest: an answer could only come before that as another's failure.
		case errors.Is(err, ErrBusy):
			s.reply(number, statusBusy, nil)
		case err != nil:
			s.reply(number, statusFailure, []byte(err.Error()))
		case len(b) > callBytesMax:
			s.reply(number, statusFailure, fmt.Appendf(nil, "an answer of %d bytes, of %d that it may have", len(b), callBytesMax))
		default:
			s.reply(number, statusOK, b)
		}
	})
	return nil
}

// reply puts an answer out. If there is no room, the caller's deadline ends its wait.
func (s *callServer) reply(number uint64, status byte, b []byte) {
	if !s.link.out.put(kindReply, append(binary.AppendUvarint(nil, number), status), b) {
		s.link.end(errFull)
	}
}
