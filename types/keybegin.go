package types

import (
	"slices"
	"strings"
)

// oneByOne has the ends of the names of UCA collations in which the weights of a text are
// those of its characters one after the other. Collations of a language have contractions
// (Czech ch).
var oneByOne = append([]string{"_0900_as_ci", "_0900_as_cs"}, plainUCA...)

// KeysBegin reports whether the keys of all texts that match LIKE 'p%' have a common prefix,
// so that AppendKeyBegin can be used.
func (c CollationID) KeysBegin() bool {
	k := c.get()
	switch k.class {
	case collRaw, collPadRaw, collPadTable, collPadRunes, collPadGeneral:
		return true
	case collUCA0900, collPadUCA:
		return slices.Contains(oneByOne, strings.TrimPrefix(k.name, k.charset.Name))
	}
	return false
}

// AppendKeyBegin appends the common prefix of the keys (AppendKey) of all texts that match
// LIKE with the pattern v%, where v has no wildcards. ok is false if there is none. LIKE
// compares character by character, so the weights of a matching text begin with those of
// v, except for spaces at the end of v: keys of PAD SPACE collations do not have them at
// the end of a text, and values of CHAR columns do not either.
func AppendKeyBegin(dst []byte, v Value, t *Type, desc bool, prefixChars int) (_ []byte, ok bool) {
	start, s, c := len(dst), v.B, t.stringColl()
	if prefixChars > 0 {
		s = s[:c.Charset().CharPrefix(s, prefixChars)]
	}
	if t.ID == TypeChar && c != Binary && !c.PadSpace() {
		s = trimSpaces(s)
	}
	if !c.KeysBegin() {
		return dst, false
	}
	k := c.get().load()
	dst = k.appendWeights(dst, s)
	if k.class == collUCA0900 {
		// The weights of accents and case follow those of all letters, after a zero weight.
		for i := start; i+1 < len(dst); i += 2 {
			if dst[i] == 0 && dst[i+1] == 0 {
				dst = dst[:i]
			}
		}
	}
	weights := dst[start:]
	if c.PadSpace() {
		weights = weights[:trimPad(weights, k.unit(), k.space)]
	}
	if len(weights) == 0 {
		return dst[:start], false
	}
	dst = k.endWeights(dst, start)
	dst = dst[:len(dst)-k.endLen()]
	if desc {
		for i := start; i < len(dst); i++ {
			dst[i] = ^dst[i]
		}
	}
	return dst, true
}
