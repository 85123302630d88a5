package exec

import (
	"errors"

	"github.com/pandodb/pando/sqlapi"
	"github.com/pandodb/pando/txn"
	"github.com/pandodb/pando/types"
)

// statementRetriesMax bounds how often a scanning write starts over because a row
// that it locked had changed since its scan. Locks are kept from try to try, so one
// retry nearly always suffices; beyond the bound the statement stands as it is, which
// is what one that came a moment earlier would have done.
const statementRetriesMax = 8

// Run executes a plan and sends its rows to sink, which statements without result set
// do not use and may pass as nil.
//
// Without rt.Txn a query reads at the durable watermark, and a statement that writes or
// locks gets a transaction of its own: it is committed before Run returns, or rolled
// back with any error. With rt.Txn, Run begins a statement in it; an error undoes the
// statement's writes and keeps its locks. After an error that ends the whole
// transaction (deadlock, write conflict) the caller rolls it back.
//
// The error is a *types.Error or ErrUndetermined. Result.Status is left to the caller.
// Rows that depend on locked, unsynced versions are given to the sink only once those
// are durable, and Run returns, with a result or an error, only then.
func Run(rt *Runtime, p *Plan, sink sqlapi.Sink) (sqlapi.Result, error) {
	rt.LastGeneratedID = 0
	if rt.insertIDTaken {
		rt.insertID, rt.insertIDTaken = 0, false
	}
	rt.prepareParams(p)
	if rt.Txn == nil && p.NeedsTxn {
		return rt.runAutocommit(p, sink)
	}
	res, err := rt.runStatement(p, sink)
	if err == nil {
		// Also if no lock is left: that a row did not match may depend on an unsynced version, too.
		if err = rt.waitSeen(); err != nil {
			rt.Txn.RollbackStatement()
		}
	}
	return res, MapError(err, rt.Interrupt)
}

// prepareParams makes room for the parameters that subqueries and Apply fill.
func (rt *Runtime) prepareParams(p *Plan) {
	want := p.Params + p.Slots
	if p.Slots == 0 || len(rt.Ctx.Params) >= want {
		return
	}
	params := make([]types.Value, want)
	copy(params, rt.Ctx.Params)
	rt.Ctx.Params = params
}

// runAutocommit gives the statement a transaction of its own.
func (rt *Runtime) runAutocommit(p *Plan, sink sqlapi.Sink) (sqlapi.Result, error) {
	options := rt.TxnOptions
	options.Interrupt = rt.Interrupt
	tx := rt.Manager.Begin(options)
	rt.Txn, rt.own = tx, tx
	res, err := rt.runStatement(p, sink)
	rt.Txn = nil
	if err == nil {
		err = tx.Commit()
	}
	rt.own = nil
	tx.Release()
	return res, MapError(err, rt.Interrupt)
}

// runStatement executes the plan in rt.Txn, or as a read without one.
func (rt *Runtime) runStatement(p *Plan, sink sqlapi.Sink) (res sqlapi.Result, err error) {
	if rt.Txn != nil {
		rt.Txn.BeginStatement()
	}
	if len(p.Subplans)+len(p.CTEs) > 0 {
		rt.beginExecution()
	}
	rt.Work.start(p.Accesses)
	if p.Program != nil && rt.Analyze == nil {
		res, err = p.Program.run(rt, sink)
	} else if err = p.checkFixed(rt); err != nil {
		// nothing has been read
	} else if p.IsQuery {
		res, err = rt.runQuery(p, sink)
	} else {
		res, err = rt.runWriteRetrying(p)
	}
	rt.endExecution()
	if err != nil && !p.IsQuery {
		rt.scratch.long = true // a statement that failed may have kept values of a row without having counted them
	}
	rt.dropLongRow()
	if err == nil {
		err = rt.unnoticed(p)
	}
	if err != nil && rt.Txn != nil {
		rt.Txn.RollbackStatement()
		// A duplicate key, say, may be that of a commit which is not durable yet; the
		// client must not hear of it before it is.
		if wait := rt.Txn.WaitSeen(); wait != nil {
			err = wait
		}
	}
	return res, err
}

// unnoticed returns an error that is known only at the end of a statement: that of a function that could only warn, of a value that a batch had no room
// for, and of an interrupted SLEEP. In a SELECT without tables SLEEP tells of it by its value, as in MySQL; elsewhere the rows so far would pass as
// the whole answer.
func (rt *Runtime) unnoticed(p *Plan) error {
	if err := rt.Ctx.TakeFailure(); err != nil {
		return err
	}
	if err := rt.Mem.refusal(); err != nil {
		return err
	}
	if !rt.Ctx.SleepCut {
		return nil
	}
	rt.Ctx.SleepCut = false
	if project, ok := p.Root.(*Project); ok && p.IsQuery && len(p.Subplans) == 0 {
		if _, alone := project.Input.(*Dual); alone {
			return nil
		}
	}
	return rt.poll()
}

// waitSeen returns once what the transaction read under locks is durable: one compare
// if it is, nothing outside a transaction.
func (rt *Runtime) waitSeen() error {
	if rt.Txn == nil {
		return nil
	}
	return rt.Txn.WaitSeen()
}

// runWriteRetrying runs a write and starts it over while it meets versions newer than
// its scan: rows that the same commit made match might have been missed. DO has no
// transaction and nothing to miss.
func (rt *Runtime) runWriteRetrying(p *Plan) (sqlapi.Result, error) {
	for try := 0; ; try++ {
		res, err := rt.runWrite(p)
		if err != nil || rt.Txn == nil || !rt.Txn.StatementConflict() || try == statementRetriesMax || rt.File != nil {
			return res, err // a file is read once
		}
		if rt.Txn.Level() != txn.ReadCommitted && rt.TxnOptions.SnapshotConflict {
			return res, err
		}
		rt.Txn.RollbackStatement()
		if err := rt.Txn.WaitSeen(); err != nil {
			return res, err
		}
		rt.shared.reset()
		rt.Ctx.ResetWarnings()
		rt.Txn.BeginStatement()
	}
}

// runWrite runs the node that changes rows, measured if its plan is to be explained.
func (rt *Runtime) runWrite(p *Plan) (sqlapi.Result, error) {
	if rt.Analyze == nil {
		return rt.runRoot(p)
	}
	c := rt.Analyze.at(p.Root)
	defer rt.measure(c)()
	res, err := rt.runRoot(p)
	c.Loops++
	c.Rows += res.AffectedRows
	return res, err
}

func (rt *Runtime) runRoot(p *Plan) (sqlapi.Result, error) {
	switch n := p.Root.(type) {
	case *Insert:
		return rt.runInsert(n)
	case *Update:
		return rt.runUpdate(n)
	case *Delete:
		return rt.runDelete(n)
	case *MultiUpdate:
		return rt.runMultiUpdate(n)
	case *MultiDelete:
		return rt.runMultiDelete(n)
	case *IntoVars:
		return rt.runInto(n)
	case *IntoFile:
		return rt.runIntoFile(n)
	}
	// DO expr and its like: a query whose rows nobody wants.
	return sqlapi.Result{}, rt.drain(p.Root, func(*types.Batch) error { return nil })
}

// runQuery sends the rows of a query.
func (rt *Runtime) runQuery(p *Plan, sink sqlapi.Sink) (sqlapi.Result, error) {
	enc, err := sink.Columns(p.Columns)
	if err != nil {
		return sqlapi.Result{}, err
	}
	flusher, _ := sink.(sqlapi.Flusher)
	width := len(p.Columns)
	sent, counted := uint64(0), rt.FoundRowsCount
	rt.FoundRowsCount, rt.skippedRows = 0, 0
	err = rt.drain(p.Root, func(b *types.Batch) error {
		if err := rt.waitSeen(); err != nil {
			return err
		}
		for i, n := 0, b.Rows(); i < n; i++ {
			row := b.Row(i)
			enc.StartRow(width)
			for c := 0; c < width; c++ {
				b.Cols[c].Encode(enc, row)
			}
			enc.EndRow()
			if err := sink.RowDone(); err != nil {
				return err
			}
		}
		sent += uint64(b.Rows())
		if flusher != nil {
			return flusher.Flush()
		}
		return nil
	})
	if err != nil {
		rt.FoundRowsCount = counted
		return sqlapi.Result{}, err
	}
	if rt.FoundRowsCount == 0 {
		rt.FoundRowsCount = sent + rt.skippedRows
	}
	return sqlapi.Result{AffectedRows: sent, HasRows: true, Warnings: rt.warnings()}, nil
}

// drain runs a node to its end.
func (rt *Runtime) drain(n Node, each func(*types.Batch) error) (err error) {
	b := builder{rt: rt}
	op, err := b.node(n)
	if err != nil {
		return err
	}
	defer op.close()
	if err := op.open(); err != nil {
		return err
	}
	for {
		batch, err := op.next()
		if err == nil {
			err = rt.Mem.refusal()
		}
		if batch == nil || err != nil {
			return err
		}
		if err := each(batch); err != nil {
			return err
		}
	}
}

// warnings returns the count for the answer's tail.
func (rt *Runtime) warnings() uint16 {
	return uint16(min(rt.Ctx.WarningCount(), 1<<16-1))
}

// isDuplicateOrOrphan reports whether err says that a row can't be stored because of other rows: INSERT IGNORE leaves it out.
func isDuplicateOrOrphan(err error) bool {
	var e *types.Error
	return errors.As(err, &e) && (e.Number == types.ErDupEntry || e.Number == types.ErNoReferencedRow || e.Number == types.ErNoReferencedRow2)
}

// isDuplicate reports whether err is MySQL's duplicate key error.
func isDuplicate(err error) (*types.Error, bool) {
	var e *types.Error
	if errors.As(err, &e) && e.Number == types.ErDupEntry {
		return e, true
	}
	return nil, false
}
