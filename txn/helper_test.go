package txn

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/pandodb/pando/engine"
	"github.com/pandodb/pando/internal/clusterkit"
	"github.com/pandodb/pando/keys"
	"github.com/pandodb/pando/kv"
	"github.com/pandodb/pando/kvapi"
	"github.com/pandodb/pando/rpc"
	"github.com/pandodb/pando/store"
)

// db is an assembled node without SQL.
type db struct {
	t testing.TB
	e *engine.Engine
	s *store.Store
	m *Manager
	// kit is nil unless the regions have logs.
	kit *clusterkit.Kit
}

// openDB assembles a node in memory; fill, which may be nil, changes options.
func openDB(t testing.TB, fill func(*store.Options)) *db {
	t.Helper()
	e, err := engine.OpenMem()
	if err != nil {
		t.Fatal(err)
	}
	d := openOn(t, e, fill)
	t.Cleanup(func() { d.close() })
	return d
}

// coded has databases reach their store through the encoding of requests and replies; TestCoded sets it.
var coded bool

// clustered has the regions of databases have logs; TestClustered sets it. They begin with two, cut amid table 1.
var clustered bool

// promoted has databases be the first of a cluster before anything else; TestPromoted sets it.
var promoted bool

// limits are those of stores; TestSmallLimits sets them.
var limits store.Limits

// openOn assembles a node over an open engine. The caller closes it.
func openOn(t testing.TB, e *engine.Engine, fill func(*store.Options)) *db {
	t.Helper()
	o := store.Options{Engine: e, Limits: limits}
	if fill != nil {
		fill(&o)
	}
	s, err := store.Open(o)
	if err != nil {
		t.Fatal(err)
	}
	peer := rpc.Loopback(s)
	if coded {
		peer = rpc.Coded(s)
	}
	d := &db{t: t, e: e, s: s}
	if promoted && s.Cluster() == nil {
		if err := s.Promote(); err != nil {
			t.Fatal(err)
		}
	}
	if clustered {
		if err := clusterkit.Create(e, string(rowKey("b"))); err != nil {
			t.Fatal(err)
		}
		if d.kit, err = clusterkit.Open(s, e); err != nil {
			t.Fatal(err)
		}
	}
	d.m = NewManager(kv.New(peer), ManagerOptions{LockWait: patience})
	return d
}

// split cuts a region.
func (d *db) split(key []byte) error {
	if d.kit != nil {
		return d.kit.Split(key)
	}
	return d.s.Split(key)
}

func (d *db) close() {
	d.t.Helper()
	if d.kit != nil {
		if err := d.kit.Close(); err != nil {
			d.t.Error(err)
		}
	}
	if err := d.s.Close(); err != nil {
		d.t.Error(err)
	}
	if err := d.e.Close(); err != nil {
		d.t.Error(err)
	}
}

// rowKey is a row of table 1.
func rowKey(name string) []byte { return append(keys.RowPrefix(nil, 1), name...) }

// rowSpan covers the rows of table 1 from..to (exclusive); an empty to is the end.
func rowSpan(from, to string) kvapi.Span {
	s := kvapi.Span{Start: rowKey(from), End: rowKey(to)}
	if to == "" {
		s.End = keys.PrefixEnd(nil, keys.RowPrefix(nil, 1))
	}
	return s
}

func rowName(key []byte) string { return string(key[len(keys.RowPrefix(nil, 1)):]) }

// valueSink keeps the last value.
type valueSink struct{ value []byte }

func (s *valueSink) Pair(_, value []byte) (bool, error) {
	s.value = append(s.value[:0], value...)
	return true, nil
}

// listSink renders pairs.
type listSink struct {
	out  []string
	stop int // ends the read after so many pairs; zero never
}

func (s *listSink) Pair(key, value []byte) (bool, error) {
	s.out = append(s.out, fmt.Sprintf("%s=%s", rowName(key), value))
	return s.stop == 0 || len(s.out) < s.stop, nil
}

// write commits one value in a transaction of its own.
func (d *db) write(name, value string) error {
	t := d.m.Begin(Options{})
	defer t.Release()
	if _, _, err := t.Lock(rowKey(name), kvapi.LockExclusive, kvapi.WaitDefault, nil); err != nil {
		return err
	}
	if err := t.Put(rowKey(name), []byte(value)); err != nil {
		return err
	}
	return t.Commit()
}

func (d *db) mustWrite(name, value string) {
	d.t.Helper()
	if err := d.write(name, value); err != nil {
		d.t.Fatal(err)
	}
}

// read is the autocommit point read; absent keys read as "-".
func (d *db) read(name string) (string, error) {
	var s valueSink
	found, err := d.m.Get(rowKey(name), nil, &s)
	if err != nil || !found {
		return "-", err
	}
	return string(s.value), nil
}

// scanAll reads all pages of a span in a transaction.
func scanAll(scan func(*ScanRequest) ([]byte, error), span kvapi.Span, reverse bool, page int) ([]string, error) {
	var sink listSink
	r := ScanRequest{Span: span, Reverse: reverse, LimitRows: page, Sink: &sink}
	for {
		resume, err := scan(&r)
		if err != nil || resume == nil {
			return sink.out, err
		}
		if reverse {
			r.Span.End = bytes.Clone(resume)
		} else {
			r.Span.Start = bytes.Clone(resume)
		}
	}
}
