package bench

import (
	"net"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

func TestChoose(t *testing.T) {
	for _, c := range []struct {
		cpus, clients  string
		servers        int
		server, client string
		shared, fails  bool
	}{
		{"0-1", ClientsHere, 0, "", "", false, false},
		{"0-3", ClientsHere, 2, "0,1", "", false, false},
		{"0-1", ClientsApart, 0, "0", "1", false, false},
		{"0-1", ClientsApart, 1, "0", "1", false, false},
		{"0-1", ClientsApart, 2, "0,1", "1", true, false},
		{"2,5-7", ClientsApart, 0, "2,5,6", "7", false, false},
		{"3", ClientsApart, 0, "3", "3", true, false},
		{"0-1", ClientsApart, 3, "", "", false, true},
	} {
		p, err := choose(parseCPUs(c.cpus), c.clients, c.servers)
		if (err != nil) != c.fails {
			t.Errorf("%+v: %v", c, err)
		}
		if err == nil && (p.server != c.server || p.client != c.client || strings.Contains(p.text, "shared") != c.shared) {
			t.Errorf("%+v: %+v", c, p)
		}
	}
}

func TestStaleSpaces(t *testing.T) {
	list := "pando-bench-12 (id: 3)\nother\npando-bench-13\npando-bench-x\n"
	if got := staleSpaces(list, func(pid int) bool { return pid == 13 }); !slices.Equal(got, []string{"pando-bench-12"}) {
		t.Errorf("%q", got)
	}
	server, client := spaceAddresses(1<<15 + 3)
	if server.String() != "198.18.0.13" || client.String() != "198.18.0.14" {
		t.Errorf("%v, %v", server, client)
	}
}

// TestApart: clients that are apart come from another address than the servers', on a processor of their own, and leave nothing behind.
func TestApart(t *testing.T) {
	p, err := makePlacement(t.Context(), ClientsApart, 0)
	if err != nil {
		t.Skip(err)
	}
	defer p.close()
	listener, err := net.Listen("tcp", p.host+":0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	host, port, _ := net.SplitHostPort(listener.Addr().String())
	words := p.clientWords([]string{"bash", "-c", "exec 3<>/dev/tcp/" + host + "/" + port + "; grep Cpus_allowed_list /proc/self/status"})
	out, err := exec.CommandContext(t.Context(), words[0], words[1:]...).CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if fields := strings.Fields(string(out)); fields[1] != p.client {
		t.Errorf("the client runs on %s, not on %s", fields[1], p.client)
	}
	conn, err := listener.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	_, client := spaceAddresses(os.Getpid())
	if from, _, _ := net.SplitHostPort(conn.RemoteAddr().String()); from != client.String() {
		t.Errorf("the client comes from %s, not from %v", from, client)
	}
	p.close()
	if list, err := ip(t.Context(), "netns", "list"); err != nil || strings.Contains(list, p.space) {
		t.Errorf("%v: the namespace is still there: %s", err, list)
	}
}
