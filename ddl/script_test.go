package ddl_test

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/pandodb/pando/catalog"
	"github.com/pandodb/pando/ddl"
	"github.com/pandodb/pando/engine"
	"github.com/pandodb/pando/internal/script"
	"github.com/pandodb/pando/keys"
	"github.com/pandodb/pando/table"
	"github.com/pandodb/pando/txn"
	"github.com/pandodb/pando/types"
)

// TestScripts runs testdata. Commands, with the database db unless named d.t:
//
//	database NAME [if-not-exists] | drop-database NAME [if-exists]
//	create NAME [if-not-exists] [auto=N] [collate=C] [comment=S]
//	  column NAME TYPE [words: unsigned, notnull, null, auto, now, onupdate, default=V, expr=V, collate=C, invisible, comment=S]
//	  primary (a,b) | unique NAME (a, b(3) desc) | key NAME (…)      NAME - is no name
//	drop NAME… [if-exists] | truncate NAME | rename A B [C D …]
//	index NAME, drop-index NAME INDEX, alter NAME: actions one per line
//	insert NAME, update NAME ID COL=V…, delete NAME ID, rows NAME, entries NAME INDEX, show NAME, check NAME
//	restart [crash], jobs, settle, counters
func TestScripts(t *testing.T) {
	script.Run(t, "testdata", func(t *testing.T) script.Commands {
		s := &scriptRun{t: t, n: openNode(t, engine.NewMemFS())}
		t.Cleanup(func() { s.n.close(true) })
		return script.Commands{script.Any: s.run}
	})
}

type scriptRun struct {
	t     *testing.T
	n     *node
	notes []string
}

func (s *scriptRun) call() *ddl.Call {
	return &ddl.Call{LockWait: lockWait, Warn: func(level types.Level, number uint16, args ...any) {
		s.notes = append(s.notes, fmt.Sprintf("%s %d: %s", level, number, types.Errorf(number, args...).Message))
	}}
}

func (s *scriptRun) run(t *testing.T, d *script.Block) string {
	s.notes = nil
	out, err := s.command(d)
	for _, note := range s.notes {
		out += note + "\n"
	}
	if err != nil {
		var e *types.Error
		if errors.As(err, &e) {
			return out + e.Error()
		}
		return out + "error: " + err.Error()
	}
	if out == "" {
		return "ok"
	}
	return out
}

func tableName(s string) ddl.Name {
	if db, t, ok := strings.Cut(s, "."); ok {
		return ddl.Name{Schema: db, Table: t}
	}
	return ddl.Name{Schema: "db", Table: s}
}

// args splits the command's arguments into names and flags (key, key=value).
func args(d *script.Block) (names []string, flags map[string]string) {
	flags = map[string]string{}
	for _, a := range d.CmdArgs {
		switch {
		case len(a.Vals) > 0:
			flags[a.Key] = a.Vals[0]
		case a.Key == "if-exists" || a.Key == "if-not-exists" || a.Key == "crash":
			flags[a.Key] = "1"
		default:
			names = append(names, a.Key)
		}
	}
	return names, flags
}

func (s *scriptRun) command(d *script.Block) (string, error) {
	names, flags := args(d)
	ex := s.n.ex
	switch d.Cmd {
	case "database":
		return "", ex.CreateDatabase(s.call(), names[0], 0, flags["if-not-exists"] != "")
	case "drop-database":
		_, err := ex.DropDatabase(s.call(), names[0], flags["if-exists"] != "")
		return "", err
	case "create":
		return "", ex.CreateTable(s.call(), s.tableSpec(names[0], flags, d.Input))
	case "drop":
		var list []ddl.Name
		for _, n := range names {
			list = append(list, tableName(n))
		}
		return "", ex.DropTables(s.call(), list, flags["if-exists"] != "")
	case "truncate":
		return "", ex.TruncateTable(s.call(), tableName(names[0]))
	case "rename":
		var pairs []ddl.RenamePair
		for i := 0; i+1 < len(names); i += 2 {
			pairs = append(pairs, ddl.RenamePair{From: tableName(names[i]), To: tableName(names[i+1])})
		}
		return "", ex.RenameTables(s.call(), pairs)
	case "index":
		return "", ex.CreateIndex(s.call(), tableName(names[0]), s.indexSpec(d.Input))
	case "drop-index":
		return "", ex.DropIndexOf(s.call(), tableName(names[0]), names[1])
	case "alter":
		var actions []ddl.AlterSpec
		for _, line := range strings.Split(strings.TrimSpace(d.Input), "\n") {
			actions = append(actions, s.action(line))
		}
		return "", ex.AlterTable(s.call(), tableName(names[0]), actions)
	case "restart":
		s.restart(flags["crash"] != "")
		return "", nil
	case "counters":
		return s.n.counters(), nil
	case "settle":
		waitFor(s.t, func() bool { return len(s.n.ex.Jobs()) == 0 })
		return "", nil
	}
	return s.dataCommand(d, names)
}

func (s *scriptRun) restart(crash bool) {
	if !crash {
		s.n.close(true)
		s.n = openNode(s.t, s.n.fs)
		return
	}
	fs := s.n.fs.CrashClone(engine.CrashConfig{})
	s.n.close(false)
	s.n = openNode(s.t, fs)
}

func (s *scriptRun) dataCommand(d *script.Block, names []string) (string, error) {
	n := tableName(names[0])
	t, err := s.n.cat.Current().Table(n.Schema, n.Table)
	if err != nil {
		return "", err
	}
	switch d.Cmd {
	case "show":
		next := uint64(0)
		if t.AutoInc != nil {
			if next, err = s.n.ids.Peek(t); err != nil {
				return "", err
			}
		}
		return catalog.ShowCreateTable(t, next, nil, catalog.Quotes{}), nil
	case "insert":
		return "", s.write(func(tx *txn.Txn) error { return s.insert(tx, t, d.Input) })
	case "update", "delete":
		return "", s.write(func(tx *txn.Txn) error { return s.change(tx, t, names[1], d) })
	case "rows":
		return s.read(t, nil), nil
	case "entries":
		return s.read(t, t.Index(names[1])), nil
	case "raw":
		return s.raw(t), nil
	case "check":
		r, err := table.Check(s.n.txns, t, nil)
		if err != nil {
			return "", err
		}
		return fmt.Sprintf("%d rows %v %v", r.Rows, r.Indexes, r.Problems), nil
	}
	return "unknown command", nil
}

func (s *scriptRun) write(f func(tx *txn.Txn) error) error {
	tx := s.n.txns.Begin(txn.Options{Level: txn.ReadCommitted})
	defer tx.Release()
	if err := f(tx); err != nil {
		return err
	}
	return tx.Commit()
}

// value converts text to a column's type; NULL and DEFAULT are themselves.
func value(t *types.Type, text string) types.Value {
	if text == "NULL" {
		return types.Null()
	}
	from := types.Text(text)
	if t.ID == types.TypeBit {
		n, _ := strconv.ParseUint(text, 10, 64)
		from = types.Uint(n)
	}
	v, err := types.Convert(&types.Context{Strict: true}, from, *t, "c", 1)
	if err != nil {
		panic(err)
	}
	return v
}

// insert adds lines of "v, v, …"; AUTO takes a generated id.
func (s *scriptRun) insert(tx *txn.Txn, t *catalog.Table, input string) error {
	w := table.NewWriter(t, s.n.ids)
	for _, line := range strings.Split(strings.TrimSpace(input), "\n") {
		var row []types.Value
		for i, f := range strings.Split(line, ",") {
			if f = strings.TrimSpace(f); f == "AUTO" {
				first, err := w.AutoID().Next(1)
				if err != nil {
					return err
				}
				row = append(row, w.AutoID().Value(first, 0))
				continue
			}
			row = append(row, value(&t.Columns[i].Type, f))
		}
		if err := w.Insert(tx, row, table.InsertCheck); err != nil {
			return err
		}
	}
	return nil
}

func (s *scriptRun) change(tx *txn.Txn, t *catalog.Table, id string, d *script.Block) error {
	key := table.AppendIndexKey(nil, t, nil, []types.Value{value(&t.Columns[t.PK.Columns[0].Col].Type, id)})
	var got valueSink
	found, _, err := tx.Lock(key, 1, 0, &got)
	if err != nil || !found {
		return fmt.Errorf("no row: %v", err)
	}
	w := table.NewWriter(t, s.n.ids)
	if d.Cmd == "delete" {
		return w.DeleteRow(tx, key, got.value)
	}
	var cols []int
	var vals []types.Value
	for _, a := range d.CmdArgs {
		if len(a.Vals) == 0 {
			continue
		}
		c := t.Column(a.Key)
		cols, vals = append(cols, c.Ordinal), append(vals, value(&c.Type, a.Vals[0]))
	}
	changed, err := w.Patch(tx, key, got.value, cols, vals)
	if err == nil && !changed {
		s.notes = append(s.notes, "not changed")
	}
	return err
}

// read prints rows, or the covered columns of an index.
func (s *scriptRun) read(t *catalog.Table, ix *catalog.Index) string {
	var cols []int
	header := ""
	for _, c := range t.Columns {
		if ix == nil || table.Covers(t, ix, []int{c.Ordinal}) {
			cols = append(cols, c.Ordinal)
			header += " " + c.Name
		}
	}
	span := table.RowSpan(t)
	if ix != nil {
		span = table.IndexSpan(t, ix)
	}
	p := &rowPrinter{header: strings.TrimSpace(header) + "\n", vals: make([]types.Value, len(cols))}
	p.r.Reset(table.NewShape(t, ix, cols))
	_, err := s.n.txns.Scan(&txn.ScanRequest{Span: span, Sink: p})
	s.n.must(err)
	return p.header
}

type rowPrinter struct {
	r      table.Reader
	vals   []types.Value
	header string
}

func (p *rowPrinter) Pair(k, v []byte) (bool, error) {
	if err := p.r.Decode(k, v); err != nil {
		return false, err
	}
	p.r.Values(p.vals)
	for i := range p.vals {
		if i > 0 {
			p.header += ", "
		}
		if p.vals[i].IsNull() {
			p.header += "NULL"
			continue
		}
		p.header += string(types.AppendText(nil, nil, &p.vals[i]))
	}
	p.header += "\n"
	return true, nil
}

// raw prints keys and values as bytes, without the table's prefix.
func (s *scriptRun) raw(t *catalog.Table) string {
	p := &rawPrinter{prefix: len(keys.TablePrefix(nil, t.PhysID))}
	_, err := s.n.txns.Scan(&txn.ScanRequest{Span: table.DataSpan(t.PhysID), Sink: p})
	s.n.must(err)
	return p.out
}

type rawPrinter struct {
	prefix int
	out    string
}

func (p *rawPrinter) Pair(k, v []byte) (bool, error) {
	p.out += fmt.Sprintf("%c %x => %x\n", k[p.prefix], k[p.prefix+1:], v)
	return true, nil
}

func (s *scriptRun) tableSpec(n string, flags map[string]string, input string) *ddl.TableSpec {
	spec := &ddl.TableSpec{Name: tableName(n), IfNotExists: flags["if-not-exists"] != "", Comment: flags["comment"]}
	if c := flags["collate"]; c != "" {
		spec.Coll = s.collation(c)
	}
	spec.AutoIncrement, _ = strconv.ParseUint(flags["auto"], 10, 64)
	spec.Options.MaxRows, _ = strconv.ParseUint(flags["max-rows"], 10, 64)
	for _, line := range strings.Split(strings.TrimSpace(input), "\n") {
		line = strings.TrimSpace(line)
		if rest, ok := strings.CutPrefix(line, "column "); ok {
			spec.Columns = append(spec.Columns, s.columnSpec(rest, spec.Coll))
		} else if line != "" {
			spec.Indexes = append(spec.Indexes, s.indexSpec(line))
		}
	}
	return spec
}

func (s *scriptRun) collation(name string) types.CollationID {
	c, err := types.LookupCollation(name)
	s.n.must(err)
	return c
}
