package ddl_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/pandodb/pando/catalog"
	"github.com/pandodb/pando/ddl"
	"github.com/pandodb/pando/engine"
	"github.com/pandodb/pando/internal/testkit"
	"github.com/pandodb/pando/keys"
	"github.com/pandodb/pando/kvapi"
	"github.com/pandodb/pando/table"
	"github.com/pandodb/pando/txn"
)

// words inserts rows, each in a commit of its own, from whose strings the dictionary of table a is trained.
func (n *node) words(from, to int) {
	n.tb.Helper()
	for id := from; id < to; id++ {
		text := strings.Repeat("the quick brown fox ", 3)[id%20:][:40]
		n.must(n.statement(n.use, "a", func(tx *txn.Txn, t *catalog.Table) error {
			return table.NewWriter(t, n.ids).Insert(tx, row(id, id, text), table.InsertCheck)
		}))
	}
}

func (n *node) dictionaries() (stored int, newest uint32) {
	n.tb.Helper()
	_, newest = n.table("a").Dictionaries().Newest()
	return n.count(catalog.KindSpan(catalog.KindDictionary)), newest
}

func (n *node) wantDictionaries(when string, stored int, newest uint32) {
	n.tb.Helper()
	if s, d := n.dictionaries(); s != stored || d != newest {
		n.tb.Errorf("%s: %d dictionaries are stored, number %d is the newest; want %d and %d", when, s, d, stored, newest)
	}
}

// TestDictionaryOutlivesCrash: whenever the power fails, a row that survives finds its dictionary, and later rows use it.
func TestDictionaryOutlivesCrash(t *testing.T) {
	r := testkit.Rand(testkit.Seed(t), 1)
	fs := engine.NewMemFS()
	n := openNode(t, fs)
	defer n.close(false)
	n.sbtest("a")
	// 64 KiB of strings of 40 bytes each: the dictionary is trained at row 1,640 or so.
	n.words(0, 1600)
	for from := 1600; from < 1700; from += 5 {
		n.words(from, from+5)
		again := openNode(t, fs.CrashClone(engine.CrashConfig{UnsyncedDataPercent: 50, RNG: r}))
		if report := again.check("a"); report.Rows != uint64(from+5) {
			t.Fatalf("%d rows of %d after a crash", report.Rows, from+5)
		}
		_, want := n.dictionaries()
		again.wantDictionaries("after a crash", int(want), want)
		again.words(from+5, from+50)
		again.check("a")
		again.close(false)
	}
	n.wantDictionaries("in the end", 1, 1)
}

// TestDictionaryOutlivesCrashUnsynced: the same for commits that do not wait for the sync of the log.
func TestDictionaryOutlivesCrashUnsynced(t *testing.T) {
	r := testkit.Rand(testkit.Seed(t), 1)
	fs := engine.NewMemFS()
	n := openNode(t, fs)
	defer n.close(false)
	n.sbtest("a")
	n.must(n.store.SetRelaxed(true))
	for from := 0; from < 2000; from += 40 {
		n.words(from, from+40)
		again := openNode(t, fs.CrashClone(engine.CrashConfig{UnsyncedDataPercent: 50, RNG: r}))
		again.check("a")
		again.close(false)
	}
	n.wantDictionaries("in the end", 1, 1)
}

// TestDictionaryOnFullDisk: a statement that can't store its dictionary writes its rows without one; a later statement makes it.
func TestDictionaryOnFullDisk(t *testing.T) {
	n, setFull := openSmall(t)
	defer n.close(true)
	n.sbtest("a")
	setFull(true)
	err := n.statement(n.use, "a", func(tx *txn.Txn, t *catalog.Table) error {
		w := table.NewWriter(t, n.ids)
		for id := range 2000 {
			if err := w.Insert(tx, row(id, id, strings.Repeat("full disk ", 4)), table.InsertCheck); err != nil {
				n.tb.Errorf("row %d: %v", id, err)
				return err
			}
		}
		return nil
	})
	if !errors.Is(err, kvapi.ErrDiskFull) {
		t.Errorf("the commit on a full disk: %v", err)
	}
	n.wantDictionaries("on a full disk", 0, 0)
	setFull(false)
	n.words(0, 1000)
	n.wantDictionaries("with space", 1, 1)
	n.check("a")
}

// TestDictionaryGoesWithData: versions of a table share its dictionaries, a new key space has none, and those of a dropped one are deleted.
func TestDictionaryGoesWithData(t *testing.T) {
	fs := engine.NewMemFS()
	n := openNode(t, fs)
	n.sbtest("a")
	n.words(0, 2000)
	n.wantDictionaries("after the load", 1, 1)
	n.must(n.ex.CreateIndex(&ddl.Call{}, name("a"), key("k", false, "k", "c")))
	n.wantDictionaries("with an index", 1, 1)
	n.words(2000, 2100)
	n.check("a")
	n.close(true)
	n = openNode(t, fs)
	defer func() { n.close(true) }()
	n.wantDictionaries("after a restart", 1, 1)
	n.words(2100, 5000)
	n.wantDictionaries("after more of the same", 1, 1)
	n.check("a")
	n.must(n.ex.TruncateTable(&ddl.Call{}, name("a")))
	waitFor(t, func() bool { return len(n.ex.Jobs()) == 0 })
	n.wantDictionaries("after TRUNCATE", 0, 0)
	n.words(0, 2000)
	n.wantDictionaries("after the second load", 1, 1)
	n.check("a")
	n.must(n.ex.DropTables(&ddl.Call{}, []ddl.Name{name("a")}, false))
	waitFor(t, func() bool { return len(n.ex.Jobs()) == 0 })
	if left := n.count(catalog.KindSpan(catalog.KindDictionary)); left > 0 {
		t.Errorf("%d dictionaries are left of a dropped table", left)
	}
}

// TestDamagedDictionary: a node does not open with dictionaries that it can't read.
func TestDamagedDictionary(t *testing.T) {
	n := openNode(t, nil)
	defer n.close(true)
	n.sbtest("a")
	n.words(0, 2000)
	part := catalog.IDPart(n.table("a").PhysID)
	first, second := keys.SystemKey(nil, catalog.KindDictionary, part, []byte{0, 0, 0, 1}), keys.SystemKey(nil, catalog.KindDictionary, part, []byte{0, 0, 0, 2})
	records, err := catalog.ScanAll(n.txns, catalog.KindDictionary)
	n.must(err)
	sound := records[0]
	write := func(key, value []byte) {
		t.Helper()
		tx := n.txns.Begin(txn.Options{Level: txn.ReadCommitted})
		defer tx.Release()
		_, _, err := tx.Lock(key, kvapi.LockExclusive, kvapi.WaitDefault, nil)
		n.must(err)
		n.must(tx.Put(key, value))
		n.must(tx.Commit())
	}
	for what, damaged := range map[string][]byte{
		"empty": {}, "a header": sound[:13], "cut": sound[:len(sound)-1], "format 2": append([]byte{2}, sound[1:]...),
	} {
		write(first, damaged)
		if _, err := catalog.Open(n.txns); !errors.Is(err, kvapi.ErrCorrupt) {
			t.Errorf("%s: %v", what, err)
		}
	}
	write(first, sound)
	if _, err := catalog.Open(n.txns); err != nil {
		t.Errorf("the sound record: %v", err)
	}
	write(second, sound)
	if _, err := catalog.Open(n.txns); !errors.Is(err, kvapi.ErrCorrupt) {
		t.Errorf("number 1 at the place of 2: %v", err)
	}
}
