package server

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// load reads settings from a file's text, environment pairs and flags.
func load(t *testing.T, file string, env []string, flags map[string]string) (Options, error) {
	t.Helper()
	path := ""
	if file != "" {
		path = filepath.Join(t.TempDir(), "pando.toml")
		if err := os.WriteFile(path, []byte(file), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return Load(Sources{File: path, Env: env, Flags: flags})
}

// TestPrecedence: flags win over the environment, the environment over the file, the file over the defaults.
func TestPrecedence(t *testing.T) {
	file := "listen = \"127.0.0.1:1\"\nhttp = \"127.0.0.1:2\"\nmax-connections = 3\ncache-size = \"64MiB\"\n"
	o, err := load(t, file, []string{"PANDO_HTTP=127.0.0.1:4", "PANDO_MAX_CONNECTIONS=5", "HOME=/x"}, map[string]string{"max-connections": "6"})
	if err != nil {
		t.Fatal(err)
	}
	if o.Listen != "127.0.0.1:1" || o.HTTP != "127.0.0.1:4" || o.MaxConnections != 6 || o.CacheBytes != 64<<20 || o.DrainTimeout != drainDefault {
		t.Errorf("%+v", o)
	}
}

// TestConfigEnv: PANDO_CONFIG names the file when no flag does.
func TestConfigEnv(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.toml")
	if err := os.WriteFile(path, []byte("drain-timeout = \"3s\"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	o, err := Load(Sources{Env: []string{"PANDO_CONFIG=" + path}})
	if err != nil || o.DrainTimeout != 3*time.Second {
		t.Errorf("%v %v", o.DrainTimeout, err)
	}
}

// TestFaultsAreNamedTogether: whoever corrects a file sees everything at once.
func TestFaultsAreNamedTogether(t *testing.T) {
	_, err := load(t, "listen = \"nowhere\"\nno-such-key = 1\n[storage]\nno-such-table-key = 2\n",
		[]string{"PANDO_MAX_CONNECTIONS=many", "PANDO_NO_SUCH=1"}, map[string]string{"log-level": "loud", "tls-cert": "only"})
	if err == nil {
		t.Fatal("accepted")
	}
	for _, part := range []string{"listen", "no-such-key: unknown key", "storage.no-such-table-key: unknown key", "PANDO_MAX_CONNECTIONS", "PANDO_NO_SUCH: unknown key", "log-level", "tls-cert"} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("%q is not named in:\n%v", part, err)
		}
	}
}

// TestForeignKeys: the keys of the published reports act, or say why they do nothing.
func TestForeignKeys(t *testing.T) {
	o, err := load(t, `
innodb_buffer_pool_size = "1GB"
max_connections = 77
sync-log = false
[log]
level = "error"
[performance]
max-procs = 1
[tikv-client]
max-batch-wait-time = 2000000
[coprocessor]
region-max-size = "100MB"
region-split-size = "30MB"
[rocksdb.defaultcf]
block-cache-size = "2GB"
`, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	if o.CacheBytes != 3<<30 || o.MaxConnections != 77 || o.SyncLog || o.LogLevel != "error" || o.MaxProcs != 1 || o.RegionBytes != 100<<20 ||
		o.RegionSplitBytes != 30<<20 {
		t.Errorf("%+v", o)
	}
	if text := strings.Join(o.Warnings, "\n"); !strings.Contains(text, "tikv-client.max-batch-wait-time does nothing") || strings.Count(text, "cache-size") < 2 {
		t.Errorf("warnings:\n%s", text)
	}
	if _, err := load(t, "innodb_flush_log_at_trx_commit = 3\n", nil, nil); err == nil {
		t.Error("a value out of range was accepted")
	}
}

// TestSettingsRoundTrip: what config prints is what a file may hold.
func TestSettingsRoundTrip(t *testing.T) {
	defaults := DefaultOptions()
	names := map[string]bool{}
	for _, s := range Settings() {
		if names[s.Name] || s.Usage == "" {
			t.Errorf("%s: listed twice or without help", s.Name)
		}
		names[s.Name] = true
		o := DefaultOptions()
		if err := s.set(&o, s.Get(&defaults)); err != nil {
			t.Errorf("%s: its own default is refused: %v", s.Name, err)
		}
	}
	for name := range foreignSettings {
		if names[name] {
			t.Errorf("%s is both a setting and a foreign key", name)
		}
	}
}

func TestParseSize(t *testing.T) {
	for text, want := range map[string]int64{"0": 0, "10": 10, "1k": 1 << 10, "64MB": 64 << 20, "64MiB": 64 << 20, "1.5G": 3 << 29, "2TiB": 2 << 40} {
		if got, err := ParseSize(text); err != nil || got != want {
			t.Errorf("%s: %d %v, want %d", text, got, err, want)
		}
	}
	for _, text := range []string{"", "x", "-1", "1PB", "1 2", "9999999TB", "NaN", "Inf", "-Inf", "1e400", "NaNKB"} {
		if got, err := ParseSize(text); err == nil {
			t.Errorf("%q gave %d", text, got)
		}
	}
}
