package ddl

import (
	"bytes"
	"encoding/binary"

	"github.com/pandodb/pando/catalog"
	"github.com/pandodb/pando/kvapi"
	"github.com/pandodb/pando/table"
	"github.com/pandodb/pando/txn"
	"github.com/pandodb/pando/types"
)

// rowOrder is ALTER TABLE … ORDER BY: the order in which a copy writes rows. It shows only in tables without a primary key, which are read in the
// order of writing.
type rowOrder struct {
	columns []*catalog.Column // of the old table
	desc    []bool
	compute func(row []types.Value) error // its virtual columns; nil if none is among them
	row     []types.Value                 // for compute
	sorter  *txn.Sorter
	key     []byte
	value   []byte
}

// orderBy makes the copy write its rows in the order of columns of the old table.
func (k *copier) orderBy(c *Call, by []OrderColumn) (err error) {
	o := &rowOrder{}
	virtual := false
	for _, part := range by {
		column, err := columnOf(k.t, part.Name)
		if err != nil {
			return err
		}
		o.columns, o.desc = append(o.columns, column), append(o.desc, part.Desc)
		virtual = virtual || column.Generated != nil && !column.Generated.Stored
	}
	if virtual && c.JudgeCopy != nil {
		o.compute, err = c.JudgeCopy(k.t, k.t)
		o.row = make([]types.Value, len(k.t.Columns))
	}
	k.order = o
	return err
}

// runInOrder copies all rows in the order of k.order; the sort is stable.
func (k *copier) runInOrder(intr *kvapi.Interrupt) error {
	o := k.order
	o.sorter = k.e.txns.NewSorter()
	defer o.sorter.Discard()
	for span := table.RowSpan(k.t); span.Start != nil; {
		resume, err := k.e.txns.Scan(&txn.ScanRequest{Span: span, LimitRows: copyRowsMax, LimitBytes: copyBytesMax, Sink: (*orderSink)(k), Interrupt: intr})
		if err != nil {
			return err
		}
		if o.sorter.Short() {
			return types.Errorf(types.ErRecordFileFull, "temporary files (tmp-storage-quota)")
		}
		if err := intr.Err(); err != nil {
			return err
		}
		span.Start = bytes.Clone(resume)
	}
	k.arena, k.ends = k.arena[:0], k.ends[:0]
	err := o.sorter.Each(intr, func(_, value []byte) error {
		keyLen, n := binary.Uvarint(value)
		value = value[n:]
		if _, err := (*copyPage)(k).Pair(value[:keyLen], value[keyLen:]); err != nil {
			return err
		}
		if len(k.ends) < 2*copyRowsMax && len(k.arena) < copyBytesMax {
			return nil
		}
		err := k.write(intr)
		k.arena, k.ends = k.arena[:0], k.ends[:0]
		return err
	})
	if err != nil {
		return err
	}
	return k.write(intr)
}

// orderSink is the sink that passes rows to the sorter.
type orderSink copier

// Pair adds a row to the sorter. The sort key is the encoded columns of ORDER BY followed by the row's key; the value is the length of the row's
// key, that key and the row.
func (s *orderSink) Pair(key, value []byte) (bool, error) {
	k := (*copier)(s)
	o := k.order
	if err := k.reader.Decode(key, value); err != nil {
		return false, err
	}
	if o.compute != nil {
		k.reader.Values(o.row)
		if err := o.compute(o.row); err != nil {
			return false, err
		}
	}
	o.key = o.key[:0]
	for i, column := range o.columns {
		v := types.Null()
		if o.compute != nil {
			v = o.row[column.Ordinal]
		} else {
			v = k.reader.Value(column.Ordinal)
		}
		o.key = types.AppendKey(o.key, v, &column.Type, o.desc[i], 0)
	}
	o.key = append(o.key, key...)
	o.value = append(binary.AppendUvarint(o.value[:0], uint64(len(key))), key...)
	o.value = append(o.value, value...)
	return true, o.sorter.Add(o.key, o.value)
}
