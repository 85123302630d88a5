package tests

import (
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/pandodb/pando/internal/testkit"
	"github.com/pandodb/pando/tests/badfs"
)

const (
	// tortureFaults is how many faults a run of the torture has, unless TORTURE_FAULTS says otherwise, and tortureNodes how many nodes, unless TORTURE_NODES does.
	tortureFaults, tortureNodes = 6, 3
	// pauseMin and pauseMax bound how long a process is stopped, cutMin and cutMax how long the network is torn.
	pauseMin, pauseMax = 5 * time.Second, 30 * time.Second
	cutMin, cutMax     = 1 * time.Second, 15 * time.Second
	// aloneRegions is how many regions there are before a single node is killed: once it is killed every few seconds it hardly gets to splitting.
	aloneRegions = 5
)

// misfortune is something that happens to a cluster under load.
type misfortune struct {
	name string
	// do lets it happen and ends it. Clients are to get on after it, and meanwhile where it says so.
	do func(x *torture)
}

// torture is one run: a cluster, clients, and what happens to them.
type torture struct {
	*arena
	t     testing.TB
	dir   string
	rng   *rand.Rand
	books *books
	w     *witnesses
	disks []*badfs.FS // of the nodes, if they can misbehave
	// counts is how often what has happened, over all runs.
	counts map[string]int
	// small: the nodes have limits that are drawn from the seed.
	seed  uint64
	small bool
}

// misfortunes are all of them. What happens to the gateway is the worst, and comes most often.
var misfortunes = []misfortune{
	{"another node than the gateway is killed", func(x *torture) { x.killed(x.other()) }},
	{"the gateway is killed", func(x *torture) { x.killed(x.gateway()) }},
	{"two are killed", func(x *torture) { x.killed(x.other(), x.gateway()) }},
	{"all are killed", func(x *torture) { x.killed(x.nodes...) }},
	{"a node is stopped and started in order", func(x *torture) {
		n := x.any()
		n.stop()
		x.perhapsProgress()
		n.start()
	}},
	{"the gateway stands still", func(x *torture) { x.paused(x.gateway()) }},
	{"another node than the gateway stands still", func(x *torture) { x.paused(x.other()) }},
	{"all stand still", func(x *torture) {
		for _, n := range x.nodes {
			n.pause()
		}
		time.Sleep(x.between(time.Second, pauseMax))
		for _, n := range x.nodes {
			n.resume()
		}
	}},
	{"the gateway stands still while another is killed", func(x *torture) {
		g, o := x.gateway(), x.other()
		g.pause()
		o.kill()
		time.Sleep(x.between(time.Second, pauseMin))
		g.resume()
		o.start()
	}},
	{"the gateway is cut off", func(x *torture) {
		x.isolate(x.index(x.gateway()))
		x.cutFor(true)
	}},
	{"another node than the gateway is cut off", func(x *torture) {
		x.isolate(x.index(x.other()))
		x.cutFor(true)
	}},
	{"all are cut off from each other", func(x *torture) {
		for i := range x.nodes {
			x.isolate(i)
		}
		x.cutFor(false)
	}},
	{"the gateway is not heard", func(x *torture) { x.oneWay(x.index(x.gateway()), true) }},
	{"the gateway hears nobody", func(x *torture) { x.oneWay(x.index(x.gateway()), false) }},
	{"another node is not heard", func(x *torture) { x.oneWay(x.index(x.other()), true) }},
	{"another node hears nobody", func(x *torture) { x.oneWay(x.index(x.other()), false) }},
	{"one way between two nodes is cut", func(x *torture) {
		g := x.index(x.gateway())
		x.hold(g, (g+1)%len(x.nodes))
		x.cutFor(false)
	}},
	{"connections break again and again", func(x *torture) {
		for range 10 {
			x.proxies[x.rng.IntN(len(x.proxies))].Cut(testkit.Everyone)
			time.Sleep(x.between(0, time.Second))
		}
	}},
	{"the network is slow", func(x *torture) {
		for _, p := range x.proxies {
			p.Slow(x.between(time.Millisecond, 200*time.Millisecond), testkit.Way{Dialer: testkit.Everyone}, testkit.Way{Dialer: testkit.Everyone, Back: true})
		}
		x.cutFor(false)
	}},
	{"the gateway is cut off, and another is killed when the network is whole again", func(x *torture) {
		g := x.gateway()
		x.isolate(x.index(g))
		time.Sleep(x.between(0, cutMax))
		x.heal()
		time.Sleep(x.between(0, time.Second))
		for _, n := range x.nodes {
			if n != g && x.rng.IntN(2) == 0 {
				x.killed(n)
				return
			}
		}
	}},
	{"a node is lost with its disk, is removed, and an empty one joins", (*torture).replaced},
}

// aloneMisfortunes happen to a cluster of one.
var aloneMisfortunes = []misfortune{
	{"the only node is killed", func(x *torture) { x.killed(x.nodes...) }},
	{"the only node is stopped and started in order", func(x *torture) {
		x.nodes[0].stop()
		x.nodes[0].start()
	}},
	{"the only node stands still", func(x *torture) {
		x.nodes[0].pause()
		time.Sleep(x.between(0, pauseMin))
		x.nodes[0].resume()
	}},
}

func (x *torture) between(least, most time.Duration) time.Duration {
	return least + time.Duration(x.rng.Int64N(int64(most-least)))
}

func (x *torture) any() *node { return x.nodes[x.rng.IntN(len(x.nodes))] }

// other is a node that is not the gateway.
func (x *torture) other() *node {
	g := x.index(x.gateway())
	return x.nodes[(g+1+x.rng.IntN(len(x.nodes)-1))%len(x.nodes)]
}

// perhapsProgress waits for clients to get on, or for a moment.
func (x *torture) perhapsProgress() {
	if x.rng.IntN(2) == 0 {
		x.progress()
		return
	}
	time.Sleep(x.between(0, 3*time.Second))
}

// progress waits until clients of all kinds get on.
func (x *torture) progress() {
	x.t.Helper()
	from := x.w.done.Load()
	x.books.progress()
	x.await("clients to go on", func() bool { return x.w.done.Load() > from+20 })
}

// killedProcesses is what counts has the killed processes under.
const killedProcesses = "processes killed"

// killed kills nodes and starts them again. While there is a majority clients get on.
func (x *torture) killed(nodes ...*node) {
	if x.small {
		x.awaitCopies() // one that was cut off a moment ago may lack some, as said in tortureOnce
	}
	for _, n := range nodes {
		n.kill()
		x.counts[killedProcesses]++
	}
	if len(nodes)*2 < len(x.nodes) {
		x.perhapsProgress()
	} else {
		time.Sleep(x.between(0, 3*time.Second))
	}
	for _, n := range nodes {
		if err := n.launch(); err != nil {
			x.t.Fatal(err)
		}
	}
	for _, n := range nodes {
		if err := n.awaitReady(); err != nil {
			x.t.Fatalf("%v\n%s", err, lastPart(n.logText()))
		}
	}
}

// paused stops a process for a while and lets it go on. Clients get on meanwhile.
func (x *torture) paused(n *node) {
	n.pause()
	time.Sleep(x.between(pauseMin, pauseMax))
	if x.rng.IntN(2) == 0 {
		x.progress()
	}
	n.resume()
}

// cutFor leaves the network as it is for a while, and makes it whole.
func (x *torture) cutFor(progress bool) {
	time.Sleep(x.between(cutMin, cutMax))
	if progress && x.rng.IntN(2) == 0 {
		x.progress()
	}
	x.heal()
}

// oneWay cuts what a node says, or what it hears.
func (x *torture) oneWay(i int, says bool) {
	for j := range x.nodes {
		switch {
		case j == i:
		case says:
			x.hold(i, j)
		default:
			x.hold(j, i)
		}
	}
	x.cutFor(true)
}

// replaced takes a node's disk away: it is removed from the cluster, and an empty one joins in its place.
func (x *torture) replaced() {
	x.settle() // or a majority could be lost with it
	n := x.other()
	s, ok := n.clusterStatus()
	if !ok {
		return
	}
	n.kill()
	x.replaceLost(n, s.Cluster.Store)
}

// replaceLost has an empty node join in place of one that has ended, which is removed.
func (x *torture) replaceLost(n *node, id uint64) {
	x.perhapsProgress()
	if x.rng.IntN(2) == 0 { // else it is removed when the new one joins at its address
		mustExec(x.t, x.gateway().open(""), fmt.Sprintf("ADMIN NODE REMOVE %d", id))
	}
	if err := os.RemoveAll(n.dir); err != nil {
		x.t.Fatal(err)
	}
	if err := os.Mkdir(n.dir, 0o700); err != nil {
		x.t.Fatal(err)
	}
	n.setClock(0) // where clocks differ by more than two hours a node is not taken in, and is told so
	x.join(x.index(n), x.index(x.gateway()))
	x.awaitVoters(len(x.nodes)) // or what happens next could take the majority away
	x.settle()
}

// TestTorture lets misfortunes happen to a cluster under clients of several kinds and checks all that they saw, again and again for as long as
// TORTURE says; each run has a seed of its own.
func TestTorture(t *testing.T) {
	text := os.Getenv("TORTURE")
	if text == "" {
		t.Skip("takes hours; make torture runs it")
	}
	length, err := time.ParseDuration(text)
	if err != nil {
		t.Fatalf("TORTURE=%q: %v", text, err)
	}
	seed := testkit.Seed(t)
	counts := map[string]int{}
	begun := time.Now()
	for run := uint64(0); run == 0 || time.Since(begun) < length; run++ {
		if !t.Run(fmt.Sprint(seed+run), func(t *testing.T) { tortureOnce(t, seed+run, counts) }) {
			t.Fatalf("run %d has failed; replay with PANDO_SEED=%d TORTURE=0s go test ./tests -run '^TestTorture$'", run, seed+run)
		}
	}
	for _, m := range slices.Concat(misfortunes, aloneMisfortunes, clockMisfortunes, diskMisfortunes) {
		if n := counts[m.name]; n > 0 {
			t.Logf("%4d times: %s", n, m.name)
		}
	}
	t.Logf("%4d processes were killed", counts[killedProcesses])
}

// tortureOnce is one run.
func tortureOnce(t *testing.T, seed uint64, counts map[string]int) {
	dir, err := os.MkdirTemp("", "pando-torture-")
	if err != nil {
		t.Fatal(err)
	}
	var a *arena
	x := &torture{t: t, dir: dir, rng: testkit.Rand(seed, 1), counts: counts, seed: seed, small: seed%2 == 1}
	t.Cleanup(func() {
		if !t.Failed() {
			_ = os.RemoveAll(dir) // what is left of it harms nobody
			return
		}
		if a == nil {
			return // it did not even start
		}
		for i, n := range a.nodes {
			_ = os.WriteFile(filepath.Join(dir, fmt.Sprint("node", i+1, ".log")), []byte(n.logText()), 0o600)
		}
		t.Logf("directories and logs are kept in %s", dir)
	})
	nodes, faults := fromEnv(t, "TORTURE_NODES", tortureNodes), fromEnv(t, "TORTURE_FAULTS", tortureFaults)
	kinds, dirs := x.prepare(nodes)
	if only := os.Getenv("TORTURE_KINDS"); only != "" {
		kinds = slices.DeleteFunc(slices.Clone(kinds), func(m misfortune) bool { return !strings.Contains(m.name, only) })
	}
	if len(kinds) == 0 {
		t.Fatal("nothing would happen: TORTURE_KINDS is a part of no name")
	}
	a = newArenaOf(t, nodes, x.wrongClock, dirs...)
	if x.small != strings.Contains(a.nodes[0].logText(), "given limits") {
		t.Fatal("the program does not take limits")
	}
	x.arena, x.books = a, a.startBooks(2)
	x.w = a.startWitnesses(seed, witnessLevels[x.rng.IntN(len(witnessLevels))])
	x.progress()
	if nodes < tortureNodes {
		x.await("several regions", func() bool { s, ok := x.nodes[0].clusterStatus(); return ok && len(s.Cluster.Regions) >= aloneRegions })
	}
	for range faults {
		m := kinds[x.rng.IntN(len(kinds))]
		counts[m.name]++
		if x.small {
			// Where logs are short a node that comes back has no copy of regions that were made meanwhile, until it has their snapshots: without it and another
			// there is no majority.
			x.awaitCopies()
		}
		t.Logf("%s %s", time.Now().UTC().Format(time.TimeOnly), m.name)
		m.do(x)
		x.progress()
		if t.Failed() {
			return
		}
	}
	x.settle()
	t.Logf("%s end", time.Now().UTC().Format(time.TimeOnly))
	x.books.finish()
	for _, fault := range x.w.finish(x.gateway().open("history")) {
		t.Error(fault)
	}
	x.settle()
	x.sameCopies()
	x.checkTables(x.tables(x.gateway().open(""))...)
	for _, n := range x.nodes {
		n.stop()
		if out, err := exec.Command(binary, "check", n.dir).CombinedOutput(); err != nil {
			t.Errorf("pando check of %s: %v\n%s", n.dir, err, out)
		}
	}
}

// fromEnv reads a number from the environment.
func fromEnv(t testing.TB, name string, without int) int {
	text := os.Getenv(name)
	if text == "" {
		return without
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		t.Fatalf("%s=%q is no number", name, text)
	}
	return n
}

// prepare makes the directories of the nodes of a run, and says what may happen to them.
func (x *torture) prepare(nodes int) (kinds []misfortune, dirs []string) {
	kinds = slices.Concat(misfortunes, clockMisfortunes)
	if nodes < tortureNodes {
		kinds = aloneMisfortunes
	}
	why := badfs.Missing()
	if why == "" && nodes >= tortureNodes {
		return slices.Concat(kinds, diskMisfortunes), x.badDisks(x.dir, nodes)
	}
	if why != "" {
		x.t.Logf("no disk misbehaves: %s", why)
	}
	for i := range nodes {
		dirs = append(dirs, filepath.Join(x.dir, fmt.Sprint("node", i+1)))
		if err := os.Mkdir(dirs[i], 0o700); err != nil {
			x.t.Fatal(err)
		}
	}
	return kinds, dirs
}

// checkTables compares every index of these tables with its table.
func (c *copies) checkTables(tables ...string) {
	db := c.gateway().open("")
	for _, table := range tables {
		var name, op, kind, text string
		rows, err := db.Query("CHECK TABLE " + table)
		if err != nil {
			c.t.Fatal(err)
		}
		for rows.Next() {
			if err := rows.Scan(&name, &op, &kind, &text); err != nil {
				c.t.Fatal(err)
			}
			if kind != "status" || !strings.EqualFold(text, "OK") {
				c.t.Errorf("CHECK TABLE %s: %s %s", table, kind, text)
			}
		}
		if err := errors.Join(rows.Err(), rows.Close()); err != nil {
			c.t.Fatal(err)
		}
	}
}

// tables lists those of the clients.
func (x *torture) tables(db *sql.DB) (names []string) {
	rows, err := db.Query("SELECT CONCAT(TABLE_SCHEMA, '.', TABLE_NAME) FROM information_schema.TABLES WHERE TABLE_SCHEMA IN ('bank', 'history')")
	if err != nil {
		x.t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			x.t.Fatal(err)
		}
		names = append(names, name)
	}
	if len(names) < 7 || rows.Err() != nil {
		x.t.Fatalf("tables %q, %v", names, rows.Err())
	}
	return names
}

// TestMisfortunesAreNamed: the table of what a torture did counts by name.
func TestMisfortunesAreNamed(t *testing.T) {
	var names []string
	all := slices.Concat(misfortunes, aloneMisfortunes, clockMisfortunes, diskMisfortunes)
	for _, m := range all {
		names = append(names, m.name)
	}
	slices.Sort(names)
	if len(slices.Compact(names)) != len(all) {
		t.Error("two have one name")
	}
}
