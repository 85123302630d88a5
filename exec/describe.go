package exec

import (
	"strings"

	"github.com/pandodb/pando/catalog"
	"github.com/pandodb/pando/expr"
	"github.com/pandodb/pando/types"
)

// Description is what EXPLAIN says about one node.
type Description struct {
	Op     string   // "Scan", "Sort", …
	Table  string   // alias or name of the table accessed, "" if none
	Index  string   // index used: "PRIMARY" for the rows themselves, "" if none
	Ranges []string // intervals of the index, as text; empty for all of it
	Info   string   // conditions, keys, expressions
	Rows   float64  // estimated rows
	// Covering says that the index alone answers; Reverse that it is read backwards.
	Covering, Reverse bool
}

// Access returns table and index as "t:idx", the access object of the tree format.
func (d *Description) Access() string {
	if d.Index == "" {
		return d.Table
	}
	return d.Table + ":" + d.Index
}

func (n *Base) describe(op string, info ...string) Description {
	return Description{Op: op, Info: joinInfo(info...), Rows: n.EstRows}
}

// joinInfo joins the parts that are not empty.
func joinInfo(parts ...string) string {
	kept := make([]string, 0, len(parts))
	for _, p := range parts {
		if p != "" {
			kept = append(kept, p)
		}
	}
	return strings.Join(kept, "; ")
}

func labelled(label string, e expr.Expr) string {
	if e == nil {
		return ""
	}
	return label + ": " + e.String()
}

func listed(label string, es []expr.Expr) string {
	if len(es) == 0 {
		return ""
	}
	texts := make([]string, len(es))
	for i, e := range es {
		if e == nil {
			texts[i] = "DEFAULT"
			continue
		}
		texts[i] = e.String()
	}
	return label + ": " + strings.Join(texts, ", ")
}

func sortInfo(keys []SortKey) string {
	texts := make([]string, len(keys))
	for i, k := range keys {
		texts[i] = k.Expr.String()
		if k.Desc {
			texts[i] += " DESC"
		}
	}
	return "by: " + strings.Join(texts, ", ")
}

func aggInfo(keys []expr.Expr, aggs []*expr.AggSpec) string {
	texts := make([]string, len(aggs))
	for i, a := range aggs {
		args := make([]string, len(a.Args()))
		for j, e := range a.Args() {
			args[j] = e.String()
		}
		inner := strings.Join(args, ", ")
		if len(args) == 0 {
			inner = "*"
		}
		if a.Distinct() {
			inner = "distinct " + inner
		}
		texts[i] = a.Name() + "(" + inner + ")"
	}
	out := strings.Join(texts, ", ")
	if out != "" {
		out = "aggregates: " + out
	}
	return joinInfo(listed("group by", keys), out)
}

func tableName(t *catalog.Table, alias string) string {
	if alias != "" {
		return alias
	}
	return t.Name
}

func indexName(t *catalog.Table, ix *catalog.Index) string {
	switch {
	case ix != nil:
		return ix.Name
	case t.PK != nil:
		return t.PK.Name
	}
	return ""
}

// rangeText prints a range as (a = 1, 2 < b <= 3).
func rangeText(t *catalog.Table, ix *catalog.Index, r *Range) string {
	if ix == nil {
		ix = t.PK
	}
	name := func(i int) string {
		if ix == nil || i >= len(ix.Columns) {
			return "?"
		}
		if col := ix.Columns[i].Col; col < len(t.Columns) {
			return t.Columns[col].Name
		}
		return "?"
	}
	var parts []string
	for i, e := range r.Eq {
		op := " = "
		if r.EqNull>>uint(i)&1 != 0 {
			op = " <=> "
		}
		parts = append(parts, name(i)+op+e.String())
	}
	next := name(len(r.Eq))
	switch {
	case r.Low.Begins:
		parts = append(parts, next+" begins with "+r.Low.Expr.String())
	case r.Low.Expr != nil && r.High.Expr != nil:
		parts = append(parts, r.Low.Expr.String()+less(r.Low.Incl)+next+less(r.High.Incl)+r.High.Expr.String())
	case r.Low.Expr != nil:
		parts = append(parts, r.Low.Expr.String()+less(r.Low.Incl)+next)
	case r.High.Expr != nil:
		parts = append(parts, next+less(r.High.Incl)+r.High.Expr.String())
	case r.NotNull:
		parts = append(parts, next+" is not null")
	}
	return "(" + strings.Join(parts, ", ") + ")"
}

func less(incl bool) string {
	if incl {
		return " <= "
	}
	return " < "
}

func keyTexts(keys [][]expr.Expr) []string {
	out := make([]string, len(keys))
	for i, k := range keys {
		texts := make([]string, len(k))
		for j, e := range k {
			texts[j] = e.String()
		}
		out[i] = "(" + strings.Join(texts, ", ") + ")"
	}
	return out
}

func setText(t *catalog.Table, set []Assignment) string {
	texts := make([]string, len(set))
	for i, a := range set {
		texts[i] = t.Columns[a.Col].Name + " = "
		if a.Expr == nil {
			texts[i] += "DEFAULT"
		} else {
			texts[i] += a.Expr.String()
		}
	}
	return "set: " + strings.Join(texts, ", ")
}

// columnTypes returns the types of columns of t as a node's output.
func columnTypes(t *catalog.Table, cols []int) []types.Type {
	out := make([]types.Type, len(cols))
	for i, c := range cols {
		out[i] = columnType(t, c)
	}
	return out
}

func columnType(t *catalog.Table, col int) types.Type {
	switch {
	case col == RowKey:
		return types.Type{ID: types.TypeVarbinary, Length: 65535, Coll: types.Binary}
	case col == len(t.Columns):
		return types.Type{ID: types.TypeBigInt, Unsigned: true, Length: -1}
	}
	return t.Columns[col].Type
}

func exprTypes(es []expr.Expr) []types.Type {
	out := make([]types.Type, len(es))
	for i, e := range es {
		out[i] = e.Type()
	}
	return out
}
