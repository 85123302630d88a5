package kv

import (
	"encoding/binary"
	"fmt"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/pandodb/pando/engine"
	"github.com/pandodb/pando/internal/clusterkit"
	"github.com/pandodb/pando/keys"
	"github.com/pandodb/pando/kvapi"
	"github.com/pandodb/pando/rpc"
	"github.com/pandodb/pando/store"
)

// benchRows is how many rows the table of BenchmarkCommit has.
const benchRows = 20_000

// BenchmarkCommit is what a transaction costs below SQL that changes a row and moves its entry in an index, or inserts both: of a store that is
// alone, and of a cluster of one. The disk is memory, so cpu-ns/op is the work, whoever else uses the machine.
func BenchmarkCommit(b *testing.B) {
	for _, insert := range []bool{false, true} {
		for _, clients := range []int{1, 16} {
			for _, clustered := range []bool{false, true} {
				b.Run(fmt.Sprintf("insert=%v/clients=%d/cluster=%v", insert, clients, clustered), func(b *testing.B) {
					benchCommit(b, insert, clustered, clients)
				})
			}
		}
	}
}

// benchClient opens a store.
func benchClient(b testing.TB, clustered bool) *Client {
	b.Helper()
	must := func(err error) {
		if err != nil {
			b.Fatal(err)
		}
	}
	e, err := engine.OpenMem()
	must(err)
	b.Cleanup(func() { must(e.Close()) })
	s, err := store.Open(store.Options{Engine: e, RowCacheBytes: 64 << 20})
	must(err)
	b.Cleanup(func() { must(s.Close()) })
	if clustered {
		must(clusterkit.Create(e))
		kit, err := clusterkit.Open(s, e)
		must(err)
		b.Cleanup(func() { must(kit.Close()) })
	}
	return New(rpc.Loopback(s))
}

// benchTxn is a client's transaction with its memory.
type benchTxn struct {
	c          *Client
	o          Owner
	id         uint64
	row, value []byte
	entries    [2][]byte
	req        kvapi.CommitRequest
}

// run changes a row, or inserts it, whose entry is at number before and will be at after.
func (t *benchTxn) run(id, row, before, after uint64, insert bool) error {
	t.c.OpenOwner(&t.o, id)
	t.row = binary.BigEndian.AppendUint64(keys.RowPrefix(t.row[:0], 100), row)
	for i, n := range []uint64{before, after} {
		key := binary.BigEndian.AppendUint64(keys.IndexPrefix(t.entries[i][:0], 100, 2), n)
		t.entries[i] = binary.BigEndian.AppendUint64(key, row)
	}
	lock := kvapi.LockRequest{Key: t.row, Mode: kvapi.LockExclusive}
	if _, err := t.c.Lock(&t.o, &lock); err != nil {
		return err
	}
	r := &t.req
	r.Mutations = append(r.Mutations[:0], kvapi.Mutation{Key: t.entries[1], Value: []byte{1}, Shadow: kvapi.ShadowNone})
	if !insert && before < after {
		r.Mutations = append(r.Mutations[:0], kvapi.Mutation{Key: t.entries[0], Kind: kvapi.MutationDelete}, r.Mutations[0])
	} else if !insert && before > after {
		r.Mutations = append(r.Mutations, kvapi.Mutation{Key: t.entries[0], Kind: kvapi.MutationDelete})
	}
	r.Mutations = append(r.Mutations, kvapi.Mutation{Key: t.row, Value: t.value})
	_, err := t.c.Commit(&t.o, r)
	t.c.ReleaseLocks(&t.o)
	return err
}

func benchCommit(b *testing.B, insert, clustered bool, clients int) {
	c := benchClient(b, clustered)
	var ids, next atomic.Uint64
	next.Store(benchRows)
	newTxn := func() *benchTxn { return &benchTxn{c: c, value: make([]byte, 180)} }
	load := newTxn()
	places := make([]uint64, benchRows)
	for i := range places {
		if err := load.run(ids.Add(1), uint64(i), 0, 0, true); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportAllocs()
	var before, after syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &before)
	b.ResetTimer()
	var running sync.WaitGroup
	for w := range clients {
		running.Go(func() {
			t := newTxn()
			// Each client has rows of its own, so that none waits for another's.
			at := uint64(w)
			for range b.N/clients + 1 {
				row := at
				if at += uint64(clients); at >= benchRows {
					at = uint64(w)
				}
				id, was := ids.Add(1), uint64(0)
				if insert {
					row = next.Add(1)
				} else {
					was, places[row] = places[row], id
				}
				if err := t.run(id, row, was, id, insert); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	running.Wait()
	b.StopTimer()
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &after)
	cpu := after.Utime.Nano() + after.Stime.Nano() - before.Utime.Nano() - before.Stime.Nano()
	b.ReportMetric(float64(cpu)/float64(b.N), "cpu-ns/op")
}

// BenchmarkGet is what a read of the latest version of a row costs below SQL, of a store that is alone and of a cluster of one.
func BenchmarkGet(b *testing.B) {
	for _, clustered := range []bool{false, true} {
		b.Run(fmt.Sprintf("cluster=%v", clustered), func(b *testing.B) {
			c := benchClient(b, clustered)
			t := &benchTxn{c: c, value: make([]byte, 180)}
			for i := range uint64(benchRows) {
				if err := t.run(i+1, i, 0, 0, true); err != nil {
					b.Fatal(err)
				}
			}
			var sink countBytes
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				t.row = binary.BigEndian.AppendUint64(keys.RowPrefix(t.row[:0], 100), uint64(i%1000))
				r := kvapi.GetRequest{Key: t.row, Sink: &sink}
				if found, err := c.Get(&r); err != nil || !found {
					b.Fatal(found, err)
				}
			}
		})
	}
}

// countBytes counts what it is given.
type countBytes int

func (n *countBytes) Pair(_, value []byte) (bool, error) {
	*n += countBytes(len(value))
	return true, nil
}

// TestClusterAllocations pins what a cluster's reads and commits may allocate in steady state. What works in the background counts too, so
// averages are rounded down.
func TestClusterAllocations(t *testing.T) {
	var p sync.Pool
	for range 100 {
		p.Put(new(int))
		if p.Get() == nil {
			t.Skip("the race detector makes pools drop objects")
		}
	}
	txn := &benchTxn{c: benchClient(t, true), value: make([]byte, 180)}
	id := uint64(0)
	insert := func() {
		id++
		if err := txn.run(id, id, 0, id, true); err != nil {
			t.Error(err)
		}
	}
	for range 100 {
		insert()
	}
	var sink countBytes
	get := func() {
		r := kvapi.GetRequest{Key: txn.row, Sink: &sink}
		if found, err := txn.c.Get(&r); err != nil || !found {
			t.Error(found, err)
		}
	}
	if n := testing.AllocsPerRun(500, get); n > 0 {
		t.Errorf("a read of a row: %v allocations", n)
	}
	// Raft's are nearly all of them; an entry has those of all commits of a group.
	if n := testing.AllocsPerRun(500, insert); n > 105 {
		t.Errorf("a commit that is an entry by itself: %v allocations", n)
	}
}
