package transport

import (
	"bytes"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/pandodb/pando/clock"
)

const (
	alpnNode = "pando-node/1"
	alpnJoin = "pando-join/1"
)

// NodeName is the DNS name in a node's certificate.
func NodeName(cluster, node uint64) string {
	return fmt.Sprintf("node-%d.cluster-%016x.pando", node, cluster)
}

// nodeOf reads the name in a certificate.
func nodeOf(c *x509.Certificate, cluster uint64) (node uint64, err error) {
	if len(c.DNSNames) == 1 {
		if text, is := strings.CutPrefix(c.DNSNames[0], "node-"); is {
			number, _, _ := strings.Cut(text, ".")
			node, err = strconv.ParseUint(number, 10, 64)
			if err == nil && c.DNSNames[0] == NodeName(cluster, node) {
				return node, nil
			}
		}
	}
	return 0, refuse(RefusedCluster, "the certificate is for %q, which is no node of this cluster (%016x)", c.DNSNames, cluster)
}

// Fingerprint is what a joining node knows of an authority.
func Fingerprint(authority *x509.Certificate) [sha256.Size]byte { return sha256.Sum256(authority.Raw) }

// serverConfig asks nodes for their certificates. Who joins has none.
func (t *Transport) serverConfig() *tls.Config {
	node := &tls.Config{
		MinVersion: tls.VersionTLS13, Certificates: []tls.Certificate{t.o.Certificate}, NextProtos: []string{alpnNode},
		Time: clock.Now, ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: t.authorities, SessionTicketsDisabled: true,
	}
	join := node.Clone()
	join.ClientAuth, join.NextProtos = tls.NoClientCert, []string{alpnJoin}
	return &tls.Config{
		MinVersion: tls.VersionTLS13, SessionTicketsDisabled: true,
		GetConfigForClient: func(hello *tls.ClientHelloInfo) (*tls.Config, error) {
			if len(hello.SupportedProtos) == 1 && hello.SupportedProtos[0] == alpnJoin && t.o.Join != nil {
				return join, nil
			}
			return node, nil // it refuses whoever does not ask for alpnNode
		},
	}
}

// clientConfig is for a connection to a node, or to whatever node is there if it is 0.
func (t *Transport) clientConfig(node uint64) *tls.Config {
	c := &tls.Config{
		MinVersion: tls.VersionTLS13, Certificates: []tls.Certificate{t.o.Certificate}, NextProtos: []string{alpnNode},
		Time: clock.Now, RootCAs: t.authorities, ServerName: NodeName(t.o.Cluster, node),
	}
	if node == 0 {
		c.InsecureSkipVerify = true // but for the authority, which VerifyConnection demands; the name is what is asked for
		c.VerifyConnection = func(s tls.ConnectionState) error {
			_, err := s.PeerCertificates[0].Verify(x509.VerifyOptions{Roots: t.authorities, CurrentTime: clock.Now(), KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}})
			if err != nil {
				return err
			}
			_, err = nodeOf(s.PeerCertificates[0], t.o.Cluster)
			return err
		}
	}
	return c
}

// pinnedConfig is for who joins: it knows the authority's fingerprint only.
func pinnedConfig(fingerprint []byte) *tls.Config {
	return &tls.Config{
		MinVersion: tls.VersionTLS13, NextProtos: []string{alpnJoin},
		InsecureSkipVerify: true, // VerifyConnection demands more: the very authority
		VerifyConnection: func(s tls.ConnectionState) error {
			for _, authority := range s.PeerCertificates[1:] {
				if sum := Fingerprint(authority); !bytes.Equal(sum[:], fingerprint) {
					continue
				}
				roots := x509.NewCertPool()
				roots.AddCert(authority)
				_, err := s.PeerCertificates[0].Verify(x509.VerifyOptions{Roots: roots, CurrentTime: clock.Now(), KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}})
				return err
			}
			return ErrFingerprint
		},
	}
}

// ErrFingerprint is the error of Ask where the authority is another than the token's.
var ErrFingerprint = errors.New("its authority is not the one of the join token: the token is another cluster's, or somebody is between")
