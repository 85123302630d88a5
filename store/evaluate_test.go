package store

import (
	"errors"
	"testing"

	"github.com/pandodb/pando/engine"
	"github.com/pandodb/pando/kvapi"
)

// TestStateBesideLine: who evaluates beside a region's line sees of a key what is there once its lock has been looked for, also if it has looked at other
// keys before that was applied. In the line one look is enough, since nothing is applied meanwhile; here that is the canary.
func TestStateBesideLine(t *testing.T) {
	e, err := engine.OpenMem()
	if err != nil {
		t.Fatal(err)
	}
	r := openSplitRig(t, e, true, Options{})
	defer func() {
		if err := errors.Join(r.s.Close(), e.Close()); err != nil {
			t.Error(err)
		}
	}()
	c := r.s.Cluster()
	region := c.region(r.s.Regions()[0].ID)
	for i, inLine := range []bool{false, true} {
		st := &regionState{c: c, r: region, pending: region.pending.Load(), inLine: inLine}
		span := kvapi.Check{Span: kvapi.Span{Start: []byte{'k', byte(i)}, End: []byte{'k', byte(i) + 1}}, Kind: kvapi.RangeGap}
		key := append(span.Span.Start, 'x')
		newest, err := st.Newest(key)
		changed, err2 := st.Changed(&span, 1)
		if err := errors.Join(err, err2); err != nil || newest.TS != 0 || changed != nil {
			t.Fatalf("before: %+v, %q, %v", newest, changed, err)
		}
		if err := r.put(key, []byte("v")); err != nil {
			t.Fatal(err)
		}
		changed, err = st.Changed(&span, 1)
		newest, err2 = st.Newest(key)
		if err := errors.Join(err, err2); err != nil || (newest.TS == 0) != inLine || (changed == nil) != inLine {
			t.Errorf("in line %v: after it was written key %q is %+v, has changed: %q, %v", inLine, key, newest, changed, err)
		}
		st.close()
	}
}
