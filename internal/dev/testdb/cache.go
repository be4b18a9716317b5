package testdb

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

const (
	// memory is the directory of Linux's file system in memory.
	memory = "/dev/shm"
	// plenty is several times the memory, in bytes, that the server takes while all tests run.
	plenty = 6 << 30
)

// caches lists the possible places for the directory of the shared server. It is in memory if there is plenty: a clone is
// hundreds of small files, and ext4 takes long to make files in a place of recent deletions (recently_deleted in
// fs/ext4/ialloc.c). Root's home is closed to the user that the server may have to run as; a home may be missing, or too deep
// for the path of a socket.
func caches() []string {
	var dirs []string
	root, set := os.Getuid() == 0, os.Getenv("XDG_CACHE_HOME") != ""
	own := "paylatch-" + strconv.Itoa(os.Getuid())
	if dir := filepath.Join(memory, own); !set && roomy(memory) && private(dir) {
		dirs = append(dirs, dir)
	}
	if dir, err := os.UserCacheDir(); err == nil && len(dir) < 60 && (!root || set) {
		dirs = append(dirs, dir)
	}
	if root {
		return append(dirs, "/var/cache")
	}
	return append(dirs, filepath.Join("/tmp", own))
}

// private makes a directory in a place that is writable for all users, and reports whether it is this user's.
func private(dir string) bool {
	_ = os.Mkdir(dir, 0o755) //nolint:gosec // root's server may run as another user
	info, err := os.Lstat(dir)
	if err != nil || !info.IsDir() {
		return false
	}
	owner, known := info.Sys().(*syscall.Stat_t)
	return known && int(owner.Uid) == os.Getuid()
}

// roomy reports whether a file system in memory has plenty of room, and the machine as much memory to spare.
func roomy(dir string) bool {
	var fs syscall.Statfs_t
	if syscall.Statfs(dir, &fs) != nil || fs.Bavail*uint64(fs.Bsize) < plenty { //nolint:gosec // the size of a block
		return false
	}
	text, _ := os.ReadFile("/proc/meminfo")
	_, rest, _ := strings.Cut(string(text), "MemAvailable:")
	var kilobytes int64
	_, _ = fmt.Sscan(rest, &kilobytes)
	return kilobytes<<10 >= plenty
}
