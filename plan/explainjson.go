package plan

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/pandodb/pando/exec"
)

// EXPLAIN FORMAT=JSON has the shape of MySQL 8's: query blocks, in them the tables in the order in which they are joined, and around those what
// is done to the rows. The numbers under cost_info are in MySQL's unit, a read of a block from disk, and by its default constants.
const (
	rowCost  = 0.1  // row_evaluate_cost
	readCost = 0.25 // memory_block_read_cost, for each row that is read
)

// member is one of a jsonObject.
type member struct {
	name  string
	value any
}

// jsonObject keeps the order of its members.
type jsonObject []member

func (o *jsonObject) add(name string, value any) { *o = append(*o, member{name, value}) }

// MarshalJSON writes the members in their order.
func (o jsonObject) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, m := range o {
		if i > 0 {
			b.WriteByte(',')
		}
		name, err := plainJSON(m.name)
		if err != nil {
			return nil, err
		}
		value, err := plainJSON(m.value)
		if err != nil {
			return nil, err
		}
		b.Write(name)
		b.WriteByte(':')
		b.Write(value)
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// plainJSON marshals without HTML's escapes: a condition may hold < and >.
func plainJSON(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return bytes.TrimRight(b.Bytes(), "\n"), err
}

// indentedBytes is how long compact JSON is when json.Indent has indented it by two blanks a level.
func indentedBytes(compact []byte) int {
	bytes, depth, quoted := 0, 0, false
	for i := 0; i < len(compact); i++ {
		c := compact[i]
		bytes++
		switch {
		case quoted && c == '\\':
			bytes++
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{' || c == '[':
			depth++
			bytes += 1 + 2*depth
		case c == '}' || c == ']':
			depth--
			bytes += 1 + 2*depth
		case c == ',':
			bytes += 1 + 2*depth
		case c == ':':
			bytes++
		}
	}
	return bytes
}

// ExplainJSON renders a plan as JSON. The plan must have been built with Env.Explain. grow is asked before the text takes memory.
func ExplainJSON(p *exec.Plan, grow func(bytes int64) error) (string, error) {
	x := &jsonExplainer{parts: explainParts(p), shown: map[int]bool{0: true}}
	body := x.part(0)
	// Subqueries that no condition of a table shows stand in the select list, or in a clause behind it.
	var rest []jsonObject
	for i := range x.parts {
		if strings.HasSuffix(x.parts[i].kind, "SUBQUERY") && !x.shown[i] {
			rest = append(rest, x.subquery(i))
		}
	}
	if len(rest) > 0 {
		body.add("select_list_subqueries", rest)
	}
	compact, err := plainJSON(jsonObject{{"query_block", body}})
	if err != nil {
		return "{}", nil // strings and numbers always marshal
	}
	size := indentedBytes(compact)
	if err := grow(int64(len(compact) + 2*size)); err != nil {
		return "", err
	}
	var text bytes.Buffer
	text.Grow(size)
	_ = json.Indent(&text, compact, "", "  ") // which fails for what is no JSON
	return text.String(), nil
}

type jsonExplainer struct {
	parts []explainedPart
	shown map[int]bool
}

// part renders one tree of the plan as the content of a query block.
func (x *jsonExplainer) part(i int) jsonObject {
	part := &x.parts[i]
	x.shown[i] = true
	var specs []jsonObject
	var result *accessRow
	for at := 0; at < len(part.rows); {
		end := at + 1
		for end < len(part.rows) && part.rows[end].id == part.rows[at].id {
			end++
		}
		if rows := part.rows[at:end]; rows[0].kind == "UNION RESULT" {
			result = rows[0]
		} else {
			specs = append(specs, x.block(rows))
		}
		at = end
	}
	if i+1 < len(x.parts) && x.parts[i+1].kind == "UNION" { // the recursive part of a common table expression
		next := x.part(i + 1)
		specs = append(specs, append(jsonObject{{"recursive", true}}, next...))
	}
	if len(specs) == 1 && result == nil {
		return specs[0]
	}
	union := jsonObject{{"using_temporary_table", result != nil}}
	if result != nil {
		union.add("table_name", result.table)
		union.add("access_type", result.access)
	}
	var list []jsonObject
	for _, s := range specs {
		list = append(list, jsonObject{{"dependent", false}, {"cacheable", true}, {"query_block", s}})
	}
	union.add("query_specifications", list)
	return jsonObject{{"union_result", union}}
}

// subquery renders the tree of a subquery.
func (x *jsonExplainer) subquery(i int) jsonObject {
	dependent := strings.HasPrefix(x.parts[i].kind, "DEPENDENT")
	return jsonObject{{"dependent", dependent}, {"cacheable", !dependent}, {"query_block", x.part(i)}}
}

// block renders the rows of one SELECT, or of the statement that changes rows.
func (x *jsonExplainer) block(rows []*accessRow) jsonObject {
	out := jsonObject{{"select_id", rows[0].id}}
	if len(rows) == 1 && rows[0].table == "" {
		out.add("message", rows[0].note)
		return out
	}
	if kind := rows[0].kind; kind == "INSERT" || kind == "REPLACE" {
		target := jsonObject{{strings.ToLower(kind), true}, {"table_name", rows[0].table}, {"access_type", rows[0].access}}
		out.add("table", target)
		if len(rows) > 1 && rows[1].table != "" {
			inner := jsonObject{}
			x.tables(&inner, rows[1:])
			out.add("insert_from", inner)
		}
		return out
	}
	total := costOf(rows)
	out.add("cost_info", jsonObject{{"query_cost", cost(total)}})
	into := &out
	var ordering, grouping jsonObject
	if rows[0].filesort {
		ordering = jsonObject{{"using_filesort", true}}
	}
	if rows[0].temporary {
		grouping = jsonObject{{"using_temporary_table", true}, {"using_filesort", false}}
		into = &grouping
	} else if rows[0].filesort {
		into = &ordering
	}
	x.tables(into, rows)
	switch {
	case ordering != nil && grouping != nil:
		ordering.add("grouping_operation", grouping)
		out.add("ordering_operation", ordering)
	case ordering != nil:
		out.add("ordering_operation", ordering)
	case grouping != nil:
		out.add("grouping_operation", grouping)
	}
	return out
}

// costOf is what the accesses of a block cost together.
func costOf(rows []*accessRow) float64 {
	total, prefix := 0.0, 1.0
	for _, r := range rows {
		read, eval, out := r.cost(prefix)
		total, prefix = total+read+eval, out
	}
	return total
}

// cost is what an access costs if prefix rows come from the tables before it, and how many go on.
func (r *accessRow) cost(prefix float64) (read, eval, out float64) {
	rows := math.Max(r.rows, 1)
	out = prefix * rows * r.filtered / 100
	return prefix * rows * readCost, prefix * rows * rowCost, out
}

func cost(c float64) string { return strconv.FormatFloat(c, 'f', 2, 64) }

// tables adds the tables of a block: one, or nested loops over several.
func (x *jsonExplainer) tables(out *jsonObject, rows []*accessRow) {
	var loop []jsonObject
	prefix, total := 1.0, 0.0
	for _, r := range rows {
		read, eval, next := r.cost(prefix)
		total += read + eval
		loop = append(loop, jsonObject{{"table", x.table(r, next, read, eval, total)}})
		prefix = next
	}
	if len(loop) == 1 {
		*out = append(*out, loop[0]...)
		return
	}
	out.add("nested_loop", loop)
}

// table renders one access.
func (x *jsonExplainer) table(r *accessRow, produced, read, eval, total float64) jsonObject {
	t := jsonObject{}
	if r.kind == "UPDATE" || r.kind == "DELETE" {
		t.add(strings.ToLower(r.kind), true)
	}
	if r.table == "" {
		return append(t, member{"message", r.note})
	}
	t.add("table_name", r.table)
	t.add("access_type", r.access)
	list := func(name, words string) {
		if words != "" {
			t.add(name, strings.Split(words, ","))
		}
	}
	list("possible_keys", r.possible)
	if r.key != "" {
		t.add("key", firstOf(r.merged, r.key))
		t.add("used_key_parts", r.keyParts)
		t.add("key_length", r.length)
	}
	list("ref", r.ref)
	t.add("rows_examined_per_scan", int64(math.Max(1, math.Round(r.rows))))
	t.add("rows_produced_per_join", int64(math.Round(produced)))
	t.add("filtered", cost(r.filtered))
	for _, flag := range []struct {
		on   bool
		name string
	}{{r.backwards, "backward_index_scan"}, {r.covering, "using_index"}} {
		if flag.on {
			t.add(flag.name, true)
		}
	}
	if r.workers > 0 {
		t.add("parallel_workers", r.workers)
	}
	if r.buffer {
		t.add("using_join_buffer", "hash join")
	}
	t.add("cost_info", jsonObject{{"read_cost", cost(read)}, {"eval_cost", cost(eval)}, {"prefix_cost", cost(total)}})
	if len(r.columns) > 0 {
		t.add("used_columns", r.columns)
	}
	if r.condition && r.pushed != "" {
		t.add("index_condition", r.pushed)
	}
	if len(r.attached) > 0 {
		t.add("attached_condition", strings.Join(r.attached, " and "))
	}
	if subqueries := x.within(r); len(subqueries) > 0 {
		t.add("attached_subqueries", subqueries)
	}
	var id int
	if n, _ := fmt.Sscanf(r.table, "<derived%d>", &id); n == 1 && id <= len(x.parts) {
		if x.shown[id-1] {
			t.add("materialized_from_subquery", jsonObject{{"sharing_temporary_table_with", jsonObject{{"select_id", id}}}})
		} else {
			t.add("materialized_from_subquery", jsonObject{{"using_temporary_table", true}, {"dependent", false}, {"cacheable", true},
				{"query_block", x.part(id - 1)}})
		}
	}
	return t
}

// within renders the subqueries that the conditions of an access evaluate.
func (x *jsonExplainer) within(r *accessRow) (list []jsonObject) {
	for _, plan := range r.subplans {
		for i := range x.parts {
			if x.parts[i].subplan == plan && !x.shown[i] {
				list = append(list, x.subquery(i))
			}
		}
	}
	return list
}
