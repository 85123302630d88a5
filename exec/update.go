package exec

import (
	"bytes"
	"fmt"

	"github.com/pandodb/pando/catalog"
	"github.com/pandodb/pando/kvapi"
	"github.com/pandodb/pando/sqlapi"
	"github.com/pandodb/pando/table"
	"github.com/pandodb/pando/types"
)

// assign makes assignments from left to right in row, whose first columns are the
// table's. Expressions are evaluated over over, which row is a part of, so that each
// sees what the earlier ones did. Then ON UPDATE CURRENT_TIMESTAMP columns that were not
// assigned follow, if anything differs from old, and generated columns.
func (m *rowMaker) assign(set []Assignment, over, row, old []types.Value, rowNo int) error {
	for i := range set {
		a := &set[i]
		if a.Generated {
			break
		}
		v, err := m.assigned(a, over, row, rowNo)
		if err != nil {
			return err
		}
		row[a.Col] = v
	}
	if err := m.touch(set, row, old); err != nil {
		return err
	}
	return m.generate(set, over, row, rowNo)
}

// assigned is the value that an assignment gives its column in row, which is a part of over.
func (m *rowMaker) assigned(a *Assignment, over, row []types.Value, rowNo int) (v types.Value, err error) {
	if a.keeps(over, row) {
		return row[a.Col], nil
	}
	c := m.table.Columns[a.Col]
	if a.Expr == nil {
		v, err = m.defaultOf(c, row, rowNo)
	} else if v, err = a.Expr.EvalFull(m.rt.Ctx, over); err == nil { // a column stores all digits of an AVG
		v, err = m.convert(v, c, rowNo)
		if err == nil && v.IsNull() && c.AutoInc {
			err = m.badNull(c) // NULL asks for an id in INSERT only
		}
	}
	if err == nil && v.IsNull() && c.AutoInc {
		v = types.ImplicitDefault(&c.Type)
	}
	return v, m.firstError(err)
}

// keeps reports whether an assignment is of a column to itself. Its value is not checked again: sql_mode may refuse a zero date by now.
func (a *Assignment) keeps(over, row []types.Value) bool {
	if a.Expr == nil {
		return false
	}
	at, ok := a.Expr.ColumnIndex()
	return ok && &over[at] == &row[a.Col]
}

// touch sets the ON UPDATE CURRENT_TIMESTAMP columns of a row that changes.
func (m *rowMaker) touch(set []Assignment, row, old []types.Value) error {
	for i, c := range m.table.Columns {
		if !c.OnUpdateNow || assigns(set, i) {
			continue
		}
		changes := false
		for j := range set {
			col := set[j].Col
			changes = changes || !identical(&row[col], &old[col])
		}
		if !changes {
			return nil
		}
		v, err := m.nowOf(c)
		if err != nil {
			return err
		}
		row[i] = v
	}
	return nil
}

func assigns(set []Assignment, col int) bool {
	for i := range set {
		if set[i].Col == col {
			return true
		}
	}
	return false
}

// identical compares two values of one column, byte for byte.
func identical(a, b *types.Value) bool {
	return a.K == b.K && a.N == b.N && bytes.Equal(a.B, b.B)
}

// changer is what UPDATE and DELETE have in common: full rows from the input.
type changer struct {
	rowMaker
	writer *table.Writer
	old    []types.Value // a full row, with the hidden row id if there is one
	new    []types.Value
	keyCol int
	idType types.Type
	guard  *Guard
	keeper *keeper // nil: there are no foreign keys to enforce
	fresh  pairCopy
	reader table.Reader // of a row that is read again
	reads  bool         // reader is ready
}

func newChanger(rt *Runtime, t *catalog.Table, keyCol int) *changer {
	n := len(AllCols(t))
	c := &changer{writer: rt.writer(t), old: make([]types.Value, n), new: make([]types.Value, n), keyCol: keyCol}
	c.idType = columnType(t, len(t.Columns))
	c.fresh.mem = rt.account()
	c.init(rt, t, nil)
	return c
}

// read fills old with physical row i of b. The hidden row id comes out of the key.
func (c *changer) read(b *types.Batch, i int) error {
	n := len(c.table.Columns)
	for col := 0; col < n; col++ {
		c.old[col] = b.Cols[col].Value(i)
	}
	if len(c.old) == n {
		return nil
	}
	return c.readRowID(b.Cols[c.keyCol].Value(i).B)
}

// readRowID sets the hidden row id in old.
func (c *changer) readRowID(key []byte) error {
	prefix := table.RowPrefix(c.table)
	if !bytes.HasPrefix(key, prefix) {
		return fmt.Errorf("exec: %w: row key of another table", kvapi.ErrCorrupt)
	}
	id, _, err := types.DecodeKey(key[len(prefix):], &c.idType, false)
	if err != nil {
		return fmt.Errorf("exec: %w: hidden row id: %v", kvapi.ErrCorrupt, err)
	}
	c.old[len(c.table.Columns)] = id
	return nil
}

// guarded makes c enforce foreign keys, if g is not nil.
func (c *changer) guarded(g *Guard, k *keeper) {
	if g != nil {
		c.guard, c.keeper = g, k
	}
}

// again reads the row in old anew, which an action may have changed or removed since the statement read it; found is false if it is gone.
func (c *changer) again(key []byte) (found bool, err error) {
	if found, err = c.rt.Txn.LockKept(key, kvapi.LockExclusive, &c.fresh); !found || err != nil {
		return false, err
	}
	if !c.reads {
		c.reader.Init(c.table, AllCols(c.table))
		c.reads = true
	}
	if err := c.reader.Decode(c.fresh.key, c.fresh.value); err != nil {
		return false, err
	}
	c.reader.Values(c.old)
	return true, nil
}

// write stores what old has become.
func (c *changer) write(old, new []types.Value) (changed bool, err error) {
	if c.keeper == nil {
		return c.writer.Update(c.rt.Txn, old, new)
	}
	err = c.keeper.undoable(func() (err error) {
		changed, err = c.keeper.update(c.guard, c.writer, old, new, nil)
		return err
	})
	return changed, err
}

// remove deletes the row in old.
func (c *changer) remove() error {
	if c.keeper == nil {
		return c.writer.Delete(c.rt.Txn, c.old)
	}
	return c.keeper.undoable(func() error { return c.keeper.delete(c.guard, c.writer, c.old) })
}

func (rt *Runtime) runUpdate(n *Update) (sqlapi.Result, error) {
	defer rt.strictly(n.Ignore).restore()
	c := newChanger(rt, n.Table, n.KeyCol)
	defer c.fresh.drop()
	c.defaults, c.checks = n.Defaults, n.Checks
	c.guarded(n.Guard, rt.keeper(n.Guard != nil))
	c.lenient = n.Ignore || !rt.Ctx.Strict
	matched, changed, rowNo := 0, 0, 0
	err := rt.drain(n.Input, func(b *types.Batch) error {
		for i, rows := 0, b.Rows(); i < rows; i++ {
			if err := rt.poll(); err != nil {
				return err
			}
			matched++
			rowNo++
			did, err := c.update(n, b, b.Row(i), rowNo)
			if err != nil {
				if !counts(err) {
					rowNo--
				}
				if err = c.demote(err); err != nil {
					return err
				}
				continue
			}
			if did {
				changed++
			}
		}
		return nil
	})
	rt.Work.Add(UpdatedRows, uint64(matched))
	if err != nil {
		return sqlapi.Result{}, err
	}
	rt.Work.access(n.access, uint64(changed))
	return updateResult(rt, matched, changed), nil
}

// updateResult is the answer to an UPDATE.
func updateResult(rt *Runtime, matched, changed int) sqlapi.Result {
	res := sqlapi.Result{AffectedRows: uint64(changed), Warnings: rt.warnings()}
	if rt.FoundRows {
		res.AffectedRows = uint64(matched)
	}
	res.Info = updateInfo(matched, changed, int(res.Warnings))
	return res
}

// update changes one row.
func (c *changer) update(n *Update, b *types.Batch, i, rowNo int) (changed bool, err error) {
	if err := c.read(b, i); err != nil {
		return false, err
	}
	if c.keeper != nil && c.guard.Returns {
		if found, err := c.again(b.Cols[c.keyCol].Value(i).B); !found || err != nil {
			return false, err
		}
	}
	copy(c.new, c.old)
	c.rt.Ctx.ResetArena()
	if err := c.assign(n.Set, c.new, c.new, c.old, rowNo); err != nil {
		return false, err
	}
	if err := c.verify(c.new); err != nil {
		return false, err
	}
	return c.write(c.old, c.new)
}

func (rt *Runtime) runDelete(n *Delete) (sqlapi.Result, error) {
	defer rt.strictly(n.Ignore).restore()
	c := newChanger(rt, n.Table, n.KeyCol)
	defer c.fresh.drop()
	c.guarded(n.Guard, rt.keeper(n.Guard != nil))
	deleted := uint64(0)
	err := rt.drain(n.Input, func(b *types.Batch) error {
		for i, rows := 0, b.Rows(); i < rows; i++ {
			if err := rt.poll(); err != nil {
				return err
			}
			if err := c.read(b, b.Row(i)); err != nil {
				return err
			}
			if c.keeper != nil && c.guard.Returns {
				if found, err := c.again(b.Cols[c.keyCol].Value(b.Row(i)).B); err != nil {
					return err
				} else if !found {
					continue
				}
			}
			if err := c.remove(); err != nil {
				if err = c.demote(err); err != nil {
					return err
				}
				continue
			}
			deleted++
		}
		return nil
	})
	rt.Work.Add(DeletedRows, deleted)
	if err != nil {
		return sqlapi.Result{}, err
	}
	rt.Work.access(n.access, deleted)
	return sqlapi.Result{AffectedRows: deleted, Warnings: rt.warnings()}, nil
}

// The texts behind an UPDATE's OK packet that point statements end in, made once.
const (
	infoUnchanged = "Rows matched: 1  Changed: 0  Warnings: 0"
	infoChanged   = "Rows matched: 1  Changed: 1  Warnings: 0"
	infoUnmatched = "Rows matched: 0  Changed: 0  Warnings: 0"
)

func updateInfo(matched, changed, warnings int) string {
	switch {
	case warnings > 0 || matched > 1:
		return fmt.Sprintf("Rows matched: %d  Changed: %d  Warnings: %d", matched, changed, warnings)
	case matched == 0:
		return infoUnmatched
	case changed == 0:
		return infoUnchanged
	}
	return infoChanged
}
