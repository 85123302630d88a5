package plan

import (
	"slices"

	"github.com/pandodb/pando/catalog"
	"github.com/pandodb/pando/exec"
	"github.com/pandodb/pando/expr"
	"github.com/pandodb/pando/syntax"
	"github.com/pandodb/pando/types"
)

// The places of an expression as errors name them.
const (
	generatedClause  = "generated column function"
	functionalClause = "functional index"
)

// notDefault is 3105.
func notDefault(t *catalog.Table, c *catalog.Column) error {
	return types.Errorf(types.ErNonDefaultValueForGeneratedColumn, c.Name, t.Name)
}

// isDefault reports whether a value is DEFAULT without a column.
func isDefault(e syntax.Expr) bool {
	def, ok := e.(*syntax.Default)
	return ok && def.Column == nil
}

// givesGenerated reports whether the rows of an INSERT name a generated column.
func givesGenerated(node *exec.Insert) bool {
	for _, col := range node.Cols {
		if node.Table.Columns[col].Generated != nil {
			return true
		}
	}
	return false
}

// generated compiles the expression of a generated column, over the columns of its table from id first on.
func (b *builder) generated(t *catalog.Table, c *catalog.Column, first int) (expr.Expr, error) {
	clause := generatedClause
	if c.Hidden {
		clause = functionalClause
	}
	tree, err := syntax.ParseExpr(c.Generated.Expr, syntax.Options{})
	if err != nil {
		return nil, err
	}
	outer := b.env
	b.env = outer.Stored()
	defer func() { b.env = outer }()
	b.described, b.describedFirst = t, first
	defer func() { b.described = nil }()
	bind := &binder{env: b.env, build: b, scope: &scope{columns: tableColumns(t, t.Name, first)}, clause: clause}
	e, err := bind.bind(tree)
	if err != nil {
		return nil, err
	}
	return stored(e, c), nil
}

// generatedSet are the assignments that give the generated columns of a table their values, over its columns from id first on: all, or those
// that follow from what set assigns.
func (b *builder) generatedSet(t *catalog.Table, first int, set []exec.Assignment) ([]exec.Assignment, error) {
	var out []exec.Assignment
	changed := make([]bool, len(t.Columns))
	for i := range set {
		changed[set[i].Col] = true
	}
	for i, c := range t.Columns {
		changed[i] = changed[i] || c.OnUpdateNow || set == nil
	}
	for i, c := range t.Columns {
		if c.Generated == nil {
			continue
		}
		e, err := b.generated(t, c, first)
		if err != nil {
			return nil, err
		}
		follows := set == nil
		expr.Columns(e, func(id int) { follows = follows || changed[id-first] })
		if !follows {
			continue
		}
		changed[i] = true
		out = append(out, exec.Assignment{Col: i, Expr: b.note(e), Generated: true})
	}
	return out, nil
}

// markEarly marks the generated columns to which DEFAULT expressions refer.
func markEarly(node *exec.Insert) {
	mark := func(col int) {
		for i := range node.Generated {
			node.Generated[i].Early = node.Generated[i].Early || node.Generated[i].Col == col
		}
	}
	for _, e := range node.Defaults {
		if e == nil {
			continue
		}
		expr.Columns(e, mark)
	}
	for i := len(node.Generated) - 1; i >= 0; i-- { // and the generated columns that these read, which come before them
		if node.Generated[i].Early {
			expr.Columns(node.Generated[i].Expr, mark)
		}
	}
}

// computer implements catalog.Computer: it computes in UTC and without an sql_mode, so that a row has the same values in every session.
type computer struct {
	table   *catalog.Table
	exprs   []expr.Expr // by ordinal, of generated columns
	sources [][]int
	err     error // of a column whose expression does not compile any more
}

// NewComputer compiles the generated columns of a table.
func NewComputer(t *catalog.Table) catalog.Computer {
	c := &computer{table: t, exprs: make([]expr.Expr, len(t.Columns)), sources: make([][]int, len(t.Columns))}
	b := newBuilder(&Env{Build: &expr.BuildContext{Ctx: &types.Context{}}})
	for i, col := range t.Columns {
		if col.Generated == nil {
			continue
		}
		e, err := b.generated(t, col, 0)
		if err != nil {
			c.err = err
			continue
		}
		c.exprs[i] = e
		expr.Columns(e, func(at int) { c.sources[i] = append(c.sources[i], at) })
	}
	return c
}

// Sources implements catalog.Computer.
func (c *computer) Sources(ordinal int) []int { return c.sources[ordinal] }

// New implements catalog.Computer.
func (c *computer) New() catalog.Computation {
	return &computation{computer: c, ctx: expr.NewCtx(&types.Context{})}
}

// computation implements catalog.Computation.
type computation struct {
	*computer
	ctx *expr.Ctx
}

// Reset implements catalog.Computation.
func (c *computation) Reset() {
	c.ctx.ResetArena()
	c.ctx.ResetWarnings()
}

// Compute implements catalog.Computation.
func (c *computation) Compute(ordinal int, row []types.Value) (types.Value, error) {
	e, col := c.exprs[ordinal], c.table.Columns[ordinal]
	if e == nil {
		return types.Null(), c.err
	}
	v, err := e.Eval(c.ctx, row)
	if err != nil || v.IsNull() {
		return v, err
	}
	if out, ok := types.Fit(v, &col.Type); ok {
		return out, nil
	}
	return types.Convert(c.ctx.Context, v, col.Type, col.Name, 1)
}

// GeneratedText returns the text that the catalog keeps of the expression of a generated column or of an index; client is the character set of the
// statement. MySQL's form of it names columns without their tables.
func GeneratedText(e syntax.Expr, client *types.Charset) (string, error) {
	text, err := DefaultText(e, "", "", client)
	if err != nil {
		return "", err
	}
	tree, err := syntax.ParseExpr(text, syntax.Options{})
	if err != nil {
		return "", err
	}
	if (keptExpr{kind: keptGenerated}).allowed(tree) != nil {
		return text, nil // CheckGenerated reports what is wrong
	}
	return shownText(tree), nil
}

// CheckGenerated validates the generated columns of a table that is about to be created (old is nil) or changed: a generated column may refer to
// any column but AUTO_INCREMENT ones and later generated ones.
func CheckGenerated(env *Env, old, next *catalog.Table) error {
	if old != nil {
		if err := checkGeneratedKept(env, old, next); err != nil {
			return err
		}
	}
	for i, c := range next.Columns {
		if c.Generated == nil {
			continue
		}
		if _, err := checkOneGenerated(env, next, i, generatedExpr(c)); err != nil {
			return err
		}
	}
	return nil
}

// checkOneGenerated validates one generated column and returns its expression, over the table's columns by ordinal.
func checkOneGenerated(env *Env, t *catalog.Table, at int, kept keptExpr) (expr.Expr, error) {
	c := t.Columns[at]
	tree, err := syntax.ParseExpr(c.Generated.Expr, syntax.Options{})
	if err != nil {
		return nil, err
	}
	if err := kept.allowed(tree); err != nil {
		return nil, err
	}
	e, err := newBuilder(env).generated(t, c, 0)
	if err != nil {
		return nil, err
	}
	if !expr.IsDeterministic(e) {
		return nil, kept.disallowed("")
	}
	if e.IsCall("row") {
		return nil, kept.rowValue()
	}
	expr.Columns(e, func(source int) {
		switch other := t.Columns[source]; {
		case err != nil:
		case other.AutoInc && kept.kind == keptIndex:
			err = types.Errorf(types.ErFunctionalIndexRefAutoIncrement, kept.name)
		case other.AutoInc:
			err = types.Errorf(types.ErGeneratedColumnRefAutoInc, kept.name)
		case source >= at && other.Generated != nil:
			err = types.Errorf(types.ErGeneratedColumnNonPrior)
		}
	})
	return e, err
}

// checkGeneratedKept refuses to drop or rename a column that a generated column reads, unless the statement defines that one anew. A new
// definition is another object even if its text is the same: the names in it mean the columns after the statement.
func checkGeneratedKept(env *Env, old, next *catalog.Table) error {
	for _, c := range old.Columns {
		if c.Generated == nil {
			continue
		}
		now := next.ColumnByID(c.ID)
		if now == nil || now.Generated != c.Generated {
			continue
		}
		e, err := newBuilder(env).generated(old, c, 0)
		if err != nil {
			continue // it did not compile before either; the check of next reports it
		}
		expr.Columns(e, func(at int) {
			source := old.Columns[at]
			now := next.ColumnByID(source.ID)
			switch {
			case err != nil || now != nil && now.Name == source.Name:
			case c.Hidden:
				err = types.Errorf(types.ErDependentByFunctionalIndex, source.Name)
			default:
				err = types.Errorf(types.ErDependentByGeneratedColumn, source.Name)
			}
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// textFromChars: if an expression may yield more characters than this, MySQL makes it a TEXT.
const textFromChars = 512

// DeriveHidden gives a hidden column, which may not have been added to t yet, the type of its expression. index is the name of its index.
func DeriveHidden(env *Env, t *catalog.Table, hidden *catalog.Column, index string) error {
	at := slices.Index(t.Columns, hidden)
	if at < 0 {
		with := t.Clone()
		copied := *hidden
		with.AddColumn(&copied, -1)
		t, at = with, len(with.Columns)-1
	}
	e, err := checkOneGenerated(env, t, at, keptExpr{keptIndex, index})
	if err != nil {
		return err
	}
	if _, plain := e.ColumnIndex(); plain {
		return types.Errorf(types.ErFunctionalIndexOnField)
	}
	kind := e.Type()
	if kind.ID == types.TypeNull {
		kind = types.Type{ID: types.TypeBinary, Length: 0, Coll: types.Binary}
	}
	switch {
	case kind.ID == types.TypeJSON:
		return types.Errorf(types.ErFunctionalIndexOnJSONOrGeometryFunction)
	case kind.IsBlob() || kind.IsStringType() && kind.Length > textFromChars:
		return types.Errorf(types.ErFunctionalIndexOnLob)
	}
	hidden.Type = kind
	return nil
}

// CopyGenerated compiles the values that rows of next need besides those copied from rows of old: its generated columns, and before them the
// DEFAULT expressions of added columns and the generated columns to which those refer.
func CopyGenerated(env *Env, old, next *catalog.Table) ([]exec.Assignment, error) {
	b := newBuilder(env)
	generated, err := b.generatedSet(next, 0, nil)
	if err != nil {
		return nil, err
	}
	first := make([]expr.Expr, len(next.Columns))
	for i, c := range next.Columns {
		if !hasDefaultExpr(c) || old.ColumnByID(c.ID) != nil {
			continue
		}
		e, err := b.columnDefault(next, c)
		if err != nil {
			return nil, err
		}
		first[i] = b.note(e)
		expr.Columns(e, func(source int) {
			for j := range generated {
				if generated[j].Col == source {
					first[source] = generated[j].Expr
				}
			}
		})
	}
	var out []exec.Assignment
	for i, e := range first {
		if e != nil {
			out = append(out, exec.Assignment{Col: i, Expr: e, Generated: true})
		}
	}
	return append(out, generated...), nil
}
