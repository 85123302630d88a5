package transport

import (
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"strings"
	"syscall"
)

// Errors of calls and streams. errors.Is finds them.
var (
	// ErrBusy: too many calls or snapshots wait already.
	ErrBusy = errors.New("transport: the server is busy")
	// ErrUnreachable: the node cannot be connected to, or the connection broke. Whether a call was executed is not known.
	ErrUnreachable = errors.New("transport: the node is not reachable")
	// ErrClosed: the Transport is closed.
	ErrClosed = errors.New("transport: closed")
)

// Refused says why a node does not let another speak. The values are on the wire.
type Refused byte

// Reasons.
const (
	RefusedCluster     Refused = 1 + iota // another cluster's node
	RefusedMember                         // not a member, as far as the other knows
	RefusedVersion                        // no version that both know
	RefusedTwin                           // another life of the same number is alive
	RefusedIncarnation                    // a later start of its directory was heard of
	RefusedNode                           // the number is not the certificate's, or the one that was dialed
	RefusedBusy                           // too many connections
	RefusedFormat                         // a hello that nobody understands
	RefusedRemoved                        // region 0 says that it was removed
	RefusedOutlived                       // region 0 knows of a later start of its directory
)

// RefusedError is what a node hears that is not let in.
type RefusedError struct {
	Reason Refused
	Text   string
	By     uint64 // who refuses this node; 0 where it is this node that refuses
}

func (e *RefusedError) Error() string { return e.Text }

// final reports whether another refuses this node for a reason that stays. The other may be wrong about what it has heard, and a majority is not.
func (e *RefusedError) final() bool {
	return e.By != 0 && (e.Reason == RefusedRemoved || e.Reason == RefusedOutlived || e.Reason == RefusedIncarnation)
}

func refuse(reason Refused, format string, args ...any) *RefusedError {
	return &RefusedError{Reason: reason, Text: fmt.Sprintf(format, args...)}
}

// RemoteError is the error of a Handler's at another node.
type RemoteError struct{ Text string }

func (e *RemoteError) Error() string { return e.Text }

// explain turns what the network and TLS say into a sentence about the nodes.
func explain(err error, address string) error {
	if refused, ok := errors.AsType[*RefusedError](err); ok {
		return refused
	}
	text := err.Error()
	_, unknown := errors.AsType[x509.UnknownAuthorityError](err)
	name, wrongName := errors.AsType[x509.HostnameError](err)
	invalid, isInvalid := errors.AsType[x509.CertificateInvalidError](err)
	network, isNetwork := errors.AsType[net.Error](err)
	switch {
	case unknown:
		return fmt.Errorf("%s is of another cluster: its certificate is of another authority", address)
	case wrongName:
		return fmt.Errorf("at %s is another node: its certificate is for %s", address, strings.Join(name.Certificate.DNSNames, ", "))
	case isInvalid && invalid.Reason == x509.Expired:
		return fmt.Errorf("the certificate of %s is not valid at this machine's time (it is from %s to %s): set the clock", address,
			invalid.Cert.NotBefore.UTC().Format(timeFormat), invalid.Cert.NotAfter.UTC().Format(timeFormat))
	case strings.Contains(text, "remote error: tls: unknown certificate authority"):
		return fmt.Errorf("%s refuses this node's certificate: it is of another cluster", address)
	case strings.Contains(text, "remote error: tls: expired certificate"):
		return fmt.Errorf("%s refuses this node's certificate as not valid at its time: one of the two clocks is wrong by more than a day", address)
	case strings.Contains(text, "first record does not look like a TLS handshake"), strings.Contains(text, "no application protocol"):
		return fmt.Errorf("at %s is no cluster port of Pando's (it is set by --cluster-listen)", address)
	case errors.Is(err, syscall.ECONNREFUSED):
		return fmt.Errorf("nobody listens at %s", address)
	case isNetwork && network.Timeout():
		return fmt.Errorf("%s does not answer", address)
	}
	return fmt.Errorf("%s: %w", address, err)
}

const timeFormat = "2006-01-02 15:04 MST"
