package session

import (
	"strings"

	"github.com/pandodb/pando/types"
)

// sqlModes are the flags by name, in the order in which MySQL prints them.
var sqlModes = []struct {
	name string
	bit  types.SQLMode
}{
	{"REAL_AS_FLOAT", types.ModeRealAsFloat}, {"PIPES_AS_CONCAT", types.ModePipesAsConcat}, {"ANSI_QUOTES", types.ModeAnsiQuotes},
	{"IGNORE_SPACE", types.ModeIgnoreSpace}, {"ONLY_FULL_GROUP_BY", types.ModeOnlyFullGroupBy},
	{"NO_UNSIGNED_SUBTRACTION", types.ModeNoUnsignedSubtraction}, {"NO_DIR_IN_CREATE", types.ModeNoDirInCreate}, {"ANSI", types.ModeAnsi},
	{"NO_AUTO_VALUE_ON_ZERO", types.ModeNoAutoValueOnZero}, {"NO_BACKSLASH_ESCAPES", types.ModeNoBackslashEscapes},
	{"STRICT_TRANS_TABLES", types.ModeStrictTransTables}, {"STRICT_ALL_TABLES", types.ModeStrictAllTables}, {"NO_ZERO_IN_DATE", types.ModeNoZeroInDate},
	{"NO_ZERO_DATE", types.ModeNoZeroDate}, {"ALLOW_INVALID_DATES", types.ModeAllowInvalidDates},
	{"ERROR_FOR_DIVISION_BY_ZERO", types.ModeErrorForDivByZero}, {"TRADITIONAL", types.ModeTraditional},
	{"HIGH_NOT_PRECEDENCE", types.ModeHighNotPrecedence}, {"NO_ENGINE_SUBSTITUTION", types.ModeNoEngineSubstitution},
	{"PAD_CHAR_TO_FULL_LENGTH", types.ModePadCharToFullLength}, {"TIME_TRUNCATE_FRACTIONAL", types.ModeTimeTruncateFrac},
}

// combined modes stand for several.
const (
	modeAnsi        = types.ModeRealAsFloat | types.ModePipesAsConcat | types.ModeAnsiQuotes | types.ModeIgnoreSpace | types.ModeOnlyFullGroupBy | types.ModeAnsi
	modeTraditional = types.ModeStrictTransTables | types.ModeStrictAllTables | types.ModeNoZeroInDate | types.ModeNoZeroDate | types.ModeErrorForDivByZero |
		types.ModeTraditional | types.ModeNoEngineSubstitution
)

// parseSQLMode reads a list of mode names. Modes that would need a behaviour Pando lacks are refused.
func parseSQLMode(text string) (types.SQLMode, error) {
	var mode types.SQLMode
	for _, name := range strings.Split(text, ",") {
		name = strings.ToUpper(strings.TrimSpace(name))
		found := name == ""
		for _, m := range sqlModes {
			if m.name == name {
				mode |= m.bit
				found = true
			}
		}
		if !found {
			return 0, types.Errorf(types.ErWrongValueForVar, "sql_mode", name)
		}
	}
	if mode&types.ModeAnsi != 0 {
		mode |= modeAnsi
	}
	if mode&types.ModeTraditional != 0 {
		mode |= modeTraditional
	}
	return mode, nil
}

// formatSQLMode lists the flags as MySQL prints them.
func formatSQLMode(mode types.SQLMode) string {
	var out []string
	for _, m := range sqlModes {
		if mode&m.bit != 0 {
			out = append(out, m.name)
		}
	}
	return strings.Join(out, ",")
}

// checkSQLMode normalises a list of modes.
func checkSQLMode(_ *Session, value string) (string, error) {
	mode, err := parseSQLMode(value)
	if err != nil {
		return "", err
	}
	return formatSQLMode(mode), nil
}
