package engine_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"testing"

	"github.com/pandodb/pando/engine"
	"github.com/pandodb/pando/internal/testkit"
)

// sortedBy adds pairs to a sorter whose memory is so large, and returns what it reads.
func sortedBy(t *testing.T, s *engine.Sorter, pairs [][2][]byte) [][2][]byte {
	t.Helper()
	for _, p := range pairs {
		key, value := bytes.Clone(p[0]), bytes.Clone(p[1])
		if err := s.Add(key, value); err != nil {
			t.Fatal(err)
		}
		clear(key) // it keeps nothing
		clear(value)
	}
	var got [][2][]byte
	err := s.Each(func() error { return nil }, func(key, value []byte) error {
		got = append(got, [2][]byte{bytes.Clone(key), bytes.Clone(value)})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// TestSorter: pairs come out in the order of their keys, whether they fit into memory or into one file or many; the files go.
func TestSorter(t *testing.T) {
	mem := engine.NewMemFS()
	e := open(t, engine.Options{Dir: "d", FS: mem})
	defer e.Close()
	rng := testkit.Rand(testkit.Seed(t), 0)
	for _, n := range []int{0, 1, 2, 500, 20000} {
		for _, memory := range []int{1 << 30, 40 << 10, 1 << 20} {
			common := []byte("common")[:rng.IntN(7)]
			pairs := make([][2][]byte, n)
			for i := range pairs {
				key := slices.Concat(common, bytes.Repeat([]byte{byte(rng.IntN(3))}, rng.IntN(20)), fmt.Appendf(nil, "%d", rng.IntN(1<<40)))
				pairs[i] = [2][]byte{key, bytes.Repeat([]byte{'v'}, rng.IntN(300)*rng.IntN(2))}
			}
			s := e.NewSorter(len(common))
			s.SetMemory(memory)
			if !s.Empty() {
				t.Error("a new sorter has pairs")
			}
			got := sortedBy(t, s, pairs)
			slices.SortFunc(pairs, func(a, b [2][]byte) int { return bytes.Compare(a[0], b[0]) })
			if !slices.EqualFunc(got, pairs, func(a, b [2][]byte) bool { return bytes.Equal(a[0], b[0]) && bytes.Equal(a[1], b[1]) }) {
				t.Errorf("%d pairs in a memory of %d are not what was added, in order", n, memory)
			}
			if s.Empty() != (n == 0) {
				t.Errorf("%d pairs: empty is %v", n, s.Empty())
			}
			s.Discard()
			if names, err := mem.List("d/incoming"); err == nil && len(names) > 0 {
				t.Errorf("files are left: %v", names)
			}
		}
	}
}

// TestSorterDamage: a byte of a file that is not what was written, or a file that has become shorter, ends the reading by an error; so does poll.
func TestSorterDamage(t *testing.T) {
	mem := engine.NewMemFS()
	e := open(t, engine.Options{Dir: "d", FS: mem})
	defer e.Close()
	var pairs [][2][]byte
	for i := range 9000 {
		pairs = append(pairs, [2][]byte{fmt.Appendf(nil, "k%05d", i*7919%10007), []byte("value")})
	}
	read := func(poll func() error, damage func(name string)) error {
		s := e.NewSorter(1)
		defer s.Discard()
		s.SetMemory(100 << 10)
		for _, p := range pairs {
			if err := s.Add(p[0], p[1]); err != nil {
				t.Fatal(err)
			}
		}
		names, err := mem.List("d/incoming")
		if err != nil || len(names) < 2 {
			t.Fatal(names, err)
		}
		damage("d/incoming/" + names[0])
		return s.Each(poll, func(_, _ []byte) error { return nil })
	}
	whole := func(string) {}
	free := func() error { return nil }
	if err := read(free, whole); err != nil {
		t.Error(err)
	}
	ended := errors.New("ended")
	if err := read(func() error { return ended }, whole); !errors.Is(err, ended) {
		t.Error(err)
	}
	change := func(change func(b []byte) []byte) func(name string) {
		return func(name string) {
			in, err := mem.Open(name)
			if err != nil {
				t.Fatal(err)
			}
			b, err := io.ReadAll(in)
			if err = errors.Join(err, in.Close()); err != nil {
				t.Fatal(err)
			}
			f, err := mem.Create(name, "")
			if err != nil {
				t.Fatal(err)
			}
			if _, err := f.Write(change(b)); err != nil {
				t.Fatal(err)
			}
			if err := f.Close(); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := read(free, change(func(b []byte) []byte { b[len(b)-1] ^= 1; return b })); !errors.Is(err, engine.ErrCorrupt) {
		t.Errorf("a wrong byte: %v", err)
	}
	if err := read(free, change(func(b []byte) []byte { return b[:len(b)/2] })); err == nil {
		t.Error("half a file is taken for the whole")
	}
}

// fileSpace is an engine.FileSpace.
type fileSpace struct{ limit, used int64 }

func (s *fileSpace) Take(n int64) bool {
	if s.used+n > s.limit {
		return false
	}
	s.used += n
	return true
}

// TestSorterFilesAreCounted: the files of sorters take the space that there is for them, which comes back, and a sorter for whose files there is no more
// is full.
func TestSorterFilesAreCounted(t *testing.T) {
	e := open(t, engine.Options{Dir: "d", FS: engine.NewMemFS()})
	defer e.Close()
	const files = 3
	for range 100 {
		defer e.NewSorter(0).Discard() // so that a file is small
	}
	first := e.NewSorter(0)
	space := &fileSpace{limit: int64(files * first.Memory())}
	e.SetFileSpace(space)
	value := make([]byte, 10_000)
	added := 0
	for ; !first.Full(); added += len(value) {
		if err := first.Add([]byte(fmt.Sprintf("%010d", added)), value); err != nil {
			t.Fatal(err)
		}
	}
	if space.used == 0 || space.used > space.limit || added > (files+2)*first.Memory() {
		t.Errorf("%d bytes were added and %d of %d taken", added, space.used, space.limit)
	}
	pairs := 0
	if err := first.Each(func() error { return nil }, func(_, _ []byte) error { pairs++; return nil }); err != nil || pairs != added/len(value) {
		t.Errorf("%d pairs of %d, %v", pairs, added/len(value), err)
	}
	if first.Discard(); space.used != 0 {
		t.Errorf("%d bytes are still taken", space.used)
	}
}

// TestSortersShareMemory: however many sorters are open, together they have a few times the memory of one; one that is alone again has all of it.
func TestSortersShareMemory(t *testing.T) {
	e := open(t, engine.Options{Dir: "d", FS: engine.NewMemFS()})
	defer e.Close()
	whole, sum := 0, 0
	var all []*engine.Sorter
	for range 100 {
		s := e.NewSorter(0)
		if all = append(all, s); len(all) == 1 {
			whole = s.Memory()
		}
		sum += s.Memory()
	}
	if sum > 6*whole || all[99].Memory() == 0 {
		t.Errorf("100 sorters have %d bytes, the last of them %d, one alone %d", sum, all[99].Memory(), whole)
	}
	for _, s := range all {
		s.Discard()
		s.Discard()
	}
	s := e.NewSorter(0)
	defer s.Discard()
	if s.Memory() != whole {
		t.Errorf("one alone has %d bytes, and had %d before others came and went", s.Memory(), whole)
	}
}

// sortMemory is an engine.SortMemory.
type sortMemory struct{ limit, used, asked int64 }

func (m *sortMemory) Take(n int64) error {
	if m.asked++; m.used+n > m.limit {
		return errors.New("no more")
	}
	m.used += n
	return nil
}

// TestSorterTakesMemory: a sorter writes no file while there is memory to take, asks no more once there is none, and gives back what it took when it reads
// its files and when it ends.
func TestSorterTakesMemory(t *testing.T) {
	mem := engine.NewMemFS()
	e := open(t, engine.Options{Dir: "d", FS: mem})
	defer e.Close()
	memory := &sortMemory{limit: 40 << 20}
	e.SetSortMemory(memory, 1<<30)
	pair := func(i int) [2][]byte {
		return [2][]byte{fmt.Appendf(nil, "%08d", i*7919%40000), bytes.Repeat([]byte{'v'}, 2000)}
	}
	for _, n := range []int{10000, 40000} {
		s := e.NewSorter(0)
		s.SetMemory(1 << 20)
		for i := range n {
			p := pair(i)
			if err := s.Add(p[0], p[1]); err != nil {
				t.Fatal(err)
			}
		}
		files, _ := mem.List("d/incoming") // there is none before the first file
		if fits := n == 10000; fits != (len(files) == 0) || memory.used == 0 || !fits && memory.asked > 6 {
			t.Errorf("%d pairs have made the files %v, with %d bytes taken in %d times", n, files, memory.used, memory.asked)
		}
		i := 0
		err := s.Each(func() error { return nil }, func(key, value []byte) error {
			if n == 40000 && (string(key) != fmt.Sprintf("%08d", i) || len(value) != 2000 || memory.used != 0) {
				return fmt.Errorf("pair %d is %s, with %d bytes taken", i, key, memory.used)
			}
			i++
			return nil
		})
		if err != nil || i != n {
			t.Errorf("%d of %d pairs: %v", i, n, err)
		}
		s.Discard()
		if memory.used != 0 {
			t.Errorf("%d bytes are not given back", memory.used)
		}
	}
}
