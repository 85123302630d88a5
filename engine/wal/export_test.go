package wal

import (
	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/pandodb/pando/engine/aio"
)

// RaceEnabled tells the tests outside of the package that the race detector is on.
const RaceEnabled = raceEnabled

// FixSalt makes Open use a salt of the test's, until the function that it returns is called.
func FixSalt(salt uint32) (restore func()) {
	drawn := newSalt
	newSalt = func() uint32 { return salt }
	return func() { newSalt = drawn }
}

// FixDirect makes segments that are made of spares be written by what open returns, until the function that it returns is called.
// Blocks have the smallest size.
func FixDirect(open func(vfs.File) func(b []byte, offset int64, sync bool) error) (restore func()) {
	real := directWriter
	directWriter = func(_ *Log, file vfs.File) (blockWriter, int) { return blockFunc(open(file)), aio.SectorBytes }
	return func() { directWriter = real }
}

type blockFunc func(b []byte, offset int64, sync bool) error

func (f blockFunc) writeBlocks(b []byte, offset int64, sync bool) error { return f(b, offset, sync) }

// Blocks is blocks over a function.
type Blocks struct{ b blocks }

// StagingBytes is the most that the function is called with.
const StagingBytes = stagingBytes

// Begin is blocks.begin.
func (b *Blocks) Begin(to func(b []byte, offset int64, sync bool) error, size int, head []byte) {
	b.b.begin(blockFunc(to), size, head)
}

// Fits is blocks.fits.
func (b *Blocks) Fits(n int) bool { return b.b.fits(n) }

// Write is blocks.write.
func (b *Blocks) Write(p []byte, sync bool) error { return b.b.write(p, sync) }

// Direct tells whether the segment in hand is written by blocks. Nobody may be using the log.
func (l *Log) Direct() bool { return l.writer.direct }

// Expects tells whether no spare is made because a segment will be one.
func (l *Log) Expects() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.expects
}
