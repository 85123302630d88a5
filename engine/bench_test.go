package engine_test

import (
	"encoding/binary"
	"sync/atomic"
	"testing"

	"github.com/pandodb/pando/clock"
	"github.com/pandodb/pando/engine"
)

// BenchmarkCommit measures one-row batches of 190 bytes from many goroutines, synced and not, on the machine's disk.
func BenchmarkCommit(b *testing.B) {
	for _, sync := range []bool{true, false} {
		name := map[bool]string{true: "synced", false: "unsynced"}[sync]
		b.Run(name, func(b *testing.B) {
			e := open(b, engine.Options{Dir: b.TempDir(), BallastBytes: engine.NoSpace})
			var n atomic.Uint64
			row := make([]byte, 190)
			b.SetParallelism(32) // 64 writers on two cores
			b.ReportAllocs()
			b.RunParallel(func(pb *testing.PB) {
				var key [9]byte
				key[0] = 't'
				for pb.Next() {
					i := n.Add(1)
					binary.BigEndian.PutUint64(key[1:], i*0x9E3779B97F4A7C15)
					batch := e.NewBatch()
					batch.SetVersion(key[:], clock.Timestamp(i), row[:1], row[1:])
					if err := e.Apply(batch, sync); err != nil {
						b.Error(err)
						return
					}
					batch.Close()
				}
			})
			m := e.Metrics()
			b.ReportMetric(float64(m.Applied)/float64(max(m.WALSyncs, 1)), "batches/fsync")
			if err := e.Close(); err != nil {
				b.Error(err)
			}
		})
	}
}
