package server

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/pandodb/pando/privilege"
	"github.com/pandodb/pando/wire"
)

const (
	// rootPasswordEnv carries root's first password, for containers; there is no flag for it, which others could see.
	rootPasswordEnv = "PANDO_INIT_ROOT_PASSWORD"
	// rootPasswordMax bounds what is read of the file.
	rootPasswordMax = 4 << 10
)

// rootPassword is the password that root gets at the first start, empty for none.
func (o *Options) rootPassword() (string, error) {
	if o.RootPasswordFile == "" {
		return o.RootPassword, nil
	}
	f, err := os.Open(o.RootPasswordFile)
	if err != nil {
		return "", fmt.Errorf("init-root-password-file: %w", err)
	}
	text, err := io.ReadAll(io.LimitReader(f, rootPasswordMax))
	if err = errors.Join(err, f.Close()); err != nil {
		return "", fmt.Errorf("init-root-password-file: %w", err)
	}
	line, _, _ := strings.Cut(string(text), "\n")
	if line = strings.TrimSuffix(line, "\r"); line == "" {
		return "", fmt.Errorf("init-root-password-file: the first line of %s is empty", o.RootPasswordFile)
	}
	return line, nil
}

// firstAccounts are those of a fresh directory: root of this machine and, if it has a password, of everywhere.
func firstAccounts(password string) []*privilege.Account {
	root := func(host string) *privilege.Account {
		return &privilege.Account{User: "root", Host: host, Plugin: wire.PluginCachingSHA2, Auth: wire.HashCachingSHA2([]byte(password)),
			Global: privilege.All | privilege.GrantOption}
	}
	if password == "" {
		return []*privilege.Account{root("localhost")}
	}
	return []*privilege.Account{root("localhost"), root("%")}
}
