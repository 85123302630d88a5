package wire

import (
	"strings"
	"testing"
)

// TestParseStat: the first line of /proc/stat, whatever follows it and is cut off.
func TestParseStat(t *testing.T) {
	for _, test := range []struct {
		text        string
		idle, total uint64
		ok          bool
	}{
		{"cpu  1 2 3 40 5 6 7 8 9 10\ncpu0 1 2", 45, 72, true},
		{"cpu  1 2 3 40 5 6 7 8\n", 45, 72, true},
		{"cpu  1 2 3 40 5 6 7\n", 0, 0, false},
		{"cpu  1 2 3 40 5 6 7 8 9", 0, 0, false},
		{"cpu  1 2 3 x 5 6 7 8 9 10\n", 0, 0, false},
		{"intr 1 2 3 40 5 6 7 8 9 10\n", 0, 0, false},
		{"", 0, 0, false},
	} {
		idle, total, ok := parseStat([]byte(test.text))
		if ok != test.ok || ok && (idle != test.idle || total != test.total) {
			t.Errorf("%s: %d of %d, %v", strings.TrimSpace(test.text), idle, total, ok)
		}
	}
	if idle, total, ok := readStat(); ok && (total == 0 || idle > total) {
		t.Errorf("this machine was idle for %d of %d", idle, total)
	}
}
