package exec

import "github.com/pandodb/pando/types"

// joinSpill is a hash join whose build side did not fit. Both sides are written to
// files by the hash of their keys; then the pairs of files are joined one by one. A
// build file that does not fit either is partitioned again together with its probe
// file; where that cannot help, because it holds one key or the partitions are as deep
// as they may be, its rows come into memory part by part, and the probe file is read
// once per part.
type joinSpill struct {
	rt           *Runtime
	build, probe [partitionsPerSpill]*spillFile // being written
	depth        int                            // of them
	queue        []joinPartition
	part         joinPartition // at hand
	record       []byte        // key of the record that was read
	value        []byte        // its row
	encoded      []byte        // row to be written

	feed    *types.Batch // rows of the probe file
	last    bool         // the rows in memory are the last of the build file
	parted  bool         // they are not all
	matched []uint64     // bit per row of the probe file: matched with an earlier part
	base    int          // number in the probe file of feed's first row
	mem     account
}

// joinPartition is a pair of files with the rows of the same keys; one of them may be
// missing.
type joinPartition struct {
	build, probe *spillFile
	depth        int
}

// joinCheckRows is how many rows are loaded between two looks at the memory.
const joinCheckRows = 256

// beginSpill moves the build side's rows to files.
func (o *hashJoinOp) beginSpill() error {
	o.spill = &joinSpill{rt: o.rt, last: true, mem: o.rt.account()}
	o.spill.feed = o.rt.getBatch(Types(o.probeNode()))
	if err := o.writeTable(); err != nil {
		return err
	}
	return o.table.reset()
}

func (o *hashJoinOp) probeNode() Node {
	if o.node.BuildLeft {
		return o.node.Right
	}
	return o.node.Left
}

// writeTable writes the rows in memory to the files.
func (o *hashJoinOp) writeTable() error {
	rows := 0
	return o.table.each(func(key []byte, b *types.Batch, i int) error {
		if rows++; rows%joinCheckRows == 0 {
			if err := o.rt.poll(); err != nil {
				return err
			}
		}
		return o.spill.writeBuild(o.table.keys.hash(key), key, o.encode(b, i))
	})
}

// encode returns a build row in the row codec; nothing if only keys matter.
func (o *hashJoinOp) encode(b *types.Batch, i int) []byte {
	s := o.spill
	s.encoded = s.encoded[:0]
	if !o.table.keysOnly {
		s.encoded = appendBatchRow(s.encoded, b, i)
	}
	return s.encoded
}

// partition returns which file takes a hash. The table uses the low bits for slots;
// partitions take others at every depth.
func (s *joinSpill) partition(h uint64) int {
	return int(h >> (40 + 4*uint(s.depth)) % partitionsPerSpill)
}

func (s *joinSpill) writeBuild(h uint64, key, row []byte) error {
	return s.write(&s.build[s.partition(h)], key, row)
}

func (s *joinSpill) write(f **spillFile, key, row []byte) (err error) {
	if *f == nil {
		if *f, err = s.rt.newSpill(); err != nil {
			return err
		}
	}
	return (*f).write(key, row)
}

// writeProbe writes a probe row; unless rows without a match are wanted, only where
// there is something to match.
func (o *hashJoinOp) writeProbe(key, row []byte) error {
	s := o.spill
	at := s.partition(o.table.keys.hash(key))
	if s.build[at] == nil && !o.keepsUnmatched() {
		return nil
	}
	return s.write(&s.probe[at], key, row)
}

// partitionProbe writes the whole probe side to files.
func (o *hashJoinOp) partitionProbe() error {
	s := o.spill
	for {
		b, err := o.probe.next()
		if err != nil {
			return err
		}
		if b == nil {
			return s.endPhase()
		}
		if err := o.probeKeys.batch(b); err != nil {
			return err
		}
		for i, n := 0, b.Rows(); i < n; i++ {
			row := b.Row(i)
			if o.probeKeys.hasNull(row) && (!o.keepsUnmatched() || o.node.NullAware) {
				continue // matches nothing, or is unknown
			}
			// The key of a NULL is no key of the build side, so it finds nothing.
			if o.key, err = o.probeKeys.append(o.key[:0], row); err != nil {
				return err
			}
			s.encoded = appendBatchRow(s.encoded[:0], b, row)
			if err := o.writeProbe(o.key, s.encoded); err != nil {
				return err
			}
		}
	}
}

// endPhase queues the files that were written.
func (s *joinSpill) endPhase() error {
	for i := range s.build {
		p := joinPartition{s.build[i], s.probe[i], s.depth + 1}
		s.build[i], s.probe[i] = nil, nil
		if p.probe == nil {
			p.build.close()
			continue
		}
		s.queue = append(s.queue, p)
		if err := p.probe.finish(); err != nil {
			return err
		}
		if p.build != nil {
			if err := p.build.finish(); err != nil {
				return err
			}
		}
	}
	return nil
}

// nextProbe sets the next batch of probe rows, loading build rows as it comes to them.
func (s *joinSpill) nextProbe(o *hashJoinOp) error {
	for {
		if s.part.probe != nil {
			if ok, err := s.read(o); ok || err != nil {
				return err
			}
			if !s.last {
				if err := s.load(o); err != nil {
					return err
				}
				continue
			}
		}
		s.part.close()
		s.part = joinPartition{}
		if len(s.queue) == 0 {
			return o.table.reset()
		}
		s.part = s.queue[len(s.queue)-1]
		s.queue = s.queue[:len(s.queue)-1]
		s.parted = false
		if s.part.build != nil {
			if err := s.part.build.rewind(); err != nil {
				return err
			}
		}
		if err := s.load(o); err != nil {
			return err
		}
	}
}

// load fills the table with rows of the build file and starts the probe file over. It
// leaves no partition at hand if it had to be partitioned again.
func (s *joinSpill) load(o *hashJoinOp) error {
	if err := o.table.reset(); err != nil {
		return err
	}
	s.last, s.base = true, 0
	for n := 1; s.part.build != nil; n++ {
		ok, err := s.readRecord(s.part.build)
		if err != nil {
			return err
		}
		if !ok {
			// The last rows are there; the hard limit is for those who cannot spill.
			_ = o.table.account()
			break
		}
		if err := o.table.keys.makeRoom(s.rt, 1); err != nil {
			return err
		}
		o.table.insertEncoded(s.record, o.table.keys.hash(s.record), s.value)
		if n%joinCheckRows != 0 {
			continue
		}
		if err := s.rt.poll(); err != nil {
			return err
		}
		if err = o.table.account(); !o.table.short() {
			if err != nil {
				return err
			}
			continue
		}
		if !s.parted && s.part.depth < spillDepthMax && o.table.keys.len() > 1 {
			return s.divide(o)
		}
		if err := s.beginParts(); err != nil {
			return err
		}
		s.last = false
		break
	}
	return s.part.probe.rewind()
}

// beginParts prepares for several parts of one build file.
func (s *joinSpill) beginParts() error {
	if s.parted {
		return nil
	}
	s.parted = true
	words := (s.part.probe.records + 63) / 64
	if cap(s.matched) < words {
		s.matched = make([]uint64, words)
	}
	s.matched = s.matched[:words]
	clear(s.matched)
	return s.mem.set(int64(cap(s.matched)) * 8)
}

// divide partitions the pair of files at hand again.
func (s *joinSpill) divide(o *hashJoinOp) error {
	s.depth = s.part.depth
	if err := o.writeTable(); err != nil {
		return err
	}
	if err := o.table.reset(); err != nil {
		return err
	}
	write := func(f *spillFile, to func(key, row []byte) error) error {
		for n := 1; ; n++ {
			ok, err := s.readRecord(f)
			if !ok || err != nil {
				return err
			}
			if err := to(s.record, s.value); err != nil {
				return err
			}
			if n%joinCheckRows == 0 {
				if err := s.rt.poll(); err != nil {
					return err
				}
			}
		}
	}
	err := write(s.part.build, func(key, row []byte) error { return s.writeBuild(o.table.keys.hash(key), key, row) })
	if err != nil {
		return err
	}
	if err := s.part.probe.rewind(); err != nil {
		return err
	}
	if err := write(s.part.probe, o.writeProbe); err != nil {
		return err
	}
	s.part.close()
	s.part = joinPartition{}
	return s.endPhase()
}

// readRecord reads a key and a row.
func (s *joinSpill) readRecord(f *spillFile) (ok bool, err error) {
	if s.record, ok, err = f.read(s.record); !ok || err != nil {
		return false, err
	}
	s.value, ok, err = f.read(s.value)
	return ok, err
}

// read fills the probe batch from the file; ok=false at its end.
func (s *joinSpill) read(o *hashJoinOp) (ok bool, err error) {
	s.base += s.feed.Len
	s.feed.Reset()
	o.heads, o.nulls = o.heads[:0], o.nulls[:0]
	for !s.feed.Full() {
		ok, err := s.readRecord(s.part.probe)
		if err != nil {
			return false, err
		}
		if !ok {
			break
		}
		decodeInto(s.feed, s.value)
		o.heads, o.nulls = append(o.heads, o.table.find(s.record)), append(o.nulls, false)
	}
	if s.feed.Len == 0 {
		return false, nil
	}
	o.batch, o.at, o.begun = s.feed, 0, false
	return true, nil
}

// hasMatched reports whether row i of the probe batch matched an earlier part.
func (s *joinSpill) hasMatched(i int) bool {
	if s == nil || !s.parted {
		return false
	}
	i += s.base
	return s.matched[i>>6]>>(uint(i)&63)&1 != 0
}

func (s *joinSpill) setMatched(i int) {
	if s == nil || !s.parted {
		return
	}
	i += s.base
	s.matched[i>>6] |= 1 << (uint(i) & 63)
}

// isLast reports whether no part of the build side is to come for the probe batch.
func (s *joinSpill) isLast() bool { return s == nil || s.last }

func (p *joinPartition) close() {
	p.build.close()
	p.probe.close()
}

func (s *joinSpill) close() {
	if s == nil {
		return
	}
	for i := range s.build {
		s.build[i].close()
		s.probe[i].close()
	}
	for i := range s.queue {
		s.queue[i].close()
	}
	s.part.close()
	s.rt.putBatch(s.feed)
	s.feed = nil
	s.mem.close()
}
