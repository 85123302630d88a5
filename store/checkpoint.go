package store

import (
	"github.com/pandodb/pando/clock"
	"github.com/pandodb/pando/engine"
)

// RecordsMax is the newest version of the store's records that this program knows.
const RecordsMax = formatVersion

// Checkpoint is what Store.Checkpoint has made.
type Checkpoint struct {
	engine.Checkpoint
	// Records is the version of the store's records.
	Records int
	// Timestamp: every commit that was acknowledged before has it or a lower one, and is in the checkpoint.
	Timestamp clock.Timestamp
}

// Checkpoint makes a directory that the store opens from, as after a crash at some moment of the call: see Engine.Checkpoint. Commits go on
// meanwhile. A promotion waits, or is waited for, so that the version of the records is certain.
func (s *Store) Checkpoint(dir string, poll func() error) (c Checkpoint, err error) {
	s.promoting.Lock()
	defer s.promoting.Unlock()
	c.Timestamp, c.Records = s.oracle.Last(), formatAlone
	if s.ident.clustered {
		c.Records = formatVersion
	}
	c.Checkpoint, err = s.engine.Checkpoint(dir, poll)
	return c, err
}
