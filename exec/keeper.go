package exec

import (
	"bytes"
	"slices"
	"strings"

	"github.com/pandodb/pando/catalog"
	"github.com/pandodb/pando/kvapi"
	"github.com/pandodb/pando/table"
	"github.com/pandodb/pando/types"
)

// cascadeDepthMax is how many foreign keys an action may follow one after the other, as in InnoDB.
const cascadeDepthMax = 15

// keeper enforces foreign keys during one statement: it looks for the parents of rows that are stored and for the children of rows that are
// deleted, and carries the actions out. Rows that actions change are not counted as affected, as in MySQL.
//
// A parent is locked in shared mode before a child is stored, and exclusively by whoever removes it or changes its key; so whoever holds a
// parent exclusively finds all of its children, and none is added (X13).
type keeper struct {
	rt      *Runtime
	levels  []*keeperLevel
	depth   int
	chain   []link
	writers map[*catalog.Table]*table.Writer
	shapes  map[*catalog.Table]*table.Shape
	vals    []types.Value
	mine    []types.Value // of refersToItself
	key     []byte
	own     []byte
}

// link is one of the changes that have led to the current one.
type link struct {
	table    *catalog.Table
	old, new []types.Value // new is nil for a deleted row
	cols     []int         // of the key whose referring rows are changed now
}

// keeperLevel is the memory of one step of a chain of actions.
type keeperLevel struct {
	finder   table.Finder
	caught   int // bytes that the finder has been granted
	reader   table.Reader
	old, new []types.Value
	from, to []types.Value // of the parent's key
}

// keeper returns the keeper of a statement that writes under a guard, nil if it has nothing to keep.
func (rt *Runtime) keeper(guarded bool) *keeper {
	if !guarded || rt.UncheckedForeign {
		return nil
	}
	return &keeper{rt: rt, writers: map[*catalog.Table]*table.Writer{}, shapes: map[*catalog.Table]*table.Shape{}}
}

func (k *keeper) level() *keeperLevel {
	for len(k.levels) <= k.depth {
		level := &keeperLevel{}
		level.finder.Room = func(bytes int) error { return k.rt.roomForCaught(&level.caught, bytes) }
		k.levels = append(k.levels, level)
	}
	return k.levels[k.depth]
}

// insert stores a row of g's table.
func (k *keeper) insert(g *Guard, w *table.Writer, row []types.Value, mode table.InsertMode) error {
	w.Before = func() error { return k.findParents(g, nil, row, nil) }
	defer func() { w.Before = nil }()
	return w.Insert(k.rt.Txn, row, mode)
}

// delete removes a row, and carries out the actions of the foreign keys that refer to it.
func (k *keeper) delete(g *Guard, w *table.Writer, old []types.Value) error {
	if err := w.Delete(k.rt.Txn, old); err != nil {
		return err
	}
	k.chain = append(k.chain, link{table: g.Table})
	defer func() { k.chain = k.chain[:len(k.chain)-1] }()
	for _, ref := range g.Referred {
		if ref.self() && ref.Key.OnDelete.Refuses() && k.refersToItself(ref, old) {
			return k.referencedError(ref) // a row that refers to itself cannot be deleted
		}
		if err := k.follow(ref, ref.Key.OnDelete, old, nil); err != nil {
			return err
		}
	}
	return nil
}

// update changes a row. by is the foreign key whose action it is, nil for the statement's own change.
func (k *keeper) update(g *Guard, w *table.Writer, old, new []types.Value, by *Reference) (changed bool, err error) {
	if k.same(old, new, nil) {
		return false, nil
	}
	k.chain = append(k.chain, link{table: g.Table, old: old, new: new})
	defer func() { k.chain = k.chain[:len(k.chain)-1] }()
	for _, ref := range g.Referred {
		if k.same(old, new, ref.ParentCols) {
			continue
		}
		if err := w.LockKeys(k.rt.Txn, old, ref.ParentCols); err != nil {
			return false, err
		}
		k.chain[len(k.chain)-1].cols = ref.ParentCols
		if err := k.follow(ref, ref.Key.OnUpdate, old, new); err != nil {
			return false, err
		}
	}
	w.Before = func() error { return k.findParents(g, old, new, by) }
	defer func() { w.Before = nil }()
	return w.Update(k.rt.Txn, old, new)
}

// same reports whether a row keeps its values in cols, nil for all columns.
func (k *keeper) same(old, new []types.Value, cols []int) bool {
	if cols == nil {
		for i := range min(len(old), len(new)) {
			if !identical(&old[i], &new[i]) {
				return false
			}
		}
		return true
	}
	for _, col := range cols {
		if !identical(&old[col], &new[col]) {
			return false
		}
	}
	return true
}

// pick appends the values of some columns.
func pick(dst, row []types.Value, cols []int) []types.Value {
	for _, col := range cols {
		dst = append(dst, row[col])
	}
	return dst
}

// findParents locks the parents of a row that is about to be stored; old is nil for a new one.
func (k *keeper) findParents(g *Guard, old, row []types.Value, by *Reference) error {
	moves := false
	if old != nil && g.Table.PK != nil {
		for _, part := range g.Table.PK.Columns {
			moves = moves || !identical(&old[part.Col], &row[part.Col])
		}
	}
	for _, ref := range g.Refers {
		if by != nil && by.Key == ref.Key || old != nil && !moves && k.same(old, row, ref.ChildCols) {
			continue
		}
		k.vals = pick(k.vals[:0], row, ref.ChildCols)
		if anyNull(k.vals) {
			continue
		}
		if ref.Parent == nil {
			return k.missingError(ref)
		}
		if ref.self() && k.refersToItself(ref, row) {
			continue
		}
		found, err := k.level().finder.LockOne(k.rt.Txn, ref.ToParent, k.vals)
		if err != nil {
			return err
		}
		if !found {
			return k.missingError(ref)
		}
	}
	return nil
}

func anyNull(vals []types.Value) bool {
	for i := range vals {
		if vals[i].IsNull() {
			return true
		}
	}
	return false
}

// refersToItself reports whether a row of a table that refers to itself is its own parent.
func (k *keeper) refersToItself(ref *Reference, row []types.Value) bool {
	var ok bool
	k.mine = pick(k.mine[:0], row, ref.ChildCols)
	if k.key, ok = ref.ToParent.AppendKey(k.key[:0], k.mine); !ok {
		return false
	}
	k.mine = pick(k.mine[:0], row, ref.ParentCols)
	if anyNull(k.mine) {
		return false
	}
	k.own = table.AppendIndexKey(k.own[:0], ref.Parent.Table, ref.ToParent.Index(), k.mine)
	return bytes.Equal(k.key, k.own)
}

// follow carries an action out on the children of a row, which the caller has locked, or refuses if there are any. new is nil if the row is deleted.
func (k *keeper) follow(ref *Reference, action catalog.RefAction, old, new []types.Value) error {
	level := k.level()
	level.from = pick(level.from[:0], old, ref.ParentCols)
	if anyNull(level.from) {
		return nil
	}
	if new != nil {
		level.to = pick(level.to[:0], new, ref.ParentCols)
	}
	mode := kvapi.LockExclusive
	if action.Refuses() {
		mode = kvapi.LockShared
	}
	return level.finder.Each(k.rt.Txn, ref.ToChildren, level.from, mode, func(key, value []byte) (bool, error) {
		if err := k.rt.poll(); err != nil {
			return false, err
		}
		if err := k.read(level, ref.Child.Table, key, value); err != nil {
			return false, err
		}
		if k.leaves(ref, level.old) {
			return true, nil
		}
		if action.Refuses() {
			return false, k.referencedError(ref)
		}
		return true, k.act(ref, action, new == nil, level)
	})
}

// leaves reports whether a child is one of the rows that have led here, and changes the very key through which it refers: a circle of foreign keys
// over equal keys has come round, and ends.
func (k *keeper) leaves(ref *Reference, child []types.Value) bool {
	for i := range k.chain {
		l := &k.chain[i]
		if l.new == nil || l.table != ref.Child.Table || !k.same(l.old, child, nil) || k.same(l.old, l.new, ref.ChildCols) {
			continue
		}
		if !slices.ContainsFunc(ref.ChildCols, func(col int) bool { return !slices.Contains(l.cols, col) }) {
			return true
		}
	}
	return false
}

// act carries an action out on one child, in level.old.
func (k *keeper) act(ref *Reference, action catalog.RefAction, gone bool, level *keeperLevel) error {
	child := ref.Child.Table
	if k.depth+1 >= cascadeDepthMax {
		return types.Errorf(types.ErFkDepthExceeded, cascadeDepthMax)
	}
	k.depth++
	defer func() { k.depth-- }()
	w := k.writer(child)
	if gone && action == catalog.Cascade {
		return k.delete(ref.Child, w, level.old)
	}
	for _, l := range k.chain {
		if l.new != nil && l.table == child {
			return k.referencedError(ref) // its rows are being changed already: InnoDB refuses cycles of updates
		}
	}
	level.new = append(level.new[:0], level.old...)
	for i, col := range ref.ChildCols {
		v := types.Null()
		if action == catalog.Cascade {
			v = level.to[i]
		}
		c := child.Columns[col]
		if v.IsNull() && c.NotNull {
			return k.referencedError(ref)
		}
		if !v.IsNull() {
			strict := types.Context{Strict: true}
			converted, err := types.Convert(&strict, v, c.Type, c.Name, 1)
			if err != nil || strict.WarningCount() > 0 {
				return k.referencedError(ref) // the child's column cannot hold it
			}
			v = converted
		}
		level.new[col] = v
	}
	_, err := k.update(ref.Child, w, level.old, level.new, ref)
	if dup, ok := isDuplicate(err); ok {
		return k.foreignDuplicate(ref, dup)
	}
	return err
}

// foreignDuplicate turns error 1062 about a child row into 1761, which names the table that the statement changes.
func (k *keeper) foreignDuplicate(ref *Reference, dup *types.Error) error {
	const head, middle = "Duplicate entry '", "' for key '"
	text := strings.TrimPrefix(dup.Message, head)
	at := strings.LastIndex(text, middle)
	if at < 0 {
		return dup
	}
	entry, key := text[:at], strings.TrimSuffix(text[at+len(middle):], "'")
	return types.Errorf(types.ErForeignDuplicateKey, k.chain[0].table.Name, entry, ref.Child.Table.Name, strings.TrimPrefix(key, ref.Child.Table.Name+"."))
}

// read decodes a full row of t into level.old.
func (k *keeper) read(level *keeperLevel, t *catalog.Table, key, value []byte) error {
	shape := k.shapes[t]
	cols := AllCols(t)
	if shape == nil {
		shape = table.NewShape(t, nil, cols)
		k.shapes[t] = shape
	}
	level.reader.Reset(shape)
	if err := level.reader.Decode(key, value); err != nil {
		return err
	}
	for len(level.old) < len(cols) {
		level.old = append(level.old, types.Value{})
	}
	level.old = level.old[:len(cols)]
	level.reader.Values(level.old)
	return nil
}

// writer returns the keeper's own writer of a table, which is not the statement's.
func (k *keeper) writer(t *catalog.Table) *table.Writer {
	w := k.writers[t]
	if w == nil {
		w = k.rt.newWriter(t)
		k.writers[t] = w
	}
	return w
}

// missingError is 1452, or 1216, which names no table, if the client may not see one of the table's parents.
func (k *keeper) missingError(ref *Reference) error {
	child := ref.Child.Table
	for i := range child.ForeignKeys {
		if parent := child.ForeignKeys[i].Parent; !k.sees(parent) {
			return types.Errorf(types.ErNoReferencedRow)
		}
	}
	return types.Errorf(types.ErNoReferencedRow2, table.ForeignKeyText(child, ref.Key))
}

// referencedError is 1451, or 1217, which names no table, if the client may not see one of the parent's children.
func (k *keeper) referencedError(ref *Reference) error {
	for _, child := range ref.Parent.Table.Referrers {
		if !k.sees(child) {
			return types.Errorf(types.ErRowIsReferenced)
		}
	}
	return types.Errorf(types.ErRowIsReferenced2, table.ForeignKeyText(ref.Child.Table, ref.Key))
}

func (k *keeper) sees(t catalog.TableName) bool {
	return k.rt.Sees == nil || k.rt.Sees(t.Schema, t.Name)
}

// undoable runs a change of one row. Under IGNORE, which may make a warning of its error, the writes of a failed change are undone.
func (k *keeper) undoable(change func() error) error {
	if k == nil || !k.rt.Ctx.Ignore {
		return change()
	}
	mark := k.rt.Txn.Savepoint()
	err := change()
	if err != nil {
		k.rt.Txn.UndoTo(mark)
	}
	return err
}
