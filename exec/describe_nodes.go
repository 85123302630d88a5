package exec

import (
	"strconv"
	"strings"

	"github.com/pandodb/pando/expr"
	"github.com/pandodb/pando/types"
)

// Children, Describe and outputs of every node, in the order of node.go.

func (n *Dual) Children() []Node        { return nil }
func (n *Values) Children() []Node      { return nil }
func (n *RowSource) Children() []Node   { return nil }
func (n *PointGet) Children() []Node    { return nil }
func (n *Scan) Children() []Node        { return nil }
func (n *IndexLookup) Children() []Node { return []Node{n.keys()} }
func (n *LockRows) Children() []Node    { return []Node{n.Input} }
func (n *Filter) Children() []Node      { return []Node{n.Input} }
func (n *Project) Children() []Node     { return []Node{n.Input} }
func (n *Sort) Children() []Node        { return []Node{n.Input} }
func (n *TopN) Children() []Node        { return []Node{n.Input} }
func (n *Limit) Children() []Node       { return []Node{n.Input} }
func (n *Distinct) Children() []Node    { return []Node{n.Input} }
func (n *HashAgg) Children() []Node     { return []Node{n.Input} }
func (n *StreamAgg) Children() []Node   { return []Node{n.Input} }
func (n *UnionAll) Children() []Node    { return n.Inputs }
func (n *Materialize) Children() []Node { return []Node{n.Input} }
func (n *CTEScan) Children() []Node     { return nil } // the CTE may be read by its own parts
func (n *CTEDelta) Children() []Node    { return nil }
func (n *HashJoin) Children() []Node    { return []Node{n.Left, n.Right} }
func (n *MergeJoin) Children() []Node   { return []Node{n.Left, n.Right} }
func (n *Apply) Children() []Node       { return []Node{n.Left, n.Right} }
func (n *Update) Children() []Node      { return []Node{n.Input} }
func (n *Delete) Children() []Node      { return []Node{n.Input} }

func (n *MultiUpdate) Children() []Node { return []Node{n.Input} }
func (n *MultiDelete) Children() []Node { return []Node{n.Input} }

func (n *Insert) Children() []Node {
	if n.Source == nil {
		return nil
	}
	return []Node{n.Source}
}

func (n *Dual) outputs() []types.Type        { return nil }
func (n *Values) outputs() []types.Type      { return n.Out }
func (n *RowSource) outputs() []types.Type   { return n.Out }
func (n *PointGet) outputs() []types.Type    { return columnTypes(n.Table, n.Cols) }
func (n *Scan) outputs() []types.Type        { return columnTypes(n.Table, n.Cols) }
func (n *LockRows) outputs() []types.Type    { return columnTypes(n.Table, n.Cols) }
func (n *Filter) outputs() []types.Type      { return Types(n.Input) }
func (n *Project) outputs() []types.Type     { return exprTypes(n.Exprs) }
func (n *Sort) outputs() []types.Type        { return Types(n.Input) }
func (n *TopN) outputs() []types.Type        { return Types(n.Input) }
func (n *Limit) outputs() []types.Type       { return Types(n.Input) }
func (n *Distinct) outputs() []types.Type    { return Types(n.Input) }
func (n *StreamAgg) outputs() []types.Type   { return aggTypes(n.Keys, n.Aggs) }
func (n *UnionAll) outputs() []types.Type    { return n.Out }
func (n *Materialize) outputs() []types.Type { return Types(n.Input) }
func (n *CTEScan) outputs() []types.Type     { return n.CTE.Out }
func (n *CTEDelta) outputs() []types.Type    { return n.CTE.Out }
func (n *HashJoin) outputs() []types.Type    { return joinTypes(n.Kind, n.Left, n.Right) }
func (n *MergeJoin) outputs() []types.Type   { return joinTypes(n.Kind, n.Left, n.Right) }
func (n *Apply) outputs() []types.Type       { return joinTypes(n.Kind, n.Left, n.Right) }
func (n *Insert) outputs() []types.Type      { return nil }
func (n *Update) outputs() []types.Type      { return nil }
func (n *Delete) outputs() []types.Type      { return nil }
func (n *MultiUpdate) outputs() []types.Type { return nil }
func (n *MultiDelete) outputs() []types.Type { return nil }

func (n *IndexLookup) outputs() []types.Type {
	t, _ := n.table()
	return columnTypes(t, n.Cols)
}

func (n *HashAgg) outputs() []types.Type {
	if n.Phase == AggPartial {
		return partialTypes(n.Keys, n.Aggs)
	}
	return aggTypes(n.Keys, n.Aggs)
}

func aggTypes(keys []expr.Expr, aggs []*expr.AggSpec) []types.Type {
	out := exprTypes(keys)
	for _, a := range aggs {
		out = append(out, a.Type())
	}
	return out
}

func joinTypes(kind JoinKind, left, right Node) []types.Type {
	out := append([]types.Type(nil), Types(left)...)
	if kind == JoinInner || kind == JoinLeft {
		out = append(out, Types(right)...)
	}
	return out
}

// Describe implements Node.
func (n *Dual) Describe() Description { return n.describe("Dual") }

// Describe implements Node.
func (n *Values) Describe() Description {
	return n.describe("Values", "rows: "+strconv.Itoa(len(n.Rows)))
}

// Describe implements Node.
func (n *RowSource) Describe() Description {
	d := n.describe("RowSource")
	d.Table = n.Name
	return d
}

// Describe implements Node.
func (n *PointGet) Describe() Description {
	d := n.describe("PointGet", labelled("filter", n.Filter))
	d.Table, d.Index, d.Covering = tableName(n.Table, n.Alias), n.Index.Name, n.Covering
	d.Ranges = keyTexts(n.Keys)
	return d
}

// Describe implements Node.
func (n *Scan) Describe() Description {
	d := n.describe("Scan", labelled("filter", n.Filter), labelled("limit", n.Limit))
	d.Table, d.Index, d.Reverse = tableName(n.Table, n.Alias), indexName(n.Table, n.Index), n.Reverse
	d.Covering = n.Index != nil && !n.Index.Primary
	for i := range n.Ranges {
		d.Ranges = append(d.Ranges, rangeText(n.Table, n.Index, &n.Ranges[i]))
	}
	return d
}

// Describe implements Node.
func (n *IndexLookup) Describe() Description {
	d := n.describe("IndexLookup", labelled("filter", n.Filter), labelled("limit", n.Limit))
	t, alias := n.table()
	d.Table, d.Index = tableName(t, alias), indexName(t, nil)
	return d
}

// Describe implements Node.
func (n *LockRows) Describe() Description {
	d := n.describe("LockRows", n.Mode.String(), labelled("recheck", n.Where), labelled("limit", n.Limit))
	d.Table = tableName(n.Table, n.Alias)
	return d
}

// Describe implements Node.
func (n *Filter) Describe() Description { return n.describe("Filter", n.Cond.String()) }

// Describe implements Node.
func (n *Project) Describe() Description {
	return n.describe("Project", strings.TrimPrefix(listed("", n.Exprs), ": "))
}

// Describe implements Node.
func (n *Sort) Describe() Description { return n.describe("Sort", sortInfo(n.Keys)) }

// Describe implements Node.
func (n *TopN) Describe() Description {
	return n.describe("TopN", sortInfo(n.Keys), labelled("count", n.Count), labelled("offset", n.Offset))
}

// Describe implements Node.
func (n *Limit) Describe() Description {
	return n.describe("Limit", labelled("count", n.Count), labelled("offset", n.Offset))
}

// Describe implements Node.
func (n *Distinct) Describe() Description { return n.describe("Distinct") }

// Describe implements Node.
func (n *HashAgg) Describe() Description {
	return n.describe("HashAgg", [...]string{"", "partial", "final"}[n.Phase], aggInfo(n.Keys, n.Aggs))
}

// Describe implements Node.
func (n *StreamAgg) Describe() Description { return n.describe("StreamAgg", aggInfo(n.Keys, n.Aggs)) }

// Describe implements Node.
func (n *UnionAll) Describe() Description { return n.describe("UnionAll") }

// Describe implements Node.
func (n *Materialize) Describe() Description {
	d := n.describe("Materialize")
	d.Table = n.Name
	return d
}

// Describe implements Node.
func (n *CTEScan) Describe() Description {
	d := n.describe("CTEScan")
	d.Table = n.CTE.Name
	return d
}

// Describe implements Node.
func (n *CTEDelta) Describe() Description {
	d := n.describe("CTEDelta")
	d.Table = n.CTE.Name
	return d
}

// String names the kind for EXPLAIN.
func (k JoinKind) String() string {
	switch k {
	case JoinLeft:
		return "left"
	case JoinSemi:
		return "semi"
	case JoinAnti:
		return "anti"
	}
	return "inner"
}

// Describe implements Node.
func (n *HashJoin) Describe() Description {
	kind := n.Kind.String()
	switch {
	case n.NullAware:
		kind += ", NULL-aware"
	case n.BuildLeft:
		kind += ", build left"
	}
	return n.describe("HashJoin", kind, listed("left", n.LeftKeys), listed("right", n.RightKeys), labelled("on", n.On))
}

// Describe implements Node.
func (n *MergeJoin) Describe() Description {
	return n.describe("MergeJoin", n.Kind.String(), listed("left", n.LeftKeys), listed("right", n.RightKeys), labelled("on", n.On))
}

// Describe implements Node.
func (n *Apply) Describe() Description {
	return n.describe("Apply", n.Kind.String(), listed("bind", n.Bind), labelled("on", n.On))
}

// Describe implements Node.
func (n *Insert) Describe() Description {
	op := "Insert"
	if n.Mode == InsertReplace {
		op = "Replace"
	}
	info := ""
	if rows := n.valueRows(); rows > 0 {
		info = "rows: " + strconv.Itoa(rows)
	}
	if n.Load != nil {
		info = "file"
	}
	if n.Mode == InsertUpdate {
		info = joinInfo(info, "on duplicate key "+setText(n.Table, n.OnDup))
	}
	d := n.describe(op, info)
	d.Table = n.Table.Name
	return d
}

// Describe implements Node.
func (n *Update) Describe() Description {
	d := n.describe("Update", setText(n.Table, n.Set))
	d.Table = n.Table.Name
	return d
}

// Describe implements Node.
func (n *Delete) Describe() Description {
	d := n.describe("Delete")
	d.Table = n.Table.Name
	return d
}

// Describe implements Node.
func (n *MultiUpdate) Describe() Description {
	texts := make([]string, len(n.Targets))
	for i := range n.Targets {
		t := &n.Targets[i]
		texts[i] = t.Table.Name + " " + setText(t.Table, t.Set)
	}
	return n.describe("MultiUpdate", texts...)
}

// Describe implements Node.
func (n *MultiDelete) Describe() Description {
	texts := make([]string, len(n.Targets))
	for i := range n.Targets {
		texts[i] = n.Targets[i].Table.Name
	}
	return n.describe("MultiDelete", strings.Join(texts, ", "))
}
