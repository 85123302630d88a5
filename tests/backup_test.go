package tests

import (
	"database/sql"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/pandodb/pando/internal/testkit"
)

const (
	bankAccounts = 64
	bankWriters  = 6
	bankBalance  = 1000
)

// counterOption is what a dump says of a counter, which may be higher in a copy: it is that of a crash.
var counterOption = regexp.MustCompile(` AUTO_INCREMENT=\d+`)

// pandoRun runs a command of the program and returns what it printed and its exit status.
func pandoRun(t testing.TB, args ...string) (string, int) {
	t.Helper()
	out, err := exec.Command(binary, args...).CombinedOutput()
	status := 0
	if exit, is := err.(*exec.ExitError); is {
		status = exit.ExitCode()
	} else if err != nil {
		t.Fatal(err)
	}
	return string(out), status
}

func pandoMust(t testing.TB, args ...string) string {
	t.Helper()
	out, status := pandoRun(t, args...)
	if status != 0 {
		t.Fatalf("pando %s ended with %d:\n%s", strings.Join(args, " "), status, out)
	}
	return out
}

// bank moves money between accounts until stop, and writes down each transfer in the same transaction.
type bank struct {
	stop atomic.Bool
	wg   sync.WaitGroup
	done [bankWriters]atomic.Int64 // acknowledged transfers by writer
}

func createBank(t *testing.T, n *node) *sql.DB {
	db := n.open("")
	mustExec(t, db, "CREATE DATABASE bank")
	db = n.open("bank")
	mustExec(t, db, "CREATE TABLE account (id INT PRIMARY KEY, balance INT NOT NULL, pad VARCHAR(200), KEY (balance))",
		"CREATE TABLE transfer (id BIGINT AUTO_INCREMENT PRIMARY KEY, writer INT NOT NULL, number BIGINT NOT NULL, amount INT NOT NULL, UNIQUE KEY (writer, number))")
	for id := range bankAccounts {
		mustExec(t, db, fmt.Sprintf("INSERT INTO account VALUES (%d, %d, REPEAT('x', 200))", id, bankBalance))
	}
	return db
}

func (b *bank) run(t *testing.T, db *sql.DB, writer, round int, seed uint64) {
	name := writer + round*bankWriters // in the table
	random := testkit.Rand(seed, uint64(name))
	for number := int64(1); !b.stop.Load(); number++ {
		from, to, amount := random.IntN(bankAccounts), random.IntN(bankAccounts), random.IntN(10)
		for !b.transfer(t, db, name, number, from, to, amount) {
			if b.stop.Load() || t.Failed() {
				return
			}
		}
		b.done[writer].Store(number)
	}
}

// transfer tells whether it was committed; deadlocks are repeated.
func (b *bank) transfer(t *testing.T, db *sql.DB, writer int, number int64, from, to, amount int) bool {
	tx, err := db.Begin()
	if err != nil {
		t.Error(err)
		return false
	}
	for _, s := range []string{
		fmt.Sprintf("UPDATE account SET balance = balance - %d WHERE id = %d", amount, min(from, to)),
		fmt.Sprintf("UPDATE account SET balance = balance + %d WHERE id = %d", amount, max(from, to)),
		fmt.Sprintf("INSERT INTO transfer (writer, number, amount) VALUES (%d, %d, %d)", writer, number, amount),
	} {
		if _, err = tx.Exec(s); err != nil {
			_ = tx.Rollback()
			if errorNumber(err) != 1213 {
				t.Error(err)
			}
			return false
		}
	}
	if err := tx.Commit(); err != nil {
		t.Error(err)
		return false
	}
	return true
}

// acknowledged are the transfers of each writer by now.
func (b *bank) acknowledged() (out [bankWriters]int64) {
	for w := range out {
		out[w] = b.done[w].Load()
	}
	return out
}

// judgeBank checks a restored bank: money is neither made nor lost, and of each writer a prefix is there, with all that was acknowledged before.
func judgeBank(t *testing.T, db *sql.DB, before [bankWriters]int64) {
	t.Helper()
	if sum := queryInt(t, db, "SELECT SUM(balance) FROM account"); sum != bankAccounts*bankBalance {
		t.Errorf("the accounts have %d, not %d", sum, bankAccounts*bankBalance)
	}
	for w, least := range before {
		count, last := queryInt(t, db, fmt.Sprintf("SELECT COUNT(*) FROM transfer WHERE writer = %d", w)),
			queryInt(t, db, fmt.Sprintf("SELECT COALESCE(MAX(number), 0) FROM transfer WHERE writer = %d", w))
		if count != last || last < least {
			t.Errorf("writer %d: %d transfers up to number %d, and %d were acknowledged before the backup", w, count, last, least)
		}
	}
}

// TestBackupUnderLoad takes backups while transfers run, alone and as a cluster, across and within a file system; each restored copy is a
// consistent bank and sound. When all is quiet the dumps of the source and of its copy are the same.
func TestBackupUnderLoad(t *testing.T) {
	seed := testkit.Seed(t)
	dump := need(t, "mariadb-dump")
	n := startNode(t, "")
	db := createBank(t, n)
	login := []string{"--host", n.host(), "--port", n.port()}
	for round, cluster := range []bool{false, true} {
		if cluster {
			pandoMust(t, append([]string{"promote"}, login...)...)
		}
		b := &bank{}
		for w := range bankWriters {
			b.wg.Go(func() { b.run(t, db, w, round, seed) })
		}
		dirs := make([]string, 2)
		acked := make([][bankWriters]int64, len(dirs))
		for i := range dirs {
			dirs[i] = filepath.Join(t.TempDir(), "backup")
			testkit.Await(t, "transfers", func() bool { return t.Failed() || b.done[0].Load() >= int64(30*(i+1)) })
			acked[i] = b.acknowledged()
			pandoMust(t, append([]string{"backup", dirs[i]}, login...)...)
		}
		b.stop.Store(true)
		b.wg.Wait()
		quiet := filepath.Join(t.TempDir(), "backup")
		pandoMust(t, append([]string{"backup", quiet}, login...)...)
		for i, dir := range append(dirs, quiet) {
			data := filepath.Join(t.TempDir(), "data")
			pandoMust(t, "restore", "--from", dir, "--data-dir", data)
			pandoMust(t, "check", data)
			r := startNode(t, data)
			if i < len(dirs) {
				judgeRound(t, r, round, acked[i])
			} else {
				dumped := func(n *node) string {
					out := client{t, []string{dump, "--no-defaults", "--skip-comments"}, overTCP(n)}.must(nil, "--databases", "bank")
					return counterOption.ReplaceAllString(string(out), "")
				}
				if source, copied := dumped(n), dumped(r); source != copied {
					t.Errorf("the dumps of the source and of its copy differ:\n%s", difference(source, copied))
				}
			}
			if status := r.stop(); status != 0 {
				t.Errorf("the restored server ended with %d", status)
			}
		}
	}
}

// judgeRound is judgeBank for the writers of a round.
func judgeRound(t *testing.T, r *node, round int, acked [bankWriters]int64) {
	t.Helper()
	db := r.open("bank")
	defer db.Close()
	mustExec(t, db, fmt.Sprintf("DELETE FROM transfer WHERE writer < %d", round*bankWriters), fmt.Sprintf("UPDATE transfer SET writer = writer - %d", round*bankWriters))
	judgeBank(t, db, acked)
}

// TestBackupLoop runs the loop of the published reports: every round begins with the data of the backup, whatever the one before has done to
// it, and each directory is sound after it.
func TestBackupLoop(t *testing.T) {
	mariadb := need(t, "mariadb")
	n := startNode(t, "")
	db := createBank(t, n)
	backup := filepath.Join(t.TempDir(), "backup")
	pandoMust(t, "backup", backup, "--host", n.host(), "--port", n.port())
	mustExec(t, db, "DELETE FROM account")
	n.stop()
	data, seen := filepath.Join(t.TempDir(), "data"), filepath.Join(t.TempDir(), "seen")
	load := fmt.Sprintf(`%s --no-defaults -h $HOST -P $PORT -u root -N bank -e "SELECT COUNT(*), SUM(balance), MAX(id) FROM account; UPDATE account SET balance = balance + $ROUND; DELETE FROM account WHERE id < 10 * $ROUND; INSERT INTO transfer (writer, number, amount) SELECT id, $ROUND, 1 FROM account; CREATE INDEX i ON account (pad); DROP TABLE transfer" >>%s`, mariadb, seen)
	run := exec.Command("../scripts/backup-loop.sh", backup, data, "3", "sh", "-c", load)
	run.Env = append(os.Environ(), "PANDO="+binary)
	if out, err := run.CombinedOutput(); err != nil || strings.Count(string(out), "is sound") != 3 {
		t.Fatalf("the loop: %v\n%s", err, out)
	}
	got, err := os.ReadFile(seen)
	if err != nil {
		t.Fatal(err)
	}
	if want := strings.Repeat(fmt.Sprintf("%d\t%d\t%d\n", bankAccounts, bankAccounts*bankBalance, bankAccounts-1), 3); string(got) != want {
		t.Errorf("the rounds began with\n%s", got)
	}
	if out, status := pandoRun(t, "check", backup); status != 0 {
		t.Errorf("the backup after the loop:\n%s", out)
	}
}
