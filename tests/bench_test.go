package tests

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestBenchOfCopies: a session of the bench with a cluster of one and with three copies, whose clients are spread over the nodes, also while
// an index is built, and with a dump that is loaded.
func TestBenchOfCopies(t *testing.T) {
	dir := t.TempDir()
	plan := filepath.Join(dir, "tiny.json")
	text := `{"name": "tiny", "title": "Two tables", "tables": 2, "rows": 1000, "prepare_threads": 2, "cache_bytes": 67108864, "rounds": 1, "still_seconds": 1, "ps_modes": ["disable"],
		"threads": [6], "seconds": 1, "workloads": [{"name": "read_write", "script": "oltp_read_write"},
		{"name": "add_index", "kind": "index", "script": "oltp_update_non_index"}, {"name": "import", "kind": "import"}]}`
	if err := os.WriteFile(plan, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	need(t, "sysbench")
	out, err := exec.Command(binary, "bench", "run", "--plan", plan, "--start", "pando3", "--start", "pando1", "--twin=false", "--warn-only", "--out", dir, "--name", "out").CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	var result struct {
		Runs []struct {
			Target, Failure      string
			Transactions, Fsyncs int
		}
	}
	report, err := os.ReadFile(filepath.Join(dir, "out.json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(report, &result); err != nil {
		t.Fatal(err)
	}
	if len(result.Runs) != 6 {
		t.Fatalf("%s", report)
	}
	for i, run := range result.Runs {
		if want := []string{"pando3", "pando1"}[i%2]; run.Target != want {
			t.Errorf("run %d is of %s, not %s", i, run.Target, want)
		}
		if strings.HasSuffix(run.Failure, "the server stalled") {
			continue // the machine had no time for it, of which the bench speaks as it should
		}
		if run.Failure != "" || run.Transactions == 0 || run.Fsyncs == 0 {
			t.Errorf("%+v\n%s", run, out)
		}
	}
}
