package replica

import (
	"errors"
	"fmt"
	"reflect"
	"testing"

	"go.etcd.io/raft/v3/raftpb"
	"google.golang.org/protobuf/proto"

	"github.com/pandodb/pando/kvapi"
)

func voter(id uint64) kvapi.Peer   { return kvapi.Peer{ID: id, Store: id + 100} }
func learner(id uint64) kvapi.Peer { return kvapi.Peer{ID: id, Store: id + 100, Learner: true} }

// TestPeers holds what changes of members are taken, what raft is told, and what the descriptor says during and after.
func TestPeers(t *testing.T) {
	for _, c := range []struct {
		name     string
		from, to []kvapi.Peer
		refused  bool
		joint    string // raft's configuration while the change is under way: incoming, outgoing, learners, learners next
	}{
		{name: "a learner comes", from: []kvapi.Peer{voter(1)}, to: []kvapi.Peer{voter(1), learner(2)}},
		{name: "a learner goes", from: []kvapi.Peer{voter(1), learner(2)}, to: []kvapi.Peer{voter(1)}},
		{name: "a learner gets a vote", from: []kvapi.Peer{voter(1), learner(2)}, to: []kvapi.Peer{voter(1), voter(2)}},
		{name: "a vote is lost", from: []kvapi.Peer{voter(1), voter(2)}, to: []kvapi.Peer{voter(1), learner(2)}},
		{name: "two get votes", from: []kvapi.Peer{voter(1), learner(2), learner(3)}, to: []kvapi.Peer{voter(1), voter(2), voter(3)}, joint: "[1 2 3] [1] [] []"},
		{name: "one for another", from: []kvapi.Peer{voter(1), voter(2), voter(3), learner(4)}, to: []kvapi.Peer{voter(1), voter(2), voter(4)}, joint: "[1 2 4] [1 2 3] [] []"},
		{name: "votes change places", from: []kvapi.Peer{voter(1), voter(2), learner(3)}, to: []kvapi.Peer{voter(1), learner(2), voter(3)}, joint: "[1 3] [1 2] [] [2]"},
		{name: "a learner comes beside", from: []kvapi.Peer{voter(1), voter(2)}, to: []kvapi.Peer{voter(1), learner(3)}, joint: "[1] [1 2] [3] []"},
		{name: "nothing", from: []kvapi.Peer{voter(1)}, to: []kvapi.Peer{voter(1)}, refused: true},
		{name: "a new voter", from: []kvapi.Peer{voter(1)}, to: []kvapi.Peer{voter(1), voter(2)}, refused: true},
		{name: "no voter", from: []kvapi.Peer{voter(1), learner(2)}, to: []kvapi.Peer{learner(2)}, refused: true},
		{name: "two learners", from: []kvapi.Peer{voter(1)}, to: []kvapi.Peer{voter(1), learner(2), learner(3)}, refused: true},
		{name: "without an id", from: []kvapi.Peer{voter(1)}, to: []kvapi.Peer{voter(1), {Store: 5, Learner: true}}, refused: true},
		{name: "two on a store", from: []kvapi.Peer{voter(1)}, to: []kvapi.Peer{voter(1), {ID: 9, Store: 101, Learner: true}}, refused: true},
		{name: "on another store", from: []kvapi.Peer{voter(1), learner(2)}, to: []kvapi.Peer{voter(1), {ID: 2, Store: 7, Learner: true}}, refused: true},
		{name: "while another is under way", from: []kvapi.Peer{voter(1), {ID: 2, Store: 102, Joint: kvapi.JointIncoming}}, to: []kvapi.Peer{voter(1)}, refused: true},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := &kvapi.Region{ID: 7, Mode: kvapi.ModeRaft, Epoch: kvapi.Epoch{Version: 3, ConfVer: 5}, Peers: c.from}
			err := CheckPeers(r, c.to)
			if c.refused {
				if !errors.Is(err, ErrPeers) {
					t.Fatalf("it is taken: %v", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			change, err := encodeChange(r, c.to)
			if err != nil {
				t.Fatal(err)
			}
			content, err := proto.Marshal(change)
			if err != nil {
				t.Fatal(err)
			}
			during := apply(t, r, content)
			if (c.joint != "") != during.Joint() {
				t.Fatalf("under way it is %+v", during.Peers)
			}
			if s := confState(during); c.joint != "" && fmt.Sprint(s.Voters, s.VotersOutgoing, s.Learners, s.LearnersNext) != c.joint {
				t.Errorf("raft has %v, want %s", s, c.joint)
			}
			stale := *r
			stale.Epoch.ConfVer++
			if next, _, err := decodeChange(&stale, content); err != nil || next != nil {
				t.Errorf("at another epoch it becomes %+v: %v", next, err)
			}
			after := during
			if during.Joint() {
				after = apply(t, during, nil)
			}
			if !reflect.DeepEqual(after.Peers, c.to) {
				t.Errorf("afterwards it is %+v, want %+v", after.Peers, c.to)
			}
			if next, _, err := decodeChange(after, nil); err != nil || next != nil {
				t.Errorf("the end of a joint change that there is not changes something: %+v, %v", next, err)
			}
		})
	}
}

// apply applies an entry, and takes the descriptor through its record.
func apply(t *testing.T, r *kvapi.Region, content []byte) *kvapi.Region {
	t.Helper()
	next, change, err := decodeChange(r, content)
	if err != nil || next == nil || change == nil || next.Epoch.ConfVer != r.Epoch.ConfVer+1 {
		t.Fatalf("%+v becomes %+v: %v", r, next, err)
	}
	read, err := DecodeRegion(AppendRegion(nil, next))
	if err != nil || !reflect.DeepEqual(read.Peers, next.Peers) {
		t.Fatalf("%+v is read as %+v: %v", next, read, err)
	}
	return read
}

// TestJudge: who was removed is told, tells itself, and makes way for a newer peer of its store.
func TestJudge(t *testing.T) {
	region := &kvapi.Region{ID: 7, Mode: kvapi.ModeRaft, Epoch: kvapi.Epoch{Version: 3, ConfVer: 5}, Peers: []kvapi.Peer{voter(10), voter(11), voter(14)}}
	g := &Group{region: region, peer: 11}
	message := func(kind raftpb.MessageType, from, to uint64) Message {
		return Message{m: &raftpb.Message{Type: kind.Enum(), From: &from, To: &to}}
	}
	gone := func(to uint64, conf uint32) Message {
		return Message{m: &raftpb.Message{From: new(uint64(10)), To: &to}, gone: conf}
	}
	for i, c := range []struct {
		m    Message
		want Judgement
	}{
		{message(raftpb.MsgApp, 10, 11), JudgeStep},
		{message(raftpb.MsgVote, 10, 11), JudgeStep},
		{message(raftpb.MsgPreVote, 12, 11), JudgeGone},
		{message(raftpb.MsgVote, 15, 11), JudgeStep}, // newer than all that is applied here
		{message(raftpb.MsgApp, 12, 11), JudgeStep},  // raft knows by the term whether it leads
		{message(raftpb.MsgHeartbeat, 10, 17), JudgeLeave},
		{message(raftpb.MsgVote, 10, 17), JudgeDrop},
		{message(raftpb.MsgApp, 10, 9), JudgeDrop},
		{gone(11, 6), JudgeLeave},
		{gone(11, 5), JudgeDrop},
		{gone(17, 6), JudgeDrop},
	} {
		b, ok := c.m.Append(nil)
		if !ok {
			t.Fatalf("%d is not sent", i)
		}
		read, err := DecodeMessage(b)
		if err != nil {
			t.Fatal(err)
		}
		if got := g.Judge(read); got != c.want {
			t.Errorf("%d: judged %d, want %d", i, got, c.want)
		}
	}
}

// TestTombstone: a snapshot for a peer that was removed is refused, and would be taken otherwise; so is one that does not fit beside the
// regions that are here.
func TestTombstone(t *testing.T) {
	s := &Set{o: Options{Store: 103}, tombstones: map[kvapi.RegionID]uint64{7: 3}, arriving: map[kvapi.RegionID]*kvapi.Region{}}
	here := &kvapi.Region{ID: 8, Mode: kvapi.ModeRaft, Start: []byte("m"), End: []byte("p"), Peers: []kvapi.Peer{{ID: 20, Store: 103}}}
	s.members.Store(&map[kvapi.RegionID]*member{8: {s: s, core: &Group{region: here, peer: 20}}})
	snapshot := func(id, to uint64, start, end string) *incoming {
		r := &kvapi.Region{ID: kvapi.RegionID(id), Mode: kvapi.ModeRaft, Start: []byte(start), End: []byte(end), Peers: []kvapi.Peer{voter(1), {ID: to, Store: 103}}}
		return &incoming{snapshotHead: snapshotHead{from: 1, to: to, term: 6, region: r, state: applyState{index: 9, term: 6}}}
	}
	for _, c := range []struct {
		name       string
		id, to     uint64
		start, end string
		taken      bool
	}{
		{"removed", 7, 3, "a", "c", false},
		{"newer", 7, 4, "a", "c", true},
		{"of before", 7, 2, "a", "c", false},
		{"over a region that is here", 9, 4, "k", "n", false},
		{"around one", 9, 4, "a", "", false},
		{"beside it", 9, 4, "p", "", true},
		{"where another arrives", 12, 5, "b", "d", false},
		{"a second of a region", 9, 4, "p", "", false},
	} {
		if _, err := s.reserve(snapshot(c.id, c.to, c.start, c.end)); (err == nil) != c.taken {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}
