package wire

import (
	"bufio"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strings"

	"github.com/pires/go-proxyproto"
)

// proxied reports whether a peer is a proxy that begins each connection with a header of the PROXY protocol.
func (s *Server) proxied(peer net.Addr) bool {
	tcp, ok := peer.(*net.TCPAddr)
	if !ok || len(s.opt.ProxyNetworks) == 0 {
		return false
	}
	addr := tcp.AddrPort().Addr().Unmap()
	for _, network := range s.opt.ProxyNetworks {
		if network.Contains(addr) {
			return true
		}
	}
	return false
}

// readProxyHeader reads the header that a proxy sends before everything else, and takes the client's address from it. A connection of the
// proxy's own (LOCAL, UNKNOWN), such as a health check, keeps the proxy's address. Bytes after the header are an error: a client waits for the greeting.
func (c *conn) readProxyHeader() error {
	reader := bufio.NewReaderSize(&c.sock, proxyHeaderMax)
	header, err := proxyproto.Read(reader)
	if err != nil {
		if _, ok := errors.AsType[net.Error](err); ok {
			return err
		}
		return errBadHandshake
	}
	if reader.Buffered() > 0 {
		return errBadHandshake
	}
	if header.Command.IsLocal() || header.TransportProtocol.IsUnspec() {
		return nil
	}
	source, ok := header.SourceAddr.(*net.TCPAddr)
	if !ok {
		return errBadHandshake
	}
	c.setPeer(source)
	return nil
}

// proxyHeaderMax bounds what is read ahead. The second version's header may have extensions; they are ignored.
const proxyHeaderMax = 4 << 10

// setPeer sets the client's address. It is called before authentication only.
func (c *conn) setPeer(peer net.Addr) {
	c.peer = peer
	c.host, c.addr, c.secure = peerHost(peer)
	info := *c.info
	info.Host = c.host
	c.mu.Lock()
	c.info = &info
	c.mu.Unlock()
}

// ParseNetworks reads a list of addresses and CIDR blocks, with commas between them, for Options.ProxyNetworks.
func ParseNetworks(list string) (networks []netip.Prefix, err error) {
	for word := range strings.SplitSeq(list, ",") {
		if word = strings.TrimSpace(word); word == "" {
			continue
		}
		var network netip.Prefix
		if addr, fault := netip.ParseAddr(word); fault == nil {
			network = netip.PrefixFrom(addr.Unmap(), addr.Unmap().BitLen())
		} else if network, err = netip.ParsePrefix(word); err != nil {
			return nil, fmt.Errorf("%q is neither an address nor a CIDR block", word)
		}
		networks = append(networks, network.Masked())
	}
	return networks, nil
}
