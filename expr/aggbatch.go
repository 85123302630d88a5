package expr

import (
	"github.com/pandodb/pando/types"
)

// addBatch is AddBatch.
func (a *AggStates) addBatch(ctx *Ctx, b *types.Batch, groups []uint32) error {
	s := a.spec
	sel := live(b)
	if len(s.args) == 0 {
		if groups == nil {
			a.count[0] += int64(len(sel))
			return nil
		}
		for _, i := range sel {
			a.count[groups[i]]++
		}
		return nil
	}
	if s.distinct || len(s.args) != 1 || len(s.order) > 0 || s.args[0].loose || s.args[0].Bulky() || s.kind >= aggJSONArray {
		return a.addRows(ctx, b, groups)
	}
	v, scratch, err := ctx.operandOver(s.args[0], b, sel)
	if err != nil {
		return err
	}
	if !a.kernel(v, sel, groups) {
		err = a.addVector(ctx, v, sel, groups)
	}
	ctx.release(scratch)
	return err
}

// groupOf returns the group of row i, see AddBatch.
func groupOf(groups []uint32, i uint16) uint32 {
	if groups == nil {
		return 0
	}
	return groups[i]
}

// kernel adds the numbers of a vector without converting them to values. It returns false, and does nothing, if there is no kernel.
func (a *AggStates) kernel(v *types.Vector, sel []uint16, groups []uint32) bool {
	kind := v.Type.Kind()
	switch a.spec.kind {
	case aggCount:
		for _, i := range sel {
			if !v.IsNull(int(i)) {
				a.count[groupOf(groups, i)]++
			}
		}
		return true
	case aggSum, aggAvg:
		return a.sumKernel(v, kind, sel, groups)
	case aggMin, aggMax:
		return a.extremeKernel(v, kind, sel, groups)
	}
	return false
}

func (a *AggStates) sumKernel(v *types.Vector, kind types.Kind, sel []uint16, groups []uint32) bool {
	exact := kind == types.KindInt || kind == types.KindDecimal && len(v.Data) == 0 && int(v.Type.Scale) == a.sumScale()
	switch {
	case exact && a.spec.exact():
		for _, i := range sel {
			if v.IsNull(int(i)) {
				continue
			}
			g := groupOf(groups, i)
			a.count[g]++
			a.add128(g, v.N[i]>>63, uint64(v.N[i]))
		}
		return true
	}
	return false
}

// extremeKernel is MIN and MAX of signed integers, dates and times, which are ordered by N.
func (a *AggStates) extremeKernel(v *types.Vector, kind types.Kind, sel []uint16, groups []uint32) bool {
	switch kind {
	case types.KindInt, types.KindDate, types.KindDatetime, types.KindTimestamp, types.KindTime:
	default:
		return false
	}
	low := a.spec.kind == aggMin
	for _, i := range sel {
		if v.IsNull(int(i)) {
			continue
		}
		best := &a.best[groupOf(groups, i)]
		if best.K == types.KindNull {
			*best = v.Value(int(i))
		} else if n := v.N[i]; low && n < best.N || !low && n > best.N {
			best.N = n
		}
	}
	return true
}

// addVector adds the values of a vector one by one.
func (a *AggStates) addVector(ctx *Ctx, v *types.Vector, sel []uint16, groups []uint32) error {
	var args [1]types.Value
	for _, i := range sel {
		if args[0] = v.Value(int(i)); args[0].K == types.KindNull {
			continue
		}
		if err := a.add(ctx, groupOf(groups, i), args[:], nil); err != nil {
			return err
		}
	}
	return nil
}

// addRows adds the selected rows of b one by one, by addRow.
func (a *AggStates) addRows(ctx *Ctx, b *types.Batch, groups []uint32) error {
	if cap(ctx.row) < len(b.Cols) {
		ctx.row = make([]types.Value, len(b.Cols))
	}
	row := ctx.row[:len(b.Cols)]
	ctx.row = nil
	defer func() { ctx.row = row }()
	for _, i := range live(b) {
		b.ReadRow(int(i), row)
		if err := a.addRow(ctx, groupOf(groups, i), row); err != nil {
			return err
		}
	}
	return nil
}
