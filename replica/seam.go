package replica

import (
	"github.com/pandodb/pando/clock"
	"github.com/pandodb/pando/engine"
	"github.com/pandodb/pando/kvapi"
)

// Turn is what a proposal is told when the line has come to it.
type Turn struct {
	Region *kvapi.Region // as it is now; nothing changes it before the proposal is applied
	Term   uint64
}

// Result is what came of a command where it was applied. It is the same on every replica.
type Result struct {
	// Stale: the region's epoch is another than the one the entry was made for. Nothing was done.
	Stale bool
	// Number answers an Alloc.
	Number uint64
}

// Proposal is a change that stands in a region's line. The line calls its methods in this order, on the goroutine of whoever leads
// the group, and never again after Finish:
//
//	Prepare, then if that did not fail Command, then if that did not fail nothing until Finish.
//
// Prepare of all proposals of a group comes before the group's timestamps are fetched (rule A: marks first), and Finish of one whose
// entry was applied after the entry is visible to new iterators and the Machine's Applied has returned.
type Proposal interface {
	// Size is how many bytes the command takes about. A group is bounded by the sum.
	Size() int
	// Alone: the entry holds nothing else. A split and a GCPoint are alone, because what stands behind them has to meet what they have changed.
	Alone() bool
	// Prepare checks the proposal against the region as it is, with all that was proposed before applied, and publishes its marks. It
	// returns how many timestamps it needs. Proposals of a group are prepared one after the other: one sees the marks of those before
	// it, whose changes are not applied yet. An error ends it here; it takes no part, and Finish gets that error.
	Prepare(t Turn) (timestamps int, err error)
	// Command returns what is to be applied. first is the first of the timestamps that it asked for, the others follow by ones; it
	// notes them on its marks.
	Command(first clock.Timestamp) (Proposed, error)
	// Finish tells how it ended, once and whatever happened: it drops marks and releases locks. err is nil if the command was applied,
	// in which case Result says more; kvapi.ErrUndetermined if nobody knows; anything else means that nothing was done.
	Finish(r Result, err error)
}

// Line is a region's queue of proposals: one entry is in flight at a time.
type Line interface {
	// Do stands in line with p and returns after p.Finish with the error that it got. A *kvapi.EpochError says that the region is not
	// led here. Whatever the error, nobody uses the command of p, and what that points to, any more.
	Do(p Proposal) error
	// Term returns the term in which this replica leads the region and serves it: all entries of earlier terms are applied. ok is false
	// if it does not. Who reads asks after making the iterator (distributed.md §2).
	Term() (term uint64, ok bool)
}

// Timestamps issues timestamps that ascend among all nodes.
type Timestamps interface {
	// Next issues n of them and returns the first; the others follow by ones.
	Next(n int) (first clock.Timestamp, err error)
}

// Position is a place in a region's log.
type Position struct {
	Region *kvapi.Region
	Index  uint64
	Term   uint64
}

// Machine is the state of the regions of a store. Its methods are called for one region in the order of its log, by one goroutine at a
// time, and for different regions at the same time.
type Machine interface {
	// Apply adds to b what c changes. Iterators do not show what earlier calls have put into b, so what commands read of each other is
	// kept in memory, and changed here. An error is of this machine alone, such as one of the disk: it ends the node.
	Apply(b *engine.Batch, at Position, c Command) (Result, error)
	// Applied is told that the commands, which Apply took in this order, are visible to iterators made from now on.
	Applied(at Position, commands []Command)
	// Split is told, where a batch with the split has become visible, that right has come out of left, both as they are now.
	Split(left, right *kvapi.Region)
	// Changed is told that the region has other peers.
	Changed(region *kvapi.Region)
	// Replaced is told that all of a region's state, as it is on the disk, is another now: it has come by snapshot, or was not here before. Nobody
	// reads it here before Replaced returns. An error ends the node.
	Replaced(region *kvapi.Region, gcPoint clock.Timestamp) error
	// Removed is told that the region is here no longer: its state is about to be deleted.
	Removed(region *kvapi.Region)
}
