package session

import "github.com/pandodb/pando/types"

// diagnostics is what SHOW WARNINGS shows: the conditions of the last statement that was not itself about diagnostics.
type diagnostics struct {
	list  []types.Warning
	total int // counted, listed or not
	bad   int // of level error
	notes bool
}

func (d *diagnostics) reset() { d.list, d.total, d.bad = d.list[:0], 0, 0 }

func (d *diagnostics) count() int  { return d.total }
func (d *diagnostics) errors() int { return d.bad }

// take copies what a statement left in its context, and the error that ended it.
func (d *diagnostics) take(c *types.Context, failure *types.Error) {
	d.reset()
	for _, w := range c.Warnings() {
		if w.Level == types.LevelNote && !d.notes {
			continue
		}
		d.list = append(d.list, w)
	}
	d.total = len(d.list)
	if extra := c.WarningCount() - len(c.Warnings()); extra > 0 {
		d.total += extra
	}
	d.bad = c.ErrorCount()
	if failure != nil {
		d.list = append(d.list, types.Warning{Level: types.LevelError, Number: failure.Number, State: failure.State, Message: failure.Message})
		d.total++
		d.bad++
	}
}
