package exec

// The figures of a Profile.
const (
	SelectFullJoin      = iota // a table that is not the first of its query block is read whole
	SelectFullRangeJoin        // such a table is read by ranges
	SelectRange                // the first table of a query block is read by ranges
	SelectScan                 // the first table of a query block is read whole
	SortScan                   // rows are sorted
	NoIndexUsed                // 1 if some table is read whole
	TmpTables                  // results that are gathered before they are read: of GROUP BY, DISTINCT, set operations and CTEs
	ExternalLocks              // twice the tables, which a statement enters and leaves
	profileFigures
)

// ProfileNames are the figures as SHOW STATUS names them; NoIndexUsed has no name there.
var ProfileNames = [...]string{SelectFullJoin: "Select_full_join", SelectFullRangeJoin: "Select_full_range_join", SelectRange: "Select_range", SelectScan: "Select_scan",
	SortScan: "Sort_scan", TmpTables: "Created_tmp_tables", ExternalLocks: "Handler_external_lock"}

// Profile is how a plan reads and sorts, as MySQL counts it per execution; like it, all sorts are those of scans. It follows from the plan, so that executions count nothing.
type Profile [profileFigures]uint32

// profile derives the profile of a plan. As in MySQL, what UPDATE and DELETE of one table read is not counted.
func (p *Plan) profile() (out Profile) {
	out[ExternalLocks] = uint32(2 * len(p.Tables))
	switch p.Root.(type) {
	case *Update, *Delete, nil:
		return out
	}
	out[TmpTables] = uint32(len(p.CTEs))
	out.walk(p.Root, false)
	for _, s := range p.Subplans {
		out.walk(s.Root, false)
	}
	for _, c := range p.CTEs {
		out.walk(c.Root, false)
		if c.Recursive != nil {
			out.walk(c.Recursive, false)
		}
	}
	return out
}

// walk counts a node and those below. inner says that another table of its query block is read before.
func (f *Profile) walk(n Node, inner bool) {
	switch n := n.(type) {
	case *PointGet:
		if len(n.Keys) > 1 {
			f.ranges(inner)
		}
	case *Scan:
		f.scan(n, inner)
	case *IndexLookup:
		if n.Merge != nil {
			f.ranges(inner)
			return
		}
		f.scan(n.Scan, inner)
	case *HashJoin:
		f.walk(n.Left, inner)
		f.walk(n.Right, true)
	case *MergeJoin:
		f.walk(n.Left, inner)
		f.walk(n.Right, true)
	case *Apply:
		f.walk(n.Left, inner)
		f.walk(n.Right, true)
	case *Sort:
		f[SortScan]++
		f.walk(n.Input, false)
	case *TopN:
		f[SortScan]++
		f.walk(n.Input, false)
	case *HashAgg, *StreamAgg, *Distinct, *Window, *UnionAll, *SetOp, *Limit, *Expand: // a query block of its own, or the end of one
		f[TmpTables] += gathers(n)
		for _, c := range n.Children() {
			f.walk(c, false)
		}
	default:
		for _, c := range n.Children() {
			f.walk(c, inner)
		}
	}
}

// gathers is 1 for a node that gathers rows in a table of its own.
func gathers(n Node) uint32 {
	switch n := n.(type) {
	case *Distinct, *SetOp:
		return 1
	case *HashAgg:
		if len(n.Keys) > 0 && n.Phase != AggPartial {
			return 1
		}
	}
	return 0
}

// scan counts one table. A single equality counts neither as a scan nor as a range.
func (f *Profile) scan(n *Scan, inner bool) {
	switch {
	case len(n.Ranges) == 0 && inner:
		f[SelectFullJoin]++
		f[NoIndexUsed] = 1
	case len(n.Ranges) == 0:
		f[SelectScan]++
		f[NoIndexUsed] = 1
	case n.ranged():
		f.ranges(inner)
	}
}

func (f *Profile) ranges(inner bool) {
	if inner {
		f[SelectFullRangeJoin]++
	} else {
		f[SelectRange]++
	}
}

// ranged reports whether the scan has an interval, or several places to read.
func (n *Scan) ranged() bool {
	r := &n.Ranges[0]
	return len(n.Ranges) > 1 || r.NotNull || r.Low.Expr != nil || r.High.Expr != nil
}
