package bench

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// resultFormat is the version of the stored results.
const resultFormat = 2

// Result is everything that a session found out; it is stored as JSON, and the reports are made from it alone.
type Result struct {
	Format       int           `json:"format"`
	Command      string        `json:"command"`
	Started      string        `json:"started"`
	Ended        string        `json:"ended"`
	Incomplete   string        `json:"incomplete,omitempty"` // why the session ended early
	Environment  Environment   `json:"environment"`
	Base         string        `json:"base,omitempty"` // the peer that the floors speak of
	Targets      []TargetInfo  `json:"targets"`
	Calibrations []Calibration `json:"calibrations"`
	Plan         Plan          `json:"plan"`
	Placement    string        `json:"placement"` // where servers and clients ran, in a sentence
	Runs         []Run         `json:"runs"`
}

// Environment describes the machine without naming it.
type Environment struct {
	Commit   string  `json:"commit,omitempty"` // of the checkout that the session ran in
	OS       string  `json:"os"`
	Kernel   string  `json:"kernel"`
	CPU      string  `json:"cpu"`
	CPUs     int     `json:"cpus"`
	Memory   int64   `json:"memory_bytes"`
	Files    string  `json:"file_system"` // of the data directories
	Sysbench string  `json:"sysbench"`
	Go       string  `json:"go"`
	LoadAt   float64 `json:"load_at_start"` // one-minute load average
	LoadEnd  float64 `json:"load_at_end"`
}

// TargetInfo describes one target.
type TargetInfo struct {
	Name           string   `json:"name"`
	Kind           string   `json:"kind"`           // pando, mariadb, mysql, postgres, trivial or external
	Twin           bool     `json:"twin,omitempty"` // another server of the subject's kind, which shows how much equals differ
	Version        string   `json:"version"`
	Settings       []string `json:"settings,omitempty"` // its command line or file, without paths
	Durability     string   `json:"durability"`
	PrepareSeconds float64  `json:"prepare_seconds,omitempty"`
	Prepared       string   `json:"prepared,omitempty"`
	EmptyBytes     int64    `json:"empty_bytes,omitempty"` // what it stored before the first load
	DataBytes      int64    `json:"data_bytes,omitempty"`  // what the first load added, after settling, without preallocated logs
	Unsettled      bool     `json:"unsettled,omitempty"`   // it still changed when DataBytes was taken
	DataRows       int64    `json:"data_rows,omitempty"`
	Failures       []string `json:"failures,omitempty"` // deaths and failed preparations
}

// Run is one execution against one target.
type Run struct {
	Target   string         `json:"target"`
	Workload string         `json:"workload"`
	PSMode   string         `json:"ps_mode"`
	Threads  int            `json:"threads"`
	Round    int            `json:"round"`
	Again    bool           `json:"again,omitempty"` // of the second measurement of a workload that missed a demand
	Command  string         `json:"command,omitempty"`
	Failure  string         `json:"failure,omitempty"`
	Errors   map[string]int `json:"errors,omitempty"` // by MySQL's number
	Rate     float64        `json:"rate"`             // QPS, rows/s or logins/s
	Answer   string         `json:"answer,omitempty"` // of a query of TPC-H
	Figures
	Cost
	StartSeconds float64    `json:"start_seconds,omitempty"` // of a start or restart workload
	IdleBytes    int64      `json:"idle_bytes,omitempty"`
	Intervals    []Interval `json:"intervals,omitempty"`
}

// Cost is what a run took from the server's side of the machine. A negative number is unknown.
type Cost struct {
	CPUSeconds   float64 `json:"server_cpu_seconds"`
	CPUMicros    float64 `json:"server_cpu_us_per_query"`
	Fsyncs       int64   `json:"fsyncs"`
	WrittenBytes int64   `json:"written_bytes"`
	RSSBytes     int64   `json:"rss_bytes"`
	DiskBytes    int64   `json:"disk_bytes"`
}

// failed says whether the run has no figures.
func (r *Run) failed() bool { return r.Failure != "" }

// writtenEach is how many bytes the server has written for a transaction; negative: unknown.
func (r *Run) writtenEach() float64 {
	if r.WrittenBytes < 0 || r.Transactions <= 0 {
		return -1
	}
	return float64(r.WrittenBytes) / float64(r.Transactions)
}

// at says whether the run belongs to the step.
func (r *Run) at(s Step) bool {
	return r.Workload == s.Workload.Name && r.PSMode == s.PSMode && r.Threads == s.Threads
}

// ReadResult loads a stored session.
func ReadResult(path string) (*Result, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	result := &Result{}
	if err := json.Unmarshal(text, result); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if result.Format != resultFormat {
		return nil, fmt.Errorf("%s has format %d; this program reads format %d", path, result.Format, resultFormat)
	}
	return result, nil
}

// incompleteSuffix marks the files of a session that ended early, where those of a finished one have the name.
const incompleteSuffix = "-incomplete"

// ReportPrefix is where to store a session that was to be stored below prefix: one that ended early never takes the place of one that
// did not.
func ReportPrefix(r *Result, prefix string) string {
	if r.Incomplete == "" {
		return prefix
	}
	stored, err := ReadResult(prefix + ".json")
	if errors.Is(err, fs.ErrNotExist) || (err == nil && stored.Incomplete != "") {
		return prefix
	}
	return prefix + incompleteSuffix
}

// SaveUnderWay stores a session that goes on, without its report, beside that of the one before.
func SaveUnderWay(r *Result, prefix string) error {
	return r.write(prefix + incompleteSuffix + ".json")
}

// PrepareReport makes the directory of a report and shows that files can be written to it, which is better known before a session than
// after it.
func PrepareReport(prefix string) error {
	dir := filepath.Dir(prefix)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	file, err := os.CreateTemp(dir, filepath.Base(prefix)+"-try-")
	if err != nil {
		return err
	}
	return errors.Join(file.Close(), os.Remove(file.Name()))
}

// FinishReport writes a session's report to its place, which it returns, and removes what SaveUnderWay has left.
func FinishReport(r *Result, prefix string) (string, error) {
	place := ReportPrefix(r, prefix)
	if err := WriteReport(r, place); err != nil {
		return "", err
	}
	if place == prefix {
		if err := os.Remove(prefix + incompleteSuffix + ".json"); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return "", err
		}
	}
	return place, nil
}

// write stores the session so that a crash leaves the previous file.
func (r *Result) write(path string) error {
	text, err := json.MarshalIndent(r, "", " ")
	if err != nil {
		return err
	}
	if err := os.WriteFile(path+".part", append(text, '\n'), 0o644); err != nil {
		return err
	}
	return os.Rename(path+".part", path)
}
