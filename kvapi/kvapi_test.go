package kvapi

import (
	"errors"
	"testing"
)

func TestInterrupt(t *testing.T) {
	var none *Interrupt
	if none.Err() != nil || none.Done() != nil || none.Reason() != ReasonNone {
		t.Fatal("a nil interrupt fires")
	}
	none.Set(ReasonKillQuery)
	none.Reset()

	i := &Interrupt{}
	done := i.Done()
	i.Set(ReasonTimeout)
	select {
	case <-done:
	default:
		t.Fatal("Done is open after Set")
	}
	i.Set(ReasonKillQuery) // weaker
	if i.Reason() != ReasonTimeout || !errors.Is(i.Err(), ErrInterrupted) {
		t.Fatal(i.Reason())
	}
	i.Reset()
	select {
	case <-i.Done():
		t.Fatal("Done is closed after Reset")
	default:
	}
	i.Set(ReasonKillConn)
	i.Reset() // the connection stays killed
	if i.Reason() != ReasonKillConn {
		t.Fatal(i.Reason())
	}
	<-i.Done()
	early := &Interrupt{}
	early.Set(ReasonKillQuery)
	<-early.Done()
}

func TestSpan(t *testing.T) {
	point := Span{Start: []byte("k")}
	open := Span{Start: []byte("k"), End: []byte{}}
	bounded := Span{Start: []byte("k"), End: []byte("m")}
	for _, c := range []struct {
		s    Span
		key  string
		want bool
	}{
		{point, "k", true}, {point, "k\x00", false}, {open, "z", true}, {open, "a", false},
		{bounded, "k", true}, {bounded, "m", false}, {bounded, "lz", true},
	} {
		if got := c.s.Contains([]byte(c.key)); got != c.want {
			t.Errorf("%+v contains %q: %v", c.s, c.key, got)
		}
	}
	if point.Empty() || open.Empty() || bounded.Empty() || !(Span{Start: []byte("b"), End: []byte("a")}).Empty() {
		t.Error("Empty")
	}
}
