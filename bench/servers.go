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
	"slices"
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
		if t.listen != loopback {
			arg = strings.ReplaceAll(arg, t.listen, "$HOST")
		}
		if strings.HasPrefix(arg, "--port=") {
			arg = "--port=$PORT"
		}
		shown[i] = arg
	}
	return shown
}

func configurePando(t *Target, o startOptions) {
	data := filepath.Join(t.dir, "data")
	args := func() []string {
		return []string{"start", "--data-dir", data, "--listen", t.listen + ":0", "--http", "127.0.0.1:0",
			"--cache-size", strconv.FormatInt(o.cacheBytes, 10), "--max-connections", strconv.Itoa(o.maxConnections), "--log-level", "info"}
	}
	t.Settings = append([]string{"pando"}, t.public(args())...)
	t.skip = pandoReserves
	t.launch = func(ctx context.Context, t *Target) error {
		found, err := t.launchAndRead(ctx, readyLine, o.binary, args()...)
		if err == nil {
			t.Address, t.http = found[1], found[2]
		}
		return err
	}
}

// pandoReserves are files that say nothing of the rows, or only until they are in the tables.
func pandoReserves(name string) bool {
	name = filepath.Base(name)
	return name == "ballast" || strings.HasPrefix(name, "spare-wal") || strings.HasSuffix(name, ".wal") || strings.HasSuffix(name, ".log")
}

func configureTrivial(t *Target, o startOptions) {
	args := []string{"bench", "trivial", "--listen", t.listen + ":0"}
	t.Settings = append([]string{"pando"}, t.public(args)...)
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
	process, err := t.spawn(watch, name, args...)
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
	args := func() []string { return append(innodbArgs(t, o, data, port), "--innodb-log-file-size=1G") }
	t.Settings = append([]string{"mariadbd"}, t.public(args())...)
	t.skip = func(name string) bool {
		name = filepath.Base(name)
		return strings.HasPrefix(name, "ib_logfile") || name == "ibtmp1"
	}
	t.launchesAt(port, func() (*process, error) {
		if _, err := os.Stat(data); errors.Is(err, os.ErrNotExist) {
			return nil, errors.New("the directory is not installed")
		}
		return t.spawn(nil, server, args()...)
	})
	installArgs := []string{"--no-defaults", "--datadir=" + data, "--auth-root-authentication-method=normal", "--skip-test-db"}
	if os.Getuid() == 0 {
		installArgs = append(installArgs, "--user=root")
	}
	if out, err := exec.Command(install, installArgs...).CombinedOutput(); err != nil {
		return fmt.Errorf("mariadb-install-db: %w: %s", err, lastLine(string(out)))
	}
	return nil
}

// innodbArgs are the settings that MariaDB and MySQL share.
func innodbArgs(t *Target, o startOptions, data, port string) []string {
	args := []string{"--no-defaults", "--datadir=" + data, "--socket=" + filepath.Join(t.dir, "socket"), "--pid-file=" + filepath.Join(t.dir, "pid"),
		"--port=" + port, "--bind-address=" + t.listen, "--skip-log-bin"}
	args = append(args, innodbShared(o)...)
	if os.Getuid() == 0 {
		args = append(args, "--user=root")
	}
	return args
}

// innodbShared are those that a replicated one has, too.
func innodbShared(o startOptions) []string {
	return []string{"--skip-name-resolve", "--performance-schema=OFF",
		"--innodb-flush-log-at-trx-commit=1", "--innodb-buffer-pool-size=" + strconv.FormatInt(o.cacheBytes, 10),
		"--max-connections=" + strconv.Itoa(o.maxConnections), "--max-prepared-stmt-count=1000000"}
}

// launchesAt makes a launch of a server that keeps its port.
func (t *Target) launchesAt(port string, start func() (*process, error)) {
	t.launch = func(_ context.Context, t *Target) error {
		t.Address = t.listen + ":" + port
		process, err := start()
		t.process = process
		return err
	}
}

// spawn starts the server's program where the placement has it.
func (t *Target) spawn(watch func(string), name string, args ...string) (*process, error) {
	words := pinned(t.cpus, append([]string{name}, args...))
	return spawn(t.dir, t.uid, watch, words[0], words[1:]...)
}

// Files of the repository: the one unpacks and runs a MySQL, the other runs three MariaDB servers.
const (
	mysqlScript  = "scripts/mysql.sh"
	galeraScript = "scripts/galera.sh"
)

// repositoryScript finds such a file in the checkout that the runner was called in.
func repositoryScript(name string) (string, error) {
	top := output("git", "rev-parse", "--show-toplevel")
	path := filepath.Join(top, name)
	if _, err := os.Stat(path); top == "" || err != nil {
		return "", fmt.Errorf("%s is not in this directory's checkout: its server is started from one of Pando's", name)
	}
	return path, nil
}

// configureMySQL is for the newest MySQL that Debian packages, which mysqlScript unpacks: distributions that people run have no package.
func configureMySQL(t *Target, o startOptions) error {
	script, err := repositoryScript(mysqlScript)
	if err != nil {
		return err
	}
	port, err := freePort()
	if err != nil {
		return err
	}
	data := filepath.Join(t.dir, "data")
	args := func() []string {
		return append(innodbArgs(t, o, data, port), "--innodb-redo-log-capacity=1G", "--mysqlx=0")
	}
	t.Settings = append([]string{"mysqld"}, t.public(args())...)
	t.skip = func(name string) bool {
		return slices.Contains([]string{"#innodb_redo", "#innodb_temp", "ibtmp1"}, filepath.Base(name))
	}
	t.launchesAt(port, func() (*process, error) { return t.spawn(nil, script, append([]string{"mysqld"}, args()...)...) })
	// Without names, 127.0.0.1 is not the localhost of root's account.
	accounts := filepath.Join(t.dir, "accounts.sql")
	const root = "CREATE USER 'root'@'127.0.0.1' IDENTIFIED BY '';\nGRANT ALL ON *.* TO 'root'@'127.0.0.1' WITH GRANT OPTION;\n"
	if err := os.WriteFile(accounts, []byte(root), 0o600); err != nil {
		return err
	}
	initialize := append([]string{"mysqld"}, args()...)
	if out, err := exec.Command(script, append(initialize, "--initialize-insecure", "--init-file="+accounts)...).CombinedOutput(); err != nil {
		return fmt.Errorf("%s mysqld --initialize-insecure: %w: %s", mysqlScript, err, lastLine(string(out)))
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
	args := func() []string {
		return []string{"-D", data, "-p", port, "-k", t.dir, "-c", "listen_addresses=" + t.listen, "-c", "fsync=on", "-c", "synchronous_commit=on",
			"-c", "shared_buffers=" + strconv.FormatInt(o.cacheBytes>>10, 10) + "kB", "-c", "max_wal_size=1GB", "-c", "max_connections=" + strconv.Itoa(o.maxConnections)}
	}
	t.Settings = append([]string{"postgres"}, t.public(args())...)
	t.Settings[4] = "$PORT"
	t.Driver = "pgsql"
	t.skip = func(name string) bool { return filepath.Base(name) == "pg_wal" }
	t.launchesAt(port, func() (*process, error) {
		process, err := t.spawn(nil, server, args()...)
		if err == nil {
			process.stopSignal = syscall.SIGINT // fast shutdown; SIGTERM waits for clients
		}
		return process, err
	})
	command := exec.Command(initdb, "-D", data, "-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C")
	command.Dir = t.dir
	if t.uid != 0 {
		command.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: t.uid, Gid: t.uid}}
	}
	if out, err := command.CombinedOutput(); err != nil {
		return fmt.Errorf("initdb: %w: %s", err, lastLine(string(out)))
	}
	return admitStrangers(t, data)
}

// admitStrangers lets clients that are apart log in.
func admitStrangers(t *Target, data string) error {
	if t.listen == loopback {
		return nil
	}
	rules, err := os.OpenFile(filepath.Join(data, "pg_hba.conf"), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = rules.WriteString("host all all " + t.listen + "/30 trust\n")
	return errors.Join(err, rules.Close())
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
