package table

import (
	"fmt"
	"hash/maphash"
	"math"
	"slices"

	"github.com/pandodb/pando/catalog"
	"github.com/pandodb/pando/clock"
	"github.com/pandodb/pando/kvapi"
	"github.com/pandodb/pando/txn"
	"github.com/pandodb/pando/types"
)

const (
	// checkPage is how many pairs Check reads per page.
	checkPage = 4096
	// problemsMax bounds how many faults Check describes.
	problemsMax = 10
)

// Report is the result of Check.
type Report struct {
	Rows    uint64
	Indexes []IndexReport
	// Highest is the highest value of the AUTO_INCREMENT column, 0 without one.
	Highest uint64
	// Problems describes the first faults; empty means that the table is sound.
	Problems []string
}

// IndexReport counts the entries of one public index.
type IndexReport struct {
	Name    string
	Entries uint64
}

// OK reports whether no fault was found.
func (r *Report) OK() bool { return len(r.Problems) == 0 }

func (r *Report) problem(format string, args ...any) {
	if len(r.Problems) < problemsMax {
		r.Problems = append(r.Problems, fmt.Sprintf(format, args...))
	}
}

// digest is an order-independent fingerprint of a set of pairs: the rows'
// expected entries and the entries found must agree in it.
type digest struct {
	n, sum, xor uint64
}

func (d *digest) add(seed maphash.Seed, key, value []byte) {
	var h maphash.Hash
	h.SetSeed(seed)
	h.Write(key)
	h.WriteByte(0)
	h.Write(value)
	v := h.Sum64()
	d.n++
	d.sum += v
	d.xor ^= v * 0x9e3779b97f4a7c15
}

// Check compares every public index with the table at one snapshot: ADMIN CHECK
// TABLE. It reads everything once, in bounded memory, and looks for the
// differing entries only if the fingerprints differ. The error is that of a
// read; faults are in the report. The caller has entered t (catalog.Use.Enter).
// With indexes in only, these alone are compared.
func Check(m *txn.Manager, t *catalog.Table, intr *kvapi.Interrupt, only ...*catalog.Index) (*Report, error) {
	snap := m.OpenSnapshot()
	defer snap.Close()
	c := &checker{m: m, t: t, ts: snap.TS(), intr: intr, seed: maphash.MakeSeed(), report: &Report{}}
	for _, ix := range t.Indexes {
		if !ix.Primary && ix.Readable(c.ts) && (len(only) == 0 || slices.Contains(only, ix)) {
			c.indexes = append(c.indexes, checkedIndex{desc: ix, entries: NewEntryBuilder(t, ix)})
		}
	}
	c.all.Reset(infoOf(t).allShape)
	if err := c.scan(RowSpan(t), c.row); err != nil {
		return nil, err
	}
	for i := range c.indexes {
		if err := c.compare(&c.indexes[i]); err != nil {
			return nil, err
		}
	}
	return c.report, nil
}

type checkedIndex struct {
	desc    *catalog.Index
	entries *EntryBuilder
	want    digest
}

type checker struct {
	m       *txn.Manager
	t       *catalog.Table
	ts      clock.Timestamp
	intr    *kvapi.Interrupt
	seed    maphash.Seed
	report  *Report
	indexes []checkedIndex
	all     Reader
	buf     []byte
}

// pairFunc adapts a function to kvapi.Sink.
type pairFunc func(key, value []byte) (bool, error)

func (f pairFunc) Pair(key, value []byte) (bool, error) { return f(key, value) }

func (c *checker) scan(span kvapi.Span, f func(key, value []byte) error) error {
	sink := pairFunc(func(k, v []byte) (bool, error) { return true, f(k, v) })
	for {
		resume, err := c.m.Scan(&txn.ScanRequest{Span: span, LimitRows: checkPage, Sink: sink, TS: c.ts, Interrupt: c.intr})
		if err != nil || resume == nil {
			return err
		}
		span.Start = resume
	}
}

// row checks that a row decodes and adds its expected entries.
func (c *checker) row(key, value []byte) error {
	c.report.Rows++
	if err := c.all.Decode(key, value); err != nil {
		c.report.problem("row %x: %v", key, err)
		return nil
	}
	for i, col := range c.t.Columns {
		b, null := c.all.Field(i)
		if null && col.NotNull {
			c.report.problem("row %x: column %s is NULL", key, col.Name)
		}
		if !null && !types.ValidStored(b, &col.Type) {
			c.report.problem("row %x: column %s holds %x", key, col.Name, b)
			return nil
		}
	}
	if at := c.counted(); at >= 0 {
		if v := c.all.Value(at); !v.IsNull() {
			n, _ := autoNumber(&v)
			c.report.Highest = max(c.report.Highest, n)
		}
	}
	for i := range c.indexes {
		x := &c.indexes[i]
		out, n, _, err := x.entries.Append(c.buf[:0], key, value)
		if err != nil {
			c.report.problem("row %x, index %s: %v", key, x.desc.Name, err)
			continue
		}
		c.buf = out
		x.want.add(c.seed, out[:n], out[n:])
	}
	return nil
}

// counted is the ordinal of the AUTO_INCREMENT column, or -1.
func (c *checker) counted() int {
	if c.t.AutoInc == nil {
		return -1
	}
	return c.t.AutoInc.Ordinal
}

// CheckCounter adds a problem to the report of Check if the next id is not above those of all rows (A1).
func CheckCounter(m *txn.Manager, t *catalog.Table, r *Report) error {
	if r.Highest == 0 {
		return nil
	}
	durable, err := m.Counter(counterKey(catalog.KindAutoInc, autoKeyOf(t)))
	if err != nil {
		return err
	}
	if highest := min(r.Highest, maxAutoValue(&t.AutoInc.Type)); durable <= highest && durable < math.MaxUint64 {
		r.problem("the counter of column %s is %d, and there is a row with %d", t.AutoInc.Name, durable, r.Highest)
	}
	return nil
}

func (c *checker) compare(x *checkedIndex) error {
	var got digest
	err := c.scan(IndexSpan(c.t, x.desc), func(k, v []byte) error {
		got.add(c.seed, k, v)
		return nil
	})
	if err != nil {
		return err
	}
	c.report.Indexes = append(c.report.Indexes, IndexReport{x.desc.Name, got.n})
	if got == x.want {
		return nil
	}
	c.report.problem("index %s has %d entries, the table's rows make %d", x.desc.Name, got.n, x.want.n)
	return c.explain(x)
}

// explain looks up each row's entry and each entry's row.
func (c *checker) explain(x *checkedIndex) error {
	var stored catcher
	err := c.scan(RowSpan(c.t), func(key, value []byte) error {
		out, n, _, err := x.entries.Append(nil, key, value)
		if err != nil || len(c.report.Problems) >= problemsMax {
			return nil
		}
		found, err := c.m.GetAt(c.ts, out[:n], c.intr, nil, &stored)
		switch {
		case err != nil:
			return err
		case !found:
			c.report.problem("index %s lacks the entry %x of row %x", x.desc.Name, out[:n], key)
		case string(stored.value) != string(out[n:]):
			c.report.problem("index %s: entry %x is %x, should be %x", x.desc.Name, out[:n], stored.value, out[n:])
		}
		return nil
	})
	if err != nil {
		return err
	}
	return c.scan(IndexSpan(c.t, x.desc), func(key, value []byte) error {
		if len(c.report.Problems) >= problemsMax {
			return nil
		}
		rowKey, err := AppendRowKeyOfEntry(nil, c.t, x.desc, key, value)
		if err != nil {
			c.report.problem("index %s: entry %x: %v", x.desc.Name, key, err)
			return nil
		}
		found, err := c.m.GetAt(c.ts, rowKey, c.intr, nil, &stored)
		if err != nil {
			return err
		}
		if !found {
			c.report.problem("index %s: entry %x has no row %x", x.desc.Name, key, rowKey)
			return nil
		}
		out, n, _, err := x.entries.Append(nil, rowKey, stored.value)
		if err == nil && string(out[:n]) != string(key) {
			c.report.problem("index %s: entry %x is stale, row %x has %x", x.desc.Name, key, rowKey, out[:n])
		}
		return nil
	})
}
