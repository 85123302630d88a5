package check

// edge kinds of the dependency graph.
type edgeKind uint8

const (
	ww edgeKind = 1 << iota
	wr
	rw
	prw // rw of which the first did not find what the second made by a predicate
)

// graph is the dependency graph of a history: an edge leads from the
// transaction that comes first.
type graph struct {
	edges []map[int]edgeKind
}

func (g *graph) add(from, to int, kind edgeKind) {
	if from == to {
		return
	}
	if g.edges[from] == nil {
		g.edges[from] = map[int]edgeKind{}
	}
	g.edges[from][to] |= kind
}

// path reports whether to can be reached from from over edges of some kinds.
func (g *graph) path(from, to int, kinds edgeKind) bool {
	seen := map[int]bool{from: true}
	todo := []int{from}
	for len(todo) > 0 {
		at := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		for next, kind := range g.edges[at] {
			if kind&kinds == 0 || seen[next] {
				continue
			}
			if next == to {
				return true
			}
			seen[next] = true
			todo = append(todo, next)
		}
	}
	return from == to
}

// components numbers the strongly connected parts of the graph: only edges within one close a cycle.
func (g *graph) components() []int {
	var order []int
	seen := make([]bool, len(g.edges))
	back := make([][]int, len(g.edges))
	var visit func(int)
	visit = func(at int) {
		seen[at] = true
		for next := range g.edges[at] {
			back[next] = append(back[next], at)
			if !seen[next] {
				visit(next)
			}
		}
		order = append(order, at)
	}
	for i := range g.edges {
		if !seen[i] {
			visit(i)
		}
	}
	component := make([]int, len(g.edges))
	var collect func(at, n int)
	collect = func(at, n int) {
		component[at] = n
		for _, next := range back[at] {
			if component[next] == 0 {
				collect(next, n)
			}
		}
	}
	for i := len(order) - 1; i >= 0; i-- {
		if component[order[i]] == 0 {
			collect(order[i], i+1)
		}
	}
	return component
}

// buildGraph derives the dependencies that committed reads prove.
func (l *lists) buildGraph() *graph {
	g := &graph{edges: make([]map[int]edgeKind, len(l.txns))}
	for key, order := range l.order {
		for at := 1; at < len(order); at++ {
			g.add(l.where[key][order[at-1]].txn, l.where[key][order[at]].txn, ww)
		}
	}
	for i, t := range l.txns {
		if t.Outcome != Committed {
			continue
		}
		wrote := map[string]bool{}
		for _, op := range t.Ops {
			if op.Read == nil {
				wrote[op.Key] = true
				continue
			}
			if wrote[op.Key] {
				continue // it sees its own append
			}
			order := l.order[op.Key]
			if n := len(op.Read); n > 0 {
				g.add(l.where[op.Key][op.Read[n-1]].txn, i, wr)
			}
			if n := len(op.Read); n < len(order) {
				kind := rw
				if op.absent {
					kind = prw
				}
				g.add(i, l.where[op.Key][order[n]].txn, kind)
			}
		}
	}
	return g
}

// checkCycles reports every edge that closes a cycle, under the strongest name
// that it proves.
func (l *lists) checkCycles() {
	g := l.buildGraph()
	component := g.components()
	for from, edges := range g.edges {
		for to, kind := range edges {
			if component[from] != component[to] {
				continue // no way back
			}
			switch {
			case kind&ww != 0 && g.path(to, from, ww):
				l.report("G0", "txns %d and %d", from, to)
			case kind&(ww|wr) != 0 && g.path(to, from, ww|wr):
				l.report("G1c", "txns %d and %d", from, to)
			case kind&(rw|prw) != 0 && g.path(to, from, ww|wr):
				l.report("G-single", "txns %d and %d", from, to)
			case kind&rw != 0 && g.path(to, from, ww|wr|rw):
				l.report("G2-item", "txns %d and %d", from, to)
			case kind&(rw|prw) != 0 && g.path(to, from, ww|wr|rw|prw):
				l.report("G2", "txns %d and %d", from, to)
			}
		}
	}
}
