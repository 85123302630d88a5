package replica

import (
	"bytes"
	"maps"
	"slices"
	"strings"
	"testing"

	"go.etcd.io/raft/v3/raftpb"

	"github.com/pandodb/pando/kvapi"
)

// records is a disk in memory.
type records map[string]string

func (r records) Get(key []byte) ([]byte, bool, error) {
	v, found := r[string(key)]
	return []byte(v), found, nil
}

func (r records) Flushed(key []byte) ([]byte, bool, error) { return r.Get(key) }

func (r records) Scan(lower, upper []byte, f func(key, value []byte) bool) error {
	for _, key := range slices.Sorted(maps.Keys(r)) {
		if key >= string(lower) && key < string(upper) && !f([]byte(key), []byte(r[key])) {
			break
		}
	}
	return nil
}

// TestOpenLongLog: of a log that is opened no more stays in memory than of one that is applied, be it of many entries or of large ones; a store may
// have thousands of logs. All entries can be read.
func TestOpenLongLog(t *testing.T) {
	const limit = 100
	for _, c := range []struct{ entries, size, kept int }{{50, 1, 50}, {50, 10, 10}, {5, 1000, 0}, {0, 0, 0}} {
		disk, region := records{}, &kvapi.Region{ID: 7}
		data := []byte(strings.Repeat("x", c.size))
		for i := range c.entries {
			term, kind := uint64(InitialTerm), raftpb.EntryNormal
			disk[string(entryKey(region.ID, uint64(InitialIndex+1+i)))] = string(append(entryHead(&raftpb.Entry{Term: &term, Type: &kind}), data...))
		}
		l, err := openLog(disk, region, limit)
		if err != nil {
			t.Fatal(err)
		}
		if len(l.cache) != c.kept || l.bytes != c.kept*c.size || l.last != uint64(InitialIndex+c.entries) {
			t.Errorf("%d entries of %d bytes: %d are kept, %d bytes, and the last is %d", c.entries, c.size, len(l.cache), l.bytes, l.last)
		}
		for i := range c.entries {
			at := uint64(InitialIndex + 1 + i)
			if e, err := l.Entries(at, at+1, 1<<20); err != nil || e[0].GetIndex() != at || !bytes.Equal(e[0].GetData(), data) {
				t.Errorf("entry %d: %v, %v", at, e, err)
			}
		}
	}
}

// TestKeepBytes: of a log with few, long entries about KeepBytes are kept, not KeepEntries, also when it was truncated before.
func TestKeepBytes(t *testing.T) {
	const entries, size, kept = 100, 1000, 25
	disk, region := records{}, &kvapi.Region{ID: 7}
	put := func(i int) *raftpb.Entry {
		index, term, kind := uint64(InitialIndex+1+i), uint64(InitialTerm), raftpb.EntryNormal
		e := &raftpb.Entry{Index: &index, Term: &term, Type: &kind, Data: bytes.Repeat([]byte("x"), size)}
		disk[string(entryKey(region.ID, index))] = string(append(entryHead(e), e.Data...))
		return e
	}
	for i := range entries {
		put(i)
	}
	l, err := openLog(disk, region, size)
	if err != nil {
		t.Fatal(err)
	}
	m := &member{s: &Set{o: Options{Limits: Limits{KeepEntries: 1 << 20, KeepBytes: kept * size}}}, core: &Group{region: region, log: l}}
	for i := entries; i < 3*entries; i++ {
		keep := m.keep()
		if keep < kept-1 || keep > kept+1 {
			t.Fatalf("of %d entries with %d bytes %d are kept", l.last-l.trunc.index, l.held, keep)
		}
		l.truncate(truncated{l.last - keep, InitialTerm})
		for range 4 {
			l.append([]*raftpb.Entry{put(int(l.last) - InitialIndex)})
			l.trim(l.last, size)
		}
	}
	m.s.o.Limits.KeepBytes = 1 << 30
	if keep := m.keep(); keep != 1<<20 {
		t.Errorf("of a short log %d entries are kept", keep)
	}
}
