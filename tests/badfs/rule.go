package badfs

import (
	"path"
	"sync"
	"syscall"
	"time"

	"github.com/pandodb/pando/clock"
)

// Op is what a process asks of a file.
type Op string

// Operations that rules can meet.
const (
	Read  Op = "read"
	Write Op = "write"
	// Sync is fsync and fdatasync, also those that the kernel makes of synchronous writes.
	Sync Op = "sync"
	// Make makes a file, a directory or a name, or renames.
	Make Op = "make"
)

// Rule says what happens to some operations.
type Rule struct {
	// Files is a pattern of path.Match for the file's name without its directory; empty for all.
	Files string
	Ops   []Op
	// Errno, if not 0, is the answer. The operation is not done.
	Errno syscall.Errno
	// Delay is how long the operation waits before anything else.
	Delay time.Duration
	// Flip flips a bit in the middle of what is read, or written.
	Flip bool
	// After operations are let through before the rule begins. Times is how many it meets then; 0: all.
	After, Times int
}

// rules are those that are set, with how often each has met an operation.
type rules struct {
	mu   sync.Mutex
	list []Rule
	seen []int // operations that a rule is for
	hits []int // of them those that it has met
}

func (r *rules) set(list []Rule) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.list, r.seen, r.hits = list, make([]int, len(list)), make([]int, len(list))
}

func (r *rules) counts() []int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]int(nil), r.hits...)
}

// meet waits as rules say that an operation meets, and tells what else is to happen to it.
func (r *rules) meet(op Op, name string) (flip bool, errno syscall.Errno) {
	delay, flip, errno := r.look(op, path.Base(name))
	if delay > 0 {
		clock.Sleep(delay)
	}
	return flip, errno
}

func (r *rules) look(op Op, name string) (delay time.Duration, flip bool, errno syscall.Errno) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i := range r.list {
		rule := &r.list[i]
		if !rule.meets(op, name) {
			continue
		}
		if r.seen[i]++; r.seen[i] <= rule.After || rule.Times > 0 && r.hits[i] >= rule.Times {
			continue
		}
		r.hits[i]++
		delay += rule.Delay
		flip = flip || rule.Flip
		if rule.Errno != 0 {
			return delay, flip, rule.Errno
		}
	}
	return delay, flip, 0
}

func (rule *Rule) meets(op Op, name string) bool {
	is := rule.Files == ""
	if !is {
		is, _ = path.Match(rule.Files, name) // a malformed pattern matches nothing, and Hits tells
	}
	for _, o := range rule.Ops {
		if is && o == op {
			return true
		}
	}
	return false
}

// full reports whether a rule answers to all that is written that there is no room.
func (r *rules) full() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i := range r.list {
		if rule := &r.list[i]; rule.Errno == syscall.ENOSPC && rule.meets(Write, "x") {
			return true
		}
	}
	return false
}
