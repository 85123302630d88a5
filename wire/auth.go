package wire

import (
	"errors"
	"time"

	"github.com/pandodb/pando/clock"
	"github.com/pandodb/pando/privilege/password"
	"github.com/pandodb/pando/types"
)

// authReadMax bounds each packet that a client sends during authentication after its handshake response, in bytes.
const authReadMax = 1 << 10

// login is one attempt to authenticate: the name and plugin that the client gave, and its answer to the challenge.
type login struct {
	user, plugin string
	reply        []byte
}

var errBadHandshake = errors.New("bad handshake")

// authenticate verifies a login, and returns the account's credential or the error to send. The error is delayed if earlier logins of the
// same source have failed too.
func (c *conn) authenticate(l *login) (Credential, error) {
	from, p := password.SourceOf(l.user, c.addr), &c.srv.guesses
	held, refused := p.Enter(from, clock.Mono())
	if refused {
		c.count.delayed.Add(1)
		return Credential{}, c.denied(l)
	}
	cred, err := c.verify(l)
	var delay time.Duration
	if err == nil {
		p.Succeeded(from)
	} else {
		// A client that leaves in the middle has seen from the last packet whether its guess was right, so that counts as a failure too.
		delay, held = p.Failed(from, clock.Mono(), held)
	}
	if held {
		defer p.Leave(from)
	}
	if delay > 0 {
		c.count.delayed.Add(1)
		timer := clock.NewTimer(delay)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-c.srv.quit:
		}
	}
	if err == nil {
		err = c.admitted(&cred, l)
	}
	return cred, err
}

// verify checks the password of a login, and returns the account's credential or the error to send. An unknown user, an account without
// password, one that requires TLS and a wrong password go through the same exchange of packets and the same hashing (W4).
func (c *conn) verify(l *login) (Credential, error) {
	backend, decoys := c.srv.opt.Backend, &c.srv.decoys
	plugin := decoys.Plugin(l.user, backend.NativeShare()) // for known accounts too, so that both take the same time
	cred, known := backend.User(l.user, c.host, c.addr)
	c.claimed = cred.Account
	if known {
		setDefault(&cred.Plugin, c.srv.opt.DefaultPlugin)
		plugin = cred.Plugin
	}
	decoy := Credential{Plugin: plugin, Auth: decoys.Secret(plugin, l.user)}
	if known && cred.RequireTLS && c.info.TLSVersion == "" {
		known = false
	}
	if known && len(cred.Auth) == 0 {
		// Both plugins prove an empty password by an empty answer: no need to make the client switch for it.
		if len(l.reply) == 0 && (l.plugin == cred.Plugin || l.plugin == password.Native || l.plugin == password.CachingSHA2) {
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
	case cred.Plugin == password.Native:
		ok = password.CheckNative(cred.Auth, c.salt[:], l.reply)
	case cred.Plugin == password.CachingSHA2:
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

// admitted refuses a locked account. As in MySQL, only those who know the password learn that it is locked.
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
	c.salt = password.NewSalt()
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

// checkSHA2 verifies a caching_sha2_password login, beginning with the client's answer to the challenge: by the cache, or else by asking
// for the password.
func (c *conn) checkSHA2(cred *Credential, l *login) (bool, error) {
	account := l.user + "\x00" + cred.Account
	if c.srv.auth.Knows(account, cred.Auth, c.salt[:], l.reply) {
		c.resp.appendPayload([]byte{headerMore, shaFastOK}) // goes out with the OK
		return true, nil
	}
	c.resp.appendPayload([]byte{headerMore, shaFullAuth})
	plain, err := c.readPassword()
	if err != nil || len(plain) == 0 || plain[len(plain)-1] != 0 {
		return false, err
	}
	plain = plain[:len(plain)-1]
	ok := c.srv.auth.Verify(account, cred.Auth, plain)
	clear(plain)
	return ok, nil
}

// readPassword reads the password of a full authentication with its closing NUL: in the clear on TLS or a unix socket, otherwise
// encrypted with the server's RSA key, which clients that do not have it ask for first.
func (c *conn) readPassword() ([]byte, error) {
	answer, err := c.exchange()
	if err != nil || c.secure {
		return answer, err
	}
	key, err := c.srv.tls.publicKey()
	if err = errors.Join(err, c.renew()); err != nil { // to make the key takes seconds on a slow machine, which are not the client's
		return nil, err
	}
	if len(answer) == 1 && answer[0] == shaRequestKey {
		c.resp.appendPayload([]byte{headerMore}, key)
		if answer, err = c.exchange(); err != nil {
			return nil, err
		}
	}
	plain, err := c.srv.tls.decrypt(answer, c.salt[:])
	if errors.Is(err, errNotDecrypted) {
		return nil, nil // a wrong password like any other
	}
	return plain, err
}
