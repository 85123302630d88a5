package syntax

import "strings"

// Hint is one optimizer hint: NAME(arguments).
type Hint struct {
	Name string // in upper case
	// Block is the name of the query block that the hint is for, given as @name before the arguments or after the only table. Empty means the block that
	// contains the hint.
	Block string
	// Tables are the tables of a hint on tables or indexes, or the words of a hintWords hint.
	Tables []HintTable
	// Names are the indexes of a hint on indexes.
	Names []string
	// Args is the text between the parentheses, trimmed.
	Args string
}

// HintTable is a table of a hint. Block is the query block of the table; empty means that of the hint.
type HintTable struct{ Name, Block string }

// hintShape is the form of a hint's arguments.
type hintShape uint8

const (
	hintOther  hintShape = iota // any text; callers interpret Hint.Args
	hintTables                  // [@block] table[@block], …
	hintIndex                   // [@block] table[@block] index, …
	hintWords                   // [@block] word, …
)

// hintShapes lists the known hints: those of MySQL, and those of TiDB that Pando supports.
var hintShapes = map[string]hintShape{
	"BKA": hintTables, "NO_BKA": hintTables, "BNL": hintTables, "NO_BNL": hintTables, "HASH_JOIN": hintTables, "NO_HASH_JOIN": hintTables,
	"JOIN_FIXED_ORDER": hintTables, "JOIN_ORDER": hintTables, "JOIN_PREFIX": hintTables, "JOIN_SUFFIX": hintTables, "MERGE": hintTables, "NO_MERGE": hintTables,
	"DERIVED_CONDITION_PUSHDOWN": hintTables, "NO_DERIVED_CONDITION_PUSHDOWN": hintTables,
	"INDEX": hintIndex, "NO_INDEX": hintIndex, "JOIN_INDEX": hintIndex, "NO_JOIN_INDEX": hintIndex, "GROUP_INDEX": hintIndex, "NO_GROUP_INDEX": hintIndex,
	"ORDER_INDEX": hintIndex, "NO_ORDER_INDEX": hintIndex, "INDEX_MERGE": hintIndex, "NO_INDEX_MERGE": hintIndex, "MRR": hintIndex, "NO_MRR": hintIndex,
	"NO_ICP": hintIndex, "NO_RANGE_OPTIMIZATION": hintIndex, "SKIP_SCAN": hintIndex, "NO_SKIP_SCAN": hintIndex,
	"SEMIJOIN": hintWords, "NO_SEMIJOIN": hintWords, "SUBQUERY": hintWords, "QB_NAME": hintWords,
	"MAX_EXECUTION_TIME": hintOther, "SET_VAR": hintOther, "RESOURCE_GROUP": hintOther,

	"INL_JOIN": hintTables, "NO_INDEX_JOIN": hintTables, "MERGE_JOIN": hintTables, "NO_MERGE_JOIN": hintTables, "LEADING": hintTables,
	"USE_INDEX": hintIndex, "FORCE_INDEX": hintIndex, "IGNORE_INDEX": hintIndex, "HASH_AGG": hintWords, "STREAM_AGG": hintWords,
	"IGNORE_PLAN_CACHE": hintWords, "NO_DECORRELATE": hintWords,
}

// hintBytesMax bounds the bytes of hint text that are read: room for some thousand hints, each of which takes far more memory than its text.
const hintBytesMax = 64 << 10

// ParseHints parses the text between /*+ and */. bad is the byte offset of the first error, or of hintBytesMax in a longer text, -1 if there is none.
// The hints before that offset are valid. Their strings are slices of text.
func ParseHints(text string) (hints []Hint, bad int) {
	s := hintScanner{text: text[:min(len(text), hintBytesMax)]}
	for {
		start := s.skip()
		if start == len(s.text) {
			if start < len(text) {
				return hints, start
			}
			if len(hints) == 0 {
				return nil, start
			}
			return hints, -1
		}
		h := Hint{Name: toUpperASCII(s.word())}
		shape, known := hintShapes[h.Name]
		if !known {
			return hints, start
		}
		if at := s.skip(); !s.take('(') {
			return hints, at
		}
		if at := s.arguments(&h, shape); at >= 0 {
			return hints, at
		}
		hints = append(hints, h)
	}
}

// hintScanner reads the text of hints.
type hintScanner struct {
	text string
	pos  int
}

// skip skips white space and returns the position after it.
func (s *hintScanner) skip() int {
	for s.pos < len(s.text) && strings.IndexByte(" \t\r\n", s.text[s.pos]) >= 0 {
		s.pos++
	}
	return s.pos
}

// take skips white space and consumes c if it follows.
func (s *hintScanner) take(c byte) bool {
	if s.skip(); s.pos == len(s.text) || s.text[s.pos] != c {
		return false
	}
	s.pos++
	return true
}

// word reads a name, quoted or not; empty if there is none.
func (s *hintScanner) word() string {
	start := s.skip()
	if s.take('`') {
		end := strings.IndexByte(s.text[s.pos:], '`')
		if end < 0 {
			s.pos = start
			return ""
		}
		s.pos += end + 1
		return s.text[start+1 : s.pos-1]
	}
	for s.pos < len(s.text) {
		c := s.text[s.pos]
		if c != '_' && c != '$' && c != '#' && c < 0x80 && (c < '0' || c > '9') && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') {
			break
		}
		s.pos++
	}
	return s.text[start:s.pos]
}

// arguments reads the arguments up to the closing parenthesis and returns the position of an error, or -1.
func (s *hintScanner) arguments(h *Hint, shape hintShape) int {
	from := s.pos
	if shape == hintOther {
		end := hintEnd(s.text[from:])
		if end < 0 {
			return len(s.text)
		}
		h.Args = strings.TrimSpace(s.text[from : from+end])
		s.pos = from + end + 1
		return -1
	}
	if s.take('@') {
		if h.Block = s.word(); h.Block == "" {
			return s.pos
		}
		s.take(',') // an optional comma
	}
	if s.take(')') {
		return -1
	}
	for first := true; ; first = false {
		at := s.skip()
		name := s.word()
		if name == "" {
			return at
		}
		switch {
		case shape == hintIndex && !first:
			h.Names = append(h.Names, name)
		default:
			t := HintTable{Name: name}
			if s.take('@') {
				if t.Block = s.word(); t.Block == "" {
					return s.pos
				}
			}
			h.Tables = append(h.Tables, t)
			if shape == hintIndex && s.skip() < len(s.text) && s.text[s.pos] != ')' && s.text[s.pos] != ',' {
				continue
			}
		}
		if s.take(')') {
			h.Args = strings.TrimSpace(s.text[from : s.pos-1])
			return -1
		}
		if at = s.skip(); !s.take(',') {
			return at
		}
	}
}

// hintEnd returns the position of the closing parenthesis of a hint's arguments, which may contain parentheses and strings; -1 if there is none.
func hintEnd(s string) int {
	depth, quote := 0, byte(0)
	for i := range len(s) {
		switch c := s[i]; {
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '\'' || c == '"' || c == '`':
			quote = c
		case c == '(':
			depth++
		case c == ')' && depth == 0:
			return i
		case c == ')':
			depth--
		}
	}
	return -1
}
