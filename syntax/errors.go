package syntax

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// MySQL's error numbers that parsing can raise.
const (
	CodeParse            = 1064 // ER_PARSE_ERROR
	CodeEmptyQuery       = 1065 // ER_EMPTY_QUERY
	CodeTooLongIdent     = 1059 // ER_TOO_LONG_IDENT
	CodeTooManyParams    = 1390 // ER_PS_MANY_PARAM
	CodeTooDeep          = 1064 // MySQL reports "memory exhausted" as a parse error.
	CodeUnknownCharset   = 1115 // ER_UNKNOWN_CHARACTER_SET
	CodeWrongUsage       = 1221 // ER_WRONG_USAGE
	codeNoDatabaseName   = 1102 // ER_WRONG_DB_NAME
	codeNoTableName      = 1103 // ER_WRONG_TABLE_NAME
	codeNoColumnName     = 1166 // ER_WRONG_COLUMN_NAME
	codeNoIndexName      = 1280 // ER_WRONG_NAME_FOR_INDEX
	codeUnknownAlgorithm = 1800 // ER_UNKNOWN_ALTER_ALGORITHM
	codeUnknownLock      = 1801 // ER_UNKNOWN_ALTER_LOCK
	nearTextMax          = 80   // Characters of the statement shown by 1064.
	tooLongIdentTextMax  = 100  // Characters of the name shown by 1059.
)

// Error is an error of parsing. Code is MySQL's error number.
type Error struct {
	Code int
	Pos  Pos    // Offset of the offending token.
	Line int    // Its line, counted from 1.
	Near string // The text from Pos on, shortened.
	Msg  string // The complete message.
}

// Error implements error with the message MySQL would send.
func (e *Error) Error() string { return e.Msg }

// parseError makes error 1064 for the text from pos on.
func parseError(sql string, pos int) *Error {
	e := newError(sql, pos, CodeParse)
	e.Msg = fmt.Sprintf("You have an error in your SQL syntax; check the manual that corresponds to "+
		"your MySQL server version for the right syntax to use near '%s' at line %d", e.Near, e.Line)
	return e
}

// newError makes an error with its position; the caller sets the message.
func newError(sql string, pos, code int) *Error {
	pos = min(max(pos, 0), len(sql))
	return &Error{
		Code: code,
		Pos:  Pos(pos),
		Line: 1 + strings.Count(sql[:pos], "\n"),
		Near: firstChars(sql[pos:], nearTextMax),
	}
}

// firstChars returns at most n characters of s, without splitting one.
func firstChars(s string, n int) string {
	end := 0
	for i := 0; i < n && end < len(s); i++ {
		_, size := utf8.DecodeRuneInString(s[end:])
		end += size
	}
	return s[:end]
}
