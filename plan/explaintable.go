package plan

import (
	"math"
	"strconv"
	"strings"

	"github.com/pandodb/pando/catalog"
	"github.com/pandodb/pando/exec"
	"github.com/pandodb/pando/expr"
	"github.com/pandodb/pando/sqlapi"
	"github.com/pandodb/pando/types"
)

// ExplainRows renders a plan as MySQL's traditional table: one row for each table access, in the order in which tables are joined. The plan
// must have been built with Env.Explain.
func ExplainRows(p *exec.Plan) ([]sqlapi.ColumnInfo, [][]types.Value) {
	var out [][]types.Value
	for _, part := range explainParts(p) {
		for _, r := range part.rows {
			out = append(out, r.values())
		}
	}
	return explainColumns(), out
}

// explainedPart is a tree of a plan as a list of accesses.
type explainedPart struct {
	kind    string // the select_type
	subplan *exec.Subplan
	rows    []*accessRow // at least one
}

// explainParts lists the accesses of each tree of a plan, the statement's own first. The ids of their rows begin with the place of the tree.
func explainParts(p *exec.Plan) []explainedPart {
	parts := partsOf(p)
	x := &tableExplainer{plan: p, nextID: len(parts) + 1}
	out := make([]explainedPart, len(parts))
	for i := range parts {
		part := &parts[i]
		x.id, x.kind, x.rows = i+1, part.selectType, nil
		if i == 0 && len(parts) > 1 {
			x.kind = "PRIMARY"
		}
		x.part(part.root, i == 0)
		out[i] = explainedPart{part.selectType, part.subplan, x.rows}
	}
	return out
}

func explainColumns() []sqlapi.ColumnInfo {
	text := func(name string, length int32) sqlapi.ColumnInfo {
		return sqlapi.ColumnInfo{Name: name, Type: types.Type{ID: types.TypeVarchar, Length: length, Coll: types.DefaultCollation}}
	}
	number := types.Type{ID: types.TypeBigInt, Length: -1}
	return []sqlapi.ColumnInfo{{Name: "id", Type: number}, text("select_type", 19), text("table", 64), text("partitions", 512), text("type", 10),
		text("possible_keys", 4096), text("key", 64), text("key_len", 4096), text("ref", 1024), {Name: "rows", Type: number},
		{Name: "filtered", Type: types.Type{ID: types.TypeDouble, Length: 5, Scale: 2}}, text("Extra", 255)}
}

// accessRow is a row of the table.
type accessRow struct {
	id                         int
	kind, table, access        string
	possible, key, length, ref string
	rows, filtered             float64 // rows negative: unknown
	where, condition, covering bool
	backwards, buffer          bool
	temporary, filesort        bool
	workers                    int // that may read it; 0 is none
	note                       string
	merged                     string // how the indexes of key are joined
	// For FORMAT=JSON: the columns of key that are used, those that are read, the conditions on the rows and on the entries of an index, and
	// the subqueries in the former.
	keyParts, columns, attached []string
	pushed                      string
	subplans                    []*exec.Subplan
}

// attach notes a condition on the rows of an access.
func (r *accessRow) attach(cond expr.Expr) {
	if cond == nil {
		return
	}
	r.attached = append(r.attached, cond.String())
	expr.Walk(cond, func(e expr.Expr) bool {
		if s, ok := e.SubqueryPlan(); ok {
			if plan, ok := s.(*exec.Subplan); ok {
				r.subplans = append(r.subplans, plan)
			}
		}
		return true
	})
}

// read notes the columns that an access reads, and those of its key that it uses.
func (r *accessRow) read(t *catalog.Table, columns []int, index *catalog.Index, parts int) {
	for _, ordinal := range columns {
		if ordinal >= 0 && ordinal < len(t.Columns) {
			r.columns = append(r.columns, t.Columns[ordinal].Name)
		}
	}
	if index == nil || r.key == "" {
		return
	}
	for _, part := range index.Columns[:min(parts, len(index.Columns))] {
		if part.Col < len(t.Columns) {
			r.keyParts = append(r.keyParts, t.Columns[part.Col].Name)
		}
	}
}

func (r *accessRow) values() []types.Value {
	word := func(s string) types.Value {
		if s == "" {
			return types.Null()
		}
		return types.Text(s)
	}
	rows, filtered := types.Null(), types.Null()
	if r.access != "" && r.rows >= 0 {
		rows, filtered = types.Int(int64(math.Max(1, math.Round(r.rows)))), types.Float(math.Round(r.filtered*100)/100)
	}
	id := types.Null()
	if r.id > 0 {
		id = types.Int(int64(r.id))
	}
	return []types.Value{id, word(r.kind), word(r.table), types.Null(), word(r.access), word(r.possible), word(r.key), word(r.length), word(r.ref), rows, filtered,
		word(r.extra())}
}

// extra lists the remarks in MySQL's order.
func (r *accessRow) extra() string {
	var notes []string
	for _, n := range []struct {
		on   bool
		text string
	}{{r.note != "", r.note}, {r.merged != "", "Using " + r.merged}, {r.condition, "Using index condition"}, {r.where, "Using where"}, {r.backwards, "Backward index scan"}, {r.covering, "Using index"},
		{r.temporary, "Using temporary"}, {r.filesort, "Using filesort"}, {r.buffer, "Using join buffer (hash join)"}, {r.workers > 0, "Using parallel scan (" + strconv.Itoa(r.workers) + " workers)"}} {
		if n.on {
			notes = append(notes, n.text)
		}
	}
	return strings.Join(notes, "; ")
}

// tableExplainer walks the trees of a plan.
type tableExplainer struct {
	plan   *exec.Plan
	rows   []*accessRow
	id     int
	nextID int
	kind   string
	verb   string // UPDATE or DELETE of several tables, beside the tables that it changes
}

// part lists the accesses of one tree: of a union, branch by branch.
func (x *tableExplainer) part(root exec.Node, whole bool) {
	switch d := root.Describe(); {
	case whole && (d.Op == "Insert" || d.Op == "Replace"):
		x.rows = append(x.rows, &accessRow{id: x.id, kind: strings.ToUpper(d.Op), table: d.Table, access: "ALL", rows: -1})
	case whole && strings.HasPrefix(d.Op, "Multi"):
		x.verb = strings.ToUpper(d.Op[len("Multi"):])
	case whole && (d.Op == "Update" || d.Op == "Delete"):
		x.kind = strings.ToUpper(d.Op)
	}
	first := len(x.rows)
	x.walk(root)
	if root.Describe().Op == "Insert" || len(x.rows) > first {
		return
	}
	x.rows = append(x.rows, &accessRow{id: x.id, kind: x.kind, note: "No tables used"})
}

// walk adds the rows of a tree, and marks them with what the nodes above them do.
func (x *tableExplainer) walk(n exec.Node) {
	first := len(x.rows)
	switch n := n.(type) {
	case *exec.Scan:
		x.rows = append(x.rows, x.scan(n))
		return
	case *exec.PointGet:
		x.rows = append(x.rows, x.point(n))
		return
	case *exec.IndexLookup:
		x.rows = append(x.rows, x.lookup(n))
		return
	case *exec.CTEScan:
		x.rows = append(x.rows, &accessRow{id: x.id, kind: x.kind, table: x.derivedName(n.CTE), access: "ALL", rows: n.EstRows, filtered: 100})
		return
	case *exec.CTEDelta:
		x.rows = append(x.rows, &accessRow{id: x.id, kind: x.kind, table: n.CTE.Name, access: "ALL", rows: n.EstRows, filtered: 100, note: "Recursive"})
		return
	case *exec.RowSource:
		row := &accessRow{id: x.id, kind: x.kind, table: n.Name, access: "ALL", rows: n.EstRows, filtered: 100}
		if name, isJSON := strings.CutPrefix(n.Name, "json_table "); isJSON {
			row.table, row.note = name, "Table function: json_table; Using temporary"
		}
		x.rows = append(x.rows, row)
		return
	case *exec.UnionAll:
		x.union(n)
		return
	case *exec.Distinct:
		if all, ok := n.Input.(*exec.UnionAll); ok {
			x.rows = append(x.rows, x.union(all))
			return
		}
	}
	for _, child := range n.Children() {
		x.walk(child)
	}
	if len(x.rows) == first {
		return
	}
	head, last := x.rows[first], x.rows[len(x.rows)-1]
	switch n := n.(type) {
	case *exec.Sort, *exec.TopN:
		head.filesort = true
	case *exec.HashAgg:
		if n.Phase != exec.AggPartial { // what workers keep of their groups is no table
			head.temporary = head.temporary || len(n.Keys) > 0
		}
	case *exec.Gather:
		head.workers = n.Workers
	case *exec.Distinct:
		head.temporary = true
	case *exec.Filter:
		last.where = true
		last.attach(n.Cond)
	case *exec.HashJoin:
		last.where, last.buffer = true, true
	case *exec.Apply:
		last.where = last.where || n.On != nil
	case *exec.LockRows:
		if x.verb != "" && n.Mode == exec.LockExclusive {
			last.kind = x.verb
		}
		last.covering = false // the row is read again under its lock
		last.where = last.where || n.Where != nil && (last.access == "ALL" || last.access == "index" || last.access == "range")
	}
}

// union numbers the branches behind the first, and returns the row of a result without duplicates.
func (x *tableExplainer) union(n *exec.UnionAll) *accessRow {
	kind, id := x.kind, x.id
	if kind == "SIMPLE" {
		x.kind = "PRIMARY"
	}
	ids := make([]string, len(n.Inputs))
	for i, input := range n.Inputs {
		if i > 0 {
			x.id, x.kind = x.nextID, "UNION"
			x.nextID++
		}
		ids[i] = strconv.Itoa(x.id)
		before := len(x.rows)
		x.walk(input)
		if len(x.rows) == before {
			x.rows = append(x.rows, &accessRow{id: x.id, kind: x.kind, note: "No tables used"})
		}
	}
	x.kind, x.id = kind, id
	return &accessRow{kind: "UNION RESULT", table: "<union" + strings.Join(ids, ",") + ">", access: "ALL", rows: -1, temporary: true}
}

// derivedName is what the table calls a common table expression: by the id of its rows.
func (x *tableExplainer) derivedName(c *exec.CTE) string {
	id := 2 + len(x.plan.Subplans)
	for _, other := range x.plan.CTEs {
		if other == c {
			return "<derived" + strconv.Itoa(id) + ">"
		}
		if id++; other.Recursive != nil {
			id++
		}
	}
	return c.Name
}

// share sets rows and filtered: how many are read, and which part of them goes on.
func (r *accessRow) share(note *exec.AccessNote, out float64) {
	r.rows, r.filtered = out, 100
	if note == nil {
		return
	}
	r.possible = strings.Join(note.Possible, ",")
	r.rows = note.Read
	if note.Filtered < 1 {
		r.filtered = note.Filtered * 100
	}
}

// scan describes a scan of rows or of an index.
func (x *tableExplainer) scan(n *exec.Scan) *accessRow {
	r := &accessRow{id: x.id, kind: x.kind, table: firstOf(n.Alias, n.Table.Name), access: "ALL", where: n.Filter != nil}
	r.backwards = n.Reverse
	r.share(n.Note, n.EstRows)
	r.attach(n.Filter)
	r.read(n.Table, n.Cols, nil, 0)
	index := n.Index
	if index == nil {
		index = n.Table.PK
	} else {
		r.covering = true
	}
	points, parts := true, 0
	for i := range n.Ranges {
		g := &n.Ranges[i]
		width := len(g.Eq)
		if g.Low.Expr != nil || g.High.Expr != nil || g.NotNull {
			points = false
			width++
		}
		parts = max(parts, width)
	}
	switch {
	case len(n.Ranges) == 0 && n.Index == nil && (n.Note == nil || !n.Note.Ordered):
		return r
	case len(n.Ranges) == 0:
		r.access, parts = "index", len(index.Columns)
	case points && len(n.Ranges) == 1:
		r.access, r.ref = "ref", refs(n.Ranges[0].Eq)
	case points && len(n.Ranges) == 2 && (n.Ranges[0].EqNull != 0) != (n.Ranges[1].EqNull != 0):
		r.access, r.ref = "ref_or_null", refs(n.Ranges[0].Eq)
	default:
		r.access = "range"
		r.where = r.where || !r.condition
	}
	if index != nil {
		r.key, r.length = index.Name, keyLength(n.Table, index, parts)
	}
	r.read(n.Table, nil, index, parts)
	return r
}

// lookup describes an index scan that fetches the rows of its entries.
func (x *tableExplainer) lookup(n *exec.IndexLookup) *accessRow {
	if n.Merge != nil {
		return x.merge(n)
	}
	row := x.scan(n.Scan)
	row.covering, row.condition, row.where = false, n.Scan.Filter != nil, n.Filter != nil
	row.pushed, row.attached, row.subplans = strings.Join(row.attached, " and "), nil, nil
	row.attach(n.Filter)
	row.columns = nil
	row.read(n.Scan.Table, n.Cols, nil, 0)
	row.share(n.Scan.Note, n.EstRows)
	return row
}

// merge describes an index merge.
func (x *tableExplainer) merge(n *exec.IndexLookup) *accessRow {
	var keys, lengths []string
	kind, m := "intersect", &indexMerge{intersect: n.Merge.Intersect}
	r := &accessRow{id: x.id, kind: x.kind, table: x.scan(n.Merge.Scans[0]).table, access: "index_merge", where: true}
	for _, scan := range n.Merge.Scans {
		part := x.scan(scan)
		keys, lengths = append(keys, part.key), append(lengths, part.length)
		r.keyParts = append(r.keyParts, part.keyParts...)
		m.parts = append(m.parts, &path{index: firstIndex(scan), ranges: scan.Ranges})
	}
	if !m.intersect {
		if kind = "union"; !m.inKeyOrder() {
			kind = "sort_union"
		}
	}
	r.key, r.length = strings.Join(keys, ","), strings.Join(lengths, ",")
	r.merged = kind + "(" + r.key + ")"
	r.attach(n.Filter)
	r.read(n.Merge.Scans[0].Table, n.Cols, nil, 0)
	r.share(n.Merge.Note, n.EstRows)
	return r
}

// firstIndex is the index that a scan reads, which is the primary key for the rows themselves.
func firstIndex(n *exec.Scan) *catalog.Index {
	if n.Index != nil {
		return n.Index
	}
	return n.Table.PK
}

// point describes a read of whole unique keys.
func (x *tableExplainer) point(n *exec.PointGet) *accessRow {
	r := &accessRow{id: x.id, kind: x.kind, table: firstOf(n.Alias, n.Table.Name), access: "const", where: n.Filter != nil, covering: n.Covering}
	r.share(n.Note, n.EstRows)
	r.key, r.length = n.Index.Name, keyLength(n.Table, n.Index, len(n.Index.Columns))
	r.attach(n.Filter)
	r.read(n.Table, n.Cols, n.Index, len(n.Index.Columns))
	if len(n.Keys) > 1 {
		r.access, r.where = "range", true
		return r
	}
	r.rows = 1
	if r.ref = refs(n.Keys[0]); strings.Trim(strings.ReplaceAll(r.ref, "const", ""), ",") != "" {
		r.access = "eq_ref"
	}
	return r
}

// refs lists what the columns of a key are compared with: a column, a constant, or an expression.
func refs(keys []expr.Expr) string {
	out := make([]string, len(keys))
	for i, e := range keys {
		out[i] = "const"
		e = expr.Unwrap(e)
		if _, param := e.ParamOrdinal(); param {
			if name := e.String(); strings.HasPrefix(name, "`") {
				out[i] = strings.ReplaceAll(name, "`", "")
			}
		} else if _, constant := e.ConstValue(); !constant && strings.Contains(e.String(), "`") {
			out[i] = "func"
		}
	}
	return strings.Join(out, ",")
}

// keyLength is MySQL's key_len: the bytes of the first columns of an index at their longest, one more for each that may be NULL.
func keyLength(t *catalog.Table, index *catalog.Index, parts int) string {
	total := 0
	for _, part := range index.Columns[:min(parts, len(index.Columns))] {
		if part.Col >= len(t.Columns) {
			total += 6 // the hidden row id
			continue
		}
		c := t.Columns[part.Col]
		total += typeLength(&c.Type, part.PrefixLen)
		if !c.NotNull {
			total++
		}
	}
	return strconv.Itoa(total)
}

// typeLength is the size of a key part with this prefix, 0 for none.
func typeLength(t *types.Type, prefix int) int {
	if !t.IsStringType() {
		return t.FixedBytes()
	}
	chars := int(t.Length)
	if prefix > 0 {
		chars = prefix
	}
	width := 1
	if t.Coll != types.Binary {
		width = max(t.Coll.MaxCharLen(), 1)
	}
	n := chars * width
	if t.ID != types.TypeChar && t.ID != types.TypeBinary {
		n += 2
	}
	return n
}
