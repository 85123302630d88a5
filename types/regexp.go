package types

import (
	"errors"
	"reflect"
	"unicode/utf8"
	"unsafe"

	"vitess.io/vitess/go/mysql/icuregex"
)

// Limits of regular expressions.
const (
	// regexPatternMax bounds a pattern in characters.
	regexPatternMax = 64 << 10
	// regexSetsMax bounds the sets of a pattern, and regexWideSetsMax those that name properties or reach beyond ASCII: compiling one of these
	// takes up to 25 ms, in which nothing looks at the interrupt. 3700 beyond.
	regexSetsMax     = 4096
	regexWideSetsMax = 64
	// regexFindMax is the length of text in which the library searches by itself. In a longer one each place is tried from here, so that
	// the interrupt is looked at in between; one place takes a step over the text at most, and what RegexpLimits allow.
	regexFindMax = 4 << 10
	// regexPollPlaces is how many places are tried between two looks at the interrupt, and regexPollChars how many characters a place may have
	// to read until there is one at each.
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

// RegexpLimits bound one search: regexp_time_limit in steps of 10,000 saved states, regexp_stack_limit in bytes.
type RegexpLimits struct{ Time, StackBytes int }

// DefaultRegexpLimits are MySQL's.
var DefaultRegexpLimits = RegexpLimits{Time: 32, StackBytes: 8_000_000}

// Regexp is a compiled regular expression with ICU's rules. It is immutable.
type Regexp struct {
	pattern *icuregex.Pattern
	groups  int
	names   reflect.Value // map[string]int
}

// The library keeps the names of groups, and ICU's limits of time and stack, to itself; its own limits are a tenth of MySQL's and none.
// They are reached through their places in its structs, which are checked here, when the process starts: the alternative is a copy of
// the package with three methods more.
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

// CompileRegexp compiles a pattern.
func CompileRegexp(pattern []rune, flags RegexpFlags) (*Regexp, error) {
	if err := checkRegexpSize(pattern); err != nil {
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

// checkRegexpSize refuses what would take long to compile.
func checkRegexpSize(pattern []rune) error {
	sets, wide := 0, 0
	for i, c := range pattern {
		next := rune(0)
		if i+1 < len(pattern) {
			next = pattern[i+1]
		}
		switch {
		case c == '[':
			sets++
			if next == ':' {
				wide++
			}
		case c == '\\' && (next == 'p' || next == 'P' || next == 'N' || next == 'X'):
			wide++
		case c == '-' && (next == '\\' || next >= utf8.RuneSelf || next == '-' || next == '['), c == '&' && next == '&':
			wide++
		}
	}
	if len(pattern) > regexPatternMax || sets > regexSetsMax || sets > 0 && wide > regexWideSetsMax || wide > regexSetsMax {
		return Errorf(ErRegexpPatternTooBig)
	}
	return nil
}

// ErRegexpInvalidCaptureGroupName is ER_REGEXP_INVALID_CAPTURE_GROUP_NAME.
const ErRegexpInvalidCaptureGroupName uint16 = 3887

// errRegexpNumberTooBig is ER_REGEXP_NUMBER_TOO_BIG.
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
		return Errorf(ErRegexpIllegalArgument) // a property that there is none of
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

// RegexpMatcher searches texts for one expression. It belongs to one goroutine.
type RegexpMatcher struct {
	re      *Regexp
	m       *icuregex.Matcher
	text    []rune
	pending int // characters that may have been read since the last look at the interrupt
	from    int
	to      int
}

// Matcher returns a matcher of r.
func (r *Regexp) Matcher(limits RegexpLimits) *RegexpMatcher {
	m := icuregex.NewMatcher(r.pattern)
	*(*int32)(unsafe.Add(unsafe.Pointer(m), regexTimeField)) = int32(limits.Time)
	*(*int)(unsafe.Add(unsafe.Pointer(m), regexStackField)) = limits.StackBytes / 4 // as ICU counts it, in places of 32 bits that it fills with 64
	return &RegexpMatcher{re: r, m: m}
}

// Reset sets the text to search, which is borrowed until the next call.
func (m *RegexpMatcher) Reset(text []rune) {
	m.text = text
	m.m.Reset(text)
}

// Find looks for the first match at or after a place, which the limits are for. poll, which may be nil, ends it early with its error.
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

// Span returns where the match is.
func (m *RegexpMatcher) Span() (from, to int) { return m.from, m.to }

// Group returns where a group of the match is, -1 if it took no part.
func (m *RegexpMatcher) Group(i int) (from, to int) { return m.m.StartForGroup(i), m.m.EndForGroup(i) }

// Next is where a search for the match behind this one begins.
func (m *RegexpMatcher) Next() int {
	if m.from == m.to {
		return m.to + 1
	}
	return m.to
}

// AppendRunes appends the characters of s in the character set of c. Bytes that are no character stand for themselves.
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
