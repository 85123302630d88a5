package replica

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"time"

	"github.com/pandodb/pando/clock"
	"github.com/pandodb/pando/engine"
	"github.com/pandodb/pando/internal/codec"
	"github.com/pandodb/pando/keys"
	"github.com/pandodb/pando/kvapi"
)

const (
	snapshotVersion = 1
	// Kinds of the frames of a snapshot.
	frameHead  = 1
	framePairs = 2
	frameEnd   = 3
	// frameBytesMax is the largest frame that a receiver takes.
	frameBytesMax = 80 << 20 // enough for a row of 64 MiB
	// snapshotsMax is how many snapshots a store sends at a time. Others are tried again later.
	snapshotsMax = 4
	// snapshotTimeout bounds how long the sending of one may take.
	snapshotTimeout = time.Hour
)

// ErrSnapshot is wrapped by errors about the bytes of a snapshot, and by reasons why it is refused.
var ErrSnapshot = errors.New("replica: snapshot")

// snapshotHead is the content of a snapshot's first frame.
type snapshotHead struct {
	from, to, term uint64 // the leader's peer, the receiver's, and the leader's term
	region         *kvapi.Region
	state          applyState
}

func (h *snapshotHead) encode() []byte {
	b := []byte{snapshotVersion}
	for _, n := range []uint64{h.from, h.to, h.term, h.state.index, h.state.term, uint64(h.state.gcPoint)} {
		b = codec.AppendUint(b, n)
	}
	return codec.AppendBytes(b, AppendRegion(nil, h.region))
}

func decodeSnapshotHead(b []byte) (h snapshotHead, err error) {
	d := codec.NewDecoder(b)
	if v := d.Byte(255); d.Err() == nil && v != snapshotVersion {
		return h, fmt.Errorf("%w: version %d, this program knows %d", ErrSnapshot, v, snapshotVersion)
	}
	h.from, h.to, h.term = d.Uint(), d.Uint(), d.Uint()
	h.state = applyState{index: d.Uint(), term: d.Uint(), gcPoint: clock.Timestamp(d.Uint())}
	r := d.Bytes()
	if err := d.End(); err != nil {
		return h, fmt.Errorf("%w: %w", ErrSnapshot, err)
	}
	h.region, err = DecodeRegion(r)
	return h, err
}

func writeFrame(w io.Writer, kind byte, content []byte) error {
	head := binary.BigEndian.AppendUint32([]byte{kind}, uint32(len(content)))
	sum := crc32.Update(crc32.ChecksumIEEE(head), crc32.IEEETable, content)
	for _, b := range [][]byte{head, content, binary.BigEndian.AppendUint32(nil, sum)} {
		if _, err := w.Write(b); err != nil {
			return err
		}
	}
	return nil
}

func readFrame(r io.Reader) (kind byte, content []byte, err error) {
	var head [5]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return 0, nil, fmt.Errorf("%w: %w", ErrSnapshot, err)
	}
	n := binary.BigEndian.Uint32(head[1:])
	if n > frameBytesMax {
		return 0, nil, fmt.Errorf("%w: a frame of %d bytes", ErrSnapshot, n)
	}
	content = make([]byte, n+4)
	if _, err := io.ReadFull(r, content); err != nil {
		return 0, nil, fmt.Errorf("%w: %w", ErrSnapshot, err)
	}
	sum := binary.BigEndian.Uint32(content[n:])
	content = content[:n]
	if sum != crc32.Update(crc32.ChecksumIEEE(head[:]), crc32.IEEETable, content) {
		return 0, nil, fmt.Errorf("%w: a frame does not have its checksum", ErrSnapshot)
	}
	return head[0], content, nil
}

// sendSnapshot starts a goroutine that sends the region's state to a peer. The caller holds mu.
func (m *member) sendSnapshot(want SnapshotRequest) {
	store := uint64(0)
	for _, p := range m.core.region.Peers {
		if p.ID == want.Peer {
			store = p.Store
		}
	}
	busy := m.sending[want.Peer] || m.s.o.Transport == nil || store == 0
	if !busy {
		busy = m.s.sends.Add(1) > snapshotsMax
		if busy || !m.s.enterDriver() {
			m.s.sends.Add(-1)
			busy = true
		}
	}
	if busy {
		m.core.ReportSnapshot(want.Peer, false) // raft asks again after the next answer of the peer
		return
	}
	if m.sending == nil {
		m.sending = map[uint64]bool{}
	}
	m.sending[want.Peer] = true
	from := m.core.peer
	id := m.core.region.ID
	go func() {
		defer m.s.drivers.Done()
		began := clock.Mono()
		sent, err := m.s.stream(id, from, store, want)
		m.s.sends.Add(-1)
		if err != nil {
			m.s.Stats.SnapshotsFailed.Inc()
			m.s.o.Logger.Warn("a snapshot was not taken", "region", uint64(id), "term", want.Term, "store", store, "peer", want.Peer, "bytes", sent, "reason", err)
		} else {
			m.s.Stats.SnapshotsSent.Inc()
			m.s.o.Logger.Info("a snapshot was sent", "region", uint64(id), "term", want.Term, "store", store, "peer", want.Peer, "bytes", sent,
				"took", clock.Since(began), "reason", "the peer is behind what the log holds")
		}
		m.mu.Lock()
		defer m.mu.Unlock()
		delete(m.sending, want.Peer)
		if !m.stopped {
			m.core.ReportSnapshot(want.Peer, err == nil)
			m.wake()
		}
	}()
}

// stream sends a region's state to a store. Descriptor, applied index and data are of one moment: that of the iterator.
func (s *Set) stream(id kvapi.RegionID, from, store uint64, want SnapshotRequest) (sent int64, err error) {
	ctx, cancel := context.WithTimeout(s.ctx, snapshotTimeout)
	defer cancel()
	it, err := s.o.Engine.NewIter(engine.IterOptions{})
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, it.Close()) }()
	h := snapshotHead{from: from, to: want.Peer, term: want.Term}
	if h.region, h.state, err = readState(it, id); err != nil {
		return 0, err
	}
	if p, there := h.region.On(store); !there || p.ID != want.Peer || h.state.index < want.Index {
		return 0, fmt.Errorf("%w: region %d at %d has no peer %d on store %d", ErrSnapshot, id, h.state.index, want.Peer, store)
	}
	out, err := s.o.Transport.Snapshot(ctx, store, id)
	if err != nil {
		return 0, err
	}
	w := &counted{w: out, s: s}
	err = writeFrame(w, frameHead, h.encode())
	pairs := uint64(0)
	if err == nil {
		pairs, err = writeSpans(w, it, Spans(h.region), s.o.Limits.FrameBytes)
	}
	if err == nil {
		err = writeFrame(w, frameEnd, codec.AppendUint(nil, pairs))
	}
	if err != nil {
		cancel() // the receiver ignores a snapshot without an end frame
	}
	return w.n, errors.Join(err, out.Close())
}

// counted counts what is written.
type counted struct {
	w io.Writer
	s *Set
	n int64
}

// Write implements io.Writer.
func (c *counted) Write(b []byte) (int, error) {
	n, err := c.w.Write(b)
	c.n += int64(n)
	c.s.Stats.SnapshotBytes.Add(uint64(n))
	return n, err
}

// readState reads a region's descriptor and apply state through an iterator.
func readState(it *engine.Iter, id kvapi.RegionID) (r *kvapi.Region, s applyState, err error) {
	get := func(key []byte) ([]byte, error) {
		it.SetBounds(key, append(append([]byte(nil), key[:len(key)-1]...), 0, 0))
		if !it.First() {
			return nil, errors.Join(it.Error(), fmt.Errorf("%w: region %d is not here", ErrSnapshot, id))
		}
		return it.Value()
	}
	b, err := get(RegionKey(id))
	if err != nil {
		return nil, s, err
	}
	if r, err = DecodeRegion(b); err != nil {
		return nil, s, err
	}
	if b, err = get(recordKey(id, recordApply)); err != nil {
		return nil, s, err
	}
	s, err = decodeApplyState(b)
	return r, s, err
}

// ReadState reads a region's descriptor, applied index and GC point of the state that the iterator shows.
func ReadState(it *engine.Iter, id kvapi.RegionID) (r *kvapi.Region, index uint64, gcPoint clock.Timestamp, err error) {
	r, s, err := readState(it, id)
	return r, s.index, s.gcPoint, err
}

// writeSpans writes the pairs of the spans, in frames of about that size.
func writeSpans(w io.Writer, it *engine.Iter, spans []EngineSpan, frameBytes int) (pairs uint64, err error) {
	b := make([]byte, 0, frameBytes+frameBytes/4)
	for _, span := range spans {
		it.SetBounds(span.Lower, span.Upper)
		for ok := it.First(); ok; ok = it.Next() {
			v, err := it.Value()
			if err != nil {
				return pairs, err
			}
			b = codec.AppendBytes(codec.AppendBytes(b, it.Key()), v)
			pairs++
			if len(b) >= frameBytes {
				if err := writeFrame(w, framePairs, b); err != nil {
					return pairs, err
				}
				b = b[:0]
			}
		}
		if err := it.Error(); err != nil {
			return pairs, err
		}
	}
	if len(b) > 0 {
		return pairs, writeFrame(w, framePairs, b)
	}
	return pairs, nil
}

// incoming is a snapshot that is being received and installed.
type incoming struct {
	snapshotHead
	now     []EngineSpan  // spans of the snapshot's region
	spans   []EngineSpan  // that are replaced: those that the region had here, which are the same or larger
	old     *kvapi.Region // the region as it was here; nil if it was not
	tables  []*engine.Table
	pairs   uint64
	bytes   int64
	stepped bool // it was passed to raft
	// installing: raft has it and it is being ingested; taken: that has succeeded.
	installing, taken bool
	done              chan error // has room for one
}

// ReceiveSnapshot receives a snapshot from another store, and returns once it is installed. It makes the replica if there is none.
func (s *Set) ReceiveSnapshot(from uint64, region kvapi.RegionID, r io.Reader) (err error) {
	if !s.ready.Load() || !s.enterDriver() {
		return kvapi.ErrClosed
	}
	defer s.drivers.Done()
	began := clock.Mono()
	r = bufio.NewReaderSize(r, s.o.Limits.FrameBytes)
	kind, content, err := readFrame(r)
	if err != nil {
		return err
	}
	in := &incoming{done: make(chan error, 1)}
	if in.snapshotHead, err = decodeSnapshotHead(content); err != nil {
		return err
	}
	if kind != frameHead || in.region.ID != region {
		return fmt.Errorf("%w: it begins with a frame of kind %d, of region %d", ErrSnapshot, kind, in.region.ID)
	}
	m, err := s.reserve(in)
	if err != nil {
		return err
	}
	defer s.unreserve(region)
	defer func() {
		for _, t := range in.tables {
			t.Discard()
		}
	}()
	s.learn(in.from, from)
	if err := in.read(s.o.Engine, r, s.o.Limits.TableBytes); err != nil {
		return err
	}
	if m == nil {
		if m, err = s.newcomer(in); err != nil {
			return err
		}
	}
	m.mu.Lock()
	if m.stopped || m.incoming != nil {
		m.mu.Unlock()
		return fmt.Errorf("%w: region %d does not take it now", ErrSnapshot, region)
	}
	m.incoming = in
	m.mu.Unlock()
	m.drive() // if there is a driver, that one installs it
	if err := <-in.done; err != nil {
		return err
	}
	s.mu.Lock()
	delete(s.strangers, region)
	s.mu.Unlock()
	s.Stats.SnapshotsTaken.Inc()
	s.o.Logger.Info("a snapshot was received", "region", uint64(region), "term", in.term, "index", in.state.index, "from", from, "bytes", in.bytes,
		"pairs", in.pairs, "taken", in.taken, "took", clock.Since(began), "reason", "this copy was new, or behind what the log held")
	return nil
}

// reserve checks that a snapshot overlaps no other region that is here (M1), and reserves its span. It returns the replica that it is for, nil
// if there is none yet.
func (s *Set) reserve(in *incoming) (m *member, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	id := in.region.ID
	if p, here := in.region.On(s.o.Store); !here || p.ID != in.to {
		return nil, fmt.Errorf("%w: region %d has no peer %d on store %d", ErrSnapshot, id, in.to, s.o.Store)
	}
	if in.to <= s.tombstones[id] {
		return nil, fmt.Errorf("%w: peer %d of region %d was removed from store %d", ErrSnapshot, in.to, id, s.o.Store)
	}
	if s.arriving[id] != nil {
		return nil, fmt.Errorf("%w: another one of region %d is on its way", ErrSnapshot, id)
	}
	for other, there := range *s.members.Load() {
		there.mu.Lock()
		desc, peer, applied := there.core.region, there.core.peer, there.core.applied.index
		there.mu.Unlock()
		switch {
		case other == id && (peer != in.to || applied >= in.state.index):
			return nil, fmt.Errorf("%w: region %d is at %d here, as peer %d", ErrSnapshot, id, applied, peer)
		case other == id:
			m, in.old = there, desc
		case overlap(desc, in.region):
			return nil, fmt.Errorf("%w: region %d lies where region %d still is", ErrSnapshot, id, other)
		}
	}
	for _, other := range s.arriving {
		if overlap(other, in.region) {
			return nil, fmt.Errorf("%w: region %d lies where region %d is about to be", ErrSnapshot, id, other.ID)
		}
	}
	for _, other := range s.leaving {
		if other.ID == id || overlap(other, in.region) {
			return nil, fmt.Errorf("%w: region %d lies where region %d is still being deleted", ErrSnapshot, id, other.ID)
		}
	}
	in.now = Spans(in.region)
	in.spans = in.now
	if in.old != nil {
		in.spans = Spans(in.old) // a region never grows
	}
	s.arriving[id] = in.region
	return m, nil
}

func (s *Set) unreserve(id kvapi.RegionID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.arriving, id)
}

// overlap reports whether two regions have keys in common. Region 0 has none.
func overlap(a, b *kvapi.Region) bool {
	if a.ID == 0 || b.ID == 0 {
		return false
	}
	return (len(b.End) == 0 || string(a.Start) < string(b.End)) && (len(a.End) == 0 || string(b.Start) < string(a.End))
}

// newcomer makes the replica for a snapshot of a region that is not here. It is added to the set when the snapshot is installed.
func (s *Set) newcomer(in *incoming) (*member, error) {
	if _, found, err := s.o.Engine.Get(nil, recordKey(in.region.ID, recordHard)); err != nil || found {
		// There is a vote but no descriptor: the split that makes the region has to be applied again first (L3).
		return nil, fmt.Errorf("%w: region %d has a raft state and no descriptor on store %d: %w", ErrSnapshot, in.region.ID, s.o.Store, errors.Join(err, kvapi.ErrCorrupt))
	}
	core, err := NewGroup(s.disk, in.region.ID, in.to, &s.o.Limits, s.o.Logger)
	if err != nil {
		return nil, err
	}
	return &member{s: s, core: core, started: make(chan struct{})}, nil
}

// read reads the frames after the head, and writes their pairs into tables of about that size.
func (in *incoming) read(e *engine.Engine, r io.Reader, tableBytes int64) error {
	w := tableWriter{e: e, in: in, bytes: tableBytes, span: -1}
	for {
		kind, content, err := readFrame(r)
		if err != nil {
			return err
		}
		in.bytes += int64(len(content))
		d := codec.NewDecoder(content)
		switch kind {
		case framePairs:
			for d.Len() > 0 && d.Err() == nil {
				key, value := d.Bytes(), d.Bytes()
				if d.Err() == nil {
					if err := w.set(key, value); err != nil {
						return err
					}
					in.pairs++
				}
			}
			if err := d.Err(); err != nil {
				return fmt.Errorf("%w: %w", ErrSnapshot, err)
			}
		case frameEnd:
			if n := d.Uint(); d.End() != nil || n != in.pairs {
				return fmt.Errorf("%w: it has %d of %d pairs", ErrSnapshot, in.pairs, n)
			}
			return w.end()
		default:
			return fmt.Errorf("%w: a frame of kind %d", ErrSnapshot, kind)
		}
	}
}

// tableWriter writes the pairs of a snapshot, which ascend, into tables. Engine.Ingest deletes the old content of the last span. The table of any
// other span begins with a range deletion of its old content, so such a span has a single table.
type tableWriter struct {
	e     *engine.Engine
	in    *incoming
	bytes int64 // approximate size of a table
	span  int   // that the table is for
	t     *engine.Table
	last  []byte
}

func (w *tableWriter) set(key, value []byte) error {
	if err := keys.CheckEngine(key); err != nil {
		return fmt.Errorf("%w: %w", ErrSnapshot, err)
	}
	now := w.in.now
	at := max(w.span, 0)
	for at < len(now) && string(key) >= string(now[at].Upper) {
		at++
	}
	if at == len(now) || string(key) < string(now[at].Lower) || w.last != nil && !engine.Before(w.last, key) {
		return fmt.Errorf("%w: key %x is outside of its region, or not above those before", ErrSnapshot, key)
	}
	if err := w.advance(at); err != nil {
		return err
	}
	if w.t == nil || at == len(now)-1 && w.t.Bytes() >= w.bytes {
		if err := w.begin(); err != nil {
			return err
		}
	}
	w.last = append(w.last[:0], key...)
	return w.t.Set(key, value)
}

// advance moves the writer on to a span. Spans in between get a table that only deletes their old content.
func (w *tableWriter) advance(to int) error {
	for w.span < to {
		if err := w.finish(); err != nil {
			return err
		}
		w.span++
		if w.span < len(w.in.spans)-1 {
			if err := w.begin(); err != nil {
				return err
			}
			s := w.in.spans[w.span]
			if err := w.t.DeleteRange(s.Lower, s.Upper); err != nil {
				return err
			}
		}
	}
	return nil
}

func (w *tableWriter) begin() (err error) {
	if err := w.finish(); err != nil {
		return err
	}
	if w.t, err = w.e.NewTable(); err == nil {
		w.in.tables = append(w.in.tables, w.t)
	}
	return err
}

func (w *tableWriter) finish() error {
	t := w.t
	w.t = nil
	if t == nil {
		return nil
	}
	return t.Finish()
}

func (w *tableWriter) end() error {
	return errors.Join(w.advance(len(w.in.spans)-1), w.finish())
}
