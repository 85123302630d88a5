package types

import (
	"compress/flate"
	_ "embed" // the record of character sets
	"io"
	"strings"
	"sync"
)

// charsetRecord holds the tables of the character sets and collations that the library does not have, as a MySQL answered when it was asked for each
// character. tests/dictionary/record writes it. It is one DEFLATE stream; numbers of several bytes are in planes, the lowest byte of all of them
// first, because that takes half the space:
//
//	23940 × 2   gb18030: the code points of its two-byte codes
//	23940 × 1   gbk: 1 if it has the character of that code, else 0
//	23940 × 2   gbk_chinese_ci: which of the codes is the first, the second …
//	2, n × 3    gb18030_chinese_ci: how many Han characters, and their code points in order
//	13973 × 2   big5: the code points of its two-byte codes, or 0
//	13973 × 2   big5_chinese_ci: their weights in WEIGHT_STRING
//	3 × 128     the weights of ASCII in gbk_chinese_ci, big5_chinese_ci and gb18030_chinese_ci
//	3 × (2, n × 3, n × 3, n × 3)
//	            letter case in gbk, big5 and gb18030: how many code points have another, these, their lower and their upper case
//	256 × 2     tis620: code points
//	256 × 1     tis620_thai_ci: the first of the bytes that LIKE takes for the same
//	256 × 2     latin1_german2_ci: a weight in the lower byte, or two
//	2, n × 2, n × 2
//	            utf8mb3_tolower_ci: how many weights differ from the code point, these code points and weights
//	4 × 259     latin2_czech_cs: the weights of bytes, ch, Ch and CH in each pass
//	2 × 259     cp1250_czech_cs
//
//go:embed record/charsets.bin
var charsetRecord string

// The numbers of two-byte codes.
const (
	gbTwoBytes   = 126 * 190 // gbk and gb18030: 81–FE, then 40–7E or 80–FE
	big5TwoBytes = 89 * 157  // A1–F9, then 40–7E or A1–FE
	gbkWeightMin = 0x8100    // the weight of the first two-byte character of gbk_chinese_ci
	pinyinMin    = 0xFFA00001
)

// charsetTables is charsetRecord unpacked, as far as it has to be searched. It is about 900 KB, made at the first use of one of these sets.
type charsetTables struct {
	gb         [gbTwoBytes]uint16 // code points
	gbk        [gbTwoBytes]bool
	gbCode     [65536]uint16      // by code point: 1 + the number of its two-byte code, or 0
	gbFour     []uint16           // code points of the four-byte codes below U+10000
	gbFourOf   [65536]uint16      // by code point: the number of its four-byte code
	gbkWeight  [gbTwoBytes]uint16 // by the number of the two-byte code
	pinyin     [hanMax]uint16     // by code point: 1 + its place, or 0
	big5       [big5TwoBytes]uint16
	big5Code   [65536]uint16 // like gbCode
	big5Stroke [big5TwoBytes]uint16
	ascii      [3][128]byte // gbk, big5, gb18030
	lower      [3]map[rune]rune
	upper      [3]map[rune]rune
	thai       [256]uint16
	thaiOf     map[rune]byte
	thaiFold   [256]byte
	german2    [256]uint16
	toLower    map[rune]uint16
	latin2     [4][czechUnits]byte
	cp1250     [2][czechUnits]byte
}

// The indexes of ascii, lower and upper.
const (
	ofGBK = iota
	ofBig5
	ofGB18030
)

// hanMax is above the last code point with a place in the order of Pinyin.
const hanMax = 0x30000

// tables unpacks the record at first use.
var tables = sync.OnceValue(func() *charsetTables {
	raw, err := io.ReadAll(flate.NewReader(strings.NewReader(charsetRecord)))
	if err != nil {
		panic("types: record/charsets.bin: " + err.Error()) // it is a part of the program
	}
	t, r := new(charsetTables), planes{raw}
	r.words(t.gb[:])
	for i, has := range r.take(gbTwoBytes) {
		t.gbk[i] = has != 0
	}
	var order [gbTwoBytes]uint16
	r.words(order[:])
	for i, number := range order {
		t.gbkWeight[number] = gbkWeightMin + uint16(i)
	}
	for i, point := range r.points(r.count()) {
		t.pinyin[point] = uint16(i) + 1
	}
	r.words(t.big5[:])
	r.words(t.big5Stroke[:])
	for i := range t.ascii {
		copy(t.ascii[i][:], r.take(128))
	}
	for i := range t.lower {
		n := r.count()
		t.lower[i], t.upper[i] = make(map[rune]rune, n), make(map[rune]rune, n)
		from, lower, upper := r.points(n), r.points(n), r.points(n)
		for k, point := range from {
			t.lower[i][point], t.upper[i][point] = lower[k], upper[k]
		}
	}
	r.words(t.thai[:])
	copy(t.thaiFold[:], r.take(256))
	r.words(t.german2[:])
	n := r.count()
	from, to := make([]uint16, n), make([]uint16, n)
	r.words(from)
	r.words(to)
	t.toLower = make(map[rune]uint16, n)
	for i, point := range from {
		t.toLower[rune(point)] = to[i]
	}
	for i := range t.latin2 {
		copy(t.latin2[i][:], r.take(czechUnits))
	}
	for i := range t.cp1250 {
		copy(t.cp1250[i][:], r.take(czechUnits))
	}
	t.invert()
	return t
})

// invert makes the tables by code point.
func (t *charsetTables) invert() {
	for i, point := range t.gb {
		t.gbCode[point] = uint16(i) + 1
	}
	t.thaiOf = map[rune]byte{}
	for i, point := range t.thai {
		t.thaiOf[rune(point)] = byte(i) // the last of those of U+FFFD, too
	}
	for i, point := range t.big5 {
		if point != 0 {
			t.big5Code[point] = uint16(i) + 1 // U+FFFD has several codes, and MySQL makes the last of it
		}
	}
	// The four-byte codes are those of the code points that have no shorter one, in order. But U+1E3F has got one since, and U+E7C7 its place.
	const since, place = 0x1E3F, 0xE7C7
	for r := rune(0x80); r <= 0xFFFF; r++ {
		if r >= surrogateMin && r <= surrogateMax || r == place || t.gbCode[r] != 0 && r != since {
			continue
		}
		point := uint16(r)
		if r == since {
			point = place
		}
		t.gbFourOf[point] = uint16(len(t.gbFour))
		t.gbFour = append(t.gbFour, point)
	}
}

// planes reads charsetRecord.
type planes struct{ rest []byte }

func (p *planes) take(n int) []byte {
	b := p.rest[:n]
	p.rest = p.rest[n:]
	return b
}

func (p *planes) count() int {
	b := p.take(2)
	return int(b[0]) | int(b[1])<<8
}

func (p *planes) words(to []uint16) {
	low, high := p.take(len(to)), p.take(len(to))
	for i := range to {
		to[i] = uint16(low[i]) | uint16(high[i])<<8
	}
}

func (p *planes) points(n int) []rune {
	a, b, c := p.take(n), p.take(n), p.take(n)
	points := make([]rune, n)
	for i := range points {
		points[i] = rune(a[i]) | rune(b[i])<<8 | rune(c[i])<<16
	}
	return points
}
