package identity

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"strings"
	"time"

	"github.com/pandodb/pando/internal/codec"
	"github.com/pandodb/pando/placement/meta"
)

const (
	tokenPrefix = "pando-join-"
	tokenFormat = 1
	secretBytes = 16
	// tokenAddressesMax bounds the members that a token names, addressBytesMax the length of an address, tokenBytesMax a token's text.
	tokenAddressesMax = 7
	addressBytesMax   = 255
	tokenBytesMax     = 4 << 10
)

// Token is what a node joins with.
type Token struct {
	// Addresses are those of members.
	Addresses []string
	// Fingerprint is the authority's.
	Fingerprint []byte
	// Secret is known to who has the token alone.
	Secret []byte
	// Until is when it ends, to the second.
	Until time.Time
}

// newSecret draws a secret.
func newSecret() ([]byte, error) {
	b := make([]byte, secretBytes)
	_, err := rand.Read(b)
	return b, err
}

// hashOf is what region 0 keeps of a secret or a key.
func hashOf(b []byte) meta.Hash { return sha256.Sum256(b) }

// String is the token's text, for a command line.
func (t *Token) String() string {
	b := codec.AppendUint([]byte{tokenFormat}, t.Until.Unix())
	b = codec.AppendUint(codec.AppendBytes(codec.AppendBytes(b, t.Fingerprint), t.Secret), len(t.Addresses))
	for _, a := range t.Addresses {
		b = codec.AppendBytes(b, a)
	}
	return tokenPrefix + base64.RawURLEncoding.EncodeToString(binary.BigEndian.AppendUint32(b, crc32.ChecksumIEEE(b)))
}

// ParseToken reads a token's text. What stands behind it is of no weight: a client prints more in the same line.
func ParseToken(text string) (*Token, error) {
	text = firstWord(text)
	body, is := strings.CutPrefix(text, tokenPrefix)
	if !is || len(text) > tokenBytesMax {
		return nil, errors.New("it is no join token: one begins with " + tokenPrefix + ", and a member prints it (pando token)")
	}
	b, err := base64.RawURLEncoding.Strict().DecodeString(body)
	if err != nil || len(b) < 5 || crc32.ChecksumIEEE(b[:len(b)-4]) != binary.BigEndian.Uint32(b[len(b)-4:]) {
		return nil, errors.New("the join token is not complete or was mistyped: copy all of what pando token printed")
	}
	if b[0] != tokenFormat {
		return nil, fmt.Errorf("the join token has format %d, and this program knows %d: it comes from another version of Pando", b[0], tokenFormat)
	}
	d := codec.NewDecoder(b[1 : len(b)-4])
	t := &Token{Until: time.Unix(int64(d.Int()), 0), Fingerprint: d.Bytes(), Secret: d.Bytes()}
	for range min(d.Count(1), tokenAddressesMax+1) {
		t.Addresses = append(t.Addresses, d.Text(addressBytesMax))
	}
	if err := d.End(); err != nil || len(t.Fingerprint) != sha256.Size || len(t.Secret) != secretBytes || len(t.Addresses) > tokenAddressesMax {
		return nil, errors.New("the join token is malformed")
	}
	return t, nil
}

// firstWord returns what stands in front of the first blank behind leading ones.
func firstWord(text string) string {
	if words := strings.Fields(text); len(words) > 0 {
		return words[0]
	}
	return ""
}
