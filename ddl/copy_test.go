package ddl_test

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/pandodb/pando/ddl"
	"github.com/pandodb/pando/engine"
	"github.com/pandodb/pando/internal/testkit"
	"github.com/pandodb/pando/kvapi"
	"github.com/pandodb/pando/table"
	"github.com/pandodb/pando/types"
)

// recast is an ALTER TABLE that copies: k becomes text and comes first, rows are keyed by it, and c gets an index.
func recast() []ddl.AlterSpec {
	k := col("kk", types.TypeVarchar, true)
	k.First = true
	id := col("id", types.TypeBigInt, true)
	return []ddl.AlterSpec{
		ddl.ModifyColumn{From: "k", Column: k}, ddl.ModifyColumn{From: "id", Column: id}, ddl.DropIndex{Name: "PRIMARY"},
		ddl.AddIndex{Index: primaryKey("kk", "id")}, ddl.AddIndex{Index: key("ic", true, "c")},
	}
}

// recasted tells whether recast was executed, and fails if only a part of it was.
func (n *node) recasted(tab string) bool {
	n.tb.Helper()
	t := n.table(tab)
	text := ""
	for _, c := range t.Columns {
		text += c.Name + " " + c.Type.Name() + " "
	}
	for _, ix := range t.Indexes {
		text += fmt.Sprintf("%s:%d:%v ", ix.Name, len(ix.Columns), ix.State)
	}
	n.check(tab)
	switch text {
	case "id int k int c varchar PRIMARY:1:public ":
		return false
	case "kk varchar id bigint c varchar PRIMARY:2:public ic:1:public ":
		return true
	}
	n.tb.Fatalf("half of the statement is there: %s", text)
	return false
}

// tableKeys counts all keys of all tables but those of others.
func (n *node) tableKeys(others ...string) int {
	first, last := table.DataSpan(1), table.DataSpan(1<<40)
	keys := n.count(kvapi.Span{Start: first.Start, End: last.End})
	for _, o := range others {
		keys -= n.count(table.DataSpan(n.table(o).PhysID))
	}
	return keys
}

// TestCopyIsAtomicInCrashes: whenever a crash interrupts an ALTER TABLE that copies, the next start finds the old table or the new one, with all
// rows, and no data of the other.
func TestCopyIsAtomicInCrashes(t *testing.T) {
	var before, after int
	for round := 0; round < 10 && (before < 6 || after < 2); round++ { // how many of the others' commits fall into the copy is random
		b, a := crashCopy(t)
		before, after = before+b, after+a
	}
	if before < 6 || after < 2 {
		t.Errorf("%d crashes before the end, %d after it", before, after)
	}
}

// crashCopy runs one ALTER TABLE that copies, and checks what crashes leave. It returns how many came before the new table was published, and how many
// after.
func crashCopy(t *testing.T) (before, after int) {
	const rows = 2500 // several pages
	fs := engine.NewMemFS()
	var mu sync.Mutex
	var calls int
	var crashed []*engine.MemFS
	var watching atomic.Bool
	// The process dies before each sync of the log and each write to it; the machine, which loses what was not synced, before each sync.
	crash := func(name string, machine bool) {
		if !watching.Load() || !testkit.IsWAL(name) {
			return
		}
		mu.Lock()
		defer mu.Unlock()
		if calls++; calls%11 != 0 && calls > 12 { // enough of them
			return
		}
		crashed = append(crashed, fs.CrashClone(engine.CrashConfig{UnsyncedDataPercent: 100, RNG: testkit.Rand(1, 1)}))
		if machine {
			crashed = append(crashed, fs.CrashClone(engine.CrashConfig{}))
		}
	}
	hook := &testkit.HookFS{FS: fs, OnSync: func(name string) (bool, error) { crash(name, true); return false, nil },
		OnWrite: func(name string, _ int) error { crash(name, false); return nil }}
	eng, err := engine.Open(engine.Options{Dir: "data", FS: hook, LowSpaceBytes: engine.NoSpace, BallastBytes: engine.NoSpace})
	if err != nil {
		t.Fatal(err)
	}
	n := openOn(t, eng, fs)
	n.sbtest("t")
	n.fill("t", 1, rows+1, func(id int) int { return id % 10 })
	// Durable commits of others bring rows of the copy to the disk before its end.
	n.sbtest("o")
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for id := 1; ; id++ {
			select {
			case <-stop:
				return
			default:
				n.fill("o", id, id+1, func(id int) int { return id })
			}
		}
	}()
	watching.Store(true)
	n.must(n.ex.AlterTable(&ddl.Call{}, name("t"), recast()))
	waitFor(t, func() bool { return len(n.ex.Jobs()) == 0 })
	watching.Store(false)
	close(stop)
	<-stopped
	n.close(false)
	crashed = append(crashed, fs.CrashClone(engine.CrashConfig{}))
	for i, fs := range crashed {
		t.Run(fmt.Sprint("crash ", i), func(t *testing.T) {
			n := openNode(t, fs)
			defer n.close(true)
			waitFor(t, func() bool { return len(n.ex.Jobs()) == 0 })
			if n.recasted("t") {
				after++
			} else {
				before++
				if got := n.tableKeys("o"); got != rows {
					t.Fatalf("%d keys for %d rows: something of the copy is left", got, rows)
				}
				n.must(n.ex.AlterTable(&ddl.Call{}, name("t"), recast()))
			}
			waitFor(t, func() bool { return len(n.ex.Jobs()) == 0 })
			if got := n.tableKeys("o"); !n.recasted("t") || got != 2*rows {
				t.Fatalf("%d keys for %d rows and an index", got, rows)
			}
		})
	}
	return before, after
}

// TestCopyFails: a copy that is ended by a duplicate or by KILL leaves the table as it was, and no other data.
func TestCopyFails(t *testing.T) {
	const rows = 5000
	var killed kvapi.Interrupt
	killed.Set(kvapi.ReasonKillQuery)
	small := col("k", types.TypeTinyInt, true)
	for what, c := range map[string]struct {
		call    ddl.Call
		actions []ddl.AlterSpec
		want    error
	}{
		"duplicate": {actions: []ddl.AlterSpec{ddl.DropIndex{Name: "PRIMARY"}, ddl.ModifyColumn{From: "id", Column: col("id", types.TypeBigInt, true)},
			ddl.AddIndex{Index: primaryKey("k")}}, want: types.Errorf(types.ErDupEntry, "4999", "t.PRIMARY")},
		"range":  {actions: []ddl.AlterSpec{ddl.ModifyColumn{From: "k", Column: small}}, want: types.Errorf(types.ErWarnDataOutOfRange, "k", 128)},
		"killed": {call: ddl.Call{Interrupt: &killed}, actions: recast(), want: kvapi.ErrInterrupted},
	} {
		t.Run(what, func(t *testing.T) {
			n := openNode(t, nil)
			defer n.close(true)
			n.sbtest("t")
			n.fill("t", 1, rows+1, func(id int) int { return min(id, rows-1) })
			var want *types.Error
			err := n.ex.AlterTable(&c.call, name("t"), c.actions)
			if errors.As(c.want, &want) && (err == nil || err.Error() != c.want.Error()) || !errors.Is(err, c.want) {
				t.Errorf("%v", err)
			}
			waitFor(t, func() bool { return len(n.ex.Jobs()) == 0 })
			if got := n.tableKeys(); n.recasted("t") || got != rows {
				t.Errorf("%d keys for %d rows", got, rows)
			}
			n.fill("t", rows+1, rows+11, func(id int) int { return id })
			n.check("t")
		})
	}
}
