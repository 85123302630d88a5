package plan

import (
	"slices"
	"strings"

	"github.com/pandodb/pando/catalog"
	"github.com/pandodb/pando/exec"
	"github.com/pandodb/pando/syntax"
	"github.com/pandodb/pando/types"
)

// Optimizer hints. Those of a query block are read when it is resolved; a hint about another block (@name) waits for that one. Hints about
// joins name tables whose columns have ids, by which the join search finds the relations that they speak of, wherever these have moved.

// hintBlock is a query block as hints see it.
type hintBlock struct {
	name   string // by QB_NAME
	number int    // MySQL's select#n
	hints  []*hint
	// tables are those of FROM.
	tables []hintAlias
}

type hintAlias struct {
	name string
	ids  idSet // the table's columns
}

// hint is a hint with the block that it speaks of.
type hint struct {
	syntax.Hint
	block *hintBlock
	done  bool // followed or warned of, so that finishHints does not look for its tables
}

// The warnings about hints that are not followed.
const (
	warnHintTwice       = 3126
	warnHintBlock       = 3127
	warnHintName        = 3128
	warnHintUnsupported = types.ErNotSupportedYet
)

// warn keeps a warning about the statement, which every execution of the plan repeats.
func (b *builder) warn(number uint16, text string) {
	b.plan.Warnings = append(b.plan.Warnings, types.Warning{Level: types.LevelWarning, Number: number, State: types.StateOf(number), Message: text})
}

// readHints opens a block with the hints that stand at its verb, and those that others have for it.
func (b *builder) readHints(text string) *hintBlock {
	blk := &hintBlock{number: len(b.hintBlocks) + 1}
	b.hintBlocks = append(b.hintBlocks, blk)
	if text == "" && len(b.hintsAway) == 0 {
		return blk
	}
	var own []*hint
	if text != "" {
		parsed, bad := syntax.ParseHints(text)
		if bad >= 0 {
			b.warn(types.ErParseError, "Optimizer hint syntax error near '"+b.hintRest(text, bad)+"' at line 1")
		}
		for i := range parsed {
			h := &hint{Hint: parsed[i], block: blk}
			if h.Name == "QB_NAME" {
				b.nameBlock(blk, h)
				continue
			}
			own = append(own, h)
		}
	}
	for _, h := range own {
		away := h.Block
		if away == "" && len(h.Tables) == 1 {
			away = h.Tables[0].Block // INDEX(t@block i)
		}
		if away == "" || away == blk.name {
			b.addHint(blk, h)
		} else if target := b.namedBlock(away); target != nil && target.tables == nil {
			b.addHint(target, h)
		} else {
			h.Block = away
			b.hintsAway = append(b.hintsAway, h)
		}
	}
	b.hintsAway = slices.DeleteFunc(b.hintsAway, func(h *hint) bool {
		if blk.name == "" || h.Block != blk.name {
			return false
		}
		b.addHint(blk, h)
		return true
	})
	return blk
}

// hintRest is the statement's text from an offset in its hints on, cut to the length that syntax errors quote.
func (b *builder) hintRest(text string, bad int) string {
	const quoted = 80
	if at := strings.Index(b.env.Text, "/*+"+text); at >= 0 && bad < len(text) {
		return firstChars(b.env.Text[at+3+bad:], quoted)
	}
	return strings.TrimSpace(firstChars(text[bad:]+" */", quoted))
}

func (b *builder) nameBlock(blk *hintBlock, h *hint) {
	if blk.name != "" || len(h.Tables) != 1 || b.namedBlock(h.Tables[0].Name) != nil {
		b.warn(warnHintTwice, "Hint QB_NAME(`"+h.Args+"`) is ignored as conflicting/duplicated")
		return
	}
	blk.name = h.Tables[0].Name
}

func (b *builder) namedBlock(name string) *hintBlock {
	for _, blk := range b.hintBlocks {
		if blk.name != "" && fold(blk.name, name) {
			return blk
		}
	}
	return nil
}

// oppositeHint is the hint that a block can't have together with another one for the same table.
func oppositeHint(name string) string {
	switch name {
	case "MERGE_JOIN", "INL_JOIN", "LEADING", "HASH_AGG", "STREAM_AGG", "NO_DECORRELATE":
		return ""
	case "JOIN_FIXED_ORDER":
		return "JOIN_ORDER"
	case "JOIN_ORDER", "JOIN_PREFIX", "JOIN_SUFFIX":
		return "JOIN_FIXED_ORDER"
	case "SUBQUERY":
		return "SEMIJOIN"
	case "SEMIJOIN":
		return "NO_SEMIJOIN"
	}
	if rest, negative := strings.CutPrefix(name, "NO_"); negative {
		return rest
	}
	return "NO_" + name
}

// addHint gives a hint to its block, unless an earlier one says the same or the opposite.
func (b *builder) addHint(blk *hintBlock, h *hint) {
	h.block = blk
	for _, other := range blk.hints {
		if other.Name != h.Name && other.Name != oppositeHint(h.Name) {
			continue
		}
		if h.Name == "INDEX_MERGE" || h.Name == other.Name && (h.Name == "JOIN_ORDER" || len(h.Names) > 0 && !slices.Equal(h.Names, other.Names)) {
			continue
		}
		if h.Name == "JOIN_PREFIX" || h.Name == "JOIN_SUFFIX" || len(h.Tables) == 0 || len(other.Tables) == 0 || shareTable(h, other) {
			b.warn(warnHintTwice, "Hint "+h.text()+" is ignored as conflicting/duplicated")
			return
		}
	}
	blk.hints = append(blk.hints, h)
}

func shareTable(a, b *hint) bool {
	return slices.ContainsFunc(a.Tables, func(t syntax.HintTable) bool { return slices.Contains(b.Tables, t) })
}

// text is the hint as MySQL's warnings print it.
func (h *hint) text() string {
	names := make([]string, len(h.Tables))
	for i, t := range h.Tables {
		names[i] = "`" + t.Name + "`"
	}
	switch {
	case strings.HasPrefix(h.Name, "JOIN_") && h.Name != "JOIN_INDEX":
		return h.Name + "( " + strings.Join(names, ",") + ")"
	case len(h.Names) > 0:
		return h.Name + "(" + strings.Join(names, ",") + "  `" + strings.Join(h.Names, "`, `") + "`)"
	}
	return h.Name + "(" + strings.Join(names, ",") + " )"
}

// bindHints applies the hints of a block once its tables are known.
func (b *builder) bindHints(blk *hintBlock, from rel, columns []column) {
	blk.tables = hintAliases(columns)
	for _, h := range blk.hints {
		switch h.Name {
		case "IGNORE_PLAN_CACHE":
			b.private, h.done = true, true
		case "INDEX", "NO_INDEX", "JOIN_INDEX", "NO_JOIN_INDEX", "GROUP_INDEX", "NO_GROUP_INDEX", "ORDER_INDEX", "NO_ORDER_INDEX", "USE_INDEX", "FORCE_INDEX", "IGNORE_INDEX":
			b.indexHint(blk, h, from)
		case "INDEX_MERGE", "NO_INDEX_MERGE":
			b.mergeHints(blk, h, from)
		case "BKA", "MRR", "SKIP_SCAN", "NO_ICP", "NO_RANGE_OPTIMIZATION":
			h.done = true
			b.warn(warnHintUnsupported, "The hint "+h.Name+" has no effect: Pando has nothing that it could choose")
		case "NO_BKA", "NO_MRR", "NO_SKIP_SCAN", "MERGE", "DERIVED_CONDITION_PUSHDOWN", "MAX_EXECUTION_TIME", "SET_VAR", "RESOURCE_GROUP":
			h.done = true // what is always done, or what the session applies
		case "HASH_AGG", "STREAM_AGG", "SUBQUERY", "NO_DECORRELATE":
			h.done = true
		case "SEMIJOIN", "NO_SEMIJOIN":
			h.done = true
			if len(h.Tables) > 0 {
				b.warn(warnHintUnsupported, "The strategies of the hint "+h.Name+" have no effect: the cost decides")
			}
		}
	}
}

func hintAliases(columns []column) []hintAlias {
	out := []hintAlias{}
	at := map[string]int{}
	for i := range columns {
		name := columns[i].table
		k, known := at[name]
		if !known {
			k = len(out)
			at[name] = k
			out = append(out, hintAlias{name, idSet{}})
		}
		out[k].ids[columns[i].id] = true
	}
	return out
}

func (blk *hintBlock) table(name string) idSet {
	for i := range blk.tables {
		if blk.tables[i].name == name {
			return blk.tables[i].ids
		}
	}
	return nil
}

// indexHint turns INDEX(t i, …) and its kin into the hints of USE, FORCE and IGNORE INDEX.
func (b *builder) indexHint(blk *hintBlock, h *hint, from rel) {
	h.done = true
	if len(h.Tables) == 0 {
		return
	}
	prefix := "Unresolved name `" + h.Tables[0].Name + "`@`select#" + itoa(blk.number) + "` "
	g := b.getNamed(from, h.Tables[0].Name)
	if g == nil {
		b.warn(warnHintName, prefix+"for "+h.Name+" hint")
	}
	ih := syntax.IndexHint{Kind: syntax.ForceIndex}
	if strings.HasPrefix(h.Name, "NO_") || h.Name == "IGNORE_INDEX" {
		ih.Kind = syntax.IgnoreIndex
	} else if h.Name == "USE_INDEX" {
		ih.Kind = syntax.UseIndex
	}
	switch strings.TrimPrefix(h.Name, "NO_") {
	case "JOIN_INDEX":
		ih.For = syntax.HintForJoin
	case "GROUP_INDEX":
		ih.For = syntax.HintForGroupBy
	case "ORDER_INDEX":
		ih.For = syntax.HintForOrderBy
	}
	for _, name := range h.Names {
		if g == nil || g.table.Index(name) == nil || g.table.Index(name).State != catalog.StatePublic {
			b.warn(warnHintName, prefix+"`"+name+"` for "+h.Name+" hint")
			continue
		}
		ih.Names = append(ih.Names, syntax.Ident{Name: name})
	}
	if g == nil || len(h.Names) > 0 && len(ih.Names) == 0 {
		return
	}
	if len(h.Names) == 0 {
		if ih.Kind != syntax.IgnoreIndex {
			return // any index may be used
		}
		for _, index := range g.table.Indexes {
			if index.State == catalog.StatePublic {
				ih.Names = append(ih.Names, syntax.Ident{Name: index.Name})
			}
		}
	}
	g.hints = append(g.hints[:len(g.hints):len(g.hints)], ih)
}

// getNamed finds the base table of an alias in a FROM clause, outside derived tables.
func (b *builder) getNamed(r rel, alias string) *get {
	switch r := r.(type) {
	case *get:
		if r.alias == alias {
			return r
		}
	case *join:
		if g := b.getNamed(r.left, alias); g != nil {
			return g
		}
		return b.getNamed(r.right, alias)
	}
	return nil
}

// has reports whether the block has a hint of that name.
func (blk *hintBlock) has(name string) bool {
	for _, h := range blk.hints {
		if h.Name == name {
			return true
		}
	}
	return false
}

// about reports whether the block has a hint of that name about one of its tables, or about all.
func (blk *hintBlock) about(name, table string) bool {
	for _, h := range blk.hints {
		if h.Name != name {
			continue
		}
		if len(h.Tables) == 0 {
			return true
		}
		for _, t := range h.Tables {
			if t.Name == table {
				return true
			}
		}
	}
	return false
}

// keepsSubquery reports whether a subquery must not become a join.
func (blk *hintBlock) keepsSubquery() bool {
	for _, h := range blk.hints {
		if h.Name == "NO_SEMIJOIN" && len(h.Tables) == 0 {
			return true
		}
	}
	return blk.has("SUBQUERY") || blk.has("NO_DECORRELATE")
}

// joinsSubquery reports whether a subquery must become a join if it can, whatever that costs.
func (blk *hintBlock) joinsSubquery() bool {
	for _, h := range blk.hints {
		if h.Name == "SEMIJOIN" && len(h.Tables) == 0 {
			return true
		}
	}
	return false
}

// finishHints warns of the hints whose block or tables do not exist.
func (b *builder) finishHints() {
	for _, h := range b.hintsAway {
		b.warn(warnHintBlock, "Query block name `"+h.Block+"` is not found for "+h.Name+" hint")
	}
	for _, blk := range b.hintBlocks {
		for _, h := range blk.hints {
			if h.done {
				continue
			}
			for _, t := range h.Tables {
				if b.hintTable(blk, t) == nil {
					name := "`" + t.Name + "`"
					if !strings.HasPrefix(h.Name, "JOIN_") {
						name += "@`select#" + itoa(blk.number) + "`"
					}
					b.warn(warnHintName, "Unresolved name "+name+" for "+h.Name+" hint")
				}
			}
		}
	}
}

// hintTable returns the columns of a table that a hint of a block names; nil if there is none.
func (b *builder) hintTable(blk *hintBlock, t syntax.HintTable) idSet {
	if t.Block != "" {
		if blk = b.namedBlock(t.Block); blk == nil {
			return nil
		}
	}
	return blk.table(t.Name)
}

// joinMethods are the ways to join a relation that a hint asks for or forbids.
var joinMethods = map[string]struct {
	methods methodSet
	forbid  bool
}{
	"HASH_JOIN": {1<<methodHash | 1<<methodHashLeft, false}, "BNL": {1<<methodHash | 1<<methodHashLeft, false},
	"NO_HASH_JOIN": {1<<methodHash | 1<<methodHashLeft, true}, "NO_BNL": {1<<methodHash | 1<<methodHashLeft, true},
	"INL_JOIN": {1 << methodLookup, false}, "NO_INDEX_JOIN": {1 << methodLookup, true},
	"MERGE_JOIN": {1 << methodMerge, false}, "NO_MERGE_JOIN": {1 << methodMerge, true},
}

// hintJoins applies the hints about joins to a graph.
func (b *builder) hintJoins(g *joinGraph) {
	for _, blk := range b.hintBlocks {
		for _, h := range blk.hints {
			if m, ok := joinMethods[h.Name]; ok {
				b.hintMethod(g, blk, h, m.methods, m.forbid)
				continue
			}
			b.hintOrder(g, blk, h)
		}
	}
}

// hintMethod restricts how the relations of a hint are joined.
func (b *builder) hintMethod(g *joinGraph, blk *hintBlock, h *hint, methods methodSet, forbid bool) {
	tables := h.Tables
	if len(tables) == 0 {
		for i := range blk.tables {
			tables = append(tables, syntax.HintTable{Name: blk.tables[i].name})
		}
	}
	for _, t := range tables {
		for i := range bitsOf(g.naming(b.hintTable(blk, t))) {
			r := g.rels[i]
			if forbid {
				r.forbidden |= methods
			} else {
				r.wanted |= methods
			}
		}
	}
}

// naming is the set of relations that make one of the columns.
func (g *joinGraph) naming(ids idSet) (set uint64) {
	for i, r := range g.rels {
		for id := range ids {
			if r.ids[id] {
				set |= 1 << i
				break
			}
		}
	}
	return set
}

// bitsOf yields the numbers of the bits of a set.
func bitsOf(set uint64) func(yield func(int) bool) {
	return func(yield func(int) bool) {
		for i := range 64 {
			if set&(1<<i) != 0 && !yield(i) {
				return
			}
		}
	}
}

// hintOrder makes relations come before others.
func (b *builder) hintOrder(g *joinGraph, blk *hintBlock, h *hint) {
	var groups []uint64
	tables := h.Tables
	switch h.Name {
	case "JOIN_FIXED_ORDER":
		for i := range blk.tables {
			tables = append(tables[:len(tables):len(tables)], syntax.HintTable{Name: blk.tables[i].name})
		}
	case "JOIN_ORDER", "JOIN_PREFIX", "JOIN_SUFFIX", "LEADING":
	default:
		return
	}
	all := uint64(0)
	for _, t := range tables {
		if set := g.naming(b.hintTable(blk, t)) &^ all; set != 0 {
			groups = append(groups, set)
			all |= set
		}
	}
	if len(groups) == 0 {
		return
	}
	rest := uint64(1)<<len(g.rels) - 1 - all
	switch h.Name {
	case "JOIN_PREFIX", "LEADING":
		groups = append(groups, rest)
	case "JOIN_SUFFIX":
		groups = append([]uint64{rest}, groups...)
	}
	saved := make([]uint64, len(g.rels))
	for i, r := range g.rels {
		saved[i] = r.before
	}
	before := uint64(0)
	for _, set := range groups {
		for i := range bitsOf(set) {
			r := g.rels[i]
			r.before |= before
		}
		before |= set
	}
	if g.cyclic() { // an outer join asks for another order
		for i, r := range g.rels {
			r.before = saved[i]
		}
		b.warn(warnHintTwice, "Hint "+h.text()+" is ignored as conflicting/duplicated")
		return
	}
	for i := range bitsOf(all) {
		if g.rels[i].before != 0 {
			g.rels[i].driver = nil // the hint says that it does not come first
		}
	}
}

// cyclic reports whether no order satisfies what must come before what.
func (g *joinGraph) cyclic() bool {
	done := uint64(0)
	for range g.rels {
		for i, r := range g.rels {
			if r.before&^done == 0 {
				done |= 1 << i
			}
		}
	}
	return done != uint64(1)<<len(g.rels)-1
}

// fence is a derived table that NO_MERGE keeps apart: it is materialized, and conditions around it are not moved into it.
type fence struct {
	input rel
	alias string
}

func (f *fence) inputs() []rel { return []rel{f.input} }

func (b *builder) physFence(f *fence, n *need) (*stage, error) {
	st, err := b.phys(f.input, &need{ids: n.ids})
	if err != nil {
		return nil, err
	}
	node := &exec.Materialize{Base: est(st.rows), Input: st.node, Name: f.alias}
	b.rereads(node, f.input)
	return &stage{node: node, at: st.at, rows: st.rows, cost: st.cost + st.rows, ordered: len(n.order) == 0}, nil
}

// rereads tells a Materialize when to make its rows anew: when outer references change, and with each iteration of a recursive CTE that it reads.
func (b *builder) rereads(node *exec.Materialize, r rel) {
	for _, f := range free(r) {
		id, _ := f.ColumnIndex()
		node.Slots = append(node.Slots, b.params[id])
	}
	anyRel(r, func(r rel) bool {
		if c, ok := r.(*cteRef); ok && c.delta {
			node.Deltas = append(node.Deltas, c.cte.node)
		}
		return false
	})
}

// fencing puts a fence around a derived table of FROM that a hint of the block keeps apart.
func (b *builder) fencing(blk *hintBlock, r rel, alias string) rel {
	if blk == nil || !blk.about("NO_MERGE", alias) && !blk.about("NO_DERIVED_CONDITION_PUSHDOWN", alias) {
		return r
	}
	return &fence{r, alias}
}
