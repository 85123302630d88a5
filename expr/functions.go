package expr

import (
	"maps"

	"github.com/pandodb/pando/types"
)

// functions maps lower-case names to their builders. It is filled by init and read-only afterwards. It cannot be a literal, because builders
// that rewrite their call into other calls refer to it.
var functions = map[string]function{}

func init() {
	for _, area := range []map[string]function{
		operatorTable, controlTable, stringTable, codingTable, numericTable, dateTable, regexTable, miscTable, sessionTable, jsonTable,
		cryptTable, compressTable, xmlTable, adminTable, rewriteTable(),
	} {
		maps.Copy(functions, area)
	}
	for _, name := range absentFunctions {
		functions[name] = function{max: -1, build: buildAbsent}
	}
}

var operatorTable = map[string]function{
	"sounds like": {2, 2, 0, buildSoundsLike},
	"+":           {2, 2, 0, buildArith}, "-": {2, 2, 0, buildArith}, "*": {2, 2, 0, buildArith}, "/": {2, 2, 0, buildDivide},
	"div": {2, 2, 0, buildIntDiv}, "%": {2, 2, 0, buildMod}, "mod": {2, 2, 0, buildMod}, "neg": {1, 1, 0, buildNeg},
	"&": {2, 2, 0, buildBit}, "|": {2, 2, 0, buildBit}, "^": {2, 2, 0, buildBit}, "<<": {2, 2, 0, buildBit}, ">>": {2, 2, 0, buildBit}, "~": {1, 1, 0, buildBit},
	"and": {1, -1, 0, buildAnd}, "or": {1, -1, 0, buildOr}, "xor": {2, 2, 0, buildXor}, "not": {1, 1, 0, buildNot},
	"is null": {1, 1, 0, buildIsNull}, "is not null": {1, 1, 0, buildIsNull}, "isnull": {1, 1, 0, buildIsNull},
	"is unknown": {1, 1, 0, buildIsNull}, "is not unknown": {1, 1, 0, buildIsNull},
	"is true": {1, 1, 0, buildTruthTest}, "is not true": {1, 1, 0, buildTruthTest},
	"is false": {1, 1, 0, buildTruthTest}, "is not false": {1, 1, 0, buildTruthTest},
	"like": {2, 3, 0, buildLike}, "row": {1, -1, 0, buildRow}, "binary": {1, 1, 0, buildBinary},
	"collate": {2, 2, 0, buildCollate}, "convert_using": {2, 2, 0, buildConvertUsing},
	"strcmp": {2, 2, 0, buildStrcmp},
}

var controlTable = map[string]function{
	"case": {2, -1, 0, buildCase}, "case_value": {3, -1, 0, buildCaseValue}, "if": {3, 3, 0, buildIf}, "ifnull": {2, 2, 0, buildCoalesce},
	"coalesce": {1, -1, 0, buildCoalesce}, "nullif": {2, 2, 0, buildNullIf}, "greatest": {2, -1, 0, buildExtreme}, "least": {2, -1, 0, buildExtreme},
	"interval": {2, -1, 0, buildInterval},
}

// rewriteTable holds the builders that call Call.
func rewriteTable() map[string]function {
	return map[string]function{
		"=": {2, 2, 0, buildCompare}, "<=>": {2, 2, 0, buildCompare}, "<>": {2, 2, 0, buildCompare}, "!=": {2, 2, 0, buildCompare},
		"<": {2, 2, 0, buildCompare}, "<=": {2, 2, 0, buildCompare}, ">": {2, 2, 0, buildCompare}, ">=": {2, 2, 0, buildCompare},
		"in": {2, -1, 0, buildIn}, "between": {3, 3, 0, buildBetween}, "not in": {2, -1, 0, buildNegated},
		"not between": {3, 3, 0, buildNegated}, "not like": {2, 3, 0, buildNegated}, "not regexp": {2, 2, 0, buildNegated},
	}
}

// absentFunctions are MySQL's functions that answer 1235 here.
var absentFunctions = []string{
	"match", "grouping",
	"st_geomfromtext", "st_astext", "st_aswkt", "st_x", "st_y", "st_distance", "st_contains", "st_within", "point", "linestring", "polygon",
	"master_pos_wait", "source_pos_wait", "wait_for_executed_gtid_set", "gtid_subset", "gtid_subtract",
	"row_number", "rank", "dense_rank", "lag", "lead", "first_value", "last_value", "nth_value", "ntile", "cume_dist", "percent_rank",
	"json_table", "roles_graphml",
}

func buildAbsent(_ *BuildContext, n *Node) error {
	return types.Errorf(types.ErNotSupportedYet, n.name)
}

// unknownFunction returns error 1305, whose text has the current database before the name, if there is one, because MySQL looks for a stored
// function there.
func unknownFunction(b *BuildContext, name string) error {
	if b != nil && b.Database != "" {
		name = b.Database + "." + name
	}
	return types.Errorf(types.ErSPDoesNotExist, "FUNCTION", name)
}

// HasFunction reports whether name (lower case) is a built-in function or operator, supported or not.
func HasFunction(name string) bool {
	_, ok := functions[name]
	return ok || IsAggregate(name)
}

// plain returns the builder of a function with a fixed type that needs no preparation. eval has to handle NULL arguments.
func plain(t types.Type, eval evalFunc) func(*BuildContext, *Node) error {
	return func(_ *BuildContext, n *Node) error {
		if err := rejectRows(n.args); err != nil {
			return err
		}
		n.typ, n.eval, n.coer, n.ascii = t, eval, coercibilityOf(&t, CoerCoercible), true
		return nil
	}
}
