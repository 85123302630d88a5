package identity

import (
	"context"
	"crypto/ed25519"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/pandodb/pando/clock"
	"github.com/pandodb/pando/cluster/transport"
	"github.com/pandodb/pando/internal/codec"
)

const (
	joinFormat = 1
	// programBytesMax bounds the name of a program's version.
	programBytesMax = 64
	// membersMax bounds the members in an answer.
	membersMax = 1024
	// certificateBytesMax bounds a certificate.
	certificateBytesMax = 8 << 10
	// joinPause is the pause before all addresses are asked again, joinTime how long that goes on while nobody has decided.
	joinPause = time.Second
	joinTime  = 30 * time.Second
)

// Place is where a node is.
type Place struct {
	Node    uint64
	Address string
}

// Request is what a node says that wants to join.
type Request struct {
	Secret         []byte
	Oldest, Newest uint64
	Public         ed25519.PublicKey
	Address        string
	Millis         int64 // by its clock
	Program        string
}

func (r *Request) append(b []byte) []byte {
	b = codec.AppendBytes(append(b, joinFormat), r.Secret)
	b = codec.AppendBytes(codec.AppendUint(codec.AppendUint(b, r.Oldest), r.Newest), r.Public)
	return codec.AppendBytes(codec.AppendUint(codec.AppendBytes(b, r.Address), max(r.Millis, 0)), r.Program)
}

func decodeRequest(b []byte) (*Request, error) {
	if len(b) == 0 || b[0] != joinFormat {
		return nil, fmt.Errorf("the node that joins speaks another format than %d: its program and this cluster's are too far apart", joinFormat)
	}
	d := codec.NewDecoder(b[1:])
	r := &Request{Secret: d.Bytes(), Oldest: d.Uint(), Newest: d.Uint(), Public: d.Bytes(), Address: d.Text(addressBytesMax), Millis: int64(d.Int()),
		Program: d.Text(programBytesMax)}
	if err := d.End(); err != nil || len(r.Secret) != secretBytes || len(r.Public) != ed25519.PublicKeySize || r.Oldest > r.Newest {
		return nil, errors.New("a malformed request to join")
	}
	return r, nil
}

// Admission is what a node gets that has joined.
type Admission struct {
	Cluster, Node          uint64
	Certificate, Authority []byte
	Members                []Place
}

func (a *Admission) append(b []byte) []byte {
	b = binary.BigEndian.AppendUint64(append(b, joinFormat), a.Cluster)
	b = codec.AppendBytes(codec.AppendBytes(codec.AppendUint(b, a.Node), a.Certificate), a.Authority)
	b = codec.AppendUint(b, len(a.Members))
	for _, p := range a.Members {
		b = codec.AppendBytes(codec.AppendUint(b, p.Node), p.Address)
	}
	return b
}

func decodeAdmission(b []byte) (*Admission, error) {
	if len(b) < 9 || b[0] != joinFormat {
		return nil, fmt.Errorf("the cluster answers in another format than %d: its programs and this one are too far apart", joinFormat)
	}
	a := &Admission{Cluster: binary.BigEndian.Uint64(b[1:])}
	d := codec.NewDecoder(b[9:])
	a.Node, a.Certificate, a.Authority = d.Uint(), []byte(d.Text(certificateBytesMax)), []byte(d.Text(certificateBytesMax))
	for range min(d.Count(2), membersMax+1) {
		a.Members = append(a.Members, Place{d.Uint(), d.Text(addressBytesMax)})
	}
	if err := d.End(); err != nil || a.Node == 0 || a.Cluster == 0 || len(a.Members) > membersMax {
		return nil, errors.New("a malformed answer to a request to join")
	}
	return a, nil
}

// Join asks members to take a node in: those of the addresses, and then those that the token names. A refusal is final, and so is a
// member of another cluster than the token's; while nobody can be reached, or the cluster has no leader, it is tried again for a while. told hears why; nil if nobody cares.
func Join(ctx context.Context, t *Token, addresses []string, r Request, seed []byte, told func(address string, err error)) (*Admission, error) {
	if !clock.Now().Before(t.Until.Add(clockSlack)) {
		return nil, fmt.Errorf("the join token has expired at %s: have a member print another (pando token)", t.Until.UTC().Format(time.DateTime+" MST"))
	}
	r.Secret, r.Public = t.Secret, Public(seed)
	asked := append(append([]string(nil), addresses...), t.Addresses...)
	began := clock.Mono()
	for {
		var faults []string
		for _, address := range asked {
			r.Millis = clock.NowMillis()
			b, err := transport.Ask(ctx, address, t.Fingerprint, r.append(nil))
			if err == nil {
				return admitted(b, seed)
			}
			if remote, is := errors.AsType[*transport.RemoteError](err); is && !strings.HasPrefix(remote.Text, laterPrefix) {
				return nil, fmt.Errorf("the cluster refuses this node: %s", remote.Text)
			}
			if errors.Is(err, transport.ErrFingerprint) {
				// Its address was given, or is in the token: to go on with the others would join a cluster that was not meant, or help who is between.
				return nil, err
			}
			if told != nil {
				told(address, err)
			}
			faults = append(faults, strings.TrimPrefix(err.Error(), laterPrefix))
		}
		if clock.Since(began) > joinTime || ctx.Err() != nil {
			return nil, fmt.Errorf("no member of the cluster takes this node in: %s", strings.Join(faults, "; "))
		}
		pause := clock.NewTimer(joinPause)
		select {
		case <-pause.C:
		case <-ctx.Done():
			pause.Stop()
		}
	}
}

// admitted checks what a member has answered.
func admitted(b, seed []byte) (*Admission, error) {
	a, err := decodeAdmission(b)
	if err != nil {
		return nil, err
	}
	if _, _, err := Credentials(seed, a.Certificate, a.Authority); err != nil {
		return nil, fmt.Errorf("the cluster's answer: %w", err)
	}
	return a, nil
}
