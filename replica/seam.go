package replica

import (
	"github.com/pandodb/pando/clock"
	"github.com/pandodb/pando/engine"
	"github.com/pandodb/pando/kvapi"
)

// Turn is what a proposal is given when it is its turn in the line.
type Turn struct {
	Region *kvapi.Region // as it is now; nothing changes it before the proposal is applied
	Term   uint64
}

// Result is the result of applying a command. It is the same on every replica.
type Result struct {
	// Stale: the region's epoch is another than the one the entry was made for. Nothing was done.
	Stale bool
	// Number answers an Alloc.
	Number uint64
}

// Proposal is a change in a region's line. The line calls its methods in this order, on the goroutine of the group's leader, and never again
// after Finish:
//
//	Prepare, then if that did not fail Command, then if that did not fail nothing until Finish.
//
// Prepare of all proposals of a group comes before the group's timestamps are fetched (rule A: marks first), and Finish of one whose
// entry was applied after the entry is visible to new iterators and the Machine's Applied has returned.
type Proposal interface {
	// Size is the approximate size of the command in bytes. The sum bounds a group.
	Size() int
	// Alone: the entry has no other command. A split and a GCPoint are alone, because later proposals have to be evaluated after they are applied.
	Alone() bool
	// Prepare checks the proposal against the region as it is, with all that was proposed before applied, and publishes its marks. It
	// returns how many timestamps it needs. Proposals of a group are prepared one after the other: one sees the marks of those before
	// it, whose changes are not applied yet. An error ends it here; it takes no part, and Finish gets that error.
	Prepare(t Turn) (timestamps int, err error)
	// Command returns what is to be applied. first is the first of the timestamps that it asked for, the others follow by ones; it
	// notes them on its marks.
	Command(first clock.Timestamp) (Proposed, error)
	// Finish is called once, whatever happened, with the result: it drops marks and releases locks. err is nil if the command was applied,
	// in which case Result says more; kvapi.ErrUndetermined if that is not known; anything else means that nothing was done.
	Finish(r Result, err error)
}

// Line is a region's queue of proposals: one entry is in flight at a time.
type Line interface {
	// Do adds p to the queue and returns after p.Finish, with the error that Finish got. A *kvapi.EpochError says that the region is not
	// led here. Whatever the error, the command of p, and what that points to, is no longer used.
	Do(p Proposal) error
	// Term returns the term in which this replica leads the region and serves it: all entries of earlier terms are applied. ok is false
	// if it does not. A read checks it after it has made its iterator (package store, S22).
	Term() (term uint64, ok bool)
}

// Timestamps issues timestamps, in ascending order for all nodes of the cluster.
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

// Machine is the replicated state of a store's regions. Its methods are called for one region in the order of its log, by one goroutine at a
// time, and for different regions concurrently.
type Machine interface {
	// Apply adds the changes of c to b. Iterators do not show what earlier calls have added to b, so the Machine keeps in memory what commands
	// read of each other. An error means a local failure, such as one of the disk, and ends the node.
	Apply(b *engine.Batch, at Position, c Command) (Result, error)
	// Applied is called when the commands, which Apply got in this order, are visible to iterators made from now on.
	Applied(at Position, commands []Command)
	// Split is called when a batch with a split has become visible, with both regions as they are now.
	Split(left, right *kvapi.Region)
	// Changed is called when the region has other peers.
	Changed(region *kvapi.Region)
	// Replaced is called when a snapshot has replaced a region's state on disk, or brought the region. Nobody reads the region here before
	// Replaced returns. An error ends the node.
	Replaced(region *kvapi.Region, gcPoint clock.Timestamp) error
	// Removed is called when the region is no longer here: its state is about to be deleted.
	Removed(region *kvapi.Region)
}
