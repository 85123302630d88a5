package tests

import (
	"bytes"
	"database/sql"
	"flag"
	"fmt"
	"os"
	"testing"

	"github.com/pandodb/pando/bench/tpch"
	"github.com/pandodb/pando/internal/testkit"
)

const (
	tpchFactor  = 0.005
	tpchAnswers = "testdata/tpch.txt"
)

var recordTPCH = flag.Bool("record-tpch", false, "take the answers of TPC-H's queries from a real MySQL: scripts/mysql.sh fetch unpacks it")

// TestTPCH: the queries of TPC-H have the answers that a real MySQL 9.7 gave for the same rows, also where their operators have to spill.
func TestTPCH(t *testing.T) {
	var db *sql.DB
	if *recordTPCH {
		var err error
		if db, err = sql.Open("mysql", "root@unix("+testkit.MySQL(t)+")/"); err != nil {
			t.Fatal(err)
		}
		if _, err := db.Exec("CREATE DATABASE tpch"); err != nil {
			t.Fatal(err)
		}
		db.SetMaxOpenConns(1)
		if _, err := db.Exec("USE tpch"); err != nil {
			t.Fatal(err)
		}
	} else {
		n := startNode(t, "")
		if _, err := n.open("").Exec("CREATE DATABASE tpch"); err != nil {
			t.Fatal(err)
		}
		db = n.open("tpch")
	}
	if err := tpch.Load(t.Context(), db, tpchFactor, 1); err != nil {
		t.Fatal(err)
	}
	answers := tpchDigests(t, db)
	if *recordTPCH {
		if err := os.WriteFile(tpchAnswers, answers, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(tpchAnswers)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(answers, want) {
		t.Errorf("the answers are\n%swant\n%s", answers, want)
	}
	db.SetMaxOpenConns(1)
	if _, err := db.Exec("SET tidb_mem_quota_query = 3000000"); err != nil {
		t.Fatal(err)
	}
	if spilled := tpchDigests(t, db); !bytes.Equal(spilled, want) {
		t.Errorf("with a small quota the answers are\n%swant\n%s", spilled, want)
	}
}

// tpchDigests runs all queries once, and prints what each has found.
func tpchDigests(t *testing.T, db *sql.DB) []byte {
	t.Helper()
	var text bytes.Buffer
	for n := 1; n <= tpch.Queries; n++ {
		answer, err := tpch.Do(t.Context(), db, n)
		if err != nil {
			t.Error(err)
			continue
		}
		fmt.Fprintf(&text, "%d: %s\n", n, answer.Digest())
	}
	return text.Bytes()
}
