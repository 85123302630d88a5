package wire

import "testing"

// fakeCPUs is a system of two processors.
type fakeCPUs struct {
	cpu     int
	thread  int64
	unknown bool // the processor is neither of the two
	refuses bool
	pushes  []int
}

func (f *fakeCPUs) where() (cpu int, thread int64, ok bool) { return f.cpu, f.thread, !f.unknown }

func (f *fakeCPUs) push(cpu int) bool {
	f.pushes = append(f.pushes, cpu)
	return !f.refuses
}

// TestSpread: threads that share a processor are told from one that is alone there, and from threads on both; a push is followed by a
// rest, and the last one if it is refused.
func TestSpread(t *testing.T) {
	type step struct {
		cpus    string // a sample on each processor in turn
		threads string // by each of these threads in turn
		n       int
		pushes  int
	}
	for _, c := range []struct {
		name  string
		steps []step
	}{
		{"two threads on one", []step{{"0", "ab", spreadWindow - 1, 0}, {"0", "ab", 1, 1}}},
		{"and on the other", []step{{"1", "ab", spreadWindow - 1, 0}, {"1", "ab", 1, 1}}},
		{"one thread", []step{{"0", "a", 10 * spreadWindow, 0}}},
		{"one thread after two", []step{{"0", "ab", spreadWindow, 1}, {"0", "a", 10 * spreadWindow, 0}}},
		{"both processors", []step{{"01", "ab", 10 * spreadWindow, 0}}},
		{"both processors, seldom one", []step{{"00000001", "ab", 10 * spreadWindow, 0}}},
		{"a push that did not help", []step{{"0", "ab", spreadWindow, 1}, {"0", "ab", spreadWindow - 1, 0}, {"0", "ab", 1, 1}}},
		{"a push that helped", []step{{"0", "ab", spreadWindow, 1}, {"01", "ab", 10 * spreadWindow, 0}, {"1", "ab", spreadWindow - 1, 1}}},
		{"a third thread", []step{{"0", "a", 10 * spreadWindow, 0}, {"0", "b", 1, 1}}},
	} {
		f := &fakeCPUs{}
		s := &spread{sys: f}
		for i, st := range c.steps {
			f.pushes = nil
			for j := range st.n {
				f.cpu, f.thread = int(st.cpus[j%len(st.cpus)]-'0'), int64(st.threads[j%len(st.threads)])
				s.sample()
			}
			if len(f.pushes) != st.pushes {
				t.Errorf("%s, step %d: %d pushes, want %d", c.name, i, len(f.pushes), st.pushes)
			}
			for _, cpu := range f.pushes {
				if cpu == f.cpu && len(st.cpus) == 1 {
					t.Errorf("%s, step %d: a push to where the thread is", c.name, i)
				}
			}
		}
	}

	var none spread
	none.sample() // where there is nothing to spread over
	f := &fakeCPUs{unknown: true}
	s := &spread{sys: f}
	run := func() {
		for i := range 10 * spreadWindow {
			f.thread = int64(i)
			s.sample()
		}
	}
	if run(); len(f.pushes) != 0 || s.samples.Load() != 0 {
		t.Error("a sample on an unknown processor counts")
	}
	f.unknown, f.refuses = false, true
	if run(); len(f.pushes) != 1 || s.moves.Load() != 0 {
		t.Errorf("%d pushes after a refusal, %d moves", len(f.pushes), s.moves.Load())
	}
}
