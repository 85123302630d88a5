package store

import (
	"bytes"
	"errors"
	"fmt"
	"sync"

	"github.com/pandodb/pando/clock"
	"github.com/pandodb/pando/engine"
	"github.com/pandodb/pando/keys"
	"github.com/pandodb/pando/kvapi"
	"github.com/pandodb/pando/placement/meta"
	"github.com/pandodb/pando/replica"
)

const (
	// clusterVersion is the version of a cluster that this program begins, and the newest that it knows.
	clusterVersion = 2
	// oldestVersion is the oldest that it knows.
	oldestVersion = 1
	// serviceVersion is from which on gateways say in region 0 that they serve, and that they do no more.
	serviceVersion = 2
)

// ErrVersion: this program does not know the version that the nodes of the cluster have agreed on, being older or much newer. It must not touch the
// directory, since it might misread what is there, and write what the others do not know.
var ErrVersion = errors.New("store: this program does not know the cluster's version")

// supported returns an error if this program does not know a version of the cluster; zero is no version yet.
func supported(version uint64) error {
	if version == 0 || version >= oldestVersion && version <= clusterVersion {
		return nil
	}
	return fmt.Errorf("%w: the cluster has version %d, and the program knows %d to %d; start the program that the other nodes run", ErrVersion, version,
		oldestVersion, clusterVersion)
}

// Versions returns the oldest and the newest cluster version that this program knows.
func Versions() (oldest, newest uint64) { return oldestVersion, clusterVersion }

// metaRegion is the replica of region 0 on this store: the state of package placement/meta, and its records in the engine.
type metaRegion struct {
	s   *Store
	set *replica.Set

	mu    sync.Mutex // guards state; a leaf
	state meta.State
}

// load reads the records. What region 0's log holds beyond them is applied on top.
func (m *metaRegion) load() (err error) {
	it, err := m.s.engine.NewIter(engine.IterOptions{Lower: keys.MetaKey(nil, nil), Upper: keys.SpaceEnd(nil, keys.SpaceMeta)})
	if err != nil {
		return m.s.readError(err)
	}
	defer func() { err = errors.Join(err, it.Close()) }()
	m.mu.Lock()
	defer m.mu.Unlock()
	m.state = meta.State{}
	for ok := it.First(); ok; ok = it.Next() {
		_, name, bare := keys.DecodeBare(it.Key())
		value, err := it.Value()
		if err != nil {
			return m.s.readError(err)
		}
		if !bare {
			return corrupt("key of a record of region 0")
		}
		if err := m.state.Load(name, value); err != nil {
			return corrupt(fmt.Sprintf("region 0: %v", err))
		}
	}
	return errors.Join(it.Error(), supported(m.state.Version()))
}

// apply is replica.Machine.Apply for region 0.
func (m *metaRegion) apply(b *engine.Batch, command replica.Command) (replica.Result, error) {
	c, is := command.(*replica.Meta)
	if !is {
		return replica.Result{}, fmt.Errorf("store: a command of kind %d in region 0", command.Kind())
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	changes, n, err := m.state.Apply(c.Content)
	if err == nil {
		err = supported(m.state.Version())
	}
	if err != nil {
		return replica.Result{}, err
	}
	writeMeta(b, changes)
	return replica.Result{Number: n}, nil
}

func writeMeta(b *engine.Batch, changes []meta.Change) {
	for _, c := range changes {
		if key := keys.MetaKey(nil, c.Name); c.Value == nil {
			b.Delete(key)
		} else {
			b.Set(key, c.Value)
		}
	}
}

// do proposes a command of region 0 and returns its result once that is durable.
func (m *metaRegion) do(command []byte) (uint64, error) {
	line := m.set.Line(0)
	if line == nil {
		return 0, errEpoch
	}
	p := metaProposal{content: bytes.Clone(command)}
	err := line.Do(&p)
	return p.result.Number, err
}

// ViewMeta calls f with the state of region 0, as far as this store has applied it; f must not keep it, nor call the store. It returns false without
// a call if the store is alone.
func (s *Store) ViewMeta(f func(*meta.State)) bool {
	c := s.cluster.Load()
	if c == nil || c.meta == nil {
		return false
	}
	c.meta.view(f)
	return true
}

// DoMeta proposes a command of region 0, which this store leads, and returns its result once it is durable.
func (s *Store) DoMeta(command []byte) (uint64, error) {
	c := s.cluster.Load()
	if c == nil || c.meta == nil {
		return 0, ErrAlone
	}
	return c.meta.do(command)
}

// SaveMark implements placement.MarkStore.
func (m *metaRegion) SaveMark(mark clock.Timestamp) error {
	_, err := m.do(meta.Mark(mark))
	return err
}

// view calls f with the state.
func (m *metaRegion) view(f func(*meta.State)) {
	m.mu.Lock()
	defer m.mu.Unlock()
	f(&m.state)
}

// metaProposal is a proposed command of region 0.
type metaProposal struct {
	content []byte
	result  replica.Result
}

// Size implements replica.Proposal.
func (p *metaProposal) Size() int { return len(p.content) + 16 }

// Alone implements replica.Proposal.
func (p *metaProposal) Alone() bool { return false }

// Prepare implements replica.Proposal.
func (p *metaProposal) Prepare(replica.Turn) (timestamps int, err error) { return 0, nil }

// Command implements replica.Proposal.
func (p *metaProposal) Command(clock.Timestamp) (replica.Proposed, error) {
	return &replica.Meta{Content: p.content}, nil
}

// Finish implements replica.Proposal.
func (p *metaProposal) Finish(r replica.Result, _ error) { p.result = r }

// machine is the state of all regions of this store, region 0 included. It implements replica.Machine.
type machine struct {
	*Cluster
	meta *metaRegion
}

// Apply implements replica.Machine.
func (m machine) Apply(b *engine.Batch, at replica.Position, command replica.Command) (replica.Result, error) {
	if at.Region.ID == 0 {
		return m.meta.apply(b, command)
	}
	return m.Cluster.Apply(b, at, command)
}

// Applied implements replica.Machine.
func (m machine) Applied(at replica.Position, commands []replica.Command) {
	if at.Region.ID != 0 {
		m.Cluster.Applied(at, commands)
	}
}

// tso issues the timestamps of a cluster whose region 0 is led here.
type tso struct{ s *Store }

// Next implements replica.Timestamps.
func (t tso) Next(n int) (clock.Timestamp, error) { return t.s.oracle.NextN(n) }

// Last implements Timestamps.
func (t tso) Last() clock.Timestamp { return t.s.oracle.Last() }

// split splits the region that holds key, with ids allocated by region 0.
func (c *Cluster) split(key []byte) error {
	if c.meta == nil {
		return errNoMeta
	}
	for _, desc := range c.Regions() {
		if !desc.Contains(key) {
			continue
		}
		n := uint64(1 + len(desc.Peers))
		first, err := c.meta.do(meta.IDs(n))
		if err != nil {
			return err
		}
		peers := make([]uint64, len(desc.Peers))
		for i := range peers {
			peers[i] = first + 1 + uint64(i)
		}
		if err := c.Cut(desc.Ref(), key, kvapi.RegionID(first), peers); err != nil {
			return err
		}
		c.s.o.Logger.Info("split a region", "left", desc.ID, "right", first)
		return nil
	}
	return ErrNoCut
}

// errNoMeta: this store has no replica of region 0 to allocate ids.
var errNoMeta = errors.New("store: there is no region 0")
