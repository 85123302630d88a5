package tests

import (
	"context"
	"database/sql"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pandodb/pando/internal/check"
	"github.com/pandodb/pando/internal/testkit"
)

const (
	// witnessTxnsMax and witnessOpsMax bound what is judged at once: the judges compare transactions with each other.
	witnessTxnsMax = 2500
	witnessOpsMax  = 20_000
	// listKeys and listAppends: so many lists are appended to at a time, and others after so many appends.
	listKeys, listAppends = 4, 100
	// registerOps is how many operations there are on a register until the next one is used. Those whose outcome is unknown are what makes
	// judging hard.
	registerOps = 300
	judgeMax    = 2 * time.Minute
)

// witnessLevel is how the transactions of a run read, and what may then be seen (docs/transactions.md).
type witnessLevel struct {
	level, locking string
	allowed        []string
}

var witnessLevels = []witnessLevel{
	{"READ COMMITTED", "", []string{"lost-update", "G-single", "G2-item", "G2"}},
	{"REPEATABLE READ", "", []string{"lost-update", "G-single", "G2-item", "G2"}},
	{"REPEATABLE READ", " FOR UPDATE", nil},
	{"REPEATABLE READ", " FOR SHARE", nil},
	{"SERIALIZABLE", "", nil},
	{optimisticMode, "", []string{"G2-item", "G2"}},
}

// optimisticMode stands for a level at which transactions are optimistic.
const optimisticMode = "OPTIMISTIC"

// setLevel is what a connection is told to be at a level.
func setLevel(level string) string {
	if level == optimisticMode {
		return "SET tidb_txn_mode = optimistic"
	}
	return "SET SESSION TRANSACTION ISOLATION LEVEL " + level
}

// witnesses are clients of a cluster that note what they did and saw: appends to lists, sets found by conditions, registers, and readers of the
// books.
type witnesses struct {
	t     testing.TB
	nodes []string // addresses
	level witnessLevel
	stop  chan struct{}
	wait  sync.WaitGroup
	seed  uint64
	start time.Time
	next  atomic.Int64 // id of the last row of a set
	value atomic.Int64 // last value of a list or register
	done  atomic.Int64 // things that were answered

	mu        sync.Mutex // guards what follows
	txns      []check.Txn
	registers []check.RegisterOp
	sums      [][]int
	ops       int
}

// startWitnesses makes the tables and lets clients begin, through any node.
func (c *copies) startWitnesses(seed uint64, level witnessLevel) *witnesses {
	c.t.Helper()
	mustExec(c.t, c.gateway().open(""), "CREATE DATABASE history", "CREATE TABLE history.indexed (id INT PRIMARY KEY, g INT, KEY (g))",
		"CREATE TABLE history.keyed (id INT PRIMARY KEY, g INT)", "CREATE TABLE history.plain (id INT, g INT)",
		"CREATE TABLE history.list (k INT PRIMARY KEY, v TEXT NOT NULL)", "CREATE TABLE history.register (k INT PRIMARY KEY, v INT NOT NULL)")
	w := &witnesses{t: c.t, level: level, stop: make(chan struct{}), seed: seed, start: time.Now()}
	for _, n := range c.nodes {
		w.nodes = append(w.nodes, n.mysql)
	}
	for i, run := range []func(context.Context, *sql.Conn, *rand.Rand, int) error{w.set, w.set, w.list, w.list, w.list, w.register, w.register, w.register, w.register, w.sum, w.schema} {
		w.wait.Go(func() { w.client(i, run) })
	}
	return w
}

// client does one thing again and again until stop. After an error it goes to another node.
func (w *witnesses) client(i int, run func(context.Context, *sql.Conn, *rand.Rand, int) error) {
	rng := testkit.Rand(w.seed, 100+uint64(i))
	ctx := context.Background()
	for !w.stopped(rng.IntN(20)) {
		db, err := sql.Open("mysql", "root@tcp("+w.nodes[rng.IntN(len(w.nodes))]+")/history?interpolateParams="+strconv.FormatBool(i%2 == 0)+"&"+clientTimeouts)
		if err != nil {
			w.t.Error(err)
			return
		}
		conn, err := db.Conn(ctx)
		if err == nil {
			_, err = conn.ExecContext(ctx, setLevel(w.level.level))
		}
		for err == nil && !w.stopped(rng.IntN(20)) {
			if err = run(ctx, conn, rng, i); err == nil {
				w.done.Add(1)
			}
		}
		if conn != nil {
			_ = conn.Close() // it may be broken
		}
		_ = db.Close()
	}
}

// stopped waits for some milliseconds, and tells whether it is over.
func (w *witnesses) stopped(pause int) bool {
	select {
	case <-w.stop:
		return true
	case <-time.After(time.Duration(pause) * time.Millisecond):
		return false
	}
}

func (w *witnesses) now() int64 { return int64(time.Since(w.start)) }

// note keeps a transaction.
func (w *witnesses) note(rec check.Txn) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.txns = append(w.txns, rec)
}

// full tells whether there is as much to judge already as can be.
func (w *witnesses) full() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.txns) >= witnessTxnsMax
}

// set runs a transaction over sets of rows.
func (w *witnesses) set(ctx context.Context, conn *sql.Conn, rng *rand.Rand, _ int) error {
	if w.full() {
		return conn.PingContext(ctx)
	}
	begin := w.now()
	rec, err := (&historyClient{conn: conn, rng: rng, next: &w.next, locking: w.level.locking}).txn(ctx)
	rec.Begin, rec.End = begin, w.now()
	w.note(rec)
	return err
}

// list runs a transaction that reads lists and appends to them.
func (w *witnesses) list(ctx context.Context, conn *sql.Conn, rng *rand.Rand, _ int) error {
	if w.full() {
		return conn.PingContext(ctx)
	}
	rec := check.Txn{Begin: w.now(), Outcome: check.Aborted}
	err := w.listTxn(ctx, conn, rng, &rec)
	rec.End = w.now()
	w.note(rec)
	if err != nil && expected(err) {
		_, err = conn.ExecContext(ctx, "ROLLBACK")
	}
	return err
}

func (w *witnesses) listTxn(ctx context.Context, conn *sql.Conn, rng *rand.Rand, rec *check.Txn) error {
	if _, err := conn.ExecContext(ctx, "BEGIN"); err != nil {
		return err
	}
	for range 1 + rng.IntN(3) {
		k := int(w.value.Load())/listAppends*listKeys + rng.IntN(listKeys)
		if rng.IntN(2) == 0 {
			read, err := readList(ctx, conn, k, w.level.locking)
			if err != nil {
				return err
			}
			rec.Ops = append(rec.Ops, check.Op{Key: listName(k), Read: read})
			continue
		}
		v := int(w.value.Add(1))
		if _, err := conn.ExecContext(ctx, "INSERT INTO list VALUES (?, ?) ON DUPLICATE KEY UPDATE v = CONCAT(v, ' ', ?)", k, strconv.Itoa(v), strconv.Itoa(v)); err != nil {
			return err
		}
		rec.Ops = append(rec.Ops, check.Op{Key: listName(k), Append: v})
	}
	if rng.IntN(10) == 0 {
		_, err := conn.ExecContext(ctx, "ROLLBACK")
		return err
	}
	_, err := conn.ExecContext(ctx, "COMMIT")
	switch {
	case err == nil:
		rec.Outcome = check.Committed
	case !expected(err):
		rec.Outcome = check.Unknown
	}
	return err
}

func listName(k int) string { return "list" + strconv.Itoa(k) }

func readList(ctx context.Context, conn *sql.Conn, k int, locking string) ([]int, error) {
	var text string
	err := conn.QueryRowContext(ctx, "SELECT v FROM list WHERE k = ?"+locking, k).Scan(&text)
	if err == sql.ErrNoRows {
		return []int{}, nil
	}
	if err != nil {
		return nil, err
	}
	list := []int{}
	for _, f := range strings.Fields(text) {
		v, err := strconv.Atoi(f)
		if err != nil {
			return nil, fmt.Errorf("list %d: %w", k, err)
		}
		list = append(list, v)
	}
	return list, nil
}

// register reads or writes a register, each a statement of its own.
func (w *witnesses) register(ctx context.Context, conn *sql.Conn, rng *rand.Rand, i int) error {
	w.mu.Lock()
	w.ops++
	full := len(w.registers) >= witnessOpsMax
	k := w.ops / registerOps
	w.mu.Unlock()
	if full {
		return conn.PingContext(ctx)
	}
	op := check.RegisterOp{Client: i, Key: strconv.Itoa(k), Call: w.now(), Done: math.MaxInt64}
	var err error
	if op.Write = rng.IntN(2) == 0; op.Write {
		op.Value = int(w.value.Add(1))
		_, err = conn.ExecContext(ctx, "INSERT INTO register VALUES (?, ?) ON DUPLICATE KEY UPDATE v = VALUES(v)", k, op.Value)
	} else {
		locking := [...]string{"", "", " FOR SHARE"}[rng.IntN(3)]
		if err = conn.QueryRowContext(ctx, "SELECT v FROM register WHERE k = ?"+locking, k).Scan(&op.Value); err == sql.ErrNoRows {
			err = nil
		}
	}
	switch {
	case err == nil:
		op.Done = w.now()
	case expected(err):
		return nil // it did not happen
	case !op.Write:
		return err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.registers = append(w.registers, op)
	return err
}

// schemaTables is how many tables come and go.
const schemaTables = 4

// schema changes tables, fills them and compares their index with their rows: regions split, jobs change hands with the gateway, and tables that nobody has any
// more are collected.
func (w *witnesses) schema(ctx context.Context, conn *sql.Conn, rng *rand.Rand, _ int) error {
	name := "changing" + strconv.Itoa(rng.IntN(schemaTables))
	text := [...]string{
		"CREATE TABLE IF NOT EXISTS %s (id BIGINT AUTO_INCREMENT PRIMARY KEY, a INT NOT NULL, KEY a (a))",
		"INSERT INTO %s (a) VALUES (1), (2), (3), (4), (5), (6), (7), (8), (9), (10)",
		"INSERT INTO %[1]s (a) SELECT a + 1 FROM %[1]s LIMIT 200",
		"UPDATE %s SET a = a + 1 WHERE id %% 3 = 0",
		"DELETE FROM %s WHERE a %% 7 = 0",
		"CREATE INDEX b ON %s (a, id)",
		"DROP INDEX b ON %s",
		"ALTER TABLE %s ADD COLUMN c VARCHAR(20) NOT NULL DEFAULT 'c'",
		"ALTER TABLE %s MODIFY a BIGINT NOT NULL",
		"TRUNCATE TABLE %s",
		"DROP TABLE IF EXISTS %s",
	}[rng.IntN(11)]
	_, err := conn.ExecContext(ctx, fmt.Sprintf(text, name))
	if errorNumber(err) == unknownError {
		w.t.Errorf("%s: %v", fmt.Sprintf(text, name), err)
	}
	if err != nil && errorNumber(err) == 0 {
		return err
	}
	var off int64
	err = conn.QueryRowContext(ctx, fmt.Sprintf("SELECT (SELECT COUNT(*) FROM %[1]s FORCE INDEX (a) WHERE a > -1) - (SELECT COUNT(*) FROM %[1]s FORCE INDEX (PRIMARY))", name)).Scan(&off)
	if err == nil && off != 0 {
		w.t.Errorf("the index of %s has %d entries more than there are rows", name, off)
	}
	if errorNumber(err) != 0 {
		return nil // such as that there is no such table
	}
	return err
}

// unknownError is the number of an error that tells of a fault of the server.
const unknownError = 1105

// sum reads all accounts of the books at once.
func (w *witnesses) sum(ctx context.Context, conn *sql.Conn, _ *rand.Rand, _ int) error {
	balances, err := (&historyClient{conn: conn}).find(ctx, "SELECT balance FROM bank.account")
	if err != nil || len(balances) < bookAccounts {
		return err // or they are just being opened
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.sums = append(w.sums, balances)
	return nil
}

// finish ends the clients, reads all that there is, and returns what is wrong with what was seen.
func (w *witnesses) finish(db *sql.DB) []string {
	w.t.Helper()
	close(w.stop)
	w.wait.Wait()
	conn, err := db.Conn(context.Background())
	if err != nil {
		w.t.Fatal(err)
	}
	defer conn.Close()
	last := check.Txn{Begin: w.now(), Outcome: check.Committed}
	seen := map[string]bool{}
	for _, rec := range w.txns {
		for _, op := range rec.Ops {
			var read []int
			var way, g int
			name := op.Set + op.Key
			if seen[name] {
				continue
			}
			seen[name] = true
			switch _, err = fmt.Sscanf(op.Set, "%d-%d", &way, &g); {
			case op.Set == "":
				if _, err = fmt.Sscanf(op.Key, "list%d", &g); err == nil {
					read, err = readList(context.Background(), conn, g, "")
				}
			case err == nil:
				read, err = (&historyClient{conn: conn}).find(context.Background(), fmt.Sprintf(groupReads[way], g))
			}
			if err != nil {
				w.t.Fatal(err)
			}
			last.Ops = append(last.Ops, check.Op{Set: op.Set, Key: op.Key, Read: read})
		}
	}
	last.End = w.now()
	w.txns = append(w.txns, last)
	return w.judge()
}

// judge returns what is wrong with what was seen.
func (w *witnesses) judge() (faults []string) {
	outcomes := map[check.Outcome]int{}
	for _, rec := range w.txns {
		outcomes[rec.Outcome]++
	}
	for _, a := range check.ListAppend(w.txns) {
		if !slices.Contains(w.level.allowed, a.Name) {
			faults = append(faults, a.String())
		}
	}
	if at := check.Bank(w.sums, bookAccounts*bookBalance); at >= 0 {
		faults = append(faults, fmt.Sprintf("bank: a reading of all accounts does not add up: %d", w.sums[at]))
	}
	ok, decided := check.Linearizable(w.registers, judgeMax)
	if decided && !ok {
		faults = append(faults, "registers: no order of the operations explains what was read: "+strings.Join(w.badRegisters(), ", "))
	}
	w.t.Logf("%s%s: %d transactions committed, %d rolled back, %d unknown; %d operations on registers (decided: %t); %d readings of the books", w.level.level, w.level.locking,
		outcomes[check.Committed], outcomes[check.Aborted], outcomes[check.Unknown], len(w.registers), decided, len(w.sums))
	return faults
}

// badRegisters lists the registers whose operations are not linearizable.
func (w *witnesses) badRegisters() (bad []string) {
	by := map[string][]check.RegisterOp{}
	for _, op := range w.registers {
		by[op.Key] = append(by[op.Key], op)
	}
	for k, ops := range by {
		if ok, decided := check.Linearizable(ops, judgeMax); decided && !ok {
			bad = append(bad, fmt.Sprintf("%s %+v", k, ops))
		}
	}
	return bad
}

// TestWitnessesNotice: each of the judges that make torture relies on finds its fault.
func TestWitnessesNotice(t *testing.T) {
	good := func() *witnesses {
		accounts := make([]int, bookAccounts)
		for i := range accounts {
			accounts[i] = bookBalance
		}
		return &witnesses{t: t, level: witnessLevels[4], sums: [][]int{accounts},
			txns: []check.Txn{
				{Ops: []check.Op{{Key: "list1", Append: 1}, {Set: "0-1", Append: 1}}, Begin: 1, End: 2},
				{Ops: []check.Op{{Key: "list1", Append: 2}, {Set: "0-1", Append: 2}}, Begin: 3, End: 4},
				{Ops: []check.Op{{Key: "list1", Read: []int{1, 2}}, {Set: "0-1", Read: []int{1, 2}}}, Begin: 5, End: 6},
			},
			registers: []check.RegisterOp{{Key: "1", Write: true, Value: 1, Call: 1, Done: 2}, {Key: "1", Value: 1, Call: 3, Done: 4},
				{Key: "1", Write: true, Value: 7, Call: 3, Done: math.MaxInt64}}}
	}
	if faults := good().judge(); len(faults) > 0 {
		t.Errorf("a good history is faulted: %s", faults)
	}
	for what, bend := range map[string]func(w *witnesses){
		"lost-append": func(w *witnesses) { w.txns[2].Ops[0].Read, w.txns[2].Ops[1].Read = []int{1}, []int{1} },
		"order": func(w *witnesses) {
			w.txns = slices.Insert(w.txns, 2, check.Txn{Ops: []check.Op{{Key: "list1", Read: []int{2}}}, Begin: 3, End: 6})
		},
		"0-1/2":   func(w *witnesses) { w.txns[2].Ops[1].Read = []int{1} },
		"garbage": func(w *witnesses) { w.txns[2].Ops[0].Read = []int{1, 2, 3} },
		"G1a":     func(w *witnesses) { w.txns[1].Outcome = check.Aborted },
		"stale": func(w *witnesses) {
			w.txns = slices.Insert(w.txns, 2, check.Txn{Ops: []check.Op{{Key: "list1", Read: []int{1}}}, Begin: 5, End: 6})
		},
		"bank":       func(w *witnesses) { w.sums[0][3]-- },
		"registers:": func(w *witnesses) { w.registers[1].Value = 0 },
	} {
		w := good()
		bend(w)
		if faults := w.judge(); !slices.ContainsFunc(faults, func(f string) bool { return strings.Contains(f, what) }) {
			t.Errorf("%s was not noticed: %s", what, faults)
		}
	}
	copies := [][]checksum{{{1, 7, "a"}, {2, 9, "b"}}, {{1, 7, "a"}, {2, 9, "b"}}}
	r := &recorder{TB: t}
	if !compareCopies(r, copies, map[uint64]bool{}) || r.failed {
		t.Error("equal copies are faulted")
	}
	copies[1][1].Checksum = "c"
	if compareCopies(r, copies, map[uint64]bool{}); !r.failed {
		t.Error("copies that differ were not noticed")
	}
	copies[1][1].Index = 8
	r = &recorder{TB: t}
	if compareCopies(r, copies, map[uint64]bool{}) || r.failed {
		t.Error("copies at different indexes were compared")
	}
}
