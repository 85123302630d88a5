package testkit

import (
	"testing"
	"time"

	"github.com/pandodb/pando/clock"
)

// patience is how long Await waits: a machine that has no time for this process for some seconds is not a fault.
const patience = time.Minute

// Await polls for something that happens in the background and has no event, and fails the test if it does not happen.
func Await(t testing.TB, what string, done func() bool) {
	t.Helper()
	for began := clock.Mono(); !done(); clock.Sleep(time.Millisecond) {
		if clock.Since(began) > patience {
			t.Fatal("waited in vain: " + what)
		}
	}
}
