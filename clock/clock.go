package clock

import (
	"sync/atomic"
	"time"
)

// Clock tells wall time. Packages that make decisions from it take one in their options.
type Clock interface {
	// NowMillis returns milliseconds since the Unix epoch. It may go back; callers that need order keep their own maximum.
	NowMillis() int64
}

// Wall is the machine's clock. The zero value is ready.
type Wall struct{}

// NowMillis implements Clock.
func (Wall) NowMillis() int64 { return NowMillis() }

// Manual is a clock that stands still until told otherwise, for tests. The zero value is at the epoch. It is safe for
// concurrent use.
type Manual struct{ ms atomic.Int64 }

// NewManual returns a manual clock set to ms.
func NewManual(ms int64) *Manual {
	m := &Manual{}
	m.ms.Store(ms)
	return m
}

// NowMillis implements Clock.
func (m *Manual) NowMillis() int64 { return m.ms.Load() }

// Set moves the clock to ms, also backwards, as a stepped machine clock would.
func (m *Manual) Set(ms int64) { m.ms.Store(ms) }

// Advance moves the clock by d (rounded down to milliseconds) and returns the new time.
func (m *Manual) Advance(d time.Duration) int64 { return m.ms.Add(d.Milliseconds()) }

// start anchors Mono. Reading it once at process start is the reason this package needs no initialisation call.
var start = time.Now()

// Now returns the current wall time, with Go's monotonic reading attached.
func Now() time.Time { return time.Now() }

// NowMillis returns wall milliseconds since the Unix epoch.
func NowMillis() int64 { return time.Now().UnixMilli() }

// Mono returns the monotonic time since process start. It stops while the machine is suspended.
func Mono() time.Duration { return time.Since(start) }

// Since returns the time that has passed since a Mono reading.
func Since(mono time.Duration) time.Duration { return Mono() - mono }

// NewTimer is time.NewTimer.
func NewTimer(d time.Duration) *time.Timer { return time.NewTimer(d) }

// After is time.After.
func After(d time.Duration) <-chan time.Time { return time.After(d) }

// AfterFunc is time.AfterFunc: f runs on its own goroutine, and the owner of the timer stops it.
func AfterFunc(d time.Duration, f func()) *time.Timer { return time.AfterFunc(d, f) }

// Sleep is time.Sleep.
func Sleep(d time.Duration) { time.Sleep(d) }

// NewTicker is time.NewTicker.
func NewTicker(d time.Duration) *time.Ticker { return time.NewTicker(d) }
