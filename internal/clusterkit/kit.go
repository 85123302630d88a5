package clusterkit

import (
	"errors"
	"log/slog"
	"sync/atomic"

	"github.com/pandodb/pando/clock"
	"github.com/pandodb/pando/engine"
	"github.com/pandodb/pando/kvapi"
	"github.com/pandodb/pando/replica"
	"github.com/pandodb/pando/store"
)

// Kit is the cluster's side of a store.
type Kit struct {
	Cluster *store.Cluster
	Set     *replica.Set
	// Timestamps are those of the cluster.
	Timestamps *Timestamps
	ids        atomic.Uint64
	// Err is the first failure that the groups told of.
	Err atomic.Pointer[error]
}

// Timestamps issues timestamps of a process.
type Timestamps struct {
	last atomic.Uint64
	// Fail: none is issued.
	Fail atomic.Bool
}

// ErrNoTimestamps is what Timestamps that fail answer.
var ErrNoTimestamps = errors.New("clusterkit: no timestamps")

// Last implements store.Timestamps.
func (t *Timestamps) Last() clock.Timestamp { return clock.Timestamp(t.last.Load()) }

// Next implements replica.Timestamps.
func (t *Timestamps) Next(n int) (clock.Timestamp, error) {
	if t.Fail.Load() {
		return 0, ErrNoTimestamps
	}
	for {
		last := t.last.Load()
		first := max(last+1, uint64(clock.Make(clock.NowMillis(), 0)))
		if t.last.CompareAndSwap(last, first+uint64(n)-1) {
			return clock.Timestamp(first), nil
		}
	}
}

// Create writes regions with these bounds into an engine, instead of those that a store that was alone has there.
func Create(e *engine.Engine, bounds ...string) error {
	b := e.NewBatch()
	defer b.Close()
	bounds = append(append([]string{""}, bounds...), "")
	for i := range bounds[1:] {
		id := uint64(i + 1)
		replica.Create(b, &kvapi.Region{ID: kvapi.RegionID(id), Epoch: kvapi.Epoch{Version: 1, ConfVer: 2}, Mode: kvapi.ModeRaft,
			Start: []byte(bounds[i]), End: []byte(bounds[i+1]), Peers: []kvapi.Peer{{ID: 100 + id, Store: 1}}}, 0)
	}
	return e.Apply(b, true)
}

// Open starts the groups of the regions in the engine, and has the store serve them.
func Open(s *store.Store, e *engine.Engine) (k *Kit, err error) {
	timestamps := &Timestamps{}
	k = &Kit{Timestamps: timestamps}
	if k.Cluster, err = store.NewCluster(s, timestamps); err != nil {
		return nil, err
	}
	k.Set = replica.New(replica.Options{Engine: e, Machine: k.Cluster, Timestamps: timestamps, Store: 1,
		Logger: slog.New(slog.DiscardHandler), Fail: func(err error) { k.Err.CompareAndSwap(nil, &err) }})
	k.Cluster.Lead(k.Set)
	if err := errors.Join(k.Set.Load(), k.Set.Start()); err != nil {
		k.Set.Close()
		return nil, err
	}
	s.Join(k.Cluster)
	k.Cluster.Start()
	for _, r := range k.Cluster.Regions() {
		k.ids.Store(max(k.ids.Load(), uint64(r.ID)))
	}
	return k, nil
}

// Split cuts the region that holds a key, unless it begins there.
func (k *Kit) Split(key []byte) error {
	for _, d := range k.Cluster.Regions() {
		if d.Contains(key) && string(d.Start) != string(key) {
			id := k.ids.Add(1)
			return k.Cluster.Cut(d.Ref(), key, kvapi.RegionID(id), []uint64{100 + id})
		}
	}
	return nil
}

// Close ends the groups. The store is closed after.
func (k *Kit) Close() error {
	k.Cluster.Close()
	k.Set.Close()
	if err := k.Err.Load(); err != nil {
		return *err
	}
	return nil
}
