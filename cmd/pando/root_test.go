package main

import (
	"strings"
	"testing"
)

// TestVersionFlag: the flag says what the command says.
func TestVersionFlag(t *testing.T) {
	var said []string
	for _, arg := range []string{"version", "--version"} {
		var out strings.Builder
		if err := run([]string{arg}, nil, &out, &out); err != nil {
			t.Fatal(err)
		}
		said = append(said, out.String())
	}
	if said[0] != said[1] || !strings.HasPrefix(said[0], "pando ") {
		t.Errorf("%q and %q", said[0], said[1])
	}
}

// TestConnectLine: what a start says last can be typed.
func TestConnectLine(t *testing.T) {
	for _, c := range [][4]string{
		{"127.0.0.1:4000", "/run/pando.sock", "", "connect with: mariadb -h 127.0.0.1 -P 4000 -u root    or: mariadb -S /run/pando.sock -u root"},
		{"127.0.0.1:4000", "", "http://127.0.0.1:10080", "connect with: mariadb -h 127.0.0.1 -P 4000 -u root    status page: http://127.0.0.1:10080/"},
		{"[::]:4000", "", "", "connect with: mariadb -h 127.0.0.1 -P 4000 -u root"},
		{"[::1]:4000", "", "", "connect with: mariadb -h ::1 -P 4000 -u root"},
	} {
		if got := connectLine(c[0], c[1], c[2]); got != c[3] {
			t.Errorf("%q", got)
		}
	}
}
