package types

import (
	"math/bits"
	"strings"
)

// sqlModeNames are the names in the order in which MySQL prints them.
var sqlModeNames = []struct {
	mode SQLMode
	name string
}{
	{ModeRealAsFloat, "REAL_AS_FLOAT"}, {ModePipesAsConcat, "PIPES_AS_CONCAT"}, {ModeAnsiQuotes, "ANSI_QUOTES"},
	{ModeIgnoreSpace, "IGNORE_SPACE"}, {ModeOnlyFullGroupBy, "ONLY_FULL_GROUP_BY"},
	{ModeNoUnsignedSubtraction, "NO_UNSIGNED_SUBTRACTION"}, {ModeNoDirInCreate, "NO_DIR_IN_CREATE"},
	{ModeAnsi, "ANSI"}, {ModeNoAutoValueOnZero, "NO_AUTO_VALUE_ON_ZERO"},
	{ModeNoBackslashEscapes, "NO_BACKSLASH_ESCAPES"}, {ModeStrictTransTables, "STRICT_TRANS_TABLES"},
	{ModeStrictAllTables, "STRICT_ALL_TABLES"}, {ModeNoZeroInDate, "NO_ZERO_IN_DATE"},
	{ModeNoZeroDate, "NO_ZERO_DATE"}, {ModeAllowInvalidDates, "ALLOW_INVALID_DATES"},
	{ModeErrorForDivByZero, "ERROR_FOR_DIVISION_BY_ZERO"}, {ModeTraditional, "TRADITIONAL"},
	{ModeHighNotPrecedence, "HIGH_NOT_PRECEDENCE"}, {ModeNoEngineSubstitution, "NO_ENGINE_SUBSTITUTION"},
	{ModePadCharToFullLength, "PAD_CHAR_TO_FULL_LENGTH"}, {ModeTimeTruncateFrac, "TIME_TRUNCATE_FRACTIONAL"},
}

// allModes are the bits that sql_mode accepts as a number.
const allModes = ModeRealAsFloat | ModePipesAsConcat | ModeAnsiQuotes | ModeIgnoreSpace | ModeOnlyFullGroupBy |
	ModeNoUnsignedSubtraction | ModeNoDirInCreate | ModeAnsi | ModeNoAutoValueOnZero | ModeNoBackslashEscapes |
	ModeStrict | ModeNoZeroInDate | ModeNoZeroDate | ModeAllowInvalidDates | ModeErrorForDivByZero |
	ModeTraditional | ModeHighNotPrecedence | ModeNoEngineSubstitution | ModePadCharToFullLength | ModeTimeTruncateFrac

// ParseSQLMode parses a value of sql_mode, names separated by commas; see SQLModeOf for numbers.
// Its error is 1231.
func ParseSQLMode(s string) (SQLMode, error) {
	var m SQLMode
	for name := range strings.SplitSeq(s, ",") {
		trimmed := strings.TrimRight(name, " ")
		if trimmed == "" {
			continue
		}
		bit := modeByName(strings.ToUpper(trimmed))
		if bit == 0 {
			return 0, Errorf(ErWrongValueForVar, "sql_mode", name)
		}
		m |= bit
	}
	return m.expand(), nil
}

// SQLModeOf returns the modes whose bits are set in n; ok is false if one of them is none.
func SQLModeOf(n uint64) (m SQLMode, ok bool) {
	return SQLMode(n).expand(), SQLMode(n)&^allModes == 0
}

func modeByName(name string) SQLMode {
	for _, m := range sqlModeNames {
		if m.name == name {
			return m.mode
		}
	}
	return 0
}

// expand adds the modes that ANSI and TRADITIONAL consist of.
func (m SQLMode) expand() SQLMode {
	if m&ModeAnsi != 0 {
		m |= ModeRealAsFloat | ModePipesAsConcat | ModeAnsiQuotes | ModeIgnoreSpace | ModeOnlyFullGroupBy
	}
	if m&ModeTraditional != 0 {
		m |= ModeStrict | ModeNoZeroInDate | ModeNoZeroDate | ModeErrorForDivByZero | ModeNoEngineSubstitution
	}
	return m
}

// String returns the names in MySQL's order, separated by commas.
func (m SQLMode) String() string {
	names := make([]string, 0, bits.OnesCount64(uint64(m)))
	for _, n := range sqlModeNames {
		if m&n.mode != 0 {
			names = append(names, n.name)
		}
	}
	return strings.Join(names, ",")
}

// IsStrict reports whether data conversion errors fail INSERT and UPDATE.
func (m SQLMode) IsStrict() bool { return m&ModeStrict != 0 }
