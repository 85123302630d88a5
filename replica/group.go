package replica

import (
	"encoding/binary"
	"fmt"
	"log/slog"

	"go.etcd.io/raft/v3"
	"go.etcd.io/raft/v3/raftpb"
	"go.etcd.io/raft/v3/tracker"

	"github.com/pandodb/pando/clock"
	"github.com/pandodb/pando/internal/assert"
	"github.com/pandodb/pando/kvapi"
)

// Ticks of raft, each TickInterval.
const (
	heartbeatTicks = 2
	electionTicks  = 10
)

// Group is one replica of a region, as a pure core: it has no goroutine, clock or socket, and only reads from a Disk. Its driver calls one
// method at a time, does what Ready asks for, and reports that:
//
//	Step, Tick, Propose, Campaign      something has happened
//	Ready                              what is to be done now: send, append, apply
//	Appended, Applied                  that was done, in the order in which it was asked for
//
// A snapshot is passed to StepSnapshot; the Append that follows has its index, and Restored is called before Appended.
//
// Its only random choice, that of election timeouts, is made by raft from crypto/rand; testing/cryptotest makes it repeatable.
type Group struct {
	region  *kvapi.Region
	peer    uint64
	log     *groupLog
	limits  *Limits
	node    *raft.RawNode
	applied applyState
	// hard is the newest hard state that raft has asked to store, written the one that was. If only the commit index is new, it is written with
	// the next entries (L4).
	hard, written raftpb.HardState
	// led is the term in which this replica leads, 0 if it does not; from is the index of that term's first entry: once that is applied, so are
	// all entries of earlier terms.
	led, from uint64
	end       uint64 // the last index of the log, with entries that are being appended
	lead      uint64 // the peer that leads, 0 if it is not known
}

// OpenGroup returns the replica of a region that a store has on disk. No limit is zero, and none is changed.
func OpenGroup(disk Disk, region *kvapi.Region, store uint64, limits *Limits, logger *slog.Logger) (*Group, error) {
	g := &Group{region: region, limits: limits}
	if p, here := region.On(store); here {
		g.peer = p.ID
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
	if g.log, err = openLog(disk, region, limits.CacheBytes); err != nil {
		return nil, err
	}
	g.log.applied = g.applied
	if g.applied.index < g.log.trunc.index || g.applied.index > g.log.last {
		return nil, corrupt(fmt.Sprintf("region %d has applied %d of a log from %d to %d", region.ID, g.applied.index, g.log.trunc.index, g.log.last))
	}
	// Commits alone are not written, so what is applied may be ahead of what is said to be committed (etcd-io/etcd#10217).
	commit := max(g.log.hard.GetCommit(), g.applied.index)
	if commit > g.log.last {
		return nil, corrupt(fmt.Sprintf("region %d has committed %d of a log up to %d", region.ID, commit, g.log.last))
	}
	g.log.hard.Commit = &commit
	return g, g.start(logger)
}

// NewGroup returns a replica without state, which waits for a snapshot.
func NewGroup(disk Disk, region kvapi.RegionID, peer uint64, limits *Limits, logger *slog.Logger) (*Group, error) {
	r := &kvapi.Region{ID: region, Mode: kvapi.ModeRaft}
	g := &Group{region: r, peer: peer, limits: limits, log: emptyLog(disk, r)}
	return g, g.start(logger)
}

// start makes the group's raft node.
func (g *Group) start(logger *slog.Logger) (err error) {
	g.end = g.log.last
	hard := g.log.hard
	g.setHard(&g.hard, hard.GetTerm(), hard.GetVote(), hard.GetCommit())
	g.setHard(&g.written, hard.GetTerm(), hard.GetVote(), hard.GetCommit())
	l := g.limits
	g.node, err = raft.NewRawNode(&raft.Config{
		ID: g.peer, ElectionTick: electionTicks, HeartbeatTick: heartbeatTicks, Storage: g.log, Applied: g.applied.index,
		AsyncStorageWrites: true, MaxSizePerMsg: min(l.MessageBytes, l.MessagesBytes), MaxCommittedSizePerReady: l.MessagesBytes,
		MaxUncommittedEntriesSize: l.UncommittedBytes,
		MaxInflightMsgs:           l.Messages, MaxInflightBytes: l.MessagesBytes, CheckQuorum: true, PreVote: true,
		DisableProposalForwarding: true, StepDownOnRemoval: true, Logger: raftLogger{logger, g.region.ID},
	})
	if err != nil {
		return fmt.Errorf("replica: region %d: %w", g.region.ID, err)
	}
	return nil
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

// AppliedState returns the index and term of the last entry that is applied.
func (g *Group) AppliedState() (index, term uint64) { return g.applied.index, g.applied.term }

// AppliedIndex returns up to where the log is applied.
func (g *Group) AppliedIndex() uint64 { return g.applied.index }

// sole reports whether this replica is the only voter, which nobody can depose.
func (g *Group) sole() bool {
	for _, p := range g.region.Peers {
		if p.ID == g.peer {
			return !p.Learner && g.region.Voters() == 1
		}
	}
	return false
}

// Lead returns the peer that leads in the present term, 0 if that is not known.
func (g *Group) Lead() uint64 { return g.lead }

// Term returns the present term.
func (g *Group) Term() uint64 { return g.hard.GetTerm() }

// Leads returns the term in which this replica leads, if it has applied all entries of earlier terms. That does not say that it may serve
// reads without asking the others: for that it has to be the only voter, or hold a lease.
func (g *Group) Leads() (term uint64, ok bool) {
	if g.led == 0 || g.applied.index < g.from {
		return 0, false
	}
	return g.led, true
}

// Deposed reports whether the replica has lost the lead by a message, but Ready has not said so yet, since its driver is writing the log.
func (g *Group) Deposed() bool {
	return g.led != 0 && g.node.BasicStatus().RaftState != raft.StateLeader
}

// Tick is called once per TickInterval.
func (g *Group) Tick() { g.node.Tick() }

// Campaign stands for election.
func (g *Group) Campaign() error { return g.node.Campaign() }

// Propose appends an entry to the log in a term, and returns its index. ok is false, and nothing has happened, if this replica does not lead in
// that term or has too much in flight. Ready must have been called since any other method that changes the group.
func (g *Group) Propose(term uint64, content []byte) (index uint64, ok bool) {
	if g.led != term || g.node.Propose(content) != nil {
		return 0, false
	}
	g.end++
	return g.end, true
}

// ProposeChange is Propose for an entry that changes the region's peers. If raft refuses the change for the moment, because an earlier one is
// not applied, the entry has no content.
func (g *Group) ProposeChange(term uint64, peers []kvapi.Peer) (index uint64, ok bool) {
	if g.led != term || CheckPeers(g.region, peers) != nil {
		return 0, false
	}
	change, err := encodeChange(g.region, peers)
	if err != nil || g.node.ProposeConfChange(change) != nil {
		return 0, false
	}
	g.end++
	return g.end, true
}

// Change is a change of members that was applied, for ApplyChange.
type Change struct {
	change *raftpb.ConfChangeV2
}

// DecodeChange returns a region as an entry that changes its members makes it; nil if it changes nothing, because it was made for another
// epoch.
func DecodeChange(r *kvapi.Region, c Committed) (*kvapi.Region, *Change, error) {
	next, change, err := decodeChange(r, c.Content)
	if err != nil || next == nil {
		return nil, nil, err
	}
	return next, &Change{change}, nil
}

// ApplyChange passes a change of an Apply to raft. It is called before Applied.
func (g *Group) ApplyChange(c *Change) { g.node.ApplyConfChange(c.change) }

// ReadIndex asks whether this replica still leads: Ready returns id in Reads once a majority has answered.
func (g *Group) ReadIndex(id uint64) {
	g.node.ReadIndex(binary.BigEndian.AppendUint64(nil, id))
}

// Transfer asks the leader, which may be this replica, to hand the lead to a peer.
func (g *Group) Transfer(peer uint64) { g.node.TransferLeader(peer) }

// ReportSnapshot reports whether a peer has taken a snapshot that Ready asked to be sent.
func (g *Group) ReportSnapshot(peer uint64, taken bool) {
	status := raft.SnapshotFailure
	if taken {
		status = raft.SnapshotFinish
	}
	g.node.ReportSnapshot(peer, status)
}

// StepSnapshot reports that a snapshot of the region has arrived from its leader, in a term, and is ready to be ingested. If raft refuses it, the
// next Append has no SnapshotIndex.
func (g *Group) StepSnapshot(from, term uint64, region *kvapi.Region, index, indexTerm uint64) {
	kind := raftpb.MsgSnap
	to := g.peer
	m := &raftpb.Message{Type: &kind, From: &from, To: &to, Term: &term, Snapshot: &raftpb.Snapshot{
		Metadata: &raftpb.SnapshotMetadata{ConfState: confState(region), Index: &index, Term: &indexTerm}}}
	_ = g.node.Step(m)
}

// Restored reports that the state has been replaced by the snapshot in a, in one step with the records of a.
func (g *Group) Restored(a *Append, region *kvapi.Region, gcPoint clock.Timestamp) {
	g.applied = applyState{index: a.SnapshotIndex, term: a.snapshotTerm, gcPoint: gcPoint}
	g.region = region
	g.log.restart(region, g.applied)
	g.end = a.SnapshotIndex
}

// PeerStatus is what a leader knows of a peer. Match is the index up to which it has the log.
type PeerStatus struct {
	Peer, Match uint64
	// Active: it has answered since the last election timeout. Snapshot is the index of the snapshot that it waits for, 0 if there is none.
	Active   bool
	Snapshot uint64
}

// Peers returns what this replica knows of the others; nothing unless it leads.
func (g *Group) Peers() (out []PeerStatus) {
	if g.led == 0 {
		return nil
	}
	g.node.WithProgress(func(id uint64, _ raft.ProgressType, pr tracker.Progress) {
		st := PeerStatus{Peer: id, Match: pr.Match, Active: pr.RecentActive || id == g.peer}
		if pr.State == tracker.StateSnapshot {
			st.Snapshot = pr.PendingSnapshot
		}
		out = append(out, st)
	})
	return out
}

// Effects are what is to be done. Nil or empty fields ask for nothing.
type Effects struct {
	// Send may be sent at once.
	Send []Message
	// Snapshots are to be sent.
	Snapshots []SnapshotRequest
	// Reads are the ids of ReadIndex calls that a majority has confirmed.
	Reads []uint64
	// Append is to be logged, and then passed to Appended. The Appends of several calls of Ready are logged in order.
	Append *Append
	// Apply is to be applied to the state, and then passed to Applied. All of it has been appended before.
	Apply *Apply
}

// SnapshotRequest asks for the region's state, as of Index or later, to be sent to a peer in a term.
type SnapshotRequest struct{ Peer, Term, Index uint64 }

// Append is what is to be logged: Write adds it to a batch, which must be logged, and synced if Sync is set, before Appended is called.
type Append struct {
	g         *Group
	entries   []*raftpb.Entry
	hard      bool
	responses []*raftpb.Message
	Sync      bool
	// SnapshotIndex, if not 0, is the index of a snapshot that replaces the region's state, in one step with what Write writes.
	SnapshotIndex, snapshotTerm uint64
	term, vote                  uint64
}

// Committed is a committed entry of the log. Content is empty in the entry with which a leader begins its term. Conf: it changes members, see
// DecodeChange.
type Committed struct {
	Index, Term uint64
	Content     []byte
	Conf        bool
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
	if rd.SoftState != nil {
		g.lead = rd.SoftState.Lead
	}
	for _, r := range rd.ReadStates {
		if len(r.RequestCtx) == 8 {
			fx.Reads = append(fx.Reads, binary.BigEndian.Uint64(r.RequestCtx))
		}
	}
	for _, m := range rd.Messages {
		switch to := m.GetTo(); {
		case to == raft.LocalAppendThread:
			fx.Append = g.toAppend(m)
		case m.GetType() == raftpb.MsgSnap:
			fx.Snapshots = append(fx.Snapshots, SnapshotRequest{Peer: to, Term: m.GetTerm(), Index: m.GetSnapshot().GetMetadata().GetIndex()})
		case to == raft.LocalApplyThread:
			a := &Apply{message: m, Entries: make([]Committed, len(m.GetEntries()))}
			for i, e := range m.GetEntries() {
				a.Entries[i] = Committed{Index: e.GetIndex(), Term: e.GetTerm(), Content: e.GetData(), Conf: e.GetType() != raftpb.EntryNormal}
			}
			fx.Apply = a
		default:
			fx.Send = append(fx.Send, Message{m: m})
		}
	}
	return fx
}

// toAppend converts raft's request to append.
func (g *Group) toAppend(m *raftpb.Message) *Append {
	a := &Append{g: g, entries: m.GetEntries(), responses: m.GetResponses()}
	if m.Term != nil {
		g.setHard(&g.hard, m.GetTerm(), m.GetVote(), m.GetCommit())
	}
	voted := g.hard.GetTerm() != g.written.GetTerm() || g.hard.GetVote() != g.written.GetVote()
	a.hard = voted || len(a.entries) > 0 && g.hard.GetCommit() != g.written.GetCommit()
	a.Sync = len(a.entries) > 0 || voted
	if s := m.GetSnapshot().GetMetadata(); s.GetIndex() != 0 {
		a.SnapshotIndex, a.snapshotTerm, a.hard = s.GetIndex(), s.GetTerm(), true
		assert.That(len(a.entries) == 0, "replica: no entries come with a snapshot")
	}
	if a.hard {
		g.setHard(&g.written, g.hard.GetTerm(), g.hard.GetVote(), g.hard.GetCommit())
		a.term, a.vote = g.hard.GetTerm(), g.hard.GetVote()
	}
	return a
}

// Hard returns the term and the vote that may be sent to others once a is in the log; zero if a does not change them.
func (a *Append) Hard() (term, vote uint64) { return a.term, a.vote }

// Empty reports whether there is nothing to write.
func (a *Append) Empty() bool { return len(a.entries) == 0 && !a.hard }

// Write adds the entries and the hard state to a logged batch.
func (a *Append) Write(b Records) {
	g := a.g
	id := g.region.ID
	if a.SnapshotIndex != 0 {
		// All of it is ingested in one step with the state (L7). The vote is the newest that raft has asked to store.
		b.DeleteRange(entryKey(id, 0), entryKey(id, ^uint64(0)))
		b.Set(recordKey(id, recordTruncated), truncated{a.SnapshotIndex, a.snapshotTerm}.encode())
		b.Set(recordKey(id, recordHard), encodeHard(g.written.GetTerm(), g.written.GetVote(), a.SnapshotIndex))
		return
	}
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
		b.SetParts(entryKey(id, e.GetIndex()), entryHead(e), e.GetData())
	}
	if g.log.last > last {
		b.DeleteRange(entryKey(id, last+1), entryKey(id, g.log.last+1))
	}
	g.log.append(a.entries)
}

// WriteCommit adds a commit index to a logged batch, which must be synced. The index is applied already.
func (g *Group) WriteCommit(b Records, index uint64) {
	if index <= g.written.GetCommit() {
		return
	}
	g.setHard(&g.written, g.written.GetTerm(), g.written.GetVote(), index)
	b.Set(recordKey(g.region.ID, recordHard), encodeHard(g.written.GetTerm(), g.written.GetVote(), index))
}

// lastAfter is the last index once a is written.
func (a *Append) lastAfter() uint64 {
	if n := len(a.entries); n > 0 {
		return a.entries[n-1].GetIndex()
	}
	return a.g.log.last
}

// Appended reports that a is in the log, and durable if Sync was set. It returns messages that may be sent because of that.
func (g *Group) Appended(a *Append) (send []Message) { return g.deliver(a.responses) }

// deliver steps the messages for this replica and returns the others.
func (g *Group) deliver(responses []*raftpb.Message) (send []Message) {
	for _, m := range responses {
		if m.GetTo() != g.peer {
			send = append(send, Message{m: m})
			continue
		}
		// It returns an error if the message is outdated, which has no consequences.
		_ = g.node.Step(m)
	}
	return send
}

// WriteApplied adds to a batch with the changes of entries up to last the applied index, and the region's GC point.
func (g *Group) WriteApplied(b Records, last Committed, gcPoint clock.Timestamp) {
	s := applyState{index: last.Index, term: last.Term, gcPoint: gcPoint}
	b.Set(recordKey(g.region.ID, recordApply), s.encode())
}

// Applied reports that a is applied, with the region and GC point afterwards.
func (g *Group) Applied(a *Apply, region *kvapi.Region, gcPoint clock.Timestamp) {
	last := a.Entries[len(a.Entries)-1]
	g.region, g.log.region, g.applied.gcPoint = region, region, gcPoint
	assert.That(last.Index > g.applied.index && last.Index <= g.log.last, "replica: what is applied was appended (L1)")
	g.applied.index, g.applied.term = last.Index, last.Term
	g.log.applied = g.applied
	g.deliver(a.message.GetResponses())
	g.log.trim(g.applied.index, g.limits.CacheBytes)
}

// Truncation is a part of the log that can be deleted: Write adds the deletion to a logged batch, which need not be synced, before Truncated is
// called.
type Truncation struct {
	g    *Group
	from uint64
	to   truncated
}

// Flushed returns the index up to which a region's entries are applied in tables, 0 if that is unknown. It reads from the disk.
func Flushed(disk Disk, region kvapi.RegionID) (index uint64, err error) {
	b, found, err := disk.Flushed(recordKey(region, recordApply))
	if err != nil || !found {
		return 0, err
	}
	s, err := decodeApplyState(b)
	return s.index, err
}

// Truncate returns the part of the log that can be deleted: up to the index flushed, of Flushed (L2), and that the other peers have. At
// most keep entries are kept for those; peers that are further behind get a snapshot. It returns nil if fewer than least entries can be deleted.
func (g *Group) Truncate(flushed, least, keep uint64) (*Truncation, error) {
	to := g.truncatable(flushed, keep)
	if to < g.log.trunc.index+max(least, 1) {
		return nil, nil
	}
	term, err := g.log.Term(to)
	if err != nil {
		return nil, err
	}
	return &Truncation{g: g, from: g.log.trunc.index + 1, to: truncated{to, term}}, nil
}

// truncatable returns the index up to which Truncate may delete.
func (g *Group) truncatable(flushed, keep uint64) uint64 {
	to := min(flushed, g.applied.index)
	bound := to // up to here entries are not kept for others
	if keep < to {
		bound -= keep
	} else {
		bound = 0
	}
	switch {
	case g.sole() && len(g.region.Peers) == 1:
	case g.led == 0:
		to = min(to, bound) // only the leader knows what others need, and this replica may be the next leader
	default:
		g.node.WithProgress(func(id uint64, _ raft.ProgressType, pr tracker.Progress) {
			if id == g.peer {
				return
			}
			has := pr.Match
			if pr.State == tracker.StateSnapshot {
				has = max(has, pr.PendingSnapshot)
			}
			to = min(to, max(has, bound))
		})
	}
	return to
}

// Write adds t to a logged batch.
func (t *Truncation) Write(b Records) {
	id := t.g.region.ID
	b.Set(recordKey(id, recordTruncated), t.to.encode())
	b.DeleteRange(entryKey(id, t.from), entryKey(id, t.to.index+1))
}

// Truncated reports that t is in the log.
func (g *Group) Truncated(t *Truncation) { g.log.truncate(t.to) }
