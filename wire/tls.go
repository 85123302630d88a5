package wire

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha1"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"sync"
	"time"

	"github.com/pandodb/pando/clock"
)

const (
	rsaBits         = 2048
	certificateLife = 10 * 365 * 24 * time.Hour
	certificateSkew = 24 * time.Hour // clients' clocks may lag
)

// tlsKeys holds the server's TLS configuration and the RSA key with which clients without TLS encrypt their password.
type tlsKeys struct {
	config *tls.Config

	rsaOnce sync.Once // guards the rsa fields: the key takes a tenth of a second, and most servers never need one
	rsaKey  *rsa.PrivateKey
	rsaPEM  []byte
	rsaErr  error
}

// init takes the operator's configuration, or makes a self-signed certificate that lives as long as the process. Clients
// cannot verify that one; it keeps passwords and data from being overheard, not from being intercepted.
func (k *tlsKeys) init(configured *tls.Config) error {
	if configured != nil {
		if len(configured.Certificates) == 0 && configured.GetCertificate == nil && configured.GetConfigForClient == nil {
			return errors.New("wire: the TLS configuration has no certificate")
		}
		k.config = configured.Clone()
		k.config.MinVersion = max(k.config.MinVersion, tls.VersionTLS12)
		return nil
	}
	certificate, err := selfSigned()
	if err != nil {
		return fmt.Errorf("wire: making a certificate: %w", err)
	}
	k.config = &tls.Config{Certificates: []tls.Certificate{certificate}, MinVersion: tls.VersionTLS12}
	return nil
}

// selfSigned makes a certificate with an elliptic curve key: generating an RSA key would slow down each start of the server.
func selfSigned() (tls.Certificate, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return tls.Certificate{}, err
	}
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120))
	if err != nil {
		return tls.Certificate{}, err
	}
	now := clock.Now()
	template := &x509.Certificate{
		SerialNumber: serial,
		Subject:      pkix.Name{CommonName: "Pando auto-generated server certificate"},
		DNSNames:     []string{localhost},
		NotBefore:    now.Add(-certificateSkew),
		NotAfter:     now.Add(certificateLife),
		KeyUsage:     x509.KeyUsageDigitalSignature,
		ExtKeyUsage:  []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		return tls.Certificate{}, err
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, nil
}

// publicKey returns the RSA key in PEM form, making it on first use.
func (k *tlsKeys) publicKey() ([]byte, error) {
	k.rsaOnce.Do(func() {
		if k.rsaKey, k.rsaErr = rsa.GenerateKey(rand.Reader, rsaBits); k.rsaErr != nil {
			return
		}
		der, err := x509.MarshalPKIXPublicKey(&k.rsaKey.PublicKey)
		k.rsaErr = err
		k.rsaPEM = pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der})
	})
	return k.rsaPEM, k.rsaErr
}

var errNotDecrypted = errors.New("password does not decrypt")

// decrypt returns a password that was masked with the salt and encrypted with the public key (OAEP with SHA-1, by protocol),
// with its closing NUL. There is a key already.
func (k *tlsKeys) decrypt(b, salt []byte) ([]byte, error) {
	plain, err := rsa.DecryptOAEP(sha1.New(), nil, k.rsaKey, b, nil)
	if err != nil {
		return nil, errNotDecrypted // the cause tells an attacker more than it tells us
	}
	for i := range plain {
		plain[i] ^= salt[i%len(salt)]
	}
	return plain, nil
}
