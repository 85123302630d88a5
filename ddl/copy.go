package ddl

import (
	"bytes"
	"errors"
	"strings"

	"github.com/pandodb/pando/catalog"
	"github.com/pandodb/pando/kvapi"
	"github.com/pandodb/pando/table"
	"github.com/pandodb/pando/txn"
	"github.com/pandodb/pando/types"
)

const (
	// copyRowsMax and copyBytesMax bound the rows that a copy reads at once and
	// writes in one commit, which other tables' commits wait for.
	copyRowsMax  = 1024
	copyBytesMax = 1 << 20
)

// copyTable is an ALTER TABLE that writes every row anew, in a key space of its
// own. The table's gate is closed meanwhile: readers wait as writers do, since a
// version of the table that only reads would have to turn writers away.
//
// A job for the new key space is stored before anything is written there. One
// commit publishes the new descriptor, removes that job and stores the one that
// frees the old rows. So a crash finds the old table and a job for what was
// written of the new one, or the new table and a job for what is left of the old.
func (e *Executor) copyTable(c *Call, t *catalog.Table, actions []AlterSpec, why *copyReason, p catalog.Patience) error {
	if err := why.refuse(c); err != nil {
		return err
	}
	k, err := e.copierFor(c, t, actions, why)
	if err != nil {
		return err
	}
	next := k.next
	physID, err := e.renewData(next)
	if err != nil {
		return err
	}
	old, err := e.newJob(jobDestroy, t)
	if err != nil {
		return err
	}
	if k.job, err = e.newJob(jobCopy, t); err != nil {
		return err
	}
	k.job.rec.PhysID, k.job.rec.Text = physID, c.Text
	k.job.interrupt = nil // the session's interrupt is in p
	k.job.setPhase(phaseWaiting)
	e.track(k.job)
	kin, held, err := e.closeKin(c, t, next, p)
	if err != nil {
		e.untrack(k.job)
		return err
	}
	defer openAll(held)
	// This durable commit also lifts the watermark, which the scans read at, over
	// what the table's users have committed without waiting for the disk.
	if err := e.inTxn(k.job.put); err != nil {
		e.untrack(k.job)
		return err
	}
	k.job.setPhase("copying")
	if err = k.run(p.Interrupt); err == nil {
		err = e.checkCopied(c, k, kin, p.Interrupt)
	}
	if err == nil {
		err = e.catalog.Apply(&catalog.Change{PutTables: []*catalog.Table{next}, Related: kin.related, Fresh: true}, func(tx *txn.Txn) error {
			if err := k.job.remove(tx); err != nil {
				return err
			}
			return old.put(tx)
		})
	}
	switch {
	case err == nil:
	case errors.Is(err, kvapi.ErrUndetermined):
		return err // the next start finds out which of the two key spaces is to be freed
	default:
		e.ids.Forget(physID)
		e.enqueue(k.job)
		return err
	}
	e.untrack(k.job)
	e.ids.Forget(t.PhysID)
	e.enqueue(old)
	c.Copied = true
	if why.conversion {
		c.Rows = uint64(k.rowNo)
	}
	return nil
}

// renewData gives a table a key space of its own, whose number it returns, in which no row has an older layout.
func (e *Executor) renewData(next *catalog.Table) (uint64, error) {
	physID, err := e.catalog.NextID()
	if err == nil {
		next.SetData(physID)
		next.Layouts = nil
		next.Finish()
	}
	return physID, err
}

// copierFor plans the copy that the actions are, and returns what makes it.
func (e *Executor) copierFor(c *Call, t *catalog.Table, actions []AlterSpec, why *copyReason) (*copier, error) {
	next, first, err := planCopy(c, t, actions)
	if err != nil {
		return nil, err
	}
	k, err := newCopier(e, c, t, next, why)
	if err != nil {
		return nil, err
	}
	k.first = first
	for _, a := range actions {
		if by, ok := a.(SetOrder); ok && err == nil && next.PK == nil {
			err = k.orderBy(c, by.Columns)
		}
	}
	return k, err
}

// planCopy makes the descriptor that the actions lead to, with all its indexes.
// first is the value of AUTO_INCREMENT = n, 0 without one.
func planCopy(c *Call, t *catalog.Table, actions []AlterSpec) (next *catalog.Table, first uint64, err error) {
	next = t.Clone()
	for _, ix := range t.Indexes {
		if leaving(ix) {
			next.RemoveIndex(ix.ID) // its job finds it gone
		}
	}
	next.Finish()
	var add []*IndexSpec
	var rest []AlterSpec
	for _, a := range actions {
		switch a := a.(type) {
		case AddIndex:
			add = append(add, &a.Index)
		case SetAutoIncrement:
			first = a.Next
		case SetOrder: // copierFor's
		case DropIndex:
			ix := next.Index(a.Name)
			if ix == nil {
				return nil, 0, types.Errorf(types.ErCantDropFieldOrKey, a.Name)
			}
			next.RemoveIndex(ix.ID)
			next.Finish()
		default:
			rest = append(rest, a)
		}
	}
	for _, a := range rest {
		if a, ok := a.(DropColumn); ok {
			leaveIndexes(next, a.Name)
		}
	}
	if err := applyInstant(next, rest); err != nil {
		return nil, 0, err
	}
	for _, ix := range next.Indexes {
		if err := deriveAgain(c, next, ix); err != nil {
			return nil, 0, err
		}
	}
	if err := c.check(t, next); err != nil {
		return nil, 0, err
	}
	for _, ix := range next.Indexes {
		if err := remakeIndex(c, next, ix); err != nil {
			return nil, 0, err
		}
	}
	if err := addIndexes(c, t, next, add, rest); err != nil {
		return nil, 0, err
	}
	return next, first, checkAutoColumn(next)
}

// addIndexes adds the new indexes to next, the copy of t. actions are the other actions of the statement.
func addIndexes(c *Call, t, next *catalog.Table, add []*IndexSpec, actions []AlterSpec) error {
	for _, spec := range add {
		if err := checkRoom(next); err != nil {
			return err
		}
		if spec.Primary {
			if err := forbidNull(next, spec, actions); err != nil {
				return err
			}
		}
		ix, err := buildIndex(c, next, spec)
		if err != nil {
			return err
		}
		next.AddIndex(ix)
		next.Finish()
		if functional(spec) {
			if err := c.check(t, next); err != nil {
				return err
			}
		}
	}
	return nil
}

// leaveIndexes takes a column out of all indexes, and removes indexes of this column alone.
func leaveIndexes(t *catalog.Table, column string) {
	c := t.Column(column)
	if c == nil {
		return // refused later
	}
	for _, ix := range append([]*catalog.Index(nil), t.Indexes...) {
		var parts []catalog.IndexColumn
		for _, part := range ix.Columns {
			if part.Col != c.Ordinal {
				parts = append(parts, part)
			}
		}
		if ix.Columns = parts; len(parts) == 0 {
			t.RemoveIndex(ix.ID)
		}
	}
	t.Finish()
}

// remakeIndex validates an index again, whose columns may have other types now,
// and drops a prefix length that is that of the whole column. It records the key
// encoding of this process, which writes all its entries.
func remakeIndex(c *Call, t *catalog.Table, ix *catalog.Index) error {
	spec := specOf(t, ix)
	made, err := newIndex(c, t, &spec, map[string]bool{})
	if err != nil {
		return err
	}
	ix.Columns, ix.EncodingVersion, ix.WeightsChecksum, ix.ReadableFrom = made.Columns, made.EncodingVersion, made.WeightsChecksum, 0
	return nil
}

// specOf returns the spec of an existing index.
func specOf(t *catalog.Table, ix *catalog.Index) IndexSpec {
	spec := IndexSpec{Name: ix.Name, Unique: ix.Unique, Primary: ix.Primary, Invisible: !ix.Visible, Using: ix.Using, Comment: ix.Comment}
	for _, part := range ix.Columns {
		c := t.Columns[part.Col]
		column := IndexColumnSpec{Column: c.Name, Desc: part.Desc}
		if c.Hidden {
			column.hidden = c
		}
		if c.Type.IsStringType() && (c.Type.IsBlob() || part.PrefixLen < int(c.Type.Length)) {
			column.PrefixLen, column.HasPrefix = part.PrefixLen, part.PrefixLen > 0
		}
		spec.Columns = append(spec.Columns, column)
	}
	return spec
}

// forbidNull makes the columns of a new primary key NOT NULL, unless the statement
// itself says that one may be NULL.
func forbidNull(t *catalog.Table, key *IndexSpec, actions []AlterSpec) error {
	for _, part := range key.Columns {
		c := t.Column(part.Column)
		if c == nil {
			continue // refused later
		}
		for _, a := range actions {
			var spec ColumnSpec
			switch a := a.(type) {
			case ModifyColumn:
				spec = a.Column
			case AddColumn:
				spec = a.Column
			}
			if strings.EqualFold(spec.Name, c.Name) && (spec.Null || spec.Default != nil && spec.Default.Kind == catalog.DefaultNull) {
				return types.Errorf(types.ErPrimaryCantHaveNull)
			}
		}
		c.NotNull = true
		if c.Default != nil && c.Default.Kind == catalog.DefaultNull {
			c.Default = nil
		}
	}
	return nil
}

// copier copies the rows of a table. One goroutine uses it.
type copier struct {
	e       *Executor
	t, next *catalog.Table
	why     *copyReason
	job     *job
	ctx     *types.Context
	reader  table.Reader
	writer  *table.Writer
	// from holds, for each column of next, the ordinal of its values in t, or -1
	// for one that comes with the statement: its value is already in row.
	from    []int
	convert []bool
	row     []types.Value
	added   []types.Value
	// generate: the AUTO_INCREMENT column was none before, so that rows without a
	// value get ids. zero: so do those with 0.
	generate, zero bool
	judge          func(row []types.Value) error // nil if the new table has no enforced CHECK and no generated column
	mode           table.InsertMode
	rowNo          int
	durable        bool      // every page waits for the disk
	first          uint64    // of AUTO_INCREMENT = n, 0 without one
	order          *rowOrder // nil: that of the old table

	// The page that was read last: keys and values behind each other.
	arena []byte
	ends  []int
}

func newCopier(e *Executor, c *Call, t, next *catalog.Table, why *copyReason) (k *copier, err error) {
	k = &copier{e: e, t: t, next: next, why: why, ctx: c.Context, mode: table.InsertChecked}
	if k.ctx == nil {
		k.ctx = &types.Context{Strict: true}
	}
	n := len(next.Columns)
	k.from, k.convert = make([]int, n), make([]bool, n)
	k.row, k.added = make([]types.Value, n), make([]types.Value, n)
	for i, col := range next.Columns {
		if old := t.ColumnByID(col.ID); old != nil {
			k.from[i] = old.Ordinal
			k.convert[i] = !old.Type.Equal(&col.Type) || col.NotNull && !old.NotNull || why.conversion && k.judgesDates(&col.Type)
		} else {
			k.from[i] = -1
			if !col.OriginalNull {
				k.added[i] = types.DecodeStored(col.Original, &col.Type).Clone()
			}
		}
		if col.Generated != nil {
			k.from[i], k.convert[i], k.added[i] = -1, false, types.Null() // judge computes it
		}
		col.Original, col.OriginalNull = nil, true // every row has it now
	}
	if a := next.AutoInc; a != nil {
		old := t.ColumnByID(a.ID)
		k.generate = old == nil || !old.AutoInc
		k.zero = k.ctx.SQLMode&types.ModeNoAutoValueOnZero == 0
		if old == nil {
			k.added[a.Ordinal] = types.Null()
		}
	}
	for _, ix := range next.Indexes {
		if ix.Unique && !k.stillUnique(ix) {
			k.mode = table.InsertCheck
		}
	}
	if c.JudgeCopy != nil {
		k.judge, err = c.JudgeCopy(t, next)
	}
	return k, err
}

// judgesDates reports whether sql_mode may forbid values of t that an older mode let in: MySQL looks at all rows that it copies, also at those columns
// that the statement does not name.
func (k *copier) judgesDates(t *types.Type) bool {
	return k.ctx.SQLMode&(types.ModeNoZeroDate|types.ModeNoZeroInDate) != 0 && (t.ID == types.TypeDate || t.ID == types.TypeDatetime || t.ID == types.TypeTimestamp)
}

// stillUnique reports whether ix was unique over the same values in the old table,
// so that there can be no duplicates in it.
func (k *copier) stillUnique(ix *catalog.Index) bool {
	old := k.t.IndexByID(ix.ID)
	if old == nil || old.State != catalog.StatePublic || len(old.Columns) != len(ix.Columns) {
		return false
	}
	for i, part := range ix.Columns {
		if k.convert[part.Col] || k.from[part.Col] != old.Columns[i].Col || part.PrefixLen != old.Columns[i].PrefixLen {
			return false
		}
	}
	return true
}

// run copies all rows.
func (k *copier) run(intr *kvapi.Interrupt) error {
	if err := k.count(k.first); err != nil {
		return err
	}
	k.writer = table.NewWriter(k.next, k.e.ids)
	cols := make([]int, len(k.t.Columns))
	for i := range cols {
		cols[i] = i
	}
	k.reader.Init(k.t, cols)
	if k.order != nil {
		return k.runInOrder(intr)
	}
	for span := table.RowSpan(k.t); span.Start != nil; {
		if err := intr.Err(); err != nil {
			return err
		}
		k.arena, k.ends = k.arena[:0], k.ends[:0]
		resume, err := k.e.txns.Scan(&txn.ScanRequest{Span: span, LimitRows: copyRowsMax, LimitBytes: copyBytesMax, Sink: (*copyPage)(k), Interrupt: intr})
		if err != nil {
			return err
		}
		if err := k.write(intr); err != nil {
			return err
		}
		span.Start = bytes.Clone(resume)
	}
	return nil
}

// count takes over the AUTO_INCREMENT counter of the old table, unless the statement sets it; rows that are written raise it. If the copy fails,
// the counter is dropped with the new key space.
func (k *copier) count(first uint64) error {
	if k.next.AutoInc == nil {
		return nil
	}
	if first == 0 && k.t.AutoInc != nil && !k.generate {
		was, err := k.e.ids.Peek(k.t)
		if err != nil {
			return err
		}
		first = was
	}
	if first <= 1 {
		return nil
	}
	return k.e.ids.For(k.next).SetNext(first)
}

// copyPage is the sink that keeps a page.
type copyPage copier

func (k *copyPage) Pair(key, value []byte) (bool, error) {
	k.arena = append(k.arena, key...)
	k.ends = append(k.ends, len(k.arena))
	k.arena = append(k.arena, value...)
	k.ends = append(k.ends, len(k.arena))
	return true, nil
}

// write writes the rows of the page in one transaction. It need not reach the
// disk where a commit publishes the table: that does, and all before it.
func (k *copier) write(intr *kvapi.Interrupt) error {
	tx := k.e.txns.Begin(txn.Options{Level: txn.ReadCommitted, Relaxed: !k.durable, Interrupt: intr})
	defer tx.Release()
	start := 0
	for i := 0; i < len(k.ends); i += 2 {
		key, value := k.arena[start:k.ends[i]], k.arena[k.ends[i]:k.ends[i+1]]
		start = k.ends[i+1]
		if err := k.reader.Decode(key, value); err != nil {
			return err
		}
		k.rowNo++
		if err := k.values(); err != nil {
			return err
		}
		if k.judge != nil {
			if err := k.judge(k.row); err != nil {
				return err
			}
		}
		if err := k.writer.Insert(tx, k.row, k.mode); err != nil {
			return k.resequenced(err)
		}
	}
	if err := tx.Commit(); err != nil {
		return k.resequenced(err)
	}
	k.job.rows.Store(uint64(k.rowNo))
	return nil
}

// resequenced tells of a duplicate in a primary key that begins with the AUTO_INCREMENT column that it comes from numbering rows with zeros, as MySQL does.
func (k *copier) resequenced(err error) error {
	var dup *types.Error
	if !errors.As(err, &dup) || dup.Number != types.ErDupEntry || k.next.PK == nil || !k.next.Columns[k.next.PK.Columns[0].Col].AutoInc {
		return err
	}
	rest, found := strings.CutPrefix(dup.Message, "Duplicate entry")
	if !found || !strings.HasSuffix(rest, "."+catalog.PrimaryName+"'") {
		return err
	}
	return types.NewError(types.ErDupEntry, "ALTER TABLE causes auto_increment resequencing, resulting in duplicate entry"+rest)
}

// values fills row from the pair that reader holds.
func (k *copier) values() error {
	for i, col := range k.next.Columns {
		v := k.added[i]
		if from := k.from[i]; from >= 0 {
			v = k.reader.Value(from)
		}
		if k.generate && col.AutoInc && v.IsNull() {
			v = types.Int(0)
			if !k.zero { // under NO_AUTO_VALUE_ON_ZERO only NULL gets an id
				id, err := k.nextID()
				if err != nil {
					return err
				}
				v = id
			}
		}
		if k.convert[i] {
			var err error
			if v, err = k.converted(v, i, col); err != nil {
				return err
			}
		}
		if k.generate && k.zero && col.AutoInc && isZero(&v) {
			id, err := k.nextID()
			if err != nil {
				return err
			}
			v = id
		}
		k.row[i] = v
	}
	return nil
}

func (k *copier) nextID() (types.Value, error) {
	a := k.writer.AutoID()
	first, err := a.Next(1)
	return a.Value(first, 0), err
}

func isZero(v *types.Value) bool {
	if v.K == types.KindFloat {
		return v.Float64() == 0
	}
	return v.N == 0
}

// converted is v as col holds it. The errors are those of MySQL's copy.
func (k *copier) converted(v types.Value, i int, col *catalog.Column) (types.Value, error) {
	if v.IsNull() {
		switch {
		case !col.NotNull:
			return v, nil
		case !k.ctx.Strict:
			k.ctx.Warn(types.LevelWarning, types.ErWarnDataTruncated, col.Name, k.rowNo)
			return types.ZeroOf(&col.Type), nil
		case k.why.conversion:
			return v, types.Errorf(types.ErWarnDataTruncated, col.Name, k.rowNo)
		}
		return v, types.Errorf(types.ErInvalidUseOfNull)
	}
	from := &k.t.Columns[k.from[i]].Type
	if !k.why.conversion && from.Equal(&col.Type) {
		return v, nil // it was to be looked at for NULL only
	}
	switch {
	case from.ID == types.TypeJSON && col.Type.ID != types.TypeJSON:
		v = types.String(types.AppendText(nil, nil, &v), types.Utf8mb4Bin)
	case col.Type.ID == types.TypeJSON && v.K != types.KindJSON && v.K != types.KindString && v.K != types.KindBit: // its text is read
		v = types.String(types.AppendText(nil, k.ctx, &v), types.Utf8mb4Bin)
	case v.K == types.KindFloat && col.Type.IsStringType(): // the text that it showed, where INSERT … SELECT writes all digits
		v = types.String(types.AppendText(nil, k.ctx, &v), types.Utf8mb4Bin)
	case from.ID == types.TypeYear && v.N == 0 && col.Type.IsStringType(): // all of its digits
		v = types.String([]byte("0000"), types.Utf8mb4Bin)
	case from.ID == types.TypeBit && col.Type.IsText(): // digits, where INSERT … SELECT writes the bytes
		v = types.Uint(uint64(v.N))
	}
	if col.Type.ID == types.TypeBit && from.IsStringType() { // a number, where INSERT … SELECT stores the bytes
		ctx := k.ctx
		if from.IsBlob() {
			ctx = nil // MySQL does not tell what it cannot read in TEXT and BLOB
		}
		v = types.Int(types.ToInt(ctx, &v))
		if err := k.ctx.TakeFailure(); err != nil {
			return v, err
		}
	}
	out, err := types.Convert(k.ctx, v, col.Type, col.Name, k.rowNo)
	var e *types.Error
	if errors.As(err, &e) && e.Number == types.ErDataTooLong && from.IsStringType() && from.Coll == col.Type.Coll {
		err = types.Errorf(types.ErWarnDataTruncated, col.Name, k.rowNo)
	}
	return out, err
}
