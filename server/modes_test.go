package server

import (
	"context"
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/pandodb/pando/privilege"
)

// TestModes: what an older version has left open to other users is closed at the start, and nothing else is touched.
func TestModes(t *testing.T) {
	dir := t.TempDir()
	for _, d := range []string{dir, filepath.Join(dir, storeName), filepath.Join(dir, tempName), filepath.Join(dir, "lost+found")} {
		if err := os.Mkdir(d, 0o755); err != nil && !os.IsExist(err) {
			t.Fatal(err)
		}
		if err := os.Chmod(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, f := range []string{identityName, "store/000001.sst", "store/000002.log", "store/x.wal", "lost+found/f", "mine"} {
		path := filepath.Join(dir, f)
		if err := errors.Join(os.WriteFile(path, nil, 0o644), os.Chmod(path, 0o644)); err != nil { // whatever the mask of the process is
			t.Fatal(err)
		}
	}
	if closed, err := closeDir(dir, true); err != nil || closed != 7 {
		t.Errorf("%d files and directories were closed: %v", closed, err)
	}
	want := map[string]fs.FileMode{".": 0o711, "store": 0o700, "temp": 0o700, "PANDO": 0o600, "store/000001.sst": 0o600, "store/x.wal": 0o600, "lost+found": 0o755, "lost+found/f": 0o644, "mine": 0o644}
	for name, mode := range want {
		if info, err := os.Stat(filepath.Join(dir, name)); err != nil || info.Mode().Perm() != mode {
			t.Errorf("%s: %v, %v, want %v", name, info.Mode().Perm(), err, mode)
		}
	}
	if closed, err := closeDir(dir, false); err != nil || closed != 1 {
		t.Errorf("%d were closed again: %v", closed, err)
	}
	if closed, err := closeDir(filepath.Join(dir, "absent"), false); err != nil || closed != 0 {
		t.Errorf("an absent directory: %d, %v", closed, err)
	}
}

// TestSocket: the socket serves, is replaced when a process has left it behind, and is refused when somebody listens or it is something else.
func TestSocket(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "pando.sock")
	left, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := listenSocket(path); err == nil || !strings.Contains(err.Error(), "in use by another process") {
		t.Errorf("somebody listens: %v", err)
	}
	left.(*net.UnixListener).SetUnlinkOnClose(false)
	_ = left.Close()
	o := testOptions(t)
	o.Socket = path
	n, err := Open(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != socketMode {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	c, err := net.Dial("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	greeting := make([]byte, 5)
	if _, err := c.Read(greeting); err != nil || greeting[4] != 10 {
		t.Errorf("greeting %v, %v", greeting, err)
	}
	_ = c.Close()
	if err := n.Close(); err != nil {
		t.Error(err)
	}
	if _, err := os.Lstat(path); !os.IsNotExist(err) {
		t.Errorf("after a stop: %v", err)
	}
	if err := os.WriteFile(path, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := listenSocket(path); err == nil || !strings.Contains(err.Error(), "is no socket") {
		t.Errorf("a file: %v", err)
	}
	o.Socket = strings.Repeat("x", 200)
	if faults := o.Validate(); len(faults) != 1 || !strings.Contains(faults[0].Error(), "longer than the") {
		t.Errorf("a long path: %v", faults)
	}
}

// TestFirstRoot: the first start gives root the password, here and everywhere, later ones change nothing, and only with it the node listens
// to others.
func TestFirstRoot(t *testing.T) {
	o := testOptions(t)
	o.Listen = "0.0.0.0:0"
	if n, err := Open(context.Background(), o); err == nil || !strings.Contains(err.Error(), "root has no password") {
		t.Errorf("without a password: %v", err)
		if err == nil {
			_ = n.Close()
		}
	}
	if _, err := os.Stat(filepath.Join(o.DataDir, identityName)); !os.IsNotExist(err) {
		t.Errorf("the refused start has made the directory Pando's: %v", err)
	}
	absent := o
	absent.DataDir = filepath.Join(t.TempDir(), "absent")
	if _, err := Open(context.Background(), absent); err == nil {
		t.Error("without a password, where there is no directory: no error")
	}
	if _, err := os.Stat(absent.DataDir); !os.IsNotExist(err) {
		t.Errorf("the refused start has made a directory: %v", err)
	}
	o.RootPasswordFile = filepath.Join(t.TempDir(), "password")
	for _, text := range []string{"\nx\n", ""} {
		if err := os.WriteFile(o.RootPasswordFile, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := o.rootPassword(); err == nil || !strings.Contains(err.Error(), "is empty") {
			t.Errorf("%q: %v", text, err)
		}
	}
	for _, password := range []string{"first\r\n", "second\n"} {
		if err := os.WriteFile(o.RootPasswordFile, []byte(password), 0o600); err != nil {
			t.Fatal(err)
		}
		n, err := Open(context.Background(), o)
		if err != nil {
			t.Fatal(err)
		}
		for _, host := range []string{"localhost", "192.0.2.1"} {
			a := n.shared().Users.Match("root", host, host)
			if a == nil || len(a.Auth) == 0 || a.Global != privilege.All|privilege.GrantOption {
				t.Errorf("root of %s: %+v", host, a)
			}
		}
		if err := n.Close(); err != nil {
			t.Fatal(err)
		}
	}
	o.RootPassword = "third"
	if faults := o.Validate(); len(faults) != 1 {
		t.Errorf("both sources: %v", faults)
	}
	loaded, err := Load(Sources{Env: []string{"PANDO_INIT_ROOT_PASSWORD=geheim"}})
	if err != nil || loaded.RootPassword != "geheim" {
		t.Errorf("the environment: %q, %v", loaded.RootPassword, err)
	}
	for _, s := range Settings() {
		if strings.Contains(s.Get(&loaded), "geheim") {
			t.Errorf("%s shows the password", s.Name)
		}
	}
}

// TestCommandsPassword: the password of pando's commands, which an operator keeps in the environment, is no setting and does not keep a server from starting. A misspelt one does.
func TestCommandsPassword(t *testing.T) {
	if _, err := Load(Sources{Env: []string{"PANDO_PASSWORD=geheim"}}); err != nil {
		t.Error(err)
	}
	if _, err := Load(Sources{Env: []string{"PANDO_PASWORD=geheim"}}); err == nil || strings.Contains(err.Error(), "geheim") {
		t.Errorf("a misspelt one: %v", err)
	}
}

// TestOrigins: the effective settings say where they come from, and can be a file.
func TestOrigins(t *testing.T) {
	o, err := load(t, "max-connections = 7\n[performance]\nmax-procs = 1\n", []string{"PANDO_LOG_LEVEL=warn"}, map[string]string{"sync-log": "false"})
	if err != nil {
		t.Fatal(err)
	}
	effective, origins, err := Effective(o)
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, s := range Settings() {
		lines = append(lines, s.Name+" = "+s.TOML(&effective))
	}
	for name, want := range map[string]string{"max-connections": "pando.toml", "max-procs": "performance.max-procs", "log-level": "PANDO_LOG_LEVEL",
		"sync-log": "--sync-log", "cache-size": "computed", "memory-limit": "computed", "listen": "default"} {
		if !strings.Contains(origins[name], want) {
			t.Errorf("%s comes from %q, want %q", name, origins[name], want)
		}
	}
	for _, want := range []string{"max-connections = 7", "sync-log = false", `log-level = "warn"`, `drain-timeout = "10s"`} {
		if !slices.Contains(lines, want) {
			t.Errorf("%s is not among\n%s", want, strings.Join(lines, "\n"))
		}
	}
	if effective.CacheBytes == 0 || effective.MemoryBytes == 0 || effective.MaxProcs != 1 {
		t.Errorf("%+v", effective)
	}
	again, err := load(t, strings.Join(lines, "\n"), nil, nil)
	if err != nil || again.CacheBytes != effective.CacheBytes || again.SyncLog {
		t.Errorf("as a file: %v", err)
	}
}
