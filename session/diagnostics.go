package session

import "github.com/pandodb/pando/types"

// diagnostics is what SHOW WARNINGS shows: the conditions of the last statement that was not itself about diagnostics.
type diagnostics struct {
	list  []types.Warning
	total int // counted, listed or not
	bad   int // of level error
	notes bool
	// signalled are the items of the condition if the statement was a SIGNAL, signalling those of one that is about to end.
	signalled, signalling conditionItems
}

func (d *diagnostics) reset() { d.list, d.total, d.bad = d.list[:0], 0, 0 }

func (d *diagnostics) count() int  { return d.total }
func (d *diagnostics) errors() int { return d.bad }

// take copies what a statement left in its context, and the error that ended it.
func (d *diagnostics) take(c *types.Context, failure *types.Error) {
	d.reset()
	if d.signalled != nil || d.signalling != nil {
		d.signalled, d.signalling = d.signalling, nil
	}
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
		d.add(failure)
	}
}

// add appends an error.
func (d *diagnostics) add(e *types.Error) {
	d.list = append(d.list, types.Warning{Level: types.LevelError, Number: e.Number, State: e.State, Message: e.Message})
	d.total++
	d.bad++
}
