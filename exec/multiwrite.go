package exec

import (
	"slices"

	"github.com/pandodb/pando/catalog"
	"github.com/pandodb/pando/sqlapi"
	"github.com/pandodb/pando/types"
)

// changedRows are the rows of one table that a statement over several tables has
// changed so far.
type changedRows struct {
	keys    keyTable // row keys, as the input has them
	rows    [][]byte // by key: the row as it is now, in the row codec; if it is kept
	by      []uint64 // by key: a bit per target that has claimed the row
	current []types.Value
	types   []types.Type
	bytes   int64
}

func newChangedRows(t *catalog.Table) *changedRows {
	c := &changedRows{types: columnTypes(t, AllCols(t))}
	c.current = make([]types.Value, len(c.types))
	c.keys.init()
	return c
}

// claim reports whether target i claims the row with the key for the first time, and may change it.
func (c *changedRows) claim(key []byte, i int) (id uint32, first bool) {
	id, fresh := c.keys.insert(key, c.keys.hash(key))
	if fresh {
		c.rows, c.by = append(c.rows, nil), append(c.by, 0)
	}
	first = c.by[id]>>uint(i)&1 == 0
	c.by[id] |= 1 << uint(i)
	return id, first
}

// keep remembers what a row has become.
func (c *changedRows) keep(id uint32, row []types.Value) {
	c.bytes -= int64(len(c.rows[id]))
	c.rows[id] = appendRow(nil, row)
	c.bytes += int64(len(c.rows[id]))
}

// now returns the row with the key as it is now, if it has changed.
func (c *changedRows) now(key []byte) ([]types.Value, bool) {
	id, ok := c.keys.find(key, c.keys.hash(key))
	if !ok {
		return nil, false
	}
	return c.byID(id)
}

func (c *changedRows) byID(id uint32) ([]types.Value, bool) {
	if c.rows[id] == nil {
		return nil, false
	}
	decodeRow(c.current, c.types, c.rows[id])
	return c.current, true
}

func (c *changedRows) size() int64 {
	return c.keys.bytes() + c.bytes + int64(cap(c.rows))*24 + int64(cap(c.by))*8
}

// multiTargetsMax is how many targets have a bit in changedRows.by, more than MySQL joins tables.
const multiTargetsMax = 64

// multiWriter is what MultiUpdate and MultiDelete have in common: the joined rows, all
// read before the first one changes anything, and what has been changed.
type multiWriter struct {
	rt      *Runtime
	rows    rowList
	row     []types.Value // the current joined row
	before  []types.Value // a target's part of it before the assignments
	targets []*changer
	changed []*changedRows // by target; shared by targets of one table
	mem     account
	acts    bool // foreign keys may change rows of other targets
}

func (rt *Runtime) newMultiWriter(input Node, tables []DeleteTarget) *multiWriter {
	if len(tables) > multiTargetsMax {
		panic("exec: too many targets")
	}
	w := &multiWriter{rt: rt, row: make([]types.Value, len(Types(input))), mem: rt.account()}
	w.rows.init(rt, Types(input))
	keeps := rt.keeper(slices.ContainsFunc(tables, func(t DeleteTarget) bool { return t.Guard != nil }))
	for i, t := range tables {
		c := newChanger(rt, t.Table, t.KeyCol)
		c.guarded(t.Guard, keeps)
		w.acts = w.acts || c.keeper != nil
		c.writer = rt.newWriter(t.Table) // the session's has one table at a time
		w.targets = append(w.targets, c)
		shared := newChangedRows(t.Table)
		for j := range i {
			if tables[j].Table == t.Table {
				shared = w.changed[j]
			}
		}
		w.changed = append(w.changed, shared)
	}
	return w
}

// pass calls f per joined row that has been collected, which are all before the first one changes anything.
func (w *multiWriter) pass(f func(rowNo int) error) error {
	if err := w.rows.rewind(); err != nil {
		return err
	}
	for rowNo := 1; ; {
		b, err := w.rows.next()
		if b == nil || err != nil {
			return err
		}
		for _, c := range w.changed {
			if err := c.keys.makeRoom(w.rt, b.Rows()); err != nil {
				return err
			}
		}
		for i, n := 0, b.Rows(); i < n; i++ {
			if err := w.rt.poll(); err != nil {
				return err
			}
			w.rt.Ctx.ResetArena()
			b.ReadRow(b.Row(i), w.row)
			if err := f(rowNo); err != nil {
				return err
			}
			rowNo++
		}
		if err := w.account(); err != nil {
			return err
		}
	}
}

func (w *multiWriter) account() error {
	var n int64
	for i, c := range w.changed {
		counted := false
		for _, earlier := range w.changed[:i] {
			counted = counted || earlier == c
		}
		if !counted {
			n += c.size()
		}
	}
	return w.mem.set(n)
}

func (w *multiWriter) close() {
	for _, c := range w.targets {
		c.fresh.drop()
	}
	w.rows.close()
	w.mem.close()
}

// read fills a target's old row from the current joined row.
func (w *multiWriter) read(c *changer, first int, key []byte) error {
	n := len(c.table.Columns)
	copy(c.old, w.row[first:first+n])
	if len(c.old) == n {
		return nil
	}
	return c.readRowID(key)
}

func (rt *Runtime) runMultiDelete(n *MultiDelete) (sqlapi.Result, error) {
	defer rt.strictly(n.Ignore).restore()
	w := rt.newMultiWriter(n.Input, n.Targets)
	defer w.close()
	if err := w.rt.drain(n.Input, w.rows.addBatch); err != nil {
		return sqlapi.Result{}, err
	}
	deleted := uint64(0)
	order := make([]int, len(n.Targets))
	for i := range order {
		order[i] = i
	}
	remove := func(targets []int) error {
		return w.pass(func(int) error {
			for _, i := range targets {
				did, err := w.remove(i, &n.Targets[i])
				if err != nil {
					return err
				}
				if did {
					deleted++
					rt.Work.Add(ReadRnd, 1)
					rt.Work.Add(DeletedRows, 1)
					rt.Work.access(n.access+i, 1)
				}
			}
			return nil
		})
	}
	var err error
	if !w.acts {
		err = remove(order)
	} else {
		// Children go before their parents, which are then referred to no more.
		for _, i := range childrenFirst(n.Targets) {
			if err = remove([]int{i}); err != nil {
				break
			}
		}
	}
	if err != nil {
		return sqlapi.Result{}, err
	}
	return sqlapi.Result{AffectedRows: deleted, Warnings: rt.warnings()}, nil
}

// remove deletes a target's row of the current joined row, unless it is deleted already.
func (w *multiWriter) remove(i int, t *DeleteTarget) (bool, error) {
	key := w.row[t.KeyCol]
	if key.IsNull() {
		return false, nil
	}
	// Any target of the table removes the row for all of them.
	if _, first := w.changed[i].claim(key.B, 0); !first {
		return false, nil
	}
	c := w.targets[i]
	if err := w.read(c, t.First, key.B); err != nil {
		return false, err
	}
	if w.acts {
		if found, err := c.again(key.B); !found || err != nil {
			return false, err
		}
	}
	if err := c.remove(); err != nil {
		return false, c.demote(err)
	}
	return true, nil
}

// childrenFirst orders the targets so that none refers to one before it, as far as foreign keys form no cycle.
func childrenFirst(targets []DeleteTarget) (order []int) {
	done := make([]bool, len(targets))
	var visit func(i int)
	visit = func(i int) {
		if done[i] {
			return
		}
		done[i] = true
		if g := targets[i].Guard; g != nil {
			for _, ref := range g.Referred {
				for j := range targets {
					if targets[j].Table == ref.Child.Table {
						visit(j)
					}
				}
			}
		}
		order = append(order, i)
	}
	for i := range targets {
		visit(i)
	}
	return order
}
