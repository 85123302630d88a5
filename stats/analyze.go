package stats

import (
	"hash/fnv"
	"math"
	"math/rand/v2"
	"slices"
	"sort"

	"github.com/pandodb/pando/catalog"
	"github.com/pandodb/pando/kvapi"
	"github.com/pandodb/pando/table"
	"github.com/pandodb/pando/txn"
	"github.com/pandodb/pando/types"
)

const (
	sampleRows     = 10_000
	sampleCells    = 1 << 20 // tables of very many columns have smaller samples
	bucketsMax     = 100
	pageRows       = 1024
	keyPrefixBytes = 64 // longer keys are compared by their first bytes only
	commonMax      = 64
	commonTimes    = 2.0 // a common value is at least that many times as frequent as the average
	commonSeen     = 3   // a value that a sample has less often is not taken for a common one
)

// Analyze reads a table once at one snapshot and returns its statistics. The interrupt ends it early with kvapi.ErrInterrupted.
func (s *Store) Analyze(t *catalog.Table, intr *kvapi.Interrupt) (*Table, error) {
	snapshot := s.txns.OpenSnapshot()
	defer snapshot.Close()
	columns := make([]int, len(t.Columns))
	for i := range columns {
		columns[i] = i
	}
	sampler := newSampler(t, rand.New(rand.NewPCG(t.PhysID, uint64(snapshot.TS()))))
	sampler.reader.Init(t, columns)
	err := s.scan(txn.ScanRequest{Span: table.RowSpan(t), LimitRows: pageRows, Sink: sampler, Interrupt: intr, TS: snapshot.TS()})
	if err != nil {
		return nil, err
	}
	return sampler.summary(), nil
}

// sampler keeps a uniform random sample of the rows that it receives. It implements kvapi.Sink.
type sampler struct {
	table  *catalog.Table
	reader table.Reader
	random *rand.Rand
	seen   int
	limit  int // rows of the sample
	rows   []sampled
	key    []byte
}

// sampled is what the statistics need of a row, instead of its values, which may be large.
type sampled struct {
	keys     []string // by column, the first keyPrefixBytes; empty for NULL
	prefixes []uint64 // hashes of the keys of the leading columns of each index: of the first, the first two, and so on
}

func newSampler(t *catalog.Table, random *rand.Rand) *sampler {
	return &sampler{table: t, random: random, limit: min(sampleRows, sampleCells/max(len(t.Columns), 1))}
}

// Pair implements kvapi.Sink. It chooses the rows of the sample by Vitter's algorithm R.
func (s *sampler) Pair(key, value []byte) (bool, error) {
	s.seen++
	at := len(s.rows)
	if at == s.limit {
		if at = s.random.IntN(s.seen); at >= s.limit {
			return true, nil
		}
	} else {
		s.rows = append(s.rows, sampled{})
	}
	if err := s.reader.Decode(key, value); err != nil {
		return false, err
	}
	s.rows[at] = s.sample(s.reader.Value)
	return true, nil
}

// sample makes the sampled of a row whose columns value returns.
func (s *sampler) sample(value func(column int) types.Value) sampled {
	row := sampled{keys: make([]string, len(s.table.Columns))}
	for i, c := range s.table.Columns {
		v := value(i)
		if v.IsNull() {
			continue
		}
		if v.K == types.KindJSON {
			v.B = v.B[:min(len(v.B), keyPrefixBytes)]
		}
		// That many characters give at least as many bytes of a key, unless the collation ignores some.
		s.key = types.AppendKey(s.key[:0], v, &c.Type, false, keyPrefixBytes)
		row.keys[i] = string(s.key[:min(len(s.key), keyPrefixBytes)])
	}
	hash := fnv.New64a()
	for _, index := range s.table.Indexes {
		hash.Reset()
		for _, part := range index.Columns {
			if part.Added == nil { // an added column has the same value in all rows
				s.key = types.AppendKey(s.key[:0], value(part.Col), &s.table.Columns[part.Col].Type, false, part.PrefixLen)
				hash.Write(s.key)
			}
			row.prefixes = append(row.prefixes, hash.Sum64())
		}
	}
	return row
}

func (s *sampler) summary() *Table {
	out := &Table{Rows: float64(s.seen), Columns: map[uint32]*Column{}, Distinct: map[uint64][]float64{}}
	for i, c := range s.table.Columns {
		out.Columns[c.ID] = s.column(i)
	}
	at := 0
	for _, index := range s.table.Indexes {
		counts := make([]float64, len(index.Columns))
		for n := range counts {
			counts[n] = s.distinct(at)
			at++
		}
		out.Distinct[index.ID] = counts
	}
	return out
}

// column makes the statistics of the column with ordinal i.
func (s *sampler) column(i int) *Column {
	c := &Column{}
	var list []string
	for _, row := range s.rows {
		if row.keys[i] == "" {
			c.Nulls++
			continue
		}
		list = append(list, row.keys[i])
	}
	if len(s.rows) > 0 {
		c.Nulls /= float64(len(s.rows))
	}
	sort.Strings(list)
	buckets := min(bucketsMax, len(list))
	for b := 0; b < buckets; b++ {
		c.Bounds = append(c.Bounds, []byte(list[b*(len(list)-1)/max(buckets-1, 1)]))
	}
	s.frequent(c, list)
	return c
}

// frequent sets c.Distinct and c.Common from the sorted keys of the sample.
func (s *sampler) frequent(c *Column, list []string) {
	type run struct {
		key   string
		times int
	}
	var runs []run
	once := 0
	for i := 0; i < len(list); {
		end := i + 1
		for end < len(list) && list[end] == list[i] {
			end++
		}
		runs = append(runs, run{list[i], end - i})
		if end == i+1 {
			once++
		}
		i = end
	}
	c.Distinct = s.estimated(len(list), len(runs), once)
	slices.SortStableFunc(runs, func(a, b run) int { return b.times - a.times })
	for _, r := range runs[:min(len(runs), commonMax)] {
		// If there are few values, all are listed, so that nothing is left for values that are not in the sample.
		if len(runs) > commonMax && float64(r.times)*float64(len(runs)) < commonTimes*float64(len(list)) || r.times < commonSeen {
			break
		}
		c.Common = append(c.Common, Common{Key: []byte(r.key), Part: float64(r.times) / float64(len(s.rows))})
	}
}

// distinct estimates the number of distinct values in the table of which prefixes[at] are the hashes.
func (s *sampler) distinct(at int) float64 {
	times := map[uint64]int{}
	for _, row := range s.rows {
		times[row.prefixes[at]]++
	}
	once := 0
	for _, count := range times {
		if count == 1 {
			once++
		}
	}
	return s.estimated(len(s.rows), len(times), once)
}

// estimated is the estimate of Haas and Stokes (Duj1) of the number of distinct values in the table. part is the number of the sample's rows
// without NULL, values the number of distinct values in them, once that of the values that one row has. GEE, which bounds the error for the worst
// distribution, would estimate 100,000 values for a key of 10,000 of which each has hundreds of rows, and so a tenth of the rows of a lookup.
func (s *sampler) estimated(part, values, once int) float64 {
	if part == 0 {
		return 0
	}
	share := float64(len(s.rows)) / float64(s.seen)
	n := float64(part) * float64(values) / (float64(part-once) + float64(once)*share)
	return math.Max(float64(values), math.Min(n, float64(part)/share))
}
