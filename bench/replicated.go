package bench

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// copies is how many nodes a replicated target has.
const copies = 3

// nodesOf is how many servers a target of a kind is.
func nodesOf(kind string) int {
	if kind == KindPando3 || kind == KindGalera3 {
		return copies
	}
	return 1
}

// portTries bounds the search for ports that follow each other.
const portTries = 100

var (
	playgroundLine = regexp.MustCompile(`^\d+ nodes are ready in `)
	galeraLine     = regexp.MustCompile(`^galera is ready$`)
)

// errLoopback: their nodes know each other by addresses of this machine alone.
var errLoopback = errors.New("pando3 and galera3 listen on loopback alone: clients cannot be apart from them")

// configurePando1 is for a cluster of one: a Pando that is promoted when it first answers.
func configurePando1(t *Target, o startOptions) {
	configurePando(t, o)
	t.first = func(ctx context.Context) error { return t.exec(ctx, "ADMIN PROMOTE") }
}

// configurePando3 is for three copies, by the playground.
func configurePando3(t *Target, o startOptions) error {
	if t.listen != loopback {
		return errLoopback
	}
	ports, err := freePorts(copies)
	if err != nil {
		return err
	}
	data := filepath.Join(t.dir, "data")
	// The playground passes its environment on to the nodes, for which these are settings.
	words := func() []string {
		return []string{"env", "PANDO_CACHE_SIZE=" + strconv.FormatInt(o.cacheBytes, 10), "PANDO_MAX_CONNECTIONS=" + strconv.Itoa(o.maxConnections),
			o.binary, "playground", "--nodes", strconv.Itoa(copies), "--dir", data, "--port", ports[0]}
	}
	t.Settings = t.public(slices.Concat(words()[1:3], []string{"pando"}, words()[4:]))
	t.Settings[len(t.Settings)-1] = "$PORT"
	t.skip = pandoReserves
	t.launch = func(ctx context.Context, t *Target) error {
		if _, err := t.launchAndRead(ctx, playgroundLine, words()[0], words()[1:]...); err != nil {
			return err
		}
		return t.readPlayground(filepath.Join(data, "playground.json"))
	}
	return nil
}

// readPlayground learns the nodes' addresses.
func (t *Target) readPlayground(path string) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	var state struct {
		Nodes []struct{ Port, HTTP int }
	}
	if err := json.Unmarshal(text, &state); err != nil {
		return err
	}
	t.nodes = nil
	for _, n := range state.Nodes {
		t.nodes = append(t.nodes, &Target{Kind: KindPando, Address: local(strconv.Itoa(n.Port)), http: local(strconv.Itoa(n.HTTP))})
	}
	if len(t.nodes) != copies {
		return fmt.Errorf("the playground has %d nodes", len(t.nodes))
	}
	t.Address = t.nodes[0].Address
	return nil
}

// configureGalera3 is for MariaDB with three copies, which galeraScript starts.
func configureGalera3(t *Target, o startOptions) error {
	if t.listen != loopback {
		return errLoopback
	}
	script, err := repositoryScript(galeraScript)
	if err != nil {
		return err
	}
	ports, err := freePorts(copies)
	if err != nil {
		return err
	}
	// Servers that run as another user reach their directories by it.
	if err := os.Chmod(t.dir, 0o711); err != nil {
		return err
	}
	data := filepath.Join(t.dir, "data")
	options := append(innodbShared(o), "--innodb-log-file-size=1G")
	t.Settings = append([]string{"galera.sh", "$DIR/data", "$PORT", "$PORT", "$PORT"}, options...)
	t.skip = func(name string) bool {
		name = filepath.Base(name)
		return strings.HasPrefix(name, "ib_logfile") || name == "ibtmp1" || name == "galera.cache"
	}
	t.launch = func(ctx context.Context, t *Target) error {
		if err := os.MkdirAll(data, 0o711); err != nil {
			return err
		}
		_, err := t.launchAndRead(ctx, galeraLine, script, slices.Concat([]string{data}, ports, options)...)
		if err == nil {
			t.nodes = nil
			for _, port := range ports {
				t.nodes = append(t.nodes, &Target{Kind: KindMariaDB, Address: local(port)})
			}
			t.Address = t.nodes[0].Address
		}
		return err
	}
	return nil
}

func local(port string) string { return net.JoinHostPort(loopback, port) }

// freePorts finds n ports in a row that nobody uses, below those that the kernel gives to clients.
func freePorts(n int) ([]string, error) {
	for try := range portTries {
		var ports []string
		for i := range n {
			port := strconv.Itoa(20000 + (os.Getpid()*31+try*97)%10000 + i)
			l, err := net.Listen("tcp", local(port))
			if err != nil {
				break
			}
			defer l.Close()
			ports = append(ports, port)
		}
		if len(ports) == n {
			return ports, nil
		}
	}
	return nil, fmt.Errorf("no %d free ports in a row", n)
}
