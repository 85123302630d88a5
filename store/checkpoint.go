package store

import (
	"errors"

	"github.com/pandodb/pando/clock"
	"github.com/pandodb/pando/engine"
	"github.com/pandodb/pando/placement/meta"
)

// RecordsMax is the newest version of the store's records that this program knows.
const RecordsMax = formatVersion

// ErrSeveral: one store does not hold what the cluster has committed, nor may it come back at an earlier time.
var ErrSeveral = errors.New("the cluster has several stores")

// Checkpoint is what Store.Checkpoint has made.
type Checkpoint struct {
	engine.Checkpoint
	// Records is the version of the store's records.
	Records int
	// Timestamp: every commit that was acknowledged before has it or a lower one, and is in the checkpoint.
	Timestamp clock.Timestamp
}

// Checkpoint makes a directory that the store opens from, as after a crash at some moment of the call: see Engine.Checkpoint. Commits go on
// meanwhile. A promotion waits, or is waited for, so that the version of the records is certain. One store among several is refused.
func (s *Store) Checkpoint(dir string, poll func() error) (c Checkpoint, err error) {
	s.promoting.Lock()
	defer s.promoting.Unlock()
	if cluster := s.cluster.Load(); cluster != nil && cluster.meta != nil {
		stores := 0
		cluster.meta.view(func(m *meta.State) { stores = len(m.Stores()) })
		if stores != 1 { // none are known to one that has no replica of region 0
			return c, ErrSeveral
		}
	}
	c.Timestamp, c.Records = s.oracle.Last(), formatAlone
	if s.ident.clustered {
		c.Records = formatVersion
	}
	c.Checkpoint, err = s.engine.Checkpoint(dir, poll)
	return c, err
}
