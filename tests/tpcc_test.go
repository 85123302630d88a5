package tests

import (
	"context"
	"database/sql"
	"strings"
	"testing"
	"time"

	"github.com/pandodb/pando/bench/tpcc"
)

// TestTPCC: the consistency conditions of TPC-C hold after the load and after runs in both modes, and a run has all of its mix.
func TestTPCC(t *testing.T) {
	n := startNode(t, "")
	if _, err := n.open("").Exec("CREATE DATABASE tpcc"); err != nil {
		t.Fatal(err)
	}
	db := n.open("tpcc")
	scale := tpcc.Scale{Warehouses: 2, Districts: 3, Customers: 60, Items: 200}
	if err := tpcc.Load(t.Context(), db, scale, 1); err != nil {
		t.Fatal(err)
	}
	if broken, err := tpcc.CheckLoad(t.Context(), db, scale); err != nil || len(broken) > 0 {
		t.Fatal(broken, err)
	}
	for seed, prepared := range []bool{false, true} {
		open := func(text bool) (*sql.DB, error) {
			return sql.Open("mysql", n.dsn("tpcc", map[bool]string{true: "interpolateParams=true"}[text]))
		}
		r, err := tpcc.Do(t.Context(), open, tpcc.Run{Scale: scale, Clients: 8, Duration: 2 * time.Second, Prepared: prepared, Seed: uint64(seed)})
		if err != nil {
			t.Fatal(err)
		}
		if r.NewOrders == 0 || r.Transactions <= r.NewOrders || r.Queries < 10*r.NewOrders || len(r.Latencies) != int(r.Transactions) {
			t.Errorf("prepared %v: %d new orders of %d transactions, %d queries", prepared, r.NewOrders, r.Transactions, r.Queries)
		}
		t.Logf("prepared %v: %d new orders of %d transactions, retries %v", prepared, r.NewOrders, r.Transactions, r.Retries)
		if broken, err := tpcc.Check(t.Context(), db); err != nil || len(broken) > 0 {
			t.Error(broken, err)
		}
	}
	checkNotices(t, db)
}

// checkNotices breaks each condition in turn: a check that never fails would defend nothing.
func checkNotices(t *testing.T, db *sql.DB) {
	t.Helper()
	for statement, want := range map[string]string{
		"UPDATE warehouse SET w_ytd = w_ytd + 1 WHERE w_id = 1":            "1 8",
		"UPDATE district SET d_next_o_id = d_next_o_id + 1 WHERE d_id = 1": "2",
		// A queue's last but one order, so that neither end of its numbers (condition 2) moves: which districts have long queues depends on the run.
		"DELETE FROM new_order WHERE (no_w_id, no_d_id, no_o_id) IN (SELECT * FROM (SELECT no_w_id, no_d_id, MAX(no_o_id) - 1 FROM new_order GROUP BY no_w_id, no_d_id HAVING COUNT(*) > 2) q)": "3 5",
		"UPDATE orders SET o_ol_cnt = o_ol_cnt + 1 WHERE o_id = 3":                                      "4 6",
		"UPDATE order_line SET ol_delivery_d = NULL, ol_amount = 1 WHERE ol_o_id = 1 AND ol_number = 1": "7",
		"UPDATE district SET d_ytd = d_ytd - 1 WHERE d_id = 2":                                          "1 9",
		"UPDATE customer SET c_balance = c_balance + 1 WHERE c_id = 5":                                  "10 12",
	} {
		tx, err := db.BeginTx(context.Background(), nil)
		if err != nil {
			t.Fatal(err)
		}
		broken, err := "", error(nil)
		if _, err = tx.Exec(statement); err == nil {
			broken, err = brokenIn(tx)
		}
		if err != nil || broken != want {
			t.Errorf("%s: conditions %q, not %q: %v", statement, broken, want, err)
		}
		if err := tx.Rollback(); err != nil {
			t.Fatal(err)
		}
	}
}

// brokenIn is the numbers of the conditions that don't hold within a transaction.
func brokenIn(tx *sql.Tx) (string, error) {
	broken, err := tpcc.Check(context.Background(), tx)
	var numbers []string
	for _, text := range broken {
		numbers = append(numbers, strings.Fields(text)[2])
	}
	return strings.Join(numbers, " "), err
}
