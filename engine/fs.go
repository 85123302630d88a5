package engine

import "github.com/cockroachdb/pebble/v2/vfs"

// The file system interface. Tests replace it; package internal/testkit has wrappers that crash, count and refuse to sync.
type (
	// FS is the file system the engine lives on.
	FS = vfs.FS
	// File is an open file of an FS.
	File = vfs.File
	// WriteCategory labels what a file is written for.
	WriteCategory = vfs.DiskWriteCategory
	// DiskUsage is the space of a disk.
	DiskUsage = vfs.DiskUsage
	// OpenOption changes how a file is opened.
	OpenOption = vfs.OpenOption
	// MemFS is a file system in memory that can be cloned as a power loss would leave it.
	MemFS = vfs.MemFS
	// CrashConfig says how much of what was not synced survives in a clone.
	CrashConfig = vfs.CrashCloneCfg
)

// NewMemFS returns a file system in memory that remembers what has been synced: CrashClone gives the state after a power
// loss. Only tests need it; it is slower than the one OpenMem uses.
func NewMemFS() *MemFS { return vfs.NewCrashableMem() }

// OSFS returns the operating system's file system.
func OSFS() FS { return vfs.Default }

// InvalidFd is the Fd of files without a descriptor, such as those in memory.
const InvalidFd = vfs.InvalidFd
