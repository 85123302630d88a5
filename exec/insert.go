package exec

import (
	"bytes"
	"fmt"
	"math"

	"github.com/pandodb/pando/catalog"
	"github.com/pandodb/pando/expr"
	"github.com/pandodb/pando/sqlapi"
	"github.com/pandodb/pando/table"
	"github.com/pandodb/pando/types"
)

// inserter runs one INSERT or REPLACE. Its memory is reused row after row: a bulk
// INSERT of thousands of rows allocates what its largest row takes.
type inserter struct {
	rowMaker
	node   *Insert
	writer *table.Writer
	keeper *keeper       // nil: there are no foreign keys to enforce
	row    []types.Value // of the table, by ordinal
	given  []bool        // by ordinal: the statement names the column
	// asked marks columns that the current row sets to DEFAULT where that is an expression; nil if no row did.
	asked []bool
	rowNo int
	// complained says that warnings about columns without defaults have been given.
	complained bool

	ids idBlock
	// What the OK packet says is MySQL's choice: the first id that was generated for a row and stored with it, or else the
	// AUTO_INCREMENT value of the last row, provided that any row was stored or changed.
	generated    uint64 // the first id generated and stored, 0 if none
	rowGenerated uint64 // the id generated for the current row, 0 if none
	last         uint64 // the AUTO_INCREMENT value of the current row
	written      bool   // a row was stored or changed

	// duplicates are the rows that collided, as MySQL counts them: of ON DUPLICATE KEY UPDATE those whose row was changed, with IGNORE those whose
	// row was not. left are the rows of Source that IGNORE left out because they fail a check or a parent is missing: they are neither records nor
	// duplicates. Of other rows, such ones do not count in rowNo.
	affected, duplicates uint64
	left                 int
	removed              uint64       // conflicting rows that REPLACE has deleted
	old                  table.Reader // of conflicting rows: those with an equal unique key
	oldRow               []types.Value
	both                 []types.Value // the conflicting row, then the one to insert, then source
	source               []types.Value // the current row of Source, if OnDup may refer to it
	next                 []types.Value
	stored               []byte
}

// idBlock hands out consecutive AUTO_INCREMENT values to the rows of one statement.
type idBlock struct {
	first, used, size uint64
	rows              uint64 // of the statement, 0 if unknown
	expected          uint64 // rows still to come, 0 if unknown
	blocks            int    // taken so far
	forced            bool   // insert_id gave the first
}

// idBlockDoublings bounds the doubling blocks of INSERT … SELECT.
const idBlockDoublings = 12

// valueRows is the number of rows of the VALUES list, 0 without one.
func (n *Insert) valueRows() int { return max(len(n.Rows), n.ParamRows, n.LiteralRows) }

func (rt *Runtime) runInsert(n *Insert) (sqlapi.Result, error) {
	ignore := n.Mode == InsertIgnore || n.Ignore
	defer rt.strictly(ignore).restore()
	in := &rt.scratch.inserter
	in.begin(rt, n)
	rows := n.valueRows()
	// MySQL refuses NULL in a single-row INSERT whatever the sql_mode; with more rows,
	// only a strict one does.
	in.lenient = ignore || (rows > 1 || n.Source != nil || n.Load != nil) && !rt.Ctx.Strict
	in.ids.rows, in.ids.expected = uint64(rows), uint64(rows)
	var err error
	switch {
	case n.Source != nil:
		err = in.fromSource()
	case n.Load != nil:
		err = in.fromFile()
	case n.ParamRows > 0:
		err = in.fromParams()
	case n.LiteralRows > 0:
		err = in.fromLiterals()
	default:
		err = in.fromRows()
	}
	if err != nil {
		return sqlapi.Result{}, err
	}
	rt.Work.access(n.access, in.affected)
	return in.result(rows), nil
}

func (in *inserter) result(rows int) sqlapi.Result {
	rt := in.rt
	res := sqlapi.Result{AffectedRows: in.affected, Warnings: rt.warnings()}
	if in.node.Load != nil {
		return in.loaded(res)
	}
	if in.generated != 0 {
		if !in.node.Unseen {
			rt.LastGeneratedID = in.generated
		}
		res.InsertID = in.generated
	} else if in.written && (in.node.Source == nil || in.node.Mode != InsertUpdate) {
		// MySQL reports 0 for INSERT … SELECT … ON DUPLICATE KEY UPDATE.
		res.InsertID = in.last
	}
	if rows > 1 || in.node.Source != nil {
		res.Info = fmt.Sprintf("Records: %d  Duplicates: %d  Warnings: %d", in.rowNo-in.left, in.duplicates, res.Warnings)
	}
	return res
}

// begin prepares the inserter for another statement and keeps its memory.
func (in *inserter) begin(rt *Runtime, n *Insert) {
	width := len(n.Table.Columns)
	row, given := in.row, in.given
	if cap(row) < width {
		row, given = make([]types.Value, width), make([]bool, width)
	}
	*in = inserter{rowMaker: in.rowMaker, node: n, writer: rt.writer(n.Table), row: row[:width], given: given[:width], stored: in.stored}
	in.init(rt, n.Table, n.Defaults)
	in.checks = n.Checks
	in.once = n.Load == nil
	in.keeper = rt.keeper(n.Guard != nil)
	clear(in.given)
	for _, c := range n.Cols {
		in.given[c] = true
	}
}

// fromParams stores rows whose values are the parameters in order.
func (in *inserter) fromParams() error {
	n, params := in.node, in.rt.Ctx.Params
	width := len(n.Cols)
	if len(params) < n.ParamRows*width {
		return types.Errorf(types.ErWrongValueCountOnRow, len(params)/max(width, 1)+1)
	}
	for r := range n.ParamRows {
		if err := in.nextRow(); err != nil {
			return err
		}
		if err := in.finishRow(in.values(params[r*width : (r+1)*width])); err != nil {
			return err
		}
	}
	return nil
}

// values sets the columns given.
func (in *inserter) values(values []types.Value) error {
	for i, v := range values {
		if err := in.set(in.node.Cols[i], v); err != nil {
			return err
		}
	}
	return nil
}

// fromLiterals stores the rows of a long list of literals.
func (in *inserter) fromLiterals() error {
	for r := range in.node.LiteralRows {
		if err := in.nextRow(); err != nil {
			return err
		}
		if err := in.finishRow(in.literals(r * len(in.node.Cols))); err != nil {
			return err
		}
	}
	return nil
}

// literals sets the columns given to the literals from number at on.
func (in *inserter) literals(at int) error {
	for i, col := range in.node.Cols {
		v, err := in.node.Literal(at + i)
		if err == nil {
			err = in.set(col, v)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// fromRows stores the rows of VALUES.
func (in *inserter) fromRows() error {
	for _, exprs := range in.node.Rows {
		if len(exprs) != len(in.node.Cols) {
			return types.Errorf(types.ErWrongValueCountOnRow, in.rowNo+1)
		}
		if err := in.nextRow(); err != nil {
			return err
		}
		if err := in.finishRow(in.firstError(in.evaluate(exprs))); err != nil {
			return err
		}
	}
	return nil
}

// finishRow stores the row, unless setting its columns has failed with err. IGNORE may make a warning of that, and the row is then skipped.
func (in *inserter) finishRow(err error) error {
	if err == nil {
		return in.store()
	}
	return in.skip(err)
}

// skip leaves the row out, which is not counted, if IGNORE makes a warning of err.
func (in *inserter) skip(err error) error {
	if !in.demoted(err) {
		return err
	}
	if in.node.Source != nil {
		in.left++
	} else {
		in.rowNo--
	}
	return nil
}

// evaluate computes the columns given. An expression may refer to columns given before it, by ordinal; other columns are to
// it as fillDefaults leaves them.
func (in *inserter) evaluate(exprs []expr.Expr) error {
	if in.node.Refers {
		if err := in.fillDefaults(); err != nil {
			return err
		}
	}
	clear(in.asked)
	for i, e := range exprs {
		col := in.node.Cols[i]
		if e == nil {
			if err := in.setDefault(in.table.Columns[col]); err != nil {
				return err
			}
			continue
		}
		v, err := e.EvalFull(in.rt.Ctx, in.row) // columns store all digits of an AVG
		if err != nil {
			return err
		}
		if err := in.set(col, v); err != nil {
			return err
		}
	}
	return nil
}

// setDefault is DEFAULT as a value. An expression waits until the columns that it may refer to are set.
func (in *inserter) setDefault(c *catalog.Column) (err error) {
	if in.computes(c) {
		if in.asked == nil {
			in.asked = make([]bool, len(in.table.Columns))
		}
		in.asked[c.Ordinal] = true
		return nil
	}
	in.row[c.Ordinal], err = in.defaultOf(c, in.row, in.rowNo)
	return err
}

// fillDefaults sets every column to its default, and one without to what MySQL calls its implicit default. A column whose default is an
// expression has that, too, for now: the expression is evaluated when the row has its values, and could fail for those that are about to change.
func (in *inserter) fillDefaults() (err error) {
	for i, c := range in.table.Columns {
		switch {
		case c.Default != nil && !in.computes(c):
			if in.row[i], err = in.defaultOf(c, in.row, in.rowNo); err != nil {
				return err
			}
		case c.NotNull:
			in.row[i] = types.ImplicitDefault(&c.Type)
		default:
			in.row[i] = types.Null()
		}
	}
	return nil
}

// fromSource stores the rows of a query.
func (in *inserter) fromSource() error {
	if in.node.Mode == InsertUpdate {
		in.source = make([]types.Value, len(Types(in.node.Source)))
	}
	return in.rt.drain(in.node.Source, func(b *types.Batch) error {
		for i, rows := 0, b.Rows(); i < rows; i++ {
			at := b.Row(i)
			if in.source != nil {
				b.ReadRow(at, in.source)
			}
			if err := in.nextRow(); err != nil {
				return err
			}
			var err error
			for c, col := range in.node.Cols {
				if err = in.set(col, b.Cols[c].Value(at)); err != nil {
					break
				}
			}
			if err := in.finishRow(err); err != nil {
				return err
			}
		}
		return nil
	})
}

// nextRow starts a row.
func (in *inserter) nextRow() error {
	in.rowNo++
	in.rt.Ctx.ResetArena()
	return in.rt.poll()
}

func (in *inserter) set(col int, v types.Value) (err error) {
	in.row[col], err = in.convert(v, in.table.Columns[col], in.rowNo)
	return err
}

// demoted reports whether the row is skipped because of IGNORE.
func (in *inserter) demoted(err error) bool { return in.demote(err) == nil }

// complete sets the columns that the statement does not give: first those with constant defaults, then those with expressions, which may refer to
// all columns before them and to later ones that have values.
func (in *inserter) complete() (err error) {
	for i, c := range in.table.Columns {
		if in.given[i] {
			continue
		}
		if in.computes(c) {
			in.row[i] = types.Null() // clears the value of the row before
			continue
		}
		if c.Default == nil && !c.AutoInc && c.Generated == nil {
			if in.row[i], err = undefaulted(c), in.leftOut(c); err != nil {
				return err
			}
			continue
		}
		if in.row[i], err = in.defaultOf(c, in.row, in.rowNo); err != nil {
			return err
		}
	}
	in.complained = true
	if in.defaults == nil {
		return nil
	}
	for i, c := range in.table.Columns {
		if c.Generated != nil {
			if err := in.early(i); err != nil {
				return err
			}
			continue
		}
		if !in.computes(c) || in.given[i] && (in.asked == nil || !in.asked[i]) {
			continue
		}
		if in.row[i], err = in.defaultOf(c, in.row, in.rowNo); err != nil {
			return err
		}
	}
	return nil
}

// leftOut warns of, or fails for, a column without a default that the statement does not give, once for all its rows. It names the view, if there is
// one.
func (in *inserter) leftOut(c *catalog.Column) error {
	switch view := in.node.View; {
	case in.complained:
		return nil
	case view != nil:
		return in.withoutDefault(c, types.ErNoDefaultForViewField, view.Schema, view.Name)
	}
	return in.withoutDefault(c, types.ErNoDefaultForField, c.Name)
}

// early computes a generated column to which the DEFAULT of a later column refers.
func (in *inserter) early(col int) error {
	for i := range in.node.Generated {
		if a := &in.node.Generated[i]; a.Col == col && a.Early {
			return in.generate(in.node.Generated[i:i+1], in.row, in.row, in.rowNo)
		}
	}
	return nil
}

// store completes the row and writes it as the mode says.
func (in *inserter) store() error {
	err := in.complete()
	if err == nil {
		err = in.generate(in.node.Generated, in.row, in.row, in.rowNo)
	}
	if err == nil {
		err = in.verify(in.row)
	}
	if err != nil {
		return in.skip(err)
	}
	if in.ids.expected > 0 {
		in.ids.expected--
	}
	if err := in.autoIncrement(); err != nil {
		return err
	}
	in.rt.Work.Add(WrittenRows, 1)
	switch in.node.Mode {
	case InsertReplace:
		return in.replace()
	case InsertUpdate:
		return in.upsert()
	}
	err = in.insert(table.InsertCheck)
	if err == nil {
		in.affected++
		in.inserted()
		return nil
	}
	return in.leaveOut(err)
}

// leaveOut ends a row that could not be stored because of other rows, if IGNORE makes that a warning.
func (in *inserter) leaveOut(err error) error {
	if !isDuplicateOrOrphan(err) {
		return err
	}
	if _, duplicate := isDuplicate(err); duplicate {
		if !in.demoted(err) {
			return err
		}
		in.duplicates++
	} else if err = in.skip(err); err != nil {
		return err
	}
	in.ids.giveBack(in.rowGenerated)
	return nil
}

// insert stores the current row.
func (in *inserter) insert(mode table.InsertMode) error {
	if in.keeper != nil {
		return in.keeper.insert(in.node.Guard, in.writer, in.row, mode)
	}
	return in.writer.Insert(in.rt.Txn, in.row, mode)
}

// inserted notes that the current row was stored.
func (in *inserter) inserted() {
	in.written = true
	if in.generated == 0 {
		in.generated = in.rowGenerated
	}
}

// idOf is an AUTO_INCREMENT value as the OK packet carries it: 64 bits, negative ones in two's complement.
func idOf(v *types.Value) uint64 {
	if v.K == types.KindFloat {
		return uint64(int64(v.Float64()))
	}
	return v.Uint64()
}

// autoIncrement fills the AUTO_INCREMENT column if the row gives no value.
func (in *inserter) autoIncrement() error {
	in.rowGenerated = 0
	c := in.table.AutoInc
	if c == nil {
		return nil
	}
	v := &in.row[c.Ordinal]
	if !table.NeedsID(v, in.rt.Ctx.SQLMode) {
		in.last = idOf(v)
		if v.N > 0 || v.K == types.KindUint {
			in.ids.pass(in.last)
		}
		return nil
	}
	if in.rt.insertID != 0 && !in.ids.forced {
		in.rt.insertIDTaken = true
		in.ids.force(in.rt.insertID)
	}
	next, err := in.ids.next(in.writer.AutoID())
	if err != nil {
		return err
	}
	*v = next
	in.last = idOf(v)
	if in.ids.forces() && in.last != in.ids.first+in.ids.used-1 {
		if in.ids.used > 1 {
			return types.Errorf(types.ErAutoincReadFailed)
		}
		err := types.Errorf(types.ErWarnDataOutOfRange, c.Name, in.rowNo)
		if in.rt.Ctx.Strict && !in.rt.Ctx.Ignore {
			return err
		}
		in.rt.Ctx.AddError(types.LevelWarning, err)
	}
	in.rowGenerated = in.last
	return nil
}

// next returns the next id: all rows that are known to come take their ids from one block, so that they are consecutive, as drivers
// that fetch generated keys expect. Sizes are InnoDB's: as many as the statement has rows, then 2, 4, 8 and so on, so that the gaps
// behind a statement that gives some ids itself are MySQL's.
func (b *idBlock) next(auto *table.AutoID) (types.Value, error) {
	if b.used == b.size {
		size := b.rows
		if b.blocks > 0 || size == 0 {
			size = max(b.expected+1, 1<<min(b.blocks, idBlockDoublings))
		}
		first, err := auto.Next(size)
		if err != nil {
			return types.Null(), err
		}
		b.first, b.used, b.size = first, 0, size
		b.blocks++
	}
	v := auto.Value(b.first, b.used)
	b.used++
	return v, nil
}

// force makes id the first of the next ids, which do not come from the counter, as in MySQL.
func (b *idBlock) force(id uint64) {
	b.first, b.used, b.size, b.forced = id, 0, math.MaxUint64-id, true
}

// forces reports whether the ids of the current block began with insert_id.
func (b *idBlock) forces() bool { return b.forced && b.blocks == 0 }

// pass drops the ids of the block up to one that the statement has given itself, so that those which follow are larger, as in MySQL.
func (b *idBlock) pass(explicit uint64) {
	if b.used < b.size && explicit >= b.first+b.used {
		if b.used = min(b.size, explicit-b.first+1); b.forces() {
			b.used = b.size // the counter goes on
		}
	}
}

// giveBack makes the id generated last, if there is one, the next one again: its row was not stored. As in MySQL this holds within
// a statement only.
func (b *idBlock) giveBack(generated uint64) {
	if generated != 0 {
		b.used--
	}
}

// replace deletes every conflicting row, then stores the row. On a conflict in the last unique key MySQL updates in place instead: a row that is
// equal to the conflicting one is then counted once, because nothing changes.
func (in *inserter) replace() error {
	tx := in.rt.Txn
	removed := uint64(0)
	for {
		c, found, err := in.writer.FindConflict(tx, in.row)
		if err != nil {
			return err
		}
		if !found {
			break
		}
		if in.rowGenerated != 0 && c.Index.Columns[0].Col == in.table.AutoInc.Ordinal {
			// The ids are used up. The row that has the last one must not be replaced: the answer is a duplicate key.
			return in.insert(table.InsertCheck)
		}
		in.rt.Work.key(len(in.rt.Work.rows), true)
		same, err := in.sameAs(&c)
		if err != nil {
			return err
		}
		if in.lastUnique(c.Index) && !in.table.Referred() { // MySQL updates then
			in.rt.Work.Add(UpdatedRows, 1)
		} else {
			in.rt.Work.Add(DeletedRows, 1)
			in.rt.Work.Add(WrittenRows, 1)
		}
		if same && removed == 0 && in.lastUnique(c.Index) && !in.table.Referred() {
			in.affected++
			in.inserted()
			return nil
		}
		if in.keeper != nil {
			err = in.keeper.delete(in.node.Guard, in.writer, in.oldRow)
		} else {
			err = in.writer.DeleteRow(tx, c.Key, c.Value)
		}
		if err != nil {
			return err
		}
		removed++
	}
	if err := in.insert(table.InsertChecked); err != nil {
		return err
	}
	in.affected += 1 + removed
	in.removed += removed
	in.inserted()
	if removed > 0 {
		in.duplicates++
	}
	return nil
}

// lastUnique reports whether no unique key follows index in the order in which keys are checked: the primary key, then the others.
func (in *inserter) lastUnique(index *catalog.Index) bool {
	behind := index.Primary
	for _, other := range in.table.Indexes {
		if behind && other.Unique && !other.Primary && other.State >= catalog.StateWriteOnly && !other.Building {
			return false
		}
		behind = behind || other == index
	}
	return true
}

// readOld decodes the conflicting row.
func (in *inserter) readOld(c *table.Conflict) error {
	if in.oldRow == nil {
		cols := AllCols(in.table)
		in.old.Init(in.table, cols)
		in.oldRow = make([]types.Value, len(cols))
	}
	if err := in.old.Decode(c.Key, c.Value); err != nil {
		return err
	}
	in.old.Values(in.oldRow)
	return nil
}

// sameAs reports whether the conflicting row equals the new one.
func (in *inserter) sameAs(c *table.Conflict) (bool, error) {
	if err := in.readOld(c); err != nil {
		return false, err
	}
	for i, col := range in.table.Columns {
		if !col.Virtual() && !in.sameValue(&in.row[i], &in.oldRow[i], col) {
			return false, nil
		}
	}
	return true, nil
}

// sameValue compares stored forms, so that a difference in case counts.
func (in *inserter) sameValue(a, b *types.Value, c *catalog.Column) bool {
	if a.IsNull() || b.IsNull() {
		return a.IsNull() && b.IsNull()
	}
	if a.K == b.K && (a.K == types.KindString || a.K == types.KindJSON) {
		return bytes.Equal(a.B, b.B) // a string is its own stored form, and may be long
	}
	in.stored = types.AppendStored(in.stored[:0], *a, &c.Type)
	n := len(in.stored)
	in.stored = types.AppendStored(in.stored, *b, &c.Type)
	return bytes.Equal(in.stored[:n], in.stored[n:])
}

// upsert is ON DUPLICATE KEY UPDATE: 1 row affected for an insert, 2 for a change, 0
// for none (1 with CLIENT_FOUND_ROWS).
func (in *inserter) upsert() error {
	tx := in.rt.Txn
	c, found, err := in.writer.FindConflict(tx, in.row)
	if err != nil {
		return err
	}
	if !found {
		if err := in.insert(table.InsertChecked); err != nil {
			return in.leaveOut(err)
		}
		in.affected++
		in.inserted()
		return nil
	}
	in.duplicates++
	in.ids.giveBack(in.rowGenerated)
	in.rt.Work.key(len(in.rt.Work.rows), true)
	in.rt.Work.Add(UpdatedRows, 1)
	if err := in.readOld(&c); err != nil {
		return err
	}
	if err := in.assignOld(); err != nil {
		if in.demoted(err) {
			return nil
		}
		return err
	}
	changed := false
	err = in.keeper.undoable(func() (err error) {
		if in.keeper != nil {
			changed, err = in.keeper.update(in.node.Guard, in.writer, in.oldRow, in.next, nil)
		} else {
			changed, err = in.writer.Update(tx, in.oldRow, in.next)
		}
		return err
	})
	if err != nil {
		if in.demoted(err) {
			return nil
		}
		return err
	}
	if changed == in.node.Ignore {
		in.duplicates--
	}
	switch {
	case changed:
		in.affected += 2
	case in.rt.FoundRows:
		in.affected++
	}
	// An unchanged row is not counted, but the id that is reported is still that of the last row.
	in.written = in.written || changed
	if a := in.table.AutoInc; a != nil {
		in.last = idOf(&in.next[a.Ordinal])
	}
	return nil
}

// assignOld computes in next the new values of the conflicting row.
func (in *inserter) assignOld() error {
	n := len(in.table.Columns)
	if in.both == nil {
		in.both = make([]types.Value, 2*n+len(in.source))
	}
	in.next = in.both[:n:n]
	copy(in.next, in.oldRow[:n])
	copy(in.both[n:], in.row)
	copy(in.both[2*n:], in.source)
	in.rt.Ctx.InsertValues = in.row
	defer func() { in.rt.Ctx.InsertValues = nil }()
	if err := in.assign(in.node.OnDup, in.both, in.both, in.oldRow, in.rowNo); err != nil {
		return err
	}
	return in.verify(in.next)
}
