package wire

import (
	"bytes"
	"crypto/tls"
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
	if checkNative([]byte("*zz"), make([]byte, 20), make([]byte, 20)) {
		t.Error("nonsense is accepted")
	}
}

func TestSalt(t *testing.T) {
	for range 1000 {
		for _, b := range newSalt() {
			if b == 0 || b == '$' || b >= 0x80 {
				t.Fatalf("salt byte %#x", b)
			}
		}
	}
}

// TestUnknownUserLooksTheSame compares the packets that a wrong password and an unknown user get, over TLS and without.
func TestUnknownUserLooksTheSame(t *testing.T) {
	ts := startServer(t, nil)
	for _, secured := range []bool{false, true} {
		var transcripts []string
		for _, user := range []string{"sha", "xxx", "root"} { // root has no password: sending one is as wrong
			r := ts.dial(t)
			r.read()
			caps := uint32(rawCaps)
			if secured {
				caps |= capSSL
				r.write(handshakeResponse(caps, "", nil, "")[:sslRequestLen])
				r.conn = tls.Client(r.conn, &tls.Config{InsecureSkipVerify: true})
				r.seq++
			}
			r.write(handshakeResponse(caps, user, bytes.Repeat([]byte{1}, 32), PluginCachingSHA2))
			seen := string(r.read())
			if secured {
				r.write([]byte("wrong\x00"))
			} else {
				r.write([]byte{shaRequestKey})
				seen += string(r.read())
				r.write(make([]byte, rsaBits/8))
			}
			transcripts = append(transcripts, seen+strings.ReplaceAll(string(r.read()), user, "USER"))
			r.expectClosed()
		}
		if transcripts[0] != transcripts[1] || transcripts[0] != transcripts[2] {
			t.Errorf("they differ: %q", transcripts)
		}
		if !strings.Contains(transcripts[0], "Access denied for user 'USER'@'localhost' (using password: YES)") {
			t.Errorf("%q", transcripts[0])
		}
	}
	// Every one of the three over TLS paid for the hash; so did none of those whose password did not decrypt.
	if d := ts.Counters().Denied; d != 6 {
		t.Errorf("%d were denied", d)
	}
}

func TestDecoysCostTheSame(t *testing.T) {
	var d decoys
	if err := d.init(); err != nil {
		t.Fatal(err)
	}
	real := HashCachingSHA2([]byte("x"))
	fake := d.credential(PluginCachingSHA2, "ghost")
	if len(fake.Auth) != len(real) || !bytes.Equal(fake.Auth[:cryptSaltAt], real[:cryptSaltAt]) {
		t.Errorf("decoy %q is not like %q", fake.Auth, real)
	}
	if string(d.credential(PluginCachingSHA2, "ghost").Auth) != string(fake.Auth) {
		t.Error("decoys change")
	}
}

func TestOptionsValidate(t *testing.T) {
	_, err := New(Options{Version: "8.0\x00", MaxConnections: -1, MaxAllowedPacket: 5, DefaultPlugin: "x", WaitTimeout: -1,
		DisableTLS: true, RequireSecureTransport: true, TLS: &tls.Config{}})
	if err == nil {
		t.Fatal("accepted")
	}
	for _, want := range []string{"no backend", "0x0", "max connections", "max allowed packet", "timeout", "plugin", "secure transport", "both"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q is not named in %v", want, err)
		}
	}
	if _, err := New(Options{Backend: newFakeBackend(), TLS: &tls.Config{}}); err == nil {
		t.Error("TLS without a certificate was accepted")
	}
	if _, err := New(Options{Backend: newFakeBackend()}); err != nil {
		t.Error(err)
	}
}

func TestCursorBounds(t *testing.T) {
	for _, b := range [][]byte{{}, {0xfb}, {0xff}, {0xfc, 1}, {0xfd, 1, 1}, {0xfe, 1, 1, 1, 1, 1, 1, 1}, {5, 1}, {0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1}} {
		p := cursor{b: b}
		if got := p.lenencBytes(); !p.bad || got != nil {
			t.Errorf("%x: %x, bad %v", b, got, p.bad)
		}
		if p.uint32() != 0 || p.cstring() != nil || p.cstringOrRest() != nil && len(p.b) != 0 {
			t.Errorf("%x: reading goes on", b)
		}
	}
	for _, n := range []uint64{0, 250, 251, 1<<16 - 1, 1 << 16, 1<<24 - 1, 1 << 24, 1<<64 - 1} {
		p := cursor{b: appendLenenc(nil, n)}
		if got := p.lenenc(); got != n || p.bad || len(p.b) != 0 {
			t.Errorf("%d came back as %d", n, got)
		}
	}
}
