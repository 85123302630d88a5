package types

import (
	"fmt"
	"math"
	"sort"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Error is an error as a client receives it: with MySQL's number, SQLSTATE and text.
type Error struct {
	Number  uint16
	State   string
	Message string
}

// Error returns the text as the mysql client prints it.
func (e *Error) Error() string {
	return "ERROR " + strconv.Itoa(int(e.Number)) + " (" + e.State + "): " + e.Message
}

// Is reports whether target is an Error of the same number, so that
// errors.Is(err, types.Errorf(types.ErDupEntry)) tests the class.
func (e *Error) Is(target error) bool {
	t, ok := target.(*Error)
	return ok && t.Number == e.Number
}

// errorText is one row of errorTable.
type errorText struct {
	number uint16
	state  string
	format string
}

// stateGeneral is the SQLSTATE of errors without one of their own.
const stateGeneral = "HY000"

// Errorf returns the error of a number with MySQL's text. args replace the verbs of
// the text in order; an argument may have any type that fmt can print. For a number
// that is not in errorTable the text is args.
func Errorf(number uint16, args ...any) *Error {
	t := lookupError(number)
	if t == nil {
		return &Error{number, stateGeneral, readable(fmt.Sprint(args...))}
	}
	return &Error{number, t.state, readable(string(appendFormat(nil, t.format, args)))}
}

// NewError returns an error of a number with the given text, for numbers that MySQL
// sends with several texts (1292 for a column, 1064 of a routine) and numbers that
// are not in errorTable.
func NewError(number uint16, message string) *Error {
	return &Error{number, StateOf(number), readable(message)}
}

// messageBytesMax is the most bytes of a message, as in MySQL (MYSQL_ERRMSG_SIZE).
const messageBytesMax = 511

// readable returns message cut off at messageBytesMax and with bytes that are not
// UTF-8 written as \xFF, as MySQL does, because clients decode messages as UTF-8.
func readable(message string) string {
	if len(message) > messageBytesMax { // copied, because a session keeps it until its next statement
		cut := messageBytesMax
		for cut > messageBytesMax-utf8.UTFMax && !utf8.RuneStart(message[cut]) {
			cut--
		}
		message = strings.Clone(message[:cut])
	}
	if utf8.ValidString(message) {
		return message
	}
	var out []byte
	for i := 0; i < len(message); {
		r, size := utf8.DecodeRuneInString(message[i:])
		if r == utf8.RuneError && size == 1 {
			out = fmt.Appendf(out, `\x%02X`, message[i])
		} else {
			out = append(out, message[i:i+size]...)
		}
		i += size
	}
	return string(out)
}

// StateOf returns the SQLSTATE of an error number, HY000 for unknown ones.
func StateOf(number uint16) string {
	if t := lookupError(number); t != nil {
		return t.state
	}
	return stateGeneral
}

func lookupError(number uint16) *errorText {
	i := sort.Search(len(errorTable), func(i int) bool { return errorTable[i].number >= number })
	if i < len(errorTable) && errorTable[i].number == number {
		return &errorTable[i]
	}
	return nil
}

// appendFormat appends format with %s, %d, %.Ns and %% replaced. The argument of %d
// may have any type, so that a wrong verb in errorTable does not spoil a message.
func appendFormat(dst []byte, format string, args []any) []byte {
	for i := 0; i < len(format); i++ {
		if format[i] != '%' || i+1 == len(format) {
			dst = append(dst, format[i])
			continue
		}
		i++
		limit := -1
		if format[i] == '.' {
			limit = 0
			for i++; i < len(format) && format[i] >= '0' && format[i] <= '9'; i++ {
				limit = limit*10 + int(format[i]-'0')
			}
		}
		if i == len(format) || format[i] == '%' {
			dst = append(dst, '%')
			continue
		}
		if len(args) == 0 {
			continue
		}
		dst = appendArg(dst, args[0], limit)
		args = args[1:]
	}
	return dst
}

func appendArg(dst []byte, arg any, limit int) []byte {
	start, shown := len(dst), limit+utf8.UTFMax // of a long text, only the part that may be shown is copied
	if limit < 0 {
		shown = math.MaxInt
	}
	switch a := arg.(type) {
	case string:
		dst = append(dst, a[:min(len(a), shown)]...)
	case []byte:
		dst = append(dst, a[:min(len(a), shown)]...)
	case int:
		dst = strconv.AppendInt(dst, int64(a), 10)
	default:
		dst = fmt.Append(dst, a)
	}
	if limit < 0 || len(dst)-start <= limit {
		return dst
	}
	// The limit counts bytes as MySQL does, but never splits a character.
	cut := start + limit
	for cut > start && !utf8.RuneStart(dst[cut]) {
		cut--
	}
	return dst[:cut]
}
