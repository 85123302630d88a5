package commit

import "cmp"

// Limits say which path a commit takes and how large its requests are. They decide about speed and memory, never about an outcome: tests draw small ones from a
// seed (testkit.Small). Zero fields take defaults. The tags are the least that makes sense.
type Limits struct {
	// OnePhaseBytes bounds a commit of one phase, which is one entry of a log, without its largest mutation: a mutation is in one entry on any path, and several
	// phases would write it a second time, as its lock. RequestBytes bounds a request of several phases.
	OnePhaseBytes int `least:"1"`
	RequestBytes  int `least:"1"`
	// AsyncKeys and AsyncKeyBytes bound what a primary's lock lists.
	AsyncKeys     int `least:"1"`
	AsyncKeyBytes int `least:"1"`
}

var defaultLimits = Limits{OnePhaseBytes: 4 << 20, RequestBytes: 1 << 20, AsyncKeys: 256, AsyncKeyBytes: 4 << 10}

// EnsureDefaults fills in what is zero.
func (l *Limits) EnsureDefaults() {
	d := &defaultLimits
	l.OnePhaseBytes = cmp.Or(l.OnePhaseBytes, d.OnePhaseBytes)
	l.RequestBytes = cmp.Or(l.RequestBytes, d.RequestBytes)
	l.AsyncKeys = cmp.Or(l.AsyncKeys, d.AsyncKeys)
	l.AsyncKeyBytes = cmp.Or(l.AsyncKeyBytes, d.AsyncKeyBytes)
}
