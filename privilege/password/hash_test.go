package password

import (
	"bytes"
	"crypto/sha256"
	"strings"
	"testing"

	"github.com/pingcap/tidb/pkg/parser/auth"
	tidb "github.com/pingcap/tidb/pkg/parser/mysql"
)

// TestSHA256Crypt compares with what glibc's crypt(3) says.
func TestSHA256Crypt(t *testing.T) {
	for _, c := range []struct {
		password, salt string
		rounds         int
		want           string
	}{
		{"Hello world!", "saltstring", 5000, "5B8vYYiY.CVt1RlTTf8KbXBH3hsxY/GNooZaBBGWEc5"},
		{"", "abcdefghijklmnop", 5000, "p99E2fxZB/BTl9j.a2VRY5z71zEP761isnVBuiGlzV3"},
		{"a very much longer text to encrypt, over 64 bytes, so that it takes two blocks", "anotherlongsalt", 1400,
			"oS0ExDfLzIz678ahp5jM7H3NtfiS9w3BItTMkw1eZcC"},
	} {
		if got := appendSHA256Crypt(nil, []byte(c.password), []byte(c.salt), c.rounds); string(got) != c.want {
			t.Errorf("%q: %s, want %s", c.password, got, c.want)
		}
	}
}

// TestStoredSecrets checks our hashes with another implementation, and its hashes with ours.
func TestStoredSecrets(t *testing.T) {
	for _, password := range []string{"a", "secret", "pässwörd", strings.Repeat("long ", 50)} {
		ours := HashCachingSHA2([]byte(password))
		if ok, err := auth.CheckHashingPassword(ours, password, tidb.AuthCachingSha2Password); !ok || err != nil {
			t.Errorf("%q: our hash is refused: %v", password, err)
		}
		theirs := auth.NewHashPassword(password, tidb.AuthCachingSha2Password)
		if !checkCachingSHA2([]byte(theirs), []byte(password)) {
			t.Errorf("%q: their hash is refused", password)
		}
		if checkCachingSHA2([]byte(theirs), []byte(password+"x")) {
			t.Errorf("%q: a wrong password is accepted", password)
		}
		if got, want := string(HashNative([]byte(password))), auth.EncodePassword(password); got != want {
			t.Errorf("native: %s, want %s", got, want)
		}
	}
	if HashCachingSHA2(nil) != nil || HashNative(nil) != nil {
		t.Error("an empty password has a hash")
	}
	good := HashCachingSHA2([]byte("x"))
	for _, stored := range [][]byte{nil, good[:69], append([]byte("$B$"), good[3:]...), append([]byte("$A$000$"), good[7:]...),
		append([]byte("$A$FFFF"), good[7:]...), append([]byte("$A$-01$"), good[7:]...)} {
		if checkCachingSHA2(stored, []byte("x")) {
			t.Errorf("%q is accepted", stored)
		}
	}
	if checkCachingSHA2(good, bytes.Repeat([]byte("x"), passwordBytesMax+1)) {
		t.Error("an endless password is hashed")
	}
	if CheckNative([]byte("*zz"), make([]byte, 20), make([]byte, 20)) {
		t.Error("nonsense is accepted")
	}
}

func TestSalt(t *testing.T) {
	for range 1000 {
		for _, b := range NewSalt() {
			if b == 0 || b == '$' || b >= 0x80 {
				t.Fatalf("salt byte %#x", b)
			}
		}
	}
}

// TestCache: a password that was verified is known by its replies, while what is stored stays the same, and no other is.
func TestCache(t *testing.T) {
	var c Cache
	stored, salt := HashCachingSHA2([]byte("right")), NewSalt()
	reply := func(password string) []byte {
		once, digest := sha256.Sum256([]byte(password)), fastDigest([]byte(password))
		mask := sha256.Sum256(append(digest[:], salt[:]...))
		for i := range once {
			once[i] ^= mask[i]
		}
		return once[:]
	}
	knows := func(account string, stored []byte, password string) bool {
		return c.Knows(account, stored, salt[:], reply(password))
	}
	if knows("a", stored, "right") || c.Verify("a", stored, []byte("wrong")) || knows("a", stored, "wrong") {
		t.Error("known before it was verified")
	}
	for range 2 { // the second time from memory
		if !c.Verify("a", stored, []byte("right")) || !knows("a", stored, "right") {
			t.Error("the right password is refused")
		}
		if c.Verify("a", stored, []byte("wrong")) || knows("a", stored, "wrong") {
			t.Error("a wrong password is accepted")
		}
	}
	if knows("b", stored, "right") || knows("a", HashCachingSHA2([]byte("right")), "right") {
		t.Error("known to another account, or after a change")
	}
	for i := range cacheMax {
		c.put(cacheKey{account: string(rune('a' + i)), stored: "x"}, [sha256.Size]byte{})
	}
	if len(c.entries) > cacheMax {
		t.Errorf("%d passwords are remembered", len(c.entries))
	}
}
