package session

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/pandodb/pando/plan"
)

func entryOf(d *plan.Digest, took ...time.Duration) *ledgerEntry {
	l := &ledgerEntry{digest: d}
	for _, t := range took {
		l.add(&event{sent: 1}, t, t)
	}
	return l
}

func digestNumber(n int) *plan.Digest {
	d := &plan.Digest{Text: fmt.Sprint(n)}
	d.Hash[0], d.Hash[1], d.Hash[2] = byte(n), byte(n>>8), byte(n>>16)
	return d
}

// TestDigestsAreBounded: beyond digestsMax all others are counted in one row without a digest, and none is lost; TRUNCATE makes room.
func TestDigestsAreBounded(t *testing.T) {
	var d digests
	const more = 5
	for i := range digestsMax + more {
		d.fold(entryOf(digestNumber(i), time.Microsecond))
	}
	d.fold(entryOf(digestNumber(0), time.Microsecond)) // has a row
	list := d.list()
	if len(list) != digestsMax+1 {
		t.Fatalf("%d rows, want %d and one for the others", len(list), digestsMax)
	}
	if last := list[digestsMax]; last.Known || last.Count != more {
		t.Errorf("the row of the others: known %v, %d executions, want %d", last.Known, last.Count, more)
	}
	if list[0].Count != 2 {
		t.Errorf("a digest that has its row counts %d executions, want 2", list[0].Count)
	}
	d.truncate()
	d.fold(entryOf(digestNumber(digestsMax+1), time.Microsecond))
	if list := d.list(); len(list) != 1 || !list[0].Known || list[0].Count != 1 {
		t.Errorf("after TRUNCATE: %+v", list)
	}
}

// TestLatencyQuantiles: a quantile is not below what it stands for, and at most an eighth above.
func TestLatencyQuantiles(t *testing.T) {
	var d digests
	of := digestNumber(1)
	const runs = 1000
	for i := range runs {
		d.fold(entryOf(of, time.Duration(i+1)*time.Microsecond))
	}
	row := d.list()[0]
	for i, share := range []float64{0.95, 0.99, 0.999} {
		want := time.Duration(share * runs * float64(time.Microsecond))
		if got := row.Quantiles[i]; got < want || got > want+want/8 {
			t.Errorf("the quantile of %v is %v, want %v to %v", share, got, want, want+want/8)
		}
	}
	for _, nanos := range []uint64{0, 1, 7, 8, 9, 1000, 1023, 1024, 1 << 41, 1<<42 - 1} {
		bucket := int(latencyBucket(nanos))
		if latencyBound(bucket) < nanos || bucket > 3*latencyParts && latencyBound(bucket-1) >= nanos {
			t.Errorf("%d ns lie in bucket %d, whose bounds are %d and %d", nanos, bucket, latencyBound(bucket-1), latencyBound(bucket))
		}
	}
	if got := latencyBucket(1 << 63); got != latencyPowers*latencyParts-1 {
		t.Errorf("292 years are in bucket %d", got)
	}
}

// TestLedgersAreSettled: whoever lists the digests while sessions count gets each execution once.
func TestLedgersAreSettled(t *testing.T) {
	n := &Node{}
	const sessions, runs = 4, 5000
	shared := []*plan.Digest{digestNumber(1), digestNumber(2), digestNumber(3)}
	shared[0].Number, shared[1].Number, shared[2].Number = 1, 1+ledgerEntries, 2 // the first two displace each other
	var writers sync.WaitGroup
	for i := range sessions {
		s := &Session{node: n, id: uint64(i)}
		n.tallies.enter(s)
		writers.Add(1)
		go func() {
			defer writers.Done()
			for run := range runs {
				s.event = event{digest: shared[run%len(shared)], affected: 1}
				s.Measured(0, time.Microsecond)
			}
		}()
	}
	ended := make(chan struct{})
	go func() {
		writers.Wait()
		close(ended)
	}()
	for open := true; open; {
		select {
		case <-ended:
			open = false
		default:
		}
		n.settleAll(false)
		for _, d := range n.digests.list() {
			if d.Count != d.Affected {
				t.Fatalf("%d executions with %d rows: a row is shown in the middle of a change", d.Count, d.Affected)
			}
		}
	}
	var count uint64
	for _, d := range n.digests.list() {
		count += d.Count
	}
	if count != sessions*runs {
		t.Errorf("%d executions are counted, want %d", count, sessions*runs)
	}
	for s := range n.tallies.open {
		s.event = event{digest: shared[2]}
		s.Measured(0, time.Microsecond)
	}
	n.settleAll(true)
	n.digests.truncate()
	n.settleAll(false)
	if list := n.digests.list(); len(list) != 0 {
		t.Errorf("TRUNCATE leaves %d rows", len(list))
	}
}

// TestClip: a text is cut between characters.
func TestClip(t *testing.T) {
	for length, want := range map[int]string{6: "aé€", 5: "aé…", 4: "aé…", 3: "aé…", 2: "a…", 1: "a…", 0: "…"} {
		if got := clip("aé€", length); got != want {
			t.Errorf("clipped to %d bytes: %q, want %q", length, got, want)
		}
	}
}
