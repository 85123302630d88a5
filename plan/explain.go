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

// ExplainTree renders a plan as an indented tree. With counters, each node also tells what it did.
func ExplainTree(p *exec.Plan, counters *exec.Counters) string {
	var b strings.Builder
	var walk func(n exec.Node, depth int)
	walk = func(n exec.Node, depth int) {
		d := n.Describe()
		fmt.Fprintf(&b, "%s-> %s", strings.Repeat("    ", depth), d.Op)
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
		b.WriteByte('\n')
		for _, child := range n.Children() {
			walk(child, depth+1)
		}
	}
	for i, part := range partsOf(p) {
		if i > 0 {
			b.WriteString(part.title + "\n")
		}
		walk(part.root, 0)
	}
	return b.String()
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
