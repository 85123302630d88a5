package commit

// Limits say which path a commit takes and how large its requests are. They decide about speed and memory, never about an outcome: tests draw small ones from a
// seed (testkit.Small). Zero fields take defaults. The tags are the least that makes sense.
type Limits struct {
	// OnePhaseBytes bounds a commit of one phase, which is one entry of a log; RequestBytes a request of several phases.
	OnePhaseBytes int `least:"1"`
	RequestBytes  int `least:"1"`
	// AsyncKeys and AsyncKeyBytes bound what a primary's lock lists.
	AsyncKeys     int `least:"1"`
	AsyncKeyBytes int `least:"1"`
}

var defaultLimits = Limits{OnePhaseBytes: 4 << 20, RequestBytes: 1 << 20, AsyncKeys: 256, AsyncKeyBytes: 4 << 10}

// EnsureDefaults fills in what is zero.
func (l *Limits) EnsureDefaults() {
	for _, f := range []struct{ field, value *int }{
		{&l.OnePhaseBytes, &defaultLimits.OnePhaseBytes}, {&l.RequestBytes, &defaultLimits.RequestBytes},
		{&l.AsyncKeys, &defaultLimits.AsyncKeys}, {&l.AsyncKeyBytes, &defaultLimits.AsyncKeyBytes},
	} {
		if *f.field == 0 {
			*f.field = *f.value
		}
	}
}
