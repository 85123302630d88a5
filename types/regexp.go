package types

import (
	"errors"
	"reflect"
	"strings"
	"unicode/utf8"
	"unsafe"

	"vitess.io/vitess/go/mysql/icuregex"
)

// Limits of regular expressions.
const (
	// regexPatternMax is the most characters of a pattern.
	regexPatternMax = 64 << 10
	// RegexpPatternBytesMax is how long such a pattern is at most in any character set.
	RegexpPatternBytesMax = 4 * regexPatternMax
	// regexSetsMax is the most sets in a pattern, and regexCompileMax the most microseconds that compiling it may
	// take, by the estimate of regexCosts, because there is no poll in between. More are error 3700.
	regexSetsMax    = 4096
	regexCompileMax = 100_000
	// regexFindMax is the most characters of a text in which the library searches. In a longer text, Find tries
	// each position, so that it can poll in between. A match at one position reads the text once at most, and is
	// bounded by RegexpLimits.
	regexFindMax = 4 << 10
	// regexPollPlaces is how many positions are tried between two polls of the interrupt. From regexPollChars
	// characters of text on, there is a poll at each position.
	regexPollPlaces = 256
	regexPollChars  = 1 << 20
)

// RegexpFlags are the letters of match_type.
type RegexpFlags uint8

// The flags.
const (
	RegexpFold      RegexpFlags = 1 << iota // i
	RegexpMultiline                         // m
	RegexpDotAll                            // n
	RegexpUnixLines                         // u
)

// RegexpLimits are the limits of one match: regexp_time_limit in units of 10,000 saved states, and regexp_stack_limit
// in bytes.
type RegexpLimits struct{ Time, StackBytes int }

// DefaultRegexpLimits are MySQL's defaults.
var DefaultRegexpLimits = RegexpLimits{Time: 32, StackBytes: 8_000_000}

// Regexp is a compiled regular expression by ICU's rules. It is immutable and safe for concurrent use.
type Regexp struct {
	pattern *icuregex.Pattern
	groups  int
	names   reflect.Value // map[string]int
}

// The library does not export the names of groups and ICU's limits of time and stack, whose defaults are a tenth of
// MySQL's and unlimited. They are set through the offsets of these fields, which are checked at the start of the
// process. The alternative would be a copy of the package with three more methods.
var (
	regexTimeField  = regexField(reflect.TypeFor[icuregex.Matcher](), "timeLimit", reflect.TypeFor[int32]())
	regexStackField = regexField(reflect.TypeFor[icuregex.Matcher](), "stack", nil) +
		regexField(fieldType(reflect.TypeFor[icuregex.Matcher](), "stack"), "stackLimit", reflect.TypeFor[int]())
)

func fieldType(t reflect.Type, name string) reflect.Type {
	f, ok := t.FieldByName(name)
	if !ok {
		panic("types: icuregex has no " + t.Name() + "." + name)
	}
	return f.Type
}

func regexField(t reflect.Type, name string, want reflect.Type) uintptr {
	f, ok := t.FieldByName(name)
	if !ok || want != nil && f.Type != want {
		panic("types: icuregex has no " + t.Name() + "." + name + " as expected")
	}
	return f.Offset
}

// CompileRegexp compiles a pattern. Its errors are MySQL's, 3685 and following; 3700 if the pattern is too big.
func CompileRegexp(pattern []rune, flags RegexpFlags) (*Regexp, error) {
	if err := checkRegexpSize(pattern, flags&RegexpFold != 0); err != nil {
		return nil, err
	}
	var icu icuregex.RegexpFlag
	for _, f := range []struct {
		ours RegexpFlags
		icu  icuregex.RegexpFlag
	}{{RegexpFold, icuregex.CaseInsensitive}, {RegexpMultiline, icuregex.Multiline}, {RegexpDotAll, icuregex.DotAll}, {RegexpUnixLines, icuregex.UnixLines}} {
		if flags&f.ours != 0 {
			icu |= f.icu
		}
	}
	p, err := icuregex.Compile(pattern, icu)
	if err != nil {
		return nil, regexpCompileError(err)
	}
	return &Regexp{pattern: p, groups: icuregex.NewMatcher(p).GroupCount(), names: reflect.ValueOf(p).Elem().FieldByName("namedCaptureMap")}, nil
}

// regexCost is about how many microseconds, on a busy machine, the library takes for a set of many characters, which it builds anew wherever one stands. Where case is
// ignored it closes each of them over the pairs of letters; all is that of a set of nearly all characters, such as \p{Any} or what is in [\S].
type regexCost struct{ set, all int }

var regexCosts = map[bool]regexCost{false: {200, 1_000}, true: {2_000, 12_000}}

// checkRegexpSize returns error 3700 for a pattern that would take too long to compile.
func checkRegexpSize(pattern []rune, fold bool) error {
	sets, cost, depth := 0, 0, 0
	costs := regexCosts[fold || strings.Contains(string(pattern), "(?")] // which may be (?i)
	for i := 0; i < len(pattern); i++ {
		c, next := pattern[i], rune(0)
		if i+1 < len(pattern) {
			next = pattern[i+1]
		}
		switch {
		case c == '[':
			sets++
			depth++
			if next == ':' {
				cost += costs.all / 4
			}
		case c == ']':
			depth = max(depth-1, 0)
		case c == '\\':
			i++ // what is escaped is no bracket
			switch {
			case depth > 0 && next >= 'A' && next <= 'Z':
				cost += costs.all
			case next == 'p' || next == 'P':
				cost += costs.set
				if i+2 < len(pattern) && pattern[i+2] == 'A' { // Any, Assigned, ASCII, Age
					cost += costs.all
				}
			case next == 'X' || next == 'N' || depth > 0 && next >= 'a' && next <= 'z':
				cost += costs.set
			}
		}
	}
	if len(pattern) > regexPatternMax || sets > regexSetsMax || cost > regexCompileMax {
		return Errorf(ErRegexpPatternTooBig)
	}
	return nil
}

// What a compiled pattern takes: a part for itself, for each character an instruction or a set of few ranges, and for each set that may be a property
// of Unicode the table of its ranges. TestRegexpBytes compares them with what patterns hold.
const (
	regexBytes     = 1 << 10
	regexCharBytes = 64
	regexSetBytes  = 16 << 10
)

// RegexpBytes estimates the memory of a compiled pattern: at least what it holds, but not more than a few times that.
func RegexpBytes(pattern []rune) int {
	n := regexBytes + regexCharBytes*len(pattern)
	for i := 1; i < len(pattern); i++ {
		if before, c := pattern[i-1], pattern[i]; before == '[' && c == ':' || before == '\\' && strings.ContainsRune("dDpPwW", c) {
			n += regexSetBytes
		}
	}
	return n
}

// ErRegexpInvalidCaptureGroupName is MySQL's ER_REGEXP_INVALID_CAPTURE_GROUP_NAME.
const ErRegexpInvalidCaptureGroupName uint16 = 3887

// errRegexpNumberTooBig is MySQL's ER_REGEXP_NUMBER_TOO_BIG.
const errRegexpNumberTooBig = 4007

var regexpErrors = map[icuregex.CompileErrorCode]uint16{
	icuregex.InternalError: ErRegexpInternalError, icuregex.BadEscapeSequence: ErRegexpBadEscapeSequence, icuregex.Unimplemented: ErRegexpUnimplemented,
	icuregex.MismatchedParen: ErRegexpMismatchedParen, icuregex.BadInterval: ErRegexpBadInterval, icuregex.MaxLtMin: ErRegexpMaxLtMin,
	icuregex.InvalidBackRef: ErRegexpInvalidBackRef, icuregex.InvalidFlag: ErRegexpInvalidFlag, icuregex.LookBehindLimit: ErRegexpLookBehindLimit,
	icuregex.MissingCloseBracket: ErRegexpMissingCloseBracket, icuregex.InvalidRange: ErRegexpInvalidRange, icuregex.PatternTooBig: ErRegexpPatternTooBig,
}

func regexpCompileError(err error) error {
	var e *icuregex.CompileError
	if !errors.As(err, &e) {
		return Errorf(ErRegexpIllegalArgument) // an unknown property
	}
	switch number, ok := regexpErrors[e.Code]; {
	case ok:
		return Errorf(number)
	case e.Code == icuregex.RuleSyntax:
		return Errorf(ErRegexpRuleSyntax, e.Line, e.Offset)
	case e.Code == icuregex.InvalidCaptureGroupName:
		return NewError(ErRegexpInvalidCaptureGroupName, "A capture group has an invalid name.")
	case e.Code == icuregex.PropertySyntax:
		return Errorf(ErRegexpIllegalArgument)
	case e.Code == icuregex.NumberTooBig:
		return NewError(errRegexpNumberTooBig, "Decimal number in regular expression is too large.")
	}
	return Errorf(ErRegexpInternalError)
}

// Groups returns the number of capture groups.
func (r *Regexp) Groups() int { return r.groups }

// GroupNamed returns the number of a named group, 0 if there is none.
func (r *Regexp) GroupNamed(name string) int {
	if r.names.IsNil() {
		return 0
	}
	if v := r.names.MapIndex(reflect.ValueOf(name)); v.IsValid() {
		return int(v.Int())
	}
	return 0
}

// RegexpMatcher searches texts for one expression. It is for one goroutine.
type RegexpMatcher struct {
	re      *Regexp
	m       *icuregex.Matcher
	text    []rune
	pending int // positions tried since the last poll, weighted by the length of the text
	from    int // the match
	to      int
}

// Matcher returns a matcher of r.
func (r *Regexp) Matcher(limits RegexpLimits) *RegexpMatcher {
	m := icuregex.NewMatcher(r.pattern)
	*(*int32)(unsafe.Add(unsafe.Pointer(m), regexTimeField)) = int32(limits.Time)
	*(*int)(unsafe.Add(unsafe.Pointer(m), regexStackField)) = limits.StackBytes / 4 // ICU counts entries of 32 bits, although the library's have 64
	return &RegexpMatcher{re: r, m: m}
}

// Reset sets the text to search, which must not change until the next Reset.
func (m *RegexpMatcher) Reset(text []rune) {
	m.text = text
	m.m.Reset(text)
}

// Find searches for the first match at or after character at. RegexpLimits apply to the match at each position. Its
// errors are 3698 and 3699 if these are exceeded, and that of poll, which may be nil.
func (m *RegexpMatcher) Find(at int, poll func() error) (bool, error) {
	m.m.Reset(m.text)
	if at == 0 && len(m.text) <= regexFindMax {
		hit, err := m.m.Find()
		return m.found(hit, err)
	}
	each := 1 + len(m.text)/(regexPollChars/regexPollPlaces)
	for ; at <= len(m.text); at++ {
		if m.pending += each; m.pending >= regexPollPlaces && poll != nil {
			m.pending = 0
			if err := poll(); err != nil {
				return false, err
			}
		}
		if err := m.m.MatchAt(at, false); err != nil {
			return m.found(false, err)
		}
		if m.m.Start() >= 0 {
			return m.found(true, nil)
		}
	}
	return false, nil
}

func (m *RegexpMatcher) found(hit bool, err error) (bool, error) {
	if err != nil {
		var e *icuregex.MatchError
		switch {
		case !errors.As(err, &e) || e.Code == icuregex.InternalMatchError:
			return false, Errorf(ErRegexpInternalError)
		case e.Code == icuregex.TimeOut:
			return false, Errorf(ErRegexpTimeOut)
		}
		return false, Errorf(ErRegexpStackOverflow)
	}
	if hit {
		m.from, m.to = m.m.Start(), m.m.End()
	}
	return hit, nil
}

// Span returns the character positions of the match.
func (m *RegexpMatcher) Span() (from, to int) { return m.from, m.to }

// Group returns the character positions of group i of the match, -1 if it took no part in it.
func (m *RegexpMatcher) Group(i int) (from, to int) { return m.m.StartForGroup(i), m.m.EndForGroup(i) }

// Next returns the position from which the next match is searched.
func (m *RegexpMatcher) Next() int {
	if m.from == m.to {
		return m.to + 1
	}
	return m.to
}

// AppendRunes appends the characters of s, which is in the character set of c. A byte that is not valid becomes the
// character with its number.
func AppendRunes(dst []rune, s []byte, c CollationID) []rune {
	cs := c.Charset()
	for len(s) > 0 {
		if s[0] < utf8.RuneSelf && cs.ascii {
			dst, s = append(dst, rune(s[0])), s[1:]
			continue
		}
		r, n, ok := cs.decode(s)
		if !ok || n == 0 {
			r, n = rune(s[0]), max(n, 1)
		}
		dst, s = append(dst, r), s[n:]
	}
	return dst
}
