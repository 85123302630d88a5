package playground

import (
	"fmt"
	"path/filepath"
	"strings"
)

// proxyPort is where HAProxy takes clients: behind the ports of the nodes.
func (c *cluster) proxyPort() int { return c.o.Port + len(c.nodes) }

func (c *cluster) proxyPath() string { return filepath.Join(c.o.Dir, "haproxy.cfg") }

// proxyConfig is a configuration of HAProxy. Every node takes clients, and hands them on to the one that executes SQL; one that cannot says so at
// its status port.
func proxyConfig(nodes []*process, port int) string {
	var b strings.Builder
	fmt.Fprintf(&b, `global
    maxconn 4096

defaults
    mode tcp
    balance leastconn
    timeout connect 5s
    timeout client 8h
    timeout server 8h
    option redispatch
    retries 3

listen pando
    bind %s
    option httpchk GET /readyz
`, address(port))
	for _, n := range nodes {
		fmt.Fprintf(&b, "    server node%d %s check port %d inter 500ms fall 2 rise 1 on-marked-down shutdown-sessions\n", n.ID, address(n.Port), n.HTTP)
	}
	return b.String()
}
