package types

import (
	"math/rand/v2"
	"time"
)

// SQLMode is the set of sql_mode flags that a statement runs under.
type SQLMode uint64

// The flags of sql_mode, with MySQL's own bit values.
const (
	ModeRealAsFloat           SQLMode = 1 << 0
	ModePipesAsConcat         SQLMode = 1 << 1
	ModeAnsiQuotes            SQLMode = 1 << 2
	ModeIgnoreSpace           SQLMode = 1 << 3
	ModeOnlyFullGroupBy       SQLMode = 1 << 5
	ModeNoUnsignedSubtraction SQLMode = 1 << 6
	ModeNoDirInCreate         SQLMode = 1 << 7
	ModeAnsi                  SQLMode = 1 << 18
	ModeNoAutoValueOnZero     SQLMode = 1 << 19
	ModeNoBackslashEscapes    SQLMode = 1 << 20
	ModeStrictTransTables     SQLMode = 1 << 21
	ModeStrictAllTables       SQLMode = 1 << 22
	ModeNoZeroInDate          SQLMode = 1 << 23
	ModeNoZeroDate            SQLMode = 1 << 24
	ModeAllowInvalidDates     SQLMode = 1 << 25
	ModeErrorForDivByZero     SQLMode = 1 << 26
	ModeTraditional           SQLMode = 1 << 27
	ModeHighNotPrecedence     SQLMode = 1 << 29
	ModeNoEngineSubstitution  SQLMode = 1 << 30
	ModePadCharToFullLength   SQLMode = 1 << 31
	ModeTimeTruncateFrac      SQLMode = 1 << 32

	ModeStrict = ModeStrictTransTables | ModeStrictAllTables
	// ModeDefault is MySQL 8's default sql_mode.
	ModeDefault = ModeOnlyFullGroupBy | ModeStrictTransTables | ModeNoZeroInDate | ModeNoZeroDate |
		ModeErrorForDivByZero | ModeNoEngineSubstitution
)

// Level is the severity of a diagnostic, as SHOW WARNINGS names it.
type Level uint8

// The severities.
const (
	LevelNote Level = iota
	LevelWarning
	LevelError
)

// String returns the name that SHOW WARNINGS prints.
func (l Level) String() string {
	switch l {
	case LevelNote:
		return "Note"
	case LevelWarning:
		return "Warning"
	}
	return "Error"
}

// Warning is one entry of the diagnostics area.
type Warning struct {
	Level   Level
	Number  uint16
	State   string
	Message string
}

// DefaultMaxErrorCount is MySQL's default of max_error_count.
const DefaultMaxErrorCount = 1024

// Context is what conversions and functions of one statement depend on, with the
// statement's diagnostics area. It is used by one goroutine at a time and reused
// from statement to statement. A nil Context has the defaults and drops warnings.
type Context struct {
	SQLMode SQLMode
	// Loc is the session time zone; nil means UTC.
	Loc *time.Location
	// Now returns the time at which the statement started, always the same during
	// the statement. Nil means 1970.
	Now func() time.Time
	// MaxErrorCount is how many warnings are kept; 0 means DefaultMaxErrorCount. All are counted.
	MaxErrorCount int
	// DivPrecisionIncrement is div_precision_increment; the zero value means 4, and NoDivIncrement that it is 0.
	DivPrecisionIncrement int
	// Locale is lc_time_names; nil is en_US.
	Locale *Locale
	// Strict says that conversion errors fail the statement. The session sets it
	// for INSERT, UPDATE and so on under a strict sql_mode; in a SELECT it is
	// false, so that conversions only warn.
	Strict bool
	// Ignore is set for INSERT IGNORE, UPDATE IGNORE and so on: errors become
	// warnings even if Strict is set.
	Ignore bool
	// Poll returns an error once the statement has to end. Grow counts memory that
	// a conversion allocates, in bytes, and returns an error if the statement has
	// reached its limit. Both are those of expr.Ctx, and may be nil.
	Poll func() error
	Grow func(bytes int64) error
	// JSONName names the expression whose JSON value is being converted, for warning 3156; empty where nobody has noted it.
	JSONName string
	// Rand is the session's source for RAND() without seed; nil uses the process's.
	Rand *rand.Rand

	warnings []Warning
	counts   [3]int
	failure  *Error
}

// Fork returns a copy of c with an empty diagnostics area, for another goroutine of
// the same statement.
func (c *Context) Fork() *Context {
	f := *c
	f.warnings, f.counts, f.failure, f.Rand = nil, [3]int{}, nil, nil
	return &f
}

// Absorb moves the diagnostics of a fork to c, with the error that TakeFailure returns.
func (c *Context) Absorb(f *Context) {
	if c.failure == nil {
		c.failure = f.failure
	}
	for i, n := range f.counts {
		c.counts[i] += n
	}
	room := max(c.warningLimit()-len(c.warnings), 0)
	c.warnings = append(c.warnings, f.warnings[:min(room, len(f.warnings))]...)
	f.ResetWarnings()
}

// Location returns the session zone, never nil.
func (c *Context) Location() *time.Location {
	if c == nil || c.Loc == nil {
		return time.UTC
	}
	return c.Loc
}

func (c *Context) poll() error {
	if c == nil || c.Poll == nil {
		return nil
	}
	return c.Poll()
}

// growMin is the fewest bytes for which fits calls Grow.
const growMin = 64 << 10

// fits returns an error if the statement may not allocate n bytes for a short time.
// They do not stay counted.
func (c *Context) fits(n int) error {
	if c == nil || c.Grow == nil || n < growMin {
		return nil
	}
	err := c.Grow(int64(n))
	_ = c.Grow(-int64(n)) // giving back never fails
	return err
}

// strict reports whether a bad value is an error.
func (c *Context) strict() bool { return c != nil && c.Strict && !c.Ignore }

// mode returns the sql_mode; a nil context has none.
func (c *Context) mode() SQLMode {
	if c == nil {
		return 0
	}
	return c.SQLMode
}

// Warn adds a diagnostic. Its text and SQLSTATE come from the error table.
func (c *Context) Warn(level Level, number uint16, args ...any) {
	if c == nil {
		return
	}
	if !c.fails(level, number) && len(c.warnings) >= c.warningLimit() {
		c.counts[level]++
		return
	}
	c.AddError(level, Errorf(number, args...))
}

// failsStrict reports whether a warning of a function or comparison is an error under
// Strict, as in MySQL's Strict_error_handler.
func failsStrict(number uint16) bool {
	switch number {
	case ErTruncatedWrongValue, ErWrongValueForType, ErWarnDataOutOfRange, ErDivisionByZero, ErTruncatedWrongValueForField, ErWarnDataTruncated,
		ErDataTooLong, ErCutValueGroupConcat, ErDatetimeFunctionOverflow, ErWarnAllowedPacketOverflowed,
		ErNumericJSONValueOutOfRange, ErInvalidJSONValueForCast, ErInvalidArgumentForLogarithm:
		return true
	}
	return false
}

func (c *Context) jsonName() string {
	if c == nil {
		return ""
	}
	return c.JSONName
}

// TakeFailure returns the first warning that Strict has made an error, and forgets
// it. It is how functions that only warn end the statement.
func (c *Context) TakeFailure() error {
	if c == nil || c.failure == nil {
		return nil
	}
	err := c.failure
	c.failure = nil
	return err
}

// fails reports whether a diagnostic ends the statement because of Strict.
func (c *Context) fails(level Level, number uint16) bool {
	return level == LevelWarning && c.strict() && failsStrict(number)
}

// AddError adds e to the diagnostics with the given level. A warning that Strict
// makes an error is kept for TakeFailure instead.
func (c *Context) AddError(level Level, e *Error) {
	if c == nil {
		return
	}
	if c.fails(level, e.Number) {
		if c.failure == nil {
			c.failure = e
		}
		return
	}
	c.counts[level]++
	if len(c.warnings) < c.warningLimit() {
		c.warnings = append(c.warnings, Warning{level, e.Number, e.State, e.Message})
	}
}

func (c *Context) warningLimit() int {
	if c.MaxErrorCount == 0 {
		return DefaultMaxErrorCount
	}
	return c.MaxErrorCount
}

// Warnings returns the diagnostics kept since the last reset. The slice belongs to c
// and is valid until then.
func (c *Context) Warnings() []Warning { return c.warnings }

// WarningCount returns @@warning_count: all diagnostics, kept or not.
func (c *Context) WarningCount() int { return c.counts[0] + c.counts[1] + c.counts[2] }

// ErrorCount returns @@error_count.
func (c *Context) ErrorCount() int { return c.counts[LevelError] }

// ResetWarnings empties the diagnostics area, keeps its memory, and forgets the error that
// TakeFailure returns: a statement that ended with another one has not taken it.
func (c *Context) ResetWarnings() {
	c.failure = nil
	clear(c.warnings)
	c.warnings = c.warnings[:0]
	c.counts = [3]int{}
}

// CurrentTime returns the time at which the statement started, in the session zone.
func (c *Context) CurrentTime() time.Time {
	if c == nil || c.Now == nil {
		return time.Unix(0, 0).In(c.Location())
	}
	return c.Now().In(c.Location())
}
