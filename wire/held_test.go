package wire

import (
	"strings"
	"sync"
	"testing"

	"github.com/pandodb/pando/internal/testkit"
	"github.com/pandodb/pando/kvapi"
	"github.com/pandodb/pando/types"
)

// scarce is a Memory of few bytes.
type scarce struct {
	mu   sync.Mutex
	left int64
}

// has reports whether n bytes are left.
func (m *scarce) has(n int64) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.left == n
}

func (m *scarce) Ask(n int64, _ *kvapi.Interrupt, _ bool) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if n > m.left {
		return types.NewError(8176, "no memory")
	}
	m.left -= n
	return nil
}

// TestLargeBuffersAreCounted: a packet, long data and a row for which the server has no memory end with its error, and what was taken is
// given back.
func TestLargeBuffersAreCounted(t *testing.T) {
	const all = 1 << 20
	memory := &scarce{left: all}
	ts := startServer(t, func(o *Options) { o.Memory = memory })
	whole := func() bool { return memory.has(all) }
	db := ts.open(t, "root", "", "?maxAllowedPacket=67108864")
	if _, err := db.Exec("OK " + strings.Repeat("x", 900<<10)); err != nil {
		t.Errorf("a packet that fits: %v", err)
	}
	testkit.Await(t, "the packet's memory is given back", whole)
	r := ts.dial(t)
	r.login(rawCaps, "root")
	packet := append([]byte{2, 0, 32, 0, ComQuery}, strings.Repeat("x", 2<<20+1)...)
	go func() { _, _ = r.conn.Write(packet) }() // which may meet a closed connection
	p, err := r.tryRead()
	if err != nil || len(p) < 3 || p[0] != 0xff || int(p[1])|int(p[2])<<8 != 8176 {
		t.Errorf("a packet that does not fit: %v, %.60q", err, p)
	}
	testkit.Await(t, "the refused packet's memory is given back", whole)
	checkRows(t, db, "ROWS", 3, 900<<10)
	testkit.Await(t, "the rows' memory is given back", whole)
	rows, err := db.Query("ROWS 1 2097152")
	if err == nil {
		for rows.Next() {
		}
		err = rows.Err()
		_ = rows.Close()
	}
	if number(err) != 8176 {
		t.Errorf("a row that does not fit: %v", err)
	}
	testkit.Await(t, "the refused row's memory is given back", whole)
}

// TestLongDataIsCounted: long data beyond the server's memory is reported by EXECUTE.
func TestLongDataIsCounted(t *testing.T) {
	memory := &scarce{left: 1 << 20}
	table := &stmtTable{held: &held{memory: memory}}
	table.add(1, 2, 0)
	s := table.get(1)
	part := make([]byte, 700<<10)
	table.addLong(s, 0, part, 16<<20)
	if s.long.fault != nil || memory.left != 1<<20-700<<10-longValueBytes {
		t.Fatalf("fault %v, left %d", s.long.fault, memory.left)
	}
	table.addLong(s, 1, part, 16<<20)
	if e, ok := s.long.fault.(*types.Error); !ok || e.Number != 8176 || memory.left != 1<<20 {
		t.Fatalf("fault %v, left %d", s.long.fault, memory.left)
	}
	table.dropLong(s)
	table.addLong(s, 0, part, 16<<20)
	table.clear()
	if memory.left != 1<<20 {
		t.Fatalf("left %d", memory.left)
	}
}
