package table

import (
	"slices"

	"github.com/pandodb/pando/catalog"
	"github.com/pandodb/pando/keys"
	"github.com/pandodb/pando/types"
)

// rowIDType is the type of hidden row ids.
var rowIDType = types.Type{ID: types.TypeBigInt, Unsigned: true, Length: -1}

// keyPart is one column of a key as the key encoding needs it.
type keyPart struct {
	col    int // ordinal; RowIDOrdinal for the hidden row id; negative with added
	typ    *types.Type
	prefix int
	desc   bool
	// added is the value of all rows in a column that an ALTER TABLE is adding; see
	// catalog.IndexColumn.
	added *types.Value
}

// of returns the value of the column in row, by ordinal.
func (p *keyPart) of(row []types.Value) *types.Value {
	if p.added != nil {
		return p.added
	}
	return &row[p.col]
}

// indexInfo is what readers and writers need to know of one index.
type indexInfo struct {
	desc   *catalog.Index
	prefix []byte // key prefix of its entries, or of the rows for the primary key
	parts  []keyPart
	// originals are the columns stored in the value because the key does not
	// give them back.
	originals []keyPart
}

// info is computed once per table version and shared by all sessions.
type info struct {
	table     *catalog.Table
	rowPrefix []byte
	pk        []keyPart
	// inKey[ordinal] is set for columns that live in the row key only.
	inKey []bool
	// stored are the ordinals of the columns of the current layout, in order.
	stored []int
	// packable[ordinal] is set for columns whose stored form is a string.
	packable []bool
	// documents are the ordinals of the stored JSON columns; nil without one.
	documents []int
	// storedPos is the inverse: the position of each ordinal in the layout.
	storedPos []int
	// secondary are the indexes that writers maintain, in catalog order.
	secondary []indexInfo
	// needed are the columns of the secondary indexes and the primary key, and the
	// sources of virtual ones: an update or delete reads them of the old row.
	needed      []int
	neededShape *Shape
	allShape    *Shape
	pkDesc      *catalog.Index
	defaults    []storedDefault // by ordinal: the values of columns that a row's layout lacks
	// computer computes virtual columns; nil if there are none. virtual are those in needed, in the order in which they are computed.
	computer catalog.Computer
	virtual  []int
}

type storedDefault struct {
	b    []byte
	null bool
}

func infoOf(t *catalog.Table) *info {
	return t.Derived(func(t *catalog.Table) any { return newInfo(t) }).(*info)
}

func newInfo(t *catalog.Table) *info {
	in := &info{table: t, rowPrefix: keys.RowPrefix(nil, t.PhysID), pkDesc: t.PK}
	in.defaults = make([]storedDefault, len(t.Columns))
	for i, c := range t.Columns {
		in.defaults[i] = storedDefault{b: c.Original, null: c.OriginalNull}
	}
	if t.PK == nil {
		in.pk = []keyPart{{col: t.RowIDOrdinal(), typ: &rowIDType}}
	} else {
		in.pk = partsOf(t, t.PK)
	}
	layout := t.Layout()
	in.inKey = make([]bool, len(t.Columns)+1)
	in.storedPos = make([]int, len(t.Columns))
	in.packable = make([]bool, len(t.Columns))
	for i, c := range t.Columns {
		k := c.Type.Kind()
		in.packable[i] = k == types.KindString || k == types.KindJSON
	}
	for _, p := range in.pk {
		in.inKey[p.col] = true
	}
	for _, id := range layout.Columns {
		if c := t.ColumnByID(id); c != nil {
			in.storedPos[c.Ordinal] = len(in.stored)
			if c.Type.ID == types.TypeJSON {
				in.documents = append(in.documents, c.Ordinal)
			}
			in.stored = append(in.stored, c.Ordinal)
			in.inKey[c.Ordinal] = false
		}
	}
	in.findComputer()
	need := make([]bool, len(t.Columns)+1)
	for _, p := range in.pk {
		need[p.col] = true
	}
	for _, ix := range t.Indexes {
		if ix.Primary {
			continue
		}
		x := newIndexInfo(t, ix, in.pk)
		for _, p := range x.parts {
			if p.added == nil {
				need[p.col] = true
			}
		}
		in.secondary = append(in.secondary, x)
	}
	for col, n := range need {
		if n {
			in.needed = append(in.needed, col)
		}
	}
	in.needSources()
	all := make([]int, 0, len(t.Columns)+1)
	for i := range t.Columns {
		all = append(all, i)
	}
	if id := t.RowIDOrdinal(); id >= 0 {
		all = append(all, id)
	}
	in.allShape = newRowShape(in, all)
	in.neededShape = newRowShape(in, in.needed)
	return in
}

func partsOf(t *catalog.Table, ix *catalog.Index) []keyPart {
	parts := make([]keyPart, len(ix.Columns))
	for i, ic := range ix.Columns {
		parts[i] = keyPart{col: ic.Col, typ: &t.ColumnOf(&ic).Type, prefix: ic.PrefixLen, desc: ic.Desc}
		if c := ic.Added; c != nil {
			v := types.Null()
			if !c.OriginalNull {
				v = types.DecodeStored(c.Original, &c.Type)
			}
			parts[i].col, parts[i].added = -1-i, &v
		}
	}
	return parts
}

func newIndexInfo(t *catalog.Table, ix *catalog.Index, pk []keyPart) indexInfo {
	x := indexInfo{desc: ix, prefix: keys.IndexPrefix(nil, t.PhysID, ix.ID), parts: partsOf(t, ix)}
	have := map[int]bool{}
	for _, list := range [][]keyPart{x.parts, pk} {
		for _, p := range list {
			if types.KeyRecoverable(p.typ, p.prefix) {
				have[p.col] = true
			}
		}
	}
	for _, list := range [][]keyPart{x.parts, pk} {
		for _, p := range list {
			if p.prefix == 0 && !have[p.col] {
				have[p.col] = true
				x.originals = append(x.originals, p)
			}
		}
	}
	return x
}

// Covers reports whether every column of cols (ordinals, RowIDOrdinal included)
// can be read from the entries of ix alone. Columns indexed by a prefix only
// are not covered.
func Covers(t *catalog.Table, ix *catalog.Index, cols []int) bool {
	in := infoOf(t)
	return !slices.ContainsFunc(cols, func(col int) bool { return !in.covers(ix, col) })
}

// covers reports whether the entries of ix hold column col whole, among its own columns or those of the primary key that follow them.
func (in *info) covers(ix *catalog.Index, col int) bool {
	return ix.Primary || slices.ContainsFunc(ix.Columns, func(c catalog.IndexColumn) bool { return c.Col == col && c.PrefixLen == 0 }) ||
		slices.ContainsFunc(in.pk, func(p keyPart) bool { return p.col == col && p.prefix == 0 })
}
