package session

import (
	"slices"
	"strconv"
	"strings"

	"github.com/pandodb/pando/catalog"
	"github.com/pandodb/pando/ddl"
	"github.com/pandodb/pando/plan"
	"github.com/pandodb/pando/syntax"
	"github.com/pandodb/pando/types"
)

// columnSpec reads the definition of a column of table of. The keys written inside it are returned beside it.
func (s *Session) columnSpec(of ddl.Name, def *syntax.ColumnDef, collation types.CollationID) (spec ddl.ColumnSpec, keys []ddl.IndexSpec, err error) {
	spec.Name = def.Name.Name
	data := def.Type
	for i := range def.Options {
		if def.Options[i].Kind == syntax.ColCollate {
			data.Collate = def.Options[i].Word
		}
	}
	if long, from, to, ok := plan.LongVarchar(&data, collation); ok && !s.context.SQLMode.IsStrict() && !literalDefault(def) {
		data = long
		s.context.Warn(types.LevelNote, types.ErAutoConvert, spec.Name, from, to)
	}
	data = plan.WithDefault(data, s.build.UTF8MB4)
	if spec.Type, spec.ExplicitCollation, err = plan.ColumnType(spec.Name, &data, collation, s.clientCharset()); err != nil {
		return spec, nil, err
	}
	if !s.context.SQLMode.IsStrict() && len(spec.Type.Elems) > 0 {
		spec.TwiceMembers = true
		for _, member := range ddl.DuplicateMembers(&spec.Type) {
			s.context.Warn(types.LevelNote, types.ErDuplicatedValueInType, spec.Name, member, strings.ToUpper(spec.Type.Name()))
		}
	}
	if data.Kind == syntax.TypeSerial {
		spec.NotNull, spec.AutoInc = true, true
		keys = append(keys, ddl.IndexSpec{Unique: true, Columns: []ddl.IndexColumnSpec{{Column: spec.Name}}})
	}
	// NOT NULL is read first, because DEFAULT NULL depends on it.
	for i := range def.Options {
		switch def.Options[i].Kind {
		case syntax.ColNotNull:
			spec.NotNull, spec.Null = true, false
		case syntax.ColNull:
			spec.NotNull, spec.Null = false, true
		}
	}
	if err := refuseBesideGenerated(def); err != nil {
		return spec, nil, err
	}
	for i := range def.Options {
		if err := s.columnOption(of, &spec, &def.Options[i], &keys); err != nil {
			return spec, nil, err
		}
	}
	return spec, keys, nil
}

// literalDefault reports whether a column is defined with a default that is no expression in parentheses, and not NULL.
func literalDefault(def *syntax.ColumnDef) bool {
	for i := range def.Options {
		if o := &def.Options[i]; o.Kind == syntax.ColDefault {
			_, inParens := o.Expr.(*syntax.Paren)
			lit, _ := o.Expr.(*syntax.Literal)
			return !inParens && (lit == nil || lit.Kind != syntax.LitNull)
		}
	}
	return false
}

func (s *Session) columnOption(of ddl.Name, spec *ddl.ColumnSpec, o *syntax.ColumnOption, keys *[]ddl.IndexSpec) error {
	own := []ddl.IndexColumnSpec{{Column: spec.Name}}
	switch o.Kind {
	case syntax.ColNotNull, syntax.ColNull, syntax.ColCollate, syntax.ColVisible, syntax.ColClustered:
	case syntax.ColDefault:
		def, err := s.columnDefault(of, spec, o.Expr)
		spec.Default = def
		return err
	case syntax.ColOnUpdate:
		if spec.Type.ID != types.TypeTimestamp && spec.Type.ID != types.TypeDatetime {
			return types.Errorf(types.ErInvalidOnUpdate, spec.Name)
		}
		if nowScale(o.Expr) != max(spec.Type.Scale, 0) {
			return types.Errorf(types.ErInvalidOnUpdate, spec.Name)
		}
		spec.OnUpdateNow = true
	case syntax.ColAutoIncrement:
		spec.AutoInc = true
	case syntax.ColUnique:
		*keys = append(*keys, ddl.IndexSpec{Unique: true, Columns: own})
	case syntax.ColPrimary:
		*keys = append(*keys, ddl.IndexSpec{Primary: true, Unique: true, Columns: own})
	case syntax.ColComment:
		if lit, ok := o.Expr.(*syntax.Literal); ok {
			spec.Comment = s.comment(lit.Value, ddl.ColumnCommentMax, types.ErTooLongFieldComment, spec.Name)
		}
	case syntax.ColInvisible:
		spec.Invisible = true
	case syntax.ColSerialDefault:
		spec.AutoInc, spec.NotNull = true, true
		*keys = append(*keys, ddl.IndexSpec{Unique: true, Columns: own})
	case syntax.ColFormat, syntax.ColStorage, syntax.ColEngineAttr, syntax.ColSecondaryAttr:
		s.context.AddError(types.LevelWarning, types.NewError(types.ErNotSupportedYet, "storage attributes of column "+spec.Name+" have no effect"))
	case syntax.ColGenerated:
		text, err := plan.GeneratedText(o.Expr, s.clientCharset())
		spec.Generated = &catalog.Generated{Expr: text, Stored: o.Word == "STORED"}
		return err
	case syntax.ColCheck:
		return types.Errorf(types.ErNotSupportedYet, "CHECK at a column in this statement; add it with ADD CHECK")
	default:
		return types.Errorf(types.ErNotSupportedYet, syntax.BriefOption(o)+" at column "+spec.Name)
	}
	return nil
}

// columnDefault evaluates a DEFAULT clause of a column of table of: a constant converted to the column's type, the current time, or an expression kept as text.
func (s *Session) columnDefault(of ddl.Name, spec *ddl.ColumnSpec, e syntax.Expr) (*catalog.Default, error) {
	if call, ok := e.(*syntax.FuncCall); ok && isNow(call.Name) {
		if spec.Type.ID != types.TypeTimestamp && spec.Type.ID != types.TypeDatetime {
			return nil, types.Errorf(types.ErInvalidDefault, spec.Name)
		}
		if nowScale(e) != max(spec.Type.Scale, 0) {
			return nil, types.Errorf(types.ErInvalidDefault, spec.Name)
		}
		return &catalog.Default{Kind: catalog.DefaultNow}, nil
	}
	if paren, ok := e.(*syntax.Paren); ok {
		text, err := plan.DefaultShown(paren.X, of.Schema, of.Table, s.clientCharset())
		return &catalog.Default{Kind: catalog.DefaultExpr, Expr: text}, err
	}
	v, err := s.scalar(e)
	if err != nil {
		return nil, err
	}
	if v.IsNull() {
		if spec.NotNull {
			return nil, types.Errorf(types.ErInvalidDefault, spec.Name)
		}
		return &catalog.Default{Kind: catalog.DefaultNull}, nil
	}
	if spec.Type.IsBlob() || spec.Type.ID == types.TypeJSON {
		e := types.Errorf(types.ErBlobCantHaveDefault, spec.Name)
		if s.context.SQLMode&types.ModeStrict == 0 && v.K == types.KindString && len(v.B) == 0 && spec.Type.IsBlob() {
			s.context.AddError(types.LevelWarning, e)
			return nil, nil
		}
		return nil, e
	}
	if lit, ok := e.(*syntax.Literal); ok && (lit.Kind == syntax.LitHex || lit.Kind == syntax.LitBit) && spec.Type.IsNumeric() {
		n := types.Type{ID: types.TypeBit, Length: 64}
		if v, err = types.Convert(&s.context, v, n, spec.Name, 1); err != nil {
			return nil, err
		}
		v.K = types.KindUint
	}
	strict := types.Context{SQLMode: s.context.SQLMode, Loc: s.context.Loc, Now: s.context.Now, Strict: true}
	converted, err := types.Convert(&strict, v, spec.Type, spec.Name, 1)
	if err != nil {
		return nil, types.Errorf(types.ErInvalidDefault, spec.Name)
	}
	return &catalog.Default{Kind: catalog.DefaultLiteral, Value: converted.Clone()}, nil
}

// nowScale is how many decimals of a second NOW(n) has.
func nowScale(e syntax.Expr) int8 {
	call, ok := e.(*syntax.FuncCall)
	if !ok || len(call.Args) == 0 {
		return 0
	}
	n := 0
	if lit, ok := call.Args[0].(*syntax.Literal); ok {
		n, _ = strconv.Atoi(lit.Value) // it was a number to the parser
	}
	return int8(min(n, types.MaxFsp+1))
}

func isNow(name string) bool {
	switch strings.ToLower(name) {
	case "now", "current_timestamp", "localtime", "localtimestamp":
		return true
	}
	return false
}

// besideGenerated are the attributes that a generated column cannot have, as 1221 calls them.
var besideGenerated = map[syntax.ColumnOptionKind]string{
	syntax.ColDefault: "DEFAULT", syntax.ColAutoIncrement: "AUTO_INCREMENT", syntax.ColSerialDefault: "AUTO_INCREMENT", syntax.ColOnUpdate: "ON UPDATE",
}

// refuseBesideGenerated refuses those.
func refuseBesideGenerated(def *syntax.ColumnDef) error {
	if !slices.ContainsFunc(def.Options, func(o syntax.ColumnOption) bool { return o.Kind == syntax.ColGenerated }) {
		return nil
	}
	for i := range def.Options {
		if word := besideGenerated[def.Options[i].Kind]; word != "" {
			return types.Errorf(types.ErWrongUsage, word, "generated column")
		}
	}
	return nil
}
