package exec

import (
	"slices"

	"github.com/pandodb/pando/sqlapi"
	"github.com/pandodb/pando/types"
)

func (rt *Runtime) runMultiUpdate(n *MultiUpdate) (sqlapi.Result, error) {
	defer rt.strictly(n.Ignore).restore()
	tables := make([]DeleteTarget, len(n.Targets))
	for i, t := range n.Targets {
		tables[i] = DeleteTarget{t.Table, t.First, t.KeyCol, t.Guard}
	}
	u := &multiUpdater{multiWriter: rt.newMultiWriter(n.Input, tables), node: n}
	for i, c := range u.targets {
		t := &n.Targets[i]
		c.defaults, c.checks = t.Defaults, t.Checks
		c.lenient = n.Ignore || !rt.Ctx.Strict
		if u.delays(i) {
			u.buffers = append(u.buffers, u.newBuffer(t, u.acts || n.twice(i)))
		} else {
			u.buffers = append(u.buffers, nil)
		}
	}
	defer u.close()
	defer u.closeBuffers()
	err := rt.drain(n.Input, u.rows.addBatch)
	if err == nil {
		err = u.pass(u.update)
	}
	if err == nil {
		err = u.finish()
	}
	if err != nil {
		return sqlapi.Result{}, err
	}
	return updateResult(rt, u.matched, u.changedRows), nil
}

// twice reports whether the table of target i is a target more than once.
func (n *MultiUpdate) twice(i int) bool {
	for j := range n.Targets {
		if j != i && n.Targets[j].Table == n.Targets[i].Table {
			return true
		}
	}
	return false
}

// delays reports whether the rows of target i change when the join is done. MySQL changes the first table of a join at once, unless its rows could then
// be met again, and all others then, table by table in the order in which they are named, so only the first table's new values are seen.
func (u *multiUpdater) delays(i int) bool {
	t := &u.node.Targets[i]
	switch {
	case u.node.Single:
		return false
	case t.First != 0 || u.node.twice(i):
		return true
	case t.Table.PK != nil:
		for _, c := range t.Table.PK.Columns {
			if assigns(t.Set, c.Col) {
				return true
			}
		}
	}
	return false
}

// multiUpdater runs a MultiUpdate.
type multiUpdater struct {
	*multiWriter
	node        *MultiUpdate
	buffers     []*updateBuffer // by target, nil for one that changes at once
	left        int             // rows of a single table that messages do not count
	matched     int
	changedRows int
}

// updateBuffer are the rows of a target that change when the join is done.
type updateBuffer struct {
	rows  rowList // each the row's key, the values of cols, and then the old row unless it is read again
	row   []types.Value
	cols  []int // the columns that are assigned, as often as they are
	again bool  // actions or another target may have changed the row meanwhile
}

func (u *multiUpdater) newBuffer(t *UpdateTarget, again bool) *updateBuffer {
	b := &updateBuffer{again: again}
	ts := []types.Type{Types(u.node.Input)[t.KeyCol]}
	for i := range t.Set {
		if t.Set[i].Generated {
			break
		}
		b.cols = append(b.cols, t.Set[i].Col)
		ts = append(ts, t.Table.Columns[t.Set[i].Col].Type)
	}
	if !again {
		ts = append(ts, columnTypes(t.Table, AllCols(t.Table))...)
	}
	b.rows.init(u.rt, ts)
	b.row = make([]types.Value, len(ts))
	return b
}

func (u *multiUpdater) closeBuffers() {
	for _, b := range u.buffers {
		if b != nil {
			b.rows.close()
		}
	}
}

// update changes, or makes values for, the targets' rows of the current joined row.
func (u *multiUpdater) update(rowNo int) error {
	for i := range u.node.Targets {
		t := &u.node.Targets[i]
		if key := &u.row[t.KeyCol]; u.buffers[i] == nil && !key.IsNull() {
			if now, ok := u.changed[i].now(key.B); ok {
				copy(u.row[t.First:t.First+len(t.Table.Columns)], now)
			}
		}
	}
	for i := range u.node.Targets {
		if err := u.updateTarget(i, rowNo-u.left); err != nil {
			return err
		}
	}
	return nil
}

func (u *multiUpdater) updateTarget(i, rowNo int) error {
	t, c := &u.node.Targets[i], u.targets[i]
	key := u.row[t.KeyCol]
	if key.IsNull() {
		return nil
	}
	id, first := u.changed[i].claim(key.B, i)
	if !first {
		return nil
	}
	u.matched++
	u.rt.Work.Add(ReadRnd, 1)
	u.rt.Work.Add(UpdatedRows, 1)
	if err := u.read(c, t.First, key.B); err != nil {
		return err
	}
	row := u.row[t.First : t.First+len(t.Table.Columns)]
	if b := u.buffers[i]; b != nil {
		if err := u.buffer(b, t, c, key, row, rowNo); err != nil {
			return c.demote(err)
		}
		return nil
	}
	u.before = append(u.before[:0], row...)
	err := c.assign(t.Set, u.row, row, c.old, rowNo)
	if err == nil {
		err = u.write(i, id, row)
	}
	if err != nil {
		copy(row, u.before)
		if u.node.Single && !counts(err) {
			u.left++
		}
		return c.demote(err)
	}
	return nil
}

// buffer computes the values of a row that changes when the join is done. Unlike those of a row that changes at once they all come from the row as it
// was, whatever is assigned before.
func (u *multiUpdater) buffer(b *updateBuffer, t *UpdateTarget, c *changer, key types.Value, row []types.Value, rowNo int) error {
	b.row[0] = key
	for j := range b.cols {
		v, err := c.assigned(&t.Set[j], u.row, row, rowNo)
		if err != nil {
			return err
		}
		b.row[1+j] = v
	}
	if !b.again {
		copy(b.row[1+len(b.cols):], c.old)
	}
	return b.rows.addRow(b.row)
}

// write stores the row that target i has made of its old one.
func (u *multiUpdater) write(i int, id uint32, row []types.Value) error {
	c := u.targets[i]
	copy(c.new, row)
	copy(c.new[len(row):], c.old[len(row):])
	if u.acts {
		joined := slices.Clone(c.old)
		if found, err := c.again(u.row[u.node.Targets[i].KeyCol].B); !found || err != nil {
			return err
		}
		for col := range row {
			if identical(&c.new[col], &joined[col]) {
				c.new[col] = c.old[col]
			}
		}
		if err := c.generate(u.node.Targets[i].Generated, c.new, c.new, u.matched); err != nil {
			return err
		}
	}
	changed, err := u.store(i)
	if changed && !u.node.Single {
		u.changed[i].keep(id, c.new)
	}
	return err
}

// store writes the row that target i has changed.
func (u *multiUpdater) store(i int) (changed bool, err error) {
	c := u.targets[i]
	if err := c.verify(c.new); err != nil {
		return false, err
	}
	if changed, err = c.write(c.old, c.new); changed {
		u.changedRows++
		u.rt.Work.access(u.node.access+i, 1)
	}
	return changed, err
}

// finish changes the rows that wait for the end of the join, target by target.
func (u *multiUpdater) finish() error {
	rowNo := u.rows.count + 1
	for i, b := range u.buffers {
		if b == nil {
			continue
		}
		if err := b.rows.rewind(); err != nil {
			return err
		}
		for {
			batch, err := b.rows.next()
			if err != nil {
				return err
			}
			if batch == nil {
				break
			}
			for r, n := 0, batch.Rows(); r < n; r++ {
				if err := u.rt.poll(); err != nil {
					return err
				}
				u.rt.Ctx.ResetArena()
				batch.ReadRow(batch.Row(r), b.row)
				if err := u.finishRow(i, b, rowNo); err != nil {
					if err = u.targets[i].demote(err); err != nil {
						return err
					}
				}
			}
		}
		b.rows.close()
	}
	return nil
}

// finishRow changes one row of a buffer.
func (u *multiUpdater) finishRow(i int, b *updateBuffer, rowNo int) error {
	t, c := &u.node.Targets[i], u.targets[i]
	if !b.again {
		copy(c.old, b.row[1+len(b.cols):])
	} else if found, err := c.again(b.row[0].B); !found || err != nil {
		return err
	}
	copy(c.new, c.old)
	for j, col := range b.cols {
		c.new[col] = b.row[1+j]
	}
	if err := c.touch(t.Set, c.new, c.old); err != nil {
		return err
	}
	if err := c.generate(t.Generated, c.new, c.new, rowNo); err != nil {
		return err
	}
	_, err := u.store(i)
	return err
}
