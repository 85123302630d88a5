package plan

import (
	"fmt"
	"strings"

	"github.com/pandodb/pando/exec"
)

// part is a tree of a plan: the statement's own, a subquery's in an expression, or a common table expression's.
type part struct {
	root       exec.Node
	selectType string        // in MySQL's words
	title      string        // for the tree
	subplan    *exec.Subplan // nil unless it is a subquery's
}

// partsOf lists the trees of a plan, the statement's own first.
func partsOf(p *exec.Plan) []part {
	parts := []part{{root: p.Root, selectType: "SIMPLE"}}
	for _, s := range p.Subplans {
		kind := "SUBQUERY"
		if !s.Constant() {
			kind = "DEPENDENT SUBQUERY"
		}
		parts = append(parts, part{s.Root, kind, "Subquery (" + strings.ToLower(kind) + ", " + s.Kind.String() + ")", s})
	}
	for _, c := range p.CTEs {
		parts = append(parts, part{c.Root, "DERIVED", "Common table expression " + c.Name, nil})
		if c.Recursive != nil {
			parts = append(parts, part{c.Recursive, "UNION", "Recursive part of " + c.Name, nil})
		}
	}
	return parts
}

// explainUnit is how much a text of EXPLAIN grows by at least.
const explainUnit = 4 << 10

// explained is a text of EXPLAIN, which may be long where the statement is not: what stands under a thousand others is indented a thousand times. It asks
// for memory before it takes it, and takes nothing more once that was refused.
type explained struct {
	text []byte
	grow func(bytes int64) error
	err  error
}

// room makes room for n bytes.
func (e *explained) room(n int) bool {
	if need := len(e.text) + n; need > cap(e.text) && e.err == nil {
		size := max(need, 2*cap(e.text), explainUnit)
		if e.err = e.grow(int64(size)); e.err == nil {
			e.text = append(make([]byte, 0, size), e.text...)
		}
	}
	return e.err == nil
}

// Write implements io.Writer.
func (e *explained) Write(b []byte) (int, error) {
	if !e.room(len(b)) {
		return 0, e.err
	}
	e.text = append(e.text, b...)
	return len(b), nil
}

// WriteString appends to the text; what fails is kept for done.
func (e *explained) WriteString(s string) {
	if e.room(len(s)) {
		e.text = append(e.text, s...)
	}
}

// done returns the text, a copy that is counted too.
func (e *explained) done() (string, error) {
	if e.err == nil {
		e.err = e.grow(int64(len(e.text)))
	}
	if e.err != nil {
		return "", e.err
	}
	return string(e.text), nil
}

// indent begins a line at a depth.
func (e *explained) indent(depth int) {
	for range depth {
		e.WriteString("    ")
	}
}

// ExplainTree renders a plan as an indented tree. With counters, each node also tells what it did. grow is asked before the text takes memory.
func ExplainTree(p *exec.Plan, counters *exec.Counters, grow func(bytes int64) error) (string, error) {
	b := explained{grow: grow}
	var walk func(n exec.Node, depth int)
	walk = func(n exec.Node, depth int) {
		d := n.Describe()
		b.indent(depth)
		fmt.Fprintf(&b, "-> %s", d.Op)
		if access := d.Access(); access != "" {
			fmt.Fprintf(&b, " on %s", access)
		}
		if len(d.Ranges) > 0 {
			fmt.Fprintf(&b, " over %s", strings.Join(d.Ranges, " or "))
		}
		if d.Reverse {
			b.WriteString(" backwards")
		}
		if d.Info != "" {
			fmt.Fprintf(&b, " (%s)", d.Info)
		}
		fmt.Fprintf(&b, "  (rows=%.0f)", d.Rows)
		if counters != nil {
			c := counters.Of(n)
			fmt.Fprintf(&b, " (actual rows=%d loops=%d time=%v%s)", c.Rows, c.Loops, c.Time, spent(&c))
		}
		b.WriteString("\n")
		for _, child := range n.Children() {
			if b.err == nil {
				walk(child, depth+1)
			}
		}
	}
	for i, part := range partsOf(p) {
		if i > 0 {
			b.WriteString(part.title + "\n")
		}
		walk(part.root, 0)
	}
	return b.done()
}

// spent tells what a node took besides time; what it took nothing of is left out.
func spent(c *exec.Counter) string {
	text := ""
	for _, part := range []struct {
		name string
		n    int64
	}{{"reads", int64(c.Reads)}, {"memory", c.Memory}, {"spilled", c.Spilled}} {
		if part.n > 0 {
			text += fmt.Sprintf(" %s=%d", part.name, part.n)
		}
	}
	return text
}
