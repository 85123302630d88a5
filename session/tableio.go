package session

import (
	"maps"
	"sync"
	"time"

	"github.com/pandodb/pando/catalog"
	"github.com/pandodb/pando/clock"
	"github.com/pandodb/pando/exec"
	"github.com/pandodb/pando/infoschema"
)

// tableIOMax bounds the tables and indexes whose rows are counted, dropped ones included; further ones are not counted.
const tableIOMax = 100_000

// tableIO counts the rows that statements have read and written, by table and index.
type tableIO struct {
	mu   sync.Mutex // guards the fields below; no other lock is taken under it
	rows map[infoschema.IOKey]*infoschema.RowCounts
	// written is when a statement last changed a row of a physical table.
	written map[uint64]time.Time
}

// foldAccesses adds a session's counts of rows to those of the node and clears them.
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
		io.rows, io.written = map[infoschema.IOKey]*infoschema.RowCounts{}, map[uint64]time.Time{}
	}
	if a.Kind != exec.AccessFetch {
		if _, known := io.written[a.Table.PhysID]; known || len(io.written) < tableIOMax {
			io.written[a.Table.PhysID] = clock.Now().Add(end - clock.Mono())
		}
	}
	key := infoschema.IOKey{Table: a.Table.ID}
	if a.Index != nil {
		key.Index = a.Index.ID
	}
	counts := io.rows[key]
	if counts == nil {
		if len(io.rows) >= tableIOMax {
			return
		}
		counts = new(infoschema.RowCounts)
		io.rows[key] = counts
	}
	counts[a.Kind] += rows
}

// TableIO implements infoschema.Provider.
func (p *provider) TableIO() map[infoschema.IOKey]infoschema.RowCounts {
	p.node.settleAll(false)
	io := &p.node.digests.io
	io.mu.Lock()
	defer io.mu.Unlock()
	out := make(map[infoschema.IOKey]infoschema.RowCounts, len(io.rows))
	for key, counts := range io.rows {
		out[key] = *counts
	}
	return out
}

// TableUses implements infoschema.Provider.
func (p *provider) TableUses(usesMax int) []catalog.UseView {
	return p.node.Catalog.Uses().List(p.node.Catalog.Current(), usesMax)
}

// Writes implements infoschema.Provider.
func (p *provider) Writes() map[uint64]time.Time {
	p.node.settleAll(false)
	io := &p.node.digests.io
	io.mu.Lock()
	defer io.mu.Unlock()
	return maps.Clone(io.written)
}
