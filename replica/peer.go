package replica

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"time"

	"go.etcd.io/raft/v3/raftpb"

	"github.com/pandodb/pando/clock"
	"github.com/pandodb/pando/kvapi"
)

const (
	// TickInterval is raft's unit of time: leaders send heartbeats every second tick, and a replica that gets none for ten to twenty stands for
	// election.
	TickInterval = 100 * time.Millisecond
	// strangerWait is how long messages for a region that is not here are not answered: a split may be about to create it.
	strangerWait = 5 * TickInterval
	// strangersMax bounds Set.strangers. If it is reached, those first seen longer than strangersKept ago are forgotten; if there are still messages
	// for one, it is added again.
	strangersMax  = 4096
	strangersKept = 100 * TickInterval
	// learnedMax bounds the peers whose store is known only from their messages. If it is reached all are forgotten, and learned again.
	learnedMax = 1 << 16
)

// errNotNow refuses a change of members for the moment; nothing happened.
var errNotNow = fmt.Errorf("%w: another change is not applied yet; ask again", ErrPeers)

// errLostLead ends a Confirm on a replica that does not lead any more.
var errLostLead = errors.New("replica: the region is led elsewhere")

// Transport sends messages to the Sets of other stores.
type Transport interface {
	// Send sends a message about a region to a store. It never blocks, and may drop the message. It takes ownership of the bytes.
	Send(to uint64, region kvapi.RegionID, message []byte)
	// Snapshot begins to send a region's state to a store. Close of the writer returns nil once the other store has installed it.
	Snapshot(ctx context.Context, to uint64, region kvapi.RegionID) (io.WriteCloser, error)
}

// stranger is a replica that gets messages but is not here: its region has not been split off here yet, or needs a snapshot. It has no state
// and no vote; it answers a leader just enough to be sent a snapshot.
type stranger struct {
	peer  uint64
	since time.Duration // clock.Mono of its first message
}

// Receive takes a message of another store. It returns an error for malformed ones.
func (s *Set) Receive(from uint64, region kvapi.RegionID, message []byte) error {
	msg, err := DecodeMessage(message)
	if err != nil {
		return err
	}
	if !s.ready.Load() || s.closing.Load() {
		return nil
	}
	m := (*s.members.Load())[region]
	if m == nil {
		s.answerFor(from, region, msg)
		return nil
	}
	s.learn(msg.From(), from)
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.stopped || m.heard > s.o.Limits.HeardBytes {
		return nil
	}
	switch m.core.Judge(msg) {
	case JudgeDrop:
	case JudgeLeave:
		m.leave()
	case JudgeGone:
		m.send([]Message{m.core.GoneAnswer(msg)})
	default:
		m.heard += len(message)
		if err := m.core.Step(msg); err != nil {
			m.halt()
			m.s.fail(err)
			return nil
		}
		m.wake()
	}
	return nil
}

// Judgement is what is to be done with a message.
type Judgement uint8

// The judgements.
const (
	JudgeStep  Judgement = iota // pass it to Step
	JudgeDrop                   // ignore it
	JudgeLeave                  // this replica was removed, and destroys itself
	JudgeGone                   // the sender was removed; GoneAnswer tells it
)

// Judge decides what is to be done with a message.
func (g *Group) Judge(m Message) Judgement {
	kind := m.m.GetType()
	switch to := m.To(); {
	case to > g.peer:
		// This store has a newer replica by now, so this one was removed.
		if m.gone == 0 && (kind == raftpb.MsgApp || kind == raftpb.MsgHeartbeat) {
			return JudgeLeave
		}
		return JudgeDrop
	case to < g.peer:
		return JudgeDrop
	case m.gone != 0:
		if m.gone > g.region.Epoch.ConfVer {
			return JudgeLeave
		}
		return JudgeDrop
	case kind != raftpb.MsgVote && kind != raftpb.MsgPreVote:
		return JudgeStep
	}
	// A peer that asks for votes and is not a member was removed, unless it is newer than all members that this replica knows.
	newest := uint64(0)
	for _, p := range g.region.Peers {
		if p.ID == m.From() {
			return JudgeStep
		}
		newest = max(newest, p.ID)
	}
	if m.From() < newest {
		return JudgeGone
	}
	return JudgeStep
}

// GoneAnswer tells the sender of a message that it is no longer a member.
func (g *Group) GoneAnswer(m Message) Message {
	return Message{m: &raftpb.Message{To: new(m.From()), From: new(g.peer)}, gone: g.region.Epoch.ConfVer}
}

// StrangerAnswer is the answer of a peer without state, which makes a leader send a snapshot. It acknowledges nothing.
func StrangerAnswer(m Message) (answer Message, ok bool) {
	if m.gone != 0 {
		return answer, false
	}
	r := &raftpb.Message{To: new(m.From()), From: new(m.To()), Term: new(m.m.GetTerm())}
	switch m.m.GetType() {
	case raftpb.MsgHeartbeat:
		r.Type = raftpb.MsgHeartbeatResp.Enum() // without the context of a ReadIndex: it is no confirmation
	case raftpb.MsgApp:
		r.Type, r.Reject = raftpb.MsgAppResp.Enum(), new(true)
		r.Index, r.RejectHint, r.LogTerm = new(m.m.GetIndex()), new(uint64(0)), new(uint64(0))
	default:
		return answer, false
	}
	return Message{m: r}, true
}

// leave starts a goroutine that removes the replica, unless there is a driver. The caller holds mu.
func (m *member) leave() {
	if m.driven || !m.s.enterDriver() {
		return // the next message leads here again
	}
	m.driven = true
	go func() {
		defer m.s.drivers.Done()
		m.mu.Lock()
		defer m.mu.Unlock()
		if err := m.remove(); err != nil {
			m.stop(err)
		}
		m.driveNoMore()
	}()
}

// answerFor answers for a replica that is not here.
func (s *Set) answerFor(from uint64, region kvapi.RegionID, msg Message) {
	answer, ok := StrangerAnswer(msg)
	if !ok {
		return
	}
	s.mu.Lock()
	if msg.To() <= s.tombstones[region] {
		s.mu.Unlock()
		return
	}
	st, known := s.strangers[region]
	if !known || st.peer < msg.To() {
		if !known && len(s.strangers) >= strangersMax {
			maps.DeleteFunc(s.strangers, func(_ kvapi.RegionID, old stranger) bool { return clock.Since(old.since) >= strangersKept })
			if len(s.strangers) >= strangersMax {
				s.mu.Unlock()
				return
			}
		}
		st = stranger{peer: msg.To(), since: clock.Mono()}
		s.strangers[region] = st
	}
	s.mu.Unlock()
	if st.peer != msg.To() || clock.Since(st.since) < strangerWait {
		return
	}
	if b, ok := answer.Append(nil); ok && s.o.Transport != nil {
		s.o.Transport.Send(from, region, b)
	}
}

// learn notes which store a peer is on, for answers to peers that are not in the region's descriptor.
func (s *Set) learn(peer, store uint64) {
	if known, _ := s.learned.Load(peer); known == store {
		return
	}
	if s.learnedCount.Load() >= learnedMax {
		s.learned.Clear()
		s.learnedCount.Store(0)
	}
	if _, had := s.learned.Swap(peer, store); !had {
		s.learnedCount.Add(1)
	}
}

// send passes messages of a replica to the transport.
func (s *Set) send(region *kvapi.Region, from uint64, messages []Message) {
	if s.o.Transport == nil {
		return
	}
	for _, msg := range messages {
		to := uint64(0)
		for _, p := range region.Peers {
			if p.ID == msg.To() {
				to = p.Store
			}
		}
		if to == 0 {
			known, _ := s.learned.Load(msg.To())
			to, _ = known.(uint64)
		}
		if to == 0 || to == s.o.Store {
			continue
		}
		if b, ok := msg.Append(nil); ok {
			s.Stats.Sent.Inc()
			s.o.Transport.Send(to, region.ID, b)
		}
	}
}

// ticker is the goroutine that ticks all groups with more than one replica, and those that are not led here.
func (s *Set) ticker() {
	ticker := clock.NewTicker(TickInterval)
	defer ticker.Stop()
	for {
		select {
		case <-s.stop:
			return
		case <-ticker.C:
		}
		if !s.ready.Load() {
			continue
		}
		for _, m := range *s.members.Load() {
			m.mu.Lock()
			if !m.stopped && (len(m.core.region.Peers) > 1 || m.core.led == 0) {
				m.core.Tick()
				m.wake()
			}
			m.mu.Unlock()
		}
	}
}

// Confirm returns the term in which a region is led here, once a majority has confirmed that it still followed this leader after Confirm was
// called.
func (s *Set) Confirm(ctx context.Context, region kvapi.RegionID) (term uint64, err error) {
	m := (*s.members.Load())[region]
	if m == nil {
		return 0, errLostLead
	}
	m.mu.Lock()
	term, leads := m.core.Leads()
	if !leads || m.stopped {
		m.mu.Unlock()
		return 0, errLostLead
	}
	m.lastRead++
	id, done := m.lastRead, make(chan error, 1)
	if m.reads == nil {
		m.reads = map[uint64]chan error{}
	}
	m.reads[id] = done
	m.core.ReadIndex(id)
	m.wake()
	m.mu.Unlock()
	select {
	case err := <-done:
		return term, err
	case <-ctx.Done():
		m.mu.Lock()
		delete(m.reads, id)
		m.mu.Unlock()
		return 0, ctx.Err()
	}
}

// answerRead ends a waiting Confirm. The caller holds mu.
func (m *member) answerRead(id uint64, err error) {
	if done := m.reads[id]; done != nil {
		delete(m.reads, id)
		done <- err
	}
}

// failReads ends all waiting Confirms with errLostLead. The caller holds mu.
func (m *member) failReads() {
	for id := range m.reads {
		m.answerRead(id, errLostLead)
	}
}

// Lead tries to make this store the leader of a region: it asks the leader to hand over, or stands for election if there is none. It returns at
// once, and reports whether the region is led here already.
func (s *Set) Lead(region kvapi.RegionID) (led bool) {
	m := (*s.members.Load())[region]
	if m == nil {
		return false
	}
	if _, led := m.Term(); led {
		return true
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.stopped || m.core.led != 0 {
		return false // it leads, but has not applied all entries of earlier terms yet
	}
	if lead := m.core.lead; lead != 0 && lead != m.core.peer {
		m.core.Transfer(m.core.peer)
	} else if lead == 0 {
		_ = m.core.Campaign()
	}
	m.wake()
	return false
}

// Transfer hands the lead of a region, if it is led here, to the replica of a store.
func (s *Set) Transfer(region kvapi.RegionID, to uint64) error {
	m := (*s.members.Load())[region]
	if m == nil {
		return errLostLead
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	p, there := m.core.region.On(to)
	if m.core.led == 0 || m.stopped {
		return errLostLead
	}
	if !there || p.Learner {
		return fmt.Errorf("%w: store %d has no voter of region %d", ErrPeers, to, region)
	}
	m.core.Transfer(p.ID)
	m.wake()
	return nil
}

// Leadership is who leads a region, as far as its replica here knows.
type Leadership struct {
	Term, Peer, Store uint64 // of the leader, 0 if it is not known
	// Led: it is led here, and all entries of earlier terms are applied. Since is clock.Boot when it was found to have been elected.
	Led   bool
	Since time.Duration
}

// Leadership returns who leads a region.
func (s *Set) Leadership(region kvapi.RegionID) (l Leadership) {
	m := (*s.members.Load())[region]
	if m == nil {
		return l
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.leadership()
}

func (m *member) leadership() (l Leadership) {
	l.Term, l.Peer = m.core.Term(), m.core.lead
	if term, led := m.core.Leads(); led {
		l.Term, l.Peer, l.Led, l.Since = term, m.core.peer, true, m.elected
	}
	for _, p := range m.core.region.Peers {
		if p.ID == l.Peer {
			l.Store = p.Store
		}
	}
	return l
}

// leaderChanged logs an election and calls Options.LeaderChanged. The caller holds a member's mu.
func (s *Set) leaderChanged(region *kvapi.Region, before, now leadership, own uint64) {
	if len(region.Peers) > 1 {
		reason := "another replica was elected"
		switch {
		case now.peer == own:
			reason = "this replica was elected"
		case now.peer == 0 && before.peer == own:
			reason = "this replica does not lead any more"
		case now.peer == 0:
			reason = "nothing was heard of the leader, or an election began"
		}
		s.o.Logger.Info("leader of a region", "region", uint64(region.ID), "term", now.term, "peer", now.peer, "reason", reason)
	}
	if s.o.LeaderChanged != nil {
		s.o.LeaderChanged(region.ID)
	}
}

// membersChanged counts and logs a change of members that was applied.
func (s *Set) membersChanged(at Position, region *kvapi.Region) {
	s.Stats.MemberChanges.Inc()
	s.o.Logger.Info("members of a region have changed", "region", uint64(region.ID), "term", at.Term, "index", at.Index,
		"conf", region.Epoch.ConfVer, "joint", region.Joint(), "peers", fmt.Sprint(region.Peers))
}
