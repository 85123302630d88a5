package types

import (
	"slices"
	"strings"
)

// oneByOne names the collations of the UCA in which the weights of a text are those of its characters one after the other. Those of a
// language weigh some letters by what stands beside them (Czech ch).
var oneByOne = append([]string{"_0900_as_ci", "_0900_as_cs"}, plainUCA...)

// KeysBegin reports whether the keys of texts that LIKE 'p%' matches begin with the key of p, as AppendKeyBegin needs it.
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

// AppendKeyBegin appends what the keys (AppendKey) of all texts begin with that LIKE matches with the text v followed by %. ok is false if
// that is nothing. LIKE compares character by character, so a text that it matches has the weights of v in front, but for the spaces at
// the end of v, which keys of PAD SPACE collations lack where nothing follows, and CHAR columns everywhere.
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
		// Weights of accents and cases stand behind those of all letters.
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
