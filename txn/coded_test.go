package txn

import "testing"

// TestCoded: transactions do the same if each request and reply passes through its encoding, as between nodes.
func TestCoded(t *testing.T) {
	coded = true
	defer func() { coded = false }()
	for _, c := range []struct {
		name string
		test func(*testing.T)
	}{
		{"Scripts", TestScripts}, {"Model", TestModel}, {"SplitUnderLoad", TestSplitUnderLoad}, {"Counters", TestCounters},
		{"AllocCounter", TestAllocCounter}, {"DropCounters", TestDropCounters}, {"DropSpan", TestDropSpan}, {"SnapshotTooOld", TestSnapshotTooOld},
		{"Undetermined", TestUndetermined}, {"DiskFull", TestDiskFull}, {"LargeTxn", TestLargeTxn}, {"ListAppend", TestListAppend},
		{"Bank", TestBank}, {"Monotonic", TestMonotonic}, {"Linearizable", TestLinearizable},
	} {
		t.Run(c.name, c.test)
	}
}
