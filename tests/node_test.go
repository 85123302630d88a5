package tests

import (
	"bufio"
	"bytes"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/pandodb/pando/internal/testkit"
	"github.com/pandodb/pando/tests/badfs"
)

// startMax bounds how long a node may take until it serves; the machines are slow and shared, so it is generous.
const startMax = 60 * time.Second

// binary is the program under test, built by TestMain.
var binary string

func TestMain(m *testing.M) {
	os.Exit(func() int {
		if code, is := badfs.Serve(); is {
			return code
		}
		dir, err := os.MkdirTemp("", "pando-tests-")
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		defer os.RemoveAll(dir)
		binary = filepath.Join(dir, "pando")
		build := exec.Command("go", "build", "-trimpath", "-o", binary, "../cmd/pando")
		build.Env = append(os.Environ(), "CGO_ENABLED=0")
		if out, err := build.CombinedOutput(); err != nil {
			fmt.Fprintf(os.Stderr, "go build: %v\n%s", err, out)
			return 1
		}
		_ = mysql.SetLogger(quiet{}) // killed servers are expected
		return m.Run()
	}())
}

type quiet struct{}

func (quiet) Print(...any) {}

// node is one running pando process.
type node struct {
	t          testing.TB
	dir        string
	args       []string
	program    string // empty for binary
	clock      string // file that says how wrong the clock is, for a program that can have a wrong one
	limits     string // JSON of nodeLimits, for a program that takes them from limitsEnv
	space      string // network namespace; empty for the test's own
	password   string // of root
	enter      string // file of a cgroup that the process puts itself into; empty for none
	cmd        *exec.Cmd
	mysql      string // host:port
	http       string
	mu         sync.Mutex // guards log
	log        bytes.Buffer
	ready      chan []string // what the ready line says
	logDrained chan struct{}
}

// startNode starts pando over dir (a fresh one if empty) and waits until it is ready.
func startNode(t testing.TB, dir string, args ...string) *node {
	t.Helper()
	if dir == "" {
		dir = t.TempDir()
	}
	n := &node{t: t, dir: dir, args: args}
	t.Cleanup(n.kill)
	n.start()
	return n
}

var readyLine = regexp.MustCompile(`msg=ready.* mysql=(\S+) http=(\S+)`)

func (n *node) start() {
	n.t.Helper()
	if err := n.tryStart(); err != nil {
		n.t.Fatalf("start: %v\n%s", err, n.logText())
	}
}

func (n *node) tryStart() error {
	if err := n.launch(); err != nil {
		return err
	}
	return n.awaitReady()
}

// launch starts the process, which may need others to be ready.
func (n *node) launch() error {
	args := append([]string{"start", "--data-dir", n.dir, "--listen", "127.0.0.1:0", "--http", "127.0.0.1:0"}, n.args...)
	cmd := exec.Command(n.binary(), args...)
	if n.enter != "" {
		cmd = exec.Command("/bin/sh", append([]string{"-c", `echo $$ >"$0" && exec "$@"`, n.enter, n.binary()}, args...)...)
	}
	if n.space != "" {
		cmd = exec.Command("ip", append([]string{"netns", "exec", n.space, n.binary()}, args...)...) // which becomes the node
	}
	if n.clock != "" {
		cmd.Env = append(os.Environ(), clockEnv+"="+n.clock, limitsEnv+"="+n.limits)
	}
	cmd.Dir = n.dir
	return n.launchAs(cmd)
}

// clockEnv names, for a program with a clock that can be wrong, the file that says by how many seconds it is; limitsEnv has limits.
const clockEnv, limitsEnv = "WRONG_CLOCK", "GIVEN_LIMITS" // settings begin with PANDO_

// binary is the node's program.
func (n *node) binary() string {
	if n.program != "" {
		return n.program
	}
	return binary
}

// run starts a command that is a node and waits until it is ready.
func (n *node) run(cmd *exec.Cmd) error {
	if err := n.launchAs(cmd); err != nil {
		return err
	}
	return n.awaitReady()
}

func (n *node) launchAs(cmd *exec.Cmd) error {
	n.cmd = cmd
	stderr, err := n.cmd.StderrPipe()
	if err != nil {
		return err
	}
	if err := n.cmd.Start(); err != nil {
		return err
	}
	n.ready = make(chan []string, 1)
	n.logDrained = make(chan struct{})
	go n.readLog(stderr, n.ready, n.logDrained)
	return nil
}

// awaitReady waits until the process says that it is ready. After an error there is no process.
func (n *node) awaitReady() error {
	select {
	case found := <-n.ready:
		if found == nil {
			_ = n.cmd.Wait()
			n.cmd = nil
			return errors.New("the process ended before it was ready")
		}
		n.mysql, n.http = found[1], found[2]
		err := n.promote()
		if err != nil {
			n.kill()
		}
		return err
	case <-time.After(startMax):
		n.kill()
		return errors.New("not ready in time")
	}
}

// promote makes the node a cluster of one, where tests run so, root needs no password, and the test has no cluster or unsynced log of its own.
func (n *node) promote() error {
	if !testkit.Promoted() || slices.Contains(n.args, "--cluster-listen") {
		return nil
	}
	db, err := sql.Open("mysql", "root@tcp("+n.mysql+")/")
	if err != nil {
		return err
	}
	defer db.Close()
	_, err = db.Exec("ADMIN PROMOTE")
	if number := errorNumber(err); number == 1045 || number == 1235 {
		return nil
	}
	return err
}

// readLog keeps the process's log and reports the addresses of the ready line, or nil at its end. It ends with the process.
func (n *node) readLog(r io.Reader, ready chan<- []string, drained chan<- struct{}) {
	defer close(drained)
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		n.mu.Lock()
		n.log.Write(lines.Bytes())
		n.log.WriteByte('\n')
		n.mu.Unlock()
		if found := readyLine.FindStringSubmatch(lines.Text()); found != nil {
			select {
			case ready <- found:
			default:
			}
		}
	}
	select {
	case ready <- nil:
	default:
	}
}

func (n *node) logText() string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.log.String()
}

// kill ends the process as kill -9 does and waits for it.
func (n *node) kill() { n.signal(syscall.SIGKILL) }

// stop asks the process to drain and waits for it; it returns the exit code.
func (n *node) stop() int { return n.signal(syscall.SIGTERM) }

func (n *node) signal(sig syscall.Signal) int {
	if n.cmd == nil || n.cmd.Process == nil {
		return -1
	}
	_ = n.cmd.Process.Signal(sig)
	<-n.logDrained
	_ = n.cmd.Wait()
	code := n.cmd.ProcessState.ExitCode()
	n.cmd = nil
	if strings.Contains(n.logText(), "panic:") || strings.Contains(n.logText(), "msg=panic") {
		n.t.Errorf("the server panicked:\n%s", n.logText())
	}
	return code
}

func (n *node) host() string { host, _, _ := net.SplitHostPort(n.mysql); return host }
func (n *node) port() string { _, port, _ := net.SplitHostPort(n.mysql); return port }

// dsn is the address of a database for Go's driver, as root.
func (n *node) dsn(db, params string) string {
	return "root:" + n.password + "@tcp(" + n.mysql + ")/" + db + "?" + params
}

// open connects Go's driver to a database.
func (n *node) open(db string) *sql.DB {
	n.t.Helper()
	pool, err := sql.Open("mysql", n.dsn(db, ""))
	if err != nil {
		n.t.Fatal(err)
	}
	n.t.Cleanup(func() { pool.Close() })
	return pool
}

// get reads a page of the HTTP port.
func (n *node) get(path string) (int, string) {
	n.t.Helper()
	answer, err := http.Get("http://" + n.http + path)
	if err != nil {
		n.t.Fatal(err)
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		n.t.Fatal(err)
	}
	return answer.StatusCode, string(body)
}

// mustExec runs statements in order.
func mustExec(t testing.TB, db interface {
	Exec(string, ...any) (sql.Result, error)
}, statements ...string) {
	t.Helper()
	for _, statement := range statements {
		if _, err := db.Exec(statement); err != nil {
			t.Fatalf("%.200s: %v", statement, err)
		}
	}
}

// queryInt reads one number.
func queryInt(t testing.TB, db *sql.DB, query string, args ...any) int64 {
	t.Helper()
	var n sql.NullInt64
	if err := db.QueryRow(query, args...).Scan(&n); err != nil {
		t.Fatalf("%.200s: %v", query, err)
	}
	return n.Int64
}

// errorNumber is the MySQL number of a driver's error, or 0.
func errorNumber(err error) uint16 {
	var e *mysql.MySQLError
	if errors.As(err, &e) {
		return e.Number
	}
	return 0
}

// need finds a program, or fails with what to install.
func need(t testing.TB, program string) string {
	t.Helper()
	path, err := exec.LookPath(program)
	if err != nil {
		t.Fatalf("%s is not installed; scripts/test-programs.sh installs what the tests need", program)
	}
	return path
}

// openAs connects Go's driver as another user.
func (n *node) openAs(user, password, db string) *sql.DB {
	n.t.Helper()
	pool, err := sql.Open("mysql", user+":"+password+"@tcp("+n.mysql+")/"+db)
	if err != nil {
		n.t.Fatal(err)
	}
	n.t.Cleanup(func() { pool.Close() })
	return pool
}

// TestStartLeavesNothing: a node that says that it is ready, and can't be used, is no process any more when its start has failed.
func TestStartLeavesNothing(t *testing.T) {
	t.Setenv("PANDO_PROMOTED", "1")
	n := &node{t: t}
	t.Cleanup(n.kill)
	closed := fmt.Sprint("127.0.0.1:", freePorts(t, 1))
	if err := n.run(exec.Command("/bin/sh", "-c", "echo msg=ready mysql="+closed+" http="+closed+" >&2; exec sleep 600")); err == nil || n.cmd != nil {
		t.Errorf("%v, process %v", err, n.cmd)
	}
}
