package wire

import (
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pandodb/pando/kvapi"
)

// TestPlacesMore: where the rule has a most, each look at idle processors makes one place more and each at busy ones takes one back.
func TestPlacesMore(t *testing.T) {
	q := newQueue(t, 1)
	q.rule = placesRule{quiet: time.Hour, window: time.Hour, most: func(load) int { return 3 }}
	q.most.Store(3)
	all := []*conn{q.enter(), q.enter(), q.enter(), q.enter(), q.enter()}
	for i, test := range []struct {
		use  processorUse
		want int // places taken
	}{{useUnknown, 1}, {useBusy, 1}, {useIdle, 2}, {useUnknown, 2}, {useIdle, 3}, {useIdle, 3}} {
		if !q.look(q.now, test.use) {
			t.Errorf("look %d: nobody waits", i)
		}
		q.want("look", all[:test.want], all[test.want:], test.want)
	}
	q.look(q.now, useBusy)
	q.leave(all[0])
	q.want("there is one place less", all[1:3], all[3:], 3)
	q.look(q.now, useBusy)
	q.look(q.now, useBusy)
	q.leave(all[1])
	q.want("and another one", all[2:3], all[3:], 3)
	q.leave(all[2])
	q.want("but never less than without", all[3:4], all[4:], 4)
	q.most.Store(0) // as when processors are taken away
	q.look(q.now, useIdle)
	if q.more != 0 {
		t.Errorf("%d places more", q.more)
	}
}

// TestPlacesShrink: places that idle processors have made do not outlive their line for long.
func TestPlacesShrink(t *testing.T) {
	q := newQueue(t, 1)
	q.rule = placesRule{quiet: time.Hour, window: time.Second, most: func(load) int { return 4 }}
	q.most.Store(4)
	q.now = time.Hour
	a, b, c, d := q.enter(), q.enter(), q.enter(), q.enter()
	for range 3 {
		q.look(q.now, useIdle)
	}
	q.want("four places", []*conn{a, b, c, d}, nil, 4)
	more := func(after time.Duration, want int64) {
		t.Helper()
		q.now += after
		e := q.enter()
		if q.more != want {
			t.Errorf("%d places more, want %d", q.more, want)
		}
		q.leave(e)
	}
	for _, c := range []*conn{b, c, d} {
		q.leave(c)
	}
	more(time.Second-1, 3)
	more(1, 2)
	more(time.Second/2, 2)
	more(time.Second/2, 1)
	more(-time.Second, 1) // who has looked at the clock before others
	b, c = q.enter(), q.enter()
	q.now += 9 * time.Second
	q.want("two places, and one in line", []*conn{a, b}, []*conn{c}, 10)
	q.leave(b)
	e := q.enter() // c has the other place
	if q.more != 1 {
		t.Errorf("%d places more, want the one that is taken", q.more)
	}
	q.leave(c)
	q.leave(e)
	more(time.Second-1, 1)
	more(1, 0)
}

// TestEnterLoad: of single writes with a list of many rows few are in progress at once, wherever and how many the clients are. Each has a
// place until its command is over, or a transaction is begun in it; those with shorter lists don't wait for them.
func TestEnterLoad(t *testing.T) {
	ts := startServer(t, nil)
	one := func(load) int { return 1 }
	ts.loads.idle, ts.loads.rule.room, ts.loads.rule.most, ts.loads.rule.quiet = busyClock, one, one, time.Hour
	ts.resizePlaces(load{})
	held := func() int {
		ts.loads.mu.Lock()
		defer ts.loads.mu.Unlock()
		return len(ts.loads.holders)
	}
	none := func() bool { return held() == 0 } // soon after the answer, not with it
	var wg sync.WaitGroup
	defer wg.Wait()
	hold, holding := make(chan struct{}), make(chan struct{}, 1)
	defer close(hold)
	var running atomic.Int32
	login := func() (ask func(sql string)) {
		r := ts.dial(t)
		r.login(capProtocol41|capPluginAuth, "root")
		s := ts.backend.lastSession()
		s.onQuery = func(sql string) {
			for word := range strings.FieldsSeq(sql) {
				switch word {
				case "write":
					s.info.Control.EnterWrite(loadRows - 1)
				case "load":
					s.info.Control.EnterWrite(loadRows)
				case "begin":
					s.info.Control.EnterTransaction()
				case "run":
					if running.Add(1) != 1 {
						t.Error("two are in progress at once")
					}
					time.Sleep(time.Millisecond)
					running.Add(-1)
				case "hold":
					holding <- struct{}{}
					<-hold
				}
			}
		}
		return func(sql string) {
			r.seq = 0
			r.write(append([]byte{ComQuery}, sql...))
			if p, err := r.tryRead(); err != nil || p[0] != headerOK {
				t.Errorf("%s: %x, %v", sql, p, err)
			}
		}
	}
	first, second, small := login(), login(), login()
	wg.Go(func() { first("load hold load") })
	<-holding
	small("write run")
	wg.Go(func() { second("load run") })
	eventually(t, "the second waits", func() bool { return ts.Counters().LoadWaits == 1 })
	hold <- struct{}{}
	wg.Wait()
	eventually(t, "no place is held", none)
	wg.Go(func() { first("load begin hold") })
	<-holding
	second("load run") // a transaction has no load's place
	hold <- struct{}{}
	wg.Wait()
	eventually(t, "no place is held", none)
	if waits := ts.Counters().LoadWaits; waits != 1 {
		t.Errorf("%d waited, want 1", waits)
	}
	var enough atomic.Bool
	for range 8 {
		ask := login()
		wg.Go(func() {
			for !enough.Load() {
				ask("load run")
			}
		})
	}
	eventually(t, "some wait", func() bool { return ts.Counters().LoadWaits > 80 })
	enough.Store(true)
	wg.Wait()
	eventually(t, "no place is held", none)
}

// TestLoadFromElsewhere: a client on another machine waits too, but not any longer once it is killed.
func TestLoadFromElsewhere(t *testing.T) {
	s := newPlacesServer()
	s.loads.max.Store(1)
	near, far := s.local(), s.local()
	far.host, far.began, near.began = "", 0, 0
	(*control)(near).EnterWrite(loadRows)
	over := make(chan struct{})
	go func() {
		(*control)(far).EnterWrite(loadRows)
		close(over)
	}()
	eventually(t, "it stands in line", far.standing.Load)
	far.intr.Set(kvapi.ReasonKillQuery)
	<-over
	if far.place.Load() != 0 || s.loads.first != nil || far.began != 0 {
		t.Error("who has been killed has a place, or stands in line")
	}
	far.leave()
	if near.place.Load() == 0 || len(s.loads.holders) != 1 {
		t.Error("another one's place is gone")
	}
}
