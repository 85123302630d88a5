package types

import (
	"slices"
	"strings"
	"sync"

	"vitess.io/vitess/go/mysql/collations"
	"vitess.io/vitess/go/mysql/collations/colldata"
)

// CollationID is MySQL's number of a collation. 0 is none.
type CollationID uint16

// The collations with names in code.
const (
	Latin1SwedishCI  CollationID = 8
	ASCIIGeneralCI   CollationID = 11
	Utf8mb3GeneralCI CollationID = 33
	Utf8mb4GeneralCI CollationID = 45
	Utf8mb4Bin       CollationID = 46
	Binary           CollationID = 63
	Utf8mb3Bin       CollationID = 83
	Utf8mb40900AICI  CollationID = 255
	Utf8mb40900Bin   CollationID = 309
	// DefaultCollation is the server's default.
	DefaultCollation = Utf8mb40900AICI
)

// collClass says how a collation compares and builds sort keys (weights.go).
type collClass uint8

const (
	collRaw        collClass = iota // NO PAD, bytes: binary and utf8mb4_0900_bin
	collPadRaw                      // PAD SPACE, bytes: *_bin of byte-ordered character sets
	collPadTable                    // PAD SPACE, a weight byte per byte
	collPadMulti                    // PAD SPACE, weight bytes of the library or of this package: sjis and other multi-byte sets
	collPadRunes                    // PAD SPACE, code points: *_bin of ucs2, utf16, utf32
	collPadGeneral                  // PAD SPACE, a 16-bit weight per character: *_general_ci of Unicode
	collPadUCA                      // PAD SPACE, 16-bit weights of UCA 4.0.0 and 5.2.0
	collUCA0900                     // NO PAD, 16-bit weights of UCA 9.0.0
)

// weigher appends the weights of a text. The number is 0.
type weigher interface {
	WeightString(dst, src []byte, numCodepoints int) []byte
}

// collation is a collation of the library, or of this package (collationown.go), with the tables that this package builds.
type collation struct {
	id      CollationID
	name    string
	charset *Charset
	class   collClass
	isBin   bool
	lib     weigher
	collate func(left, right []byte, isPrefix bool) int // the library's comparison, for collUCA0900
	shown   weigher                                     // for WEIGHT_STRING, where MySQL's are not those by which it compares; else nil
	fold    func() *[256]byte                           // for LIKE, where it takes other bytes for the same than comparisons do; else nil
	entire  bool                                        // a weight may depend on the whole text, which is never taken in pieces

	once  sync.Once      // for load, which builds the tables below at first use
	bytes *[256]byte     // collPadTable
	runes *[65536]uint16 // collPadGeneral
	ascii *[128]uint16   // collUCA0900, collPadUCA: weights of ASCII; nil if ASCII needs the library
	space uint16         // weight of the space

	sumOnce sync.Once // for sum, which is computed when an index is created or checked
	sum     uint64
}

type collationRegistry struct {
	byID     []*collation // index is the id; nil where there is none
	byName   map[string]*collation
	ids      []CollationID
	charsets []*Charset
}

// registry returns the table of all collations, which is built at first use and
// depends on constants only.
var registry = sync.OnceValue(buildRegistry)

func buildRegistry() *collationRegistry {
	env := collations.MySQL8()
	reg := &collationRegistry{byName: map[string]*collation{}}
	charsets := map[string]*Charset{}
	for _, lib := range colldata.All(env) {
		id := CollationID(lib.ID())
		csName := lib.Charset().Name()
		def := env.DefaultCollationForCharset(csName)
		if def == collations.Unknown {
			continue // gb18030: the library does not have its default collation, see ownCollations
		}
		cs := charsets[csName]
		if cs == nil {
			cs = newCharset(lib.Charset())
			cs.Default = CollationID(def)
			cs.Bin = CollationID(env.BinaryCollationForCharset(csName))
			charsets[csName] = cs
			reg.charsets = append(reg.charsets, cs)
		}
		c := &collation{id: id, name: lib.Name(), charset: cs, lib: lib, isBin: lib.IsBinary()}
		c.class, c.collate = classify(lib, cs), lib.Collate
		reg.add(c)
	}
	for i := range ownCharsets {
		cs := newOwnCharset(i)
		charsets[cs.Name] = cs
		reg.charsets = append(reg.charsets, cs)
	}
	for i := range ownCollations {
		own := &ownCollations[i]
		c := &collation{id: own.id, name: own.name, class: own.class, isBin: own.class == collPadRaw, shown: own.shown, fold: own.fold, entire: own.entire}
		c.charset = charsets[own.charset]
		c.lib = own.weights(reg.byName)
		reg.add(c)
	}
	// The library picks the last *_bin: for utf8mb4 that is utf8mb4_0900_bin,
	// while MySQL's "binary collation of the character set" is utf8mb4_bin.
	charsets["utf8mb4"].Bin = Utf8mb4Bin
	charsets["binary"].Bin = Binary
	slices.Sort(reg.ids)
	slices.SortFunc(reg.charsets, func(a, b *Charset) int { return strings.Compare(a.Name, b.Name) })
	return reg
}

func (reg *collationRegistry) add(c *collation) {
	for int(c.id) >= len(reg.byID) {
		reg.byID = append(reg.byID, nil)
	}
	reg.byID[c.id] = c
	reg.byName[c.name] = c
	reg.ids = append(reg.ids, c.id)
}

func classify(lib colldata.Collation, cs *Charset) collClass {
	switch lib.(type) {
	case *colldata.Collation_binary, *colldata.Collation_utf8mb4_0900_bin:
		return collRaw
	case *colldata.Collation_8bit_bin:
		return collPadRaw
	case *colldata.Collation_8bit_simple_ci:
		return collPadTable
	case *colldata.Collation_multibyte:
		if lib.IsBinary() {
			return collPadRaw
		}
		return collPadMulti
	case *colldata.Collation_unicode_bin:
		if cs.ascii {
			return collPadRaw // UTF-8 orders as its code points do.
		}
		return collPadRunes
	case *colldata.Collation_unicode_general_ci:
		return collPadGeneral
	case *colldata.Collation_utf8mb4_uca_0900:
		return collUCA0900
	}
	return collPadUCA
}

// get returns the collation c, or the default one if there is none: a Value with
// collation 0 is a bug, but must not cause a panic.
func (c CollationID) get() *collation {
	reg := registry()
	if int(c) < len(reg.byID) && reg.byID[c] != nil {
		return reg.byID[c]
	}
	return reg.byID[DefaultCollation]
}

// LookupCollation finds a collation by name in any case; utf8_x is utf8mb3_x. Its
// error is 1273.
func LookupCollation(name string) (CollationID, error) {
	n := strings.ToLower(name)
	if rest, ok := strings.CutPrefix(n, "utf8_"); ok {
		n = "utf8mb3_" + rest
	}
	c := registry().byName[n]
	if c == nil {
		return 0, Errorf(ErUnknownCollation, name)
	}
	return c.id, nil
}

// Collations returns all collations ordered by number. The slice must not be written.
func Collations() []CollationID { return registry().ids }

// Valid reports whether c is a collation.
func (c CollationID) Valid() bool {
	reg := registry()
	return int(c) < len(reg.byID) && reg.byID[c] != nil
}

// Name returns the collation's name.
func (c CollationID) Name() string { return c.get().name }

// Charset returns the collation's character set.
func (c CollationID) Charset() *Charset { return c.get().charset }

// IsBin reports whether c is binary or a *_bin collation.
func (c CollationID) IsBin() bool { return c.get().isBin }

// IsDefault reports whether c is the default of its character set.
func (c CollationID) IsDefault() bool { k := c.get(); return k.charset.Default == k.id }

// PadSpace reports whether comparisons ignore trailing spaces (PAD SPACE).
func (c CollationID) PadSpace() bool {
	k := c.get().class
	return k != collRaw && k != collUCA0900
}

// MaxCharLen returns the most bytes of a character.
func (c CollationID) MaxCharLen() int { return c.get().charset.MaxLen }

// load builds the weight tables of c at first use: most processes use two or three of
// the 270 collations. It is safe for concurrent use.
func (c *collation) load() *collation {
	c.once.Do(c.build)
	return c
}

func (c *collation) build() {
	switch c.class {
	case collPadTable:
		c.bytes = new([256]byte)
		for i := range c.bytes {
			c.bytes[i] = c.lib.WeightString(nil, []byte{byte(i)}, 0)[0]
		}
		c.space = uint16(c.bytes[' '])
	case collPadGeneral:
		c.buildRunes()
	case collUCA0900, collPadUCA:
		c.buildASCII()
	default:
		c.space = ' '
	}
}

// surrogateMin and surrogateMax bound the code points that are no characters.
const (
	surrogateMin = 0xD800
	surrogateMax = 0xDFFF
	replacement  = 0xFFFD
)

func (c *collation) buildRunes() {
	c.runes = new([65536]uint16)
	var src, w []byte
	for r := range c.runes {
		c.runes[r] = replacement
		if r >= surrogateMin && r <= surrogateMax {
			continue
		}
		var ok bool
		if src, ok = c.charset.appendRune(src[:0], rune(r)); !ok {
			continue
		}
		w = c.lib.WeightString(w[:0], src, 0)
		if len(w) == 2 {
			c.runes[r] = uint16(w[0])<<8 | uint16(w[1])
		}
	}
	c.space = c.runes[' ']
}

// plainUCA has the ends of the names of collations without contractions of ASCII
// letters, so that the weights of an ASCII string are those of its bytes. Tailored
// collations (Czech ch, Spanish ll …) are left to the library.
var plainUCA = []string{"_0900_ai_ci", "_unicode_ci", "_unicode_520_ci"}

func (c *collation) buildASCII() {
	var w []byte
	weigh := func(s ...byte) []byte {
		src, _ := ConvertCharset(nil, s, DefaultCollation.get().charset, c.charset)
		w = c.lib.WeightString(w[:0], src, 0)
		return w
	}
	if sp := weigh(' '); len(sp) >= 2 {
		c.space = uint16(sp[0])<<8 | uint16(sp[1])
	}
	suffix := strings.TrimPrefix(c.name, c.charset.Name)
	if !c.charset.ascii || !slices.Contains(plainUCA, suffix) {
		return
	}
	c.ascii = new([128]uint16)
	for i := range c.ascii {
		if one := weigh(byte(i)); len(one) == 2 {
			c.ascii[i] = uint16(one[0])<<8 | uint16(one[1])
		}
	}
}

// checksumStep: checksum covers the weights of all Latin characters, of some pairs of
// letters, and of one in checksumStep of the other characters of the Basic
// Multilingual Plane, because all of them would take too long at start.
const checksumStep = 7

func (c *collation) checksum() uint64 {
	if c.class == collRaw || c.class == collPadRaw || c.class == collPadRunes {
		return hashBytes(uint64(c.class)+1, []byte(c.name))
	}
	h := hashBytes(1, []byte(c.name))
	var src, w []byte
	for r := rune(1); r < 0xFFFF; {
		if r < surrogateMin || r > surrogateMax {
			var ok bool
			if src, ok = c.charset.appendRune(src[:0], r); ok {
				w = c.lib.WeightString(w[:0], src, 0)
				h = hashBytes(h, w)
			}
		}
		if r < 0x250 {
			r++
		} else {
			r += checksumStep
		}
	}
	for _, pair := range []string{"ch", "ll", "dz", "lj", "nj", "aa", "ss"} {
		src, _ = ConvertCharset(src[:0], []byte(pair), DefaultCollation.get().charset, c.charset)
		w = c.lib.WeightString(w[:0], src, 0)
		h = hashBytes(h, w)
	}
	return h
}

// WeightsChecksum returns a number that changes if the collation's weights or the
// key format change, with which indexes have to be rebuilt. Index descriptors have it.
func (c CollationID) WeightsChecksum() uint64 {
	k := c.get()
	k.sumOnce.Do(func() { k.sum = k.checksum() })
	return k.sum ^ KeyFormatVersion
}
