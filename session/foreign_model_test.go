package session_test

import (
	"cmp"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/pandodb/pando/internal/testkit"
	"github.com/pandodb/pando/tests/inproc"
	"github.com/pandodb/pando/types"
)

// The columns of the model's tables: a primary key, a unique key, and two that may refer.
const (
	modelID = iota
	modelU
	modelA
	modelB
	modelColumns
)

// modelNull stands for NULL.
const modelNull = -1

var modelNames = [modelColumns]string{"id", "u", "a", "b"}

type modelRow [modelColumns]int

// modelKey is a foreign key: a column of child refers to id or u of parent.
type modelKey struct {
	name               string
	child, parent      int
	col, ref           int
	onDelete, onUpdate string
}

// foreignModel is what tables with foreign keys should do, in memory.
type foreignModel struct {
	keys  []modelKey // in the order of the parent's keys, then of their names
	rows  []map[int]modelRow
	chain []modelLink
}

type modelLink struct {
	table  int
	update bool
}

// modelError is the number of a MySQL error.
type modelError uint16

func (e modelError) Error() string { return fmt.Sprint(uint16(e)) }

// statement runs f, all or nothing.
func (m *foreignModel) statement(f func() error) (err error) {
	before := make([]map[int]modelRow, len(m.rows))
	for i := range m.rows {
		before[i] = maps.Clone(m.rows[i])
	}
	if err = f(); err != nil {
		m.rows = before
	}
	m.chain = nil
	return err
}

func refuses(action string) bool { return action != "CASCADE" && action != "SET NULL" }

// find lists the rows with a value in a column, by their ids.
func (m *foreignModel) find(table, col, value int) (ids []int) {
	for id, row := range m.rows[table] {
		if row[col] == value && value != modelNull {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return ids
}

// free reports whether no other row than the one with the id self has the unique values of row.
func (m *foreignModel) free(table int, row modelRow, self int) bool {
	for _, col := range []int{modelID, modelU} {
		for _, id := range m.find(table, col, row[col]) {
			if id != self {
				return false
			}
		}
	}
	return true
}

// parents judges what a row refers to; old is nil for a new one.
func (m *foreignModel) parents(table int, old *modelRow, row modelRow, by *modelKey) error {
	for i := range m.keys {
		k := &m.keys[i]
		value := row[k.col]
		if k.child != table || k == by || value == modelNull || old != nil && old[k.col] == value && old[modelID] == row[modelID] {
			continue
		}
		if k.parent == table && row[k.ref] == value {
			continue
		}
		if len(m.find(k.parent, k.ref, value)) == 0 {
			return modelError(types.ErNoReferencedRow2)
		}
	}
	return nil
}

func (m *foreignModel) insert(table int, row modelRow) error {
	if !m.free(table, row, modelNull) {
		return modelError(types.ErDupEntry)
	}
	if err := m.parents(table, nil, row, nil); err != nil {
		return err
	}
	m.rows[table][row[modelID]] = row
	return nil
}

func (m *foreignModel) delete(table, id int) error {
	row := m.rows[table][id]
	delete(m.rows[table], id)
	return m.act(table, row, nil)
}

func (m *foreignModel) update(table int, row modelRow, id int, by *modelKey) error {
	old := m.rows[table][id]
	if old == row {
		return nil
	}
	if err := m.act(table, old, &row); err != nil {
		return err
	}
	if !m.free(table, row, id) {
		return modelError(types.ErDupEntry)
	}
	if err := m.parents(table, &old, row, by); err != nil {
		return err
	}
	delete(m.rows[table], id)
	m.rows[table][row[modelID]] = row
	return nil
}

// act does with the children of a row what their foreign keys say; row is nil if it goes.
func (m *foreignModel) act(table int, old modelRow, row *modelRow) error {
	m.chain = append(m.chain, modelLink{table, row != nil})
	defer func() { m.chain = m.chain[:len(m.chain)-1] }()
	for i := range m.keys {
		k := &m.keys[i]
		if k.parent != table || row != nil && row[k.ref] == old[k.ref] {
			continue
		}
		action := k.onDelete
		if row != nil {
			action = k.onUpdate
		}
		if row == nil && k.child == table && refuses(action) && old[k.col] == old[k.ref] && old[k.ref] != modelNull {
			return modelError(types.ErRowIsReferenced2) // by itself
		}
		for _, id := range m.find(k.child, k.col, old[k.ref]) {
			child, there := m.rows[k.child][id]
			if !there || child[k.col] != old[k.ref] {
				continue // another row's action has been here
			}
			if refuses(action) {
				return modelError(types.ErRowIsReferenced2)
			}
			if row == nil && action == "CASCADE" {
				if err := m.delete(k.child, id); err != nil {
					return err
				}
				continue
			}
			if slices.Contains(m.chain, modelLink{k.child, true}) {
				return modelError(types.ErRowIsReferenced2)
			}
			child[k.col] = modelNull
			if action == "CASCADE" {
				child[k.col] = row[k.ref]
			}
			if err := m.update(k.child, child, id, k); err != nil {
				if err == modelError(types.ErDupEntry) {
					err = modelError(types.ErForeignDuplicateKey)
				}
				return err
			}
		}
	}
	return nil
}

// dump is the content of a table as SELECT * … ORDER BY id shows it.
func (m *foreignModel) dump(table int) string {
	var b strings.Builder
	for _, id := range slices.Sorted(maps.Keys(m.rows[table])) {
		for col, v := range m.rows[table][id] {
			if col > 0 {
				b.WriteByte(' ')
			}
			b.WriteString(modelText(v))
		}
		b.WriteByte('\n')
	}
	return b.String()
}

func modelText(v int) string {
	if v == modelNull {
		return "NULL"
	}
	return fmt.Sprint(v)
}

// drawModel draws foreign keys between n tables, and returns the statements that make them.
func drawModel(r *rand.Rand, n int) (*foreignModel, []string) {
	m := &foreignModel{}
	var texts []string
	for i := range n {
		m.rows = append(m.rows, map[int]modelRow{})
		texts = append(texts, fmt.Sprintf("CREATE TABLE t%d (id INT PRIMARY KEY, u INT UNIQUE, a INT, b INT)", i))
	}
	actions := []string{"CASCADE", "CASCADE", "SET NULL", "RESTRICT", "NO ACTION"}
	for i := range n + r.IntN(2*n) {
		k := modelKey{name: fmt.Sprintf("f%02d", i), child: r.IntN(n), parent: r.IntN(n), col: modelA + r.IntN(2), ref: r.IntN(2),
			onDelete: actions[r.IntN(len(actions))], onUpdate: actions[r.IntN(len(actions))]}
		m.keys = append(m.keys, k)
		texts = append(texts, fmt.Sprintf("ALTER TABLE t%d ADD CONSTRAINT %s FOREIGN KEY (%s) REFERENCES t%d (%s) ON DELETE %s ON UPDATE %s",
			k.child, k.name, modelNames[k.col], k.parent, modelNames[k.ref], k.onDelete, k.onUpdate))
	}
	slices.SortFunc(m.keys, func(a, b modelKey) int { return cmp.Or(cmp.Compare(a.ref, b.ref), cmp.Compare(a.name, b.name)) })
	return m, texts
}

// drawStatement draws a statement and what it should do to the model.
func (m *foreignModel) drawStatement(r *rand.Rand) (text string, run func() error) {
	const values = 6
	table := r.IntN(len(m.rows))
	value := func() int {
		if r.IntN(4) == 0 {
			return modelNull
		}
		return r.IntN(values)
	}
	switch r.IntN(8) {
	case 0, 1, 2, 3:
		row := modelRow{r.IntN(values), value(), value(), value()}
		return fmt.Sprintf("INSERT INTO t%d VALUES (%d, %s, %s, %s)", table, row[0], modelText(row[1]), modelText(row[2]), modelText(row[3])),
			func() error { return m.insert(table, row) }
	case 4:
		id := r.IntN(values)
		return fmt.Sprintf("DELETE FROM t%d WHERE id = %d", table, id), func() error { return m.each(table, func(i int) bool { return i == id }, m.delete) }
	case 5:
		return fmt.Sprintf("DELETE FROM t%d WHERE id >= 3 ORDER BY id", table), func() error { return m.each(table, func(i int) bool { return i >= 3 }, m.delete) }
	case 6:
		id, to := r.IntN(values), r.IntN(values)
		return fmt.Sprintf("UPDATE t%d SET id = %d WHERE id = %d", table, to, id), func() error {
			return m.each(table, func(i int) bool { return i == id }, func(table, i int) error {
				row := m.rows[table][i]
				row[modelID] = to
				return m.update(table, row, i, nil)
			})
		}
	}
	id, col, to := r.IntN(values), modelU+r.IntN(3), value()
	return fmt.Sprintf("UPDATE t%d SET %s = %s WHERE id = %d", table, modelNames[col], modelText(to), id), func() error {
		return m.each(table, func(i int) bool { return i == id }, func(table, i int) error {
			row := m.rows[table][i]
			row[col] = to
			return m.update(table, row, i, nil)
		})
	}
}

// each changes the rows that were there at first and still are.
func (m *foreignModel) each(table int, is func(id int) bool, change func(table, id int) error) error {
	for _, id := range slices.Sorted(maps.Keys(m.rows[table])) {
		if _, there := m.rows[table][id]; !there || !is(id) {
			continue
		}
		if err := change(table, id); err != nil {
			return err
		}
	}
	return nil
}

// TestForeignModel: random statements over random foreign keys answer and do what the model does.
func TestForeignModel(t *testing.T) {
	schemas, statements := testkit.Rounds(60, 10), 150
	if testkit.SlowTests() {
		schemas = 2000
	}
	seed := testkit.Seed(t)
	_, c := inproc.OpenDatabase(t)
	refused, done := 0, 0
	for i := range schemas {
		r := testkit.Rand(seed, uint64(i))
		n := 1 + r.IntN(4)
		m, texts := drawModel(r, n)
		for _, text := range texts {
			c.Must(text)
		}
		for range statements {
			text, run := m.drawStatement(r)
			texts = append(texts, text)
			want := 0
			if err := m.statement(run); err != nil {
				want = int(err.(modelError))
				refused++
			} else {
				done++
			}
			if got := c.Exec(text); got.Number() != want {
				t.Fatalf("%s\n: %v, want error %d", strings.Join(texts, ";\n"), got.Err, want)
			}
			for table := range n {
				var b strings.Builder
				for _, row := range c.Must(fmt.Sprintf("SELECT * FROM t%d ORDER BY id", table)).Rows {
					b.WriteString(strings.Join(row, " ") + "\n")
				}
				if got, want := b.String(), m.dump(table); got != want {
					t.Fatalf("%s\nt%d holds\n%swant\n%s", strings.Join(texts, ";\n"), table, got, want)
				}
			}
		}
		c.Must("SET foreign_key_checks = 0")
		for table := range n {
			c.Must(fmt.Sprintf("DROP TABLE t%d", table))
		}
		c.Must("SET foreign_key_checks = 1")
	}
	if refused < done/10 || done < refused/10 {
		t.Errorf("%d statements were refused and %d not: the draw is lopsided", refused, done)
	}
}
