package plan

import (
	"github.com/pandodb/pando/exec"
	"github.com/pandodb/pando/expr"
	"github.com/pandodb/pando/sqlapi"
	"github.com/pandodb/pando/syntax"
	"github.com/pandodb/pando/types"
)

// jsonTable is JSON_TABLE; its columns have consecutive ids from first on. Its document may come from tables to its left.
type jsonTable struct {
	table *expr.JSONTable
	doc   expr.Expr
	alias string
	first int
	out   []types.Type
}

// jsonTableRows is the estimate of the rows that a document makes.
const jsonTableRows = 10

// jsonTableClause is what errors call the document's place.
const jsonTableClause = "a table function argument"

// jsonTable resolves JSON_TABLE. s holds what stands to its left.
func (b *builder) jsonTable(e *syntax.JSONTable, s *scope) (rel, []column, error) {
	if e.Alias == "" {
		return nil, nil, types.Errorf(types.ErTFMustHaveAlias)
	}
	if err := s.declare("", e.Alias); err != nil {
		return nil, nil, err
	}
	doc, err := b.jsonDocument(e.Doc, s)
	if err != nil {
		return nil, nil, err
	}
	if err := expr.CheckJSONTableDocument(doc); err != nil && expr.IsConst(doc) {
		return nil, nil, err
	}
	path, ok := e.Path.(*syntax.Literal)
	if !ok {
		return nil, nil, syntaxError(syntax.String(e.Path))
	}
	r := &jsonTable{doc: doc, alias: e.Alias}
	var names []string
	columns, err := b.jsonColumns(e.Columns, r, &names)
	if err != nil {
		return nil, nil, err
	}
	if r.table, err = expr.NewJSONTable(b.env.Build, path.Value, columns); err != nil {
		return nil, nil, err
	}
	if err := expr.CheckJSONTableDocument(doc); err != nil {
		return nil, nil, err
	}
	r.first = b.newIDs(len(r.out))
	cols := make([]column, len(names))
	for i, name := range names {
		for _, other := range names[:i] {
			if fold(other, name) {
				return nil, nil, types.Errorf(types.ErDupFieldName, name)
			}
		}
		cols[i] = column{id: r.first + i, table: e.Alias, info: sqlapi.ColumnInfo{Table: e.Alias, Name: name, OrgName: name, Type: r.out[i]}, coer: expr.CoerImplicit}
		b.handOn(&cols[i], cols[i].id, false)
	}
	return r, cols, nil
}

// jsonDocument binds the document, which may be of any table to the left or around, but no subquery.
func (b *builder) jsonDocument(e syntax.Expr, s *scope) (expr.Expr, error) {
	if containsSubquery(e) {
		for _, c := range b.ctes {
			inside := refCounter{name: c.def.Name.Name}
			if inside.expr(e); c.open == cteStep && inside.n > 0 {
				return nil, types.Errorf(types.ErInvalidRequiresSingleReference, c.def.Name.Name)
			}
		}
		return nil, types.Errorf(types.ErWrongArguments, "JSON_TABLE")
	}
	around := *s
	around.block = nil // no aliases, and no aggregates
	bind := &binder{env: b.env, build: b, scope: &around, clause: jsonTableClause}
	if containsAggregate(e) {
		return nil, types.Errorf(types.ErInvalidGroupFuncUse)
	}
	doc, err := bind.bind(e)
	if err != nil {
		if ref := unknownTable(e, s); ref != nil {
			return nil, types.Errorf(types.ErUnknownTable, ref.Table, jsonTableClause)
		}
		return nil, err
	}
	if doc.IsCall("row") {
		return nil, types.Errorf(types.ErOperandColumns, 1)
	}
	return doc, nil
}

func containsSubquery(e syntax.Expr) (found bool) {
	walkSyntax(e, func(e syntax.Expr) bool {
		switch e := e.(type) {
		case *syntax.Subquery, *syntax.Exists, *syntax.QuantCompare:
			found = true
		case *syntax.In:
			found = found || e.Query != nil
		}
		return !found
	})
	return found
}

// unknownTable finds a reference to a table that is not in scope; one further right in FROM is not.
func unknownTable(e syntax.Expr, s *scope) (missing *syntax.ColumnRef) {
	walkSyntax(e, func(e syntax.Expr) bool {
		ref, ok := e.(*syntax.ColumnRef)
		if !ok || ref.Table == "" || missing != nil {
			return true
		}
		for at := s; at != nil; at = at.parent {
			for i := range at.columns {
				if at.columns[i].table == ref.Table {
					return true
				}
			}
		}
		missing = ref
		return true
	})
	return missing
}

// jsonColumns reads the columns of one level, and lists them with those of nested paths in r.out and names.
func (b *builder) jsonColumns(defs []syntax.JSONTableColumn, r *jsonTable, names *[]string) ([]expr.JSONTableColumn, error) {
	out := make([]expr.JSONTableColumn, len(defs))
	for i := range defs {
		def, c := &defs[i], &out[i]
		if c.Name = def.Name.Name; def.Path != nil {
			c.Path = def.Path.(*syntax.Literal).Value
		}
		var err error
		switch {
		case def.IsNested:
			c.Kind = expr.JSONColumnNested
			if c.Nested, err = b.jsonColumns(def.Nested, r, names); err != nil {
				return nil, err
			}
			continue
		case def.Ordinality:
			c.Kind, c.Type = expr.JSONColumnOrdinality, types.Type{ID: types.TypeBigInt, Length: -1}
		default:
			named := WithDefault(*def.Type, b.env.Build.UTF8MB4)
			kind := &named
			if long, _, _, ok := LongVarchar(kind, b.env.Build.Collation); ok {
				kind = &long
			}
			if c.Type, _, err = ColumnType(c.Name, kind, b.env.Build.Collation, b.env.textCharset()); err != nil {
				return nil, err
			}
			if def.Exists {
				c.Kind = expr.JSONColumnExists
			}
			if c.OnEmpty, err = jsonTableOn(def.OnEmpty); err != nil {
				return nil, err
			}
			if c.OnError, err = jsonTableOn(def.OnError); err != nil {
				return nil, err
			}
		}
		*names = append(*names, c.Name)
		r.out = append(r.out, c.Type)
	}
	return out, nil
}

func jsonTableOn(on *syntax.JSONOnClause) (out expr.JSONTableOn, err error) {
	if on == nil {
		return out, nil
	}
	out.Error = on.Action == "ERROR"
	if on.Default == nil {
		return out, nil
	}
	lit, ok := on.Default.(*syntax.Literal)
	switch {
	case !ok || lit.Kind == syntax.LitNull:
		return out, syntaxError(syntax.String(on.Default))
	case lit.Kind != syntax.LitString:
		return out, unsupported("non-string DEFAULT value for a column in a JSON_TABLE expression")
	}
	out.Default = []byte(lit.Value)
	return out, nil
}

func (j *jsonTable) inputs() []rel { return nil }

// physJSONTable makes a source of rows; the document's columns are parameters.
func (b *builder) physJSONTable(r *jsonTable) (*stage, error) {
	doc, err := b.local(r.doc, nil)
	if err != nil {
		return nil, err
	}
	table := r.table
	node := &exec.RowSource{Base: est(jsonTableRows), Name: "json_table " + r.alias, Out: r.out, Fill: func(rt *exec.Runtime, emit func([]types.Value) error) error {
		rt.Ctx.ResetArena() // this runs once for each row to the left, and these may be millions
		return table.Rows(rt.Ctx, doc, emit)
	}}
	return &stage{node: node, at: run(r.first, len(r.out)), rows: jsonTableRows, cost: jsonTableRows}, nil
}
