package wire

import (
	"sync/atomic"
	"time"

	"github.com/pandodb/pando/status"
)

const (
	counterShards = 16
	cacheLine     = 64
)

// counterShard is one of several sets of counters: connections are spread over them so that cores do not contend for a cache line.
type counterShard struct {
	_           [cacheLine]byte
	commands    [numCommands]atomic.Uint64
	bytesIn     atomic.Uint64
	bytesOut    atomic.Uint64
	connections atomic.Uint64
	refused     atomic.Uint64
	aborted     atomic.Uint64
	badConnects atomic.Uint64
	denied      atomic.Uint64
	delayed     atomic.Uint64
	malformed   atomic.Uint64
	gone        atomic.Uint64
	panics      atomic.Uint64
	errors      atomic.Uint64
	latencies   [NumKinds]status.Histogram
}

type counters struct{ shards [counterShards]counterShard }

func (c *counters) shard(id uint32) *counterShard { return &c.shards[id%counterShards] }

// Counters are totals since the server was made.
type Counters struct {
	// Commands counts commands by their first byte (ComQuery …); unknown ones are under ComSleep.
	Commands [numCommands]uint64
	// BytesIn and BytesOut count the bytes of packets inside TLS and compression, without handshakes in BytesIn.
	BytesIn, BytesOut uint64
	// Connections counts those given a goroutine, Refused those answered with 1040 or 1053 at once.
	Connections, Refused uint64
	// Aborted counts connections that ended without COM_QUIT or a close between commands; BadConnects those that ended
	// before authentication did, Denied those among them that were answered with 1045.
	Aborted, BadConnects, Denied uint64
	// Delayed counts logins that were answered late, or refused at once, because earlier ones of the same name and address had failed.
	Delayed uint64
	// Malformed counts connections closed for violating the protocol, Gone those whose client left during a statement or a delayed login.
	Malformed, Gone uint64
	// Panics counts connections ended by a panic. Anything but 0 is a fault of the server.
	Panics uint64
	// Errors counts error packets sent in answer to commands.
	Errors uint64
}

// Questions is the number of commands of all kinds.
func (c *Counters) Questions() (sum uint64) {
	for _, count := range c.Commands {
		sum += count
	}
	return sum
}

// Counters returns the present totals.
func (s *Server) Counters() Counters {
	var sum Counters
	for i := range s.counters.shards {
		c := &s.counters.shards[i]
		for j := range c.commands {
			sum.Commands[j] += c.commands[j].Load()
		}
		for _, pair := range [...]struct {
			to   *uint64
			from *atomic.Uint64
		}{
			{&sum.BytesIn, &c.bytesIn}, {&sum.BytesOut, &c.bytesOut}, {&sum.Connections, &c.connections},
			{&sum.Refused, &c.refused}, {&sum.Aborted, &c.aborted}, {&sum.BadConnects, &c.badConnects},
			{&sum.Denied, &c.denied}, {&sum.Delayed, &c.delayed}, {&sum.Malformed, &c.malformed}, {&sum.Gone, &c.gone},
			{&sum.Panics, &c.panics}, {&sum.Errors, &c.errors},
		} {
			*pair.to += pair.from.Load()
		}
	}
	return sum
}

// OpenConnections returns how many connections there are now.
func (s *Server) OpenConnections() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.conns)
}

// MostConnections is how many were open at once at the most, and when that was reached.
func (s *Server) MostConnections() (n int, at time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.most, s.mostAt
}
