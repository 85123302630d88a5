package server

import (
	"cmp"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

const (
	// cgroupDepthMax bounds how many cgroups are read, from the process's own to the root. The kernel has no fixed bound of nesting; systemd
	// and containers nest less than ten.
	cgroupDepthMax = 64
	// quotaProcsMin: with a single processor the garbage collector and a client would wait for each other, so that a lower quota
	// still gives two, as Go's own runtime does.
	quotaProcsMin = 2
)

// cgroupDirs lists the directories of the cgroups that the process is in, from its own to the root of what is mounted: those of a
// controller of cgroup version 1, or of version 2 if controller is empty. The limits of all of them apply, and systemd and containers
// set one on any level.
func cgroupDirs(root, controller string) []string {
	own, known := ownCgroup(root, controller)
	dir, base := cgroupMount(root, controller)
	// A container may see only the part of the tree below base, while its process's path may still begin at the real root.
	own, within := strings.CutPrefix(own, strings.TrimSuffix(base, "/"))
	if !known || !within || own != "" && own[0] != '/' {
		own = "/"
	}
	var dirs []string
	for own = path.Clean("/" + own); len(dirs) < cgroupDepthMax; own = path.Dir(own) {
		dirs = append(dirs, filepath.Join(root, dir, own))
		if own == "/" {
			break
		}
	}
	return dirs
}

// ownCgroup is the process's group, relative to the root of the hierarchy that has the controller.
func ownCgroup(root, controller string) (string, bool) {
	raw, _ := os.ReadFile(filepath.Join(root, "proc/self/cgroup"))
	for line := range strings.Lines(string(raw)) {
		// hierarchy:controllers:path; the line without controllers is version 2's
		fields := strings.SplitN(strings.TrimSuffix(line, "\n"), ":", 3)
		if len(fields) == 3 && slices.Contains(strings.Split(fields[1], ","), controller) {
			return fields[2], true
		}
	}
	return "", false
}

// cgroupMount is where the hierarchy that has the controller is mounted, and which of its groups is mounted there.
func cgroupMount(root, controller string) (dir, base string) {
	raw, _ := os.ReadFile(filepath.Join(root, "proc/self/mountinfo"))
	for line := range strings.Lines(string(raw)) {
		// id parent device base dir options… - kind source options
		before, after, _ := strings.Cut(line, " - ")
		mount, super := strings.Fields(before), strings.Fields(after)
		if len(mount) < 5 || len(super) < 3 {
			continue
		}
		if controller == "" && super[0] == "cgroup2" || super[0] == "cgroup" && slices.Contains(strings.Split(super[2], ","), controller) {
			return mount[4], mount[3]
		}
	}
	return path.Join("/sys/fs/cgroup", controller), "/"
}

// cgroupMemory names the files of a cgroup that hold a limit, its use, and the parts of the use; among these the page cache, and the part
// of it that is shared memory, which the kernel cannot give up.
var cgroupMemory = []struct{ controller, limit, use, parts, pageCache, shared string }{
	{"", "memory.max", "memory.current", "memory.stat", "file", "shmem"},
	{"", "memory.high", "memory.current", "memory.stat", "file", "shmem"}, // above this the kernel throttles the group and reclaims memory
	{"memory", "memory.limit_in_bytes", "memory.usage_in_bytes", "memory.stat", "total_cache", "total_shmem"},
}

// limitMemory lowers m to what the cgroups of the process permit.
func (m *systemMemory) limitMemory(root string) {
	for _, names := range cgroupMemory {
		for _, dir := range cgroupDirs(root, names.controller) {
			limit, err := readCount(filepath.Join(dir, names.limit))
			if err != nil || limit <= 0 {
				continue // without a limit the file has "max"
			}
			if limit < m.total {
				m.total, m.source = limit, filepath.Join(dir, names.limit)
			}
			m.known = true
			use, err := readCount(filepath.Join(dir, names.use))
			if err != nil {
				continue
			}
			parts, _ := readCounts(filepath.Join(dir, names.parts))
			m.free = min(m.free, max(limit-use, 0))
			m.available = min(m.available, max(limit-use, 0)+parts[names.pageCache]-parts[names.shared])
		}
	}
}

// quotaProcs lowers procs to the processor quota of the process's cgroups, and returns the file with that quota, empty if none lowers it.
func quotaProcs(root string, procs int) (int, string) {
	source := ""
	lower := func(file string, quota, period int64) {
		if quota <= 0 || period <= 0 {
			return // without a quota the file has "max" or -1
		}
		if n := max((quota+period-1)/period, quotaProcsMin); n < int64(procs) {
			procs, source = int(n), file
		}
	}
	for _, dir := range cgroupDirs(root, "") {
		file := filepath.Join(dir, "cpu.max")
		raw, _ := os.ReadFile(file)
		if fields := strings.Fields(string(raw)); len(fields) == 2 {
			quota, err := strconv.ParseInt(fields[0], 10, 64)
			period, errPeriod := strconv.ParseInt(fields[1], 10, 64)
			if cmp.Or(err, errPeriod) == nil {
				lower(file, quota, period)
			}
		}
	}
	for _, dir := range cgroupDirs(root, "cpu") {
		file := filepath.Join(dir, "cpu.cfs_quota_us")
		quota, err := readCount(file)
		period, errPeriod := readCount(filepath.Join(dir, "cpu.cfs_period_us"))
		if cmp.Or(err, errPeriod) == nil {
			lower(file, quota, period)
		}
	}
	return procs, source
}
