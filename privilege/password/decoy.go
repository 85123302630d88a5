package password

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
)

// Decoys make stored secrets for accounts that do not exist, so that these take every step that a wrong password takes.
type Decoys struct{ key [sha256.Size]byte }

// Init draws what makes this server's decoys differ from others'.
func (d *Decoys) Init() error {
	_, err := rand.Read(d.key[:])
	return err
}

// sum is a digest of a name that nobody else can compute, for one purpose.
func (d *Decoys) sum(purpose, user string) []byte {
	mac := hmac.New(sha256.New, d.key[:])
	mac.Write([]byte(purpose))
	mac.Write([]byte(user))
	return mac.Sum(nil)
}

// Secret returns what is stored of a password that there is not, the same for a name each time.
func (d *Decoys) Secret(plugin, user string) []byte {
	sum := d.sum("secret ", user)
	if plugin == Native {
		return HashNative(sum)
	}
	// A hash of the right form and cost; that it belongs to no password is as certain as that nobody finds one.
	b := fmt.Appendf(nil, "%s%03X$", cryptPrefix, cryptRounds)
	b = append(b, repeatTo([]byte(cryptAlphabet), SaltBytes)...)
	return appendCryptBase64(b, sum)
}

// Plugin returns the plugin that an account of a name would have if there were one: Native as often among names as among the accounts, so
// that being asked by either tells nothing. A name keeps its plugin unless accounts with another come or go.
func (d *Decoys) Plugin(user string, nativeShare float64) string {
	if float64(binary.LittleEndian.Uint32(d.sum("plugin ", user))) < nativeShare*(1<<32) {
		return Native
	}
	return CachingSHA2
}
