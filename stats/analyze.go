package stats

import (
	"math"
	"math/rand/v2"
	"sort"

	"github.com/pandodb/pando/catalog"
	"github.com/pandodb/pando/kvapi"
	"github.com/pandodb/pando/table"
	"github.com/pandodb/pando/txn"
	"github.com/pandodb/pando/types"
)

const (
	sampleRows     = 10_000
	bucketsMax     = 100
	pageRows       = 1024
	keyPrefixBytes = 64 // longer keys are compared by their first bytes only
)

// Analyze reads a table once at one snapshot and returns its statistics. The interrupt ends it early with kvapi.ErrInterrupted.
func (s *Store) Analyze(t *catalog.Table, intr *kvapi.Interrupt) (*Table, error) {
	snapshot := s.txns.OpenSnapshot()
	defer snapshot.Close()
	columns := make([]int, len(t.Columns))
	for i := range columns {
		columns[i] = i
	}
	sampler := &sampler{columns: len(columns), random: rand.New(rand.NewPCG(t.PhysID, uint64(snapshot.TS())))}
	sampler.reader.Init(t, columns)
	request := txn.ScanRequest{Span: table.RowSpan(t), LimitRows: pageRows, Sink: sampler, Interrupt: intr, TS: snapshot.TS()}
	for {
		resume, err := s.txns.Scan(&request)
		if err != nil {
			return nil, err
		}
		if resume == nil {
			return sampler.summary(t), nil
		}
		request.Span.Start = resume
	}
}

// sampler keeps an even sample of the rows that pass.
type sampler struct {
	reader  table.Reader
	columns int
	random  *rand.Rand
	seen    int
	rows    [][]types.Value
}

// Pair takes one row, by Vitter's algorithm R.
func (s *sampler) Pair(key, value []byte) (bool, error) {
	s.seen++
	at := len(s.rows)
	if at == sampleRows {
		if at = s.random.IntN(s.seen); at >= sampleRows {
			return true, nil
		}
	} else {
		s.rows = append(s.rows, nil)
	}
	if err := s.reader.Decode(key, value); err != nil {
		return false, err
	}
	row := make([]types.Value, s.columns)
	for i := range row {
		row[i] = s.reader.Value(i).Clone()
	}
	s.rows[at] = row
	return true, nil
}

func (s *sampler) summary(t *catalog.Table) *Table {
	out := &Table{Rows: float64(s.seen), Columns: map[uint32]*Column{}, Distinct: map[uint64][]float64{}}
	for i, c := range t.Columns {
		out.Columns[c.ID] = s.column(i, &c.Type)
	}
	for _, index := range t.Indexes {
		counts := make([]float64, len(index.Columns))
		for n := range counts {
			counts[n] = s.distinct(t, index, n+1)
		}
		out.Distinct[index.ID] = counts
	}
	return out
}

// column makes the histogram of one column.
func (s *sampler) column(i int, t *types.Type) *Column {
	c := &Column{}
	var list []string
	for _, row := range s.rows {
		if row[i].IsNull() {
			c.Nulls++
			continue
		}
		list = append(list, string(prefix(types.AppendKey(nil, row[i], t, false, 0))))
	}
	if len(s.rows) > 0 {
		c.Nulls /= float64(len(s.rows))
	}
	sort.Strings(list)
	buckets := min(bucketsMax, len(list))
	for b := 0; b < buckets; b++ {
		c.Bounds = append(c.Bounds, []byte(list[b*(len(list)-1)/max(buckets-1, 1)]))
	}
	return c
}

func prefix(key []byte) []byte { return key[:min(len(key), keyPrefixBytes)] }

// distinct estimates the number of different values of the first n columns of an index with the GEE estimator.
func (s *sampler) distinct(t *catalog.Table, index *catalog.Index, n int) float64 {
	times := map[string]int{}
	var key []byte
	for _, row := range s.rows {
		key = key[:0]
		for _, part := range index.Columns[:n] {
			key = types.AppendKey(key, row[part.Col], &t.Columns[part.Col].Type, false, part.PrefixLen)
		}
		times[string(key)]++
	}
	once := 0
	for _, count := range times {
		if count == 1 {
			once++
		}
	}
	if len(s.rows) == 0 {
		return 0
	}
	scale := math.Sqrt(float64(s.seen) / float64(len(s.rows)))
	return math.Min(float64(s.seen), scale*float64(once)+float64(len(times)-once))
}
