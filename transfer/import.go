package transfer

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/go-sql-driver/mysql"
)

const (
	// batchBytes is about the size of one transaction.
	batchBytes = 1 << 20
	// ConnectionsMax bounds the connections of an import or export.
	ConnectionsMax = 256
	// progressTable notes what is done, in the server that is filled.
	progressDatabase = "pando_import"
	progressTable    = "`pando_import`.`done`"
	viewPassesMax    = 64 // views may be named before those that they read
)

// ImportOptions are what Import does.
type ImportOptions struct {
	Login
	// Paths are files of SQL or CSV, and directories, whose files with the endings .sql and .csv are taken in their order.
	Paths []string
	// Format is sql or csv if all files that are named have it, and empty if their endings say it.
	Format string
	// CSV is the format of files of CSV, and Charset the character set of their texts.
	CSV     CSV
	Charset string
	// Table is the one that files of CSV are for, TABLE or DATABASE.TABLE; empty if their names say it.
	Table string
	// Columns are those that the fields of CSV are for, whatever the header says; empty for the header's, or without one the table's.
	Columns []string
	// Database is the current one at the beginning; it is made if it is not there. Empty for none.
	Database string
	// Connections is how many transactions are loaded at once.
	Connections int
	// Restart forgets what an import that was broken off has done.
	Restart bool
	// Progress is told how much of the work is done; nil for nobody.
	Progress func(file string, done, total int64)
}

// importer is one import.
type importer struct {
	o       *ImportOptions
	db      *sql.DB
	conns   []*sql.Conn
	done    map[string]map[int64]bool // by file: where batches and steps begin that are done
	resumed bool                      // the first step that is not noted may have run before
	work    chan batch
	waiting sync.WaitGroup // for batches under way
	ended   sync.WaitGroup // for the workers
	cancel  context.CancelCauseFunc

	read, total int64
}

// batch is the work of one transaction.
type batch struct {
	file       string
	start      int64
	statements []statement
	size       int
}

// Import loads files of SQL and CSV. Errors name the file and the line. An import that was broken off goes on where it ended when it is started again.
func Import(ctx context.Context, o ImportOptions) error {
	files, total, err := inputs(o.Paths, o.Format)
	if err != nil {
		return err
	}
	if o.Charset == "" {
		o.Charset = "utf8mb4"
	}
	if slices.ContainsFunc(files, func(f input) bool { return f.csv }) {
		if err := o.CSV.check(o.Charset); err != nil {
			return err
		}
	} else if o.Table != "" || len(o.Columns) > 0 {
		return errors.New("a table or columns are said, and no file is CSV")
	}
	if o.Connections < 1 || o.Connections > ConnectionsMax {
		return fmt.Errorf("%d connections are not between 1 and %d", o.Connections, ConnectionsMax)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	im := &importer{o: &o, total: total, work: make(chan batch), cancel: cancel}
	if im.db, err = o.open(); err != nil {
		return err
	}
	defer im.db.Close()
	if im.conns, err = connect(ctx, im.db, o.Connections); err != nil {
		return err
	}
	if err := im.prepare(ctx); err != nil {
		return err
	}
	for _, c := range im.conns {
		im.ended.Go(func() { im.loadBatches(ctx, c) })
	}
	err = im.files(ctx, files)
	close(im.work)
	im.ended.Wait()
	if cause := context.Cause(ctx); cause != nil {
		return cause // what ended the others, too
	}
	if err != nil {
		return err
	}
	_, err = im.conns[0].ExecContext(ctx, "DROP DATABASE "+quoteName(progressDatabase))
	return err
}

// input is a file to load.
type input struct {
	path     string
	view     bool // it makes a view
	csv      bool
	together bool // it is one of a directory, whose tables may refer to each other
}

// inputs lists the files in the order in which they are loaded: of a directory databases, then tables, then rows, then views.
func inputs(paths []string, format string) (files []input, total int64, err error) {
	add := func(path string, size int64, together bool) {
		f := input{path, strings.HasSuffix(path, viewEnding), strings.HasSuffix(path, csvEnding), together}
		if !together && format != "" {
			f.csv = format == "csv"
		}
		files = append(files, f)
		total += size
	}
	for _, path := range paths {
		info, err := os.Stat(path)
		if err != nil {
			return nil, 0, err
		}
		if !info.IsDir() {
			add(path, info.Size(), false)
			continue
		}
		entries, err := os.ReadDir(path)
		if err != nil {
			return nil, 0, err
		}
		found := 0
		for rank := range exportRanks {
			for _, e := range entries {
				if e.IsDir() || !strings.HasSuffix(e.Name(), ".sql") && !strings.HasSuffix(e.Name(), csvEnding) || rankOf(e.Name()) != rank {
					continue
				}
				info, err := e.Info()
				if err != nil {
					return nil, 0, err
				}
				add(filepath.Join(path, e.Name()), info.Size(), true)
				found++
			}
		}
		if found == 0 {
			return nil, 0, fmt.Errorf("%s has no files with the endings .sql and .csv", path)
		}
	}
	return files, total, nil
}

// prepare reads what an earlier import has done, and sets the sessions up.
func (im *importer) prepare(ctx context.Context) error {
	first := im.conns[0]
	statements := []string{
		"CREATE DATABASE IF NOT EXISTS " + quoteName(progressDatabase),
		"CREATE TABLE IF NOT EXISTS " + progressTable + " (file VARCHAR(700) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin, start BIGINT, PRIMARY KEY (file, start))",
	}
	if im.o.Restart {
		statements = slices.Insert(statements, 0, "DROP DATABASE IF EXISTS "+quoteName(progressDatabase))
	}
	if im.o.Database != "" {
		statements = append(statements, "CREATE DATABASE IF NOT EXISTS "+quoteName(im.o.Database))
	}
	for _, s := range statements {
		if _, err := first.ExecContext(ctx, s); err != nil {
			return err
		}
	}
	rows, err := first.QueryContext(ctx, "SELECT file, start FROM "+progressTable)
	if err != nil {
		return err
	}
	defer rows.Close()
	im.done = map[string]map[int64]bool{}
	for rows.Next() {
		var file string
		var start int64
		if err := rows.Scan(&file, &start); err != nil {
			return err
		}
		if im.done[file] == nil {
			im.done[file] = map[int64]bool{}
		}
		im.done[file][start], im.resumed = true, true
	}
	if err := rows.Err(); err != nil {
		return err
	}
	if im.o.Database == "" {
		return nil
	}
	return im.everywhere(ctx, "USE "+quoteName(im.o.Database))
}

// everywhere runs a statement on all connections.
func (im *importer) everywhere(ctx context.Context, text string) error {
	for _, c := range im.conns {
		if _, err := c.ExecContext(ctx, text); err != nil {
			return err
		}
	}
	return nil
}

// files loads the files one after the other. Views wait until all else is there, and are tried again while others that they read come to be.
func (im *importer) files(ctx context.Context, files []input) error {
	var views []input
	for _, f := range files {
		if f.view {
			views = append(views, f)
			continue
		}
		load := func() error { return im.file(ctx, f.path) }
		if f.csv {
			load = func() error { return im.csvFile(ctx, f) }
		}
		if err := load(); err != nil {
			return err
		}
	}
	for range viewPassesMax {
		var left []input
		var failed error
		for _, f := range views {
			before := im.read
			if err := im.file(ctx, f.path); err != nil {
				left, failed = append(left, f), err
				im.read = before // it is read again
			}
		}
		if len(left) == 0 {
			return nil
		}
		if len(left) == len(views) {
			return failed
		}
		views = left
	}
	return errors.New("views read each other in too long a chain")
}

// file loads one file.
func (im *importer) file(ctx context.Context, path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	key, err := filepath.Abs(path)
	if err != nil {
		return err
	}
	s := newSplitter(f)
	var pending batch
	before := im.read
	for {
		st, err := s.next()
		if err != nil && err != io.EOF {
			return fmt.Errorf("%s:%d: %w", path, s.line, err)
		}
		verb := ""
		if err == nil {
			verb = st.verb()
		}
		if verb == "INSERT" || verb == "REPLACE" {
			if len(pending.statements) == 0 {
				pending = batch{file: path, start: st.start}
			}
			pending.statements = append(pending.statements, st)
			if pending.size += len(st.text); pending.size < batchBytes {
				continue
			}
		}
		if sent := im.send(ctx, key, &pending); sent != nil {
			return sent
		}
		im.read = before + s.offset
		if im.o.Progress != nil {
			im.o.Progress(path, im.read, im.total)
		}
		switch {
		case err == io.EOF:
			im.waiting.Wait()
			return context.Cause(ctx)
		case verb == "INSERT", verb == "REPLACE", verb == "LOCK", verb == "UNLOCK": // batches are transactions
			continue
		}
		if err := im.step(ctx, key, path, &st, verb); err != nil {
			return err
		}
	}
}

// send hands a batch to whoever is free, unless it is done.
func (im *importer) send(ctx context.Context, key string, b *batch) error {
	defer func() { *b = batch{} }()
	if len(b.statements) == 0 || im.done[key][b.start] {
		return nil
	}
	im.resumed = false
	out := *b
	out.file = key
	im.waiting.Add(1)
	select {
	case im.work <- out:
		return nil
	case <-ctx.Done():
		im.waiting.Done()
		return context.Cause(ctx)
	}
}

// existsAlready are the errors of a step that has run, and was not noted when the import was broken off.
var existsAlready = map[uint16]bool{1007: true, 1050: true, 1060: true, 1061: true, 1826: true}

// step runs a statement alone.
func (im *importer) step(ctx context.Context, key, path string, st *statement, verb string) error {
	im.waiting.Wait()
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	setting := verb == "SET" || verb == "USE"
	if !setting && im.done[key][st.start] {
		return nil
	}
	var err error
	if setting {
		err = im.everywhere(ctx, string(st.text))
	} else if _, err = im.conns[0].ExecContext(ctx, string(st.text)); err != nil {
		var e *mysql.MySQLError
		if im.resumed && errors.As(err, &e) && existsAlready[e.Number] {
			err = nil
		}
	}
	if err != nil {
		return fmt.Errorf("%s:%d: %w", path, st.line, err)
	}
	if setting {
		return nil
	}
	im.resumed = false
	return note(ctx, im.conns[0], "REPLACE", key, st.start)
}

// note keeps that a batch or a step is done.
func note(ctx context.Context, c *sql.Conn, verb, key string, start int64) error {
	_, err := c.ExecContext(ctx, fmt.Sprintf("%s INTO %s VALUES (%s, %d)", verb, progressTable, Literal(key), start))
	return err
}

// loadBatches is a worker. The first error ends the import.
func (im *importer) loadBatches(ctx context.Context, c *sql.Conn) {
	for b := range im.work {
		if ctx.Err() == nil {
			if err := load(ctx, c, &b); err != nil {
				im.cancel(err)
			}
		}
		im.waiting.Done()
	}
}

// retriesMax bounds how often a batch that met others' locks is loaded again.
const retriesMax = 10

// load loads a batch in one transaction, with the note that it is done.
func load(ctx context.Context, c *sql.Conn, b *batch) error {
	singly, tries := false, 0
	for {
		line, err := loadOnce(ctx, c, b, singly)
		if err == nil {
			return nil
		}
		_, _ = c.ExecContext(ctx, "ROLLBACK") // of what may have ended already
		if err == errLoaded {
			return nil
		}
		var e *mysql.MySQLError
		if answered := errors.As(err, &e); answered && (e.Number == 1213 || e.Number == 1205) && tries < retriesMax {
			tries++
			continue
		} else if answered && !singly && b.statements[0].rows != nil {
			singly = true // to find the line
			continue
		}
		return fmt.Errorf("%s:%d: %w", b.file, line, err)
	}
}

// errLoaded: the batch is noted already. An import that was killed may have sent the COMMIT that its server was still at when this one began.
var errLoaded = errors.New("the batch is loaded already")

// duplicateKey is the number of the error of a row that is there already.
const duplicateKey = 1062

// loadOnce tries to load a batch; if singly, each line of CSV by an INSERT of its own. The note comes first: it waits for a transaction of
// before that has the same, and fails if that has committed.
func loadOnce(ctx context.Context, c *sql.Conn, b *batch, singly bool) (line int, err error) {
	line = b.statements[0].line
	if _, err := c.ExecContext(ctx, "BEGIN"); err != nil {
		return line, err
	}
	if err := note(ctx, c, "INSERT", b.file, b.start); err != nil {
		var e *mysql.MySQLError
		if errors.As(err, &e) && e.Number == duplicateKey {
			err = errLoaded
		}
		return line, err
	}
	for i := range b.statements {
		st := &b.statements[i]
		line = st.line
		if singly {
			if line, err = insertRows(ctx, c, st); err != nil {
				return line, err
			}
		} else if _, err := c.ExecContext(ctx, string(st.text)); err != nil {
			return line, err
		}
	}
	_, err = c.ExecContext(ctx, "COMMIT")
	return line, err
}

// insertRows inserts the rows of a statement one by one.
func insertRows(ctx context.Context, c *sql.Conn, st *statement) (line int, err error) {
	begin := st.head
	for _, row := range st.rows {
		line = row.line
		if _, err := c.ExecContext(ctx, string(st.text[:st.head])+string(st.text[begin:row.end])); err != nil {
			return line, err
		}
		begin = row.end + 1 // behind the comma
	}
	return line, nil
}
