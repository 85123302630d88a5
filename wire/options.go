package wire

import (
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"time"

	"github.com/pandodb/pando/privilege/password"
)

// Limits and defaults of a Server.
const (
	maxConnectionsDefault   = 2048
	maxConnectionsLimit     = 100_000 // MySQL's own ceiling
	maxAllowedPacketDefault = 64 << 20
	maxAllowedPacketMin     = 1 << 10
	maxAllowedPacketLimit   = 1 << 30 // MySQL's own ceiling
	handshakeTimeoutDefault = 10 * time.Second
	waitTimeoutDefault      = 8 * time.Hour
	netReadTimeoutDefault   = 30 * time.Second
	netWriteTimeoutDefault  = 60 * time.Second
	versionLenMax           = 64
)

// Options configure a Server. The zero value of every field but Backend is usable.
type Options struct {
	// Backend authenticates and opens sessions. Required.
	Backend Backend
	// Version is the server version of the handshake, by default "8.0.36-pando".
	Version string
	// MaxConnections is how many may be open at once; one more gets 1040.
	MaxConnections int
	// MaxAllowedPacket is the largest command of a new connection, in bytes.
	MaxAllowedPacket int
	// HandshakeTimeout bounds the time from accept to the end of authentication, without that in which the server makes its RSA key.
	HandshakeTimeout time.Duration
	// WaitTimeout, NetReadTimeout and NetWriteTimeout are the initial values of a
	// connection; its session changes them through Control.
	WaitTimeout, NetReadTimeout, NetWriteTimeout time.Duration
	// DefaultPlugin is announced in the handshake, and is the plugin of accounts whose Credential names none.
	DefaultPlugin string
	// TLS is the server's certificate and policy. If nil, a self-signed certificate is made
	// in memory. MinVersion is raised to TLS 1.2. To renew certificates without a
	// restart, set GetCertificate.
	TLS *tls.Config
	// DisableTLS does not offer encryption at all.
	DisableTLS bool
	// RequireSecureTransport refuses connections without TLS, except on unix
	// sockets, with 3159.
	RequireSecureTransport bool
	// ProxyNetworks are the addresses of proxies. Each connection from there begins with a header of the PROXY protocol, version 1 or 2,
	// from which the client's address is taken. From elsewhere such a header is a bad handshake.
	ProxyNetworks []netip.Prefix
	// Route may take over a connection that Serve has accepted, before the handshake: it returns true if it has, and then owns it. It must not
	// block. May be nil.
	Route func(net.Conn) bool
	// Memory is the budget that packets, long data, arguments and rows of more than heldMin bytes are charged to; nil sets no bound.
	Memory Memory
	// Logger receives errors and refused clients (W10); by default nothing is logged.
	Logger *slog.Logger
}

// EnsureDefaults fills the fields that were left zero.
func (o *Options) EnsureDefaults() {
	setDefault(&o.Version, "8.0.36-pando")
	setDefault(&o.MaxConnections, maxConnectionsDefault)
	setDefault(&o.MaxAllowedPacket, maxAllowedPacketDefault)
	setDefault(&o.HandshakeTimeout, handshakeTimeoutDefault)
	setDefault(&o.WaitTimeout, waitTimeoutDefault)
	setDefault(&o.NetReadTimeout, netReadTimeoutDefault)
	setDefault(&o.NetWriteTimeout, netWriteTimeoutDefault)
	setDefault(&o.DefaultPlugin, password.CachingSHA2)
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
}

func setDefault[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}

// Validate returns all faults of o, joined.
func (o *Options) Validate() error {
	var faults []error
	check := func(ok bool, format string, args ...any) {
		if !ok {
			faults = append(faults, fmt.Errorf("wire: "+format, args...))
		}
	}
	check(o.Backend != nil, "no backend")
	check(len(o.Version) <= versionLenMax, "version string is longer than %d bytes", versionLenMax)
	for i := range len(o.Version) {
		if o.Version[i] < ' ' || o.Version[i] > '~' {
			check(false, "version string holds byte %#x", o.Version[i])
			break
		}
	}
	check(o.MaxConnections >= 1 && o.MaxConnections <= maxConnectionsLimit,
		"max connections %d is not within 1 and %d", o.MaxConnections, maxConnectionsLimit)
	check(o.MaxAllowedPacket >= maxAllowedPacketMin && o.MaxAllowedPacket <= maxAllowedPacketLimit,
		"max allowed packet %d is not within %d and %d", o.MaxAllowedPacket, maxAllowedPacketMin, maxAllowedPacketLimit)
	check(o.HandshakeTimeout > 0 && o.WaitTimeout > 0 && o.NetReadTimeout > 0 && o.NetWriteTimeout > 0,
		"a timeout is negative")
	check(o.DefaultPlugin == password.CachingSHA2 || o.DefaultPlugin == password.Native,
		"unknown authentication plugin %q", o.DefaultPlugin)
	check(!o.DisableTLS || !o.RequireSecureTransport, "secure transport is required but TLS is disabled")
	check(!o.DisableTLS || o.TLS == nil, "TLS is both configured and disabled")
	return errors.Join(faults...)
}
