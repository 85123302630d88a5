package server

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"slices"
	"sort"
	"strconv"
	"strings"
	"time"

	"github.com/BurntSushi/toml"
)

// Setting is a setting of a node: it has the same name as a flag (--name), in the file (name = …) and in the environment (PANDO_NAME).
type Setting struct {
	Name, Usage string
	Kind        Kind
	get         func(*Options) string
	set         func(*Options, string) error
}

// Kind is the type of a setting's values.
type Kind string

// The kinds of settings, named as the help page shows them.
const (
	Text     Kind = "string"
	Number   Kind = "int"
	Size     Kind = "size"
	Boolean  Kind = "bool"
	Duration Kind = "duration"
)

// Get renders the value in the form that a flag takes.
func (s Setting) Get(o *Options) string { return s.get(o) }

// TOML renders the value in the form that a file holds.
func (s Setting) TOML(o *Options) string {
	if s.Kind == Text || s.Kind == Duration {
		return strconv.Quote(s.get(o))
	}
	return s.get(o)
}

// EnvName is the environment variable that carries the setting.
func (s Setting) EnvName() string {
	return "PANDO_" + strings.ToUpper(strings.ReplaceAll(s.Name, "-", "_"))
}

// Settings returns all settings, in the order of the help page.
func Settings() []Setting {
	return []Setting{
		text("data-dir", "the directory that is the database; made if absent", func(o *Options) *string { return &o.DataDir }),
		text("listen", "HOST:PORT of the MySQL protocol", func(o *Options) *string { return &o.Listen }),
		text("socket", "path of a unix socket for clients of this machine, relative to data-dir; empty for none", func(o *Options) *string { return &o.Socket }),
		text("http", "HOST:PORT of /status, /metrics, /healthz and /readyz; empty for none", func(o *Options) *string { return &o.HTTP }),
		text("cluster-listen", "HOST:PORT for the other nodes of a cluster; empty for none", func(o *Options) *string { return &o.ClusterListen }),
		text("advertise", "HOST:PORT under which other nodes reach cluster-listen, where that differs", func(o *Options) *string { return &o.Advertise }),
		text("join", "HOST:PORT of members of the cluster to join, separated by commas; a member finds the others by them if all have moved", func(o *Options) *string { return &o.Join }),
		text("join-token", "what pando token has printed; for the first start in an empty directory", func(o *Options) *string { return &o.JoinToken }),
		text("join-token-file", "file whose first line is the token to join with", func(o *Options) *string { return &o.JoinTokenFile }),
		number("max-connections", "connections served at once; one more gets error 1040", func(o *Options) *int { return &o.MaxConnections }),
		size("cache-size", "bytes of cache for blocks and rows, such as 2GiB; 0 takes a share of the memory", func(o *Options) *int64 { return &o.CacheBytes }),
		size("memory-limit", "bytes that the process aims to stay below; 0 takes the machine's or the cgroup's", func(o *Options) *int64 { return &o.MemoryBytes }),
		number("max-procs", "processors to use; 0 takes all", func(o *Options) *int { return &o.MaxProcs }),
		boolean("sync-log", "sync each commit to the disk before it is acknowledged; off can lose acknowledged data", func(o *Options) *bool { return &o.SyncLog }),
		boolean("accept-lost-log", "start although the newest part of the log is gone, with the commits in it; for one start", func(o *Options) *bool { return &o.AcceptLostLog }),
		text("backup-dir", "directory below which ADMIN BACKUP may write; empty for wherever the server may, off for nowhere", func(o *Options) *string { return &o.BackupDir }),
		text("log-level", "debug, info, warn or error", func(o *Options) *string { return &o.LogLevel }),
		text("log-format", "text or json", func(o *Options) *string { return &o.LogFormat }),
		text("init-root-password-file", "file whose first line becomes the password of root@localhost and of a root@'%' that the first start makes", func(o *Options) *string { return &o.RootPasswordFile }),
		text("tls-cert", "PEM file of the server's certificate; without one a self-signed one is made in memory", func(o *Options) *string { return &o.TLSCert }),
		text("tls-key", "PEM file of the certificate's key", func(o *Options) *string { return &o.TLSKey }),
		boolean("require-secure-transport", "refuse clients that do not use TLS", func(o *Options) *bool { return &o.RequireTLS }),
		text("proxy-protocol-networks", "addresses and CIDR blocks of proxies that tell the client's address by the PROXY protocol", func(o *Options) *string { return &o.ProxyNetworks }),
		duration("drain-timeout", "how long SIGTERM waits for running statements", func(o *Options) *time.Duration { return &o.DrainTimeout }),
		number("max-prepared-statements", "live prepared statements of all clients together", func(o *Options) *int { return &o.MaxPreparedStatements }),
		text("time-zone", "the server's time zone: SYSTEM, ±HH:MM or a name", func(o *Options) *string { return &o.DefaultTimeZone }),
		size("bulk-memory", "bytes of memory for the bulk statements of all clients at once; the others wait", func(o *Options) *int64 { return &o.BulkBytes }),
		text("secure-file-priv", "directory of the files that LOAD DATA, INTO OUTFILE and LOAD_FILE may use; NULL refuses all, empty allows any outside of data-dir", func(o *Options) *string { return &o.SecureFilePriv }),
		size("region-max-size", "bytes at which a region is split; 0 for 256MiB", func(o *Options) *int64 { return &o.RegionBytes }),
		size("region-split-size", "about the bytes of what a region is split into; 0 for half of region-max-size", func(o *Options) *int64 { return &o.RegionSplitBytes }),
		size("region-table-size", "bytes at which a table shares its regions with no other; 0 for a quarter of region-max-size", func(o *Options) *int64 { return &o.RegionTableBytes }),
		size("tmp-storage-quota", "bytes of disk for the spill files of all statements together; 0 for half of what is free at the start", func(o *Options) *int64 { return &o.SpillBytes }),
		size("plan-cache-size", "bytes of the shared plan cache", func(o *Options) *int64 { return &o.PlanCacheBytes }),
	}
}

func text(name, usage string, field func(*Options) *string) Setting {
	return Setting{name, usage, Text, func(o *Options) string { return *field(o) },
		func(o *Options, v string) error { *field(o) = v; return nil }}
}

func number(name, usage string, field func(*Options) *int) Setting {
	return Setting{name, usage, Number, func(o *Options) string { return strconv.Itoa(*field(o)) },
		func(o *Options, v string) error {
			n, err := strconv.Atoi(v)
			if err != nil {
				return fmt.Errorf("%q is not a whole number", v)
			}
			*field(o) = n
			return nil
		}}
}

func size(name, usage string, field func(*Options) *int64) Setting {
	return Setting{name, usage, Size, func(o *Options) string { return strconv.FormatInt(*field(o), 10) },
		func(o *Options, v string) error {
			n, err := ParseSize(v)
			if err == nil {
				*field(o) = n
			}
			return err
		}}
}

func boolean(name, usage string, field func(*Options) *bool) Setting {
	return Setting{name, usage, Boolean, func(o *Options) string { return strconv.FormatBool(*field(o)) },
		func(o *Options, v string) error {
			switch strings.ToLower(v) {
			case "1", "on", "true", "yes":
				*field(o) = true
			case "0", "off", "false", "no":
				*field(o) = false
			default:
				return fmt.Errorf("%q is neither true nor false", v)
			}
			return nil
		}}
}

func duration(name, usage string, field func(*Options) *time.Duration) Setting {
	return Setting{name, usage, Duration, func(o *Options) string { return field(o).String() },
		func(o *Options, v string) error {
			d, err := time.ParseDuration(v)
			if err != nil {
				return fmt.Errorf("%q is not a duration such as 10s", v)
			}
			*field(o) = d
			return nil
		}}
}

// ParseSize parses a number of bytes with an optional unit: 64MB and 64MiB both mean 64 << 20, as in MySQL and TiKV.
func ParseSize(v string) (int64, error) {
	upper := strings.ToUpper(strings.TrimSpace(v))
	digits := strings.TrimRight(upper, "KMGTIB ")
	shifts := map[string]uint{"": 0, "B": 0, "K": 10, "KB": 10, "KIB": 10, "M": 20, "MB": 20, "MIB": 20, "G": 30, "GB": 30, "GIB": 30, "T": 40, "TB": 40, "TIB": 40}
	shift, known := shifts[strings.TrimSpace(upper[len(digits):])]
	n, err := strconv.ParseFloat(digits, 64)
	if !known || err != nil || !(n >= 0 && n*float64(int64(1)<<shift) <= 1<<60) { // so that NaN is refused too
		return 0, fmt.Errorf("%q is not a size such as 2GiB", v)
	}
	return int64(n * float64(int64(1)<<shift)), nil
}

// from records the source of a setting's value.
func (o *Options) from(name, origin string) { o.origins[name] = origin }

// Origin returns the source of a setting's value: a flag, an environment variable, a file, or "default".
func (o *Options) Origin(name string) string { return cmp.Or(o.origins[name], "default") }

// Effective returns the settings with the values that a start would compute for those left at zero, and the source of each.
func Effective(o Options) (Options, map[string]string, error) {
	b, err := newBudget(&o, readMemory(systemRoot))
	if err != nil {
		return o, nil, err
	}
	origins := map[string]string{}
	for _, s := range Settings() {
		origins[s.Name] = o.Origin(s.Name)
	}
	if o.CacheBytes == 0 {
		origins["cache-size"] = "computed: a quarter of memory-limit"
	}
	if o.MemoryBytes != b.total {
		origins["memory-limit"] = "computed: " + b.memoryFrom
	}
	if o.MaxProcs == 0 {
		origins["max-procs"] = "computed: " + cmp.Or(b.procsFrom, "the machine's processors")
	}
	o.CacheBytes, o.MemoryBytes, o.MaxProcs = b.cache, b.total, b.procs
	return o, origins, nil
}

// Sources are where settings come from, weakest first: defaults, the file, the environment, the flags that were given.
type Sources struct {
	File  string
	Env   []string // as os.Environ gives it
	Flags map[string]string
}

// Load merges the sources over the defaults. The error names every unknown key and bad value of all sources at once.
func Load(src Sources) (Options, error) {
	o := DefaultOptions()
	o.origins = map[string]string{}
	byName := map[string]Setting{}
	for _, s := range Settings() {
		byName[s.Name] = s
	}
	if src.File == "" {
		for _, pair := range src.Env {
			if name, ok := strings.CutPrefix(pair, "PANDO_CONFIG="); ok {
				src.File = name
			}
		}
	}
	faults := applyFile(&o, src.File, byName)
	faults = append(faults, applyEnv(&o, src.Env, byName)...)
	names := make([]string, 0, len(src.Flags))
	for name := range src.Flags {
		names = append(names, name)
	}
	sort.Strings(names)
	for _, name := range names {
		if err := byName[name].set(&o, src.Flags[name]); err != nil {
			faults = append(faults, fmt.Errorf("--%s: %w", name, err))
		}
		o.from(name, "--"+name)
	}
	faults = append(faults, o.Validate()...)
	return o, errors.Join(faults...)
}

func applyFile(o *Options, path string, byName map[string]Setting) []error {
	if path == "" {
		return nil
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		return []error{fmt.Errorf("--config: %w", err)}
	}
	tree := map[string]any{}
	if err := toml.Unmarshal(raw, &tree); err != nil {
		return []error{fmt.Errorf("%s: %w", path, err)}
	}
	flat := map[string]string{}
	flatten("", tree, flat)
	keys := make([]string, 0, len(flat))
	for key := range flat {
		keys = append(keys, key)
	}
	sort.Strings(keys)
	var faults []error
	for _, key := range keys {
		setting, known := byName[key]
		if !known {
			taken, err := applyForeign(o, key, flat[key], byName)
			if !taken {
				err = errors.New("unknown key")
			}
			if err != nil {
				faults = append(faults, fmt.Errorf("%s: %s: %w", path, key, err))
			}
			continue
		}
		if err := setting.set(o, flat[key]); err != nil {
			faults = append(faults, fmt.Errorf("%s: %s: %w", path, key, err))
		}
		o.from(key, path)
	}
	return faults
}

// flatten turns nested TOML tables into dotted keys.
func flatten(prefix string, tree map[string]any, into map[string]string) {
	for key, value := range tree {
		if nested, ok := value.(map[string]any); ok {
			flatten(prefix+key+".", nested, into)
			continue
		}
		into[prefix+key] = fmt.Sprint(value)
	}
}

// otherEnv are environment variables that are not settings: the file's name, which Load reads, the password of pando's commands, and those of tests.
var otherEnv = []string{"PANDO_CONFIG", "PANDO_PASSWORD", "PANDO_SLOW", "PANDO_PROMOTED", "PANDO_SEED", "PANDO_REWRITE"}

func applyEnv(o *Options, env []string, byName map[string]Setting) []error {
	byEnv := map[string]Setting{}
	for _, s := range byName {
		byEnv[s.EnvName()] = s
	}
	var faults []error
	for _, pair := range env {
		key, value, _ := strings.Cut(pair, "=")
		if !strings.HasPrefix(key, "PANDO_") || slices.Contains(otherEnv, key) {
			continue
		}
		if key == rootPasswordEnv {
			o.RootPassword = value
			continue
		}
		setting, known := byEnv[key]
		if !known {
			faults = append(faults, fmt.Errorf("%s: unknown key", key))
			continue
		}
		if err := setting.set(o, value); err != nil {
			faults = append(faults, fmt.Errorf("%s: %w", key, err))
		}
		o.from(setting.Name, key)
	}
	return faults
}
