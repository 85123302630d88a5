package bench

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"

	"github.com/pandodb/pando/clock"
)

// readyLine is what Pando logs when it serves, trivialLine what the trivial responder prints.
var (
	readyLine   = regexp.MustCompile(`msg=ready.* mysql=(\S+) http=(\S+)`)
	trivialLine = regexp.MustCompile(`^trivial responder on (\S+)$`)
)

// public replaces the directories and the port of a server's command line by names.
func (t *Target) public(args []string) []string {
	shown := make([]string, len(args))
	for i, arg := range args {
		arg = strings.ReplaceAll(arg, t.dir, "$DIR")
		if strings.HasPrefix(arg, "--port=") {
			arg = "--port=$PORT"
		}
		shown[i] = arg
	}
	return shown
}

func configurePando(t *Target, o startOptions) {
	data := filepath.Join(t.dir, "data")
	args := []string{"start", "--data-dir", data, "--listen", "127.0.0.1:0", "--http", "127.0.0.1:0",
		"--cache-size", strconv.FormatInt(o.cacheBytes, 10), "--max-connections", strconv.Itoa(o.maxConnections), "--log-level", "info"}
	t.Settings = append([]string{"pando"}, t.public(args)...)
	t.skip = func(name string) bool {
		name = filepath.Base(name)
		return name == "ballast" || strings.HasPrefix(name, "spare-wal") || strings.HasSuffix(name, ".wal") || strings.HasSuffix(name, ".log")
	}
	t.launch = func(ctx context.Context, t *Target) error {
		found, err := t.launchAndRead(ctx, readyLine, o.binary, args...)
		if err == nil {
			t.Address, t.http = found[1], found[2]
		}
		return err
	}
}

func configureTrivial(t *Target, o startOptions) {
	args := []string{"bench", "trivial", "--listen", "127.0.0.1:0"}
	t.Settings = append([]string{"pando"}, args...)
	t.launch = func(ctx context.Context, t *Target) error {
		found, err := t.launchAndRead(ctx, trivialLine, o.binary, args...)
		if err == nil {
			t.Address = found[1]
		}
		return err
	}
}

// launchAndRead spawns a server and waits for the line that names its addresses.
func (t *Target) launchAndRead(ctx context.Context, line *regexp.Regexp, name string, args ...string) ([]string, error) {
	ready := make(chan []string, 1)
	watch := func(text string) {
		if found := line.FindStringSubmatch(text); found != nil {
			select {
			case ready <- found:
			default: // it said so before
			}
		}
	}
	process, err := spawn(t.dir, t.uid, watch, name, args...)
	if err != nil {
		return nil, err
	}
	t.process = process
	timer := clock.NewTimer(startMax)
	defer timer.Stop()
	select {
	case found := <-ready:
		return found, nil
	case <-process.exited:
		return nil, fmt.Errorf("the process ended before it was ready: %s", t.why())
	case <-timer.C:
		t.stop()
		return nil, fmt.Errorf("not ready in %v", startMax)
	case <-ctx.Done():
		t.stop()
		return nil, ctx.Err()
	}
}

// find looks for a program on the path and where distributions keep what only administrators start.
func find(name string) (string, error) {
	if path, err := exec.LookPath(name); err == nil {
		return path, nil
	}
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/" + name)
	for _, path := range append([]string{"/usr/sbin/" + name, "/usr/libexec/" + name}, found...) {
		if info, err := os.Stat(path); err == nil && info.Mode()&0o111 != 0 {
			return path, nil
		}
	}
	return "", fmt.Errorf("the program %s is not installed; on Debian: scripts/test-programs.sh, or apt-get install sysbench mariadb-server postgresql", name)
}

func configureMariaDB(t *Target, o startOptions) error {
	server, err := find("mariadbd")
	if err != nil {
		return err
	}
	install, err := find("mariadb-install-db")
	if err != nil {
		return err
	}
	port, err := freePort()
	if err != nil {
		return err
	}
	data := filepath.Join(t.dir, "data")
	args := []string{"--no-defaults", "--datadir=" + data, "--socket=" + filepath.Join(t.dir, "socket"), "--pid-file=" + filepath.Join(t.dir, "pid"),
		"--port=" + port, "--bind-address=127.0.0.1", "--skip-name-resolve", "--skip-log-bin", "--performance-schema=OFF",
		"--innodb-flush-log-at-trx-commit=1", "--innodb-buffer-pool-size=" + strconv.FormatInt(o.cacheBytes, 10), "--innodb-log-file-size=1G",
		"--max-connections=" + strconv.Itoa(o.maxConnections), "--max-prepared-stmt-count=1000000"}
	if os.Getuid() == 0 {
		args = append(args, "--user=root")
	}
	t.Settings = append([]string{"mariadbd"}, t.public(args)...)
	t.skip = func(name string) bool {
		name = filepath.Base(name)
		return strings.HasPrefix(name, "ib_logfile") || name == "ibtmp1"
	}
	t.Address = "127.0.0.1:" + port
	t.launch = func(ctx context.Context, t *Target) error {
		if _, err := os.Stat(data); errors.Is(err, os.ErrNotExist) {
			return errors.New("the directory is not installed")
		}
		process, err := spawn(t.dir, 0, nil, server, args...)
		t.process = process
		return err
	}
	installArgs := []string{"--no-defaults", "--datadir=" + data, "--auth-root-authentication-method=normal", "--skip-test-db"}
	if os.Getuid() == 0 {
		installArgs = append(installArgs, "--user=root")
	}
	if out, err := exec.Command(install, installArgs...).CombinedOutput(); err != nil {
		return fmt.Errorf("mariadb-install-db: %w: %s", err, lastLine(string(out)))
	}
	return nil
}

// unprivileged picks whom to run PostgreSQL as: it refuses root.
func unprivileged() (uint32, error) {
	if os.Getuid() != 0 {
		return 0, nil
	}
	for _, name := range []string{"postgres", "nobody"} {
		if account, err := user.Lookup(name); err == nil {
			uid, err := strconv.ParseUint(account.Uid, 10, 32)
			return uint32(uid), err
		}
	}
	return 0, errors.New("PostgreSQL does not run as root, and there is no user postgres or nobody")
}

func configurePostgres(t *Target, o startOptions) error {
	server, err := find("postgres")
	if err != nil {
		return err
	}
	initdb, err := find("initdb")
	if err != nil {
		return err
	}
	port, err := freePort()
	if err != nil {
		return err
	}
	if t.uid, err = unprivileged(); err != nil {
		return err
	}
	if t.uid != 0 {
		if err := os.Chown(t.dir, int(t.uid), int(t.uid)); err != nil {
			return err
		}
	}
	data := filepath.Join(t.dir, "data")
	args := []string{"-D", data, "-p", port, "-k", t.dir, "-c", "listen_addresses=127.0.0.1", "-c", "fsync=on", "-c", "synchronous_commit=on",
		"-c", "shared_buffers=" + strconv.FormatInt(o.cacheBytes>>10, 10) + "kB", "-c", "max_wal_size=1GB", "-c", "max_connections=" + strconv.Itoa(o.maxConnections)}
	t.Settings = append([]string{"postgres"}, t.public(args)...)
	t.Settings[4] = "$PORT"
	t.Driver = "pgsql"
	t.Address = "127.0.0.1:" + port
	t.skip = func(name string) bool { return filepath.Base(name) == "pg_wal" }
	t.launch = func(_ context.Context, t *Target) error {
		process, err := spawn(t.dir, t.uid, nil, server, args...)
		if err == nil {
			process.stopSignal = syscall.SIGINT // fast shutdown; SIGTERM waits for clients
		}
		t.process = process
		return err
	}
	command := exec.Command(initdb, "-D", data, "-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C")
	command.Dir = t.dir
	if t.uid != 0 {
		command.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: t.uid, Gid: t.uid}}
	}
	if out, err := command.CombinedOutput(); err != nil {
		return fmt.Errorf("initdb: %w: %s", err, lastLine(string(out)))
	}
	return nil
}

// psql asks PostgreSQL one thing; the Go driver at hand speaks MySQL's protocol only. ctx bounds it.
func (t *Target) psql(ctx context.Context, statement string) (string, error) {
	command := exec.CommandContext(ctx, "psql", "-X", "-A", "-t", "-q", "-h", t.host(), "-p", t.port(), "-U", t.pgUser(), "-d", "postgres", "-c", statement)
	if t.Password != "" {
		command.Env = append(os.Environ(), "PGPASSWORD="+t.Password)
	}
	out, err := command.CombinedOutput()
	text := strings.TrimSpace(string(out))
	if err != nil {
		return "", fmt.Errorf("psql: %w: %s", err, lastLine(text))
	}
	return text, nil
}

func (t *Target) postgresSyncs(ctx context.Context) (int64, error) {
	ctx, cancel := context.WithTimeout(ctx, answerMax)
	defer cancel()
	text, err := t.psql(ctx, "SELECT wal_sync FROM pg_stat_wal")
	if err != nil {
		return 0, err
	}
	return strconv.ParseInt(text, 10, 64)
}
