package store

import (
	"time"

	"github.com/pandodb/pando/clock"
	"github.com/pandodb/pando/kvapi"
	"github.com/pandodb/pando/replica"
)

const (
	// A gateway whose disk keeps the cluster from going on asks another node to be the gateway, badDiskTries times until its own is well again: where
	// all disks are so the lead would go round for ever. It waits for badDiskPause in between.
	badDiskTries = 3
	badDiskPause = 10 * time.Second
	// slowDiskPause is badDiskPause of a disk that is slow, and slowDiskCalm how long it must not have been slow to count as well: a new gateway costs
	// some seconds without service, and all transactions that are under way.
	slowDiskPause = 30 * time.Second
	slowDiskCalm  = time.Minute
	// slowSync: a sync of the log that lasts as long and is still going on is slow. What is committed waits for it, since the gateway's own
	// copy applies only what its log has.
	slowSync = 500 * time.Millisecond
	// slowLooks are kept, one for each roleInterval; the disk is slow if slowEnough of them have met a slow sync. That is a sync of a second on and on,
	// or one of more than two. A disk that is as slow for all is left to be so, see slowDisk.
	slowLooks, slowEnough = 50, 20
)

// badDisk is what a gateway has done about its disk. It belongs to the goroutine of keepRole.
type badDisk struct {
	tries  int
	last   time.Duration // clock.Mono, of the last try
	reason string        // of the last try, empty once the disk was well again
	ill    time.Duration // clock.Mono, when it was so last
	slow   slowDisk
}

// Reasons for which a gateway leaves.
const (
	fullDisk    = "the disk of the gateway is nearly full"
	damagedDisk = "the disk of the gateway answers errors, or has other bytes than were written"
	lateDisk    = "the disk of the gateway is slower than those of a majority"
)

// leaveBadDisk has another store be the gateway while this one's disk is bad and a majority of the copies may have better ones: on a disk with hardly
// any room writes are refused, a damaged one answers errors to statements, and all commits wait for a slow one.
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

// behindOthers reports whether some region's log is with a majority of other voters farther than on this store's disk: an entry would be committed if that
// did not have to be waited for. Or they have gone on already, and elected another leader.
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

// slowDisk remembers looks at the sync in hand. One counts if the sync is slow, and a majority of others had what is synced in half of the time that
// it has lasted, or less: where all are slow, as on one disk of one machine, that is rare, and nobody has to leave.
type slowDisk struct {
	looks [slowLooks]bool
	next  int
	slow  int           // of looks
	since time.Duration // the sync in hand
	after time.Duration // how long that had lasted when a majority of others was seen to be ahead; 0: not yet
}

// look takes note of a look and reports whether the disk is slow. since is when the sync in hand began, 0 if there is none.
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
