package expr

import (
	"slices"
	"strings"

	"github.com/pandodb/pando/types"
)

// Whether an expression can be NULL decides about the NOT_NULL flag of result columns that clients get, and whether CREATE TABLE … SELECT
// declares a column NOT NULL. The answers are MySQL's. They are conservative: a quotient of NOT NULL columns can be NULL, because the divisor
// may be zero.

// nullRule says when a function's result can be NULL. For functions without a rule the builder sets notNull; most can always be NULL.
type nullRule uint8

const (
	nullBuilt  nullRule = iota // as the builder has set it
	nullOfArgs                 // only if an argument is NULL
	nullOfText                 // as nullOfArgs, and in strict mode for a text that is not well formed in its character set
	nullNever
	nullOfMode // in strict mode only
)

// nullRules maps functions to their rules.
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
			lpad rpad repeat space aes_encrypt char_using random_bytes
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

// noteNullable sets notNull of a call by the rule of the function name. What the builder has set stays under nullOfArgs: COALESCE(x, 1) is
// never NULL.
func (n *Node) noteNullable(b *BuildContext, name string, args []Expr) {
	switch rule := nullRules[name]; rule {
	case nullOfArgs, nullOfText:
		n.notNull = n.notNull || !slices.ContainsFunc(args, Expr.MayBeNull)
		if rule == nullOfText && (b.mode()&types.ModeStrict != 0 || n.pads() && n.typ.Length < 0) {
			n.notNull = false
		}
	case nullNever:
		n.notNull = true
	case nullOfMode:
		n.notNull = b.mode()&types.ModeStrict == 0
	}
}

// pads reports whether n is a function whose result is NULL if it is longer than a packet, which a length that is not known may be.
func (n *Node) pads() bool { return n.IsCall("lpad", "rpad", "repeat", "space") }

// castMayFail reports whether CAST to t is NULL for some values that are not.
func (b *BuildContext) castMayFail(t *types.Type) bool {
	return t.IsTemporal() || t.ID == types.TypeYear || t.ID == types.TypeJSON || t.IsStringType() && b.mode()&types.ModeStrict != 0
}

// MayBeNull reports whether n can be NULL. A column can unless it was built with NotNull.
func (n *Node) MayBeNull() bool { return !n.notNull }

// Aggregated returns a column marked as one of an aggregate's results: as texts, numbers are written as those of a function.
func Aggregated(column Expr) Expr {
	n := *column
	n.aggregated = true
	return &n
}

// NotNull returns e marked as never NULL: for NOT NULL columns that no outer join fills with NULL, COUNT(), EXISTS.
func NotNull(e Expr) Expr {
	if e.notNull {
		return e
	}
	n := *e
	n.notNull = true
	return &n
}
