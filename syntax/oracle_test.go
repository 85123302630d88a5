package syntax

import (
	"fmt"
	"os"
	"sort"
	"strings"
	"testing"

	tidb "github.com/pingcap/tidb/pkg/parser"
	_ "github.com/pingcap/tidb/pkg/parser/test_driver"
	"vitess.io/vitess/go/vt/sqlparser"
)

// oracles are the two maintained Go grammars of MySQL.
type oracles struct {
	tidb   *tidb.Parser
	vitess *sqlparser.Parser
}

func newOracles(t *testing.T) *oracles {
	v, err := sqlparser.New(sqlparser.Options{MySQLServerVersion: "8.0.36"})
	if err != nil {
		t.Fatal(err)
	}
	return &oracles{tidb: tidb.New(), vitess: v}
}

// accepts reports which oracles accept a statement. Their panics count as refusals.
func (o *oracles) accepts(sql string) (byTiDB, byVitess bool) {
	func() {
		defer func() { _ = recover() }()
		_, _, err := o.tidb.ParseSQL(sql)
		byTiDB = err == nil
	}()
	func() {
		defer func() { _ = recover() }()
		_, err := o.vitess.ParseStrictDDL(sql)
		byVitess = err == nil
	}()
	return byTiDB, byVitess
}

// without returns the statement with its n-th token removed, or "" past the end.
func without(sql string, n int) string {
	var l lexer
	l.init(sql, &Options{})
	for i := 0; ; i++ {
		t := l.next()
		switch {
		case t.kind == tEOF || t.kind == tIllegal:
			return ""
		case i == n:
			return sql[:t.pos] + sql[t.end:]
		}
	}
}

// knownDifferences is the file of mutated statements, one a line, on which both
// oracles agree and this grammar differs. Each was compared with MySQL's grammar or
// is deliberate; the classes are:
//
//   - the oracles know fewer statements, so a truncated one is unknown to both;
//   - the oracles take words MySQL reserves as names, or the reverse;
//   - the oracles leave to the binder what MySQL's grammar refuses.
const knownDifferences = "testdata/oracle/known.txt"

// TestOracleMutations removes each token of each query and DML statement in
// turn and compares acceptance with the oracles where these agree.
// PANDO_REWRITE=1 accepts the differences found.
func TestOracleMutations(t *testing.T) {
	o := newOracles(t)
	names, texts := corpus(t)
	var found []string
	compared := 0
	for i, sql := range texts {
		if !strings.HasPrefix(names[i], "query.sql") && !strings.HasPrefix(names[i], "dml.sql") || len(sql) > 400 {
			continue
		}
		for n := 0; ; n++ {
			m := without(sql, n)
			if m == "" {
				break
			}
			byTiDB, byVitess := o.accepts(m)
			if byTiDB != byVitess {
				continue
			}
			compared++
			_, rest, err := Parse(m, Options{})
			if (err == nil && rest == "") != byTiDB {
				found = append(found, fmt.Sprintf("%v\t%s", byTiDB, m))
			}
		}
	}
	if compared < 1000 {
		t.Fatalf("compared only %d statements", compared)
	}
	sort.Strings(found)
	found = compact(found)
	got := strings.Join(found, "\n") + "\n"
	if os.Getenv("PANDO_REWRITE") != "" {
		if err := os.WriteFile(knownDifferences, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(knownDifferences)
	if err != nil {
		t.Fatal(err)
	}
	known := map[string]bool{}
	for _, line := range strings.Split(string(want), "\n") {
		known[line] = true
	}
	for _, line := range found {
		if !known[line] {
			t.Errorf("new difference (oracles accept: %s)", line)
		}
	}
}

// compact removes adjacent duplicates.
func compact(l []string) []string {
	out := l[:0]
	for i, s := range l {
		if i == 0 || s != l[i-1] {
			out = append(out, s)
		}
	}
	return out
}

// TestOracleCorpus checks that the oracles are useful: each accepts a good share of
// the corpus, all of which this package accepts.
func TestOracleCorpus(t *testing.T) {
	o := newOracles(t)
	_, texts := corpus(t)
	var byTiDB, byVitess int
	for _, sql := range texts {
		a, b := o.accepts(sql)
		if a {
			byTiDB++
		}
		if b {
			byVitess++
		}
	}
	t.Logf("of %d statements TiDB's parser accepts %d, Vitess's %d", len(texts), byTiDB, byVitess)
	if byTiDB < len(texts)/3 || byVitess < len(texts)/3 {
		t.Error("an oracle refuses most of the corpus")
	}
}

// TestOracleCanary checks that the comparison can fail: the oracles must tell
// good text from bad.
func TestOracleCanary(t *testing.T) {
	o := newOracles(t)
	if a, b := o.accepts(pointSelect); !a || !b {
		t.Error("an oracle refuses a point select")
	}
	if a, b := o.accepts("SELECT c FORM sbtest1 WHERE id=="); a || b {
		t.Error("an oracle accepts nonsense")
	}
}
