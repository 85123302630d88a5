package transport

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/pandodb/pando/internal/testkit"
)

// TestCalls: many calls at once get their own answers; errors, deadlines and the loss of interest cross.
func TestCalls(t *testing.T) {
	c := newCluster(t, patient)
	a, b := c.join(1, nil), c.join(2, nil)
	ended := make(chan error, 1)
	b.in.call = func(ctx context.Context, from uint64, kind byte, payload []byte) ([]byte, error) {
		switch kind {
		case 1:
			return append(fmt.Appendf(nil, "%d:", from), payload...), nil
		case 2:
			return nil, errors.New("the sentence of a fault")
		case 3:
			return nil, fmt.Errorf("in a handler: %w", ErrBusy)
		}
		<-ctx.Done()
		if kind == 4 {
			ended <- ctx.Err()
		}
		return nil, ctx.Err()
	}
	ctx := background(t)
	var wg sync.WaitGroup
	for i := range 200 {
		wg.Go(func() {
			body := bytes.Repeat(fmt.Appendf(nil, "%d,", i), 1+i*7)
			got, err := a.Call(ctx, 2, 1, body)
			if err != nil || string(got) != "1:"+string(body) {
				t.Errorf("call %d: %d bytes, %v", i, len(got), err)
			}
		})
	}
	wg.Wait()
	_, err := a.Call(ctx, 2, 2, nil)
	if remote, is := errors.AsType[*RemoteError](err); !is || remote.Text != "the sentence of a fault" {
		t.Errorf("a fault came as %v", err)
	}
	if _, err := a.Call(ctx, 2, 3, nil); !errors.Is(err, ErrBusy) {
		t.Errorf("busy came as %v", err)
	}
	if _, err := a.Call(ctx, 9, 1, nil); !errors.Is(err, ErrUnreachable) {
		t.Errorf("a call to nobody: %v", err)
	}
	if _, err := a.Call(ctx, 2, 1, make([]byte, callBytesMax+1)); err == nil {
		t.Error("a request of any size was taken")
	}
	for range 20 { // the handler's deadline and the caller's are one; who notices it first must not matter
		short, cancel := context.WithTimeout(ctx, 20*time.Millisecond)
		if _, err := a.Call(short, 2, 5, nil); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("a deadline came as %v", err)
		}
		cancel()
	}
	lost, cancel := context.WithCancel(ctx)
	result := make(chan error, 1)
	go func() {
		_, err := a.Call(lost, 2, 4, nil)
		result <- err
	}()
	testkit.Await(t, "the call", func() bool { return len(a.peer(2).waitingCalls()) == 1 })
	cancel()
	if err := <-result; !errors.Is(err, context.Canceled) {
		t.Errorf("the loss of interest came as %v", err)
	}
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("the handler was told %v", err)
	}
}

// waitingCalls lists the calls that wait.
func (p *peer) waitingCalls() (numbers []uint64) {
	p.mu.Lock()
	c := p.calls
	p.mu.Unlock()
	if c == nil {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for n := range c.calls {
		numbers = append(numbers, n)
	}
	return numbers
}

// TestCallsBounded: one call more than may wait is refused, and refused alone; when the connection breaks all are told, and the next call
// makes a new one.
func TestCallsBounded(t *testing.T) {
	c := newCluster(t, patient)
	a, b := c.join(1, nil), c.start(2, nil)
	proxy := testkit.NewProxy(t, testkit.ProxyOptions{Target: b.Addr().String()})
	c.place(2, proxy.Address())
	b.o.Handler.(*inbox).call = func(ctx context.Context, _ uint64, kind byte, _ []byte) ([]byte, error) {
		if kind == 1 {
			return nil, nil
		}
		<-ctx.Done()
		return nil, ctx.Err()
	}
	ctx := background(t)
	errs := make(chan error, callsMax)
	for range callsMax {
		go func() {
			_, err := a.Call(ctx, 2, 2, nil)
			errs <- err
		}()
	}
	testkit.Await(t, "calls that wait", func() bool { return len(a.peer(2).waitingCalls()) == callsMax })
	if _, err := a.Call(ctx, 2, 1, nil); !errors.Is(err, ErrBusy) {
		t.Errorf("one more: %v", err)
	}
	proxy.Cut(testkit.Everyone)
	for range callsMax {
		if err := <-errs; !errors.Is(err, ErrUnreachable) {
			t.Fatalf("a call over a broken connection: %v", err)
		}
	}
	testkit.Await(t, "a new connection", func() bool {
		_, err := a.Call(ctx, 2, 1, nil)
		return err == nil
	})
}
