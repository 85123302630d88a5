package server

import (
	"io"
	"net/http"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/pandodb/pando/internal/testkit"
)

// figuresOf reads the status port's metrics. Of those with labels it adds up what has the same name.
func figuresOf(t *testing.T, n *Node) map[string]float64 {
	t.Helper()
	answer, err := http.Get(n.StatusURL() + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	page, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]float64{}
	for _, m := range regexp.MustCompile(`(?m)^pando_(\w+)(?:\{.*\})? (\S+)$`).FindAllStringSubmatch(string(page), -1) {
		v, err := strconv.ParseFloat(m[2], 64)
		if err != nil {
			t.Fatal(err)
		}
		out[m[1]] += v
	}
	return out
}

// TestClusterFiguresMove: what an operator is told of regions with logs moves when something is committed, garbage is told by region, and each figure has its line in the documents.
func TestClusterFiguresMove(t *testing.T) {
	n := mustOpen(t, testOptions(t))
	defer mustClose(t, n)
	if _, err := n.promote(); err != nil {
		t.Fatal(err)
	}
	before := figuresOf(t, n)
	for range 20 {
		putValue(t, n, "a", "same key") // so that there is garbage
	}
	after := figuresOf(t, n)
	for _, name := range []string{"raft_proposals_total", "raft_entries_total", "raft_entry_bytes_total", "raft_append_seconds_total", "raft_apply_seconds_total", "cluster_commits_total",
		"timestamps_total", "wal_syncs_total"} {
		if after[name] <= before[name] {
			t.Errorf("%s was %v and is %v after commits", name, before[name], after[name])
		}
	}
	if after["raft_groups"] < 2 || after["raft_groups_led"] != after["raft_groups"] || after["timestamp_marks_total"] == 0 {
		t.Errorf("%v groups, of which %v are led here; %v marks", after["raft_groups"], after["raft_groups_led"], after["timestamp_marks_total"])
	}
	if _, known := after["raft_queue_length"]; !known {
		t.Error("no length of queues")
	}
	sum := 0
	for _, r := range n.clusterStatus().Regions {
		sum += r.Garbage
	}
	if float64(sum) == 0 && figuresOf(t, n)["gc_deleted_total"] == 0 {
		t.Error("20 versions of a key are neither garbage of a region nor deleted")
	}
	testkit.Await(t, "garbage to be collected", func() bool { return figuresOf(t, n)["gc_deleted_total"] > 0 })
	docs, err := os.ReadFile("../docs/operating.md")
	if err != nil {
		t.Fatal(err)
	}
	for name := range after {
		name = strings.TrimSuffix(strings.TrimSuffix(strings.TrimSuffix(name, "_bucket"), "_sum"), "_count")
		if !strings.Contains(string(docs), name) {
			t.Errorf("docs/operating.md does not tell of %s", name)
		}
	}
}
