package catalog

import (
	"encoding/binary"
	"encoding/json"
	"fmt"

	"github.com/pandodb/pando/clock"
	"github.com/pandodb/pando/keys"
	"github.com/pandodb/pando/kvapi"
	"github.com/pandodb/pando/txn"
	"github.com/pandodb/pando/types"
)

// Kinds of system keys (keys.SystemKey) that catalog, table and ddl own. They
// are on disk: never reuse one.
const (
	KindDatabase  = 'd' // part: database id. Value: database descriptor
	KindTable     = 't' // part: table id. Value: table descriptor
	KindIDCounter = 'n' // counter: the next object id
	KindAutoInc   = 'a' // parts: physical id, column id (0: hidden row id), the descriptor's counting if it is not 0. counter: first id not reserved
	KindAutoExact = 'e' // same parts. Value: exact counter of a clean shutdown
	KindJob       = 'j' // part: job id. Value: DDL job
	// KindDictionary has the parts physical id and number, 4 bytes big endian.
	// Value: a compression dictionary.
	KindDictionary = 'z'
)

// The first byte of every descriptor. A binary without views would take one for a table, and one without CHECK constraints or foreign keys
// would store rows that break them, or remove rows that others refer to; one without generated columns would take them for others, and one that
// does not know marks would show those of a document that is the original of a column.
const (
	descriptorFormat = 1
	viewFormat       = 2
	checkFormat      = 3
	foreignFormat    = 4
	generatedFormat  = 5
	documentFormat   = 6
	newestFormat     = documentFormat
)

func databaseKey(id uint64) []byte { return keys.SystemKey(nil, KindDatabase, IDPart(id)) }
func tableKey(id uint64) []byte    { return keys.SystemKey(nil, KindTable, IDPart(id)) }
func idCounterKey() []byte         { return keys.SystemKey(nil, KindIDCounter) }

// IDPart is an id as a part of a system key: 8 bytes, big endian.
func IDPart(id uint64) []byte { return binary.BigEndian.AppendUint64(nil, id) }

// KindSpan returns the span of all system keys of one kind.
func KindSpan(kind byte) kvapi.Span {
	prefix := keys.SystemKey(nil, kind)
	return kvapi.Span{Start: prefix, End: keys.PrefixEnd(nil, prefix)}
}

type databaseJSON struct {
	ID        uint64 `json:"id"`
	Name      string `json:"name"`
	Collation string `json:"collation"`
}

type typeJSON struct {
	Name      string   `json:"name"`
	Unsigned  bool     `json:"unsigned,omitempty"`
	ZeroFill  bool     `json:"zerofill,omitempty"`
	Length    int32    `json:"length"`
	Scale     int8     `json:"scale"`
	Collation string   `json:"collation,omitempty"`
	Elems     [][]byte `json:"elems,omitempty"` // base64: in the column's character set
}

type defaultJSON struct {
	Kind string `json:"kind"`            // null, literal, now, expr
	B    []byte `json:"value,omitempty"` // stored form
	Expr string `json:"expr,omitempty"`
}

type columnJSON struct {
	ID           uint32       `json:"id"`
	Name         string       `json:"name"`
	Type         typeJSON     `json:"type"`
	NotNull      bool         `json:"not_null,omitempty"`
	AutoInc      bool         `json:"auto_increment,omitempty"`
	Default      *defaultJSON `json:"default,omitempty"`
	Original     []byte       `json:"original,omitempty"`
	OriginalNull bool         `json:"original_null,omitempty"`
	OnUpdateNow  bool         `json:"on_update_now,omitempty"`
	ExplicitColl bool         `json:"explicit_collation,omitempty"`
	Invisible    bool         `json:"invisible,omitempty"`
	Comment      string       `json:"comment,omitempty"`
	Generated    *Generated   `json:"generated,omitempty"`
	Hidden       bool         `json:"hidden,omitempty"`
}

type indexColumnJSON struct {
	Column uint32      `json:"column"` // id; 0, which no column has, with Added
	Prefix int         `json:"prefix,omitempty"`
	Desc   bool        `json:"desc,omitempty"`
	Added  *columnJSON `json:"added,omitempty"`
}

type indexJSON struct {
	ID           uint64            `json:"id"`
	Name         string            `json:"name"`
	Unique       bool              `json:"unique,omitempty"`
	Primary      bool              `json:"primary,omitempty"`
	Columns      []indexColumnJSON `json:"columns"`
	State        string            `json:"state"`
	Building     bool              `json:"building,omitempty"`
	Replaces     uint64            `json:"replaces,omitempty"`
	ReadableFrom uint64            `json:"readable_from,omitempty"`
	Encoding     uint32            `json:"encoding"`
	Weights      uint64            `json:"weights,string"`
	Invisible    bool              `json:"invisible,omitempty"`
	Using        string            `json:"using,omitempty"`
	Comment      string            `json:"comment,omitempty"`
	Generated    bool              `json:"generated,omitempty"`
}

type tableJSON struct {
	ID           uint64       `json:"id"`
	PhysID       uint64       `json:"phys_id"`
	Counting     uint32       `json:"counting,omitempty"`
	Schema       string       `json:"schema"`
	Name         string       `json:"name"`
	Columns      []columnJSON `json:"columns"`
	Indexes      []indexJSON  `json:"indexes,omitempty"`
	Layouts      []Layout     `json:"layouts"`
	Collation    string       `json:"collation"`
	Engine       string       `json:"engine"`
	Comment      string       `json:"comment,omitempty"`
	Options      Options      `json:"options"`
	CreateMillis int64        `json:"created_ms"`
	NextColumnID uint32       `json:"next_column_id"`
	NextIndexID  uint64       `json:"next_index_id"`
	// Fresh: the data begins with the commit of this very version, whose timestamp it
	// cannot know. ReadableFrom is that timestamp in later versions.
	Fresh        bool         `json:"fresh,omitempty"`
	ReadableFrom uint64       `json:"readable_from,omitempty"`
	View         *View        `json:"view,omitempty"`
	Checks       []Check      `json:"checks,omitempty"`
	ForeignKeys  []ForeignKey `json:"foreign_keys,omitempty"`
	Referrers    []TableName  `json:"referrers,omitempty"`
}

func seal(format byte, v any) ([]byte, error) {
	b, err := json.Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("catalog: encode descriptor: %w", err)
	}
	return append([]byte{format}, b...), nil
}

func unseal(b []byte, v any) error {
	if len(b) == 0 || b[0] < descriptorFormat || b[0] > newestFormat {
		return fmt.Errorf("%w: descriptor format %x, this version reads up to %d", kvapi.ErrCorrupt, b[:min(1, len(b))], newestFormat)
	}
	if err := json.Unmarshal(b[1:], v); err != nil {
		return fmt.Errorf("%w: %v", kvapi.ErrCorrupt, err)
	}
	return nil
}

func encodeDatabase(d *Database) ([]byte, error) {
	return seal(descriptorFormat, databaseJSON{d.ID, d.Name, d.Coll.Name()})
}

func decodeDatabase(b []byte) (*Database, error) {
	var j databaseJSON
	if err := unseal(b, &j); err != nil {
		return nil, err
	}
	coll, err := collation(j.Collation)
	return &Database{ID: j.ID, Name: j.Name, Coll: coll}, err
}

func collation(name string) (types.CollationID, error) {
	if name == "" {
		return 0, nil
	}
	return types.LookupCollation(name)
}

// encodeTable builds a descriptor. fresh says that the table's data begins with its commit.
func encodeTable(t *Table, fresh bool) ([]byte, error) {
	j := tableJSON{
		ID: t.ID, PhysID: t.PhysID, Counting: t.Counting, Schema: t.Schema, Name: t.Name, Layouts: t.Layouts, Collation: t.Coll.Name(),
		Engine: t.Engine, Comment: t.Comment, Options: t.Options, CreateMillis: t.CreateMillis,
		NextColumnID: t.nextColumnID, NextIndexID: t.nextIndexID, Fresh: fresh, Checks: t.Checks,
		ForeignKeys: t.ForeignKeys, Referrers: t.Referrers,
	}
	if !fresh {
		j.ReadableFrom = uint64(t.ReadableFrom)
	}
	for _, c := range t.Columns {
		j.Columns = append(j.Columns, columnToJSON(c))
	}
	for _, ix := range t.Indexes {
		x := indexJSON{
			ID: ix.ID, Name: ix.Name, Unique: ix.Unique, Primary: ix.Primary, State: ix.State.String(), Building: ix.Building, Replaces: ix.Replaces,
			ReadableFrom: uint64(ix.ReadableFrom), Encoding: ix.EncodingVersion, Weights: ix.WeightsChecksum,
			Invisible: !ix.Visible, Using: ix.Using, Comment: ix.Comment, Generated: ix.Generated,
		}
		for _, ic := range ix.Columns {
			part := indexColumnJSON{Prefix: ic.PrefixLen, Desc: ic.Desc}
			if ic.Added != nil {
				added := columnToJSON(ic.Added)
				part.Added = &added
			} else {
				part.Column = t.Columns[ic.Col].ID
			}
			x.Columns = append(x.Columns, part)
		}
		j.Indexes = append(j.Indexes, x)
	}
	if t.View != nil {
		j.View = t.View
		return seal(viewFormat, j)
	}
	if t.hasMarkedOriginal() {
		return seal(documentFormat, j)
	}
	if t.HasGenerated() {
		return seal(generatedFormat, j)
	}
	if len(t.ForeignKeys) > 0 || len(t.Referrers) > 0 {
		return seal(foreignFormat, j)
	}
	if len(t.Checks) > 0 {
		return seal(checkFormat, j)
	}
	return seal(descriptorFormat, j)
}

// hasMarkedOriginal reports whether rows that lack a column have a JSON document with marks in it.
func (t *Table) hasMarkedOriginal() bool {
	for _, c := range t.Columns {
		if c.Type.ID == types.TypeJSON && types.JSONMarked(c.Original) {
			return true
		}
	}
	return false
}

func columnToJSON(c *Column) columnJSON {
	j := columnJSON{
		ID: c.ID, Name: c.Name, NotNull: c.NotNull, AutoInc: c.AutoInc, Original: c.Original,
		OriginalNull: c.OriginalNull, OnUpdateNow: c.OnUpdateNow, ExplicitColl: c.ExplicitCollation,
		Invisible: c.Invisible, Comment: c.Comment, Generated: c.Generated, Hidden: c.Hidden,
		Type: typeJSON{Name: c.Type.Name(), Unsigned: c.Type.Unsigned, ZeroFill: c.Type.ZeroFill,
			Length: c.Type.Length, Scale: c.Type.Scale},
	}
	if c.Type.Coll != 0 {
		j.Type.Collation = c.Type.Coll.Name()
	}
	for _, e := range c.Type.Elems {
		j.Type.Elems = append(j.Type.Elems, []byte(e))
	}
	if d := c.Default; d != nil {
		j.Default = &defaultJSON{Kind: defaultKindNames[d.Kind], Expr: d.Expr}
		if d.Kind == DefaultLiteral {
			j.Default.B = types.AppendStored(nil, d.Value, &c.Type)
		}
	}
	return j
}

var defaultKindNames = [...]string{DefaultNull: "null", DefaultLiteral: "literal", DefaultNow: "now", DefaultExpr: "expr"}

// decodeTable reads the descriptor that was committed at ts.
func decodeTable(b []byte, ts clock.Timestamp) (*Table, error) {
	var j tableJSON
	if err := unseal(b, &j); err != nil {
		return nil, err
	}
	t := NewTable(j.ID, j.PhysID, j.Schema, j.Name)
	t.Counting = j.Counting
	var err error
	if t.Coll, err = collation(j.Collation); err != nil {
		return nil, fmt.Errorf("catalog: table %s.%s: %w", j.Schema, j.Name, err)
	}
	t.Version, t.ReadableFrom = uint64(ts), clock.Timestamp(j.ReadableFrom)
	if j.Fresh {
		t.ReadableFrom = ts
	}
	t.Engine, t.Comment, t.Options, t.CreateMillis = j.Engine, j.Comment, j.Options, j.CreateMillis
	t.View, t.Checks, t.ForeignKeys, t.Referrers = j.View, j.Checks, j.ForeignKeys, j.Referrers
	t.nextColumnID, t.nextIndexID, t.Layouts = j.NextColumnID, j.NextIndexID, j.Layouts
	byID := map[uint32]int{}
	for i := range j.Columns {
		c, err := columnFromJSON(&j.Columns[i])
		if err != nil {
			return nil, fmt.Errorf("catalog: table %s.%s: %w", j.Schema, j.Name, err)
		}
		byID[c.ID] = i
		t.Columns = append(t.Columns, c)
	}
	for i := range j.Indexes {
		ix, err := indexFromJSON(&j.Indexes[i], byID)
		if err != nil {
			return nil, fmt.Errorf("catalog: table %s.%s: %w", j.Schema, j.Name, err)
		}
		t.Indexes = append(t.Indexes, ix)
	}
	if len(t.Columns) == 0 || len(t.Layouts) == 0 {
		return nil, fmt.Errorf("catalog: table %s.%s: %w: no columns or layouts", j.Schema, j.Name, kvapi.ErrCorrupt)
	}
	t.Finish()
	return t, nil
}

func indexFromJSON(j *indexJSON, byID map[uint32]int) (*Index, error) {
	ix := &Index{
		ID: j.ID, Name: j.Name, Unique: j.Unique, Primary: j.Primary, Building: j.Building, Replaces: j.Replaces, ReadableFrom: clock.Timestamp(j.ReadableFrom),
		EncodingVersion: j.Encoding, WeightsChecksum: j.Weights, Visible: !j.Invisible, Using: j.Using, Comment: j.Comment, Generated: j.Generated,
	}
	for s := StateDeleteOnly; s <= StatePublic; s++ {
		if s.String() == j.State {
			ix.State = s
		}
	}
	for _, ic := range j.Columns {
		if ic.Added != nil {
			added, err := columnFromJSON(ic.Added)
			if err != nil {
				return nil, err
			}
			ix.Columns = append(ix.Columns, IndexColumn{-1, ic.Prefix, ic.Desc, added})
			continue
		}
		col, ok := byID[ic.Column]
		if !ok {
			return nil, fmt.Errorf("%w: index %s names column %d", kvapi.ErrCorrupt, j.Name, ic.Column)
		}
		ix.Columns = append(ix.Columns, IndexColumn{col, ic.Prefix, ic.Desc, nil})
	}
	if ix.State == StateAbsent || len(ix.Columns) == 0 {
		return nil, fmt.Errorf("%w: index %s has state %q and %d columns", kvapi.ErrCorrupt, j.Name, j.State, len(j.Columns))
	}
	return ix, nil
}

func columnFromJSON(j *columnJSON) (*Column, error) {
	c := &Column{
		ID: j.ID, Name: j.Name, NotNull: j.NotNull, AutoInc: j.AutoInc, Original: j.Original, OriginalNull: j.OriginalNull,
		OnUpdateNow: j.OnUpdateNow, ExplicitCollation: j.ExplicitColl, Invisible: j.Invisible, Comment: j.Comment,
		Generated: j.Generated, Hidden: j.Hidden,
		Type: types.Type{Unsigned: j.Type.Unsigned, ZeroFill: j.Type.ZeroFill, Length: j.Type.Length, Scale: j.Type.Scale},
	}
	found := false
	for id := types.TypeNull; id <= types.TypeJSON; id++ {
		if (&types.Type{ID: id}).Name() == j.Type.Name {
			c.Type.ID, found = id, true
		}
	}
	if !found {
		return nil, fmt.Errorf("%w: column %s has type %q", kvapi.ErrCorrupt, j.Name, j.Type.Name)
	}
	var err error
	if c.Type.Coll, err = collation(j.Type.Collation); err != nil {
		return nil, fmt.Errorf("column %s: %w", j.Name, err)
	}
	for _, e := range j.Type.Elems {
		c.Type.Elems = append(c.Type.Elems, string(e))
	}
	if j.Default != nil {
		d := &Default{Expr: j.Default.Expr}
		for k, name := range defaultKindNames {
			if name == j.Default.Kind {
				d.Kind = DefaultKind(k)
			}
		}
		if d.Kind == DefaultLiteral {
			d.Value = types.DecodeStored(j.Default.B, &c.Type)
		}
		c.Default = d
	}
	return c, nil
}

// loader collects the values of a span and the timestamps of their commits.
type loader struct {
	values [][]byte
	commit []clock.Timestamp
}

// Version implements kvapi.VersionSink.
func (l *loader) Version(ts clock.Timestamp) { l.commit = append(l.commit, ts) }

func (l *loader) Pair(_, value []byte) (bool, error) {
	l.values = append(l.values, append([]byte(nil), value...))
	return true, nil
}

// ScanAll returns a copy of every value of a system kind, at the watermark.
func ScanAll(m *txn.Manager, kind byte) ([][]byte, error) {
	l, err := scanVersions(m, kind)
	return l.values, err
}

// scanVersions is ScanAll with timestamps.
func scanVersions(m *txn.Manager, kind byte) (l loader, err error) {
	span := KindSpan(kind)
	for {
		resume, err := m.Scan(&txn.ScanRequest{Span: span, Sink: &l, WithTS: true})
		if err != nil || resume == nil {
			return l, err
		}
		span.Start = append([]byte(nil), resume...)
	}
}

func load(m *txn.Manager, all *stops) (*Snapshot, error) {
	s := &Snapshot{version: 1, databases: map[string]*databaseEntry{}}
	raw, err := ScanAll(m, KindDatabase)
	if err != nil {
		return nil, fmt.Errorf("catalog: load databases: %w", err)
	}
	for _, b := range raw {
		d, err := decodeDatabase(b)
		if err != nil {
			return nil, fmt.Errorf("catalog: load databases: %w", err)
		}
		s.databases[d.Name] = &databaseEntry{desc: d, tables: map[string]*Table{}}
	}
	dictionaries, err := loadDictionaries(m)
	if err != nil {
		return nil, err
	}
	tables, err := scanVersions(m, KindTable)
	if err != nil {
		return nil, fmt.Errorf("catalog: load tables: %w", err)
	}
	for i, b := range tables.values {
		t, err := decodeTable(b, tables.commit[i])
		if err != nil {
			return nil, err
		}
		e := s.databases[t.Schema]
		if e == nil {
			return nil, fmt.Errorf("catalog: table %s.%s: %w: its database is missing", t.Schema, t.Name, kvapi.ErrCorrupt)
		}
		if d := dictionaries[t.PhysID]; d != nil {
			t.dictionaries = d
		}
		t.gate.publish(t.Version, all)
		e.tables[t.Name] = t
	}
	return s, nil
}
