package wire

import (
	"bytes"
	"os"
	"strconv"
)

// newIdleClock returns nil if the machine's times cannot be read.
//
// Those are the machine's, also in a container that may use a part of it only. There the others' processors may be idle while this
// server has none, and nobody waits, and there are as many places for loads as may be.
func newIdleClock() idleClock {
	if _, _, ok := readStat(); !ok {
		return nil
	}
	return readStat
}

func readStat() (idle, total uint64, ok bool) {
	file, err := os.Open("/proc/stat")
	if err != nil {
		return 0, 0, false
	}
	defer file.Close()
	var buf [256]byte
	n, _ := file.Read(buf[:]) // the first line is all that is needed
	return parseStat(buf[:n])
}

// parseStat reads the first line of /proc/stat (proc(5)): "cpu", and the time that all processors were in user, nice, system, idle,
// iowait, irq, softirq, steal, guest and guest_nice, of which the last two are in the first two already.
func parseStat(text []byte) (idle, total uint64, ok bool) {
	const idleField, iowaitField, fields = 3, 4, 8
	line, _, whole := bytes.Cut(text, []byte{'\n'})
	words := bytes.Fields(line)
	if !whole || len(words) <= fields || string(words[0]) != "cpu" {
		return 0, 0, false
	}
	for i, word := range words[1 : fields+1] {
		n, err := strconv.ParseUint(string(word), 10, 64)
		if err != nil {
			return 0, 0, false
		}
		total += n
		if i == idleField || i == iowaitField {
			idle += n
		}
	}
	return idle, total, true
}
