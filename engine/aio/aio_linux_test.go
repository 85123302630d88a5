package aio

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

// directFile makes a file of so many bytes and opens it past the page cache.
func directFile(t *testing.T, content []byte) uintptr {
	t.Helper()
	name := filepath.Join(t.TempDir(), "f")
	f, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Write(content); err != nil {
		t.Fatal(err)
	}
	if err := f.Sync(); err != nil {
		t.Fatal(err)
	}
	if err := unix.Fadvise(int(f.Fd()), 0, 0, unix.FADV_DONTNEED); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	direct, err := os.OpenFile(name, os.O_RDWR|unix.O_DIRECT, 0)
	if err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() { _ = direct.Close() })
	return direct.Fd()
}

func openQueue(t *testing.T, depth int) *Queue {
	t.Helper()
	q, err := Open(depth)
	if err != nil {
		t.Skip(err)
	}
	t.Cleanup(q.Close)
	return q
}

func newRequest(t *testing.T, q *Queue) *Request {
	t.Helper()
	r, err := q.NewRequest()
	if err != nil {
		t.Skip(err)
	}
	return r
}

// TestWrite: a write arrives, allocates nothing, leaves it to the caller when it cannot be made, and steps aside when it is refused.
func TestWrite(t *testing.T) {
	fd := directFile(t, make([]byte, 16*AlignBytes))
	r := newRequest(t, openQueue(t, 1))
	b := AlignedBytes(2 * AlignBytes)
	made := 0
	for range 200 {
		b[0]++
		n, done, err := r.Write(fd, b, 3*AlignBytes)
		if err != nil || done && n != len(b) {
			t.Fatal(n, done, err)
		}
		if done {
			made++
			got := AlignedBytes(AlignBytes)
			if _, err := unix.Pread(int(fd), got, 3*AlignBytes); err != nil || !bytes.Equal(got, b[:AlignBytes]) {
				t.Fatalf("%d %d %v", got[0], b[0], err)
			}
		}
	}
	if r.q.Refused() {
		t.Skip("this file system takes no such writes")
	}
	if made < 10 { // the others would have had to wait for something
		t.Fatalf("%d of 200 writes were made", made)
	}
	if n := testing.AllocsPerRun(20, func() {
		if _, _, err := r.Write(fd, b, 0); err != nil {
			t.Fatal(err)
		}
	}); n != 0 && !raceEnabled {
		t.Errorf("a write allocates %v times", n)
	}
	if n, done, err := r.Write(fd, b[:AlignBytes-1], 0); done && err == nil && n == AlignBytes-1 {
		t.Skip("this file system takes any length")
	} else if done || err != nil {
		t.Errorf("a refused request: %v %v", done, err)
	}
	if _, done, _ := r.Write(fd, b, 0); done {
		t.Error("it goes on after a refusal")
	}
	if _, done, err := newRequest(t, openQueue(t, 1)).Write(1<<20, b, 0); done || err != nil {
		t.Errorf("no such file: %v %v", done, err)
	}
}

// TestReads: reads of many goroutines at once bring each what it has asked for, though one fetches the completions of others.
func TestReads(t *testing.T) {
	const blocks, goroutines, reads = 64, 4 * fetchMax, 300
	content := make([]byte, blocks*AlignBytes)
	for i := range blocks {
		copy(content[i*AlignBytes:], fmt.Sprintf("block %d", i))
	}
	fd := directFile(t, content)
	q := openQueue(t, goroutines)
	var wg sync.WaitGroup
	var mu sync.Mutex // guards made
	made := 0
	for g := range goroutines {
		r := newRequest(t, q)
		wg.Go(func() {
			b := AlignedBytes(2 * AlignBytes)
			mine := 0
			for k := range reads {
				i, n := (7*g+11*k)%blocks, AlignBytes*(1+k%2)
				clear(b)
				got, done, err := r.Read(fd, b[:n], int64(i*AlignBytes))
				if err != nil {
					t.Error(err)
					return
				}
				if !done {
					continue
				}
				mine++
				if want := content[i*AlignBytes : min(i*AlignBytes+n, len(content))]; got != len(want) || !bytes.Equal(b[:got], want) {
					t.Errorf("block %d: %d bytes, %q", i, got, b[:10])
					return
				}
			}
			mu.Lock()
			defer mu.Unlock()
			made += mine
		})
	}
	wg.Wait()
	if q.Refused() {
		t.Skip("this file system takes no such reads")
	}
	if made < goroutines*reads/10 { // the others would have had to wait for something
		t.Errorf("%d of %d reads were made", made, goroutines*reads)
	}
	r := q.requests[0]
	b := AlignedBytes(AlignBytes)
	if n := testing.AllocsPerRun(20, func() {
		if _, _, err := r.Read(fd, b, 0); err != nil {
			t.Fatal(err)
		}
	}); n != 0 && !raceEnabled {
		t.Errorf("a read allocates %v times", n)
	}
	if n, done, err := r.Read(fd, b, blocks*AlignBytes); done && (n != 0 || err != nil) {
		t.Errorf("past the end: %d %v", n, err)
	}
}

// TestUnit: offsets of a file have to be a multiple of a power of two.
func TestUnit(t *testing.T) {
	for _, fd := range []uintptr{directFile(t, make([]byte, AlignBytes)), 1 << 20} {
		if n := Unit(fd); n < SectorBytes || n > AlignBytes || n&(n-1) != 0 {
			t.Errorf("%d", n)
		}
	}
	if b := AlignedBytes(100); len(b) != 100 || cap(b) != 100 || uintptr(unsafe.Pointer(&b[0]))%AlignBytes != 0 {
		t.Errorf("%d bytes of %d at %p", len(b), cap(b), &b[0])
	}
}
