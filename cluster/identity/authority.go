package identity

import (
	"crypto/ed25519"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/binary"
	"errors"
	"fmt"
	"math/big"
	"time"

	"github.com/pandodb/pando/clock"
	"github.com/pandodb/pando/cluster/transport"
	"github.com/pandodb/pando/placement/meta"
)

const (
	year = 365 * 24 * time.Hour
	// authorityTime and nodeTime are how long certificates are valid, from backdated before they were made.
	authorityTime = 30 * year
	nodeTime      = 20 * year
	backdated     = 24 * time.Hour
)

// NewAuthority makes the authority of a new cluster, and the cluster's number.
func NewAuthority() (meta.Authority, error) {
	var number [8]byte
	if _, err := rand.Read(number[:]); err != nil {
		return meta.Authority{}, err
	}
	cluster := max(1, binary.BigEndian.Uint64(number[:]))
	public, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return meta.Authority{}, err
	}
	now := clock.Now()
	template := &x509.Certificate{
		Subject:   pkix.Name{Organization: []string{"Pando"}, CommonName: fmt.Sprintf("cluster %016x", cluster)},
		NotBefore: now.Add(-backdated), NotAfter: now.Add(authorityTime),
		IsCA: true, BasicConstraintsValid: true, MaxPathLenZero: true, KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature,
	}
	certificate, err := sign(template, template, public, private)
	if err != nil {
		return meta.Authority{}, err
	}
	key, err := x509.MarshalPKCS8PrivateKey(private)
	return meta.Authority{Cluster: cluster, Certificate: certificate, Key: key}, err
}

// sign makes a certificate with a random serial number.
func sign(template, parent *x509.Certificate, public ed25519.PublicKey, by ed25519.PrivateKey) ([]byte, error) {
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120))
	if err != nil {
		return nil, err
	}
	template.SerialNumber = serial
	return x509.CreateCertificate(rand.Reader, template, parent, public, by)
}

// Issue makes the certificate of a node.
func Issue(a meta.Authority, node uint64, public ed25519.PublicKey) ([]byte, error) {
	parent, err := x509.ParseCertificate(a.Certificate)
	if err != nil {
		return nil, fmt.Errorf("identity: the authority's certificate: %w", err)
	}
	parsed, err := x509.ParsePKCS8PrivateKey(a.Key)
	private, is := parsed.(ed25519.PrivateKey)
	if err != nil || !is {
		return nil, errors.Join(errors.New("identity: the authority's key is none"), err)
	}
	if len(public) != ed25519.PublicKeySize {
		return nil, errors.New("identity: a public key of another length")
	}
	now := clock.Now()
	return sign(&x509.Certificate{
		Subject:  pkix.Name{Organization: []string{"Pando"}, CommonName: fmt.Sprintf("node %d", node)},
		DNSNames: []string{transport.NodeName(a.Cluster, node)}, NotBefore: now.Add(-backdated), NotAfter: now.Add(nodeTime),
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}, parent, public, private)
}

// NewKey makes the key of a node: the seed that its directory keeps.
func NewKey() (seed []byte, err error) {
	_, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return nil, err
	}
	return private.Seed(), nil
}

// Public returns the public key of a seed.
func Public(seed []byte) ed25519.PublicKey {
	return ed25519.NewKeyFromSeed(seed).Public().(ed25519.PublicKey)
}

// Credentials returns what a transport shows, of a node's seed and certificate and of the authority's certificate. They must belong together.
func Credentials(seed, certificate, authority []byte) (tls.Certificate, *x509.Certificate, error) {
	root, err := x509.ParseCertificate(authority)
	if err != nil {
		return tls.Certificate{}, nil, fmt.Errorf("the authority's certificate is damaged: %w", err)
	}
	leaf, err := x509.ParseCertificate(certificate)
	if err != nil {
		return tls.Certificate{}, nil, fmt.Errorf("the node's certificate is damaged: %w", err)
	}
	if len(seed) != ed25519.SeedSize {
		return tls.Certificate{}, nil, errors.New("the node's key is damaged")
	}
	if public, is := leaf.PublicKey.(ed25519.PublicKey); !is || !public.Equal(Public(seed)) {
		return tls.Certificate{}, nil, errors.New("the node's certificate is for another key")
	}
	if err := leaf.CheckSignatureFrom(root); err != nil {
		return tls.Certificate{}, nil, fmt.Errorf("the node's certificate is of another authority: %w", err)
	}
	return tls.Certificate{Certificate: [][]byte{certificate, authority}, PrivateKey: ed25519.NewKeyFromSeed(seed), Leaf: leaf}, root, nil
}
