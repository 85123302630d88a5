package expr

import (
	"slices"
	"strings"

	"github.com/pandodb/pando/types"
)

// Whether an expression can be NULL decides what clients are told of result columns, and whether a column that is made of the expression is
// NOT NULL. The answer is MySQL's, which is on the safe side: a quotient can be NULL even of columns that cannot, because of a zero.

// nullRule says when a function's result can be NULL. Functions without one decide in their builders; most of those can always be NULL.
type nullRule uint8

const (
	nullBuilt nullRule = iota
	nullOfArgs
	nullOfText
	nullNever
	nullOfMode // text that is NULL in strict mode alone
)

// nullRules holds the functions that are NULL only if an argument is, those of text, which are NULL in strict mode, too, where what they make
// is not well formed in its character set, and those that never are.
var nullRules = func() map[string]nullRule {
	rules := map[string]nullRule{"sounds like": nullOfText, "not in": nullOfArgs, "not between": nullOfArgs, "not like": nullOfArgs, "not regexp": nullOfArgs}
	for rule, names := range map[nullRule]string{
		nullOfArgs: `+ - * neg & | ^ << >> ~ and or xor not = <> != < <= > >= in between like row strcmp sleep regexp ascii bit_length char_length
			character_length find_in_set instr length octet_length locate position make_set ord regexp_instr regexp_like
			abs ceil ceiling crc32 degrees floor radians rand round sign truncate period_add period_diff bit_count last_insert_id any_value
			is_ipv4 is_ipv6 is_ipv4_compat is_ipv4_mapped greatest least
			uncompressed_length unix_timestamp json_overlaps json_schema_valid`,
		nullOfText: `binary collate convert_using char concat concat_ws export_set hex insert left right lower lcase upper ucase quote replace
			reverse soundex compress format statement_digest substr substring mid substring_index trim trim_leading trim_trailing ltrim rtrim to_base64 format_bytes
			user current_user session_user system_user uuid`,
		nullOfMode: `charset collation`,
		nullNever: `field interval isnull curdate current_date curtime current_time utc_date utc_time utc_timestamp now sysdate pi coercibility
			connection_id found_rows row_count version uuid_short icu_version release_all_locks`,
	} {
		for _, name := range strings.Fields(names) {
			rules[name] = rule
		}
	}
	return rules
}()

// noteNullable gives a call that has been built over args its rule. What the builder knows is not weakened: COALESCE(x, 1) is never NULL.
func (n *Node) noteNullable(b *BuildContext, name string, args []Expr) {
	switch rule := nullRules[name]; rule {
	case nullOfArgs, nullOfText:
		n.notNull = n.notNull || !slices.ContainsFunc(args, Expr.MayBeNull)
		if rule == nullOfText && b.mode()&types.ModeStrict != 0 {
			n.notNull = false
		}
	case nullNever:
		n.notNull = true
	case nullOfMode:
		n.notNull = b.mode()&types.ModeStrict == 0
	}
}

// castMayFail reports whether CAST to t makes NULL of some values.
func (b *BuildContext) castMayFail(t *types.Type) bool {
	return t.IsTemporal() || t.ID == types.TypeYear || t.ID == types.TypeJSON || t.IsStringType() && b.mode()&types.ModeStrict != 0
}

// MayBeNull reports whether e can be NULL. For a column it is what NotNull says where the column is read.
func (n *Node) MayBeNull() bool { return !n.notNull }

// NotNull is e, which is known never to be NULL: a column declared so that no outer join pads, COUNT(), EXISTS.
func NotNull(e Expr) Expr {
	if e.notNull {
		return e
	}
	n := *e
	n.notNull = true
	return &n
}
