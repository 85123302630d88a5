package bench

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var rewrite = flag.Bool("rewrite", false, "accept the output as the golden files")

func TestReportGolden(t *testing.T) {
	r := session2([]float64{2000, 0, 1900}, []float64{1000, 1000, 1000})
	dir := t.TempDir()
	if err := WriteReport(r, filepath.Join(dir, "report")); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"report.md"} {
		got, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		golden := filepath.Join("testdata", filepath.Base(name))
		if *rewrite {
			if err := os.WriteFile(golden, got, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(golden)
		if err != nil {
			t.Fatal(err)
		}
		if string(got) != string(want) {
			t.Errorf("%s differs from %s; read the difference, then run with -rewrite:\n%s", name, golden, got)
		}
	}
	again, err := ReadResult(filepath.Join(dir, "report.json"))
	if err != nil {
		t.Fatal(err)
	}
	if markdown(again.sections()) != markdown(r.sections()) {
		t.Error("the stored session gives another report")
	}
}

func TestReadResultRefusesOtherFormats(t *testing.T) {
	path := filepath.Join(t.TempDir(), "r.json")
	if err := os.WriteFile(path, []byte(`{"format": 99}`), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadResult(path); err == nil || !strings.Contains(err.Error(), "format 99") {
		t.Errorf("%v", err)
	}
}

// The report of given targets claims nothing about them, and unknown figures show as such.
func TestReportOfGivenTargets(t *testing.T) {
	r := session2([]float64{2000}, []float64{1000})
	for i := range r.Targets {
		r.Targets[i].Kind, r.Targets[i].Settings = KindExternal, nil
		r.Targets[i].EmptyBytes, r.Targets[i].DataBytes = 0, 0
	}
	for i := range r.Runs {
		r.Runs[i].Cost = Cost{CPUSeconds: -1, CPUMicros: -1, WrittenBytes: -1, RSSBytes: -1, Fsyncs: -1}
	}
	text := markdown(r.sections())
	for _, wrong := range []string{"while the others were idle", "Cache of each", "tarted with:", "-0 KiB", "-1", " 0 KiB"} {
		if strings.Contains(text, wrong) {
			t.Errorf("%q is in\n%s", wrong, text)
		}
	}
	var log strings.Builder
	progress := NewProgress(&log, false)
	progress.finished(&r.Runs[0], "QPS")
	if !strings.Contains(log.String(), "– µs CPU each") {
		t.Error(log.String())
	}
}
