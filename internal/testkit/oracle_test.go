package testkit

import (
	"os"
	"testing"
)

// TestOracles: a server serves while its test runs, and is gone with all its files behind it.
func TestOracles(t *testing.T) {
	for name, start := range map[string]func(testing.TB, ...string) string{"mariadb": MariaDB, "mysql": MySQL} {
		var socket string
		t.Run(name, func(t *testing.T) {
			socket = start(t)
			if _, err := os.Stat(socket); err != nil {
				t.Error(err)
			}
		})
		if _, err := os.Stat(socket); socket != "" && err == nil {
			t.Errorf("%s: the socket is still there", name)
		}
	}
}
