package tests

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// rssBytes is the resident memory of the process.
func (n *node) rssBytes() int64 {
	n.t.Helper()
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", n.cmd.Process.Pid))
	if err != nil {
		n.t.Fatal(err)
	}
	for _, line := range strings.Split(string(raw), "\n") {
		if fields := strings.Fields(line); len(fields) == 3 && fields[0] == "VmRSS:" {
			kib, err := strconv.ParseInt(fields[1], 10, 64)
			if err != nil {
				n.t.Fatal(err)
			}
			return kib << 10
		}
	}
	n.t.Fatal("no VmRSS")
	return 0
}

// refused runs pando start where it must not serve, and returns what it said.
func refused(t testing.TB, args ...string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), startMax)
	defer cancel()
	out, err := exec.CommandContext(ctx, binary, append([]string{"start"}, args...)...).CombinedOutput()
	if err == nil || ctx.Err() != nil {
		t.Fatalf("pando start %v was not refused: %v\n%s", args, err, out)
	}
	if strings.Contains(string(out), "goroutine ") {
		t.Errorf("pando start %v panicked:\n%s", args, out)
	}
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	for i, line := range lines {
		if strings.HasPrefix(line, "pando: ") {
			return strings.Join(lines[i:], "\n")
		}
	}
	t.Fatalf("pando start %v gave no reason:\n%s", args, out)
	return ""
}

// free are the flags of a node on ports that the system chooses.
func free(dir string, more ...string) []string {
	return append([]string{"--data-dir", dir, "--listen", "127.0.0.1:0", "--http", "127.0.0.1:0"}, more...)
}

func TestIdle(t *testing.T) {
	began := time.Now()
	n := startNode(t, "")
	t.Logf("start on an empty directory took %v", time.Since(began))
	if one := queryInt(t, n.open(""), "SELECT 1"); one != 1 {
		t.Errorf("SELECT 1 is %d", one)
	}
	rss := n.rssBytes()
	t.Logf("idle: %d MiB resident", rss>>20)
	if rss > 150_000_000 {
		t.Errorf("idle memory is %d bytes, above 150 MB", rss)
	}
}

// TestRefusedStarts tells the user what is wrong with the directory or the port, and what to do.
func TestRefusedStarts(t *testing.T) {
	n := startNode(t, "")
	mustExec(t, n.open(""), "CREATE DATABASE d")
	for name, c := range map[string]struct {
		args []string
		says string
	}{
		"second process": {free(n.dir), `in use|another process|locked`},
		"busy port":      {[]string{"--data-dir", t.TempDir(), "--listen", n.mysql, "--http", ""}, `is in use by another process: stop it, or choose another address with --listen`},
		"busy http":      {[]string{"--data-dir", t.TempDir(), "--listen", "127.0.0.1:0", "--http", n.http}, `choose another address with --http`},
	} {
		if said := refused(t, c.args...); !regexp.MustCompile(c.says).MatchString(said) {
			t.Errorf("%s: %s", name, said)
		}
	}
	if code := n.stop(); code != 0 {
		t.Errorf("SIGTERM ended with code %d", code)
	}
	foreign := t.TempDir()
	if err := os.MkdirAll(filepath.Join(foreign, "store"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(foreign, "store", "ibdata1"), []byte("MySQL's"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Logf("foreign directory: %s", refused(t, free(foreign)...))
	file := filepath.Join(foreign, "store", "ibdata1")
	t.Logf("a file for a directory: %s", refused(t, free(file)...))
	t.Logf("corrupt manifest: %s", refused(t, free(damaged(t, n.dir, "MANIFEST-*"))...))
	n.start() // the original is unharmed by all that
	mustExec(t, n.open(""), "CREATE TABLE d.t (a INT)")
}

// damaged copies a data directory and overwrites the middle of the files that match.
func damaged(t *testing.T, dir, pattern string) string {
	t.Helper()
	to := t.TempDir()
	if out, err := exec.Command("cp", "-a", dir+"/.", to).CombinedOutput(); err != nil {
		t.Fatalf("cp: %v\n%s", err, out)
	}
	names, err := filepath.Glob(filepath.Join(to, "store", pattern))
	if err != nil || len(names) == 0 {
		t.Fatalf("no %s in %s: %v", pattern, to, err)
	}
	for _, name := range names {
		raw, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for i := range raw {
			raw[i] ^= 0x5a
		}
		if err := os.WriteFile(name, raw, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return to
}

// TestDrain sends SIGTERM while a statement runs: it finishes, new clients are turned away, the exit code is 0.
func TestDrain(t *testing.T) {
	n := startNode(t, "", "--drain-timeout=2m")
	db := n.open("")
	answer := make(chan error, 1)
	go func() {
		var slept int
		err := db.QueryRow("SELECT SLEEP(5)").Scan(&slept)
		if err == nil && slept != 0 {
			err = fmt.Errorf("SLEEP was interrupted")
		}
		answer <- err
	}()
	waitFor(t, "the statement runs", func() bool {
		return queryInt(t, db, "SELECT COUNT(*) FROM information_schema.processlist WHERE info LIKE 'SELECT SLEEP%'") == 1
	})
	if code := n.stop(); code != 0 {
		t.Errorf("exit code %d\n%s", code, n.logText())
	}
	if err := <-answer; err != nil {
		t.Errorf("the running statement: %v", err)
	}
	if conn, err := net.Dial("tcp", n.mysql); err == nil {
		conn.Close()
		t.Error("the port is still open")
	}
	n.start()
}

// TestShutdownStatement: SHUTDOWN, as a statement and as mariadb-admin asks for it, ends the process as a signal does, that of a node alone and that of a gateway.
func TestShutdownStatement(t *testing.T) {
	admin := need(t, "mariadb-admin")
	for name, promoted := range map[string]string{"alone": "", "gateway": "1"} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("PANDO_PROMOTED", promoted)
			shutdownByStatement(t, admin)
		})
	}
}

func shutdownByStatement(t *testing.T, admin string) {
	n := startNode(t, "")
	for name, shutdown := range map[string]func() error{
		"statement": func() error {
			_, err := n.open("").Exec("SHUTDOWN")
			return err
		},
		"command": func() error {
			out, err := exec.Command(admin, "--no-defaults", "-h", n.host(), "-P", n.port(), "-u", "root", "shutdown").CombinedOutput()
			if err != nil {
				return fmt.Errorf("%w: %s", err, out)
			}
			return nil
		},
	} {
		if _, err := n.open("").Exec("CREATE DATABASE `" + name + "`"); err != nil {
			t.Fatal(err)
		}
		if err := shutdown(); err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if code := n.signal(syscall.Signal(0)); code != 0 { // which only waits
			t.Errorf("%s: exit code %d\n%s", name, code, n.logText())
		}
		n.start()
	}
	if found := queryInt(t, n.open(""), "SELECT COUNT(*) FROM information_schema.schemata WHERE schema_name IN ('statement', 'command')"); found != 2 {
		t.Errorf("%d of two databases are there", found)
	}
}

// TestOutlivesItsTerminal: neither the end of the terminal nor that of the log's reader ends the server, and it can still be stopped cleanly.
func TestOutlivesItsTerminal(t *testing.T) {
	n := &node{t: t}
	cmd := exec.Command(binary, append([]string{"start"}, free(t.TempDir())...)...)
	log, err := cmd.StderrPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	for lines := bufio.NewScanner(log); n.mysql == "" && lines.Scan(); {
		if found := readyLine.FindStringSubmatch(lines.Text()); found != nil {
			n.mysql, n.http = found[1], found[2]
		}
	}
	_ = log.Close()
	for _, sig := range []os.Signal{syscall.SIGHUP, syscall.SIGPIPE} {
		if err := cmd.Process.Signal(sig); err != nil {
			t.Fatal(err)
		}
	}
	db := n.open("")
	mustExec(t, db, "SET GLOBAL log_level='debug'", "SET GLOBAL innodb_flush_log_at_trx_commit=0") // which is logged
	if one := queryInt(t, db, "SELECT 1"); one != 1 {
		t.Errorf("SELECT 1 is %d", one)
	}
	_ = cmd.Process.Signal(syscall.SIGTERM)
	if err := cmd.Wait(); err != nil {
		t.Errorf("SIGTERM: %v", err)
	}
}

// waitFor polls for what has no event.
func waitFor(t testing.TB, what string, done func() bool) {
	t.Helper()
	for end := time.Now().Add(startMax); !done(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("waited in vain until %s", what)
		}
	}
}

// sampleLine is one line of the Prometheus text format.
var sampleLine = regexp.MustCompile(`^([a-zA-Z_:][a-zA-Z0-9_:]*)(\{[^{}]*\})? (NaN|[+-]?Inf|[-+0-9.eE]+)$`)

// TestMemoryOutside checks that the binary of the Makefile takes blocks and memtables from outside of Go's heap.
func TestMemoryOutside(t *testing.T) {
	if runtime.GOOS != "linux" || !strings.Contains(os.Getenv("GOFLAGS"), "-modfile") {
		t.Skip("a build by go build alone has them on the heap")
	}
	n := startNode(t, "")
	_, body := n.get("/metrics")
	if !regexp.MustCompile(`(?m)^pando_outside_heap_bytes [1-9]`).MatchString(body) {
		t.Error("nothing is outside of the heap")
	}
}

// declared reports whether a sample belongs to a metric whose type was given: those of histograms and summaries have names with suffixes.
func declared(typed map[string]string, name string) bool {
	for _, suffix := range []string{"_bucket", "_sum", "_count"} {
		if base, is := strings.CutSuffix(name, suffix); is && (typed[base] == "histogram" || typed[base] == "summary") {
			return true
		}
	}
	return typed[name] != ""
}

// TestStatusPort reads every page of the HTTP port and parses the metrics.
func TestStatusPort(t *testing.T) {
	n := startNode(t, "")
	mustExec(t, n.open(""), "CREATE DATABASE d", "CREATE TABLE d.t (a INT PRIMARY KEY, b INT)", "INSERT INTO d.t VALUES (1, 1)",
		"UPDATE d.t SET b = 2 WHERE a = 1", "UPDATE d.t SET b = 3 WHERE a = 1") // the second finds the row in the row cache
	for path, want := range map[string]int{"/healthz": 200, "/readyz": 200, "/nothing": 404} {
		if code, body := n.get(path); code != want {
			t.Errorf("%s: %d %s", path, code, body)
		}
	}
	var status struct {
		Version string
		Ready   bool
		PID     int
	}
	_, body := n.get("/status")
	if err := json.Unmarshal([]byte(body), &status); err != nil || !status.Ready || status.Version == "" || status.PID != n.cmd.Process.Pid {
		t.Errorf("/status: %v\n%s", err, body)
	}
	_, body = n.get("/metrics")
	typed, samples := map[string]string{}, map[string]float64{}
	for _, line := range strings.Split(strings.TrimSpace(body), "\n") {
		if fields := strings.Fields(line); strings.HasPrefix(line, "# TYPE ") && len(fields) == 4 {
			typed[fields[2]] = fields[3]
			continue
		} else if strings.HasPrefix(line, "#") {
			continue
		}
		found := sampleLine.FindStringSubmatch(line)
		if found == nil || !declared(typed, found[1]) {
			t.Errorf("not a sample of a declared metric: %q", line)
			continue
		}
		value, err := strconv.ParseFloat(found[3], 64)
		if _, twice := samples[found[1]+found[2]]; err != nil || twice {
			t.Errorf("bad or repeated sample %q: %v", line, err)
		}
		samples[found[1]+found[2]] = value
	}
	for _, name := range []string{"pando_connections_total", "pando_wal_syncs_total", "pando_regions", "pando_row_cache_hits_total", "pando_row_cache_rows", "pando_row_cache_bytes"} {
		if samples[name] < 1 {
			t.Errorf("%s is %v", name, samples[name])
		}
	}
	if seconds := samples["pando_wal_sync_seconds_total"]; seconds <= 0 {
		t.Errorf("%v seconds in syncs", seconds)
	}
}

// TestLoginsDenied gets 1045 and 1044, without telling which part was wrong.
func TestLoginsDenied(t *testing.T) {
	n := startNode(t, "")
	mustExec(t, n.open(""), "CREATE DATABASE d", "CREATE USER u IDENTIFIED BY 'right'")
	for _, c := range []struct {
		user, password, db string
		number             uint16
	}{{"u", "wrong", "", 1045}, {"nobody", "", "", 1045}, {"u", "", "", 1045}, {"u", "right", "d", 1044}} {
		if err := n.openAs(c.user, c.password, c.db).Ping(); errorNumber(err) != c.number {
			t.Errorf("login of %s with %q to %q: %v, not %d", c.user, c.password, c.db, err, c.number)
		}
	}
	db := n.openAs("u", "right", "")
	if _, err := db.Exec("CREATE TABLE d.x (a INT)"); errorNumber(err) != 1142 && errorNumber(err) != 1044 {
		t.Errorf("a user without privileges: %v", err)
	}
	open := n.open("")
	mustExec(t, open, "GRANT SELECT, CREATE ON d.* TO u")
	mustExec(t, db, "CREATE TABLE d.x (a INT)")
	if _, err := db.Exec("INSERT INTO d.x VALUES (1)"); errorNumber(err) != 1142 {
		t.Errorf("INSERT without the privilege: %v", err)
	}
	// The log holds neither passwords nor rows.
	if strings.Contains(n.logText(), "right") || strings.Contains(n.logText(), "wrong") {
		t.Error("the log shows a password")
	}
}
