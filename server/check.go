package server

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/pandodb/pando/backup"
	"github.com/pandodb/pando/catalog"
	"github.com/pandodb/pando/ddl"
	"github.com/pandodb/pando/engine"
	"github.com/pandodb/pando/keys"
	"github.com/pandodb/pando/kv"
	"github.com/pandodb/pando/kvapi"
	"github.com/pandodb/pando/plan"
	"github.com/pandodb/pando/privilege"
	"github.com/pandodb/pando/rpc"
	"github.com/pandodb/pando/stats"
	"github.com/pandodb/pando/store"
	"github.com/pandodb/pando/table"
	"github.com/pandodb/pando/txn"
	"github.com/pandodb/pando/types"
)

const (
	// checkCacheBytes and checkMemTableBytes are the memory of a check, besides the memtables that are made of the log.
	checkCacheBytes    = 64 << 20
	checkMemTableBytes = 64 << 20
	// strangersMax bounds how many physical tables are counted that no descriptor names.
	strangersMax = 10_000
)

// Fault is a defect that a check has found in an object: a file, a table, or another part of the directory.
type Fault struct{ Object, What string }

// checker is the state of one Check.
type checker struct {
	dir, store string
	files      engine.FS
	id         uint64
	intr       *kvapi.Interrupt
	tell       func(object, text string)
	Faults     []Fault
}

// Check verifies a directory that no server has open, a node's or a backup's, without changing anything in it: it is opened through an overlay in
// memory. tell is called with a line per object; faults come as lines, too. The error says why the directory could not be checked.
func Check(ctx context.Context, dir string, tell func(object, text string)) ([]Fault, error) {
	intr := &kvapi.Interrupt{}
	defer context.AfterFunc(ctx, func() { intr.Set(kvapi.ReasonKillQuery) })()
	c := &checker{dir: dir, store: filepath.Join(dir, storeName), files: engine.Overlay(engine.OSFS()), intr: intr, tell: tell}
	err := c.identity()
	if err == nil {
		err = c.open()
	}
	if ctx.Err() != nil {
		err = ctx.Err()
	}
	return c.Faults, err
}

func (c *checker) fault(object, format string, args ...any) {
	f := Fault{object, fmt.Sprintf(format, args...)}
	c.Faults = append(c.Faults, f)
	c.tell(object, "FAULT: "+f.What)
}

func (c *checker) poll() error { return c.intr.Err() }

// identity determines whether the directory is a node's or a backup. It verifies a backup's files against the backup's list.
func (c *checker) identity() error {
	entries, err := os.ReadDir(c.dir)
	if err != nil {
		return fmt.Errorf("the directory cannot be read: %w", err)
	}
	var names []string
	for _, entry := range entries {
		names = append(names, entry.Name())
	}
	switch {
	case backup.Is(names):
		return c.backup()
	case slices.Contains(names, identityName):
		if c.id, err = readIdentity(c.dir); err != nil {
			c.fault(identityName, "%v", err)
			c.id = 0
			return nil
		}
		c.tell(identityName, fmt.Sprintf("a node's directory, format %d, store %d", directoryFormat, c.id))
		return nil
	case len(names) == 0:
		return fmt.Errorf("%s is empty", c.dir)
	}
	return refuseDir(c.dir, names)
}

func (c *checker) backup() error {
	id, err := backup.Read(c.files, c.dir, knownFormats)
	switch {
	case errors.Is(err, backup.ErrDamaged):
		c.fault("BACKUP", "%v", err)
		return nil
	case err != nil:
		return err
	}
	c.id = id.Store
	faults, err := backup.Verify(c.files, c.dir, id, c.poll)
	for _, f := range faults {
		c.fault("BACKUP", "%v", f)
	}
	if err == nil && len(faults) == 0 {
		c.tell("BACKUP", fmt.Sprintf("a backup of store %d begun at %s, %d files with %d bytes as they were written", id.Store, id.Began.Format(time.RFC3339), len(id.Files), id.Bytes()))
	}
	return err
}

// open opens the store as a start would, and checks what is in it. What keeps it from opening is a fault; the files are checked all the same.
func (c *checker) open() error {
	if _, err := os.Stat(c.store); errors.Is(err, fs.ErrNotExist) {
		c.fault(storeName, "it is gone")
		return nil
	}
	failed := false
	e, err := engine.Open(engine.Options{Dir: c.store, FS: c.files, CacheBytes: checkCacheBytes, MemTableBytes: checkMemTableBytes, LowSpaceBytes: engine.NoSpace,
		BallastBytes: engine.NoSpace, Inspect: true, Fatal: func(string) { failed = true }})
	if errors.Is(err, engine.ErrInUse) {
		return err
	}
	if err == nil {
		defer func() { _ = e.Close() }() // what it writes goes to memory
	}
	if err := c.checkFiles(); err != nil {
		return err
	}
	if err == nil {
		err = c.openStore(e)
	}
	if interrupted := c.poll(); interrupted != nil {
		return interrupted
	}
	if err != nil {
		c.fault(storeName, "it does not open: %v", err)
	}
	if failed {
		c.fault(storeName, "the storage engine has failed")
	}
	return nil
}

// checkFiles reads the files below the overlay, as they are on the disk.
func (c *checker) checkFiles() error {
	faults := len(c.Faults)
	found, err := engine.CheckFiles(engine.OSFS(), c.store, c.poll, func(name string, err error) { c.fault(name, "%v", err) })
	if err == nil {
		text := fmt.Sprintf("%d segments of the log with %d bytes, %d tables with %d bytes", found.Segments, found.LogBytes, found.Tables, found.TableSize)
		if len(c.Faults) == faults {
			text += ": all checksums agree"
		}
		c.tell("files", text)
	}
	return err
}

func (c *checker) openStore(e *engine.Engine) error {
	s, err := store.Open(store.Options{Engine: e, ID: c.id, Inspect: true, GCInterval: math.MaxInt64, SampleInterval: math.MaxInt64})
	if err != nil {
		return err
	}
	defer func() { _ = s.Close() }() // what it writes goes to memory
	if !s.Serves() {
		// Which entries of its logs are committed only a majority knows.
		c.tell(storeName, "it is one of several of a cluster, so only its files were checked; CHECK TABLE looks at rows and indexes, while the cluster runs")
		return nil
	}
	client := kv.New(rpc.Loopback(s))
	txns := txn.NewManager(client, txn.ManagerOptions{})
	schema := c.catalog(txns)
	if err := c.versions(s, schema); err != nil || schema == nil {
		return err
	}
	snap := schema.Current()
	for _, database := range snap.Databases() {
		for _, t := range snap.Tables(database.Name) {
			if t.View != nil {
				continue
			}
			if err := c.table(txns, snap, t); err != nil {
				return err
			}
		}
	}
	return nil
}

// catalog decodes the catalog, the accounts and the statistics. It returns nil if there is no readable catalog.
func (c *checker) catalog(txns *txn.Manager) *catalog.Catalog {
	schema, err := catalog.Open(txns)
	if err != nil {
		c.fault("catalog", "%v", err)
		return nil
	}
	schema.ComputeWith(plan.NewComputer)
	tables, databases := 0, schema.Current().Databases()
	for _, d := range databases {
		tables += len(schema.Current().Tables(d.Name))
	}
	accounts := "accounts"
	if _, err := privilege.Open(txns, func() ([]*privilege.Account, error) { return nil, errNoAccounts }); err != nil {
		c.fault("accounts", "%v", err)
		accounts = "no accounts"
	}
	if _, err := stats.Open(txns, schema); err != nil {
		c.fault("statistics", "%v", err)
	}
	c.tell("catalog", fmt.Sprintf("%d databases, %d tables and views, %s", len(databases), tables, accounts))
	return schema
}

var errNoAccounts = errors.New("there are none")

// versions reads everything that the store holds.
func (c *checker) versions(s *store.Store, schema *catalog.Catalog) error {
	owned := map[uint64]bool{}
	if schema != nil {
		for _, d := range schema.Current().Databases() {
			for _, t := range schema.Current().Tables(d.Name) {
				owned[t.PhysID] = true
			}
		}
	}
	strangers := map[uint64]bool{}
	n, err := s.Inspect(c.intr, func(logical []byte) {
		if id, _, ok := keys.DecodeTablePrefix(logical); ok && !owned[id] && len(strangers) < strangersMax {
			strangers[id] = true
		}
	}, func(err error) { c.fault("versions", "%v", err) })
	if err != nil {
		return err
	}
	text := fmt.Sprintf("%d versions of keys", n)
	if len(strangers) > 0 && schema != nil {
		text += fmt.Sprintf(", also of %d tables that were dropped or are being made", len(strangers))
	}
	c.tell("versions", text)
	return nil
}

// table compares a table with its indexes, its counter and its parents.
func (c *checker) table(txns *txn.Manager, snap *catalog.Snapshot, t *catalog.Table) error {
	name := t.Schema + "." + t.Name
	report, err := table.Check(txns, t, c.intr)
	if err == nil {
		err = table.CheckCounter(txns, t, report)
	}
	if err != nil {
		if errors.Is(err, kvapi.ErrInterrupted) {
			return err
		}
		c.fault(name, "%v", err)
		return nil
	}
	for _, problem := range report.Problems {
		c.fault(name, "%s", problem)
	}
	for i := range t.ForeignKeys {
		key := &t.ForeignKeys[i]
		parent := snap.Lookup(key.Parent.Schema, key.Parent.Name)
		if parent != nil && parent.View != nil {
			parent = nil
		}
		_, err := ddl.JudgeReferences(txns, t, key, parent, c.intr)
		var orphan *types.Error
		switch {
		case err == nil:
		case errors.As(err, &orphan):
			c.fault(name, "foreign key %s: a row has no parent in %s.%s; SET foreign_key_checks=0 lets statements make such", key.Name, key.Parent.Schema, key.Parent.Name)
		case errors.Is(err, kvapi.ErrInterrupted):
			return err
		default:
			c.fault(name, "foreign key %s: %v", key.Name, err)
		}
	}
	var text strings.Builder
	fmt.Fprintf(&text, "%d rows", report.Rows)
	for _, ix := range report.Indexes {
		fmt.Fprintf(&text, ", index %s %d", ix.Name, ix.Entries)
	}
	c.tell(name, text.String())
	return nil
}
