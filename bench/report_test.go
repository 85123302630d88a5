package bench

import (
	"encoding/xml"
	"errors"
	"flag"
	"io"
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
	for _, name := range []string{"report.md", "report.html", "report-charts/point_select-auto.svg"} {
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
	if markdown(again.sections(), "report-charts") != markdown(r.sections(), "report-charts") {
		t.Error("the stored session gives another report")
	}
}

func TestChartIsXML(t *testing.T) {
	text := chart(`a < b & "c"`, "QPS", []int{1, 2}, []series{{name: "<x>", values: []float64{1, 2}, low: []float64{1, 1}, high: []float64{1, 3}}})
	decoder := xml.NewDecoder(strings.NewReader(text))
	for {
		if _, err := decoder.Token(); errors.Is(err, io.EOF) {
			return
		} else if err != nil {
			t.Fatal(err)
		}
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
