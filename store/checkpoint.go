package store

import (
	"errors"

	"github.com/pandodb/pando/clock"
	"github.com/pandodb/pando/engine"
	"github.com/pandodb/pando/placement/meta"
)

// RecordsMax is the newest version of the store's records that this program knows.
const RecordsMax = formatVersion

// ErrSeveral refuses a checkpoint of one store of several: it may lack what the cluster has committed, and must not be restored alone.
var ErrSeveral = errors.New("the cluster has several stores")

// Checkpoint is what Store.Checkpoint has made.
type Checkpoint struct {
	engine.Checkpoint
	// Records is the version of the store's records.
	Records int
	// Timestamp: every commit that was acknowledged before the call has this timestamp or a lower one, and is in the checkpoint.
	Timestamp clock.Timestamp
}

// Checkpoint makes a directory from which a store opens as after a crash at some moment of the call: see Engine.Checkpoint. Commits go on
// meanwhile. It excludes Promote, so that the version of the records is certain. A store of a cluster of several returns ErrSeveral.
func (s *Store) Checkpoint(dir string, poll func() error) (c Checkpoint, err error) {
	s.promoting.Lock()
	defer s.promoting.Unlock()
	if cluster := s.cluster.Load(); cluster != nil && cluster.meta != nil {
		stores := 0
		cluster.meta.view(func(m *meta.State) { stores = len(m.Stores()) })
		if stores != 1 { // 0 if this store has no replica of region 0
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
