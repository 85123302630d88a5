package stats

import (
	"math"
	"sort"

	"github.com/pandodb/pando/catalog"
	"github.com/pandodb/pando/types"
)

// RowCount is the number of rows at the last ANALYZE; ok is false if there was none.
func (s *Store) RowCount(t *catalog.Table) (rows float64, ok bool) {
	if stats := s.get(t); stats != nil {
		return stats.Rows, true
	}
	return 0, false
}

// Distinct estimates the number of different values of the leading columns of an index; 0 is unknown.
func (s *Store) Distinct(t *catalog.Table, index *catalog.Index, columns int) float64 {
	stats := s.get(t)
	if stats == nil {
		return 0
	}
	if counts := stats.Distinct[index.ID]; columns >= 1 && columns <= len(counts) {
		return counts[columns-1]
	}
	return 0
}

// bounder estimates which fractions of the rows lie below and at a key of a column. Histogram and Column implement it.
type bounder interface {
	// below is the fraction of all rows whose value is less than that of a key, or with set, less or equal.
	below(key string, with bool) float64
	// equal is the fraction of all rows that have the value of a key; negative is unknown.
	equal(key string) float64
	// values is the number of distinct values, 0 if unknown, and nulls the fraction of the rows with NULL.
	values() (n, nulls float64)
}

// about returns the statistics of a column, nil if there are none, and how many characters of a string they compare, 0 for all.
func (s *Store) about(t *catalog.Table, column int) (known bounder, chars int) {
	if h := s.Histogram(t, column); h != nil {
		return h, comparedChars
	}
	stats := s.get(t)
	if stats == nil {
		return nil, 0
	}
	if c := stats.Columns[t.Columns[column].ID]; c != nil {
		return c, 0
	}
	return nil, 0
}

// keyOf is the key of a value that is compared with a column; ok is false if it cannot be converted to the column's type.
func keyOf(t *catalog.Table, column, chars int, v types.Value) (key string, ok bool) {
	kind := &t.Columns[column].Type
	converted, err := types.Convert(&types.Context{}, v, *kind, "", 1)
	if err != nil || converted.IsNull() {
		return "", false
	}
	return string(types.AppendKey(nil, converted, kind, false, chars)), true
}

// EqualFraction estimates the fraction of the rows that have a value in a column; NULL stands for a value not known yet. Negative is unknown.
func (s *Store) EqualFraction(t *catalog.Table, column int, v types.Value) float64 {
	known, chars := s.about(t, column)
	if known == nil {
		return -1
	}
	if v.IsNull() {
		if n, nulls := known.values(); n > 0 {
			return (1 - nulls) / n
		}
		return -1
	}
	key, ok := keyOf(t, column, chars, v)
	if !ok {
		return -1
	}
	return known.equal(key)
}

// RangeFraction estimates the fraction of the rows between two values of a column; a NULL bound is no bound. Negative is unknown.
func (s *Store) RangeFraction(t *catalog.Table, column int, low, high types.Value, withLow, withHigh bool) float64 {
	known, chars := s.about(t, column)
	if known == nil {
		return -1
	}
	if c, own := known.(*Column); own && len(c.Bounds) < 2 {
		return -1
	}
	_, nulls := known.values()
	from, to := 0.0, 1-nulls
	if !low.IsNull() {
		key, ok := keyOf(t, column, chars, low)
		if !ok {
			return -1
		}
		from = known.below(key, !withLow)
	}
	if !high.IsNull() {
		key, ok := keyOf(t, column, chars, high)
		if !ok {
			return -1
		}
		to = known.below(key, withHigh)
	}
	return math.Max(0, to-from)
}

func (h *Histogram) values() (n, nulls float64) { return h.distinct(), h.Nulls }

func (c *Column) values() (n, nulls float64) { return c.Distinct, c.Nulls }

// below counts the bounds below the key, between which about equally many rows lie.
func (c *Column) below(key string, with bool) float64 {
	key = key[:min(len(key), keyPrefixBytes)]
	at := sort.Search(len(c.Bounds), func(i int) bool {
		if with {
			return string(c.Bounds[i]) > key
		}
		return string(c.Bounds[i]) >= key
	})
	return float64(at) / float64(len(c.Bounds)) * (1 - c.Nulls)
}

// equal is the fraction of a common value, or for others the average of all that are not common.
func (c *Column) equal(key string) float64 {
	key = key[:min(len(key), keyPrefixBytes)]
	rest := 1 - c.Nulls
	for i := range c.Common {
		if string(c.Common[i].Key) == key {
			return c.Common[i].Part
		}
		rest -= c.Common[i].Part
	}
	if c.Distinct == 0 {
		return -1
	}
	return math.Max(0, rest) / math.Max(1, c.Distinct-float64(len(c.Common)))
}
