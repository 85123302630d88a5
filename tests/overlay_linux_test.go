package tests

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// buildOther builds the program with some of its files replaced: what each is to be comes from what it is. A file that is not there is added. It lies beside the
// binary of all tests, and goes with it.
func buildOther(name string, files map[string]func(source string) (string, error)) (program string, err error) {
	dir := filepath.Join(filepath.Dir(binary), name)
	if err := os.Mkdir(dir, 0o700); err != nil {
		return "", err
	}
	root, err := filepath.Abs("..")
	if err != nil {
		return "", err
	}
	overlay := struct{ Replace map[string]string }{map[string]string{}}
	for path, edit := range files {
		source, err := os.ReadFile(filepath.Join(root, path))
		if err != nil && !os.IsNotExist(err) {
			return "", err
		}
		text, err := edit(string(source))
		if err != nil {
			return "", fmt.Errorf("%s: %w", path, err)
		}
		to := filepath.Join(dir, strings.ReplaceAll(path, "/", "-"))
		if err := os.WriteFile(to, []byte(text), 0o600); err != nil {
			return "", err
		}
		overlay.Replace[filepath.Join(root, path)] = to
	}
	list, err := json.Marshal(overlay)
	if err != nil {
		return "", err
	}
	if err := os.WriteFile(filepath.Join(dir, "overlay.json"), list, 0o600); err != nil {
		return "", err
	}
	program = filepath.Join(dir, "pando")
	build := exec.Command("go", "build", "-trimpath", "-overlay", filepath.Join(dir, "overlay.json"), "-o", program, "../cmd/pando")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("go build: %w\n%s", err, out)
	}
	return program, nil
}

// replace is an edit that puts texts in the place of others, each of which must be there.
func replace(pairs ...string) func(string) (string, error) {
	return func(source string) (string, error) {
		for i := 0; i < len(pairs); i += 2 {
			if !strings.Contains(source, pairs[i]) {
				return "", fmt.Errorf("%q is not there any more: the test has to follow", pairs[i])
			}
			source = strings.ReplaceAll(source, pairs[i], pairs[i+1])
		}
		return source, nil
	}
}

// wrongClock builds, once, a program whose wall clock is wrong by as much as a file says, while what is measured in between goes on rightly: as on a machine
// whose clock was set. It also takes small regions, so that there are many of them, and other limits of
// the store and the transport than the product's (nodeLimits).
var wrongClock = sync.OnceValues(func() (string, error) {
	return buildOther("wrongclock", map[string]func(string) (string, error){
		"clock/clock.go":    replace("{ return time.Now() }", "{ return shifted() }", "return time.Now().UnixMilli()", "return shifted().UnixMilli()"),
		"server/options.go": replace("const regionBytesMin = 1 << 20", "const regionBytesMin = 1 << 10"),
		"server/node.go":    replace("store.Options{Engine: n.engine,", "store.Options{Limits: givenLimits(n.log).Store, Engine: n.engine,"),
		"server/cluster.go": replace("transport.Options{\n", "transport.Options{Limits: givenLimits(n.log).Transport,\n"),
		"server/given.go": func(string) (string, error) {
			return `package server

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"os"

	"github.com/pandodb/pando/cluster/transport"
	"github.com/pandodb/pando/store"
)

// givenLimits are those that the test has drawn.
func givenLimits(log *slog.Logger) (l struct {
	Store     store.Limits
	Transport transport.Limits
}) {
	if text := os.Getenv("` + limitsEnv + `"); text != "" {
		if err := json.Unmarshal([]byte(text), &l); err != nil {
			panic(err)
		}
		log.Info("given limits", "limits", fmt.Sprintf("%+v", l))
	}
	return l
}
`, nil
		},
		"clock/shifted.go": func(string) (string, error) {
			return `package clock

import (
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
	"unsafe"
)

var shift atomic.Int64 // seconds

func init() {
	name := os.Getenv("` + clockEnv + `")
	read := func() {
		b, err := os.ReadFile(name)
		if err != nil {
			panic(err)
		}
		if n, err := strconv.ParseInt(strings.TrimSpace(string(b)), 10, 64); err == nil { // it may be half written
			shift.Store(n)
		}
	}
	read()
	go func() {
		for {
			time.Sleep(10 * time.Millisecond)
			read()
		}
	}()
}

// shifted is time.Now with another wall time. The first word of a time.Time has the seconds above 30 bits of nanoseconds; the second the monotonic clock.
func shifted() time.Time {
	t := time.Now()
	*(*uint64)(unsafe.Pointer(&t)) += uint64(shift.Load()) << 30
	return t
}
`, nil
		},
	})
})

// newerProgram builds, once, a program that knows a newer version of the cluster besides this one, and begins clusters with it.
var newerProgram = sync.OnceValues(func() (string, error) {
	return buildOther("newer", map[string]func(string) (string, error){
		"store/meta.go": replace("clusterVersion = 2\n", "clusterVersion = 3\n"),
	})
})

// other is a program that was built by one of these.
func other(t testing.TB, build func() (string, error)) string {
	t.Helper()
	began := time.Now()
	program, err := build()
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("built %s in %v", filepath.Base(filepath.Dir(program)), time.Since(began).Round(time.Second))
	return program
}

// setClock has the clock of a node be wrong by some seconds.
func (n *node) setClock(seconds int) {
	n.t.Helper()
	if err := os.WriteFile(n.clock, []byte(fmt.Sprintln(seconds)), 0o600); err != nil {
		n.t.Fatal(err)
	}
}

// TestOlderProgram: a node whose program is older than what the cluster has agreed on is told so, whether it wants to join or is a member, and harms nobody; three nodes
// whose programs are replaced by newer ones, one after the other, serve meanwhile.
func TestOlderProgram(t *testing.T) {
	if os.Getenv("TORTURE") == "" {
		t.Skip("builds the program once more; make torture runs it")
	}
	newer := other(t, newerProgram)
	t.Run("upgrade", func(t *testing.T) {
		c := newArena(t, 3) // its nodes keep their ports
		b := c.startBooks(2)
		for _, n := range c.nodes {
			b.progress()
			n.stop()
			n.program = newer
			b.progress()
			n.start()
			c.settle()
		}
		b.progress()
		// Now that all know the newer version the cluster has it, and the older program is refused.
		c.await("the newer version", func() bool {
			s, ok := c.gateway().clusterStatus()
			return ok && s.Cluster.Version == 3
		})
		last := c.nodes[2]
		last.stop()
		last.program = ""
		if err := last.launch(); err != nil {
			t.Fatal(err)
		}
		<-last.logDrained // it ends by itself, or the test never does
		if code := last.stop(); code == 0 || !strings.Contains(last.logText(), "the cluster has version 3, and the program knows 1 to 2") {
			t.Errorf("an older program has ended with code %d and without the sentence:\n%s", code, lastPart(last.logText()))
		}
		last.program = newer
		last.start()
		c.settle()
		b.progress()
		b.finish()
		c.sameCopies()
	})
	t.Run("refused", func(t *testing.T) {
		first := &node{t: t, dir: t.TempDir(), program: newer, args: []string{"--cluster-listen", clusterAddress(t)}}
		t.Cleanup(first.kill)
		first.start()
		c := &copies{t: t, nodes: []*node{first}}
		db := first.open("")
		mustExec(t, db, "ADMIN PROMOTE")
		token := func() (text string) {
			if err := db.QueryRow("ADMIN TOKEN").Scan(&text, new(any), new(any)); err != nil {
				t.Fatal(err)
			}
			return text
		}
		older := &node{t: t, dir: t.TempDir(), args: []string{"--cluster-listen", clusterAddress(t), "--join", first.args[1], "--join-token", token()}}
		t.Cleanup(older.kill)
		if err := older.tryStart(); err == nil || !strings.Contains(older.logText(), "too old: it knows version 2 of the cluster, and this one has version 3") {
			t.Errorf("an older program has joined (%v), or was not told why it could not:\n%s", err, lastPart(older.logText()))
		}
		for range 2 {
			n := &node{t: t, dir: t.TempDir(), program: newer, args: []string{"--cluster-listen", clusterAddress(t), "--join", first.args[1], "--join-token", token()}}
			t.Cleanup(n.kill)
			n.start()
			n.args = n.args[:2]
			c.nodes = append(c.nodes, n)
		}
		c.awaitVoters(3)
		c.settle()
		b := c.startBooks(2)
		b.progress()
		gateway := c.gateway()
		for _, n := range c.nodes {
			if n == gateway {
				continue
			}
			n.stop()
			n.program = "" // the older one
			if err := n.launch(); err != nil {
				t.Fatal(err)
			}
			<-n.logDrained // it ends by itself, or the test never does
			if code := n.stop(); code == 0 || !strings.Contains(n.logText(), "the cluster has version 3, and the program knows 1 to 2") {
				t.Errorf("an older program over the directory of a member has ended with code %d and without the sentence:\n%s", code, lastPart(n.logText()))
			}
			b.progress()
			n.program = newer
			n.start()
			c.settle()
			b.progress()
			break
		}
		b.finish()
		c.sameCopies()
	})
}
