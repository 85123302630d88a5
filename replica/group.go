package replica

import (
	"fmt"
	"log/slog"

	"go.etcd.io/raft/v3"
	"go.etcd.io/raft/v3/raftpb"
	"go.etcd.io/raft/v3/tracker"

	"github.com/pandodb/pando/clock"
	"github.com/pandodb/pando/internal/assert"
	"github.com/pandodb/pando/kvapi"
)

// Ticks and bounds of raft. A tick is TickInterval.
const (
	heartbeatTicks      = 2
	electionTicks       = 10
	messageBytesMax     = 1 << 20
	messagesMax         = 256
	messagesBytesMax    = 16 << 20
	uncommittedBytesMax = 64 << 20
)

// Group is one replica of a region, as a pure core: it has no goroutine, clock, socket or disk of its own but what it reads log
// entries from. Whoever drives it calls one method at a time, does what Ready asks for, and reports that:
//
//	Step, Tick, Propose, Campaign      something has happened
//	Ready                              what is to be done now: send, append, apply
//	Appended, Applied                  that was done, in the order in which it was asked for
//
// Its only random choice, that of election timeouts, is raft's own, from crypto/rand; testing/cryptotest makes it repeatable.
type Group struct {
	region  *kvapi.Region
	peer    uint64
	log     *groupLog
	node    *raft.RawNode
	applied applyState
	// hard is the newest hard state that raft has asked to keep. One in which only the commit index is new is written with the next
	// entries (L4).
	hard, written raftpb.HardState
	// led is the term in which this replica leads, from is the index of that term's first entry: with it all of earlier terms is applied.
	led, from uint64
	end       uint64 // the last index of the log with what is on its way to the disk
}

// OpenGroup returns the replica of a region that is on a disk. store is whose it is.
func OpenGroup(disk Disk, region *kvapi.Region, store uint64, logger *slog.Logger) (*Group, error) {
	g := &Group{region: region}
	for _, p := range region.Peers {
		if p.Store == store {
			g.peer = p.ID
		}
	}
	if region.Mode != kvapi.ModeRaft || g.peer == 0 {
		return nil, corrupt(fmt.Sprintf("region %d has no peer on store %d", region.ID, store))
	}
	b, found, err := disk.Get(recordKey(region.ID, recordApply))
	if err != nil {
		return nil, err
	}
	if !found {
		return nil, corrupt(fmt.Sprintf("region %d has no apply state", region.ID))
	}
	if g.applied, err = decodeApplyState(b); err != nil {
		return nil, err
	}
	if g.log, err = openLog(disk, region); err != nil {
		return nil, err
	}
	if g.applied.index < g.log.trunc.index || g.applied.index > g.log.last {
		return nil, corrupt(fmt.Sprintf("region %d has applied %d of a log from %d to %d", region.ID, g.applied.index, g.log.trunc.index, g.log.last))
	}
	// Commits alone are not written, so what is applied may be ahead of what is said to be committed (etcd-io/etcd#10217).
	commit := max(g.log.hard.GetCommit(), g.applied.index)
	if commit > g.log.last {
		return nil, corrupt(fmt.Sprintf("region %d has committed %d of a log up to %d", region.ID, commit, g.log.last))
	}
	g.log.hard.Commit = &commit
	g.end = g.log.last
	g.setHard(&g.hard, g.log.hard.GetTerm(), g.log.hard.GetVote(), commit)
	g.setHard(&g.written, g.log.hard.GetTerm(), g.log.hard.GetVote(), commit)
	g.node, err = raft.NewRawNode(&raft.Config{
		ID: g.peer, ElectionTick: electionTicks, HeartbeatTick: heartbeatTicks, Storage: g.log, Applied: g.applied.index,
		AsyncStorageWrites: true, MaxSizePerMsg: messageBytesMax, MaxCommittedSizePerReady: messagesBytesMax,
		MaxUncommittedEntriesSize: uncommittedBytesMax,
		MaxInflightMsgs:           messagesMax, MaxInflightBytes: messagesBytesMax, CheckQuorum: true, PreVote: true,
		DisableProposalForwarding: true, StepDownOnRemoval: true, Logger: raftLogger{logger, region.ID},
	})
	if err != nil {
		return nil, fmt.Errorf("replica: region %d: %w", region.ID, err)
	}
	return g, nil
}

func (g *Group) setHard(h *raftpb.HardState, term, vote, commit uint64) {
	h.Term, h.Vote, h.Commit = &term, &vote, &commit
}

// Region returns the region's descriptor as of what is applied.
func (g *Group) Region() *kvapi.Region { return g.region }

// Peer returns the replica's id.
func (g *Group) Peer() uint64 { return g.peer }

// GCPoint returns the timestamp below which nobody reads the region.
func (g *Group) GCPoint() clock.Timestamp { return g.applied.gcPoint }

// AppliedIndex returns up to where the log is applied.
func (g *Group) AppliedIndex() uint64 { return g.applied.index }

// sole reports whether this replica is the only voter, which nobody can depose.
func (g *Group) sole() bool {
	voters := 0
	for _, p := range g.region.Peers {
		if !p.Learner {
			voters++
		}
	}
	return voters == 1
}

// Leads returns the term in which this replica leads and has applied all entries of earlier terms. Whether it may still serve reads
// without asking the others is another question, to which the answer is yes where there are none.
func (g *Group) Leads() (term uint64, ok bool) {
	if g.led == 0 || g.applied.index < g.from {
		return 0, false
	}
	return g.led, true
}

// Tick tells that a tick has passed.
func (g *Group) Tick() { g.node.Tick() }

// Campaign stands for election.
func (g *Group) Campaign() error { return g.node.Campaign() }

// Propose appends an entry to the log in a term. It returns the entry's index, and false, having done nothing, if this replica does not
// lead in that term or has too much in flight. Ready has been called since anything else happened.
func (g *Group) Propose(term uint64, content []byte) (index uint64, ok bool) {
	if g.led != term || g.node.Propose(content) != nil {
		return 0, false
	}
	g.end++
	return g.end, true
}

// Effects are what is to be done. What is nil or empty is not.
type Effects struct {
	// Send may leave at once.
	Send []Message
	// Append goes to the log; then Appended is told. Those of several Readys are appended in order.
	Append *Append
	// Apply goes into the state; then Applied is told. All of it has been appended before.
	Apply *Apply
}

// Append is what is to be logged: Write puts it into a batch, which must be synced if Sync, before Appended is told.
type Append struct {
	g         *Group
	entries   []*raftpb.Entry
	hard      bool
	responses []*raftpb.Message
	Sync      bool
}

// Committed is an entry of the log that is committed. Content is empty in an entry with which a leader begins its term.
type Committed struct {
	Index, Term uint64
	Content     []byte
	conf        bool
}

// Apply are committed entries in order.
type Apply struct {
	Entries []Committed
	message *raftpb.Message
}

// HasReady reports whether Ready has anything.
func (g *Group) HasReady() bool { return g.node.HasReady() }

// Ready returns what is to be done now.
func (g *Group) Ready() (fx Effects) {
	rd := g.node.Ready()
	if n := len(rd.Entries); n > 0 {
		g.end = rd.Entries[n-1].GetIndex()
	}
	if rd.SoftState != nil || rd.HardState != nil {
		switch s := g.node.BasicStatus(); {
		case s.RaftState != raft.StateLeader:
			g.led = 0
		case s.GetTerm() != g.led:
			// The newest entry is the one that a leader begins its term with: nobody proposes before that is applied.
			g.led, g.from = s.GetTerm(), g.end
		}
	}
	for _, m := range rd.Messages {
		switch m.GetTo() {
		case raft.LocalAppendThread:
			fx.Append = g.toAppend(m)
		case raft.LocalApplyThread:
			a := &Apply{message: m, Entries: make([]Committed, len(m.GetEntries()))}
			for i, e := range m.GetEntries() {
				a.Entries[i] = Committed{Index: e.GetIndex(), Term: e.GetTerm(), Content: e.GetData(), conf: e.GetType() != raftpb.EntryNormal}
			}
			fx.Apply = a
		default:
			fx.Send = append(fx.Send, Message{m})
		}
	}
	return fx
}

// toAppend takes raft's request apart.
func (g *Group) toAppend(m *raftpb.Message) *Append {
	a := &Append{g: g, entries: m.GetEntries(), responses: m.GetResponses()}
	if m.Term != nil {
		g.setHard(&g.hard, m.GetTerm(), m.GetVote(), m.GetCommit())
	}
	voted := g.hard.GetTerm() != g.written.GetTerm() || g.hard.GetVote() != g.written.GetVote()
	a.hard = voted || len(a.entries) > 0 && g.hard.GetCommit() != g.written.GetCommit()
	a.Sync = len(a.entries) > 0 || voted
	if a.hard {
		g.setHard(&g.written, g.hard.GetTerm(), g.hard.GetVote(), g.hard.GetCommit())
	}
	return a
}

// Empty reports whether there is nothing to write.
func (a *Append) Empty() bool { return len(a.entries) == 0 && !a.hard }

// Write puts the entries and the hard state into a batch of the log.
func (a *Append) Write(b Records) {
	g := a.g
	id := g.region.ID
	if a.hard {
		b.Set(recordKey(id, recordHard), encodeHard(g.written.GetTerm(), g.written.GetVote(), min(g.written.GetCommit(), a.lastAfter())))
	}
	if len(a.entries) == 0 {
		return
	}
	first, last := a.entries[0].GetIndex(), a.entries[len(a.entries)-1].GetIndex()
	assert.That(first > g.log.trunc.index && first <= g.log.last+1, "replica: a log has no gap")
	assert.That(first > g.applied.index, "replica: what is applied is not overwritten")
	for _, e := range a.entries {
		b.Set(entryKey(id, e.GetIndex()), encodeEntry(e))
	}
	if g.log.last > last {
		b.DeleteRange(entryKey(id, last+1), entryKey(id, g.log.last+1))
	}
	g.log.append(a.entries)
}

// lastAfter is the last index once a is written.
func (a *Append) lastAfter() uint64 {
	if n := len(a.entries); n > 0 {
		return a.entries[n-1].GetIndex()
	}
	return a.g.log.last
}

// Appended tells that a is in the log, and durable if it had to be. It returns what may be sent because of that.
func (g *Group) Appended(a *Append) (send []Message) { return g.deliver(a.responses) }

// deliver steps the messages for this replica and returns the others.
func (g *Group) deliver(responses []*raftpb.Message) (send []Message) {
	for _, m := range responses {
		if m.GetTo() != g.peer {
			send = append(send, Message{m})
			continue
		}
		// It answers with an error where the message is outdated, which raft has found out by then.
		_ = g.node.Step(m)
	}
	return send
}

// WriteApplied puts into the batch of an application up to where it goes, and the region's safepoint there.
func (g *Group) WriteApplied(b Records, last Committed, gcPoint clock.Timestamp) {
	s := applyState{index: last.Index, term: last.Term, gcPoint: gcPoint}
	b.Set(recordKey(g.region.ID, recordApply), s.encode())
}

// Applied tells that a is in the state, with what WriteApplied was told, and what the region is now.
func (g *Group) Applied(a *Apply, region *kvapi.Region, gcPoint clock.Timestamp) {
	last := a.Entries[len(a.Entries)-1]
	g.region, g.log.region, g.applied.gcPoint = region, region, gcPoint
	assert.That(last.Index > g.applied.index && last.Index <= g.log.last, "replica: what is applied was appended (L1)")
	g.applied.index, g.applied.term = last.Index, last.Term
	g.deliver(a.message.GetResponses())
	g.log.trim(g.applied.index)
}

// Truncation is a part of the log that can go: Write puts that into a batch of the log, which need not be synced, before Truncated is told.
type Truncation struct {
	g    *Group
	from uint64
	to   truncated
}

// Truncate returns what can go of the log: up to the index that is applied in tables (L2), and that all voters have. nil: less than
// least entries.
func (g *Group) Truncate(least uint64) (*Truncation, error) {
	b, found, err := g.log.disk.Flushed(recordKey(g.region.ID, recordApply))
	if err != nil || !found {
		return nil, err
	}
	s, err := decodeApplyState(b)
	if err != nil {
		return nil, err
	}
	to := min(s.index, g.applied.index)
	if g.led == 0 && !g.sole() {
		to = g.log.trunc.index // the leader knows who needs what; there are no snapshots yet
	}
	g.node.WithProgress(func(id uint64, _ raft.ProgressType, pr tracker.Progress) {
		if id != g.peer {
			to = min(to, pr.Match)
		}
	})
	if to < g.log.trunc.index+max(least, 1) {
		return nil, nil
	}
	term, err := g.log.Term(to)
	if err != nil {
		return nil, err
	}
	return &Truncation{g: g, from: g.log.trunc.index + 1, to: truncated{to, term}}, nil
}

// Write puts t into a batch of the log.
func (t *Truncation) Write(b Records) {
	id := t.g.region.ID
	b.Set(recordKey(id, recordTruncated), t.to.encode())
	b.DeleteRange(entryKey(id, t.from), entryKey(id, t.to.index+1))
}

// Truncated tells that t is in the log.
func (g *Group) Truncated(t *Truncation) { g.log.truncate(t.to) }
