package wire

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"runtime"
	"sync"

	"github.com/pandodb/pando/types"
)

const (
	authCacheMax = 10_000 // remembered passwords
	authReadMax  = 1 << 10
)

// authCache remembers the digest of passwords that were verified in full, so that the next connection needs no slow hash
// and no password in transit. The key holds the stored hash: when that changes, the entry is never found again. Safe for
// concurrent use.
type authCache struct {
	mu      sync.Mutex // guards entries; held for map operations only
	entries map[authKey][sha256.Size]byte
	// slots bounds how many slow hashes run at once, so that a flood of logins leaves the cores to those who are in.
	slotsOnce sync.Once
	slots     chan struct{}
}

type authKey struct{ account, stored string }

func (a *authCache) get(key authKey) (digest [sha256.Size]byte, ok bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	digest, ok = a.entries[key]
	return digest, ok
}

func (a *authCache) put(key authKey, digest [sha256.Size]byte) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.entries == nil || len(a.entries) >= authCacheMax {
		a.entries = make(map[authKey][sha256.Size]byte) // forgetting costs each account one slow login
	}
	a.entries[key] = digest
}

// slow runs f when fewer than one per core of its kind are running.
func (a *authCache) slow(f func() bool) bool {
	a.slotsOnce.Do(func() { a.slots = make(chan struct{}, max(1, runtime.GOMAXPROCS(0))) })
	a.slots <- struct{}{}
	defer func() { <-a.slots }()
	return f()
}

// decoys make stored secrets for accounts that do not exist, so that these take every step that a wrong password takes.
type decoys struct{ key [sha256.Size]byte }

func (d *decoys) init() error {
	_, err := rand.Read(d.key[:])
	return err
}

// sum is a digest of a name that nobody else can compute, for one purpose.
func (d *decoys) sum(purpose, user string) []byte {
	mac := hmac.New(sha256.New, d.key[:])
	mac.Write([]byte(purpose))
	mac.Write([]byte(user))
	return mac.Sum(nil)
}

// credential returns a secret that no password matches, the same for a name each time.
func (d *decoys) credential(plugin, user string) Credential {
	sum := d.sum("secret ", user)
	if plugin == PluginNative {
		return Credential{Plugin: plugin, Auth: HashNative(sum)}
	}
	// A hash of the right form and cost; that it belongs to no password is as certain as that nobody finds one.
	b := append([]byte(cryptPrefix+"005$"), repeatTo([]byte(cryptAlphabet), saltBytes)...)
	b = appendCryptBase64(b, sum)
	return Credential{Plugin: plugin, Auth: b}
}

// plugin returns the plugin that an account of a name would have if there were one: each as often among names as among the accounts, so
// that being asked by either tells nothing. A name keeps its plugin unless accounts with another come or go.
func (d *decoys) plugin(user string, share float64) string {
	if float64(binary.LittleEndian.Uint32(d.sum("plugin ", user))) < share*(1<<32) {
		return PluginNative
	}
	return PluginCachingSHA2
}

// login is one attempt to authenticate: what the client claims and what it sent for it.
type login struct {
	user, plugin string
	reply        []byte
}

var errBadHandshake = errors.New("bad handshake")

// verify checks the password of a login, and returns the account's credential or the error to send. Whatever can be told apart of an
// unknown user, an account without password, one that wants TLS and a wrong password happens after the same exchange of packets and the
// same hashing.
func (c *conn) verify(l *login) (Credential, error) {
	backend, decoys := c.srv.opt.Backend, &c.srv.decoys
	plugin := decoys.plugin(l.user, backend.NativeShare()) // for known accounts too, for the time that it takes
	cred, known := backend.User(l.user, c.host, c.addr)
	c.claimed = cred.Account
	if known {
		setDefault(&cred.Plugin, c.srv.opt.DefaultPlugin)
		plugin = cred.Plugin
	}
	decoy := decoys.credential(plugin, l.user)
	if known && cred.RequireTLS && c.info.TLSVersion == "" {
		known = false
	}
	if known && len(cred.Auth) == 0 {
		// Both plugins prove an empty password by an empty answer: no need to make the client switch for it.
		if len(l.reply) == 0 && (l.plugin == cred.Plugin || l.plugin == PluginNative || l.plugin == PluginCachingSHA2) {
			return cred, nil
		}
		known = len(l.reply) == 0
	}
	if !known {
		cred = decoy
	}
	if l.plugin != cred.Plugin {
		if err := c.switchPlugin(l, cred.Plugin); err != nil {
			return cred, err
		}
		if known && len(cred.Auth) == 0 && len(l.reply) == 0 {
			return cred, nil
		}
	}
	ok := false
	var err error
	switch {
	case len(l.reply) == 0 || len(cred.Auth) == 0:
	case cred.Plugin == PluginNative:
		ok = checkNative(cred.Auth, c.salt[:], l.reply)
	case cred.Plugin == PluginCachingSHA2:
		ok, err = c.checkSHA2(&cred, l)
	default:
		c.srv.opt.Logger.Error("account with an unknown authentication plugin", "plugin", cred.Plugin)
	}
	if err != nil {
		return cred, err
	}
	if !ok || !known {
		return cred, c.denied(l)
	}
	return cred, nil
}

// admitted has the last word on an account whose password was right.
func (c *conn) admitted(cred *Credential, l *login) error {
	if cred.Locked {
		return types.Errorf(types.ErAccountHasBeenLocked, l.user, c.host)
	}
	return nil
}

func (c *conn) denied(l *login) error {
	c.count.denied.Add(1)
	using := "NO"
	if len(l.reply) > 0 {
		using = "YES"
	}
	return types.Errorf(types.ErAccessDenied, l.user, c.host, using)
}

// switchPlugin asks the client to answer a fresh challenge by another plugin.
func (c *conn) switchPlugin(l *login, plugin string) error {
	if c.caps&capPluginAuth == 0 {
		return types.Errorf(types.ErNotSupportedAuthMode)
	}
	c.salt = newSalt()
	c.resp.appendPayload([]byte{headerEOF}, []byte(plugin), []byte{0}, c.salt[:], []byte{0})
	reply, err := c.exchange()
	if err != nil {
		return err
	}
	l.plugin = plugin
	l.setReply(reply)
	return nil
}

// setReply keeps a copy of the client's answer. For an empty password clients answer with nothing or, by
// caching_sha2_password, with a single NUL.
func (l *login) setReply(reply []byte) {
	if len(reply) == 1 && reply[0] == 0 {
		reply = nil
	}
	l.reply = append([]byte(nil), reply...)
}

// exchange sends what has gathered and reads the client's answer, which is valid until the next one.
func (c *conn) exchange() ([]byte, error) {
	if err := c.resp.flush(); err != nil {
		return nil, err
	}
	c.in.seq = c.resp.seq
	c.in.limit = authReadMax
	answer, err := c.in.next()
	c.resp.seq = c.in.seq
	return answer, err
}

// checkSHA2 is caching_sha2_password from the client's first answer on.
func (c *conn) checkSHA2(cred *Credential, l *login) (bool, error) {
	key := authKey{l.user + "\x00" + cred.Account, string(cred.Auth)}
	digest, cached := c.srv.auth.get(key)
	if cached && checkFastSHA2(&digest, c.salt[:], l.reply) {
		c.resp.appendPayload([]byte{headerMore, shaFastOK}) // goes out with the OK
		return true, nil
	}
	c.resp.appendPayload([]byte{headerMore, shaFullAuth})
	password, err := c.readPassword()
	if err != nil || len(password) == 0 || password[len(password)-1] != 0 {
		return false, err
	}
	password = password[:len(password)-1]
	// Of a thousand connections that come at once, all may have found the cache empty. The first to finish spares the rest.
	fast := fastDigest(password)
	ok := c.srv.auth.slow(func() bool {
		if digest, cached := c.srv.auth.get(key); cached && hmac.Equal(digest[:], fast[:]) {
			return true
		}
		return checkCachingSHA2(cred.Auth, password)
	})
	if ok {
		c.srv.auth.put(key, fast)
	}
	clear(password)
	return ok, nil
}

// readPassword reads the password of a full authentication with its closing NUL: in the clear where nobody can listen, otherwise
// encrypted with our RSA key, which clients that do not have it ask for first.
func (c *conn) readPassword() ([]byte, error) {
	answer, err := c.exchange()
	if err != nil || c.secure {
		return answer, err
	}
	if len(answer) == 1 && answer[0] == shaRequestKey {
		key, err := c.srv.tls.publicKey()
		if err != nil {
			return nil, err
		}
		c.resp.appendPayload([]byte{headerMore}, key)
		if answer, err = c.exchange(); err != nil {
			return nil, err
		}
	}
	password, err := c.srv.tls.decrypt(answer, c.salt[:])
	if errors.Is(err, errNotDecrypted) {
		return nil, nil // a wrong password like any other
	}
	return password, err
}
