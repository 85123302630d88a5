package tests

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/pandodb/pando/catalog"
	"github.com/pandodb/pando/engine"
	"github.com/pandodb/pando/internal/testkit"
	"github.com/pandodb/pando/kv"
	"github.com/pandodb/pando/kvapi"
	"github.com/pandodb/pando/rpc"
	"github.com/pandodb/pando/server"
	"github.com/pandodb/pando/store"
	"github.com/pandodb/pando/table"
	"github.com/pandodb/pando/txn"
)

// opened is a stopped node's store, opened to be tampered with.
type opened struct {
	t    *testing.T
	s    *store.Store
	txns *txn.Manager
	snap *catalog.Snapshot
}

// tamper opens the store of a directory, and closes it after f.
func tamper(t *testing.T, dir string, f func(o *opened)) {
	t.Helper()
	e, err := engine.Open(engine.Options{Dir: filepath.Join(dir, "store"), CacheBytes: 16 << 20, MemTableBytes: 4 << 20})
	if err != nil {
		t.Fatal(err)
	}
	s, err := store.Open(store.Options{Engine: e})
	if err != nil {
		t.Fatal(err)
	}
	txns := txn.NewManager(kv.New(rpc.Loopback(s)), txn.ManagerOptions{})
	schema, err := catalog.Open(txns)
	if err != nil {
		t.Fatal(err)
	}
	f(&opened{t, s, txns, schema.Current()})
	if err := e.Barrier(); err != nil { // so that there is a table
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
}

// pair is a key with its value.
type pair struct{ key, value []byte }

type pairs []pair

func (p *pairs) Pair(key, value []byte) (bool, error) {
	*p = append(*p, pair{bytes.Clone(key), bytes.Clone(value)})
	return true, nil
}

func (o *opened) table(name string) *catalog.Table {
	t := o.snap.Lookup("shop", name)
	if t == nil {
		o.t.Fatalf("no table %s", name)
	}
	return t
}

func (o *opened) scan(span kvapi.Span) (found pairs) {
	o.t.Helper()
	if _, err := o.txns.Scan(&txn.ScanRequest{Span: span, Sink: &found}); err != nil {
		o.t.Fatal(err)
	}
	if len(found) == 0 {
		o.t.Fatal("there is nothing to tamper with")
	}
	return found
}

// entries are those of an index.
func (o *opened) entries(name, index string) pairs {
	t := o.table(name)
	return o.scan(table.IndexSpan(t, t.Index(index)))
}

// put changes pairs behind the back of everything; a nil value deletes.
func (o *opened) put(changes ...pair) {
	o.t.Helper()
	tx := o.txns.Begin(txn.Options{Level: txn.ReadCommitted})
	defer tx.Release()
	for _, c := range changes {
		_, _, err := tx.Lock(c.key, kvapi.LockExclusive, kvapi.WaitDefault, nil)
		if err == nil && c.value == nil {
			err = tx.Delete(c.key)
		} else if err == nil {
			err = tx.Put(c.key, c.value)
		}
		if err != nil {
			o.t.Fatal(err)
		}
	}
	if err := tx.Commit(); err != nil {
		o.t.Fatal(err)
	}
}

// flip changes a byte in the middle of the largest file that matches.
func flip(t *testing.T, dir, pattern string) {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, pattern))
	if err != nil || len(names) == 0 {
		t.Fatalf("%s: %v, %v", pattern, names, err)
	}
	largest := slices.MaxFunc(names, func(a, b string) int { return int(size(t, a) - size(t, b)) })
	b, err := os.ReadFile(largest)
	if err != nil {
		t.Fatal(err)
	}
	at := len(b) / 2
	if strings.HasSuffix(pattern, ".wal") {
		at = 60 // in the first record: behind the last one a segment holds nothing
	}
	b[at] ^= 1
	if err := os.WriteFile(largest, b, 0o600); err != nil {
		t.Fatal(err)
	}
}

func size(t *testing.T, path string) int64 {
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	return info.Size()
}

// shop makes the directory of a stopped node with tables, indexes and a foreign key, and a backup of it.
func shop(t *testing.T) (dir, backup string) {
	n := startNode(t, "")
	db := n.open("")
	mustExec(t, db, "CREATE DATABASE shop")
	db = n.open("shop")
	mustExec(t, db, "CREATE TABLE customer (id INT PRIMARY KEY, name VARCHAR(50) NOT NULL, UNIQUE KEY name (name))",
		"CREATE TABLE orders (id INT AUTO_INCREMENT PRIMARY KEY, customer INT NOT NULL, note VARCHAR(300), KEY note (note), CONSTRAINT placed_by FOREIGN KEY (customer) REFERENCES customer (id))",
		"CREATE TABLE log (line TEXT)", "CREATE VIEW v AS SELECT id FROM orders")
	for i := range 20 {
		mustExec(t, db, fmt.Sprintf("INSERT INTO customer VALUES (%d, 'customer %d')", i, i), fmt.Sprintf("INSERT INTO orders (customer, note) VALUES (%d, REPEAT('note %d ', 20))", i, i),
			fmt.Sprintf("INSERT INTO log VALUES ('line %d')", i))
	}
	mustExec(t, db, "UPDATE orders SET note = 'changed' WHERE id % 3 = 0", "DELETE FROM log WHERE line = 'line 3'")
	backup = filepath.Join(t.TempDir(), "backup")
	pandoMust(t, "backup", backup, "--host", n.host(), "--port", n.port())
	if status := n.stop(); status != 0 {
		t.Fatalf("the server ended with %d", status)
	}
	return n.dir, backup
}

// TestCheckFindsDamage: a sound directory is found sound, of a clean stop, of a crash, of a backup and of a cluster; and each kind of damage is
// found and named. Each damage is the canary of the check that finds it.
func TestCheckFindsDamage(t *testing.T) {
	if testkit.Promoted() {
		t.Skip("the damage is done to the files of a node alone")
	}
	dir, backup := shop(t)
	for name, sound := range map[string]string{"stopped": dir, "backup": backup} {
		before := listing(t, sound)
		if out, status := pandoRun(t, "check", sound); status != 0 || !strings.Contains(out, "shop.orders: 20 rows, index note 20") {
			t.Fatalf("the check of a sound directory (%s) ended with %d:\n%s", name, status, out)
		}
		if after := listing(t, sound); before != after {
			t.Errorf("the check has changed the directory (%s):\n%s\nwas\n%s", name, after, before)
		}
	}
	flushed := filepath.Join(t.TempDir(), "flushed")
	copyDir(t, dir, flushed)
	tamper(t, flushed, func(*opened) {})
	for _, c := range []struct {
		name, object, says string
		base               string
		do                 func(t *testing.T, dir string)
	}{
		{"a byte of a table", ".sst", "checksum", flushed, func(t *testing.T, dir string) { flip(t, dir, "store/*.sst") }},
		{"a byte of the log", ".wal", "intact", dir, func(t *testing.T, dir string) { flip(t, dir, "store/*.wal") }},
		{"a byte of the manifest", "store", "does not open", flushed, func(t *testing.T, dir string) { flip(t, dir, "store/MANIFEST-*") }},
		{"a byte of the identity", "PANDO", "names no format or no store", flushed, func(t *testing.T, dir string) {
			text, err := os.ReadFile(filepath.Join(dir, "PANDO"))
			if err == nil {
				err = os.WriteFile(filepath.Join(dir, "PANDO"), bytes.Replace(text, []byte("store"), []byte("store_"), 1), 0o600)
			}
			if err != nil {
				t.Fatal(err)
			}
		}},
		{"a byte of a backup's table", "BACKUP", "checksum", backup, func(t *testing.T, dir string) { flip(t, dir, "store/OPTIONS-*") }},
		{"a lost log", ".wal", "gone", dir, func(t *testing.T, dir string) { remove(t, dir, "store/*.wal") }},
		{"a lost table", "store", "does not open", flushed, func(t *testing.T, dir string) { remove(t, dir, "store/*.sst") }},
		{"an index entry is gone", "shop.orders", "index note lacks the entry", dir, tampered(func(o *opened) {
			o.put(pair{key: o.entries("orders", "note")[0].key})
		})},
		{"an entry without a row", "shop.orders", "has no row", dir, tampered(func(o *opened) {
			e := o.entries("orders", "note")[0]
			e.key[len(e.key)-1] ^= 0x40
			o.put(e)
		})},
		{"two rows of a unique key", "shop.customer", "index name", dir, tampered(func(o *opened) {
			rows := o.scan(table.RowSpan(o.table("customer")))
			o.put(pair{rows[1].key, rows[0].value})
		})},
		{"an undecodable row", "shop.log", "row", dir, tampered(func(o *opened) {
			o.put(pair{o.scan(table.RowSpan(o.table("log")))[0].key, []byte{0xff, 0xff}})
		})},
		{"an orphan", "shop.orders", "foreign key placed_by", dir, tampered(func(o *opened) {
			row, entry := o.scan(table.RowSpan(o.table("customer")))[5], o.entries("customer", "name")
			at := slices.IndexFunc(entry, func(e pair) bool { return bytes.Contains(e.value, []byte("customer 5")) })
			if at < 0 {
				o.t.Fatal("the parent's entry is not to be found")
			}
			o.put(pair{key: row.key}, pair{key: entry[at].key})
		})},
		{"a counter below its rows", "shop.orders", "counter of column id", dir, tampered(func(o *opened) {
			span := catalog.KindSpan(catalog.KindAutoInc)
			if err := o.s.DropCounters(span); err != nil {
				o.t.Fatal(err)
			}
		})},
		{"a descriptor", "catalog", "", dir, tampered(func(o *opened) {
			d := o.scan(catalog.KindSpan(catalog.KindTable))[0]
			o.put(pair{d.key, d.value[:len(d.value)/2]})
		})},
	} {
		t.Run(c.name, func(t *testing.T) {
			damaged := filepath.Join(t.TempDir(), "damaged")
			copyDir(t, c.base, damaged)
			c.do(t, damaged)
			faults, err := server.Check(context.Background(), damaged, func(string, string) {})
			if err != nil {
				t.Fatal(err)
			}
			if !slices.ContainsFunc(faults, func(f server.Fault) bool {
				return strings.HasSuffix(f.Object, c.object) && strings.Contains(f.What, c.says)
			}) {
				t.Errorf("found %v", faults)
			}
		})
	}
	if out, status := pandoRun(t, "check", t.TempDir()); status != 1 {
		t.Errorf("the check of nothing ended with %d:\n%s", status, out)
	}
	remove(t, flushed, "store/*.sst")
	if out, status := pandoRun(t, "check", flushed); status != 2 {
		t.Errorf("the check of damage ended with %d:\n%s", status, out)
	}
}

// tampered changes a stopped node's data.
func tampered(f func(o *opened)) func(t *testing.T, dir string) {
	return func(t *testing.T, dir string) { tamper(t, dir, f) }
}

func copyDir(t *testing.T, from, to string) {
	t.Helper()
	if err := os.CopyFS(to, os.DirFS(from)); err != nil {
		t.Fatal(err)
	}
}

// remove deletes the newest of the files that match.
func remove(t *testing.T, dir, pattern string) {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, pattern))
	if err == nil && len(names) > 0 {
		slices.Sort(names)
		err = os.Remove(names[len(names)-1])
	}
	if err != nil || len(names) == 0 {
		t.Fatal(names, err)
	}
}

// listing tells of every file what can be seen of it.
func listing(t *testing.T, dir string) string {
	t.Helper()
	var out strings.Builder
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err == nil && !d.IsDir() && d.Name() != "LOCK" { // which is taken, and empty
			fmt.Fprintln(&out, path, info.Size(), info.ModTime(), info.Mode())
		} else if err == nil {
			fmt.Fprintln(&out, path, info.Mode())
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// TestCheckOfARunningServer: a directory that is in use is refused, not found damaged.
func TestCheckOfARunningServer(t *testing.T) {
	n := startNode(t, "")
	if out, status := pandoRun(t, "check", n.dir); status != 1 || !strings.Contains(out, "another process") {
		t.Errorf("ended with %d:\n%s", status, out)
	}
	db := n.open("")
	mustExec(t, db, "CREATE DATABASE d", "CREATE TABLE d.t (a INT PRIMARY KEY)", "INSERT INTO d.t VALUES (1), (2)")
	n.kill()
	if out, status := pandoRun(t, "check", n.dir); status != 0 || !strings.Contains(out, "d.t: 2 rows") {
		t.Errorf("after a kill it ended with %d:\n%s", status, out)
	}
}
