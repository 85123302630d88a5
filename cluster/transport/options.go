package transport

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"log/slog"
	"net"
	"time"
)

// Limits.
const (
	// queueBytesMax and queueFramesMax are the defaults of Limits.
	queueBytesMax  = 64 << 20
	queueFramesMax = 16 << 10
	// frameBytesMax bounds what a member of the cluster may send at once.
	frameBytesMax = 256 << 20
	// helloBytesMax bounds hello and welcome, joinBytesMax what is said without a certificate.
	helloBytesMax = 8 << 10
	joinBytesMax  = 32 << 10
	// callBytesMax bounds requests and answers.
	callBytesMax = 32 << 20
	// callsMax bounds the calls that wait for one node, and those that are being answered for one.
	callsMax = 1024
	// strangersMax bounds connections without a certificate, strangersOfHostMax those of one address.
	strangersMax, strangersOfHostMax = 256, 64
	// joinsMax bounds those that join at once.
	joinsMax = 8
	// snapshotsMax bounds the snapshots that are received at once.
	snapshotsMax = 16
	// clientsMax bounds the clients that are handed on, in both directions together.
	clientsMax = 100_000
	// chunkBytes is written under one deadline, and read at once at most.
	chunkBytes = 64 << 10
	// othersMax bounds the addresses in a welcome, addressBytesMax each address and reasonBytesMax a reason.
	othersMax, addressBytesMax, reasonBytesMax = 64, 255, 1024
	// nodesMax bounds the peers and neighbours that are kept.
	nodesMax = 4096
)

// Delays. They are variables of a Transport, so that tests can be quick.
type delays struct {
	dial      time.Duration // for a connection, and the same again for its handshake
	handshake time.Duration // that a stranger has
	ping      time.Duration // between pings
	dead      time.Duration // without a sign
	orphan    time.Duration // that the clients of a node without a link have
	retryMin  time.Duration // between attempts to connect
	retryMax  time.Duration
	join      time.Duration // that a joining node has
	twin      time.Duration // that a node is told that it is a twin before that is fatal
}

var defaultDelays = delays{dial: 3 * time.Second, handshake: 5 * time.Second, ping: 500 * time.Millisecond, dead: 2500 * time.Millisecond, orphan: 5 * time.Second,
	retryMin: 50 * time.Millisecond, retryMax: time.Second, join: time.Minute, twin: 15 * time.Second}

// Handler takes what other nodes send. Its methods are called by many goroutines.
type Handler interface {
	// Raft takes a message for a region, which is the Handler's from then on. It must not wait: the link's pings are behind it.
	Raft(from, region uint64, message []byte)
	// Snapshot takes a region's snapshot. It has all of it when r ends with io.EOF; any other error means that the sender has gone. What
	// it returns is what the sender's Close returns.
	Snapshot(from, region uint64, r io.Reader) error
	// Call answers a request. ctx ends at the caller's deadline, when the caller has lost interest, and with the connection. An error goes to
	// the caller as a *RemoteError.
	Call(ctx context.Context, from uint64, kind byte, payload []byte) ([]byte, error)
	// Client serves a client that another node hands on. conn.RemoteAddr is where the client came from. It is closed when Client returns.
	Client(from uint64, conn net.Conn)
}

// Limits bound what waits for a link: 64 MiB, and 16 Ki frames. One frame always fits; a raft message has a megabyte at most, and one entry of any size. Tests
// make them small.
type Limits struct {
	QueueBytes  int `least:"1"`
	QueueFrames int `least:"1"`
}

// Options are what a Transport is made of.
type Options struct {
	// Listener accepts other nodes; the Transport closes it.
	Listener net.Listener
	// Cluster and Node say who this is.
	Cluster, Node uint64
	// Incarnation counts the openings of the node's store, and grows while it is open, too: whoever knows a higher one refuses the node (N8).
	Incarnation func() uint64
	// Oldest and Newest are the cluster versions that this program knows.
	Oldest, Newest uint64
	// Certificate is the node's with the authority's behind it, and Authority is the latter.
	Certificate tls.Certificate
	Authority   *x509.Certificate
	// Advertise is the address under which others reach this node.
	Advertise string
	// Addresses says where a member of the cluster was last known; false for what is none.
	Addresses func(node uint64) (string, bool)
	// Admit says why a node that has shown its certificate may not speak, nil if it may; by a *RefusedError, if there is a Reason of its own. Without it members
	// may, as Addresses says.
	Admit func(node, incarnation uint64) error
	// Hints are addresses where members may be, for a cluster whose nodes have all moved.
	Hints []string
	// Handler takes what comes.
	Handler Handler
	// Join answers a node that has no certificate yet; without it such are turned away.
	Join func(ctx context.Context, from net.Addr, request []byte) ([]byte, error)
	// Fatal is told why this node must not go on: another copy of its directory is alive. It must not wait for Close.
	Fatal func(error)
	// Logger receives what operators have to know; nil discards it.
	Logger *slog.Logger
	// Limits: zero fields take the defaults.
	Limits Limits

	delays *delays // nil for the defaults
}

func (o *Options) validate() error {
	var faults []error
	check := func(ok bool, what string) {
		if !ok {
			faults = append(faults, errors.New("transport: "+what))
		}
	}
	check(o.Listener != nil, "no listener")
	check(o.Cluster != 0 && o.Node != 0, "no cluster or no node")
	check(o.Oldest <= o.Newest, "oldest is above newest")
	check(len(o.Certificate.Certificate) > 0 && o.Authority != nil, "no certificate or no authority")
	check(o.Addresses != nil && o.Handler != nil && o.Incarnation != nil, "no addresses, no handler or no incarnation")
	check(len(o.Advertise) <= addressBytesMax, "the advertised address is too long")
	return errors.Join(faults...)
}
