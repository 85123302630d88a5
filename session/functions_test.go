package session_test

import (
	_ "embed"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/pandodb/pando/tests/inproc"
	"github.com/pandodb/pando/types"
)

//go:embed functions.txt
var functionIndex string

var writeFunctions = flag.Bool("write-functions", false, "write docs/functions.md anew")

const functionsPage = "../docs/functions.md"

// functionsHead begins the page.
const functionsHead = `# Functions and operators

Every function and operator of the MySQL 8.0 manual's index, except spatial, enterprise, replication and internal ones, and what Pando does with a
plain use of it. The table is written by ` + "`go test ./session -run TestFunctionIndex -write-functions`" + ` from ` + "`session/functions.txt`" + `; the test compares the two.

`

// TestFunctionIndex runs a use of every function of the manual's index, and prints how many are missing. docs/functions.md tells the same.
func TestFunctionIndex(t *testing.T) {
	_, c := inproc.OpenDatabase(t)
	c.Must("CREATE TABLE t (a INT PRIMARY KEY, s VARCHAR(20), j JSON, FULLTEXT_ INT DEFAULT 3)")
	c.Must(`INSERT INTO t VALUES (1,'x','{"a": [1, 2]}',4),(2,'y','[1]',5)`)
	var page strings.Builder
	page.WriteString(functionsHead + "| function | state |\n|---|---|\n")
	var missing []string
	total := 0
	for _, line := range strings.Split(strings.TrimSpace(functionIndex), "\n") {
		name, use, ok := strings.Cut(line, " | ")
		if !ok {
			t.Fatalf("session/functions.txt: %s", line)
		}
		if !strings.HasPrefix(use, "SELECT ") {
			use = "SELECT " + use
		}
		total++
		state := "works"
		switch err := c.Session.Query([]byte(use), &discard{}).(type) {
		case nil:
		case *types.Error:
			if err.Number != types.ErNotSupportedYet {
				t.Errorf("%s: %s: %v", name, use, err)
			}
			state = "answers 1235"
			missing = append(missing, name)
		default:
			t.Errorf("%s: %s: %v", name, use, err)
		}
		fmt.Fprintf(&page, "| `%s` | %s |\n", strings.ReplaceAll(name, "|", "\\|"), state)
	}
	fmt.Fprintf(&page, "\n%d of %d are missing.\n", len(missing), total)
	t.Logf("%d of %d functions are missing: %s", len(missing), total, strings.Join(missing, ", "))
	if *writeFunctions {
		if err := os.WriteFile(functionsPage, []byte(page.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if have, err := os.ReadFile(functionsPage); err != nil || string(have) != page.String() {
		t.Errorf("docs/functions.md is not what -write-functions writes (%v)", err)
	}
}
