package bench

import (
	"io"
	"net"
	"os"
	"path/filepath"
	"time"

	"github.com/pandodb/pando/clock"
)

// calibrationTime is how long each of the two figures is measured.
const calibrationTime = 300 * time.Millisecond

// Calibration says what the machine could do at one moment: noise of the machine shows here before it shows in a server.
type Calibration struct {
	Before    string  `json:"before"` // the workload that follows
	Loopback  float64 `json:"loopback_per_second"`
	Fdatasync float64 `json:"fdatasync_per_second"`
	Load      float64 `json:"load"` // one-minute load average
}

// calibrate measures request and response over one loopback connection, and appends in place of 512 bytes with fdatasync.
func calibrate(before, dir string) Calibration {
	return Calibration{Before: before, Loopback: pingPong(), Fdatasync: syncRate(dir), Load: loadAverage()}
}

func pingPong() float64 {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0
	}
	defer listener.Close()
	go func() {
		conn, err := listener.Accept()
		if err != nil {
			return
		}
		defer conn.Close()
		_, _ = io.CopyBuffer(struct{ io.Writer }{conn}, struct{ io.Reader }{conn}, make([]byte, 64))
	}()
	conn, err := net.Dial("tcp", listener.Addr().String())
	if err != nil {
		return 0
	}
	defer conn.Close()
	message := make([]byte, 64)
	return repeat(func() error {
		if _, err := conn.Write(message); err != nil {
			return err
		}
		_, err := io.ReadFull(conn, message)
		return err
	})
}

func syncRate(dir string) float64 {
	const blocks, blockSize = 2048, 512
	file, err := os.Create(filepath.Join(dir, "calibration"))
	if err != nil {
		return 0
	}
	defer os.Remove(file.Name())
	defer file.Close()
	// Written once in full: a log whose blocks exist needs no metadata with each sync, which is what both sides have.
	if _, err := file.Write(make([]byte, blocks*blockSize)); err != nil || file.Sync() != nil {
		return 0
	}
	block := make([]byte, blockSize)
	n := int64(0)
	return repeat(func() error {
		n++
		if _, err := file.WriteAt(block, n%blocks*blockSize); err != nil {
			return err
		}
		return syncData(file)
	})
}

// repeat counts how often per second f returns; an error ends it with zero, which a report shows as unknown.
func repeat(f func() error) float64 {
	begin, n := clock.Mono(), 0
	for clock.Since(begin) < calibrationTime {
		if f() != nil {
			return 0
		}
		n++
	}
	return float64(n) / clock.Since(begin).Seconds()
}
