package testkit

import (
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/pandodb/pando/clock"
)

// oracleStart is how long a server may take until it takes connections.
const oracleStart = time.Minute

// mariadbPlaces are where distributions keep the server's program.
var mariadbPlaces = []string{"mariadbd", "/usr/sbin/mariadbd", "/usr/libexec/mariadbd"}

// MariaDBProgram is the path of MariaDB's server, "" where there is none.
func MariaDBProgram() string {
	for _, place := range mariadbPlaces {
		if path, err := exec.LookPath(place); err == nil {
			return path
		}
	}
	return ""
}

// MariaDB starts a MariaDB for one test, without accounts, and returns its socket. Where there is none the test is skipped.
func MariaDB(t testing.TB, flags ...string) (socket string) {
	t.Helper()
	program := MariaDBProgram()
	if program == "" {
		t.Skip("no MariaDB to compare with: scripts/test-programs.sh installs one")
	}
	dir := oracleDir(t)
	return startOracle(t, dir, program, append(oracleFlags(dir), flags...))
}

// MySQL starts a MySQL for one test, without accounts, and returns its socket. Where none has been unpacked the test is skipped.
func MySQL(t testing.TB, flags ...string) (socket string) {
	t.Helper()
	script, err := repositoryFile("scripts/mysql.sh")
	if err != nil {
		t.Fatal(err)
	}
	if exec.Command(script, "have").Run() != nil {
		t.Skip("no MySQL to compare with: scripts/mysql.sh fetch unpacks one")
	}
	dir := oracleDir(t)
	args := append(append([]string{"mysqld"}, oracleFlags(dir)...), "--mysqlx=0", "--skip-log-bin")
	if out, err := exec.Command(script, append(args, "--initialize-insecure")...).CombinedOutput(); err != nil {
		t.Fatalf("mysqld --initialize-insecure: %v\n%s\n%s", err, out, logOf(dir))
	}
	return startOracle(t, dir, script, append(args, flags...))
}

// oracleDir makes the directory of a server. Its name is short: a socket's path has at most 107 bytes.
func oracleDir(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "oracle")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	if err := os.Mkdir(filepath.Join(dir, "data"), 0o700); err != nil {
		t.Fatal(err)
	}
	return dir
}

func oracleFlags(dir string) []string {
	flags := []string{"--no-defaults", "--datadir=" + filepath.Join(dir, "data"), "--socket=" + filepath.Join(dir, "s"), "--pid-file=" + filepath.Join(dir, "pid"),
		"--skip-networking", "--skip-grant-tables", "--log-error=" + filepath.Join(dir, "log")}
	if os.Getuid() == 0 {
		flags = append(flags, "--user=root") // servers refuse root unless they are told
	}
	return flags
}

func logOf(dir string) string {
	text, _ := os.ReadFile(filepath.Join(dir, "log"))
	return string(text)
}

// startOracle runs a server until the test ends, and returns its socket when it takes connections.
func startOracle(t testing.TB, dir, program string, args []string) string {
	t.Helper()
	command := exec.Command(program, args...)
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		_ = command.Wait()
		close(ended)
	}()
	t.Cleanup(func() {
		_ = command.Process.Kill()
		<-ended
	})
	socket := filepath.Join(dir, "s")
	for began := clock.Mono(); clock.Since(began) < oracleStart; {
		if conn, err := net.Dial("unix", socket); err == nil {
			conn.Close()
			return socket
		}
		select {
		case <-ended:
			t.Fatalf("%s ended before it took connections:\n%s", filepath.Base(program), logOf(dir))
		default:
			clock.Sleep(10 * time.Millisecond)
		}
	}
	t.Fatalf("%s took no connections in %v:\n%s", filepath.Base(program), oracleStart, logOf(dir))
	return ""
}

// repositoryFile is the path of one of the repository's files, from any package's tests.
func repositoryFile(name string) (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for ; !strings.HasSuffix(dir, string(filepath.Separator)); dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return filepath.Join(dir, name), nil
		}
	}
	return "", errors.New("the repository's root was not found")
}
