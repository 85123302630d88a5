package wire

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"os"
	"strconv"
	"strings"

	"github.com/pandodb/pando/privilege/password"
	"github.com/pandodb/pando/types"
)

const (
	handshakePacketMax = 64 << 10 // connection attributes alone may take nearly that
	// attrsBytesMax is the longest list of connection attributes, in bytes, and attrsKept how much of one is kept, as in MySQL without settings of
	// its own. A list that was cut has attrsCut with the number of bytes lost, for which attrsCutBytes are kept free.
	attrsBytesMax = 1<<16 - 1
	attrsKept     = 512
	attrsCut      = "_truncated"
	attrsCutBytes = 18
	attrNameChars = 32 // of a name, that are kept
	userBytesMax  = 255
)

// handshake sends the greeting, authenticates the client and opens its session. The deadline of the socket bounds it as a whole.
func (c *conn) handshake() error {
	c.salt = password.NewSalt()
	c.appendGreeting()
	if err := c.resp.flush(); err != nil {
		return err
	}
	c.in.seq = c.resp.seq
	payload, err := c.in.next()
	if err == nil && len(payload) == sslRequestLen {
		payload, err = c.startTLS(payload)
	}
	if err != nil {
		return err
	}
	c.resp.seq = c.in.seq
	info := *c.info
	l, err := c.parseHandshake(payload, &info)
	if err != nil {
		return err
	}
	if c.srv.opt.RequireSecureTransport && !c.secure {
		return types.Errorf(types.ErSecureTransportRequired)
	}
	cred, err := c.authenticate(l)
	if err != nil {
		return err
	}
	info.Account = cred.Account
	info.Compression, info.CompressionLevel = c.compression()
	c.sess, err = c.srv.opt.Backend.OpenSession(&info)
	if err != nil {
		return err
	}
	c.intr, c.held.intr = c.sess.Interrupt(), c.sess.Interrupt() // the same
	c.mu.Lock()
	c.info, c.open = &info, c.sess
	c.mu.Unlock()
	c.resp.appendOK(headerOK, 0, 0, c.sess.Status(), 0, "", nil)
	if err := c.resp.flush(); err != nil {
		return err
	}
	c.startCompression()
	c.resp.end()
	return nil
}

// appendGreeting appends Handshake V10.
func (c *conn) appendGreeting() {
	caps := c.srv.caps
	b := append([]byte{protocolVersion}, c.srv.opt.Version...)
	b = appendUint32(append(b, 0), c.id)
	b = append(append(b, c.salt[:8]...), 0)
	b = append(appendUint16(b, uint16(caps)), greetingCharset)
	b = appendUint16(b, greetingStatus)
	b = append(appendUint16(b, uint16(caps>>16)), password.SaltBytes+1)
	b = append(b, make([]byte, 10)...)
	b = append(append(b, c.salt[8:]...), 0)
	b = append(append(b, c.srv.opt.DefaultPlugin...), 0)
	c.resp.appendPayload(b)
}

// greetingStatus is StatusAutocommit: there is no session yet to ask.
const greetingStatus = 2

// startTLS answers an SSLRequest: the rest of the connection, beginning with the client's real handshake response, is inside
// TLS. The reader has not taken a byte beyond the request (packetReader.exact), so bytes that an attacker put behind it
// go to the TLS handshake and fail it.
func (c *conn) startTLS(request []byte) ([]byte, error) {
	p := cursor{b: request}
	if p.uint32()&(capSSL|capProtocol41) != capSSL|capProtocol41 || c.srv.caps&capSSL == 0 {
		return nil, errBadHandshake
	}
	if c.in.w != c.in.r {
		panic("wire: bytes were read beyond the SSLRequest")
	}
	secured := tls.Server(&c.sock, c.srv.tls.config)
	if err := secured.HandshakeContext(context.Background()); err != nil {
		return nil, &tlsError{err}
	}
	state := secured.ConnectionState()
	c.stream, c.in.src, c.secure = secured, secured, true
	info := *c.info
	info.TLSVersion, info.TLSCipher = tls.VersionName(state.Version), tls.CipherSuiteName(state.CipherSuite)
	c.mu.Lock()
	c.info = &info
	c.mu.Unlock()
	return c.in.next()
}

// tlsError marks failures of the TLS handshake: nothing that is sent after one would be understood.
type tlsError struct{ err error }

func (e *tlsError) Error() string { return e.err.Error() }
func (e *tlsError) Unwrap() error { return e.err }

// parseHandshake reads a HandshakeResponse41 into info. Nothing it keeps aliases the payload.
func (c *conn) parseHandshake(payload []byte, info *ConnInfo) (*login, error) {
	p := cursor{b: payload}
	offered := p.uint32()
	p.take(4) // largest packet the client takes; rows are not cut to it, as in MySQL
	info.Collation = uint16(p.uint8())
	p.take(23)
	if p.bad || offered&capProtocol41 == 0 || offered&capSSL != 0 && info.TLSVersion == "" {
		return nil, errBadHandshake
	}
	c.caps = offered & c.srv.caps
	l := &login{user: string(p.cstring()), plugin: password.Native}
	switch {
	case c.caps&capAuthLenenc != 0:
		l.reply = p.lenencBytes()
	case c.caps&capSecureConn != 0:
		l.reply = p.take(int(p.uint8()))
	default:
		l.reply = p.cstringOrRest()
	}
	if c.caps&capConnectWithDB != 0 {
		info.DB = string(p.cstringOrRest())
	}
	if err := c.parseRest(&p, l, info); err != nil {
		return nil, err
	}
	if c.caps&capZstd != 0 {
		if c.zstdLevel = int(p.uint8()); p.bad || c.zstdLevel < zstdLevelMin || c.zstdLevel > zstdLevelMax {
			return nil, errBadHandshake
		}
	}
	info.User = l.user
	info.Capabilities = c.caps
	info.FoundRows = c.caps&CapFoundRows != 0
	info.IgnoreSpace = c.caps&CapIgnoreSpace != 0
	info.Interactive = c.caps&CapInteractive != 0
	info.MultiStatements = c.caps&CapMultiStatements != 0
	if tcp, ok := c.peer.(*net.TCPAddr); ok {
		info.RemoteAddr = tcp.String()
	}
	return l, nil
}

// parseRest reads what ends both a HandshakeResponse41 and a COM_CHANGE_USER: plugin name and attributes.
func (c *conn) parseRest(p *cursor, l *login, info *ConnInfo) error {
	if c.caps&capPluginAuth != 0 && len(p.b) > 0 {
		l.plugin = string(p.cstringOrRest())
	}
	info.Attrs = nil
	if c.caps&capConnectAttrs != 0 && len(p.b) > 0 {
		info.Attrs = parseAttrs(p)
	}
	if p.bad || len(l.user) > userBytesMax || strings.IndexByte(info.DB, 0) >= 0 {
		return errBadHandshake
	}
	l.setReply(l.reply)
	return nil
}

// parseAttrs reads connection attributes. Clients by the thousand may send long ones, so that what is kept of each is little.
func parseAttrs(p *cursor) map[string]string {
	list := cursor{b: p.lenencBytes()}
	total := len(list.b)
	if total > attrsBytesMax {
		p.bad = true
		return nil
	}
	kept := total
	if total > attrsKept {
		kept = attrsKept - attrsCutBytes
	}
	attrs := make(map[string]string)
	for len(list.b) > 0 {
		key := list.lenencBytes()
		value := list.lenencBytes()
		if list.bad {
			p.bad = true
			return nil
		}
		if len(key) > 0 && total-len(list.b) <= kept {
			attrs[string(key[:types.DefaultCollation.Charset().CharPrefix(key, attrNameChars)])] = string(value)
		}
	}
	if total > kept {
		attrs[attrsCut] = strconv.Itoa(total - kept)
	}
	return attrs
}

// reportHandshake counts a connection that did not authenticate, and tells client and log why. Port scanners, load balancers that
// only connect, and clients that give up are counted and not logged.
func (c *conn) reportHandshake(err error) {
	c.count.badConnects.Add(1)
	var known *types.Error
	var insecure *tlsError
	log := c.srv.opt.Logger
	switch {
	case errors.As(err, &known):
		// The name that was given is not logged: it may be a password. That of an account is not one.
		if c.srv.refusals.allow(c.srv.now.Load()) {
			log.Warn("refused a login", "conn", c.id, "client", c.from(), "account", c.claimed, "number", known.Number)
		}
		c.lastWords(known)
	case errors.As(err, &insecure):
		log.Debug("TLS handshake failed", "conn", c.id, "client", c.host, "error", insecure.err)
	case errors.Is(err, errBadHandshake):
		c.complain("bad handshake")
		c.lastWords(types.Errorf(types.ErHandshake))
	case errors.Is(err, errOutOfOrder), errors.Is(err, errTooLarge):
		c.complain("bad handshake", "error", err)
		c.lastWords(types.Errorf(types.ErHandshake))
	case errors.Is(err, os.ErrDeadlineExceeded), errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF),
		errors.Is(err, net.ErrClosed), c.resp.err != nil:
		c.farewell()
	default:
		if transportFailed(err) {
			return
		}
		log.Error("opening a session", "conn", c.id, "client", c.host, "error", err)
		c.lastWords(types.Errorf(types.ErUnknownError, "internal error"))
	}
}

// changeUser executes COM_CHANGE_USER. Failing it ends the connection, so that it cannot be used to guess passwords quickly.
func (c *conn) changeUser(payload []byte) bool {
	p := cursor{b: payload}
	info := *c.info
	l := &login{user: string(p.cstring()), plugin: password.Native}
	if c.caps&capSecureConn != 0 {
		l.reply = p.take(int(p.uint8()))
	} else {
		l.reply = p.cstring()
	}
	info.DB = string(p.cstringOrRest())
	if len(p.b) >= 2 {
		info.Collation = p.uint16()
	}
	if err := c.parseRest(&p, l, &info); err != nil {
		return c.malformed()
	}
	info.User = l.user
	c.setState(ComChangeUser, phaseConnect)
	err := c.renew()
	if err == nil {
		var cred Credential
		if cred, err = c.authenticate(l); err == nil {
			info.Account = cred.Account
			err = c.sock.SetDeadline(noDeadline)
		}
	}
	c.setState(ComChangeUser, phaseBusy)
	if err != nil {
		return c.changeUserFailed(err)
	}
	if err := c.sess.ChangeUser(&info); err != nil {
		return c.changeUserFailed(err)
	}
	c.mu.Lock()
	c.info = &info
	c.mu.Unlock()
	c.stmts.clear()
	return c.answerOK()
}

func (c *conn) changeUserFailed(err error) bool {
	if known, ok := errors.AsType[*types.Error](err); ok {
		if c.srv.refusals.allow(c.srv.now.Load()) {
			c.srv.opt.Logger.Warn("refused a change of user", "conn", c.id, "client", c.from(), "account", c.claimed, "number", known.Number)
		}
		c.lastWords(known)
		return false
	}
	if transportFailed(err) || errors.Is(err, errOutOfOrder) || errors.Is(err, errTooLarge) || errors.Is(err, errCompressed) {
		c.reportRead(err)
		return false
	}
	c.finish(err)
	return false
}

// from is the client in log lines.
func (c *conn) from() string {
	if c.addr != "" {
		return c.addr
	}
	return c.host
}

// transportFailed tells whether reading or writing failed because the client is gone, was too slow or has been cut off: no fault of a
// statement or of the server.
func transportFailed(err error) bool {
	if _, network := errors.AsType[net.Error](err); network {
		return true
	}
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, net.ErrClosed) || errors.Is(err, os.ErrDeadlineExceeded) ||
		errors.Is(err, io.ErrNoProgress) || errors.Is(err, io.ErrClosedPipe)
}
