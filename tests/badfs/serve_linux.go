package badfs

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/hanwen/go-fuse/v2/fs"
	"github.com/hanwen/go-fuse/v2/fuse"
	"golang.org/x/sys/unix"
)

// serveEnv names, in the server's environment, the directory behind the file system and where it is mounted, parted by serveParts.
const (
	serveEnv   = "PANDO_BADFS"
	serveParts = "\x1f"
)

// writeBytesMax is the longest write that the kernel hands on in one piece.
const writeBytesMax = 1 << 20

// request is what the test tells its server: rules to set, or nothing, to be told how often they were met.
type request struct {
	Set   bool
	Rules []Rule
}

// answer is what the server says: that it serves, or how often each rule was met.
type answer struct {
	Error string
	Hits  []int
}

// serve answers the kernel, and the test on in and out, until in ends.
func serve(behind, mount string, in io.Reader, out io.Writer) error {
	said := json.NewEncoder(out)
	server, rules, err := mountAt(behind, mount)
	if err != nil {
		return said.Encode(answer{Error: err.Error()})
	}
	defer server.stop()
	if err := said.Encode(answer{}); err != nil {
		return err
	}
	asked := json.NewDecoder(in)
	for {
		var q request
		if err := asked.Decode(&q); err != nil {
			return nil // the test is over
		}
		hits := rules.counts()
		if q.Set {
			rules.set(q.Rules)
			server.forget()
		}
		if err := said.Encode(answer{Hits: hits}); err != nil {
			return err
		}
	}
}

// mounted is a file system that is served.
type mounted struct {
	where string
	root  *fs.Inode
}

func mountAt(behind, mount string) (*mounted, *rules, error) {
	var stat syscall.Stat_t
	if err := syscall.Stat(behind, &stat); err != nil {
		return nil, nil, fmt.Errorf("stat %s: %w", behind, err)
	}
	r := &rules{}
	data := &fs.LoopbackRoot{Path: behind, Dev: uint64(stat.Dev)}
	data.NewNode = func(data *fs.LoopbackRoot, _ *fs.Inode, _ string, _ *syscall.Stat_t) fs.InodeEmbedder {
		return &node{LoopbackNode: fs.LoopbackNode{RootData: data}, rules: r}
	}
	root := &node{LoopbackNode: fs.LoopbackNode{RootData: data}, rules: r}
	data.RootNode = root
	kept := time.Second
	_, err := fs.Mount(mount, root, &fs.Options{AttrTimeout: &kept, EntryTimeout: &kept,
		MountOptions: fuse.MountOptions{DirectMountStrict: true, MaxWrite: writeBytesMax, FsName: "pando-badfs", Name: "badfs", DisableXAttrs: true}})
	if err != nil {
		return nil, nil, fmt.Errorf("mount at %s: %w", mount, err)
	}
	return &mounted{mount, root.EmbeddedInode()}, r, nil
}

// stop takes the file system out of the directory tree. What still uses it gets errors once the process has ended.
func (m *mounted) stop() { _ = unix.Unmount(m.where, unix.MNT_DETACH) }

// forget has the kernel drop what it has read of all files, so that rules about reads are met.
func (m *mounted) forget() { forget(m.root) }

func forget(n *fs.Inode) {
	if n.Mode()&syscall.S_IFMT == syscall.S_IFREG {
		_ = n.NotifyContent(0, 0) // it may have nothing of it
	}
	for _, child := range n.Children() {
		forget(child)
	}
}

// node is a file or a directory.
type node struct {
	fs.LoopbackNode
	rules *rules
}

func (n *node) name() string { return n.Path(nil) }

// Open implements fs.NodeOpener.
func (n *node) Open(ctx context.Context, flags uint32) (fs.FileHandle, uint32, syscall.Errno) {
	h, more, errno := n.LoopbackNode.Open(ctx, below(flags))
	if errno != 0 {
		return nil, 0, errno
	}
	return &file{h.(*fs.LoopbackFile), n}, more, 0
}

// Create implements fs.NodeCreater.
func (n *node) Create(ctx context.Context, name string, flags, mode uint32, out *fuse.EntryOut) (*fs.Inode, fs.FileHandle, uint32, syscall.Errno) {
	if _, errno := n.rules.meet(Make, name); errno != 0 {
		return nil, nil, 0, errno
	}
	inode, h, more, errno := n.LoopbackNode.Create(ctx, name, below(flags), mode, out)
	if errno != 0 {
		return nil, nil, 0, errno
	}
	return inode, &file{h.(*fs.LoopbackFile), inode.Operations().(*node)}, more, 0
}

// below are the flags to open the file with that lies behind: the kernel passes the page cache by for the process, and buffers of this one are not aligned.
func below(flags uint32) uint32 { return flags &^ syscall.O_DIRECT }

// Mkdir implements fs.NodeMkdirer.
func (n *node) Mkdir(ctx context.Context, name string, mode uint32, out *fuse.EntryOut) (*fs.Inode, syscall.Errno) {
	if _, errno := n.rules.meet(Make, name); errno != 0 {
		return nil, errno
	}
	return n.LoopbackNode.Mkdir(ctx, name, mode, out)
}

// Link implements fs.NodeLinker.
func (n *node) Link(ctx context.Context, target fs.InodeEmbedder, name string, out *fuse.EntryOut) (*fs.Inode, syscall.Errno) {
	if _, errno := n.rules.meet(Make, name); errno != 0 {
		return nil, errno
	}
	return n.LoopbackNode.Link(ctx, &target.(*node).LoopbackNode, name, out)
}

// Rename implements fs.NodeRenamer.
func (n *node) Rename(ctx context.Context, name string, to fs.InodeEmbedder, newName string, flags uint32) syscall.Errno {
	if _, errno := n.rules.meet(Make, newName); errno != 0 {
		return errno
	}
	return n.LoopbackNode.Rename(ctx, name, &to.(*node).LoopbackNode, newName, flags)
}

// Fsync implements fs.NodeFsyncer, for directories too.
func (n *node) Fsync(ctx context.Context, h fs.FileHandle, flags uint32) syscall.Errno {
	if _, errno := n.rules.meet(Sync, n.name()); errno != 0 {
		return errno
	}
	if f, is := h.(*file); is {
		return f.LoopbackFile.Fsync(ctx, flags)
	}
	return 0
}

// Statfs implements fs.NodeStatfser: a disk on which nothing can be written has no room.
func (n *node) Statfs(ctx context.Context, out *fuse.StatfsOut) syscall.Errno {
	errno := n.LoopbackNode.Statfs(ctx, out)
	if n.rules.full() {
		out.Bfree, out.Bavail = 0, 0
	}
	return errno
}

// file is an open one.
type file struct {
	*fs.LoopbackFile
	of *node
}

// PassthroughFd implements fs.FilePassthroughFder: the kernel is not to go past the rules.
func (f *file) PassthroughFd() (int, bool) { return 0, false }

// Read implements fs.FileReader.
func (f *file) Read(ctx context.Context, buf []byte, offset int64) (fuse.ReadResult, syscall.Errno) {
	flip, errno := f.of.rules.meet(Read, f.of.name())
	if errno != 0 {
		return nil, errno
	}
	result, errno := f.LoopbackFile.Read(ctx, buf, offset)
	if !flip || errno != 0 {
		return result, errno
	}
	b, status := result.Bytes(buf)
	if !status.Ok() {
		return nil, syscall.Errno(status)
	}
	return fuse.ReadResultData(flipped(b)), 0
}

// Write implements fs.FileWriter.
func (f *file) Write(ctx context.Context, data []byte, offset int64) (uint32, syscall.Errno) {
	flip, errno := f.of.rules.meet(Write, f.of.name())
	if errno != 0 {
		return 0, errno
	}
	if flip {
		data = flipped(data)
	}
	return f.LoopbackFile.Write(ctx, data, offset)
}

// Allocate implements fs.FileAllocater.
func (f *file) Allocate(ctx context.Context, offset, size uint64, mode uint32) syscall.Errno {
	if _, errno := f.of.rules.meet(Write, f.of.name()); errno != 0 {
		return errno
	}
	return f.LoopbackFile.Allocate(ctx, offset, size, mode)
}

// flipped is a copy with another bit in the middle.
func flipped(b []byte) []byte {
	b = append([]byte(nil), b...)
	if len(b) > 0 {
		b[len(b)/2] ^= 0x10
	}
	return b
}

// Serve is to be called first in TestMain of a package that mounts: in the process that is the server it serves, and returns true with the exit code.
func Serve() (code int, is bool) {
	where := os.Getenv(serveEnv)
	if where == "" {
		return 0, false
	}
	behind, mount := split(where)
	// A terminal's Ctrl-C, and what ends a group of processes, come here too; the end of the standard input is what counts.
	signal.Ignore(syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT)
	if err := serve(behind, mount, os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "badfs:", err)
		return 1, true
	}
	return 0, true
}
