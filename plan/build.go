package plan

import (
	"errors"
	"sort"
	"strconv"

	"github.com/pandodb/pando/catalog"
	"github.com/pandodb/pando/exec"
	"github.com/pandodb/pando/expr"
	"github.com/pandodb/pando/sqlapi"
	"github.com/pandodb/pando/syntax"
	"github.com/pandodb/pando/types"
)

// nestingMax bounds derived tables and subqueries within each other.
const nestingMax = 61

// stepsPerPoll is how much work planning does between two looks at the interrupt.
const stepsPerPoll = 256

// builder collects what belongs to the statement as a whole while its blocks are resolved and planned.
type builder struct {
	env     *Env
	plan    *exec.Plan
	depth   int
	private bool // the plan depends on the session and must not be shared
	// described is the table of which a generated column is being compiled; its columns have the ids from describedFirst on.
	described      *catalog.Table
	describedFirst int
	// unlift says that a lifted literal may be part of an index's expression; generatedOf keeps the results of standIns.
	unlift      bool
	generatedOf map[*catalog.Table][]standIn
	locks       bool // plain reads lock: see LockReads
	writes      bool // the statement changes rows: what only warns in a query is an error of it in strict mode

	lastID     int
	gets       []*get         // in the order of their ids
	names      map[int]string // of aggregates and windows, for EXPLAIN
	subqueries map[*exec.Subplan]*subquery
	correlated bool    // some of them have outer references
	cautious   bool    // intervals whose ends are not known yet are estimated to be short
	liftLeast  float64 // with fewer outer rows than these, correlated subqueries do not become joins
	ctes       []*cte  // that are visible where the resolver stands
	// targets are the tables that the statement changes, which its subqueries must not read; derivedDepth is how many derived tables, whose
	// rows are made first, are around the place where the resolver stands.
	targets      []writeTarget
	guards       *exec.Guards // nil until the statement writes a table with foreign keys
	derivedDepth int
	rowClause    byRow // in which the resolver stands
	// views are the views around the place where the resolver stands; updatable are the tables that may be changed through one.
	views     []*catalog.Table
	viewAlias string // the alias of the first of views
	updatable map[*get]*catalog.Table
	// within are the tables inside views and derived tables. A statement can change them only through a view that is in updatable.
	within map[*get]bool
	// joinViews are the views that can be changed and join tables: MySQL deletes through none of them.
	joinViews map[*catalog.Table]bool
	// levels are the views around a table that may be changed through them, innermost first; made are the columns that views compute, and
	// viewRels what the queries of views have become.
	levels   map[*get][]viewLevel
	made     map[int]expr.Expr
	viewRels map[rel]bool
	// opened are the temporary tables of the session that the statement names, and where.
	opened map[*catalog.Table]*syntax.TableRef
	// freeze makes the resolver write full names into the syntax tree: see ViewColumns.
	freeze bool
	// hintBlocks are the query blocks met, as hints see them, the statement's verb first; hintsAway are the hints about named blocks elsewhere.
	hintBlocks []*hintBlock
	hintsAway  []*hint
	// verb is the block of INSERT, UPDATE or DELETE.
	verb *hintBlock
	// naming makes names for the columns of a view that is created.
	naming *viewNaming
	// top is the query that the statement is; nil in others.
	top *topQuery
	// combined are the columns that set operations, VALUES and recursions make: their integers are BIGINT where a table is made of them.
	combined idSet
	// handed are columns of derived tables, views and CTEs, by id, whose default is not that of a base table's column of the same id.
	handed map[int]handedColumn
	// shown collects what the names of a view's query mean, to write it; nil otherwise.
	shown *viewNames
	// params are the parameters that hold the outer references of the part being planned, by column id.
	params map[int]int
	// repeats says that the part being planned runs again and again, though it may have no such parameter.
	repeats bool
	steps   int
	again   int // queries of CTEs that have been resolved again, see againMax
	// unordered are the blocks whose ORDER BY has no effect on the result.
	unordered map[*syntax.Select]bool
	// digits are the blocks whose columns have all digits of an AVG.
	digits map[*syntax.Select]bool
	// lastLocks are the locking clauses behind set operations, by the last block.
	lastLocks map[syntax.QueryBody][]syntax.LockClause
	// starless are the blocks in which * stands for a constant.
	starless map[*syntax.Select]bool
	// fixed are the texts that have to be dates and have one value during the statement.
	fixed []exec.FixedDate
}

func newBuilder(env *Env) *builder {
	return &builder{env: env, plan: &exec.Plan{Params: len(env.ParamTypes), ParamTypes: env.ParamTypes}, subqueries: map[*exec.Subplan]*subquery{}, combined: idSet{}, names: map[int]string{}}
}

// newID takes a column id, newIDs a run of them of which it returns the first.
func (b *builder) newID() int { return b.newIDs(1) }

func (b *builder) newIDs(n int) int {
	first := b.lastID
	b.lastID += n
	return first
}

// idName is the name of a base table's column or an aggregate, "" for others.
func (b *builder) idName(id int) string {
	if name := b.names[id]; name != "" {
		return name
	}
	i := sort.Search(len(b.gets), func(i int) bool { return b.gets[i].first > id }) - 1
	if i < 0 || !b.gets[i].owns(id) || id >= b.gets[i].rowID() {
		return ""
	}
	g := b.gets[i]
	return g.table.Schema + "." + g.alias + "." + g.table.Columns[id-g.first].Name
}

// step counts work, and ends planning once the statement has to end.
func (b *builder) step() error {
	if b.steps++; b.steps%stepsPerPoll == 0 && b.env.Poll != nil {
		return b.env.Poll()
	}
	return nil
}

// lookalikes finds the elements of a list that may be equal to another: it maps a hash to the places of the elements that have it.
type lookalikes map[uint64][]int

func (l *lookalikes) add(hash uint64, at int) {
	if *l == nil {
		*l = lookalikes{}
	}
	(*l)[hash] = append((*l)[hash], at)
}

// first is the first of some places for which same is true, -1 for none.
func (b *builder) first(places []int, same func(at int) bool) (int, error) {
	for _, at := range places {
		if err := b.step(); err != nil {
			return -1, err
		}
		if same(at) {
			return at, nil
		}
	}
	return -1, nil
}

// lost reports a column that nothing below yields: a fault of the planner, which must not become a wrong answer.
func (b *builder) lost(id int) error {
	return types.NewError(types.ErUnknownError, "the planner lost column "+itoa(id)+" "+b.idName(id))
}

func itoa(n int) string { return strconv.Itoa(n) }

// Build compiles one statement to a physical plan. The plan is immutable and may be shared by sessions with an equal Env,
// if shareable. Errors are *types.Error; what is parsed and not yet executed gives 1235.
func Build(env *Env, stmt syntax.Statement) (p *exec.Plan, shareable bool, err error) {
	b := newBuilder(env)
	made := env.Build.Made()
	if env.Lifted != nil {
		env.Build.DateParam = b.dateParam
		defer func() { env.Build.DateParam = nil }()
	}
	env.Build.DateConst = b.dateConst
	defer func() { env.Build.DateConst = nil }()
	b.writes = writes(stmt)
	b.plan.DatesConvert = b.writes && !ignores(stmt) && env.Build.Ctx.SQLMode&types.ModeStrict != 0
	b.locks = env.LockReads == LockReadsOfAll || env.LockReads == LockReadsOfWrites && b.writes
	switch stmt := stmt.(type) {
	case *syntax.Query:
		err = b.statementQuery(stmt)
	case *syntax.Insert:
		b.verb = b.readHints(stmt.Hints)
		err = b.insert(stmt)
	case *syntax.Update:
		b.verb = b.readHints(stmt.Hints)
		err = b.update(stmt)
	case *syntax.Delete:
		b.verb = b.readHints(stmt.Hints)
		err = b.delete(stmt)
	case *syntax.LoadData:
		b.verb = b.readHints("")
		err = b.loadData(stmt)
	case *syntax.Do:
		err = b.do(stmt)
	default:
		return nil, false, unsupported(syntax.Brief(stmt) + " in this place")
	}
	if err != nil {
		err, warning := expr.Settle(err, b.plan.DatesConvert)
		if warning != nil {
			env.Build.Ctx.AddError(types.LevelWarning, warning)
		}
		return nil, false, err
	}
	if b.unlift {
		return nil, false, ErrLifted
	}
	if err := b.placeFixed(); err != nil {
		return nil, false, err
	}
	b.plan.Notices = env.Notices
	b.finishHints()
	b.exchange()
	b.plan.Bytes = planBytes(b.plan) + int(env.Build.Made()-made)
	return b.plan.Seal(), !b.private, nil
}

func writes(stmt syntax.Statement) bool {
	switch stmt.(type) {
	case *syntax.Query, *syntax.Do:
		return false
	}
	return true
}

// dateParam is the build context's DateParam.
func (b *builder) dateParam(ordinal int, need expr.DateNeed) {
	if ordinal >= len(b.env.Lifted) {
		return // a value of an outer row
	}
	for i := range b.plan.Dates {
		if d := &b.plan.Dates[i]; d.Ordinal == ordinal && d.Need == need {
			return
		}
	}
	b.plan.Dates = append(b.plan.Dates, exec.DateParam{Ordinal: ordinal, Need: need})
}

// ignores reports whether errors of rows are warnings of the statement.
func ignores(stmt syntax.Statement) bool {
	switch stmt := stmt.(type) {
	case *syntax.Insert:
		return stmt.Ignore
	case *syntax.Update:
		return stmt.Ignore
	case *syntax.Delete:
		return stmt.Ignore
	}
	return false
}

// planBytes approximates the memory of a plan; its trees are small and of similar size, so counting nodes and columns does.
func planBytes(p *exec.Plan) int {
	total := 512 + len(p.Columns)*256 + len(p.Tables)*64 + len(p.Notices)*128 + len(p.Dates)*64
	var count func(n exec.Node)
	count = func(n exec.Node) {
		total += 1024
		if insert, ok := n.(*exec.Insert); ok {
			for _, row := range insert.Rows {
				total += 200 * len(row)
			}
		}
		for _, child := range n.Children() {
			count(child)
		}
	}
	count(p.Root)
	for _, s := range p.Subplans {
		count(s.Root)
	}
	for _, c := range p.CTEs {
		count(c.Root)
		if c.Recursive != nil {
			count(c.Recursive)
		}
	}
	return total
}

// use records a table that the plan depends on, and the view through which it is read, whose definer's rights count.
func (b *builder) use(t *catalog.Table, write bool) {
	mode := catalog.UseRead
	if write {
		mode = catalog.UseWrite
	}
	b.useAs(t, write, mode)
}

// useTarget declares that the statement changes or locks the rows of a table. If views stand in between, it does so to each of them, too, through
// the one above: each has a definer of its own, whose rights count.
func (b *builder) useTarget(g *get, mode catalog.UseMode) {
	t := g.table
	for _, level := range b.levels[g] {
		b.useVia(t, true, mode, level.view)
		t, mode = level.view, catalog.UseRead
	}
	b.useAs(t, true, mode)
}

func (b *builder) useAs(t *catalog.Table, write bool, mode catalog.UseMode) {
	var via *catalog.Table
	if len(b.views) > 0 {
		via = b.views[len(b.views)-1]
	}
	b.useVia(t, write, mode, via)
}

func (b *builder) useVia(t *catalog.Table, write bool, mode catalog.UseMode, via *catalog.Table) {
	b.private = b.private || t.Temporary != nil
	for i := range b.plan.Tables {
		if b.plan.Tables[i].Table == t && b.plan.Tables[i].Via == via {
			b.plan.Tables[i].Write, b.plan.Tables[i].Foreign = b.plan.Tables[i].Write || write, false
			b.plan.Tables[i].Use |= mode
			return
		}
	}
	ref := exec.TableRef{Table: t, Version: t.Version, Write: write, Use: mode, Via: via}
	if t.Temporary != nil {
		ref.Bytes = t.Temporary.Bytes()
	}
	b.plan.Tables = append(b.plan.Tables, ref)
}

// param returns the reference to placeholder or lifted literal number ordinal.
func (b *builder) param(ordinal int) (expr.Expr, error) {
	if b.env.UnknownParams {
		b.plan.Params = max(b.plan.Params, ordinal+1)
		return expr.Param(ordinal, types.Type{}), nil
	}
	if ordinal >= len(b.env.ParamTypes) {
		return nil, types.Errorf(types.ErWrongArguments, "parameter "+strconv.Itoa(ordinal+1))
	}
	return expr.Param(ordinal, b.env.ParamTypes[ordinal]), nil
}

// describeParam remembers that a placeholder is stored into, or compared with, something of type t. Only what describes a statement asks:
// drivers send a parameter as signed or unsigned by the type that PREPARE has told.
func (b *builder) describeParam(e expr.Expr, t types.Type) {
	if !b.env.UnknownParams {
		return
	}
	if ordinal, ok := e.ParamOrdinal(); ok {
		b.describeOrdinal(ordinal, t)
	}
}

func (b *builder) describeOrdinal(ordinal int, t types.Type) {
	if missing := ordinal + 1 - len(b.plan.ParamTypes); missing > 0 {
		b.plan.ParamTypes = append(b.plan.ParamTypes, make([]types.Type, missing)...)
	}
	if known := &b.plan.ParamTypes[ordinal]; known.ID == types.TypeNull {
		*known = t
	}
}

func (b *builder) lifted(lit *syntax.Literal) bool {
	_, ok := b.env.Lifted[lit.Pos]
	return ok
}

// note makes the plan private if an expression depends on the session. Every expression that becomes part of the plan passes here.
func (b *builder) note(e expr.Expr) expr.Expr {
	if e != nil && !expr.IsCacheable(e) {
		b.private = true
	}
	return e
}

func (b *builder) statementQuery(q *syntax.Query) error {
	for inner, ok := q.Body.(*syntax.Query); ok && q.With == nil && q.OrderBy == nil && q.Limit == nil && q.Locks == nil && q.Into == nil; inner, ok = q.Body.(*syntax.Query) {
		q = inner // else an INTO of the inner query would be lost
	}
	b.top = topOf(q)
	if into := b.top.into.Into; into != nil && !into.IsFile {
		b.keepDigits(q)
	}
	r, err := b.query(q, nil)
	if err != nil {
		return err
	}
	if n := b.env.SelectLimit; n >= 0 && q.Limit == nil {
		r.rel = &limited{input: r.rel, count: expr.Literal(types.Int(n))}
	}
	st, err := b.root(r)
	if err != nil {
		return err
	}
	b.plan.Root = st.node
	if into := b.top.into.Into; into != nil {
		if into.IsFile {
			return b.intoFile(into, st.node, r.infos())
		}
		return b.into(into, st.node, len(r.cols))
	}
	b.plan.IsQuery = true
	b.plan.Columns = r.infos()
	return nil
}

// into stores the one row of a query in user variables.
func (b *builder) into(into *syntax.Into, node exec.Node, columns int) error {
	if len(into.Vars) != columns {
		return types.Errorf(types.ErWrongNumberOfColumnsInSelect)
	}
	n := &exec.IntoVars{Input: node}
	for _, v := range into.Vars {
		if v.Local {
			return types.Errorf(types.ErSPUndeclaredVar, v.Name)
		}
		n.Names = append(n.Names, v.Name)
	}
	b.plan.Root = n
	return nil
}

// do evaluates expressions, as the select list of a query without FROM, and sends nothing.
func (b *builder) do(stmt *syntax.Do) error {
	r, err := b.query(&syntax.Query{Body: &syntax.Select{Items: stmt.Exprs}}, nil)
	if err != nil {
		return err
	}
	st, err := b.root(r)
	if err != nil {
		return err
	}
	b.plan.Root, b.plan.OnlyWarns = st.node, true
	b.plan.Columns = make([]sqlapi.ColumnInfo, len(r.cols))
	return nil
}

// ErrSubquery says that an expression has subqueries and needs a plan of its own.
var ErrSubquery = errors.New("plan: an expression with subqueries")

// Scalar binds an expression outside any table, such as the value of SET. One with subqueries gives ErrSubquery.
func Scalar(env *Env, e syntax.Expr) (expr.Expr, error) {
	b := newBuilder(env)
	bind := &binder{env: env, build: b, scope: &scope{}, clause: fieldListClause}
	bound, err := bind.bind(e)
	if err == nil && len(b.subqueries) > 0 {
		return nil, ErrSubquery
	}
	return bound, err
}
