package stats

import (
	"encoding/base64"
	"math"
	"sort"
	"strconv"
	"time"

	"github.com/pandodb/pando/catalog"
	"github.com/pandodb/pando/kvapi"
	"github.com/pandodb/pando/types"
)

const (
	// BucketsDefault and BucketsMax are how many buckets a histogram has, as in MySQL.
	BucketsDefault = 100
	BucketsMax     = 1024
	// searchSteps bounds the binary search of bucketHeight.
	searchSteps = 10
)

// Histogram is what ANALYZE TABLE … UPDATE HISTOGRAM has made for a column. It is immutable.
type Histogram struct {
	TableID uint64 `json:"table"`
	// ColumnID, Name and Type are those of the column when the histogram was made. If they differ now, the histogram is not used (see of).
	ColumnID uint32 `json:"column"`
	Name     string `json:"name"`
	Type     string `json:"type"`
	// Asked is the number of buckets that was asked for; Auto is AUTO UPDATE: ANALYZE TABLE makes the histogram anew.
	Asked int  `json:"asked"`
	Auto  bool `json:"auto"`
	// Document is the histogram as MySQL shows it, a JSON text.
	Document string   `json:"document"`
	Nulls    float64  `json:"nulls"`
	Buckets  []Bucket `json:"buckets"`
}

// Bucket is the range of values from Low to High, both included, which are order-preserving keys (types.AppendKey) of the column.
type Bucket struct {
	Low  []byte `json:"low"`
	High []byte `json:"high"`
	// Upto is the number of rows with a value up to High divided by that of all rows, those with NULL included.
	Upto float64 `json:"upto"`
	// Distinct estimates the number of distinct values in the bucket.
	Distinct float64 `json:"distinct"`
}

// Why a column has no histogram.
const (
	HistogramUnsupported = "The column '%s' has an unsupported data type."
	HistogramUnique      = "The column '%s' is covered by a single-part unique index."
	HistogramNoColumn    = "The column '%s' does not exist."
)

// HistogramRefused says why a column cannot have a histogram, with %s for its name; "" if it can.
func HistogramRefused(t *catalog.Table, column int) string {
	if documentType(&t.Columns[column].Type) == "" {
		return HistogramUnsupported
	}
	for _, index := range t.Indexes {
		if index.Unique && len(index.Columns) == 1 && index.Columns[0].Col == column {
			return HistogramUnique
		}
	}
	return ""
}

// of is the ordinal of the histogram's column in t; ok is false if the column has changed since.
func (h *Histogram) of(t *catalog.Table) (column int, ok bool) {
	for i, c := range t.Columns {
		if c.ID == h.ColumnID {
			return i, c.Name == h.Name && typeText(&c.Type) == h.Type && HistogramRefused(t, i) == ""
		}
	}
	return 0, false
}

// typeText is equal for two types only if their values have the same order and text.
func typeText(t *types.Type) string { return t.String() + " " + strconv.Itoa(int(t.Coll)) }

// documentType is the name of a column's type in a histogram's document; "" if it can have no histogram.
func documentType(t *types.Type) string {
	switch {
	case t.ID == types.TypeEnum:
		return "enum"
	case t.ID == types.TypeSet:
		return "set"
	case t.IsStringType():
		return "string"
	case t.IsInteger() && t.Unsigned:
		return "uint"
	case t.IsInteger(), t.ID == types.TypeYear, t.ID == types.TypeBit:
		return "int"
	case t.ID == types.TypeFloat, t.ID == types.TypeDouble:
		return "double"
	case t.ID == types.TypeDecimal:
		return "decimal"
	case t.ID == types.TypeDate:
		return "date"
	case t.ID == types.TypeTime:
		return "time"
	case t.ID == types.TypeDatetime, t.ID == types.TypeTimestamp:
		return "datetime"
	}
	return ""
}

// BuildHistograms reads a table and makes histograms of columns, which may have some already. Counting the values takes about memory bytes at most.
func (s *Store) BuildHistograms(t *catalog.Table, columns []int, asked int, auto bool, memory int64, now time.Time, intr *kvapi.Interrupt) ([]*Histogram, error) {
	c, err := s.count(t, columns, memory, intr)
	if err != nil {
		return nil, err
	}
	var out []*Histogram
	for i := range columns {
		out = append(out, c.histogram(i, asked, auto, now))
	}
	return out, nil
}

// histogram makes that of one column.
func (c *counter) histogram(i, asked int, auto bool, now time.Time) *Histogram {
	column := c.table.Columns[c.columns[i]]
	values, nulls, rows := c.sorted(i)
	h := &Histogram{TableID: c.table.ID, ColumnID: column.ID, Name: column.Name, Type: typeText(&column.Type), Asked: asked, Auto: auto}
	total := float64(max(rows, 1))
	h.Nulls = float64(nulls) / total
	ends := bucketEnds(values, asked)
	doc := []byte(`{"buckets": [`)
	first, upto := 0, int64(0)
	for n, end := range ends {
		once := 0
		for _, one := range values[first:end] {
			upto += one.times
			if one.times == 1 {
				once++
			}
		}
		b := Bucket{Low: []byte(values[first].key), High: []byte(values[end-1].key), Upto: float64(upto) / total}
		b.Distinct = float64(end-first-once) + math.Round(float64(once)/math.Sqrt(c.rate))
		h.Buckets = append(h.Buckets, b)
		if n > 0 {
			doc = append(doc, ", "...)
		}
		doc = appendDocumentValue(append(doc, '['), &column.Type, values[first].value)
		if len(values) > asked {
			doc = appendDocumentValue(append(doc, ", "...), &column.Type, values[end-1].value)
		}
		doc = appendDouble(append(doc, ", "...), b.Upto)
		if len(values) > asked {
			doc = strconv.AppendInt(append(doc, ", "...), int64(b.Distinct), 10)
		}
		doc = append(doc, ']')
		first = end
	}
	kind := "singleton"
	if len(values) > asked {
		kind = "equi-height"
	}
	doc = append(doc, `], "data-type": "`+documentType(&column.Type)+`", "auto-update": `...)
	doc = strconv.AppendBool(doc, auto)
	doc = appendDouble(append(doc, `, "null-values": `...), h.Nulls)
	doc = strconv.AppendInt(append(doc, `, "collation-id": `...), documentCollation(&column.Type), 10)
	doc = append(doc, `, "last-updated": "`+now.UTC().Format("2006-01-02 15:04:05.000000")+`", "sampling-rate": `...)
	doc = appendDouble(doc, c.rate)
	doc = append(doc, `, "histogram-type": "`+kind+`", "number-of-buckets-specified": `...)
	doc = append(strconv.AppendInt(doc, int64(asked), 10), '}')
	h.Document = string(doc)
	return h
}

// documentCollation is the collation id in MySQL's document: for a number or a time that of its text.
func documentCollation(t *types.Type) int64 {
	const latin1Swedish, binary = 8, 63
	switch {
	case t.ID == types.TypeBit || t.IsBinaryString():
		return binary
	case t.IsStringType() || t.ID == types.TypeEnum || t.ID == types.TypeSet:
		return int64(t.Coll)
	}
	return latin1Swedish
}

// appendDouble appends a JSON number with a decimal point or an exponent, so that it is no integer.
func appendDouble(dst []byte, f float64) []byte {
	if f == math.Trunc(f) {
		return strconv.AppendFloat(dst, f, 'f', 1, 64)
	}
	return types.AppendFloat(dst, f)
}

// appendDocumentValue appends a value as MySQL's document has it: a number, a time as text, a string in base 64.
func appendDocumentValue(dst []byte, t *types.Type, v types.Value) []byte {
	switch {
	case t.IsStringType():
		dst = append(dst, `"base64:type254:`...)
		dst = base64.StdEncoding.AppendEncode(dst, v.B)
		return append(dst, '"')
	case t.ID == types.TypeEnum || t.ID == types.TypeSet || t.ID == types.TypeBit:
		return strconv.AppendUint(dst, uint64(v.N), 10)
	case v.K == types.KindFloat:
		return appendDouble(dst, v.Float64())
	case t.IsTemporal():
		if t.ID != types.TypeDate {
			v.Scale = types.MaxFsp
		}
		dst = types.AppendText(append(dst, '"'), &types.Context{}, &v)
		return append(dst, '"')
	}
	return types.AppendText(dst, &types.Context{}, &v)
}

// bucketEnds divides values into at most that many buckets, and returns where each ends. If there are enough buckets, each value has its own.
// Otherwise the buckets have about the same height; a value that is more frequent than that has its own, and so have the last values as soon as
// the remaining buckets suffice for them.
func bucketEnds(values []*counted, buckets int) []int {
	height := int64(0)
	if len(values) > buckets {
		height = bucketHeight(values, buckets)
	}
	var ends []int
	sum := int64(0)
	for i, one := range values {
		sum += one.times
		left := len(values) - i - 1
		if left > buckets-len(ends)-1 && sum+values[i+1].times <= height {
			continue
		}
		ends = append(ends, i+1)
		sum = 0
	}
	return ends
}

// bucketHeight is about the least number of rows in a bucket with which the values fit into so many buckets. The search is MySQL's, so that
// histograms are the same.
func bucketHeight(values []*counted, buckets int) int64 {
	total := int64(0)
	for _, one := range values {
		total += one.times
	}
	if buckets == 1 {
		return total
	}
	low, high := int64(0), 2*total/int64(buckets-1)+1
	for step := 0; high > low+1 && step < searchSteps; step++ {
		middle := (low + high) / 2
		if fits(values, middle, buckets) {
			high = middle
		} else {
			low = middle
		}
	}
	return high
}

func fits(values []*counted, height int64, buckets int) bool {
	used, sum := 1, int64(0)
	for _, one := range values {
		if sum > 0 && sum+one.times > height {
			used++
			sum = 0
		}
		sum += one.times
		if used > buckets {
			return false
		}
	}
	return true
}

// find is the first bucket that does not end before a key, and the fraction of the rows before that bucket.
func (h *Histogram) find(key string) (at int, before float64) {
	at = sort.Search(len(h.Buckets), func(i int) bool { return string(h.Buckets[i].High) >= key })
	if at > 0 {
		before = h.Buckets[at-1].Upto
	}
	return at, before
}

// below estimates the fraction of all rows, those with NULL included, that have a value less than that of a key, or with set, less or equal.
func (h *Histogram) below(key string, with bool) float64 {
	at, before := h.find(key)
	if at == len(h.Buckets) {
		return before
	}
	b := &h.Buckets[at]
	switch {
	case key < string(b.Low):
		return before
	case with && key == string(b.High):
		return b.Upto
	}
	one := (b.Upto - before) / math.Max(1, b.Distinct)
	part := before
	if key > string(b.Low) {
		part = math.Min(b.Upto-one, before+one+(b.Upto-before-2*one)*position(key, string(b.Low), string(b.High)))
	}
	if with {
		part += one
	}
	return math.Max(before, math.Min(b.Upto, part))
}

// equal estimates the fraction of the rows that have the value of a key.
func (h *Histogram) equal(key string) float64 {
	at, before := h.find(key)
	if at == len(h.Buckets) || key < string(h.Buckets[at].Low) {
		return 0
	}
	return (h.Buckets[at].Upto - before) / math.Max(1, h.Buckets[at].Distinct)
}

// distinct is the estimated number of distinct values of the column.
func (h *Histogram) distinct() float64 {
	sum := 0.0
	for i := range h.Buckets {
		sum += h.Buckets[i].Distinct
	}
	return sum
}

// position interpolates where a key lies between low and high, from 0 to 1, by the first eight bytes from where those differ.
func position(key, low, high string) float64 {
	same := 0
	for same < len(low) && same < len(high) && low[same] == high[same] {
		same++
	}
	number := func(s string) float64 {
		n := 0.0
		for i := same; i < same+8; i++ {
			n *= 256
			if i < len(s) {
				n += float64(s[i])
			}
		}
		return n
	}
	from, to := number(low), number(high)
	if to <= from {
		return 0.5
	}
	return math.Max(0, math.Min(1, (number(key)-from)/(to-from)))
}
