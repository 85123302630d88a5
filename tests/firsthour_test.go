package tests

import (
	"database/sql"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestFirstStart: a first start says a handful of lines and takes tens of megabytes of the disk; nothing of the store is open to other users
// of the machine, whatever the mask of the process's parent.
func TestFirstStart(t *testing.T) {
	old := syscall.Umask(0o022)
	defer syscall.Umask(old)
	n := startNode(t, "")
	db := n.open("")
	mustExec(t, db, "CREATE DATABASE d", "CREATE TABLE d.t (id INT PRIMARY KEY, v TEXT)", "INSERT INTO d.t VALUES (1, REPEAT('x', 60000))")
	if lines := strings.Count(n.logText(), "\n"); lines > 6 {
		t.Errorf("%d lines:\n%s", lines, n.logText())
	}
	var bytes int64
	var open []string
	walk := func() {
		bytes, open = 0, nil
		err := filepath.WalkDir(n.dir, func(path string, entry fs.DirEntry, err error) error {
			if err != nil {
				return nil // a file that has gone meanwhile
			}
			info, err := entry.Info()
			if err != nil || path == n.dir {
				return nil
			}
			bytes += info.Sys().(*syscall.Stat_t).Blocks * 512
			if info.Mode().Perm()&0o077 != 0 {
				open = append(open, path+" "+info.Mode().String())
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, stop := range []bool{false, true} {
		if stop {
			n.stop()
		}
		if walk(); bytes > 40<<20 || len(open) > 0 {
			t.Errorf("stopped %v: %d MB, open to others: %q", stop, bytes>>20, open)
		}
	}
}

// TestBooleanFlags: a flag alone is true, and false must be joined by an equals sign, as everywhere.
func TestBooleanFlags(t *testing.T) {
	out, err := exec.Command(binary, "config", "--require-secure-transport", "--sync-log=false").CombinedOutput()
	for _, want := range []string{"require-secure-transport = true", "sync-log = false", "# --sync-log", "# default", "max-connections = 2000"} {
		if err != nil || !strings.Contains(string(out), want) {
			t.Errorf("%q is missing: %v\n%s", want, err, out)
		}
	}
	if out, err := exec.Command(binary, "config", "--sync-log", "false").CombinedOutput(); err == nil {
		t.Errorf("a stray word was taken:\n%s", out)
	}
}

// TestClientsSocket: MySQL's clients reach the node by its unix socket, and are asked for root's password.
func TestClientsSocket(t *testing.T) {
	dir := t.TempDir()
	socket := filepath.Join(t.TempDir(), "s")
	password := filepath.Join(t.TempDir(), "p")
	if err := os.WriteFile(password, []byte("geheim\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	n := startNode(t, dir, "--socket", socket, "--init-root-password-file", password)
	client := need(t, "mariadb")
	run := func(pass string) (string, error) {
		out, err := exec.Command(client, "--no-defaults", "-S", socket, "-u", "root", "-p"+pass, "-NBe", "SELECT USER(), @@socket").CombinedOutput()
		return string(out), err
	}
	if out, err := run("geheim"); err != nil || strings.TrimSpace(out) != "root@localhost\t"+socket {
		t.Errorf("%v: %s", err, out)
	}
	if out, err := run("falsch"); err == nil || !strings.Contains(out, "1045") {
		t.Errorf("a wrong password: %s", out)
	}
	n.kill()
	if err := n.tryStart(); err != nil {
		t.Fatalf("over the socket that the killed one has left: %v\n%s", err, n.logText())
	}
	if out, err := run("geheim"); err != nil {
		t.Errorf("%v: %s", err, out)
	}
}

// TestScratch: the static binary serves in a root directory that holds nothing else, as in deploy/Dockerfile's image, for clients that are
// not of its machine.
func TestScratch(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("changing the root directory takes root")
	}
	root := t.TempDir()
	raw, err := os.ReadFile(binary)
	if err == nil {
		err = os.WriteFile(filepath.Join(root, "pando"), raw, 0o755)
	}
	if err == nil {
		err = os.Mkdir(filepath.Join(root, "data"), 0o700)
	}
	if err != nil {
		t.Fatal(err)
	}
	n := &node{t: t, dir: "/data"}
	cmd := exec.Command("/pando", "start", "--listen", "0.0.0.0:0", "--http", "127.0.0.1:0") // the image's ports may be taken here
	cmd.Env = append(imageEnv(t), "PANDO_INIT_ROOT_PASSWORD=geheim")
	cmd.Dir = "/"
	cmd.SysProcAttr = &syscall.SysProcAttr{Chroot: root}
	if err := n.run(cmd); err != nil {
		t.Fatalf("%v\n%s", err, n.logText())
	}
	t.Cleanup(n.kill)
	db, err := sql.Open("mysql", "root:geheim@tcp(127.0.0.1:"+n.port()+")/?tls=skip-verify")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	mustExec(t, db, "CREATE DATABASE d", "CREATE TABLE d.t (id INT PRIMARY KEY)", "INSERT INTO d.t VALUES (1)", "SET time_zone = 'Europe/Berlin'")
	if code := n.stop(); code != 0 {
		t.Errorf("the stop's status is %d:\n%s", code, n.logText())
	}
}
