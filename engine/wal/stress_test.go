package wal_test

import (
	"bytes"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pandodb/pando/engine"
	"github.com/pandodb/pando/engine/wal"
	"github.com/pandodb/pando/internal/testkit"
)

// TestStress: appenders and waiters of all kinds, a disk of changing speed, and a close in the middle: nobody waits forever.
func TestStress(t *testing.T) {
	seed := testkit.Seed(t)
	for round := range testkit.Rounds(6, 3) {
		var n atomic.Int64
		var bad atomic.Bool
		r := newRig(t, &testkit.HookFS{FS: engine.NewMemFS(), OnSync: func(name string) (bool, error) {
			if !testkit.IsWAL(name) {
				return false, nil
			}
			switch n.Add(1) % 7 {
			case 0:
				time.Sleep(time.Millisecond)
			case 1, 2:
				time.Sleep(50 * time.Microsecond)
			}
			if bad.Load() {
				return false, errors.New("bad")
			}
			return false, nil
		}})
		r.segment = 1 << 20
		r.mustOpen()
		var wg sync.WaitGroup
		var closed atomic.Bool
		for w := range 12 {
			rng := testkit.Rand(seed, uint64(round*100+w))
			wg.Go(func() {
				for !closed.Load() {
					size := 1 + rng.IntN(3000)
					switch rng.IntN(40) {
					case 0:
						size = 5 << 20
					case 1:
						size = 9 << 20
					}
					end, err := r.log.Append(bytes.Repeat([]byte("x"), size))
					if err == nil && rng.IntN(3) > 0 {
						err = r.log.Sync(end)
					}
					if err != nil {
						return
					}
				}
			})
		}
		time.Sleep(time.Duration(20) * time.Millisecond)
		if round%3 == 0 {
			bad.Store(true)
			time.Sleep(5 * time.Millisecond)
		}
		if round%2 == 0 {
			closed.Store(true)
		}
		err := r.log.Close()
		closed.Store(true)
		if (err != nil) != (round%3 == 0) && !errors.Is(err, wal.ErrFailed) {
			t.Error(round, err)
		}
		done := make(chan struct{})
		go func() { wg.Wait(); close(done) }()
		select {
		case <-done:
		case <-time.After(20 * time.Second):
			panic("somebody waits forever") // prints where they all wait
		}
	}
}
