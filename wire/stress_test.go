package wire

import (
	"context"
	"database/sql"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/pandodb/pando/internal/testkit"
)

// TestStress runs clients of all kinds while others are killed, disconnected and finally drained. It looks for races, leaks and
// sessions that are not closed (startServer's cleanup), and for answers that are not those of their statement.
func TestStress(t *testing.T) {
	seed := testkit.Seed(t)
	_ = mysql.SetLogger(&mysql.NopLogger{}) // what is killed makes the driver talk
	ts := startServer(t, func(o *Options) { o.MaxConnections = 24 })
	deadline := time.Now().Add(1500 * time.Millisecond)
	var wg sync.WaitGroup
	for w := range 12 {
		random := testkit.Rand(seed, uint64(w))
		params := []string{"", "?compress=true", "?tls=skip-verify", "?multiStatements=true"}[w%4]
		user := []string{"root", "sha", "native"}[w%3]
		password := ""
		if user != "root" {
			password = "secret"
		}
		db := ts.open(t, user, password, params)
		wg.Go(func() {
			for time.Now().Before(deadline) {
				stressOnce(t, db, random)
			}
		})
	}
	random := testkit.Rand(seed, 99)
	wg.Go(func() {
		for time.Now().Before(deadline) {
			for _, c := range ts.Conns() {
				switch random.IntN(20) {
				case 0:
					ts.Kill(c.Info.ID, false)
				case 1, 2:
					ts.Kill(c.Info.ID, true)
				}
			}
			time.Sleep(20 * time.Millisecond)
		}
	})
	wg.Wait()
	if n := ts.Counters().Panics; n > 0 {
		t.Errorf("%d panics: %s", n, ts.log)
	}
}

// stressOnce runs one statement. Errors are fine; wrong answers are not.
func stressOnce(t *testing.T, db *sql.DB, random *rand.Rand) {
	ctx := context.Background()
	n, size := random.IntN(50), random.IntN(3000)
	switch random.IntN(6) {
	case 0:
		short, cancel := context.WithTimeout(ctx, time.Duration(random.IntN(20))*time.Millisecond)
		_, _ = db.ExecContext(short, "SLEEP 30") // may be cut off at any point
		cancel()
	case 1:
		_, _ = db.ExecContext(ctx, "FAIL") // fails
	case 2:
		var p string
		if err := db.QueryRowContext(ctx, "ECHO ?", n).Scan(&p); err == nil && p != "int "+itoa(n) {
			t.Errorf("parameter %d came back as %q", n, p)
		}
	default:
		query := "ROWS " + itoa(n) + " " + itoa(size)
		rows, err := db.QueryContext(ctx, query)
		if err != nil {
			return
		}
		got := 0
		for rows.Next() {
			var id int
			var text []byte
			if err := rows.Scan(&id, &text); err != nil || id != got || len(text) != size {
				t.Errorf("%s: row %d is %d with %d bytes, %v", query, got, id, len(text), err)
			}
			got++
		}
		if rows.Err() == nil && got != n {
			t.Errorf("%s: %d rows without an error", query, got)
		}
		_ = rows.Close()
	}
}
