package plan

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"

	"github.com/pandodb/pando/exec"
	"github.com/pandodb/pando/sqlapi"
	"github.com/pandodb/pando/types"
)

// ExplainRows renders a plan as MySQL's traditional table: one row for each table access.
func ExplainRows(p *exec.Plan) ([]sqlapi.ColumnInfo, [][]types.Value) {
	text := func(name string, length int32) sqlapi.ColumnInfo {
		return sqlapi.ColumnInfo{Name: name, Type: types.Type{ID: types.TypeVarchar, Length: length, Coll: types.DefaultCollation}}
	}
	number := sqlapi.ColumnInfo{Type: types.Type{ID: types.TypeBigInt, Length: -1}}
	id, rows, filtered := number, number, number
	id.Name, rows.Name, filtered.Name = "id", "rows", "filtered"
	filtered.Type = types.Type{ID: types.TypeDouble, Length: -1, Scale: 2}
	columns := []sqlapi.ColumnInfo{id, text("select_type", 19), text("table", 64), text("partitions", 512), text("type", 10), text("possible_keys", 4096),
		text("key", 64), text("key_len", 16), text("ref", 1024), rows, filtered, text("Extra", 512)}
	var out [][]types.Value
	parts := partsOf(p)
	for i := range parts {
		part := &parts[i]
		kind := part.selectType
		if i == 0 && len(parts) > 1 {
			kind = "PRIMARY"
		}
		out = append(out, explainPart(part.root, i+1, kind)...)
	}
	if len(out) == 0 {
		row := make([]types.Value, len(columns))
		row[0], row[1], row[11] = types.Int(1), types.Text("SIMPLE"), types.Text("No tables used")
		if d := p.Root.Describe(); d.Table != "" && len(p.Root.Children()) == 0 {
			row[1], row[2], row[4], row[11] = types.Text("INSERT"), types.Text(d.Table), types.Text("ALL"), types.Null()
		}
		out = append(out, row)
	}
	return columns, out
}

// part is a tree of a plan: the statement's own, a subquery's in an expression, or a common table expression's.
type part struct {
	root       exec.Node
	selectType string // in MySQL's words
	title      string // for the tree
}

// partsOf lists the trees of a plan, the statement's own first.
func partsOf(p *exec.Plan) []part {
	parts := []part{{root: p.Root, selectType: "SIMPLE"}}
	for _, s := range p.Subplans {
		kind := "SUBQUERY"
		if !s.Constant() {
			kind = "DEPENDENT SUBQUERY"
		}
		parts = append(parts, part{s.Root, kind, "Subquery (" + strings.ToLower(kind) + ", " + s.Kind.String() + ")"})
	}
	for _, c := range p.CTEs {
		parts = append(parts, part{c.Root, "DERIVED", "Common table expression " + c.Name})
		if c.Recursive != nil {
			parts = append(parts, part{c.Recursive, "UNION", "Recursive part of " + c.Name})
		}
	}
	return parts
}

// explainPart lists the accesses of one tree.
func explainPart(root exec.Node, id int, selectType string) (out [][]types.Value) {
	var extra []string
	var walk func(n exec.Node)
	walk = func(n exec.Node) {
		d := n.Describe()
		switch d.Op {
		case "Sort", "TopN":
			extra = append(extra, "Using filesort")
		case "HashAgg", "Distinct":
			extra = append(extra, "Using temporary")
		case "HashJoin":
			extra = append(extra, "Using join buffer (hash join)")
		}
		if d.Table != "" && !writesRows(d.Op) {
			row := explainRow(&d, extra)
			row[0], row[1] = types.Int(int64(id)), types.Text(selectType)
			out = append(out, row)
			extra = nil
			return // an IndexLookup's scan is the same access
		}
		for _, child := range n.Children() {
			walk(child)
		}
	}
	walk(root)
	return out
}

// writesRows reports whether an operator stands for a write or a lock rather than for a way to read.
func writesRows(op string) bool {
	for _, prefix := range []string{"Insert", "Replace", "Update", "Delete", "Multi", "Lock"} {
		if strings.HasPrefix(op, prefix) {
			return true
		}
	}
	return false
}

// explainRow describes one table access in MySQL's words.
func explainRow(d *exec.Description, extra []string) []types.Value {
	access := "ALL"
	switch {
	case d.Op == "PointGet":
		access = "const"
	case len(d.Ranges) == 1 && !strings.ContainsAny(d.Ranges[0], "<>"):
		access = "ref"
	case len(d.Ranges) > 0:
		access = "range"
	case d.Index != "" && d.Index != "PRIMARY":
		access = "index"
	}
	key := types.Null()
	if d.Index != "" && access != "ALL" {
		key = types.Text(d.Index)
	}
	notes := append([]string(nil), extra...)
	if strings.Contains(d.Info, "filter") {
		notes = append([]string{"Using where"}, notes...)
	}
	if d.Covering && d.Index != "PRIMARY" {
		notes = append(notes, "Using index")
	}
	if d.Reverse {
		notes = append(notes, "Backward index scan")
	}
	text := types.Null()
	if len(notes) > 0 {
		text = types.Text(strings.Join(notes, "; "))
	}
	return []types.Value{types.Int(1), types.Text("SIMPLE"), types.Text(d.Table), types.Null(), types.Text(access), key, key, types.Null(), types.Null(),
		types.Int(int64(math.Max(1, math.Round(d.Rows)))), types.Float(100), text}
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

// explained is a node of EXPLAIN FORMAT=JSON.
type explained struct {
	Operator string       `json:"operator"`
	Table    string       `json:"table,omitempty"`
	Index    string       `json:"index,omitempty"`
	Ranges   []string     `json:"ranges,omitempty"`
	Info     string       `json:"info,omitempty"`
	Rows     float64      `json:"estimated_rows"`
	Inputs   []*explained `json:"inputs,omitempty"`
	// Parts are the trees of subqueries and common table expressions, of the root only.
	Parts []*explainedPart `json:"subqueries,omitempty"`
}

type explainedPart struct {
	Title string     `json:"title"`
	Root  *explained `json:"root"`
}

// ExplainJSON renders a plan as JSON. Its shape is Pando's own; MySQL's describes another executor.
func ExplainJSON(p *exec.Plan) string {
	var build func(n exec.Node) *explained
	build = func(n exec.Node) *explained {
		d := n.Describe()
		e := &explained{Operator: d.Op, Table: d.Table, Index: d.Index, Ranges: d.Ranges, Info: d.Info, Rows: math.Round(d.Rows)}
		for _, child := range n.Children() {
			e.Inputs = append(e.Inputs, build(child))
		}
		return e
	}
	whole := build(p.Root)
	for _, part := range partsOf(p)[1:] {
		whole.Parts = append(whole.Parts, &explainedPart{part.title, build(part.root)})
	}
	text, err := json.MarshalIndent(whole, "", "  ")
	if err != nil {
		return "{}" // strings and numbers always marshal
	}
	return string(text)
}
