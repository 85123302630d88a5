package store

import (
	"time"

	"github.com/pandodb/pando/clock"
	"github.com/pandodb/pando/kvapi"
	"github.com/pandodb/pando/replica"
)

const (
	// A gateway whose disk is full, damaged or slow asks another node to be the gateway: at most badDiskTries times until its disk has recovered, with
	// badDiskPause in between. Without that limit the gateway would move for ever where all disks are bad.
	badDiskTries = 3
	badDiskPause = 10 * time.Second
	// slowDiskPause replaces badDiskPause for a slow disk, which has recovered when it was not slow for slowDiskCalm: a new gateway costs some seconds
	// without service, and all transactions that are open.
	slowDiskPause = 30 * time.Second
	slowDiskCalm  = time.Minute
	// A sync of the log that is still running after slowSync is slow. Commits wait for it, since the gateway's own copy applies only what its log has.
	slowSync = 500 * time.Millisecond
	// The last slowLooks samples are kept, one for each roleInterval; the disk is slow if slowEnough of them saw a slow sync. That takes syncs of a
	// second each, one after the other, or a single one of more than two. See slowDisk for disks that are equally slow on all nodes.
	slowLooks, slowEnough = 50, 20
)

// badDisk is what a gateway has done about its disk. It belongs to the goroutine of keepRole.
type badDisk struct {
	tries  int
	last   time.Duration // clock.Mono, of the last try
	reason string        // of the last try, empty once the disk has recovered
	ill    time.Duration // clock.Mono, when the disk was last found bad
	slow   slowDisk
}

// Reasons for which a gateway leaves.
const (
	fullDisk    = "the disk of the gateway is nearly full"
	damagedDisk = "the disk of the gateway answers errors, or has other bytes than were written"
	lateDisk    = "the disk of the gateway is slower than those of a majority"
)

// leaveBadDisk asks another store to be the gateway while this one's disk is bad: a full disk refuses writes, a damaged one fails statements, and
// all commits wait for a slow one.
func (c *Cluster) leaveBadDisk(d *badDisk) {
	now := clock.Mono()
	reason, err := c.diskFault(d, now)
	pause, calm := badDiskPause, time.Duration(0)
	if reason == lateDisk || reason == "" && d.reason == lateDisk {
		pause, calm = slowDiskPause, slowDiskCalm
	}
	switch {
	case reason == "":
		if now-d.ill >= calm {
			d.tries, d.reason = 0, ""
		}
		return
	case d.tries < badDiskTries && (d.tries == 0 || now-d.last >= pause) && c.handOver(d.tries):
		d.tries++
		d.last, d.reason = now, reason
		why := reason
		if err != nil {
			why += ": " + err.Error()
		}
		c.s.o.Logger.Warn("another node is asked to be the gateway", "region", 0, "term", c.set.Leadership(0).Term, "reason", why)
	}
	d.ill = now
}

// diskFault says what is wrong with the disk; empty if nothing is.
func (c *Cluster) diskFault(d *badDisk, now time.Duration) (reason string, err error) {
	since := c.s.engine.LogSince()
	late := d.slow.look(now, since, since != 0 && now-since >= roleInterval && c.behindOthers())
	switch err := c.s.engine.Damaged(); {
	case c.s.engine.DiskFull():
		return fullDisk, nil
	case err != nil:
		return damagedDisk, err
	case late:
		return lateDisk, nil
	}
	return "", nil
}

// behindOthers reports whether a majority of the other voters of some region has log entries on disk that this store has not: they would be committed
// if the gateway's own sync did not have to be waited for. It also reports true if the others have elected another leader.
func (c *Cluster) behindOthers() bool {
	for _, id := range c.set.Regions() {
		if st, here := c.set.Status(id); here && behind(&st, c.votes) {
			return true
		}
	}
	return false
}

func behind(st *replica.GroupStatus, votes func(*kvapi.Region, uint64) bool) bool {
	if st.Deposed || !st.Leads && st.Leader != 0 && st.Leader != st.Peer {
		return true
	}
	own, ahead := uint64(0), 0
	for _, p := range st.Peers {
		if p.Peer == st.Peer {
			own = p.Match
		}
	}
	for _, p := range st.Peers {
		if p.Peer != st.Peer && p.Active && p.Match > own && votes(st.Region, p.Peer) {
			ahead++
		}
	}
	return st.Leads && ahead > st.Region.Voters()/2
}

// slowDisk keeps samples of the sync of the log that is running. A sample counts if the sync is slow, and a majority of other voters had the same
// entries on disk within half of the time that it has lasted: where the disks of all nodes are slow that is rare, and the gateway stays.
type slowDisk struct {
	looks [slowLooks]bool // a ring of samples; true: counts
	next  int             // position in looks
	slow  int             // how many of looks are true
	since time.Duration   // when the sync of the last sample began
	after time.Duration   // how long it had lasted when a majority of others was first seen to be ahead; 0: not yet
}

// look adds a sample and reports whether the disk is slow. since is when the running sync began, 0 if there is none.
func (d *slowDisk) look(now, since time.Duration, behind bool) bool {
	if since != d.since {
		d.since, d.after = since, 0
	}
	lasted := now - since
	if behind && d.after == 0 {
		d.after = lasted
	}
	is := since != 0 && lasted >= slowSync && d.after != 0 && d.after <= lasted/2
	if d.looks[d.next] {
		d.slow--
	}
	if d.looks[d.next] = is; is {
		d.slow++
	}
	d.next = (d.next + 1) % slowLooks
	return d.slow >= slowEnough
}
