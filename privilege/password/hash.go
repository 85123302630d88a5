package password

import (
	"crypto/rand"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"fmt"
	"strconv"
)

// The authentication plugins.
const (
	CachingSHA2 = "caching_sha2_password"
	Native      = "mysql_native_password"
)

// SaltBytes is the length of a salt: of the handshake's challenge, and of a stored hash.
const SaltBytes = 20

const (
	nativeAuthLen    = 1 + 2*sha1.Size
	cryptHashLen     = 43
	cryptPrefix      = "$A$"
	cryptRoundsUnit  = 1000
	cryptRounds      = 5 // in units; what MySQL's caching_sha2_password_digest_rounds defaults to
	cryptRoundsMax   = 0xfff
	cryptRoundsAt    = len(cryptPrefix)
	cryptSaltAt      = len(cryptPrefix) + 4 // behind three hex digits and '$'
	passwordBytesMax = 256
	cryptAlphabet    = "./0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
)

// Hash returns what is stored of a password for a plugin, nil for an empty one.
func Hash(plugin string, password []byte) []byte {
	if plugin == Native {
		return HashNative(password)
	}
	return HashCachingSHA2(password)
}

// HashNative returns what is stored for mysql_native_password: '*' and the hex digits of SHA1(SHA1(password)).
// An empty password gives nil.
func HashNative(password []byte) []byte {
	if len(password) == 0 {
		return nil
	}
	once := sha1.Sum(password)
	twice := sha1.Sum(once[:])
	return fmt.Appendf(nil, "*%X", twice)
}

// CheckNative verifies the answer to a mysql_native_password challenge: reply = SHA1(password) XOR SHA1(salt +
// SHA1(SHA1(password))).
func CheckNative(stored, salt, reply []byte) bool {
	var twice [sha1.Size]byte
	if len(stored) != nativeAuthLen || stored[0] != '*' || len(reply) != sha1.Size {
		return false
	}
	if _, err := hex.Decode(twice[:], stored[1:]); err != nil {
		return false
	}
	mask := sha1.Sum(append(append(make([]byte, 0, SaltBytes+sha1.Size), salt...), twice[:]...))
	var once [sha1.Size]byte
	subtle.XORBytes(once[:], reply, mask[:])
	got := sha1.Sum(once[:])
	return subtle.ConstantTimeCompare(got[:], twice[:]) == 1
}

// HashCachingSHA2 returns what is stored for caching_sha2_password: "$A$005$", a random salt, and the SHA-256-crypt
// hash of 5,000 rounds. An empty password gives nil. It takes about a millisecond, on purpose.
func HashCachingSHA2(password []byte) []byte {
	if len(password) == 0 {
		return nil
	}
	salt := NewSalt()
	b := fmt.Appendf(nil, "%s%03X$", cryptPrefix, cryptRounds)
	b = append(b, salt[:]...)
	return appendSHA256Crypt(b, password, salt[:], cryptRounds*cryptRoundsUnit)
}

// checkCachingSHA2 verifies a password in the clear against a stored hash.
func checkCachingSHA2(stored, password []byte) bool {
	if len(stored) != cryptSaltAt+SaltBytes+cryptHashLen || string(stored[:cryptRoundsAt]) != cryptPrefix ||
		len(password) > passwordBytesMax {
		return false
	}
	rounds, err := strconv.ParseUint(string(stored[cryptRoundsAt:cryptSaltAt-1]), 16, 16)
	if err != nil || rounds == 0 || rounds > cryptRoundsMax {
		return false
	}
	salt, hash := stored[cryptSaltAt:cryptSaltAt+SaltBytes], stored[cryptSaltAt+SaltBytes:]
	got := appendSHA256Crypt(make([]byte, 0, cryptHashLen), password, salt, int(rounds)*cryptRoundsUnit)
	return subtle.ConstantTimeCompare(got, hash) == 1
}

// checkFastSHA2 verifies the first answer of caching_sha2_password against the cached digest =
// SHA256(SHA256(password)): reply = SHA256(password) XOR SHA256(digest + salt).
func checkFastSHA2(digest *[sha256.Size]byte, salt, reply []byte) bool {
	if len(reply) != sha256.Size {
		return false
	}
	mask := sha256.Sum256(append(append(make([]byte, 0, sha256.Size+SaltBytes), digest[:]...), salt...))
	var once [sha256.Size]byte
	subtle.XORBytes(once[:], reply, mask[:])
	got := sha256.Sum256(once[:])
	return subtle.ConstantTimeCompare(got[:], digest[:]) == 1
}

// fastDigest is what the cache keeps of a verified password.
func fastDigest(password []byte) [sha256.Size]byte {
	once := sha256.Sum256(password)
	return sha256.Sum256(once[:])
}

// NewSalt returns random bytes that are neither NUL, which ends strings of the handshake, nor '$', which separates the fields
// of a stored hash, and below 128, so that old clients' character set conversions keep them.
func NewSalt() (salt [SaltBytes]byte) {
	_, _ = rand.Read(salt[:]) // crypto/rand does not fail: it ends the process instead
	for i := range salt {
		salt[i] &= 0x7f
		if salt[i] == 0 || salt[i] == '$' {
			salt[i]++
		}
	}
	return salt
}

// appendSHA256Crypt appends the hash of Ulrich Drepper's "Unix crypt using SHA-256" (a public specification), whose steps
// the comments number. The salt may be longer than that text's 16 bytes: MySQL uses 20.
func appendSHA256Crypt(dst, password, salt []byte, rounds int) []byte {
	// Steps 4-8: digest B of password, salt, password.
	b := sha256.New()
	b.Write(password)
	b.Write(salt)
	b.Write(password)
	sum := b.Sum(nil)
	// Steps 1-3 and 9-12: digest A.
	a := sha256.New()
	a.Write(password)
	a.Write(salt)
	a.Write(repeatTo(sum, len(password)))
	for n := len(password); n > 0; n >>= 1 {
		if n&1 != 0 {
			a.Write(sum)
		} else {
			a.Write(password)
		}
	}
	sum = a.Sum(sum[:0])
	// Steps 13-16: the sequence P from a digest of the password, repeated once per byte of it.
	b.Reset()
	for range password {
		b.Write(password)
	}
	p := repeatTo(b.Sum(nil), len(password))
	// Steps 17-20: the sequence S from a digest of the salt, repeated 16 + A[0] times.
	b.Reset()
	for range 16 + int(sum[0]) {
		b.Write(salt)
	}
	s := repeatTo(b.Sum(nil), len(salt))
	// Step 21: the rounds.
	for i := range rounds {
		b.Reset()
		if i&1 != 0 {
			b.Write(p)
		} else {
			b.Write(sum)
		}
		if i%3 != 0 {
			b.Write(s)
		}
		if i%7 != 0 {
			b.Write(p)
		}
		if i&1 != 0 {
			b.Write(sum)
		} else {
			b.Write(p)
		}
		sum = b.Sum(sum[:0])
	}
	return appendCryptBase64(dst, sum)
}

// repeatTo returns n bytes made of copies of sum.
func repeatTo(sum []byte, n int) []byte {
	out := make([]byte, 0, n+len(sum))
	for len(out) < n {
		out = append(out, sum...)
	}
	return out[:n]
}

// appendCryptBase64 is step 22: the digest in the order and alphabet of crypt.
func appendCryptBase64(dst, sum []byte) []byte {
	group := func(v uint32, chars int) {
		for range chars {
			dst = append(dst, cryptAlphabet[v&0x3f])
			v >>= 6
		}
	}
	for i := range 10 {
		// The three bytes of group i rotate through the thirds of the digest.
		x, y, z := i, i+10, i+20
		switch i % 3 {
		case 1:
			x, y, z = i+20, i, i+10
		case 2:
			x, y, z = i+10, i+20, i
		}
		group(uint32(sum[x])<<16|uint32(sum[y])<<8|uint32(sum[z]), 4)
	}
	group(uint32(sum[31])<<8|uint32(sum[30]), 3)
	return dst
}
