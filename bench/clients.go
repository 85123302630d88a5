package bench

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Where the clients are.
const (
	ClientsHere  = "here"  // on the servers' processors and their loopback interface
	ClientsApart = "apart" // on a processor and in a network of their own
)

const loopback = "127.0.0.1"

// placement says where the servers and their clients run.
//
// Clients that are apart have a network namespace, which a pair of virtual Ethernet devices connects with the servers', and the last
// processor. To a server they look like clients of another machine: their address is not its own, and what they compute takes nothing
// from it. Both ends of the pair vanish with the namespace.
type placement struct {
	host   string // where servers listen
	space  string // the clients' network namespace, "" for the runner's own
	server string // list of the servers' processors, "" for all
	client string // the clients' processor, "" for all
	text   string // all of this in a sentence, for the report
}

// makePlacement makes what is needed for it. The caller closes it.
func makePlacement(ctx context.Context, clients string, serverCPUs int) (*placement, error) {
	text, _ := os.ReadFile("/proc/self/status")
	allowed := regexp.MustCompile(`(?m)^Cpus_allowed_list:\s*(\S+)$`).FindStringSubmatch(string(text))
	if allowed == nil {
		if clients == ClientsApart || serverCPUs > 0 {
			return nil, errors.New("this system does not tell its processors: --clients apart and --server-cpus need Linux")
		}
		return &placement{host: loopback, text: placementText("", "", false)}, nil
	}
	p, err := choose(parseCPUs(allowed[1]), clients, serverCPUs)
	if err != nil || clients != ClientsApart {
		return p, err
	}
	if err := p.makeSpace(ctx, os.Getpid()); err != nil {
		p.close()
		return nil, fmt.Errorf("--clients apart needs a network namespace, which could not be made here (it takes Linux, the program ip and root): %w", err)
	}
	return p, nil
}

// choose divides the processors.
func choose(cpus []int, clients string, serverCPUs int) (*placement, error) {
	p := &placement{host: loopback}
	n := len(cpus)
	switch {
	case serverCPUs > n:
		return nil, fmt.Errorf("--server-cpus %d: this machine has %d processors", serverCPUs, n)
	case serverCPUs == 0 && clients == ClientsApart:
		serverCPUs = max(1, n-1)
	}
	shared := false
	if clients == ClientsApart {
		p.client = strconv.Itoa(cpus[n-1])
		shared = serverCPUs == n
	}
	if serverCPUs > 0 {
		var list []string
		for _, cpu := range cpus[:serverCPUs] {
			list = append(list, strconv.Itoa(cpu))
		}
		p.server = strings.Join(list, ",")
	}
	p.text = placementText(p.server, p.client, shared)
	return p, nil
}

func placementText(server, client string, shared bool) string {
	servers := "Servers had all processors"
	if server != "" {
		servers = fmt.Sprintf("Servers were pinned to %d of the processors (%s)", strings.Count(server, ",")+1, server)
	}
	switch {
	case client == "":
		return servers + ". Sysbench ran beside them, over the loopback interface."
	case shared:
		return servers + ". Sysbench ran in a network namespace, pinned to processor " + client + ", **which it shared with the servers: the machine has no other**."
	}
	return servers + ". Sysbench ran in a network namespace, pinned to processor " + client + ", which no server used."
}

// parseCPUs reads the kernel's form of a list, as in 0-2,5.
func parseCPUs(text string) (cpus []int) {
	for part := range strings.SplitSeq(text, ",") {
		from, to, isRange := strings.Cut(part, "-")
		first, err := strconv.Atoi(from)
		if err != nil {
			continue
		}
		last := first
		if isRange {
			last, _ = strconv.Atoi(to)
		}
		for cpu := first; cpu <= last; cpu++ {
			cpus = append(cpus, cpu)
		}
	}
	return cpus
}

const spacePrefix = "pando-bench-"

// spaceNet is the network for measurements of RFC 2544, which nobody routes. Each process takes four addresses of it.
var spaceNet = netip.MustParseAddr("198.18.0.0").As4()

// spaceAddresses are the servers' address and the clients'.
func spaceAddresses(pid int) (server, client netip.Addr) {
	base := uint32(spaceNet[0])<<24 | uint32(spaceNet[1])<<16 | uint32(pid%(1<<15))*4
	at := func(n uint32) netip.Addr {
		return netip.AddrFrom4([4]byte{byte(n >> 24), byte(n >> 16), byte(n >> 8), byte(n)})
	}
	return at(base + 1), at(base + 2)
}

// makeSpace makes the clients' network, and removes those of sessions that were killed.
func (c *placement) makeSpace(ctx context.Context, pid int) error {
	names, err := ip(ctx, "netns", "list")
	if err != nil {
		return err
	}
	for _, name := range staleSpaces(names, func(pid int) bool { _, err := os.Stat("/proc/" + strconv.Itoa(pid)); return err == nil }) {
		_, _ = ip(ctx, "netns", "del", name) // another session may have done it
	}
	server, client := spaceAddresses(pid)
	name, here, there := spacePrefix+strconv.Itoa(pid), "pb"+strconv.Itoa(pid)+"s", "pb"+strconv.Itoa(pid)+"c"
	if _, err := ip(ctx, "netns", "add", name); err != nil {
		return err
	}
	c.space, c.host = name, server.String()
	for _, words := range [][]string{
		{"link", "add", here, "type", "veth", "peer", "name", there, "netns", name},
		{"addr", "add", server.String() + "/30", "dev", here},
		{"link", "set", here, "up"},
		{"-n", name, "addr", "add", client.String() + "/30", "dev", there},
		{"-n", name, "link", "set", there, "up"},
		{"-n", name, "link", "set", "lo", "up"},
	} {
		if _, err := ip(ctx, words...); err != nil {
			return err
		}
	}
	return nil
}

// staleSpaces lists the namespaces of processes that are gone.
func staleSpaces(list string, alive func(pid int) bool) (stale []string) {
	for line := range strings.Lines(list) {
		name, _, _ := strings.Cut(strings.TrimSpace(line), " ")
		rest, ours := strings.CutPrefix(name, spacePrefix)
		if pid, err := strconv.Atoi(rest); ours && err == nil && !alive(pid) {
			stale = append(stale, name)
		}
	}
	return stale
}

func ip(ctx context.Context, words ...string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, answerMax)
	defer cancel()
	out, err := exec.CommandContext(ctx, "ip", words...).CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("ip %s: %w: %s", strings.Join(words, " "), err, lastLine(string(out)))
	}
	return string(out), nil
}

// close removes the namespace.
func (c *placement) close() {
	if c.space != "" {
		_, _ = ip(context.Background(), "netns", "del", c.space)
	}
}

// clientWords is the command line that runs a client's where the clients are.
func (c *placement) clientWords(words []string) []string {
	words = pinned(c.client, words)
	if c.space != "" {
		words = append([]string{"ip", "netns", "exec", c.space}, words...)
	}
	return words
}

// pinned is a command line on a list of processors, "" for all.
func pinned(cpus string, words []string) []string {
	if cpus == "" {
		return slices.Clone(words)
	}
	return append([]string{"taskset", "-c", cpus}, words...)
}
