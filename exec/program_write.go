package exec

import (
	"github.com/pandodb/pando/kvapi"
	"github.com/pandodb/pando/sqlapi"
	"github.com/pandodb/pando/table"
	"github.com/pandodb/pando/types"
)

// writeState is the scratch memory of a session's point updates and deletes.
type writeState struct {
	maker  rowMaker
	reader table.Reader
	row    []types.Value // by ordinal; only what expressions read is filled
	vals   []types.Value
}

// lockRow locks the program's row and reads its latest version into the state's pair.
// ok=false: there is no such row, or it fails the rest of the condition. remove tells that the statement deletes it.
func (p *Program) lockRow(rt *Runtime, remove bool) (key []byte, ok bool, err error) {
	st := &rt.scratch.program
	key, ok, err = p.evalKey(rt)
	if !ok || err != nil {
		return nil, false, err
	}
	st.pair.mem.rt = rt
	var found bool
	if remove {
		found, err = rt.Txn.LockDelete(key, &st.pair)
	} else {
		found, _, err = rt.Txn.Lock(key, kvapi.LockExclusive, kvapi.WaitDefault, &st.pair)
	}
	if err != nil {
		return nil, false, err
	}
	rt.Work.key(p.access, found)
	if !found {
		rt.Txn.Unlock(key)
		return nil, false, nil
	}
	if err := p.readRow(rt); err != nil {
		return nil, false, err
	}
	for _, c := range p.set.residual {
		ok, err := c.EvalBool(rt.Ctx, st.write.row)
		if err != nil {
			return nil, false, err
		}
		if !ok {
			rt.Txn.Unlock(key)
			return nil, false, nil
		}
	}
	return key, true, nil
}

// readRow decodes the columns that expressions read.
func (p *Program) readRow(rt *Runtime) error {
	st := &rt.scratch.program
	w := &st.write
	if n := len(p.table.Columns); cap(w.row) < n {
		w.row = make([]types.Value, n)
	}
	w.row = w.row[:len(p.table.Columns)]
	if len(p.set.read) == 0 {
		return nil
	}
	w.reader.Reset(p.shape)
	if err := w.reader.Decode(st.pair.key, st.pair.value); err != nil {
		return err
	}
	for i, col := range p.set.read {
		w.row[col] = w.reader.Value(i)
	}
	return nil
}

func (p *Program) runUpdate(rt *Runtime) (res sqlapi.Result, err error) {
	defer rt.strictly(false).restore()
	rt.Ctx.ResetArena()
	key, ok, err := p.lockRow(rt, false)
	if err != nil {
		return res, err
	}
	if !ok {
		return updateResult(rt, 0, 0), nil
	}
	st := &rt.scratch.program
	w := &st.write
	w.maker.init(rt, p.table, p.set.defaults)
	w.maker.lenient = !rt.Ctx.Strict
	// The assignments' values live in row, where later ones see them.
	if err := w.maker.assign(p.set.set, w.row, w.row, nil, 1); err != nil {
		return res, err
	}
	w.vals = w.vals[:0]
	for _, col := range p.set.cols {
		w.vals = append(w.vals, w.row[col])
	}
	changed, err := rt.writer(p.table).Patch(rt.Txn, key, st.pair.value, p.set.cols, w.vals)
	if err != nil {
		return res, err
	}
	rt.Work.Add(UpdatedRows, 1)
	if changed {
		rt.Work.access(p.change, 1)
		return updateResult(rt, 1, 1), nil
	}
	return updateResult(rt, 1, 0), nil
}

func (p *Program) runDelete(rt *Runtime) (res sqlapi.Result, err error) {
	defer rt.strictly(false).restore()
	rt.Ctx.ResetArena()
	key, ok, err := p.lockRow(rt, true)
	if err != nil || !ok {
		return sqlapi.Result{Warnings: rt.warnings()}, err
	}
	if err := rt.writer(p.table).DeleteRow(rt.Txn, key, rt.scratch.program.pair.value); err != nil {
		return res, err
	}
	rt.Work.Add(DeletedRows, 1)
	rt.Work.access(p.change, 1)
	return sqlapi.Result{AffectedRows: 1, Warnings: rt.warnings()}, nil
}
