package check

import (
	"slices"
	"testing"
	"time"
)

func app(key string, v int) Op       { return Op{Key: key, Append: v} }
func read(key string, vs ...int) Op  { return Op{Key: key, Read: append([]int{}, vs...)} }
func add(set string, v int) Op       { return Op{Set: set, Append: v} }
func find(set string, vs ...int) Op  { return Op{Set: set, Read: append([]int{}, vs...)} }
func txn(ops ...Op) Txn              { return Txn{Ops: ops} }
func ended(o Outcome, ops ...Op) Txn { return Txn{Ops: ops, Outcome: o} }
func at(begin, end int64, t Txn) Txn { t.Begin, t.End = begin, end; return t }

// TestListAppendCanaries feeds histories with one anomaly each; a checker that
// finds nothing in them is broken (C2).
func TestListAppendCanaries(t *testing.T) {
	for _, c := range []struct {
		name string
		want []string
		txns []Txn
	}{
		{"clean", nil, []Txn{
			txn(app("x", 1)), txn(read("x", 1), app("x", 2)), ended(Aborted, app("x", 3)),
			txn(read("x", 1, 2), read("y")),
		}},
		{"unknown that committed", nil, []Txn{ended(Unknown, app("x", 1)), txn(read("x", 1))}},
		{"G0", []string{"G0"}, []Txn{
			txn(app("x", 1), app("y", 1)), txn(app("x", 2), app("y", 2)), txn(read("x", 1, 2), read("y", 2, 1)),
		}},
		{"G1a", []string{"G1a"}, []Txn{ended(Aborted, app("x", 1)), txn(read("x", 1))}},
		{"G1b", []string{"G1b", "G-single"}, []Txn{txn(app("x", 1), app("x", 2)), txn(read("x", 1)), txn(read("x", 1, 2))}},
		{"G1c", []string{"G1c"}, []Txn{
			txn(app("x", 1), read("y", 1)), txn(app("y", 1), read("x", 1)), txn(read("x", 1), read("y", 1)),
		}},
		{"G-single", []string{"G-single"}, []Txn{
			txn(read("x"), read("y", 1)), txn(app("x", 1), app("y", 1)), txn(read("x", 1), read("y", 1)),
		}},
		{"G2-item", []string{"G2-item"}, []Txn{
			txn(read("x"), app("y", 1)), txn(read("y"), app("x", 1)), txn(read("x", 1), read("y", 1)),
		}},
		{"clean sets", nil, []Txn{
			txn(add("s", 1), find("s", 1)), txn(find("s", 1), add("s", 2)), ended(Aborted, add("s", 3)), txn(find("s", 1, 2)),
		}},
		{"G2", []string{"G2"}, []Txn{
			txn(find("s"), add("s", 1)), txn(find("s"), add("s", 2)), txn(find("s", 1, 2)),
		}},
		{"G2 over two sets", []string{"G2"}, []Txn{
			txn(find("s"), add("r", 1)), txn(find("r"), app("x", 1)), txn(read("x"), add("s", 2)), txn(find("s", 2), find("r", 1), read("x", 1)),
		}},
		{"phantom", []string{"G-single"}, []Txn{
			txn(find("s"), find("s", 1)), txn(add("s", 1)), txn(find("s", 1)),
		}},
		{"a set of an aborted transaction", []string{"G1a"}, []Txn{ended(Aborted, add("s", 1)), txn(find("s", 1))}},
		{"garbage in a set", []string{"garbage"}, []Txn{txn(find("s", 9))}},
		{"lost from a set", []string{"lost-append"}, []Txn{txn(add("s", 1)), txn(find("s"))}},
		{"lost update", []string{"lost-append", "lost-update"}, []Txn{
			txn(read("x"), app("x", 1)), txn(read("x"), app("x", 2)), txn(read("x", 2)),
			txn(app("x", 3)), txn(read("x", 2, 3)),
		}},
		{"lost append", []string{"lost-append"}, []Txn{txn(app("x", 1)), txn(read("x"))}},
		{"order", []string{"order"}, []Txn{txn(app("x", 1)), txn(app("x", 2)), txn(read("x", 2)), txn(read("x", 1, 2))}},
		{"garbage", []string{"garbage"}, []Txn{txn(read("x", 9))}},
		{"stale", []string{"stale"}, []Txn{
			at(1, 2, txn(app("x", 1))), at(3, 4, txn(read("x"))), at(5, 6, txn(read("x", 1))),
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := Names(ListAppend(c.txns))
			for _, want := range c.want {
				if !slices.Contains(got, want) {
					t.Errorf("found %v, not %s", got, want)
				}
			}
			if len(c.want) == 0 && len(got) > 0 {
				t.Errorf("found %v in a clean history", ListAppend(c.txns))
			}
		})
	}
}

func TestRegisterCanary(t *testing.T) {
	w := func(client, v int, call, done int64) RegisterOp {
		return RegisterOp{Client: client, Key: "x", Write: true, Value: v, Call: call, Done: done}
	}
	r := func(client, v int, call, done int64) RegisterOp {
		return RegisterOp{Client: client, Key: "x", Value: v, Call: call, Done: done}
	}
	good := []RegisterOp{w(0, 1, 0, 10), r(1, 0, 1, 2), r(1, 1, 3, 4), r(2, 1, 11, 12)}
	if ok, decided := Linearizable(good, time.Minute); !ok || !decided {
		t.Error("a linearizable history was refused")
	}
	stale := []RegisterOp{w(0, 1, 0, 10), r(1, 0, 11, 12)}
	back := []RegisterOp{w(0, 1, 0, 10), r(1, 1, 1, 2), r(1, 0, 3, 4)}
	for _, bad := range [][]RegisterOp{stale, back} {
		if ok, decided := Linearizable(bad, time.Minute); ok || !decided {
			t.Error("a stale read passed")
		}
	}
}

func TestCountingCanaries(t *testing.T) {
	if Monotonic([]int{1, 2, 2, 5}) != -1 || Monotonic([]int{1, 3, 2}) != 2 {
		t.Error("monotonic")
	}
	if Bank([][]int{{1, 2}, {3, 0}}, 3) != -1 || Bank([][]int{{1, 2}, {3, 1}}, 3) != 1 {
		t.Error("bank")
	}
}

// TestRecorder: what clients saw is judged, of lists and of a bank, and what is wrong is told (C2).
func TestRecorder(t *testing.T) {
	for name, c := range map[string]struct {
		seen         *Recorder
		first, later string // what two transactions read of the key that both write
		last         []string
		faults       int
	}{
		"lists":             {NewLists(), "", "1", []string{"1 2", ""}, 0},
		"lists, lost":       {NewLists(), "", "", []string{"2", ""}, 1},
		"bank":              {NewBank(2, 100), "100", "101", []string{"102", "98"}, 0},
		"bank, money gone":  {NewBank(2, 100), "100", "101", []string{"101", "98"}, 1},
		"bank, money found": {NewBank(2, 100), "100", "100", []string{"101", "100"}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			for i, value := range []string{c.first, c.later} {
				var txn Txn
				written := c.seen.Write(&txn, 0, "a", value, i+1)
				if c.seen.Bank() && Numbers(written)[0] != Numbers(value)[0]+1 {
					t.Errorf("%s becomes %s", value, written)
				}
				c.seen.Ended(txn)
			}
			c.seen.Ended(ended(Aborted, app("b", 7)))
			var last Txn
			c.seen.Read(&last, "a", c.last[0])
			c.seen.Read(&last, "b", c.last[1])
			c.seen.Ended(last)
			if n, committed := c.seen.Count(); n != 4 || committed != 3 {
				t.Errorf("%d transactions, %d committed", n, committed)
			}
			if faults := c.seen.Faults(); (len(faults) > 0) != (c.faults > 0) {
				t.Errorf("faults %v", faults)
			}
		})
	}
}
