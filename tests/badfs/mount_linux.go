package badfs

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
)

// FS is a file system that is mounted.
type FS struct {
	// Dir is where it is mounted, Behind the directory that has its files.
	Dir, Behind string

	t      testing.TB
	server *exec.Cmd

	mu  sync.Mutex // one question at a time
	in  io.WriteCloser
	out *json.Decoder
}

// Mount mounts one in front of an empty directory. It skips the test where that cannot be. The test that mounts calls Serve in its TestMain.
func Mount(t testing.TB, behind, dir string) *FS {
	t.Helper()
	if why := Missing(); why != "" {
		t.Skip(why)
	}
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	f := &FS{Dir: dir, Behind: behind, t: t, server: exec.Command(program)}
	f.server.Env = append(os.Environ(), serveEnv+"="+behind+serveParts+dir)
	f.server.Stderr = os.Stderr
	if f.in, err = f.server.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := f.server.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := f.server.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(f.unmount)
	f.out = json.NewDecoder(out)
	var a answer
	if err := f.out.Decode(&a); err != nil {
		t.Fatalf("badfs: %v", err)
	}
	if a.Error != "" {
		t.Skipf("no FUSE here: %s", a.Error)
	}
	return f
}

// Missing says why no such file system can be mounted here; empty if it may be possible.
func Missing() string {
	if os.Getuid() != 0 {
		return "mounting a FUSE file system needs root"
	}
	d, err := os.OpenFile("/dev/fuse", os.O_RDWR, 0)
	if err != nil {
		return "no FUSE here: " + err.Error()
	}
	d.Close()
	return ""
}

// Set replaces the rules; without arguments nothing is bad any more.
func (f *FS) Set(rules ...Rule) {
	f.t.Helper()
	f.ask(request{Set: true, Rules: rules})
}

// Hits tells how often each of the rules that are set has met an operation.
func (f *FS) Hits() []int {
	f.t.Helper()
	return f.ask(request{})
}

func (f *FS) ask(q request) []int {
	f.t.Helper()
	f.mu.Lock()
	defer f.mu.Unlock()
	var a answer
	if err := errors.Join(json.NewEncoder(f.in).Encode(q), f.out.Decode(&a)); err != nil {
		f.t.Fatalf("badfs: %v", err)
	}
	return a.Hits
}

// unmount ends the server, which takes the file system out of the directory tree.
func (f *FS) unmount() {
	f.in.Close()
	if err := f.server.Wait(); err != nil {
		f.t.Errorf("badfs: %v", err)
	}
	// It has been unmounted, unless the server was ended from outside.
	_ = syscall.Unmount(f.Dir, syscall.MNT_DETACH)
}

func split(where string) (behind, mount string) {
	behind, mount, _ = strings.Cut(where, serveParts)
	return behind, mount
}
