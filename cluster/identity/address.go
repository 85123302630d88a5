package identity

import (
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"strings"
)

// CheckAddress says why others cannot be given an address, nil if they can: it must be HOST:PORT and not a wildcard.
func CheckAddress(address string) error {
	host, port, err := net.SplitHostPort(address)
	if err != nil || host == "" || len(address) > addressBytesMax || strings.ContainsAny(address, " ,\n\t") {
		return fmt.Errorf("%q is not HOST:PORT", address)
	}
	if n, err := strconv.Atoi(port); err != nil || n < 1 || n > 65535 {
		return fmt.Errorf("port %q is not between 1 and 65535", port)
	}
	if ip, err := netip.ParseAddr(host); err == nil && ip.IsUnspecified() {
		return fmt.Errorf("%s is every address of this machine, and no address at which others reach it", host)
	}
	return nil
}

// Loopback tells whether only this machine reaches an address.
func Loopback(address string) bool {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return false
	}
	if host == "localhost" {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.Unmap().IsLoopback()
}
