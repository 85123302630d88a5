package server

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strconv"

	"github.com/pandodb/pando/cluster/identity"
)

// validateCluster returns all faults of the settings about a cluster. Port 0 in cluster-listen means any free port.
func (o *Options) validateCluster() (faults []error) {
	fault := func(name, format string, args ...any) {
		faults = append(faults, fmt.Errorf("%s: %s", name, fmt.Sprintf(format, args...)))
	}
	if o.ClusterListen == "" {
		for _, s := range []struct{ name, value string }{{"advertise", o.Advertise}, {"join", o.Join}, {"join-token", o.JoinToken}, {"join-token-file", o.JoinTokenFile}} {
			if s.value != "" {
				fault(s.name, "it needs cluster-listen, the HOST:PORT at which this node hears the others")
			}
		}
		return faults
	}
	host, port, err := net.SplitHostPort(o.ClusterListen)
	if n, bad := strconv.Atoi(port); err != nil {
		fault("cluster-listen", "%q is not HOST:PORT", o.ClusterListen)
	} else if bad != nil || n < 0 || n > 65535 {
		fault("cluster-listen", "port %q is not between 0 and 65535", port)
	}
	reached := o.Advertise
	if reached == "" {
		reached = o.ClusterListen
		if ip, bad := netip.ParseAddr(host); err == nil && (host == "" || bad == nil && ip.IsUnspecified()) {
			fault("cluster-listen", "%s is every address of this machine: say by advertise at which of them others reach it", o.ClusterListen)
		}
	} else if err := identity.CheckAddress(o.Advertise); err != nil {
		fault("advertise", "%v", err)
	}
	for _, address := range o.joinAddresses() {
		if err := identity.CheckAddress(address); err != nil {
			fault("join", "%v", err)
		} else if identity.Loopback(reached) && !identity.Loopback(address) {
			fault("join", "%s is not on this machine, and other machines cannot reach %s: give cluster-listen or advertise an address of the network", address, reached)
		}
	}
	token := o.JoinToken != "" || o.JoinTokenFile != ""
	switch {
	case o.JoinToken != "" && o.JoinTokenFile != "":
		fault("join-token", "it and join-token-file exclude each other")
	case o.JoinToken != "":
		if _, err := identity.ParseToken(o.JoinToken); err != nil {
			fault("join-token", "%v", err)
		}
	}
	if token && !o.SyncLog {
		fault("sync-log", "a node of a cluster acknowledges what is in its log: it must be on")
	}
	return faults
}

// errTokenAlone is of a token to join with, and nobody to ask.
var errTokenAlone = errors.New("join-token: it needs join, the HOST:PORT of a member: without it this node would be a database of its own")

// joinToken is the token to join with.
func (o *Options) joinToken() (*identity.Token, error) {
	text, from := o.JoinToken, "join-token"
	if o.JoinTokenFile != "" {
		var err error
		if text, err = firstLine("join-token-file", o.JoinTokenFile); err != nil {
			return nil, err
		}
		from = "join-token-file"
	}
	if text == "" {
		return nil, errors.New("join: it needs join-token or join-token-file: a member prints a token (pando token)")
	}
	t, err := identity.ParseToken(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", from, err)
	}
	return t, nil
}
