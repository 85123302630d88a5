package check

import (
	"fmt"
	"slices"
)

// Outcome is how a transaction ended, as its client knows.
type Outcome uint8

// The outcomes. Unknown transactions may have committed.
const (
	Committed Outcome = iota
	Aborted
	Unknown
)

// Op is one operation of a transaction: on the list Key, or on the set Set.
type Op struct {
	Key    string
	Append int   // the value appended, if Read is nil
	Read   []int // the list read, not nil for a read
	// Set names a set to which values are added, in no order, and of which a read finds all: the rows that satisfy a predicate.
	Set string
	// absent says of a list that it stands for a value of a set, which the read did not find.
	absent bool
}

// Txn is one transaction of a list-append history.
type Txn struct {
	Ops     []Op
	Outcome Outcome
	// Begin and End bound the transaction in real time; they are used only if End
	// is not zero.
	Begin, End int64
}

// Anomaly names what is wrong and where.
type Anomaly struct {
	Name   string
	Detail string
}

// String renders the anomaly for a test log.
func (a Anomaly) String() string { return a.Name + ": " + a.Detail }

// Names returns the distinct names of anomalies, sorted.
func Names(found []Anomaly) []string {
	var names []string
	for _, a := range found {
		names = append(names, a.Name)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// place is where a value was appended.
type place struct {
	txn  int
	last bool // the transaction's last append to the key
}

// lists is what a history says about each key.
type lists struct {
	txns  []Txn
	where map[string]map[int]place
	order map[string][]int // the longest list read
	found []Anomaly
}

func (l *lists) report(name, format string, args ...any) {
	l.found = append(l.found, Anomaly{Name: name, Detail: fmt.Sprintf(format, args...)})
}

// ListAppend checks a list-append history whose last transaction read every key and set
// after all others had ended. It returns all anomalies that it can prove.
func ListAppend(txns []Txn) []Anomaly {
	l := &lists{txns: withoutSets(txns), where: map[string]map[int]place{}, order: map[string][]int{}}
	l.index()
	l.checkReads()
	l.checkLost()
	l.checkStale()
	l.checkCycles()
	return l.found
}

// withoutSets replaces each set by lists of one value. A read of a set reads those of all values that anybody ever added to it.
func withoutSets(txns []Txn) []Txn {
	values := map[string][]int{}
	for _, t := range txns {
		for _, op := range t.Ops {
			if op.Set != "" {
				values[op.Set] = append(append(values[op.Set], op.Read...), op.Append)
			}
		}
	}
	for set, all := range values {
		slices.Sort(all)
		all = slices.Compact(all)
		values[set] = slices.DeleteFunc(all, func(v int) bool { return v == 0 }) // of reads
	}
	out := slices.Clone(txns)
	for i := range out {
		var ops []Op
		for _, op := range out[i].Ops {
			switch {
			case op.Set == "":
				ops = append(ops, op)
			case op.Read == nil:
				ops = append(ops, Op{Key: fmt.Sprint(op.Set, "/", op.Append), Append: op.Append})
			default:
				for _, v := range values[op.Set] {
					one := Op{Key: fmt.Sprint(op.Set, "/", v), Read: []int{}, absent: true}
					if slices.Contains(op.Read, v) {
						one.Read, one.absent = []int{v}, false
					}
					ops = append(ops, one)
				}
			}
		}
		out[i].Ops = ops
	}
	return out
}

// index finds the writer of every value and the longest list of every key.
func (l *lists) index() {
	for i, t := range l.txns {
		last := map[string]int{}
		for _, op := range t.Ops {
			if op.Read == nil {
				if l.where[op.Key] == nil {
					l.where[op.Key] = map[int]place{}
				}
				l.where[op.Key][op.Append] = place{txn: i}
				last[op.Key] = op.Append
			} else if t.Outcome == Committed && len(op.Read) > len(l.order[op.Key]) {
				l.order[op.Key] = op.Read
			}
		}
		for key, v := range last {
			l.where[key][v] = place{txn: i, last: true}
		}
	}
}

// checkReads looks at each committed read on its own.
func (l *lists) checkReads() {
	for i, t := range l.txns {
		if t.Outcome != Committed {
			continue
		}
		for _, op := range t.Ops {
			if op.Read == nil {
				continue
			}
			if n := len(op.Read); !slices.Equal(op.Read, l.order[op.Key][:n]) {
				l.report("order", "txn %d read %s=%v, another %v", i, op.Key, op.Read, l.order[op.Key])
			}
			for at, v := range op.Read {
				p, known := l.where[op.Key][v]
				switch {
				case !known:
					l.report("garbage", "txn %d read %s=%v, and nobody appended %d", i, op.Key, op.Read, v)
				case l.txns[p.txn].Outcome == Aborted:
					l.report("G1a", "txn %d read %s=%v, and %d was appended by txn %d, which aborted", i, op.Key, op.Read, v, p.txn)
				case at == len(op.Read)-1 && !p.last && p.txn != i:
					l.report("G1b", "txn %d read %s=%v, and txn %d appended more after %d", i, op.Key, op.Read, p.txn, v)
				}
			}
		}
	}
}

// checkLost looks for acknowledged appends that are missing at the end, and for
// two transactions that built on the same version.
func (l *lists) checkLost() {
	type version struct {
		key string
		len int
	}
	built := map[version]int{}
	for i, t := range l.txns {
		if t.Outcome != Committed {
			continue
		}
		first := map[string]int{} // the first external read per key
		wrote := map[string]bool{}
		for _, op := range t.Ops {
			if op.Read != nil {
				if _, seen := first[op.Key]; !seen && !wrote[op.Key] {
					first[op.Key] = len(op.Read)
				}
				continue
			}
			if n, read := first[op.Key]; read && !wrote[op.Key] {
				v := version{op.Key, n}
				if other, twice := built[v]; twice {
					l.report("lost-update", "txns %d and %d read %d values of %s and appended to it", other, i, n, op.Key)
				}
				built[v] = i
			}
			wrote[op.Key] = true
			if !slices.Contains(l.order[op.Key], op.Append) {
				l.report("lost-append", "txn %d appended %d to %s, and the final list is %v", i, op.Append, op.Key, l.order[op.Key])
			}
		}
	}
}

// checkStale looks for reads that miss an append acknowledged before they began.
func (l *lists) checkStale() {
	for i, t := range l.txns {
		if t.Outcome != Committed || t.End == 0 {
			continue
		}
		for _, op := range t.Ops {
			order := l.order[op.Key]
			if op.Read == nil || len(op.Read) >= len(order) {
				continue
			}
			// The first value it misses is enough: later ones were appended later.
			p := l.where[op.Key][order[len(op.Read)]]
			w := l.txns[p.txn]
			if p.txn != i && w.Outcome == Committed && w.End != 0 && w.End < t.Begin {
				l.report("stale", "txn %d read %s=%v, and txn %d had been acknowledged before it began", i, op.Key, op.Read, p.txn)
			}
		}
	}
}
