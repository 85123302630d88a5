package session_test

import (
	"strconv"
	"syscall"
	"testing"

	"github.com/pandodb/pando/tests/inproc"
)

// BenchmarkBulkInsert stores rows of two integers as sysbench's bulk_insert does, half a megabyte a statement. It reports the CPU time
// of a row, with that of the garbage collector and of the engine's flushes.
func BenchmarkBulkInsert(b *testing.B) {
	const textBytes = 512 << 10
	node := inproc.Open(b, inproc.Options{})
	b.Cleanup(node.Close)
	c := node.Root("")
	b.Cleanup(c.Close)
	c.Must("CREATE DATABASE d")
	c.Must("USE d")
	c.Must("CREATE TABLE t(id INT NOT NULL, k INT DEFAULT '0' NOT NULL, PRIMARY KEY (id))")
	cpu := func() int64 {
		var use syscall.Rusage
		if err := syscall.Getrusage(syscall.RUSAGE_SELF, &use); err != nil {
			b.Fatal(err)
		}
		return use.Utime.Nano() + use.Stime.Nano()
	}
	var text []byte
	var spent int64
	id := 0
	b.ReportAllocs()
	for b.Loop() {
		b.StopTimer()
		text = append(text[:0], "INSERT INTO t VALUES"...)
		for sep := byte(' '); len(text) < textBytes; sep = ',' {
			id++
			text = append(text, sep, '(')
			text = append(strconv.AppendInt(text, int64(id), 10), ", "...)
			text = append(strconv.AppendInt(text, int64(id*7%1000003), 10), ')')
		}
		b.StartTimer()
		before := cpu()
		if err := c.Session.Query(text, &discard{}); err != nil {
			b.Fatal(err)
		}
		spent += cpu() - before
	}
	b.ReportMetric(float64(spent)/float64(id), "cpu-ns/row")
}
