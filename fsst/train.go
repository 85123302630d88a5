package fsst

import "slices"

const (
	generations = 5
	// firstCode is the number of the first symbol among the codes that training
	// counts; those below are single bytes.
	firstCode = 256
	codes     = firstCode + MaxSymbols

	// SampleSize is how many bytes of strings Train looks at; those behind are
	// left aside. The paper takes 16 KiB; a larger sample finds symbols of rarer
	// pairs, which is where random digits gain.
	SampleSize = 32 << 10

	// singleGain weighs symbols of one byte: without them a byte takes two.
	singleGain = 8
	// minCount is how often a symbol must occur in the sample to be worth one.
	minCount = 3
	// longShare: a symbol of three bytes or more covers at least one in so many of
	// the sample's bytes. Those that cover less owe it to chance where the strings
	// are random digits, and are what Pack can't foresee: without them it takes
	// two thirds of the time there for a fiftieth more bytes. Text loses nothing,
	// as symbols of two bytes take their codes.
	longShare = 450
)

// counts is what one generation learns from the sample: how often each code is
// used, and each code behind another. A sample has less than 64 Ki of them.
type counts struct {
	one [codes]uint16
	two [codes][codes]uint16
}

// Train returns a table for strings like those of the sample. The result depends
// on the sample alone. It takes some milliseconds and 512 KiB while it runs.
func Train(sample [][]byte) *Table {
	t := newTable(nil)
	c := &counts{}
	size := 0
	for range generations {
		*c = counts{}
		size = 0
		for _, s := range sample {
			s = s[:min(len(s), SampleSize-size)]
			size += len(s)
			t.count(s, c)
		}
		t = newTable(t.best(c, size/longShare))
	}
	return t
}

// count packs s and counts the codes used. The first byte of a longer symbol is
// counted as well, so that symbols can grow by one byte (section 4.2).
func (t *Table) count(s []byte, c *counts) {
	last := -1
	for len(s) > 0 {
		w, n := load(s)
		code, size := t.find(w, n)
		next := firstCode + int(code)
		if code == escape {
			next = int(s[0])
		}
		c.one[next]++
		if last >= 0 {
			c.two[last][next]++
		}
		if size > 1 {
			c.one[s[0]]++
			if last >= 0 {
				c.two[last][s[0]]++
			}
		}
		last, s = next, s[size:]
	}
}

// symbolOf returns the bytes of a code of training.
func (t *Table) symbolOf(code int) symbol {
	if code < firstCode {
		return symbol{uint64(code), 1}
	}
	return symbol{t.sym[code-firstCode], t.size[code-firstCode]}
}

type candidate struct {
	symbol
	gain int
}

// best returns the symbols that save most, the best one first: those that were
// used and pairs of them. Those of three bytes and more have at least minLong.
func (t *Table) best(c *counts, minLong int) []symbol {
	gains := map[symbol]int{}
	used := make([]int, 0, codes)
	for code, n := range c.one {
		if n == 0 {
			continue
		}
		used = append(used, code)
		s := t.symbolOf(code)
		gain := int(n) * int(s.size)
		if s.size == 1 {
			gain *= singleGain
		}
		if n >= minCount {
			gains[s] += gain
		}
	}
	for _, a := range used {
		left := t.symbolOf(a)
		for _, b := range used {
			n := c.two[a][b]
			if n < minCount {
				continue
			}
			right := t.symbolOf(b)
			if size := left.size + right.size; size <= MaxSize {
				gains[symbol{left.bytes | right.bytes<<(8*left.size), size}] += int(n) * int(size)
			}
		}
	}
	list := make([]candidate, 0, len(gains))
	for s, gain := range gains {
		if s.size <= 2 || gain >= minLong {
			list = append(list, candidate{s, gain})
		}
	}
	slices.SortFunc(list, func(a, b candidate) int {
		switch {
		case a.gain != b.gain:
			return b.gain - a.gain
		case a.size != b.size:
			return int(b.size) - int(a.size)
		case a.bytes < b.bytes:
			return -1
		}
		return 1
	})
	out := make([]symbol, len(list))
	for i := range list {
		out[i] = list[i].symbol
	}
	return out
}
