package playground

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/pandodb/pando/clock"
)

// Limits.
const (
	nodesMax = 9
	// readyMax bounds the wait for a node or the cluster to be ready; recovery of a large directory is told to wait by the log.
	readyMax  = 10 * time.Minute
	pollEvery = 100 * time.Millisecond
	// stopMax is how long nodes may take to stop before they are killed.
	stopMax     = 30 * time.Second
	defaultSize = 3
	host        = "127.0.0.1"
	stateName   = "playground.json"
	// beforeSuffix is of the file of the last run until the next is ready.
	beforeSuffix = ".before"
	statusBytes  = 1 << 20
	// answerMax bounds one look at a status port, so that a node that hangs does not hide that another has died.
	answerMax = 10 * time.Second
)

// Options describe a cluster.
type Options struct {
	Program string // the path of pando
	// Nodes is how many there are to be; 0 takes as many as the directory has, or three.
	Nodes int
	Dir   string
	Port  int // of SQL at node 1; node i has Port+i-1
	// MemoryBytes and Procs are what all nodes together may take; each gets its share.
	MemoryBytes int64
	Procs       int
	HAProxy     bool
	// SQL sends a statement to a port as root, and returns its rows.
	SQL func(ctx context.Context, port int, statement string) ([][]string, error)
	Out io.Writer
}

// Node is one of the cluster, as playground.json has it.
type Node struct {
	ID          int    `json:"id"`
	PID         int    `json:"pid"`
	Port        int    `json:"port"`
	HTTP        int    `json:"http"`
	ClusterPort int    `json:"cluster_port"`
	Dir         string `json:"dir"`
}

type state struct {
	Nodes []Node `json:"nodes"`
}

// Run starts a cluster, tells how to connect once it is ready, and stops it when ctx ends.
func Run(ctx context.Context, o Options) (err error) {
	p, err := prepare(&o)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, p.stop()) }()
	if err := p.start(ctx); err != nil {
		return err
	}
	if err := p.save(); err != nil {
		return err
	}
	p.tell()
	for {
		select {
		case <-ctx.Done():
			fmt.Fprintln(o.Out, "stopping")
			return nil
		case dead := <-p.died:
			fmt.Fprintf(o.Out, "node %d has died (%s); it is not started again; its log is %s\n", dead.ID, dead.how, p.logPath(dead.ID))
		}
		if len(p.running()) == 0 {
			return errors.New("no node is left")
		}
	}
}

// cluster is a playground that runs.
type cluster struct {
	o     *Options
	nodes []*process
	had   int // nodes that the directory had before
	died  chan *process
}

// prepare reads what is in the directory, and gives ports to the nodes.
func prepare(o *Options) (*cluster, error) {
	if o.Port < 1 || o.Port > 65535-nodesMax {
		return nil, fmt.Errorf("--port %d is not between 1 and %d", o.Port, 65535-nodesMax)
	}
	if err := os.MkdirAll(o.Dir, 0o700); err != nil {
		return nil, err
	}
	dir, err := filepath.Abs(o.Dir)
	if err != nil {
		return nil, err
	}
	o.Dir = dir
	before, err := setAside(o.Dir)
	if err != nil {
		return nil, err
	}
	c := &cluster{o: o, died: make(chan *process, nodesMax)}
	for c.had < nodesMax && exists(filepath.Join(c.dataDir(c.had+1), "PANDO")) {
		c.had++
	}
	if o.Nodes == 0 {
		o.Nodes = max(c.had, len(before.Nodes))
		if o.Nodes == 0 {
			o.Nodes = defaultSize
		}
	}
	if o.Nodes < max(c.had, 1) || o.Nodes > nodesMax {
		return nil, fmt.Errorf("--nodes %d: it must be between %d, which are in %s, and %d", o.Nodes, max(c.had, 1), o.Dir, nodesMax)
	}
	for i := range o.Nodes {
		n := Node{ID: i + 1, Port: o.Port + i, Dir: c.dataDir(i + 1)}
		if i < len(before.Nodes) {
			n.HTTP, n.ClusterPort = before.Nodes[i].HTTP, before.Nodes[i].ClusterPort
		}
		c.nodes = append(c.nodes, &process{Node: n})
	}
	return c, c.givePorts()
}

// setAside reads what the last run was, and moves its file: playground.json is there when its nodes are, for who waits for it.
func setAside(dir string) (before state, err error) {
	path := filepath.Join(dir, stateName)
	if err := os.Rename(path, path+beforeSuffix); err != nil && !errors.Is(err, os.ErrNotExist) {
		return before, err
	}
	b, err := os.ReadFile(path + beforeSuffix)
	if errors.Is(err, os.ErrNotExist) {
		return before, nil
	}
	if err == nil {
		if err = json.Unmarshal(b, &before); err != nil {
			err = fmt.Errorf("%s: %w", path+beforeSuffix, err)
		}
	}
	return before, err
}

// givePorts gives each node ports that are free. Those of an earlier run are taken again if they are.
func (c *cluster) givePorts() error {
	var held []net.Listener
	defer func() {
		for _, l := range held {
			_ = l.Close() // it was listened on to see that nobody else does
		}
	}()
	hold := func(port int) (int, error) {
		l, err := net.Listen("tcp", net.JoinHostPort(host, strconv.Itoa(port)))
		if err != nil {
			return 0, err
		}
		held = append(held, l)
		return l.Addr().(*net.TCPAddr).Port, nil
	}
	for _, n := range c.nodes {
		if _, err := hold(n.Port); err != nil {
			return fmt.Errorf("port %d, of node %d, is not free: choose other ports with --port: %w", n.Port, n.ID, err)
		}
	}
	for _, n := range c.nodes {
		for _, port := range []*int{&n.HTTP, &n.ClusterPort} {
			got, err := hold(*port)
			if err != nil && *port != 0 {
				got, err = hold(0)
			}
			if err != nil {
				return err
			}
			*port = got
		}
	}
	return nil
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

func (c *cluster) dataDir(id int) string { return filepath.Join(c.o.Dir, "node"+strconv.Itoa(id)) }
func (c *cluster) logPath(id int) string { return c.dataDir(id) + ".log" }

// start starts what the directory has, makes a cluster of it if it is to have several nodes, and lets the others join.
func (c *cluster) start(ctx context.Context) error {
	for _, n := range c.nodes[:max(c.had, 1)] {
		if err := c.launch(n, ""); err != nil {
			return err
		}
	}
	for _, n := range c.nodes[:max(c.had, 1)] {
		if err := c.await(ctx, n); err != nil {
			return err
		}
	}
	if len(c.nodes) > 1 {
		if err := c.grow(ctx); err != nil {
			return err
		}
	}
	return c.settle(ctx)
}

// grow lets the nodes join that are not in the cluster yet.
func (c *cluster) grow(ctx context.Context) error {
	fresh := c.nodes[max(c.had, 1):]
	if len(fresh) == 0 {
		return nil
	}
	first := c.nodes[0]
	if _, err := c.o.SQL(ctx, first.Port, "ADMIN PROMOTE"); err != nil {
		return fmt.Errorf("node 1 cannot become the first of a cluster: %w", err)
	}
	for _, n := range fresh {
		rows, err := c.o.SQL(ctx, first.Port, "ADMIN TOKEN USES 1")
		if err != nil {
			return fmt.Errorf("no token to join with: %w", err)
		}
		if err := c.launch(n, rows[0][0]); err != nil {
			return err
		}
		if err := c.await(ctx, n); err != nil {
			return err
		}
	}
	return nil
}

// launch starts a node's process.
func (c *cluster) launch(n *process, token string) error {
	args := []string{"start", "--data-dir", n.Dir, "--listen", address(n.Port), "--http", address(n.HTTP),
		"--cluster-listen", address(n.ClusterPort), "--max-procs", strconv.Itoa(max(1, c.o.Procs/len(c.nodes)))}
	if c.o.MemoryBytes > 0 {
		args = append(args, "--memory-limit", strconv.FormatInt(c.o.MemoryBytes/int64(len(c.nodes)), 10))
	}
	var others []string
	for _, other := range c.nodes[:max(c.had, 1)] {
		if other != n {
			others = append(others, address(other.ClusterPort))
		}
	}
	if len(others) > 0 {
		args = append(args, "--join", strings.Join(others, ","))
	}
	env := os.Environ()
	if token != "" {
		env = append(env, "PANDO_JOIN_TOKEN="+token) // which a list of processes does not show
	}
	return n.launch(c.o.Program, args, env, c.logPath(n.ID), c.died)
}

func address(port int) string { return net.JoinHostPort(host, strconv.Itoa(port)) }

// await waits until a node serves.
func (c *cluster) await(ctx context.Context, n *process) error {
	return c.poll(ctx, fmt.Sprintf("node %d to serve", n.ID), func() bool {
		code, _ := get(ctx, n.HTTP, "/readyz")
		return code == http.StatusOK
	})
}

// status is what /status says of the cluster.
type status struct {
	Ready   bool `json:"ready"`
	Cluster *struct {
		Role         string     `json:"role"`
		RegionsShort int        `json:"regions_short"`
		Nodes        []struct{} `json:"nodes"` // that the gateway has heard of
	} `json:"cluster"`
}

// settle waits until every region has its copies. A node that says it is ready may not be counted yet: until it is, a smaller cluster may have all of its copies.
func (c *cluster) settle(ctx context.Context) error {
	if len(c.nodes) == 1 {
		return nil
	}
	return c.poll(ctx, "every region to have its copies", func() bool {
		for _, n := range c.nodes {
			var s status
			_, body := get(ctx, n.HTTP, "/status")
			if json.Unmarshal(body, &s) == nil && s.Cluster != nil && s.Cluster.Role == "gateway" {
				return s.Cluster.RegionsShort == 0 && len(s.Cluster.Nodes) >= len(c.nodes)
			}
		}
		return false
	})
}

// poll waits until something is the case. It ends early if a node dies.
func (c *cluster) poll(ctx context.Context, what string, is func() bool) error {
	ctx, cancel := context.WithTimeout(ctx, readyMax)
	defer cancel()
	ticker := clock.NewTicker(pollEvery)
	defer ticker.Stop()
	for !is() {
		select {
		case <-ctx.Done():
			return fmt.Errorf("stopped while waiting for %s", what)
		case dead := <-c.died:
			return fmt.Errorf("node %d ended (%s) while waiting for %s:\n%s", dead.ID, dead.how, what, lastLines(c.logPath(dead.ID)))
		case <-ticker.C:
		}
	}
	return nil
}

// get reads a page of a status port.
func get(ctx context.Context, port int, path string) (code int, body []byte) {
	ctx, cancel := context.WithTimeout(ctx, answerMax)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+address(port)+path, nil)
	if err != nil {
		return 0, nil
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return 0, nil // it does not serve yet
	}
	defer func() { _ = answer.Body.Close() }() // it was read
	body, err = io.ReadAll(io.LimitReader(answer.Body, statusBytes))
	if err != nil {
		return 0, nil
	}
	return answer.StatusCode, body
}

// lastLines returns the end of a log.
func lastLines(path string) string {
	b, err := os.ReadFile(path)
	if err != nil {
		return err.Error()
	}
	const shown = 10
	lines := bytes.Split(bytes.TrimSpace(b), []byte("\n"))
	return string(bytes.Join(lines[max(0, len(lines)-shown):], []byte("\n")))
}

// save writes playground.json, whole or not at all.
func (c *cluster) save() error {
	var s state
	for _, n := range c.nodes {
		s.Nodes = append(s.Nodes, n.Node)
	}
	b, err := json.Marshal(s)
	if err != nil {
		return err
	}
	path := filepath.Join(c.o.Dir, stateName)
	if err := os.WriteFile(path+".part", append(b, '\n'), 0o600); err != nil {
		return err
	}
	if c.o.HAProxy {
		if err := os.WriteFile(c.proxyPath(), []byte(proxyConfig(c.nodes, c.proxyPort())), 0o600); err != nil {
			return err
		}
	}
	if err := os.Rename(path+".part", path); err != nil {
		return err
	}
	if err := os.Remove(path + beforeSuffix); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}

// tell says how to connect.
func (c *cluster) tell() {
	for _, n := range c.nodes {
		fmt.Fprintf(c.o.Out, "node %d: mariadb -h %s -P %d -u root    status page: http://%s/\n", n.ID, host, n.Port, address(n.HTTP))
	}
	if c.o.HAProxy {
		fmt.Fprintf(c.o.Out, "haproxy -f %s spreads clients of port %d over the nodes\n", c.proxyPath(), c.proxyPort())
	}
	fmt.Fprintf(c.o.Out, "%d nodes are ready in %s; Ctrl-C stops them\n", len(c.nodes), c.o.Dir)
}

// running returns the nodes whose process has not ended.
func (c *cluster) running() []*process {
	return slices.DeleteFunc(slices.Clone(c.nodes), func(n *process) bool { return !n.alive() })
}

// stop ends all processes.
func (c *cluster) stop() error {
	var faults []error
	for _, n := range c.running() {
		n.terminate()
	}
	deadline := clock.NewTimer(stopMax)
	defer deadline.Stop()
	for _, n := range c.nodes {
		if n.ended == nil {
			continue
		}
		select {
		case <-n.ended:
		case <-deadline.C:
			faults = append(faults, fmt.Errorf("node %d did not stop within %v and was killed", n.ID, stopMax))
			for _, n := range c.running() {
				n.kill()
			}
			<-n.ended
		}
	}
	return errors.Join(faults...)
}
