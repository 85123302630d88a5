package wire

import (
	"encoding/binary"
	"io"
	"net"
	"testing"
	"time"

	"github.com/pandodb/pando/sqlapi"
	"github.com/pandodb/pando/types"
)

// loopConn is a client that sends one packet a number of times and takes all answers.
type loopConn struct {
	packet []byte
	left   int
	reads  int
	writes int
	bytes  int
}

func (l *loopConn) Read(b []byte) (int, error) {
	if l.left == 0 {
		return 0, io.EOF
	}
	l.left--
	l.reads++
	return copy(b, l.packet), nil
}

func (l *loopConn) Write(b []byte) (int, error) {
	l.writes++
	l.bytes += len(b)
	return len(b), nil
}
func (l *loopConn) Close() error                     { return nil }
func (l *loopConn) LocalAddr() net.Addr              { return &net.TCPAddr{} }
func (l *loopConn) RemoteAddr() net.Addr             { return &net.TCPAddr{} }
func (l *loopConn) SetDeadline(time.Time) error      { return nil }
func (l *loopConn) SetReadDeadline(time.Time) error  { return nil }
func (l *loopConn) SetWriteDeadline(time.Time) error { return nil }

// pointSession answers every execution with one fixed row from stored bytes, as a point select does.
type pointSession struct {
	fakeSession
	cols []sqlapi.ColumnInfo
	row  []byte
}

func (s *pointSession) Query(sql []byte, out Response) error { return s.answer(out) }

func (s *pointSession) Execute(id uint32, args *Args, cursor byte, out Response) error {
	if args.Values[0].K != types.KindInt {
		return types.Errorf(types.ErWrongArguments, "id")
	}
	return s.answer(out)
}

func (s *pointSession) answer(out Response) error {
	enc, err := out.Columns(s.cols)
	if err != nil {
		return err
	}
	enc.StartRow(1)
	enc.Stored(&s.cols[0].Type, s.row)
	enc.EndRow()
	if err := out.RowDone(); err != nil {
		return err
	}
	return out.Done(sqlapi.Result{HasRows: true, AffectedRows: 1, Status: sqlapi.StatusAutocommit}, false)
}

// newLoop returns a connection past its handshake on a loopConn.
func newLoop(tb testing.TB, packet []byte) (*conn, *loopConn) {
	tb.Helper()
	s, err := New(Options{Backend: newFakeBackend()})
	if err != nil {
		tb.Fatal(err)
	}
	client := &loopConn{packet: packet}
	c := newConn(s, 1, client)
	point := &pointSession{
		cols: []sqlapi.ColumnInfo{{Schema: "sbtest", Table: "sbtest1", OrgTable: "sbtest1", Name: "c", OrgName: "c",
			Type: types.Type{ID: types.TypeChar, Length: 120, Coll: types.Utf8mb40900AICI}, NotNull: true}},
		row: make([]byte, 119),
	}
	point.backend = newFakeBackend()
	c.sess, c.intr, c.in.exact = point, point.Interrupt(), false
	c.in.partial = func() { c.setPhase(phaseRead) }
	c.stmts.add(1, 1, KindSelect)
	// The first execution binds the types.
	bind := append([]byte{ComStmtExecute, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 8, 0}, make([]byte, 8)...)
	c.resp.seq = 1
	if !c.command(bind) {
		tb.Fatal("binding failed")
	}
	c.resp.end()
	client.writes, client.bytes = 0, 0
	return c, client
}

func withHeader(payload []byte) []byte {
	h := binary.LittleEndian.AppendUint32(nil, uint32(len(payload)))
	return append(h, payload...)
}

// pointExecute is the packet that sysbench sends for its point select after the first.
func pointExecute() []byte {
	return withHeader(append([]byte{ComStmtExecute, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0}, 42, 0, 0, 0, 0, 0, 0, 0))
}

func pointQuery() []byte {
	return withHeader(append([]byte{ComQuery}, "SELECT c FROM sbtest1 WHERE id=42"...))
}

// TestPointAllocations holds the hot path to no allocation, one read and one write per command.
func TestPointAllocations(t *testing.T) {
	for name, packet := range map[string][]byte{"execute": pointExecute(), "query": pointQuery()} {
		c, client := newLoop(t, packet)
		client.left = 100
		c.loop() // warm up
		client.reads, client.writes = 0, 0
		const n = 1000
		perLoop := testing.AllocsPerRun(10, func() {
			client.left = n
			c.loop()
		})
		if perLoop > 2 { // the end of the stream may cost something
			t.Errorf("%s: %v allocations in %d commands", name, perLoop, n)
		}
		if client.reads != 11*n || client.writes != 11*n {
			t.Errorf("%s: %d reads and %d writes for %d commands", name, client.reads, client.writes, 11*n)
		}
	}
}

func BenchmarkPointExecute(b *testing.B) { benchLoop(b, pointExecute()) }
func BenchmarkPointQuery(b *testing.B)   { benchLoop(b, pointQuery()) }

func benchLoop(b *testing.B, packet []byte) {
	c, client := newLoop(b, packet)
	b.ReportAllocs()
	b.ResetTimer()
	client.left = b.N
	c.loop()
	b.ReportMetric(float64(client.bytes)/float64(b.N), "outB/op")
}
