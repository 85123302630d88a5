package replica

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"

	"go.etcd.io/raft/v3/raftpb"

	"github.com/pandodb/pando/clock"
	"github.com/pandodb/pando/internal/codec"
	"github.com/pandodb/pando/keys"
	"github.com/pandodb/pando/kvapi"
)

// InitialIndex and InitialTerm are where the log of a region begins, which has state from before: at a promotion or a split. So a peer without
// state is behind the beginning of the log, and needs a snapshot.
const (
	InitialIndex = 5
	InitialTerm  = 5
)

// Names of a region's records, which follow r and its id; doc.go has their formats.
const (
	recordRegion    = 'm'
	recordApply     = 'a'
	recordHard      = 'h'
	recordTruncated = 't'
	recordEntry     = 'l'
	recordTombstone = 'x'
)

func recordName(id kvapi.RegionID, record byte) []byte {
	return append(binary.BigEndian.AppendUint64([]byte{'r'}, uint64(id)), record)
}

func recordKey(id kvapi.RegionID, record byte) []byte {
	return keys.LocalKey(nil, recordName(id, record))
}

// RegionKey is the engine key of a region's descriptor.
func RegionKey(id kvapi.RegionID) []byte { return recordKey(id, recordRegion) }

// RegionOf returns the region whose descriptor an engine key names; ok is false for any other key.
func RegionOf(key []byte) (id kvapi.RegionID, ok bool) {
	space, name, ok := keys.DecodeBare(key)
	if !ok || space != keys.SpaceLocal || len(name) != 10 || name[0] != 'r' || name[9] != recordRegion {
		return 0, false
	}
	return kvapi.RegionID(binary.BigEndian.Uint64(name[1:])), true
}

func entryKey(id kvapi.RegionID, index uint64) []byte {
	return keys.LocalKey(nil, binary.BigEndian.AppendUint64(recordName(id, recordEntry), index))
}

// AppendRegion builds a descriptor; doc.go has the format.
func AppendRegion(b []byte, r *kvapi.Region) []byte {
	from := len(b)
	b = binary.BigEndian.AppendUint64(b, uint64(r.ID))
	b = binary.BigEndian.AppendUint32(b, r.Epoch.Version)
	b = binary.BigEndian.AppendUint32(b, r.Epoch.ConfVer)
	b = append(b, byte(r.Mode))
	b = codec.AppendBytes(codec.AppendBytes(b, r.Start), r.End)
	if r.Mode == kvapi.ModeRaft {
		b = codec.AppendUint(b, len(r.Peers))
		for _, p := range r.Peers {
			b = append(codec.AppendUint(codec.AppendUint(b, p.ID), p.Store), peerRole(p))
		}
	}
	return binary.BigEndian.AppendUint32(b, crc32.ChecksumIEEE(b[from:]))
}

// DecodeRegion reads a descriptor. Nothing of the result aliases b.
func DecodeRegion(b []byte) (*kvapi.Region, error) {
	const fixed = 17
	n := len(b) - 4
	if n < fixed+2 || binary.BigEndian.Uint32(b[n:]) != crc32.ChecksumIEEE(b[:n]) {
		return nil, corrupt("region record")
	}
	r := &kvapi.Region{ID: kvapi.RegionID(binary.BigEndian.Uint64(b)), Mode: kvapi.Mode(b[16]),
		Epoch: kvapi.Epoch{Version: binary.BigEndian.Uint32(b[8:]), ConfVer: binary.BigEndian.Uint32(b[12:])}}
	if r.Mode != kvapi.ModeSolo && r.Mode != kvapi.ModeRaft {
		return nil, fmt.Errorf("replica: region %d has mode %d, which this program does not know", r.ID, r.Mode)
	}
	d := codec.NewDecoder(b[fixed:n])
	r.Start, r.End = bytes.Clone(d.Bytes()), bytes.Clone(d.Bytes())
	if r.Mode == kvapi.ModeRaft {
		for range d.Count(3) {
			r.Peers = append(r.Peers, decodePeer(&d))
		}
	}
	if d.End() != nil {
		return nil, corrupt("region record")
	}
	return r, nil
}

// numbersBytes is the length of a record of three numbers.
const numbersBytes = 3*8 + 4

// applyState says up to where a region's log is applied.
type applyState struct {
	index, term uint64
	gcPoint     clock.Timestamp
}

func (s applyState) encode() []byte { return encodeNumbers(s.index, s.term, uint64(s.gcPoint)) }

func decodeApplyState(b []byte) (s applyState, err error) {
	n, err := decodeNumbers(b, "apply state")
	return applyState{index: n[0], term: n[1], gcPoint: clock.Timestamp(n[2])}, err
}

// encodeNumbers builds a record of three numbers and their checksum.
func encodeNumbers(first, second, third uint64) []byte {
	b := make([]byte, 0, numbersBytes)
	for _, n := range [...]uint64{first, second, third} {
		b = binary.BigEndian.AppendUint64(b, n)
	}
	return binary.BigEndian.AppendUint32(b, crc32.ChecksumIEEE(b))
}

// decodeNumbers reads what encodeNumbers has built.
func decodeNumbers(b []byte, what string) (n [3]uint64, err error) {
	if len(b) != numbersBytes || binary.BigEndian.Uint32(b[24:]) != crc32.ChecksumIEEE(b[:24]) {
		return n, corrupt(what)
	}
	for i := range n {
		n[i] = binary.BigEndian.Uint64(b[8*i:])
	}
	return n, nil
}

// truncated is the place of the last entry of a log that was truncated.
type truncated struct{ index, term uint64 }

func (t truncated) encode() []byte { return encodeNumbers(t.index, t.term, 0) }

func encodeHard(term, vote, commit uint64) []byte { return encodeNumbers(term, vote, commit) }

// entryHead returns what is in front of an entry's content in its record.
func entryHead(e *raftpb.Entry) []byte {
	return codec.AppendUint([]byte{byte(e.GetType())}, e.GetTerm())
}

func decodeEntryRecord(index uint64, b []byte) (*raftpb.Entry, error) {
	d := codec.NewDecoder(b)
	kind := raftpb.EntryType(d.Byte(byte(raftpb.EntryConfChangeV2)))
	term := d.Uint()
	if d.Err() != nil {
		return nil, corrupt("log entry")
	}
	e := &raftpb.Entry{Type: kind.Enum(), Term: &term, Index: &index}
	e.Data = d.Rest()
	return e, nil
}

// corrupt wraps kvapi.ErrCorrupt; what names the record that does not decode.
func corrupt(what string) error { return fmt.Errorf("replica: %w: %s", kvapi.ErrCorrupt, what) }

// Create adds a new region to a batch: its descriptor, and the applied index at the beginning of its log.
func Create(b Records, r *kvapi.Region, gcPoint clock.Timestamp) {
	WriteState(b, r, InitialIndex, InitialTerm, gcPoint)
}

// WriteState adds to a batch a region's descriptor and the applied index of the state that is written with the batch.
func WriteState(b Records, r *kvapi.Region, index, term uint64, gcPoint clock.Timestamp) {
	WriteRegion(b, r)
	b.Set(recordKey(r.ID, recordApply), applyState{index: index, term: term, gcPoint: gcPoint}.encode())
}

// ReadHard returns the term and the vote that a region's replica has on disk.
func ReadHard(d Disk, id kvapi.RegionID) (term, vote uint64, err error) {
	b, found, err := d.Get(recordKey(id, recordHard))
	if err != nil || !found {
		return InitialTerm, 0, err
	}
	n, err := decodeNumbers(b, "hard state")
	return n[0], n[1], err
}

// WriteRegion adds a descriptor to a batch.
func WriteRegion(b Records, r *kvapi.Region) { b.Set(RegionKey(r.ID), AppendRegion(nil, r)) }
