package types

import "encoding/binary"

const (
	// abbreviatedBytes is how many bytes are in the abbreviation of a string whose weights have one byte.
	abbreviatedBytes = 8
	// abbreviatedChars is how many characters are in that of a string whose weights have two bytes.
	abbreviatedChars = 4
)

// AbbreviateStored returns an abbreviated key of a stored field of type t: if the keys of two fields differ, they order the
// fields; if they are equal, the fields have to be compared. So a sort compares numbers and rarely fields ("poor man's
// normalized keys": Graefe, Implementing Sorting in Database Systems, ACM Computing Surveys 38(3), 2006, section 3.2). ok is
// false if the type or this field has no such key, which then cannot be compared with those of other fields.
func AbbreviateStored(b []byte, t *Type) (key uint64, ok bool) {
	switch {
	case t.IsStringType():
		return abbreviateString(b, t.Coll)
	case typeKinds[t.ID] == KindInt && t.Unsigned:
		return storedUint(b), true
	case typeKinds[t.ID] == KindInt:
		return uint64(storedInt(b)) ^ 1<<63, true
	}
	return 0, false
}

// abbreviateString returns an abbreviated key in the order of CompareStrings.
func abbreviateString(b []byte, c CollationID) (key uint64, ok bool) {
	k := c.get()
	if k.class != collRaw && k.class != collPadRaw {
		k.load()
	}
	switch k.class {
	case collRaw:
		return abbreviateBytes(b, 0), true
	case collPadRaw:
		return abbreviateBytes(b, ' '), true
	case collPadTable:
		for i := range abbreviatedBytes {
			w := uint64(k.space)
			if i < len(b) {
				w = uint64(k.bytes[b[i]])
			}
			key = key<<8 | w
		}
		return key, true
	case collPadGeneral:
		for range abbreviatedChars {
			w, n := k.space, 0
			if len(b) > 0 {
				w, n = k.nextGeneral(b)
			}
			key, b = key<<16|uint64(w), b[n:]
		}
		return key, true
	case collUCA0900, collPadUCA:
		if k.ascii == nil {
			return 0, false
		}
		// As in compareASCII, characters after the first difference do not matter.
		end := uint64(0)
		if k.class == collPadUCA {
			end = uint64(k.space)
		}
		for i := range abbreviatedChars {
			w := end
			if i < len(b) {
				if b[i] >= 0x80 || k.ascii[b[i]] == 0 {
					return 0, false
				}
				w = uint64(k.ascii[b[i]])
			}
			key = key<<16 | w
		}
		return key, true
	}
	return 0, false
}

// abbreviateBytes returns the first bytes of b as a number, padded with pad.
func abbreviateBytes(b []byte, pad byte) uint64 {
	if len(b) >= abbreviatedBytes {
		return binary.BigEndian.Uint64(b)
	}
	key := uint64(0)
	for i := range abbreviatedBytes {
		c := pad
		if i < len(b) {
			c = b[i]
		}
		key = key<<8 | uint64(c)
	}
	return key
}
