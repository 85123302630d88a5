package privilege

import (
	"encoding/binary"
	"math/bits"
	"net/netip"
	"strings"
)

// Steps of specificity below that of a literal host. A pattern counts the bytes before its first wildcard.
const (
	literalRank = 1000
	cidrRank    = 600
	netmaskRank = 400
	anyRank     = -1 // the empty host, which MySQL sorts behind %
)

// specificity orders the hosts of accounts as MySQL 8.0.23 does: literal hosts, CIDR blocks, netmasks, patterns, any host.
func specificity(host string) int {
	if host == "" {
		return anyRank
	}
	if n, ok := parseSubnet(host); ok {
		if n.mask.IsValid() {
			return netmaskRank + n.Bits()
		}
		return cidrRank + n.Bits()
	}
	if i := strings.IndexAny(host, "%_"); i >= 0 {
		return i
	}
	return literalRank + len(host)
}

// serves reports whether an account's host fits a client by its name or its address.
func serves(pattern, host, addr string) bool {
	if pattern == "" {
		return true
	}
	if n, ok := parseSubnet(pattern); ok {
		return n.contains(addr)
	}
	pattern = strings.ToLower(pattern)
	return matches(pattern, strings.ToLower(host)) || addr != "" && matches(pattern, strings.ToLower(addr))
}

// subnet is a host of the form address/bits or address/netmask.
type subnet struct {
	netip.Prefix
	mask netip.Addr // valid for a netmask
}

// parseSubnet reads a CIDR block or an IPv4 address with a netmask. ok is false for all else, which can only fit as text.
func parseSubnet(host string) (n subnet, ok bool) {
	address, mask, found := strings.Cut(host, "/")
	if !found {
		return n, false
	}
	if prefix, err := netip.ParsePrefix(host); err == nil {
		return subnet{Prefix: prefix}, true
	}
	ip, err := netip.ParseAddr(address)
	if err != nil || !ip.Is4() {
		return n, false
	}
	if n.mask, err = netip.ParseAddr(mask); err != nil || !n.mask.Is4() {
		return n, false
	}
	n.Prefix = netip.PrefixFrom(ip, bits.OnesCount32(number4(n.mask)))
	return n, true
}

// contains reports whether the client's address lies in the subnet. MySQL compares what the mask leaves of it with the whole address of
// the account, so that 10.0.0.1/255.0.0.0 fits nobody; in a CIDR block bits behind the prefix do not count.
func (n subnet) contains(addr string) bool {
	ip, err := netip.ParseAddr(addr)
	switch {
	case err != nil:
		return false
	case !n.mask.IsValid():
		return n.Contains(ip)
	}
	return ip.Is4() && number4(ip)&number4(n.mask) == number4(n.Addr())
}

func number4(ip netip.Addr) uint32 {
	b := ip.As4()
	return binary.BigEndian.Uint32(b[:])
}
