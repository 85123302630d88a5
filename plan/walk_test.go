package plan

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/pandodb/pando/syntax"
)

// walked is one of each type of expression; TestWalkForgetsNothing fails if one is missing.
var walked = []syntax.Expr{
	&syntax.Literal{}, &syntax.Introduced{}, &syntax.Param{}, &syntax.ColumnRef{}, &syntax.Star{}, &syntax.UserVariable{}, &syntax.SystemVariable{},
	&syntax.Unary{}, &syntax.Binary{}, &syntax.QuantCompare{}, &syntax.IsTest{}, &syntax.In{}, &syntax.Between{}, &syntax.Like{}, &syntax.Regexp{},
	&syntax.Case{}, &syntax.Cast{}, &syntax.ConvertUsing{}, &syntax.Collate{}, &syntax.Interval{}, &syntax.FuncCall{}, &syntax.Trim{},
	&syntax.WeightString{}, &syntax.JSONValue{}, &syntax.AggCall{}, &syntax.WindowCall{}, &syntax.Subquery{}, &syntax.Exists{}, &syntax.Row{},
	&syntax.Paren{}, &syntax.Match{}, &syntax.ValuesFunc{}, &syntax.Default{}, &syntax.MaxValue{},
}

// notWalked are fields that hold no operand, with the reason.
var notWalked = map[string]string{
	"WeightString.N":       "a number",
	"WeightString.Rest":    "numbers",
	"Cast.TimeZone":        "a literal",
	"JSONOnClause.Default": "a literal",
	"Cast.Type":            "a type's numbers",
	"JSONValue.Returning":  "a type's numbers",
	"ColumnRef":            "a name: of VALUES(c) and DEFAULT(c), which mean no column of the block",
	"Literal":              "the text of an Introduced",
	"Query":                "a block of its own",
}

// TestWalkForgetsNothing holds that walkSyntax visits what stands in any field of any expression, but for those of notWalked: it puts a mark of its
// own into each and looks for it. Whatever is looked for in a statement, such as aggregates, would be overlooked there.
func TestWalkForgetsNothing(t *testing.T) {
	known := map[string]bool{}
	for _, e := range walked {
		known[reflect.TypeOf(e).Elem().Name()] = true
	}
	for _, name := range exprTypes(t) {
		if !known[name] {
			t.Errorf("no %s is walked here", name)
		}
	}
	for _, e := range walked {
		m := marker{places: map[*syntax.Param]string{}}
		v := reflect.ValueOf(e).Elem()
		m.fill(v, v.Type().Name())
		seen := map[*syntax.Param]bool{}
		walkSyntax(e, func(e syntax.Expr) bool {
			if p, ok := e.(*syntax.Param); ok {
				seen[p] = true
			}
			return true
		})
		for p, place := range m.places {
			if !seen[p] {
				t.Errorf("walkSyntax forgets %s", place)
			}
		}
	}
}

// marker puts placeholders where an expression may stand.
type marker struct{ places map[*syntax.Param]string }

func (m *marker) fill(v reflect.Value, place string) {
	for i := range v.NumField() {
		f := v.Type().Field(i)
		at := place + "." + f.Name
		short := v.Type().Name() + "." + f.Name
		if notWalked[short] == "" {
			m.fillValue(v.Field(i), at)
		}
	}
}

func (m *marker) fillValue(v reflect.Value, place string) {
	switch v.Kind() {
	case reflect.Interface:
		if v.Type() == reflect.TypeFor[syntax.Expr]() {
			p := &syntax.Param{Ordinal: int32(len(m.places))}
			m.places[p] = place
			v.Set(reflect.ValueOf(p))
		}
	case reflect.Slice:
		switch v.Type().Elem().Kind() {
		case reflect.Interface, reflect.Struct, reflect.Pointer:
			v.Set(reflect.MakeSlice(v.Type(), 2, 2))
			for i := range v.Len() {
				m.fillValue(v.Index(i), place)
			}
		}
	case reflect.Pointer:
		if v.Type().Elem().Kind() == reflect.Struct && notWalked[v.Type().Elem().Name()] == "" {
			v.Set(reflect.New(v.Type().Elem()))
			m.fill(v.Elem(), place)
		}
	case reflect.Struct:
		m.fill(v, place)
	}
}

// exprTypes reads from the source of syntax which types are expressions: those with a method expr.
func exprTypes(t *testing.T) (names []string) {
	files, err := filepath.Glob("../syntax/*.go")
	if err != nil || len(files) == 0 {
		t.Fatal("no source of syntax: ", err)
	}
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		f, err := parser.ParseFile(token.NewFileSet(), file, text, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range f.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok || fn.Name.Name != "expr" || fn.Recv == nil || fn.Type.Results != nil {
				continue
			}
			if star, ok := fn.Recv.List[0].Type.(*ast.StarExpr); ok && ast.IsExported(star.X.(*ast.Ident).Name) {
				names = append(names, star.X.(*ast.Ident).Name)
			}
		}
	}
	return names
}
