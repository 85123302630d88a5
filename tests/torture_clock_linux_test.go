package tests

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/pandodb/pando/cluster/transport"
	"github.com/pandodb/pando/internal/testkit"
	"github.com/pandodb/pando/store"
)

// hour is by how many seconds a clock is wrong, this way or that.
const hour = 3600

// clockMisfortunes happen to nodes whose clocks can be wrong.
var clockMisfortunes = []misfortune{
	{"the gateway's clock jumps an hour ahead", func(x *torture) { x.clockJumps(x.gateway(), hour) }},
	{"the gateway's clock jumps an hour back", func(x *torture) { x.clockJumps(x.gateway(), -hour) }},
	{"another node's clock jumps an hour ahead", func(x *torture) { x.clockJumps(x.other(), hour) }},
	{"another node's clock jumps an hour back", func(x *torture) { x.clockJumps(x.other(), -hour) }},
	{"the clocks of all nodes jump to and fro", func(x *torture) {
		for range 20 {
			x.any().setClock(x.rng.IntN(2*hour+1) - hour)
			time.Sleep(x.between(0, time.Second))
		}
		x.progress()
	}},
	{"the gateway is killed while clocks differ by two hours", func(x *torture) {
		sign := 1 - 2*x.rng.IntN(2)
		g := x.gateway()
		for _, n := range x.nodes {
			n.setClock(sign * hour)
		}
		g.setClock(-sign * hour)
		x.progress()
		x.killed(g)
		x.progress()
	}},
	{"a node joins a cluster whose gateway's clock is wrong", func(x *torture) {
		x.gateway().setClock((1 - 2*x.rng.IntN(2)) * hour)
		x.replaced()
	}},
}

// clockJumps has a clock be wrong for a while, or for the rest of the run; perhaps the node is started again meanwhile.
func (x *torture) clockJumps(n *node, seconds int) {
	n.setClock(seconds)
	x.progress()
	x.tellsTime(n, seconds)
	if x.rng.IntN(2) == 0 {
		x.killed(n)
		x.progress()
	}
	if x.rng.IntN(2) == 0 {
		n.setClock(0)
	}
}

// tellsTime demands that a node, if it is the gateway, takes the time to be what its clock says: otherwise nothing was wrong.
func (x *torture) tellsTime(n *node, seconds int) {
	x.t.Helper()
	if x.gateway() != n {
		return
	}
	var told int64
	if err := n.open("").QueryRow("SELECT UNIX_TIMESTAMP()").Scan(&told); err != nil || x.gateway() != n {
		return // it is the gateway no longer
	}
	if off := told - time.Now().Unix() - int64(seconds); off < -hour/2 || off > hour/2 {
		x.t.Errorf("a clock that is wrong by %d s tells a time that is %d s from that", seconds, off)
	}
}

// limitsStream and those after it draw the limits of the nodes.
const limitsStream = 100

// regionBytes is from which size on a region is split: so small that there are many, and splits all the time.
const regionBytes = 16 << 10

// nodeLimits are what a program takes from limitsEnv.
type nodeLimits struct {
	Store     store.Limits
	Transport transport.Limits
}

// give has node i take these limits when it is started.
func (n *node) give(i int, limits nodeLimits) {
	text, err := json.Marshal(limits)
	if err != nil {
		n.t.Fatal(err)
	}
	n.t.Logf("limits of node %d: %s", i+1, text)
	n.limits = string(text)
}

// wrongClock gives a node that is about to be started a clock that can be wrong, small regions, and in every other run limits of its own: with a log of three
// entries, snapshots in frames of one row, commits of one key a request and queues of one frame between nodes, what else takes hours of load happens all the time.
func (x *torture) wrongClock(i int, n *node) {
	if x.small {
		var limits nodeLimits
		testkit.Small(testkit.Rand(x.seed, limitsStream+uint64(i)), &limits)
		n.give(i, limits)
	}
	n.program, n.clock = other(x.t, wrongClock), filepath.Join(x.dir, fmt.Sprint("clock", i+1))
	n.setClock(0)
	for _, name := range []string{"--region-max-size", "--region-table-size"} {
		n.args = append(n.args, name, fmt.Sprint(regionBytes))
	}
}

// TestShortQueues: nodes between which few frames may wait keep all copies and lose no commit, also while one is killed, though frames are refused, which they
// count.
func TestShortQueues(t *testing.T) {
	if os.Getenv("TORTURE") == "" {
		t.Skip("builds the program once more; make torture runs it")
	}
	program, rng := other(t, wrongClock), testkit.Rand(testkit.Seed(t), limitsStream)
	dir := t.TempDir()
	c := newArenaOf(t, tortureNodes, func(i int, n *node) {
		n.program, n.clock = program, filepath.Join(dir, fmt.Sprint("clock", i+1))
		n.setClock(0)
		n.give(i, nodeLimits{Transport: transport.Limits{QueueFrames: 1 + rng.IntN(3), QueueBytes: 1 + rng.IntN(16<<10)}})
		n.args = append(n.args, "--region-max-size", fmt.Sprint(regionBytes), "--region-table-size", fmt.Sprint(regionBytes))
	})
	b := c.startBooks(8)
	b.progress()
	n := c.nodes[rng.IntN(len(c.nodes))]
	n.kill()
	b.progress()
	n.start()
	b.progress()
	c.settle()
	b.finish()
	c.sameCopies()
	full := 0.0
	for i, n := range c.nodes {
		const name = "pando_transport_queue_full_total"
		_, page := n.get("/metrics")
		_, rest, _ := strings.Cut(page, "\n"+name+" ")
		line, _, _ := strings.Cut(rest, "\n")
		refused, err := strconv.ParseFloat(line, 64)
		if t.Logf("node %d has refused %v frames", i+1, refused); err != nil {
			t.Error(err)
		}
		full += refused
	}
	if full == 0 {
		t.Error("no queue was ever full")
	}
}
