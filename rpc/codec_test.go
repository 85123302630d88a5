package rpc

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"testing"

	"github.com/pandodb/pando/clock"
	"github.com/pandodb/pando/internal/codec"
	"github.com/pandodb/pando/kvapi"
)

// samples has each kind of message, with every field at something else than zero, and at zero.
func samples() []Message {
	region := kvapi.RegionRef{ID: 300, Epoch: kvapi.Epoch{Version: 2, ConfVer: 1 << 31}}
	txn := TxnID{Node: 1 << 40, NodeEpoch: 3, Number: 99}
	key, none := []byte("key"), []byte{}
	span := kvapi.Span{Start: []byte("a"), End: []byte("b")}
	full := []Message{
		&Get{Region: region, Key: key, TS: 1 << 50, Values: true, Program: []byte("later")},
		&Scan{Regions: []kvapi.RegionRef{region, {}}, Span: span, Reverse: true, WithTS: true, LimitRows: 10, LimitBytes: 1 << 20, TS: clock.MaxTimestamp, Program: key},
		&Lock{Txn: txn, Region: region, Key: key, Mode: kvapi.LockExclusive, Wait: kvapi.WaitSkip, Tag: 7, Timeout: 1e9, Values: true, Delete: true, Create: true, Program: key},
		&LockRange{Txn: txn, Regions: []kvapi.RegionRef{region}, Span: span, Range: kvapi.RangeWhole, Reverse: true, Mark: 1 << 40},
		&KeepRange{Txn: txn, Span: span},
		&RevertRanges{Txn: txn, Mark: 1 << 40},
		&Intend{Txn: txn, Region: region, Key: key, Tag: 7, Timeout: 1e9},
		&Ranged{Result: kvapi.RangeLockResult{TS: 5, Blocker: key}},
		&Unlock{Txn: txn, Key: key, Tag: 1<<32 - 1},
		&Release{Txn: txn},
		&Commit{Txn: txn, Regions: []kvapi.RegionRef{region}, Relaxed: true, Start: 5, Timeout: 1e9,
			Mutations: []kvapi.Mutation{
				{Key: key, Value: []byte("row"), Shadow: kvapi.ShadowAt, Prev: 4, PrevLen: 1<<31 - 1},
				{Key: []byte("k2"), Value: none, Kind: kvapi.MutationDelete, Shadow: kvapi.ShadowNone},
			},
			Counters: []kvapi.CounterRaise{{Key: key, Value: 1<<64 - 1}}},
		&Counter{Region: region, Key: key},
		&AllocCounter{Region: region, Key: key, Least: 1, N: 1<<64 - 1},
		&DropCounters{Region: region, Span: span},
		&DropSpan{Region: region, Span: kvapi.Span{Start: key, End: none}, TS: 8},
		&Timestamp{},
		&WaitDurable{TS: 9},
		&Rows{Pairs: []Pair{{Key: key, Value: []byte("row"), TS: 3}, {Key: none, Value: none}}, Resume: none},
		&Locked{Result: kvapi.LockResult{Acquired: true, Waited: true, Version: kvapi.Version{TS: 6, Found: true, Len: 3}, Unsynced: 6}, Value: []byte("row")},
		&Number{N: 1<<64 - 1},
		&Done{Yes: true},
		&Fault{Code: CodeDeadlock, Waited: true, Text: "why"},
		&Fault{Code: CodeLocked, Lock: kvapi.LockInfo{Key: key, Primary: []byte("p"), Start: 4, Least: 6, TTL: 3000, Node: 2, NodeEpoch: 3, Async: true}},
		&Prewrite{kvapi.PrewriteRequest{Region: region, Start: 4, Primary: key, OnePhase: true, Async: true, MaxCommit: 1 << 60,
			Mutations: []kvapi.Mutation{{Key: key, Value: []byte("row"), Expect: kvapi.ExpectVersion, Prev: 3},
				{Key: []byte("k2"), Value: none, Kind: kvapi.MutationDelete, Expect: kvapi.ExpectNotAbove, Prev: 9}},
			Checks:   []kvapi.Check{{Span: kvapi.Span{Start: key}, Seen: 2, Live: true}, {Span: span, Seen: 3, Kind: kvapi.RangeWhole}},
			Counters: []kvapi.CounterRaise{{Key: key, Value: 7}}, Secondaries: [][]byte{[]byte("k2")},
			Coordinator: kvapi.Coordinator{TTL: 3000, Node: 1, NodeEpoch: 2}}},
		&Finish{kvapi.FinishRequest{Region: region, Start: 4, Primary: key, Keys: [][]byte{key, []byte("k2")}, Commit: 9}},
		&Status{kvapi.StatusRequest{Region: region, Start: 4, Primary: key, Now: 1 << 50, Dead: true, Missing: true}},
		&Secondaries{kvapi.SecondariesRequest{Region: region, Start: 4, Keys: [][]byte{key}}},
		&Check{kvapi.CheckRequest{Region: region, Start: 4, At: 9, Checks: []kvapi.Check{{Span: span, Seen: 3}}}},
		&Heartbeat{kvapi.HeartbeatRequest{Region: region, Start: 4, Primary: key, TTL: 6000}},
		&Prewritten{kvapi.PrewriteResult{Least: 7, Commit: 8}},
		&Finished{kvapi.FinishResult{Commit: 8}},
		&StatusFound{kvapi.Status{State: kvapi.TxnOrphaned, Commit: 1, Least: 7, Secondaries: [][]byte{key}}},
		&SecondariesFound{kvapi.Secondaries{Commit: 8, RolledBack: true, Least: 7}},
	}
	all := full
	for _, m := range full {
		empty := newMessage(m.Kind())
		d := decoder{codec.NewDecoder(bytes.Repeat([]byte{0}, 64))} // zero in all fields
		empty.readFrom(&d)
		all = append(all, empty)
	}
	return all
}

// TestCodec: what is decoded is what was encoded; what is cut off or has more behind it is refused.
func TestCodec(t *testing.T) {
	kinds := map[Kind]bool{}
	for _, m := range samples() {
		kinds[m.Kind()] = true
		b := Append(nil, m)
		got, err := Decode(b)
		if err != nil || !reflect.DeepEqual(got, m) {
			t.Errorf("%T: %+v became %+v, %v", m, m, got, err)
		}
		for n := range len(b) {
			if got, err := Decode(b[:n]); err == nil {
				t.Errorf("%T: %d bytes of %d are %+v", m, n, len(b), got)
			} else if !errors.Is(err, ErrMessage) {
				t.Error(err)
			}
		}
		if _, err := Decode(append(b, 0)); !errors.Is(err, ErrMessage) {
			t.Errorf("%T with a byte more: %v", m, err)
		}
	}
	for k := range 256 {
		if m := newMessage(Kind(k)); m != nil && (!kinds[Kind(k)] || m.Kind() != Kind(k)) {
			t.Errorf("kind %d has no sample, or another kind", k)
		}
	}
	if _, err := Decode([]byte{codecVersion + 1, byte(KindTimestamp)}); !errors.Is(err, ErrMessage) {
		t.Errorf("another version: %v", err)
	}
}

// TestCodecBytes pins the encoding: other nodes speak it.
func TestCodecBytes(t *testing.T) {
	for _, c := range []struct {
		m    Message
		want string
	}{
		{&Get{Region: kvapi.RegionRef{ID: 1, Epoch: kvapi.Epoch{Version: 2, ConfVer: 3}}, Key: []byte("k"), TS: 300, Values: true}, "01010102030" + "16bac020100"},
		{&Lock{Txn: TxnID{1, 2, 3}, Key: []byte("k"), Mode: kvapi.LockExclusive, Wait: kvapi.WaitNone, Tag: 4, Timeout: 5}, "0103010203000000016b010104050000" + "00"},
		{&Commit{Txn: TxnID{1, 2, 3}, Mutations: []kvapi.Mutation{{Key: []byte("k"), Value: []byte("v"), Shadow: kvapi.ShadowAt, Prev: 7, PrevLen: 8}}, Start: 9},
			"010601020300010002070801" + "6b017600000900"},
		{&Rows{Pairs: []Pair{{Key: []byte("k"), Value: []byte("v"), TS: 1}}}, "014001016b01760100"},
		{&Fault{Code: CodeEpoch, Text: "t"}, "01440100" + "0174"},
	} {
		if got := hex.EncodeToString(Append(nil, c.m)); got != c.want {
			t.Errorf("%T: %s, want %s", c.m, got, c.want)
		}
	}
}

// TestFault: an error is the same behind the wire for whoever asks with errors.Is.
func TestFault(t *testing.T) {
	for code, sentinel := range codeErrors {
		if sentinel == nil {
			if !slices.Contains([]Code{CodeOther, CodeLocked, CodeConflict}, Code(code)) {
				t.Errorf("code %d has no error", code)
			}
			continue
		}
		for _, err := range []error{sentinel, fmt.Errorf("where: %w", sentinel)} {
			b := Append(nil, NewFault(err, true))
			m, fail := Decode(b)
			if fail != nil {
				t.Fatal(fail)
			}
			f := m.(*Fault)
			var epoch *kvapi.EpochError
			if errors.As(err, &epoch) {
				if !errors.As(f.Err(), &epoch) {
					t.Errorf("%v became %v", err, f.Err())
				}
			} else if !errors.Is(f.Err(), sentinel) || err == sentinel && f.Err() != sentinel || !f.Waited {
				t.Errorf("%v became %v", err, f.Err())
			}
		}
	}
	for _, want := range []error{
		&kvapi.LockedError{Lock: kvapi.LockInfo{Key: []byte("k"), Primary: []byte("p"), Start: 3, Least: 5, TTL: 9, Async: true}},
		&kvapi.ConflictError{Key: []byte("k"), Newest: 7},
	} {
		m, err := Decode(Append(nil, NewFault(fmt.Errorf("where: %w", want), false)))
		if err != nil {
			t.Fatal(err)
		}
		if got := m.(*Fault).Err(); got.Error() != want.Error() || reflect.TypeOf(got) != reflect.TypeOf(want) {
			t.Errorf("%#v became %#v", want, got)
		}
	}
	if err := NewFault(errors.New("disk on fire"), false).Err(); err.Error() != "disk on fire" {
		t.Error(err)
	}
	both := fmt.Errorf("%w: %w", kvapi.ErrClosed, kvapi.ErrUndetermined)
	if f := NewFault(both, false); f.Code != CodeUndetermined {
		t.Errorf("an unknown outcome must not be lost: %+v", f)
	}
}

// FuzzDecode: no bytes panic or allocate without bound, and what decodes has exactly these bytes as its encoding.
func FuzzDecode(f *testing.F) {
	for _, m := range samples() {
		f.Add(Append(nil, m))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		m, err := Decode(b)
		if err != nil {
			return
		}
		if again := Append(nil, m); !bytes.Equal(again, b) {
			t.Errorf("%x decodes to %+v, which is %x", b, m, again)
		}
	})
}
