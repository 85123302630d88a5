package bench

import (
	"os"
	"syscall"
)

// serverAttributes makes a server its own process group, so that Ctrl-C reaches only the runner, and ties its life to the runner's.
func serverAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// syncData is fdatasync.
func syncData(f *os.File) error { return syscall.Fdatasync(int(f.Fd())) }

// fileSystems names the magic numbers that statfs answers.
var fileSystems = map[int64]string{0xef53: "ext4", 0x58465342: "xfs", 0x9123683e: "btrfs", 0x01021994: "tmpfs", 0x794c7630: "overlayfs", 0x2fc12fc1: "zfs"}

func fileSystem(dir string) string {
	var stat syscall.Statfs_t
	if err := syscall.Statfs(dir, &stat); err != nil {
		return "unknown"
	}
	if name, ok := fileSystems[int64(stat.Type)]; ok {
		return name
	}
	return "unknown"
}
