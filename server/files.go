package server

import (
	"syscall"

	"github.com/pandodb/pando/engine"
)

const (
	// tableFilesMax bounds the open tables. It suffices for 100 GB loaded in key order, whose tables have 6 MB, or for 1 TB after
	// compactions. Each open table takes a few kilobytes of memory.
	tableFilesMax = 16 << 10
	// otherFiles is how many files the log, the listeners, compactions and the runtime need.
	otherFiles = 1024
	// tableFilesShare: tables get at least limit/tableFilesShare of the files, however many connections are allowed.
	tableFilesShare = 4
	// tableDescriptors is how many descriptors a table may have: one for buffered and one for direct reads.
	tableDescriptors = 2
	// tableFilesFew: below this the start warns, as a lookup whose table has to be opened takes several reads instead of one.
	tableFilesFew = 500
	// fileLimitUnknown is assumed where the system doesn't tell.
	fileLimitUnknown = 4096
)

// fileLimit is how many files the process may open. The runtime has raised it as far as the system allows.
func fileLimit() uint64 {
	var r syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &r); err != nil {
		return fileLimitUnknown
	}
	return uint64(r.Cur)
}

// tableFiles is how many tables may be open when the process may open limit files, and connections need one each.
func tableFiles(limit uint64, connections int) int {
	// Beyond this the limit makes no difference; it may be infinite.
	n := int(min(limit, uint64(tableFilesMax*tableDescriptors*tableFilesShare+otherFiles+connections)))
	return min(max((n-otherFiles-connections)/tableDescriptors, n/tableFilesShare/tableDescriptors, engine.OpenFilesMin), tableFilesMax)
}
