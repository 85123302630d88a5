package server

import (
	"net"
	"time"

	"github.com/pandodb/pando/session"
	"github.com/pandodb/pando/sqlapi"
	"github.com/pandodb/pando/types"
	"github.com/pandodb/pando/wire"
)

// backend implements wire.Backend: accounts for the authentication, then sessions.
type backend Node

// User finds the account that matches a client.
func (b *backend) User(name, host, addr string) (wire.Credential, bool) {
	shared := (*Node)(b).shared()
	if shared == nil {
		return wire.Credential{}, false
	}
	a := shared.Users.Match(name, host, addr)
	if a == nil {
		return wire.Credential{}, false
	}
	return wire.Credential{Plugin: a.Plugin, Auth: a.Auth, Account: a.Name(), RequireTLS: a.RequireTLS, Locked: a.Locked}, true
}

// NativeShare returns the share of accounts with mysql_native_password: wire imitates it for names without an account.
func (b *backend) NativeShare() float64 {
	if shared := (*Node)(b).shared(); shared != nil {
		return shared.Users.NativeShare()
	}
	return 0
}

// OpenSession makes the session of an authenticated connection.
func (b *backend) OpenSession(info *wire.ConnInfo) (wire.Session, error) {
	g := b.sql.enter()
	if g == nil {
		return nil, types.Errorf(types.ErServerShutdown)
	}
	s, err := session.New(g.shared, client(info))
	if err != nil {
		g.open.Done()
		return nil, err
	}
	c := &clientSession{Session: s, node: b, gateway: g}
	if err := c.greet(info); err != nil {
		c.Close()
		return nil, err
	}
	return c, nil
}

func client(info *wire.ConnInfo) session.Client {
	c := session.Client{ID: uint64(info.ID), User: info.User, Host: info.Host, Account: info.Account, Database: info.DB, FoundRows: info.FoundRows,
		MultiStatements: info.MultiStatements, TrackState: info.Capabilities&wire.CapSessionTrack != 0, Address: info.RemoteAddr, Relayed: info.Relayed}
	if info.Control != nil {
		c.SetPacketMax = info.Control.SetMaxAllowedPacket
		c.SetIdleMax = info.Control.SetWaitTimeout
		c.SetNetTimeouts = info.Control.SetNetTimeouts
	}
	return c
}

// clientSession adapts a session to wire.Session.
type clientSession struct {
	*session.Session
	node    *backend
	gateway *gateway
}

// Close ends the session.
func (c *clientSession) Close() {
	c.Session.Close()
	c.gateway.open.Done()
}

// greet applies what the handshake asked for.
func (c *clientSession) greet(info *wire.ConnInfo) error {
	return c.Handshake(types.CollationID(info.Collation), info.IgnoreSpace, info.Interactive)
}

func (c *clientSession) Query(sql []byte, out wire.Response) error {
	return c.after(c.Session.Query(sql, out))
}

// after closes the connection after the reply if the session asks for it: after COMMIT RELEASE, or a commit with an unknown outcome.
func (c *clientSession) after(err error) error {
	if c.Closing() {
		c.node.wire.Kill(uint32(c.ID()), false)
	}
	return err
}

func (c *clientSession) Prepare(sql []byte) (wire.StmtInfo, error) {
	info, err := c.Session.Prepare(sql)
	return wire.StmtInfo(info), err
}

func (c *clientSession) Execute(id uint32, args *wire.Args, cursor byte, out wire.Response) error {
	if cursor&wire.CursorReadOnly != 0 {
		return c.after(c.Session.ExecuteCursor(id, args.Values, out))
	}
	return c.after(c.Session.Execute(id, args.Values, out))
}

func (c *clientSession) Fetch(id, rows uint32, out wire.Response) error {
	return c.Session.Fetch(id, rows, out)
}

func (c *clientSession) Ping() error { return nil }

func (c *clientSession) Statistics() string { return (*Node)(c.node).statistics() }

func (c *clientSession) ChangeUser(info *wire.ConnInfo) error {
	if err := c.Session.ChangeUser(client(info)); err != nil {
		return err
	}
	return c.greet(info)
}

func (c *clientSession) Status() uint16 { return c.Session.Status() }

func (c *clientSession) ResultEncoding() (*time.Location, *types.Charset) {
	return c.Session.ResultEncoding()
}

func (c *clientSession) FieldList(table, pattern string) ([]sqlapi.ColumnInfo, error) {
	return c.Session.FieldList(table, pattern)
}

// processes lists the connections for SHOW PROCESSLIST.
func (n *Node) processes() []session.Process {
	var out []session.Process
	for _, c := range n.wire.Conns() {
		p := session.Process{ID: uint64(c.Info.ID), User: c.Info.User, Host: c.Info.RemoteAddr, Command: commandNames[c.Command], Seconds: int64(c.Since.Seconds()),
			Account: c.Info.Account, TLSVersion: c.Info.TLSVersion, TLSCipher: c.Info.TLSCipher, Compression: c.Info.Compression,
			CompressionLevel: c.Info.CompressionLevel, Attributes: c.Info.Attrs}
		if p.Host == "" {
			p.Host = "localhost"
		} else if _, _, err := net.SplitHostPort(p.Host); err != nil {
			p.Host = c.Info.Host
		}
		if p.User == "" {
			p.User = "unauthenticated user"
		}
		if s, ok := c.Session.(*clientSession); ok {
			p.Info, p.Database = s.Info(), s.DatabaseName()
			if p.Info != "" {
				p.State = s.State()
			}
		}
		if c.Killed {
			p.Command = "Killed"
		}
		out = append(out, p)
	}
	return out
}
