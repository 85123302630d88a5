package bench

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/pandodb/pando/clock"
)

// Kinds of target.
const (
	KindPando    = "pando"
	KindPando1   = "pando1" // a cluster of one
	KindPando3   = "pando3" // three copies
	KindMariaDB  = "mariadb"
	KindGalera3  = "galera3" // MariaDB with three copies
	KindMySQL    = "mysql"
	KindPostgres = "postgres"
	KindTrivial  = "trivial"
	KindExternal = "external"
)

// Limits of time: for the smallest answer, for a statement that may drop large tables, and until a server is ready, recovery included.
const (
	answerMax    = 10 * time.Second
	statementMax = 120 * time.Second
	startMax     = 120 * time.Second
)

// Target is one server under test.
type Target struct {
	Name     string
	Kind     string
	Driver   string // sysbench's: mysql or pgsql
	Address  string // host:port
	Password string // of root, or of PostgreSQL's superuser
	Version  string
	Settings []string

	listen  string // the host that a server of ours listens on
	cpus    string // the list of processors that it is pinned to, "" for all
	pid     int
	http    string // Pando's HTTP address
	process *process
	dir     string // what the server stores; empty for one that the runner did not start
	uid     uint32 // whom the server runs as, 0 for this user
	launch  func(ctx context.Context, t *Target) error
	first   func(ctx context.Context) error // what is to be done when it answers for the first time, nil for nothing
	nodes   []*Target                       // the servers of a replicated one, each for itself; Address is the first one's
	skip    func(name string) bool          // files that are reserved ahead

	twin         bool     // see TargetInfo
	opened       bool     // it has been started once
	userPassword string   // of the user that the session makes
	drops        []string // what undoes what the session made
}

func (t *Target) driver() string {
	if t.Driver == "" {
		return "mysql"
	}
	return t.Driver
}

func (t *Target) host() string { host, _, _ := net.SplitHostPort(t.Address); return host }
func (t *Target) port() string { _, port, _ := net.SplitHostPort(t.Address); return port }

// ports are those that sysbench spreads its clients over.
func (t *Target) ports() string {
	ports := []string{t.port()}
	for _, n := range t.nodes[min(1, len(t.nodes)):] {
		ports = append(ports, n.port())
	}
	return strings.Join(ports, ",")
}

// isPando says whether it is one Pando with a page of metrics.
func (t *Target) isPando() bool { return t.Kind == KindPando || t.Kind == KindPando1 }

// pgUser is whom sysbench logs in as on PostgreSQL.
func (t *Target) pgUser() string { return "postgres" }

// started says whether the runner owns the server.
func (t *Target) started() bool { return t.launch != nil }

// alive says whether the server's process still runs; an external one is asked when it matters.
func (t *Target) alive() bool { return t.process == nil || t.process.alive() }

// errorLine finds what servers say before they end, be it of their own will or not.
var errorLine = regexp.MustCompile(`(?m)^.*(?:\bERROR\b|\bFATAL\b|\bPANIC\b|^panic: |^fatal error: ).*$`)

// why is the reason of the server's end: the first error of its log, which others follow, or else the last line, without the directory,
// which would name the machine's paths in a report.
func (t *Target) why() string {
	if t.process == nil {
		return ""
	}
	log := t.process.log.String()
	line := errorLine.FindString(log)
	if line == "" {
		line = lastLine(log)
	}
	return strings.ReplaceAll(strings.TrimSpace(line), t.dir, "$DIR")
}

// Addresses in the words of clients and drivers, which name peers that the target's own address does not (a resolved name, their own side).
var (
	accountText = regexp.MustCompile(`'[^']*'@'[^']*'`)
	addressText = regexp.MustCompile(`(\b\d{1,3}(\.\d{1,3}){3}\b|\[[0-9a-fA-F:]+\])(:\d+)?`)
)

// redact takes what names the machine out of a text that will be stored: directories, addresses, accounts and passwords.
func (t *Target) redact(text string) string {
	replace := func(what, by string) {
		if what != "" {
			text = strings.ReplaceAll(text, what, by)
		}
	}
	replace(t.dir, "$DIR")
	replace(t.Password, "$PASSWORD")
	replace(t.userPassword, "$PASSWORD")
	text = accountText.ReplaceAllString(text, "'$$USER'@'$$HOST'")
	replace(t.Address, "$HOST:$PORT")
	if len(t.nodes) > 0 {
		replace(t.ports(), "$PORTS")
	}
	text = addressText.ReplaceAllStringFunc(text, func(found string) string {
		if strings.Contains(strings.TrimRight(found, "0123456789"), "]:") || strings.Count(found, ":") == 1 {
			return "$HOST:$PORT"
		}
		return "$HOST"
	})
	for by, word := range map[string]string{"$$HOST": t.host(), "$$PORT": t.port()} {
		if word != "" {
			// Not within another word or number. The characters beside a match belong to it, so two in a row need a second pass.
			whole := regexp.MustCompile(`(^|[^\w.-])` + regexp.QuoteMeta(word) + `($|[^\w-])`)
			for range 2 {
				text = whole.ReplaceAllString(text, "${1}"+by+"${2}")
			}
		}
	}
	return text
}

func (t *Target) stop() {
	if t.process != nil {
		t.process.stop()
	}
}

// ParseTarget reads name=host:port[,pid=N][,driver=pgsql][,password=P].
func ParseTarget(text string) (*Target, error) {
	name, rest, ok := strings.Cut(text, "=")
	parts := strings.Split(rest, ",")
	if host, port, err := net.SplitHostPort(parts[0]); !ok || err != nil || name == "" || host == "" || port == "" {
		return nil, fmt.Errorf("target %q is not name=host:port", text)
	}
	t := &Target{Name: name, Kind: KindExternal, Address: parts[0]}
	for _, part := range parts[1:] {
		key, value, _ := strings.Cut(part, "=")
		switch key {
		case "pid":
			pid, err := strconv.Atoi(value)
			if err != nil || pid <= 0 {
				return nil, fmt.Errorf("target %q: bad pid", name)
			}
			t.pid = pid
		case "driver":
			if value != "mysql" && value != "pgsql" {
				return nil, fmt.Errorf("target %q: the driver is mysql or pgsql", name)
			}
			t.Driver = value
		case "password":
			t.Password = value
		default:
			return nil, fmt.Errorf("target %q: unknown setting %q", name, key)
		}
	}
	return t, nil
}

// Options of the servers that the runner starts.
type startOptions struct {
	binary         string // of Pando, which also holds the trivial responder
	cacheBytes     int64
	maxConnections int
	host           string // where to listen
	cpus           string // see placement
}

// newTarget describes a server of a kind in its own directory below root; open launches it.
func newTarget(kind, root string, o startOptions) (*Target, error) {
	dir, err := os.MkdirTemp(root, kind+"-")
	if err != nil {
		return nil, err
	}
	setDefault(&o.host, loopback)
	t := &Target{Name: kind, Kind: kind, dir: dir, listen: o.host, cpus: o.cpus}
	switch kind {
	case KindPando:
		configurePando(t, o)
	case KindPando1:
		configurePando1(t, o)
	case KindPando3:
		err = configurePando3(t, o)
	case KindGalera3:
		err = configureGalera3(t, o)
	case KindMariaDB:
		err = configureMariaDB(t, o)
	case KindMySQL:
		err = configureMySQL(t, o)
	case KindPostgres:
		err = configurePostgres(t, o)
	case KindTrivial:
		configureTrivial(t, o)
	default:
		err = fmt.Errorf("cannot start %q: known are pando, pando1, pando3, mariadb, galera3, mysql, postgres and trivial", kind)
	}
	return t, err
}

// open launches the server and waits for its first answer. It returns how long that took.
func (t *Target) open(ctx context.Context) (time.Duration, error) {
	if t.listen != loopback && !t.opened && t.Kind != KindTrivial && t.driver() == "mysql" {
		if err := t.welcome(ctx); err != nil {
			return 0, fmt.Errorf("start %s: %w", t.Name, err)
		}
	}
	first := !t.opened
	t.opened = true
	took, err := t.openOnce(ctx)
	if err == nil && first && t.first != nil {
		err = t.first(ctx)
	}
	return took, err
}

// welcome lets root log in from elsewhere, with a password, before the server listens there: Pando refuses to while root has none.
func (t *Target) welcome(ctx context.Context) error {
	elsewhere := t.listen
	t.listen = loopback
	defer func() { t.listen = elsewhere }()
	if _, err := t.openOnce(ctx); err != nil {
		return err
	}
	defer t.stop()
	password := "Pb1-" + rand.Text() // the prefix pleases servers that judge passwords
	err := t.exec(ctx, "CREATE USER 'root'@'%' IDENTIFIED BY '"+password+"'", "GRANT ALL ON *.* TO 'root'@'%' WITH GRANT OPTION",
		"ALTER USER 'root'@'localhost' IDENTIFIED BY '"+password+"'")
	t.Password = password
	return err
}

func (t *Target) openOnce(ctx context.Context) (time.Duration, error) {
	begin := clock.Mono()
	if err := t.launch(ctx, t); err != nil {
		return 0, fmt.Errorf("start %s: %w", t.Name, err)
	}
	t.pid = t.process.command.Process.Pid
	if err := t.waitAnswer(ctx); err != nil {
		t.stop()
		return 0, fmt.Errorf("start %s: %w: %s", t.Name, err, t.why())
	}
	return clock.Since(begin), nil
}

// waitAnswer asks until the server answers. The pause between two questions bounds the error of a start time.
func (t *Target) waitAnswer(ctx context.Context) error {
	const pause = 2 * time.Millisecond
	for begin := clock.Mono(); ; clock.Sleep(pause) {
		err := t.ask(ctx)
		if err == nil {
			return nil
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if !t.alive() {
			return errors.New("the process ended before it answered")
		}
		if clock.Since(begin) > startMax {
			return fmt.Errorf("no answer in %v: %w", startMax, err)
		}
	}
}

// ask executes the smallest statement.
func (t *Target) ask(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, answerMax)
	defer cancel()
	if t.driver() == "pgsql" {
		_, err := t.psql(ctx, "SELECT 1")
		return err
	}
	return t.exec(ctx, "SELECT 1")
}

// pool opens Go's driver on the target as root.
func (t *Target) pool(database string) (*sql.DB, error) {
	config := mysql.NewConfig()
	config.User, config.Passwd, config.Net, config.Addr, config.DBName = "root", t.Password, "tcp", t.Address, database
	config.Timeout = answerMax // what follows is bounded by contexts
	config.Logger = quiet{}
	connector, err := mysql.NewConnector(config)
	if err != nil {
		return nil, err
	}
	return sql.OpenDB(connector), nil
}

// quiet drops the driver's messages: while a server starts, refused connections are expected.
type quiet struct{}

func (quiet) Print(...any) {}

// exec executes statements one by one over one connection.
func (t *Target) exec(ctx context.Context, statements ...string) error {
	return t.execWithin(ctx, statementMax, statements...)
}

func (t *Target) execWithin(ctx context.Context, limit time.Duration, statements ...string) error {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	if t.driver() == "pgsql" {
		for _, statement := range statements {
			if _, err := t.psql(ctx, statement); err != nil {
				return err
			}
		}
		return nil
	}
	db, err := t.pool("")
	if err != nil {
		return err
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	for _, statement := range statements {
		rows, err := db.QueryContext(ctx, statement)
		if err != nil {
			return err
		}
		for rows.Next() {
		}
		err = rows.Err()
		rows.Close()
		if err != nil {
			return err
		}
	}
	return nil
}

// status reads one number of MariaDB's or MySQL's SHOW GLOBAL STATUS.
func (t *Target) status(ctx context.Context, name string) (int64, error) {
	ctx, cancel := context.WithTimeout(ctx, answerMax)
	defer cancel()
	db, err := t.pool("")
	if err != nil {
		return 0, err
	}
	defer db.Close()
	var key, value string
	if err := db.QueryRowContext(ctx, "SHOW GLOBAL STATUS LIKE '"+name+"'").Scan(&key, &value); err != nil {
		return 0, err
	}
	return strconv.ParseInt(value, 10, 64)
}

// metric reads one counter of Pando's metrics page.
func (t *Target) metric(ctx context.Context, name string) (int64, error) {
	ctx, cancel := context.WithTimeout(ctx, answerMax)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+t.http+"/metrics", nil)
	if err != nil {
		return 0, err
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return 0, err
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(io.LimitReader(answer.Body, outputMax))
	if err != nil {
		return 0, err
	}
	for line := range strings.SplitSeq(string(body), "\n") {
		if value, ok := strings.CutPrefix(line, name+" "); ok {
			n, err := strconv.ParseFloat(value, 64)
			return int64(n), err
		}
	}
	return 0, fmt.Errorf("no metric %s", name)
}

// fsyncs counts the syncs of the server's log so far, or returns -1.
func (t *Target) fsyncs(ctx context.Context) int64 {
	var n int64
	var err error
	switch {
	case len(t.nodes) > 0:
		for _, node := range t.nodes {
			of := node.fsyncs(ctx)
			if of < 0 {
				return -1
			}
			n += of
		}
	case t.isPando():
		n, err = t.metric(ctx, "pando_wal_syncs_total")
	case t.Kind == KindPostgres:
		n, err = t.postgresSyncs(ctx)
	case t.Kind == KindTrivial:
		return 0
	case t.driver() == "mysql":
		// MariaDB dropped the log's own counter in 10.8; its syncs are among the data's.
		if n, err = t.status(ctx, "Innodb_os_log_fsyncs"); err != nil {
			n, err = t.status(ctx, "Innodb_data_fsyncs")
		}
	default:
		return -1
	}
	if err != nil {
		return -1
	}
	return n
}

// dataBytes is what the server stores, without its preallocated logs, but with what is only in Pando's log yet. (MariaDB's pages
// have their place in the file before they are written.)
func (t *Target) dataBytes(ctx context.Context) int64 {
	if t.dir == "" {
		return 0
	}
	size := diskUsage(t.dir, t.skip)
	for _, n := range append([]*Target{t}, t.nodes...) {
		if !n.isPando() {
			continue
		}
		if live, err := n.metric(ctx, "pando_wal_live_bytes"); err == nil {
			size += live
		}
	}
	return size
}

// readVersion asks the server what it is.
func (t *Target) readVersion(ctx context.Context) {
	if t.Kind == KindTrivial {
		t.Version = "a fixed row"
		return
	}
	ctx, cancel := context.WithTimeout(ctx, answerMax)
	defer cancel()
	if t.driver() == "pgsql" {
		t.Version, _ = t.psql(ctx, "SHOW server_version")
		return
	}
	db, err := t.pool("")
	if err != nil {
		return
	}
	defer db.Close()
	_ = db.QueryRowContext(ctx, "SELECT VERSION()").Scan(&t.Version)
}

// passwordOf is the password of root, or of the user that the session made.
func (t *Target) passwordOf(user string) string {
	if user == "root" || t.driver() == "pgsql" {
		return t.Password
	}
	return t.userPassword
}

// holds returns a database that the session would drop and the target already has.
func (t *Target) holds(ctx context.Context) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, answerMax)
	defer cancel()
	names := "IN ('" + databaseName + "', '" + scratchName + "')"
	if t.driver() == "pgsql" {
		return t.psql(ctx, "SELECT datname FROM pg_database WHERE datname "+names+" LIMIT 1")
	}
	db, err := t.pool("")
	if err != nil {
		return "", err
	}
	defer db.Close()
	var name string
	err = db.QueryRowContext(ctx, "SELECT schema_name FROM information_schema.schemata WHERE schema_name "+names+" LIMIT 1").Scan(&name)
	if errors.Is(err, sql.ErrNoRows) {
		err = nil
	}
	return name, err
}

// createAccounts makes the empty databases and the user that the plan logs in as. The trivial responder has none. A server that we have not
// started must hold nothing of these names, unless it may be overwritten.
func (t *Target) createAccounts(ctx context.Context, user string, overwrite bool) error {
	if t.Kind == KindTrivial {
		return nil
	}
	account := "'" + user + "'@'%'"
	if !t.started() && !overwrite {
		if name, err := t.holds(ctx); err != nil {
			return err
		} else if name != "" {
			return fmt.Errorf("it already has a database %s, which the session would drop; --overwrite allows that", name)
		}
	}
	create := func(undo, statement string) error {
		err := t.exec(ctx, statement)
		if err == nil {
			t.drops = append(t.drops, undo)
		}
		return err
	}
	dropDatabase := "DROP DATABASE IF EXISTS " + databaseName
	if overwrite {
		if err := t.exec(ctx, dropDatabase, "DROP DATABASE IF EXISTS "+scratchName); err != nil {
			return err
		}
	}
	if err := create(dropDatabase, "CREATE DATABASE "+databaseName); err != nil || user == "root" || t.driver() == "pgsql" {
		return err
	}
	if overwrite {
		if err := t.exec(ctx, "DROP USER IF EXISTS "+account); err != nil {
			return err
		}
	}
	// It may log in from everywhere as long as the session lasts. The prefix pleases servers that judge passwords.
	t.userPassword = "Pb1-" + rand.Text()
	if err := create("DROP USER IF EXISTS "+account, "CREATE USER "+account+" IDENTIFIED BY '"+t.userPassword+"'"); err != nil {
		return fmt.Errorf("the user %s could not be made; where it exists, --overwrite replaces it: %w", user, err)
	}
	return t.exec(ctx, "GRANT ALL ON "+databaseName+".* TO "+account)
}

// cleanUp drops what the session made on a server that we have not started; our own are removed whole.
func (t *Target) cleanUp(ctx context.Context) error {
	var faults []error
	for ; !t.started() && len(t.drops) > 0; t.drops = t.drops[:len(t.drops)-1] {
		faults = append(faults, t.exec(ctx, t.drops[len(t.drops)-1]))
	}
	return errors.Join(faults...)
}
