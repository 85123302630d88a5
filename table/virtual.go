package table

import (
	"slices"

	"github.com/pandodb/pando/catalog"
	"github.com/pandodb/pando/types"
)

// computing is the state of a Reader or Writer for computing virtual columns.
type computing struct {
	of  *info
	by  catalog.Computation
	row []types.Value // of Reader, by ordinal
}

// ready prepares c for a table and frees the values computed before.
func (c *computing) ready(in *info) {
	if c.of != in {
		c.of, c.by = in, in.computer.New()
	}
	c.by.Reset()
}

// findComputer sets the computer of a table that has virtual columns.
func (in *info) findComputer() {
	for _, c := range in.table.Columns {
		if c.Virtual() {
			in.computer = in.table.Computer()
			return
		}
	}
}

// needSources adds the sources of virtual columns to the needed columns.
func (in *info) needSources() {
	if in.computer == nil {
		return
	}
	in.needed = in.withSources(in.needed)
	slices.Sort(in.needed)
	for _, col := range in.needed {
		if in.isVirtual(col) {
			in.virtual = append(in.virtual, col)
		}
	}
}

func (in *info) isVirtual(col int) bool {
	return col < len(in.table.Columns) && in.table.Columns[col].Virtual()
}

// withSources returns cols followed by the further columns from which the virtual ones among them are computed.
func (in *info) withSources(cols []int) []int {
	out := slices.Clone(cols)
	for i := 0; i < len(out); i++ {
		if !in.isVirtual(out[i]) {
			continue
		}
		for _, source := range in.computer.Sources(out[i]) {
			if !slices.Contains(out, source) {
				out = append(out, source)
			}
		}
	}
	return out
}

// arrange sets computed and sources. A generated column refers to no later generated column, so that they can be computed in the order of the
// columns.
func (s *Shape) arrange() {
	for i := range s.fields {
		switch s.fields[i].source {
		case fromTwin:
		case fromExpr:
			s.computed = append(s.computed, i)
		default:
			s.sources = append(s.sources, i)
		}
	}
	slices.SortFunc(s.computed, func(a, b int) int { return s.fields[a].col - s.fields[b].col })
}

// compute fills the fields of virtual columns from the others.
func (r *Reader) compute() error {
	s, c := r.shape, &r.virtual
	c.ready(s.info)
	if n := len(s.info.table.Columns) + 1; len(c.row) < n {
		c.row = make([]types.Value, n)
	}
	for _, i := range s.sources {
		c.row[s.fields[i].col] = r.Value(i)
	}
	for _, i := range s.computed {
		col := s.fields[i].col
		v, err := c.by.Compute(col, c.row)
		if err != nil {
			return err
		}
		c.row[col] = v
		f := &r.fields[i]
		if f.null = v.IsNull(); f.null {
			f.b = nil
			continue
		}
		start := len(r.scratch)
		r.scratch = types.AppendStored(r.scratch, v, s.fields[i].typ)
		f.b = r.scratch[start:len(r.scratch):len(r.scratch)]
	}
	return nil
}

// computeVirtual sets the virtual columns of a row, by ordinal, that index entries hold. It replaces the caller's values, which may depend on the
// session (V1). first says that no value of an earlier call is needed any more.
func (w *Writer) computeVirtual(row []types.Value, first bool) error {
	if len(w.in.virtual) == 0 {
		return nil
	}
	if first || w.virtual.of != w.in {
		w.virtual.ready(w.in)
	}
	for _, col := range w.in.virtual {
		v, err := w.virtual.by.Compute(col, row)
		if err != nil {
			return err
		}
		row[col] = v
	}
	return nil
}
