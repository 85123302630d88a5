package clock_test

import (
	"testing"
	"time"

	"github.com/pandodb/pando/clock"
)

func TestTimestamp(t *testing.T) {
	ts := clock.Make(1_700_000_000_123, 77)
	if ts.PhysicalMillis() != 1_700_000_000_123 || ts.Logical() != 77 || ts.String() != "1700000000123.77" {
		t.Errorf("made %v", ts)
	}
	if clock.Make(5, clock.LogicalMax+1) != clock.Make(6, 0) {
		t.Error("a full counter does not carry")
	}
	if clock.Make(-5, 0) != 0 || clock.Make(1<<62, 0) > clock.MaxTimestamp {
		t.Error("times outside the range are not cut")
	}
	if ts.Next().Prev() != ts || clock.Timestamp(0).Prev() != 0 || int64(clock.MaxTimestamp) < 0 {
		t.Error("neighbours or the maximum are wrong")
	}
}

func TestManual(t *testing.T) {
	m := clock.NewManual(1000)
	var c clock.Clock = m
	if m.Advance(1500*time.Microsecond) != 1001 || c.NowMillis() != 1001 {
		t.Errorf("at %d", c.NowMillis())
	}
	if m.Set(5); c.NowMillis() != 5 {
		t.Errorf("at %d", c.NowMillis())
	}
}

func TestMachine(t *testing.T) {
	before, boot := clock.Mono(), clock.Boot()
	wall := (clock.Wall{}).NowMillis()
	clock.Sleep(time.Millisecond)
	if clock.Since(before) < time.Millisecond || clock.NowMillis() < wall || clock.Now().UnixMilli() < wall {
		t.Error("time stands still")
	}
	if clock.Boot()-boot < time.Millisecond {
		t.Error("the clock since the start of the machine stands still")
	}
	timer, ticker := clock.NewTimer(time.Millisecond), clock.NewTicker(time.Millisecond)
	<-timer.C
	<-ticker.C
	ticker.Stop()
	<-clock.After(time.Microsecond)
	done := make(chan struct{})
	clock.AfterFunc(0, func() { close(done) })
	<-done
}
