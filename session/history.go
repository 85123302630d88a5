package session

import (
	"cmp"
	"slices"
	"time"

	"github.com/pandodb/pando/exec"
	"github.com/pandodb/pando/infoschema"
	"github.com/pandodb/pando/plan"
)

// historySize is performance_schema_events_statements_history_size: how many statements a session remembers.
const historySize = 10

// past is a statement that has ended.
type past struct {
	digest                         *plan.Digest
	event                          event
	start, took                    time.Duration
	examined, sorted, merges, disk uint64
}

// history are the last statements of a session, in a ring.
type history struct {
	ring  [historySize]past
	ended uint64 // statements since the session began
}

// add remembers a statement.
func (h *history) add(e *event, w *exec.Work, end, took time.Duration) {
	p := &h.ring[h.ended%historySize]
	h.ended++
	p.digest, p.event, p.start, p.took = e.digest, *e, end-took, took
	p.examined, p.sorted, p.merges, p.disk = w.Count(exec.ExaminedRows), w.Count(exec.SortedRows), w.Count(exec.SortMergePasses), w.Count(exec.TmpDiskTables)
}

// list returns the statements, the latest last.
func (h *history) list() (list []infoschema.StatementEvent) {
	for i := h.ended - min(h.ended, historySize); i < h.ended; i++ {
		p := &h.ring[i%historySize]
		e := infoschema.StatementEvent{Number: i + 1, Start: p.start, Took: p.took, Schema: p.digest.Schema, Text: p.digest.Text, Hash: p.digest.Hash,
			Errors: p.event.errors, Warnings: p.event.warnings, Affected: p.event.affected, Sent: p.event.sent, Memory: p.event.memory,
			Examined: p.examined, Sorted: p.sorted, MergePasses: p.merges, TmpDisk: p.disk, Profile: p.digest.Profile}
		list = append(list, e)
	}
	return list
}

// History implements infoschema.Provider.
func (p *provider) History() (list []infoschema.SessionHistory) {
	for _, s := range p.node.tallies.sessions() {
		s.ledger.mu.Lock()
		h := infoschema.SessionHistory{Session: s.id, Ended: s.ledger.history.list()}
		s.ledger.mu.Unlock()
		h.Running = s.Info()
		list = append(list, h)
	}
	slices.SortFunc(list, func(a, b infoschema.SessionHistory) int { return cmp.Compare(a.Session, b.Session) })
	return list
}

// SessionStatus implements infoschema.Provider.
func (p *provider) SessionStatus() map[uint64]map[string]uint64 {
	out := map[uint64]map[string]uint64{}
	for _, s := range p.node.tallies.sessions() {
		var sum [countedMax]uint64
		var done figureSums
		s.counts.addTo(&sum)
		s.ledger.addFigures(&done, false)
		out[s.id] = sessionCounters(&sum, &done)
	}
	return out
}
