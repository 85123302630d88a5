package exec

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/pandodb/pando/expr"
	"github.com/pandodb/pando/internal/testkit"
	"github.com/pandodb/pando/kvapi"
	"github.com/pandodb/pando/types"
)

// windowRow is a row of the model: partition, order key (nil is NULL), value (nil is NULL).
type windowRow struct {
	part       int
	key, value any
}

// windowCase is a random window over one partition column and one order key.
type windowCase struct {
	rows    []windowRow
	ordered bool
	desc    bool
	frame   WindowFrame
	offsets [2]int // of Start and End
}

func (c *windowCase) less(a, b any) bool { // NULL first, or last if descending
	if a == nil || b == nil {
		return (a == nil && b != nil) != c.desc && a != b
	}
	return a.(int) != b.(int) && (a.(int) < b.(int)) != c.desc
}

// inFrame says by the definition whether row j is in the frame of row i of one partition.
func (c *windowCase) inFrame(rows []windowRow, i, j int) bool {
	peer := !c.ordered || rows[i].key == rows[j].key
	side := func(bound *FrameBound, offset int, start bool) bool {
		kind := bound.Kind
		if kind == UnboundedPreceding || kind == UnboundedFollowing {
			return true
		}
		if c.frame.Unit == FrameRows {
			at := i
			switch kind {
			case OffsetPreceding:
				at -= offset
			case OffsetFollowing:
				at += offset
			}
			return start && j >= at || !start && j <= at
		}
		if kind == CurrentRow || rows[i].key == nil {
			return peer || (j > i) == start
		}
		if rows[j].key == nil {
			return (j > i) == start
		}
		limit := rows[i].key.(int)
		if (kind == OffsetPreceding) != c.desc {
			limit -= offset
		} else {
			limit += offset
		}
		return rows[j].key == limit || c.less(limit, rows[j].key) == start
	}
	return side(&c.frame.Start, c.offsets[0], true) && side(&c.frame.End, c.offsets[1], false)
}

// drawFrame draws a frame that MySQL allows.
func (c *windowCase) drawFrame(r *rand.Rand, k *kit) {
	c.frame.Unit = FrameUnit(r.IntN(2))
	kinds := []FrameBoundKind{UnboundedPreceding, OffsetPreceding, CurrentRow, OffsetFollowing, UnboundedFollowing}
	for {
		c.frame.Start.Kind, c.frame.End.Kind = kinds[r.IntN(4)], kinds[1+r.IntN(4)]
		offset := func(k FrameBoundKind) bool { return k == OffsetPreceding || k == OffsetFollowing }
		if c.frame.Start.Kind <= c.frame.End.Kind && (c.ordered || c.frame.Unit == FrameRows || !offset(c.frame.Start.Kind) && !offset(c.frame.End.Kind)) {
			break
		}
	}
	for i, b := range []*FrameBound{&c.frame.Start, &c.frame.End} {
		c.offsets[i] = r.IntN(6)
		b.Offset = lit(int64(c.offsets[i]))
		if c.frame.Unit == FrameRange {
			op := "+"
			if (b.Kind == OffsetPreceding) != c.desc {
				op = "-"
			}
			b.Offset = k.call(op, bigint(1), lit(int64(c.offsets[i])))
		}
	}
}

func (c *windowCase) node(k *kit, funcs []*WindowFunc) Node {
	src := &source{}
	for _, row := range c.rows {
		src.rows = append(src.rows, []any{row.part, row.key, row.value})
	}
	long := expr.Literal(types.Text(strings.Repeat("long ", 200)))
	n := &Window{Input: &Project{Input: src.node(3), Exprs: []expr.Expr{bigint(0), bigint(1), bigint(2), long}}, Partition: []expr.Expr{bigint(0)}, Funcs: funcs}
	if c.ordered {
		n.Order = []SortKey{{Expr: bigint(1), Desc: c.desc}}
	}
	short := &Project{Input: n, Exprs: []expr.Expr{bigint(0), bigint(1), bigint(2)}}
	for i, f := range funcs {
		short.Exprs = append(short.Exprs, expr.Column(4+i, f.Type, f.Desc))
	}
	return short
}

// windowFuncs are all functions, the aggregates with every way to slide.
func windowFuncs(k *kit, frame WindowFrame) []*WindowFunc {
	double := types.Type{ID: types.TypeDouble, Length: -1}
	fn := func(name string, t types.Type, args ...expr.Expr) *WindowFunc {
		return &WindowFunc{Name: name, Args: args, Type: t, Frame: frame, Desc: name}
	}
	funcs := []*WindowFunc{fn("row_number", bigintType), fn("rank", bigintType), fn("dense_rank", bigintType), fn("percent_rank", double),
		fn("cume_dist", double), fn("ntile", bigintType, lit(3)), fn("lag", bigintType, bigint(2)), fn("lead", bigintType, bigint(2), lit(2), k.call("neg", bigint(0))),
		fn("first_value", bigintType, bigint(2)), fn("last_value", bigintType, bigint(2)), fn("nth_value", bigintType, bigint(2), lit(2))}
	text := k.call("concat", bigint(2), expr.Literal(types.Text("x")))
	for _, spec := range []*expr.AggSpec{k.agg("count"), k.agg("sum", bigint(2)), k.agg("avg", bigint(2)), k.agg("min", text), k.agg("max", bigint(2)),
		k.agg("bit_xor", bigint(2)), k.agg("stddev_pop", bigint(2)), k.agg("json_arrayagg", bigint(2))} {
		funcs = append(funcs, &WindowFunc{Agg: spec, Type: spec.Type(), Frame: frame, Desc: spec.Name()})
	}
	return funcs
}

// model computes all functions by their definitions, a partition at a time.
func (c *windowCase) model(t *testing.T, rt *Runtime, funcs []*WindowFunc) []string {
	var out []string
	for from := 0; from < len(c.rows); {
		to := from
		for to < len(c.rows) && c.rows[to].part == c.rows[from].part {
			to++
		}
		part := c.rows[from:to]
		from = to
		for i := range part {
			fields := []string{fmt.Sprint(part[i].part), show(part[i].key), show(part[i].value)}
			for _, f := range funcs {
				fields = append(fields, c.modelFunc(t, rt, f, part, i))
			}
			out = append(out, strings.Join(fields, "|"))
		}
	}
	return out
}

func show(x any) string {
	if x == nil {
		return "NULL"
	}
	return fmt.Sprint(x)
}

func showValue(v types.Value) string {
	if v.IsNull() {
		return "NULL"
	}
	return string(types.AppendText(nil, nil, &v))
}

func (c *windowCase) modelFunc(t *testing.T, rt *Runtime, f *WindowFunc, part []windowRow, i int) string {
	n, before, same, groups := len(part), 0, 0, 1
	for j := range part {
		switch {
		case !c.ordered || part[j].key == part[i].key:
			same++
		case j < i:
			before++
			if part[j].key != part[j+1].key {
				groups++
			}
		}
	}
	var in []windowRow
	for j := range part {
		if c.inFrame(part, i, j) {
			in = append(in, part[j])
		}
	}
	at := func(rows []windowRow, j int, other any) string {
		if j < 0 || j >= len(rows) {
			return show(other)
		}
		return show(rows[j].value)
	}
	switch f.Desc {
	case "row_number":
		return fmt.Sprint(i + 1)
	case "rank":
		return fmt.Sprint(before + 1)
	case "dense_rank":
		return fmt.Sprint(groups)
	case "percent_rank":
		return showValue(types.Float(float64(before) / float64(max(n-1, 1))))
	case "cume_dist":
		return showValue(types.Float(float64(before+same) / float64(n)))
	case "ntile":
		for bucket, last := 1, 0; ; bucket++ {
			if last += (n + 3 - bucket) / 3; i < last {
				return fmt.Sprint(bucket)
			}
		}
	case "lag":
		return at(part, i-1, nil)
	case "lead":
		return at(part, i+2, -part[i].part)
	case "first_value":
		return at(in, 0, nil)
	case "last_value":
		return at(in, len(in)-1, nil)
	case "nth_value":
		return at(in, 1, nil)
	}
	s := f.Agg.NewStates()
	s.Grow(1)
	for _, row := range in {
		v := []types.Value{types.Int(int64(row.part)), types.Null(), types.Null()}
		for j, x := range []any{row.key, row.value} {
			if x != nil {
				v[1+j] = types.Int(int64(x.(int)))
			}
		}
		if err := s.Add(rt.Ctx, 0, v); err != nil {
			t.Fatal(err)
		}
	}
	v, err := s.Result(rt.Ctx, 0)
	if err != nil {
		t.Fatal(err)
	}
	return showValue(v)
}

func (c *windowCase) drawRows(r *rand.Rand, partitions, length, keys int) {
	for part := range partitions {
		rows := make([]windowRow, length-r.IntN(length/2+1))
		for i := range rows {
			rows[i] = windowRow{part: part, key: r.IntN(keys), value: r.IntN(100)}
			if r.IntN(6) == 0 {
				rows[i].key = nil
			}
			if r.IntN(6) == 0 {
				rows[i].value = nil
			}
		}
		if c.ordered {
			slices.SortStableFunc(rows, func(a, b windowRow) int {
				switch {
				case c.less(a.key, b.key):
					return -1
				case c.less(b.key, a.key):
					return 1
				}
				return 0
			})
		}
		c.rows = append(c.rows, rows...)
	}
}

// TestWindowAgreesWithModel: every function over random partitions and frames, in memory, with partitions on disk, and opened twice.
func TestWindowAgreesWithModel(t *testing.T) {
	r := testkit.Rand(testkit.Seed(t), 15)
	k := newKit(t)
	for i := range testkit.Repeat(51) {
		c := &windowCase{ordered: r.IntN(6) > 0, desc: r.IntN(2) == 0}
		c.drawFrame(r, k)
		if i%50 == 0 {
			c.drawRows(r, 2, 1, 300)
			c.drawRows(r, 1, 900, 300)
		} else {
			c.drawRows(r, 1+r.IntN(8), 1+r.IntN(30), 1+r.IntN(20))
		}
		funcs := windowFuncs(k, c.frame)
		want := c.model(t, k.runtime(), funcs)
		name := fmt.Sprintf("%d: %+v %v ordered %v desc %v", i, c.frame, c.offsets, c.ordered, c.desc)
		p := queryPlan(c.node(k, funcs))
		for _, tight := range []bool{false, true} {
			rt := k.runtime()
			rt.Mem = NewMemTracker(1 << 30)
			if tight {
				if i%50 != 0 {
					continue
				}
				// Others hold what leaves room for the states of sliding frames, and none for rows.
				rt.Mem = NewMemTracker(2 << 20)
				filler := rt.account()
				_ = filler.set(1200 << 10)
				defer filler.close()
			}
			before := rt.Mem.Used()
			got, err := k.tryQuery(rt, p)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			sameRows(t, name, got, want)
			if !tight && i%50 == 0 && rt.Mem.Peak() < 400<<10 {
				t.Error("the partitions fit into little memory")
			}
			if rt.Mem.Used() != before {
				t.Errorf("%s: %d bytes still accounted", name, rt.Mem.Used()-before)
			}
		}
		if i%10 == 0 {
			twice := &Apply{Left: (&source{rows: [][]any{{1}, {2}}}).node(1), Right: c.node(k, funcs)}
			got := k.query(k.runtime(), twice)
			for j, row := range got {
				sameRows(t, name+" twice", []string{row[2:]}, []string{want[j%len(want)]})
			}
		}
	}
}

// TestWindowArguments: what MySQL 9.7 refuses when it runs the statement.
func TestWindowArguments(t *testing.T) {
	k := newKit(t)
	null := expr.Literal(types.Null())
	rows := (&source{rows: [][]any{{1}, {2}, {3}}}).node(1)
	run := func(f *WindowFunc) (string, error) {
		got, err := k.tryQuery(k.runtime(), queryPlan(&Window{Input: rows, Funcs: []*WindowFunc{f}}))
		return strings.Join(got, " "), err
	}
	whole := WindowFrame{End: FrameBound{Kind: UnboundedFollowing}}
	for _, c := range []struct {
		name string
		args []expr.Expr
		want string
	}{
		{"ntile", []expr.Expr{lit(0)}, "Incorrect arguments to ntile"},
		{"ntile", []expr.Expr{null}, "Incorrect arguments to ntile"},
		{"ntile", []expr.Expr{lit(1 << 40)}, "1|1 2|2 3|3"},
		{"lag", []expr.Expr{bigint(0), lit(-1)}, "Incorrect arguments to lag"},
		{"lead", []expr.Expr{bigint(0), null}, "Incorrect arguments to lead"},
		{"lead", []expr.Expr{bigint(0), expr.Literal(types.Uint(1 << 63))}, "1|NULL 2|NULL 3|NULL"},
		{"nth_value", []expr.Expr{bigint(0), lit(0)}, "Incorrect arguments to nth_value"},
		{"nth_value", []expr.Expr{bigint(0), null}, "1|NULL 2|NULL 3|NULL"},
	} {
		got, err := run(&WindowFunc{Name: c.name, Args: c.args, Type: bigintType, Frame: whole})
		if err != nil {
			got = err.(*types.Error).Message
		}
		if got != c.want {
			t.Errorf("%s: got %s, want %s", c.name, got, c.want)
		}
	}
	for _, offset := range []expr.Expr{lit(-1), null, expr.Literal(types.Decimal(15, 1))} {
		frame := WindowFrame{Start: FrameBound{Kind: OffsetPreceding, Offset: offset}, End: FrameBound{Kind: CurrentRow}}
		if _, err := run(&WindowFunc{Agg: k.agg("count"), Type: bigintType, Frame: frame}); number(err) != 3586 {
			t.Errorf("%s: %v", offset, err)
		}
	}
	frame := WindowFrame{Start: FrameBound{Kind: OffsetPreceding, Offset: lit(2)}, End: FrameBound{Kind: OffsetPreceding, Offset: lit(3)}}
	if got, err := run(&WindowFunc{Agg: k.agg("sum", bigint(0)), Type: types.Type{ID: types.TypeDecimal, Length: 41}, Frame: frame}); got != "1|NULL 2|NULL 3|NULL" {
		t.Errorf("a frame that ends before it begins: %s, %v", got, err)
	}
}

// TestWindowIsInterrupted: KILL ends a function whose frames are computed again and again.
func TestWindowIsInterrupted(t *testing.T) {
	k := newKit(t)
	rt := k.runtime()
	rt.Interrupt, rt.Mem = new(kvapi.Interrupt), NewMemTracker(1<<30)
	src := randomSource(testkit.Rand(1, 1), 20_000, 1, 1<<30)
	polls := 0
	// The argument is evaluated per row of each frame; the frames are all that is left.
	frame := WindowFrame{Start: FrameBound{Kind: CurrentRow}, End: FrameBound{Kind: UnboundedFollowing}}
	spec := k.agg("stddev_pop", bigint(0))
	last := &RowSource{Out: []types.Type{bigintType}, Fill: func(_ *Runtime, emit func([]types.Value) error) error {
		polls++
		rt.Interrupt.Set(kvapi.ReasonKillQuery)
		return nil
	}}
	in := &UnionAll{Out: []types.Type{bigintType}, Inputs: []Node{src.node(1), last}}
	w := &Window{Input: in, Funcs: []*WindowFunc{{Agg: spec, Type: spec.Type(), Frame: frame}}}
	if _, err := k.tryQuery(rt, queryPlan(w)); number(err) != types.ErQueryInterrupted {
		t.Fatalf("want 1317, got %v", err)
	}
	if polls != 1 {
		t.Error("the input was read again")
	}
	clean(t, rt)
}

// counting evaluates a subquery to its argument and counts.
type counting struct{ calls int }

func (s *counting) EvalSubplan(ctx *expr.Ctx, _ any, args []expr.Expr, row []types.Value) (types.Value, error) {
	s.calls++
	return args[0].Eval(ctx, row)
}

// TestWindowFramesAreLinear: frames that grow add each row once, those that slide add it twice.
func TestWindowFramesAreLinear(t *testing.T) {
	k := newKit(t)
	const rows = 20_000
	src := randomSource(testkit.Rand(1, 1), rows, 1, 1<<30)
	arg := expr.Subquery("(counted)", bigintType, expr.CoerImplicit, 0, []expr.Expr{bigint(0)}, new(int))
	for _, c := range []struct {
		frame WindowFrame
		most  int
	}{
		{WindowFrame{Unit: FrameRange, End: FrameBound{Kind: CurrentRow}}, rows},
		{WindowFrame{End: FrameBound{Kind: CurrentRow}}, rows},
		{WindowFrame{Start: FrameBound{Kind: OffsetPreceding, Offset: lit(5000)}, End: FrameBound{Kind: CurrentRow}}, 2 * rows},
		{WindowFrame{Start: FrameBound{Kind: CurrentRow}, End: FrameBound{Kind: UnboundedFollowing}}, 2 * rows},
	} {
		spec, count := k.agg("sum", arg), new(counting)
		w := &Window{Input: src.node(1), Order: []SortKey{{Expr: bigint(0)}}, Funcs: []*WindowFunc{{Agg: spec, Type: spec.Type(), Frame: c.frame}}}
		rt := k.runtime()
		rt.Ctx.Subplans = count
		if got := k.query(rt, w); len(got) != rows || count.calls > c.most {
			t.Errorf("%+v: %d rows, %d evaluations", c.frame, len(got), count.calls)
		}
	}
}
