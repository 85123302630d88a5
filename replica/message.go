package replica

import (
	"errors"
	"fmt"
	"log/slog"
	"strings"

	"go.etcd.io/raft/v3/raftpb"

	"github.com/pandodb/pando/internal/assert"
	"github.com/pandodb/pando/internal/codec"
	"github.com/pandodb/pando/kvapi"
)

// messageVersion begins each message.
const messageVersion = 1

// kindGone is the kind of the message that says that its receiver is no longer a member.
const kindGone = 255

// ErrMessage is wrapped by every error about the bytes of a message.
var ErrMessage = errors.New("replica: malformed message")

// Message is a message between the replicas of a region.
type Message struct {
	m *raftpb.Message
	// gone, if not 0, says that this is not a message of raft: its receiver is no longer a member, as of this conf version.
	gone uint32
}

// From and To return the peers.
func (m Message) From() uint64 { return m.m.GetFrom() }

// To returns the peer that it is for.
func (m Message) To() uint64 { return m.m.GetTo() }

// String describes it for a trace.
func (m Message) String() string {
	r := m.m
	return fmt.Sprintf("%v %d>%d term %d log %d/%d commit %d reject %t entries %d", r.GetType(), r.GetFrom(), r.GetTo(), r.GetTerm(),
		r.GetLogTerm(), r.GetIndex(), r.GetCommit(), r.GetReject(), len(r.GetEntries()))
}

// ErrForgotten: this replica has acknowledged entries that its log lacks.
var ErrForgotten = errors.New("its log lacks entries that it had: its directory is an older copy, or its disk has lost what it was to keep; empty the directory and join under a new number")

// Step passes a message that has arrived to raft. Its only error is ErrForgotten, after which the group must not be used any more.
func (g *Group) Step(m Message) (err error) {
	assert.That(m.gone == 0, "replica: only raft's messages are stepped")
	if kind := m.m.GetType(); kind == raftpb.MsgHeartbeat || kind == raftpb.MsgApp {
		// Raft panics if a message says that entries are committed which its log lacks. A leader says that only to peers that have acknowledged them.
		defer func() {
			switch fault := recover().(type) {
			case nil:
			case lostEntries:
				err = fmt.Errorf("region %d: %w (%s)", g.region.ID, ErrForgotten, string(fault))
			default:
				panic(fault)
			}
		}()
	}
	// It returns an error if it ignores the message, which senders are not told.
	_ = g.node.Step(m.m)
	return nil
}

// lostEntries is the panic of raftLogger for missing entries of the log.
type lostEntries string

// lostEntriesPrefix is the beginning of raft's text of that panic.
const lostEntriesPrefix = "tocommit("

// messageTypes are raft's types of messages that are sent between nodes; snapshots are separate streams.
var messageTypes = [...]raftpb.MessageType{
	raftpb.MsgApp, raftpb.MsgAppResp, raftpb.MsgVote, raftpb.MsgVoteResp, raftpb.MsgPreVote, raftpb.MsgPreVoteResp,
	raftpb.MsgHeartbeat, raftpb.MsgHeartbeatResp, raftpb.MsgTimeoutNow, raftpb.MsgReadIndex, raftpb.MsgReadIndexResp, raftpb.MsgTransferLeader,
}

// Append appends the encoding of m; doc.go has the format. ok is false for a message that cannot be sent.
func (m Message) Append(b []byte) (out []byte, ok bool) {
	r := m.m
	if m.gone != 0 {
		b = codec.AppendUint(codec.AppendUint(append(b, messageVersion, kindGone), r.GetTo()), r.GetFrom())
		return codec.AppendUint(b, m.gone), true
	}
	kind := -1
	for i, t := range messageTypes {
		if t == r.GetType() {
			kind = i
		}
	}
	if kind < 0 {
		return b, false
	}
	b = append(b, messageVersion, byte(kind))
	for _, n := range [...]uint64{r.GetTo(), r.GetFrom(), r.GetTerm(), r.GetLogTerm(), r.GetIndex(), r.GetCommit(), r.GetVote(), r.GetRejectHint()} {
		b = codec.AppendUint(b, n)
	}
	b = codec.AppendBytes(codec.AppendBool(b, r.GetReject()), r.GetContext())
	b = codec.AppendUint(b, len(r.GetEntries()))
	for _, e := range r.GetEntries() {
		b = codec.AppendBytes(codec.AppendUint(append(b, byte(e.GetType())), e.GetTerm()), e.GetData())
	}
	return b, true
}

// DecodeMessage reads a message, which takes all of b. What it holds aliases b.
func DecodeMessage(b []byte) (Message, error) {
	d := codec.NewDecoder(b)
	if v := d.Byte(255); d.Err() == nil && v != messageVersion {
		return Message{}, fmt.Errorf("%w: version %d, this program knows %d", ErrMessage, v, messageVersion)
	}
	kind := d.Byte(kindGone)
	if kind == kindGone && d.Err() == nil {
		r := &raftpb.Message{Type: raftpb.MsgHup.Enum(), To: new(d.Uint()), From: new(d.Uint())}
		m := Message{m: r, gone: d.Uint32()}
		if err := d.End(); err != nil || m.gone == 0 {
			return Message{}, fmt.Errorf("%w: that a peer is gone: %w", ErrMessage, errors.Join(err, ErrMessage))
		}
		return m, nil
	}
	if int(kind) >= len(messageTypes) {
		return Message{}, fmt.Errorf("%w: a message of kind %d", ErrMessage, kind)
	}
	r := &raftpb.Message{Type: messageTypes[kind].Enum()}
	for _, n := range [...]**uint64{&r.To, &r.From, &r.Term, &r.LogTerm, &r.Index, &r.Commit, &r.Vote, &r.RejectHint} {
		*n = new(d.Uint())
	}
	r.Reject = new(d.Bool())
	if c := d.Bytes(); len(c) > 0 {
		r.Context = c
	}
	for range d.Count(3) {
		e := &raftpb.Entry{Type: raftpb.EntryType(d.Byte(byte(raftpb.EntryConfChangeV2))).Enum(), Term: new(d.Uint())}
		if c := d.Bytes(); len(c) > 0 {
			e.Data = c
		}
		e.Index = new(r.GetIndex() + uint64(len(r.Entries)) + 1)
		r.Entries = append(r.Entries, e)
	}
	if err := d.End(); err != nil {
		return Message{}, fmt.Errorf("%w: %w", ErrMessage, err)
	}
	return Message{m: r}, nil
}

// raftLogger logs raft's own messages at the debug level: elections are logged by Set.
type raftLogger struct {
	l      *slog.Logger
	region kvapi.RegionID
}

func (r raftLogger) log(text string) { r.l.Debug("raft", "region", r.region, "text", text) }

func (r raftLogger) Debug(v ...any)                   { r.log(fmt.Sprint(v...)) }
func (r raftLogger) Debugf(format string, v ...any)   { r.log(fmt.Sprintf(format, v...)) }
func (r raftLogger) Error(v ...any)                   { r.log(fmt.Sprint(v...)) }
func (r raftLogger) Errorf(format string, v ...any)   { r.log(fmt.Sprintf(format, v...)) }
func (r raftLogger) Info(v ...any)                    { r.log(fmt.Sprint(v...)) }
func (r raftLogger) Infof(format string, v ...any)    { r.log(fmt.Sprintf(format, v...)) }
func (r raftLogger) Warning(v ...any)                 { r.log(fmt.Sprint(v...)) }
func (r raftLogger) Warningf(format string, v ...any) { r.log(fmt.Sprintf(format, v...)) }
func (r raftLogger) Fatal(v ...any)                   { panic(fmt.Sprint(v...)) }
func (r raftLogger) Fatalf(format string, v ...any)   { panic(fmt.Sprintf(format, v...)) }
func (r raftLogger) Panic(v ...any)                   { panic(fmt.Sprint(v...)) }
func (r raftLogger) Panicf(format string, v ...any) {
	text := fmt.Sprintf(format, v...)
	if strings.HasPrefix(text, lostEntriesPrefix) {
		panic(lostEntries(text))
	}
	panic(text)
}
