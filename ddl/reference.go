package ddl

import (
	"bytes"

	"github.com/pandodb/pando/catalog"
	"github.com/pandodb/pando/kvapi"
	"github.com/pandodb/pando/table"
	"github.com/pandodb/pando/txn"
	"github.com/pandodb/pando/types"
)

const (
	// judgePageRows and judgePageBytes bound the rows of one scan of a table that gets a foreign key.
	judgePageRows  = 1024
	judgePageBytes = 1 << 20
	// judgeKnownMax bounds the parent keys that are remembered so that each is looked up once.
	judgeKnownMax = 1 << 14
)

// checkReferences checks the rows of t against the foreign keys that its new version next adds. The gates of t and of the parents are closed.
func (e *Executor) checkReferences(c *Call, t, next *catalog.Table, kin *kinship, intr *kvapi.Interrupt) error {
	added := addsForeign(t, next)
	if c.Unchecked || len(added) == 0 {
		return nil
	}
	for i, key := range added {
		rows, err := JudgeReferences(e.txns, next, key, kin.table(key.Parent), intr)
		if err != nil {
			return err
		}
		if i == 0 { // MySQL copies the table for this and reports its rows
			c.Copied, c.Rows = true, rows
		}
	}
	return nil
}

// checkCopied is checkReferences for the new data of a table that has been copied.
func (e *Executor) checkCopied(c *Call, k *copier, kin *kinship, intr *kvapi.Interrupt) error {
	if c.Unchecked || len(addsForeign(k.t, k.next)) == 0 {
		return nil
	}
	if err := e.inTxn(k.job.put); err != nil { // a fence: it raises the watermark, at which the check reads, above the copy's commits
		return err
	}
	return e.checkReferences(c, k.t, k.next, kin, intr)
}

// JudgeReferences returns 1452 if a row of child has no row in parent that its foreign key refers to, and otherwise the number of child's rows.
// parent is nil if the table does not exist: then every reference that is not NULL is an error. It reads at the watermark.
func JudgeReferences(txns *txn.Manager, child *catalog.Table, key *catalog.ForeignKey, parent *catalog.Table, intr *kvapi.Interrupt) (rows uint64, err error) {
	j := &referenceJudge{known: map[string]bool{}}
	cols := child.Ordinals(key)
	j.reader.Init(child, cols)
	j.row = make([]types.Value, len(cols))
	if parent != nil {
		if index := parent.ParentIndex(key.RefOrdinals(parent), true); index != nil {
			j.match = table.NewMatch(child, cols, parent, index)
		}
	}
	for span := table.RowSpan(child); span.Start != nil; {
		if err := intr.Err(); err != nil {
			return 0, err
		}
		j.wanted = j.wanted[:0]
		resume, err := txns.Scan(&txn.ScanRequest{Span: span, LimitRows: judgePageRows, LimitBytes: judgePageBytes, Sink: j, Interrupt: intr})
		if err != nil {
			return 0, err
		}
		if j.orphan {
			return 0, orphanError(child, key)
		}
		for _, prefix := range j.wanted {
			found, err := j.match.Exists(txns, prefix, intr)
			if err != nil {
				return 0, err
			}
			if !found {
				return 0, orphanError(child, key)
			}
		}
		span.Start = bytes.Clone(resume)
	}
	return j.rows, nil
}

// orphanError returns 1452 (ER_NO_REFERENCED_ROW_2).
func orphanError(child *catalog.Table, key *catalog.ForeignKey) error {
	return types.Errorf(types.ErNoReferencedRow2, table.ForeignKeyText(child, key))
}

// referenceJudge is a sink that collects the parent keys to look up.
type referenceJudge struct {
	reader table.Reader
	row    []types.Value
	match  *table.Match    // nil: there is no parent
	known  map[string]bool // parent keys that were looked up already, or are in wanted
	wanted [][]byte        // parent keys to look up after this page
	rows   uint64
	orphan bool // a row cannot have a parent row
}

// Pair implements kvapi.Sink.
func (j *referenceJudge) Pair(key, value []byte) (bool, error) {
	if err := j.reader.Decode(key, value); err != nil {
		return false, err
	}
	j.rows++
	j.reader.Values(j.row)
	for i := range j.row {
		if j.row[i].IsNull() {
			return true, nil
		}
	}
	if j.match == nil {
		j.orphan = true
		return false, nil
	}
	prefix, ok := j.match.AppendKey(nil, j.row)
	if !ok {
		j.orphan = true
		return false, nil
	}
	if j.known[string(prefix)] {
		return true, nil
	}
	if len(j.known) >= judgeKnownMax {
		clear(j.known)
	}
	j.known[string(prefix)] = true
	j.wanted = append(j.wanted, prefix)
	return true, nil
}
