package explore

// Step is one thing that may happen in a state.
type Step[S comparable] struct {
	Name string
	Next S
}

// Result is what a search found.
type Result struct {
	States   int      // distinct states visited
	Complete bool     // every reachable state was visited
	Fault    string   // what is wrong in the last state of Trace; "" when nothing is
	Trace    []string // a shortest way to the fault
}

// Explore visits the states reachable from initial, nearest first, until fault
// names one that is wrong, all have been seen, or more than limit are known.
func Explore[S comparable](initial S, steps func(S) []Step[S], fault func(S) string, limit int) Result {
	type origin struct {
		from S
		step string
	}
	known := map[S]origin{initial: {}}
	trace := func(s S) []string {
		var reversed []string
		for s != initial {
			o := known[s]
			reversed = append(reversed, o.step)
			s = o.from
		}
		out := make([]string, 0, len(reversed))
		for i := len(reversed) - 1; i >= 0; i-- {
			out = append(out, reversed[i])
		}
		return out
	}
	queue := []S{initial}
	for len(queue) > 0 {
		s := queue[0]
		queue = queue[1:]
		if f := fault(s); f != "" {
			return Result{States: len(known), Fault: f, Trace: trace(s)}
		}
		for _, step := range steps(s) {
			if _, seen := known[step.Next]; seen {
				continue
			}
			if len(known) >= limit {
				return Result{States: len(known)}
			}
			known[step.Next] = origin{from: s, step: step.Name}
			queue = append(queue, step.Next)
		}
	}
	return Result{States: len(known), Complete: true}
}
