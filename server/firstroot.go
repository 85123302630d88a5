package server

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"

	"github.com/pandodb/pando/privilege"
	"github.com/pandodb/pando/privilege/password"
)

const (
	// rootPasswordEnv has root's first password, for containers. There is no flag for it, as other users of the machine can see flags.
	rootPasswordEnv = "PANDO_INIT_ROOT_PASSWORD"
	// firstLineMax bounds what is read of a file that has a secret in its first line.
	firstLineMax = 4 << 10
)

// rootPassword is the password that root gets at the first start, empty for none.
func (o *Options) rootPassword() (string, error) {
	if o.RootPasswordFile == "" {
		return o.RootPassword, nil
	}
	return firstLine("init-root-password-file", o.RootPasswordFile)
}

// listensBeyond reports whether clients of other machines can connect.
func (n *Node) listensBeyond() bool { return !n.listener.Addr().(*net.TCPAddr).IP.IsLoopback() }

// rootIsOpen returns the error of a node that would let clients of other machines log in as root without a password.
func (n *Node) rootIsOpen() error {
	return fmt.Errorf("--listen %s is more than this machine, and root has no password: start with --listen 127.0.0.1:PORT, set one (ALTER USER root@localhost IDENTIFIED BY '…'), "+
		"and start again; a new directory takes it from --init-root-password-file or %s", n.options.Listen, rootPasswordEnv)
}

// checkFirstRoot refuses a first start for the reasons that openAccounts has, before anything is written. A node that joins gets the cluster's accounts.
func (n *Node) checkFirstRoot() error {
	password, err := n.options.rootPassword()
	if err != nil {
		return err
	}
	o := &n.options
	switch {
	case o.Join != "" || !isNew(o.DataDir):
		return nil
	case o.JoinToken != "" || o.JoinTokenFile != "":
		return errTokenAlone // who has a token means to join: a password of root would be one more wrong turn
	case password == "" && n.listensBeyond():
		return n.rootIsOpen()
	}
	return nil
}

// firstLine reads the first line of the file that a setting names. It must not be empty.
func firstLine(setting, path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", fmt.Errorf("%s: %w", setting, err)
	}
	text, err := io.ReadAll(io.LimitReader(f, firstLineMax))
	if err = errors.Join(err, f.Close()); err != nil {
		return "", fmt.Errorf("%s: %w", setting, err)
	}
	line, _, _ := strings.Cut(string(text), "\n")
	if line = strings.TrimSuffix(line, "\r"); line == "" {
		return "", fmt.Errorf("%s: the first line of %s is empty", setting, path)
	}
	return line, nil
}

// firstAccounts are those of a new directory: root@localhost and, if it has a password, root@'%'.
func firstAccounts(plain string) []*privilege.Account {
	root := func(host string) *privilege.Account {
		return &privilege.Account{User: "root", Host: host, Plugin: password.CachingSHA2, Auth: password.HashCachingSHA2([]byte(plain)),
			Global: privilege.All | privilege.GrantOption}
	}
	if plain == "" {
		return []*privilege.Account{root("localhost")}
	}
	return []*privilege.Account{root("localhost"), root("%")}
}
