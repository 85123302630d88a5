package ddl_test

import (
	"testing"

	"github.com/pandodb/pando/catalog"
	"github.com/pandodb/pando/clock"
	"github.com/pandodb/pando/keys"
	"github.com/pandodb/pando/kvapi"
	"github.com/pandodb/pando/txn"
)

// pairs is a sink that counts.
type pairs int

func (p *pairs) Pair(_, _ []byte) (bool, error) {
	*p++
	return true, nil
}

// TestTemporaryLeftovers: the next gateway of a cluster deletes the data that temporary tables of a dead one have left, also of commits that the dead
// one has not finished.
func TestTemporaryLeftovers(t *testing.T) {
	n := openNode(t, nil)
	defer n.close(true)
	n.must(n.store.Promote())
	first, end := catalog.TemporaryIDs()
	key := func(id uint64) []byte { return append(keys.TablePrefix(nil, first+id), "row"...) }
	tx := n.txns.Begin(txn.Options{})
	n.must(tx.Put(key(1), []byte("finished")))
	n.must(tx.Commit())
	n.must(n.store.Split(key(2))) // another region after one in which data is found
	const unfinished = 3
	for id := range uint64(unfinished) {
		at := n.store.Regions()[len(n.store.Regions())-1]
		_, err := n.store.Cluster().Do(&kvapi.PrewriteRequest{Region: at.Ref(), Start: clock.Timestamp(1000 + id), Primary: key(2 + id), Async: true,
			Mutations:   []kvapi.Mutation{{Key: key(2 + id), Value: []byte("decided")}},
			Coordinator: kvapi.Coordinator{Node: n.store.ID(), NodeEpoch: n.store.Incarnation() + 1}})
		n.must(err)
	}
	if _, locks := n.store.Cluster().Pending(); locks != unfinished {
		t.Fatalf("%d locks", locks)
	}
	n.ex.Close()
	n.reopen(nil)
	var found pairs
	_, err := n.txns.Scan(&txn.ScanRequest{Span: kvapi.Span{Start: keys.TablePrefix(nil, first), End: keys.TablePrefix(nil, end)}, Sink: &found})
	n.must(err)
	if _, locks := n.store.Cluster().Pending(); found != 0 || locks != 0 {
		t.Errorf("%d rows and %d locks are left", found, locks)
	}
}
