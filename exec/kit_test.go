package exec

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/pandodb/pando/catalog"
	"github.com/pandodb/pando/engine"
	"github.com/pandodb/pando/expr"
	"github.com/pandodb/pando/kv"
	"github.com/pandodb/pando/rpc"
	"github.com/pandodb/pando/sqlapi"
	"github.com/pandodb/pando/store"
	"github.com/pandodb/pando/table"
	"github.com/pandodb/pando/txn"
	"github.com/pandodb/pando/types"
)

// kit is a database in memory without a language: tests build plans by hand.
type kit struct {
	t     testing.TB
	txns  *txn.Manager
	ids   *table.AutoIDs
	build *expr.BuildContext
}

func newKit(t testing.TB) *kit {
	t.Helper()
	e, err := engine.OpenMem()
	if err != nil {
		t.Fatal(err)
	}
	s, err := store.Open(store.Options{Engine: e})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
	k := &kit{t: t, txns: txn.NewManager(kv.New(rpc.Loopback(s)), txn.ManagerOptions{LockWait: 2 * time.Minute})}
	k.ids = table.NewAutoIDs(k.txns)
	k.build = &expr.BuildContext{Ctx: &types.Context{SQLMode: types.ModeDefault}}
	return k
}

// runtime returns a session's runtime.
func (k *kit) runtime() *Runtime {
	ctx := &types.Context{SQLMode: types.ModeDefault, Now: func() time.Time { return time.Unix(1_700_000_000, 0) }}
	return &Runtime{Ctx: expr.NewCtx(ctx), Manager: k.txns, AutoIDs: k.ids, TempDir: k.t.TempDir(),
		TxnOptions: txn.Options{Level: txn.RepeatableRead}}
}

var (
	intType    = types.Type{ID: types.TypeInt, Length: -1}
	bigintType = types.Type{ID: types.TypeBigInt, Length: -1}
)

func charType(n int32) types.Type {
	return types.Type{ID: types.TypeChar, Length: n, Coll: types.DefaultCollation}
}

// sbtest is sysbench's table with its index.
func sbtest(id uint64) *catalog.Table {
	t := catalog.NewTable(id, id, "test", "sbtest1")
	zero := &catalog.Default{Kind: catalog.DefaultLiteral, Value: types.Int(0)}
	empty := &catalog.Default{Kind: catalog.DefaultLiteral, Value: types.Text("")}
	t.AddColumn(&catalog.Column{Name: "id", Type: intType, NotNull: true, AutoInc: true}, -1)
	t.AddColumn(&catalog.Column{Name: "k", Type: intType, NotNull: true, Default: zero}, -1)
	t.AddColumn(&catalog.Column{Name: "c", Type: charType(120), NotNull: true, Default: empty}, -1)
	t.AddColumn(&catalog.Column{Name: "pad", Type: charType(60), NotNull: true, Default: empty}, -1)
	t.AddIndex(&catalog.Index{Name: "PRIMARY", Primary: true, Unique: true, State: catalog.StatePublic, Visible: true,
		Columns: []catalog.IndexColumn{{Col: 0}}})
	t.AddIndex(&catalog.Index{Name: "k_1", State: catalog.StatePublic, Visible: true, Columns: []catalog.IndexColumn{{Col: 1}}})
	t.Finish()
	return t
}

// collector is a Sink that keeps rows as text.
type collector struct {
	enc   types.RowEncoder
	width int
	rows  []string
}

func (c *collector) Columns(cols []sqlapi.ColumnInfo) (*types.RowEncoder, error) {
	c.width = len(cols)
	c.rows = nil
	return &c.enc, nil
}

func (c *collector) RowDone() error {
	b := c.enc.Buf[4:]
	var fields []string
	for range c.width {
		if b[0] == 0xfb {
			fields, b = append(fields, "NULL"), b[1:]
			continue
		}
		n, used := int(b[0]), 1
		if b[0] == 0xfc {
			n, used = int(b[1])|int(b[2])<<8, 3
		}
		fields, b = append(fields, string(b[used:used+n])), b[used+n:]
	}
	c.rows = append(c.rows, strings.Join(fields, "|"))
	c.enc.Buf = c.enc.Buf[:0]
	return nil
}

// query seals and runs a query.
func (k *kit) query(rt *Runtime, root Node) []string {
	k.t.Helper()
	rows, err := k.tryQuery(rt, queryPlan(root))
	if err != nil {
		k.t.Fatal(err)
	}
	return rows
}

func queryPlan(root Node) *Plan {
	p := &Plan{Root: root, IsQuery: true, Columns: make([]sqlapi.ColumnInfo, len(Types(root)))}
	return p.Seal()
}

func (k *kit) tryQuery(rt *Runtime, p *Plan) ([]string, error) {
	c := &collector{}
	_, err := Run(rt, p, c)
	return c.rows, err
}

// exec seals and runs a write with parameters.
func (k *kit) exec(rt *Runtime, root Node, params ...types.Value) sqlapi.Result {
	k.t.Helper()
	res, err := k.tryExec(rt, root, params...)
	if err != nil {
		k.t.Fatal(err)
	}
	return res
}

func (k *kit) tryExec(rt *Runtime, root Node, params ...types.Value) (sqlapi.Result, error) {
	rt.Ctx.Params = params
	return Run(rt, (&Plan{Root: root, Params: len(params)}).Seal(), nil)
}

// call builds a function call.
func (k *kit) call(name string, args ...expr.Expr) expr.Expr {
	k.t.Helper()
	e, err := expr.Call(k.build, name, args...)
	if err != nil {
		k.t.Fatal(err)
	}
	return e
}

func (k *kit) agg(name string, args ...expr.Expr) *expr.AggSpec {
	k.t.Helper()
	a, err := expr.NewAgg(k.build, name, false, args, expr.AggOptions{})
	if err != nil {
		k.t.Fatal(err)
	}
	return a
}

func lit(n int64) expr.Expr     { return expr.Literal(types.Int(n)) }
func param(i int) expr.Expr     { return expr.Param(i, bigintType) }
func textParam(i int) expr.Expr { return expr.Param(i, charType(120)) }
func eq(es ...expr.Expr) Range  { return Range{Eq: es} }
func between(lo, hi expr.Expr) Range {
	return Range{Low: Bound{Expr: lo, Incl: true}, High: Bound{Expr: hi, Incl: true}}
}

// col refers to column i of t in a node that yields all columns.
func col(t *catalog.Table, i int) expr.Expr {
	return expr.Column(i, t.Columns[i].Type, t.Columns[i].Name)
}

// lockByPK is the input of a point write.
func (k *kit) lockByPK(t *catalog.Table, key expr.Expr) *LockRows {
	return &LockRows{
		Input: &PointGet{Table: t, Index: t.PK, Keys: [][]expr.Expr{{key}}, Cols: []int{RowKey}},
		Table: t, Mode: LockExclusive, Where: k.call("=", col(t, 0), key), Cols: append(plainCols(t), RowKey),
	}
}

func plainCols(t *catalog.Table) []int {
	cols := make([]int, len(t.Columns))
	for i := range cols {
		cols[i] = i
	}
	return cols
}

// fill inserts rows id 1..n with k = id*7 % 100 and readable texts, in one statement
// per batch.
func (k *kit) fill(rt *Runtime, t *catalog.Table, n int) {
	k.t.Helper()
	const batch = 1000
	for from := 1; from <= n; from += batch {
		var params []types.Value
		rows := 0
		for id := from; id < from+batch && id <= n; id++ {
			params = append(params, types.Int(int64(id)), types.Int(int64(id*7%100)),
				types.Text(cText(id)), types.Text(fmt.Sprintf("pad-%d", id)))
			rows++
		}
		res := k.exec(rt, &Insert{Table: t, Cols: []int{0, 1, 2, 3}, ParamRows: rows}, params...)
		if res.AffectedRows != uint64(rows) {
			k.t.Fatalf("inserted %d rows, want %d", res.AffectedRows, rows)
		}
	}
}

// cText is column c of row id: every value twice, in another order than the ids.
func cText(id int) string { return fmt.Sprintf("%05d-%05d", (id/2*7919)%100000, id/2) }

func sameRows(t testing.TB, what string, got, want []string) {
	t.Helper()
	if len(got) == len(want) {
		same := true
		for i := range got {
			same = same && got[i] == want[i]
		}
		if same {
			return
		}
	}
	show := func(rows []string) string {
		if len(rows) > 12 {
			rows = append(append([]string(nil), rows[:12]...), fmt.Sprintf("… %d rows", len(rows)))
		}
		return strings.Join(rows, "\n  ")
	}
	t.Fatalf("%s\ngot\n  %s\nwant\n  %s", what, show(got), show(want))
}
