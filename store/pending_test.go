package store

import (
	"testing"

	"github.com/pandodb/pando/kvapi"
)

// TestSplitOfDeposed: a leader that was deposed with an entry in flight may apply a split of its successor before it drops its marks.
func TestSplitOfDeposed(t *testing.T) {
	p := newPending()
	var g marking
	g.publish(p, []kvapi.Mutation{{Key: []byte("a")}, {Key: []byte("x")}})
	right := p.cutAt([]byte("m"))
	g.drop()
	for name, half := range map[string]*pending{"left": p, "right": right} {
		marks, locks := half.counts()
		if marks != 0 || locks != 0 || half.all.Load() != 0 {
			t.Errorf("%s: %d marks, %d locks, %d counted", name, marks, locks, half.all.Load())
		}
	}
}

// TestMarking: marks stand from when they are published until they are dropped, for keys and spans, and the memory of those before does not
// show.
func TestMarking(t *testing.T) {
	p := newPending()
	var g marking
	for round := range 3 {
		keys := []string{"b", "d", "f", "h"}[:4-round]
		var m []kvapi.Mutation
		for _, key := range keys {
			m = append(m, kvapi.Mutation{Key: []byte(key)})
		}
		g.publish(p, m)
		for _, key := range keys {
			if o := p.at([]byte(key), 1, 0); o == nil {
				t.Errorf("round %d: a reader passes key %s, whose mark has no timestamp", round, key)
			} else {
				p.forget(o)
			}
		}
		g.stamp(7)
		for _, key := range keys {
			if !p.anyMarks() || !p.marked([]byte(key)) || !p.marksWithin(kvapi.Span{Start: []byte(key), End: []byte(key + "+")}) {
				t.Errorf("round %d: key %s is not marked", round, key)
			}
			if p.at([]byte(key), 6, 0) != nil {
				t.Errorf("round %d: a reader below waits for key %s", round, key)
			}
			if o := p.at([]byte(key), 7, 0); o == nil {
				t.Errorf("round %d: a reader passes key %s", round, key)
			}
		}
		if p.marked([]byte("c")) || p.marksWithin(kvapi.Span{Start: []byte("b+"), End: []byte("c+")}) || p.marksWithin(kvapi.Span{Start: []byte("i"), End: []byte{}}) {
			t.Errorf("round %d: more is marked than was", round)
		}
		g.drop()
		g.drop()
		if marks, _ := p.counts(); marks != 0 || p.all.Load() != 0 || p.anyMarks() || p.marked([]byte("b")) || len(p.waiters) != 0 {
			t.Errorf("round %d: %d marks are left, %d counted, %d wait", round, marks, p.all.Load(), len(p.waiters))
		}
		g = g.emptied()
	}
}
