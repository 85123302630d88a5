package session

import (
	"maps"
	"sync"
	"time"

	"github.com/pandodb/pando/clock"
	"github.com/pandodb/pando/exec"
)

// tableIOMax bounds the tables and indexes whose rows are counted, those that are gone included; what comes beyond is not counted.
const tableIOMax = 100_000

// accessKey is a table and an index of it by their ids; an id of 0 is none.
type accessKey struct{ table, index uint64 }

// tableIO counts the rows that statements have read and written, by table and index.
type tableIO struct {
	mu   sync.Mutex // guards the fields below; a leaf
	rows map[accessKey]*[exec.AccessKinds]uint64
	// written is when a statement last changed a row of a physical table.
	written map[uint64]time.Time
}

// foldAccesses adds a session's counts of rows to those of all.
func (d *digests) foldAccesses(e *ledgerEntry) {
	if len(e.accesses) == 0 {
		return
	}
	io := &d.io
	io.mu.Lock()
	defer io.mu.Unlock()
	for i := range e.accesses {
		io.add(&e.accesses[i], e.rows[i], e.read)
	}
	e.accesses, e.rows = nil, e.rows[:0]
}

func (io *tableIO) add(a *exec.Access, rows uint64, end time.Duration) {
	if rows == 0 || a.Table.Temporary != nil {
		return
	}
	if io.rows == nil {
		io.rows, io.written = map[accessKey]*[exec.AccessKinds]uint64{}, map[uint64]time.Time{}
	}
	if a.Kind != exec.AccessFetch {
		if _, known := io.written[a.Table.PhysID]; known || len(io.written) < tableIOMax {
			io.written[a.Table.PhysID] = clock.Now().Add(end - clock.Mono())
		}
	}
	key := accessKey{table: a.Table.ID}
	if a.Index != nil {
		key.index = a.Index.ID
	}
	counts := io.rows[key]
	if counts == nil {
		if len(io.rows) >= tableIOMax {
			return
		}
		counts = new([exec.AccessKinds]uint64)
		io.rows[key] = counts
	}
	counts[a.Kind] += rows
}

// Writes implements infoschema.Provider.
func (p *provider) Writes() map[uint64]time.Time {
	p.node.settleAll(false)
	io := &p.node.digests.io
	io.mu.Lock()
	defer io.mu.Unlock()
	return maps.Clone(io.written)
}
