package stats

import (
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/pandodb/pando/catalog"
	"github.com/pandodb/pando/kvapi"
	"github.com/pandodb/pando/table"
	"github.com/pandodb/pando/txn"
	"github.com/pandodb/pando/types"
)

const (
	// HistogramMemoryMin is the minimum of histogram_generation_max_mem_size in bytes.
	HistogramMemoryMin = 1_000_000
	// comparedChars is how many characters of a string a histogram compares, as in MySQL: values that agree in them count as one.
	comparedChars = 42
	// countedBytes is about how much memory a counted value takes besides its bytes.
	countedBytes = 160
)

// counted is one value of a column and how often it was seen.
type counted struct {
	key   string // types.AppendKey
	value types.Value
	times int64
}

// counter counts the values of some columns in a random sample of the rows, at first in all. Each time its values take more than memory bytes it
// drops about half of the rows that it has counted, and halves rate, the probability with which it takes further ones.
type counter struct {
	table   *catalog.Table
	columns []int
	reader  table.Reader
	random  *rand.Rand
	rate    float64
	memory  int64
	used    int64
	nulls   []int64
	values  []map[string]*counted
	key     []byte
}

// count reads a table once at one snapshot.
func (s *Store) count(t *catalog.Table, columns []int, memory int64, intr *kvapi.Interrupt) (*counter, error) {
	snapshot := s.txns.OpenSnapshot()
	defer snapshot.Close()
	c := newCounter(t, columns, memory, rand.New(rand.NewPCG(t.PhysID, uint64(snapshot.TS()))))
	c.reader.Init(t, columns)
	err := s.scan(txn.ScanRequest{Span: table.RowSpan(t), LimitRows: pageRows, Sink: c, Interrupt: intr, TS: snapshot.TS()})
	return c, err
}

func newCounter(t *catalog.Table, columns []int, memory int64, random *rand.Rand) *counter {
	c := &counter{table: t, columns: columns, random: random, rate: 1, memory: max(memory, HistogramMemoryMin), nulls: make([]int64, len(columns))}
	for range columns {
		c.values = append(c.values, map[string]*counted{})
	}
	return c
}

// Pair implements kvapi.Sink: it counts one row.
func (c *counter) Pair(key, value []byte) (bool, error) {
	if c.rate < 1 && c.random.Float64() >= c.rate {
		return true, nil
	}
	if err := c.reader.Decode(key, value); err != nil {
		return false, err
	}
	c.take(c.reader.Value)
	return true, nil
}

// take counts a row; value returns the value of the column with an index in c.columns.
func (c *counter) take(value func(place int) types.Value) {
	for i, at := range c.columns {
		v := value(i)
		if v.IsNull() {
			c.nulls[i]++
			continue
		}
		kind := &c.table.Columns[at].Type
		c.key = types.AppendKey(c.key[:0], v, kind, false, comparedChars)
		if found := c.values[i][string(c.key)]; found != nil {
			found.times++
			continue
		}
		if kind.IsStringType() {
			v.B = v.B[:kind.Coll.Charset().CharPrefix(v.B, comparedChars)]
		}
		one := &counted{key: string(c.key), value: v.Clone(), times: 1}
		c.values[i][one.key] = one
		c.used += countedBytes + int64(len(one.key)+len(v.B))
	}
	for c.used > c.memory {
		c.halve()
	}
}

// halve drops about half of the counted rows, at random for each value.
func (c *counter) halve() {
	c.rate /= 2
	c.used = 0
	for i, values := range c.values {
		c.nulls[i] = c.kept(c.nulls[i])
		for key, one := range values {
			if one.times = c.kept(one.times); one.times == 0 {
				delete(values, key)
				continue
			}
			c.used += countedBytes + int64(len(one.key)+len(one.value.B))
		}
	}
}

// kept is how many of n rows are left if each is dropped with probability 1/2; for large n simply half of them.
func (c *counter) kept(n int64) int64 {
	const exact = 1024
	if n > exact {
		return n / 2
	}
	left := int64(0)
	for range n {
		left += int64(c.random.Uint64() & 1)
	}
	return left
}

// sorted returns the values of the column at index i in order, and the numbers of rows with NULL and of all rows.
func (c *counter) sorted(i int) (values []*counted, nulls, rows int64) {
	for _, one := range c.values[i] {
		values = append(values, one)
		rows += one.times
	}
	slices.SortFunc(values, func(a, b *counted) int { return strings.Compare(a.key, b.key) })
	return values, c.nulls[i], rows + c.nulls[i]
}
