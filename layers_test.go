package pando

import (
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"sort"
	"strconv"
	"strings"
	"testing"
)

const modulePath = "github.com/pandodb/pando"

// vocabulary packages may be imported from anywhere: they hold words, not behaviour.
var vocabulary = []string{"kvapi", "keys", "clock", "status", "internal/assert"}

// layers is the import table, in stack order: which product packages each package may import besides the
// vocabulary. Changing a row is a design decision and needs a note under docs/design, not a build fix.
var layers = map[string][]string{
	"cmd/pando":      {"server", "bench", "playground", "transfer"},
	"server":         {"backup", "cluster/transport", "cluster/identity", "wire", "session", "infoschema", "plan", "exec", "stats", "privilege", "privilege/password", "ddl", "table", "catalog", "sqlapi", "types", "txn", "kv", "rpc", "store", "replica", "placement", "placement/meta", "placement/schedule", "engine"},
	"wire":           {"privilege/password", "sqlapi", "types"},
	"session":        {"infoschema", "plan", "syntax", "exec", "expr", "stats", "privilege", "ddl", "table", "catalog", "sqlapi", "types", "txn"},
	"infoschema":     {"plan", "syntax", "exec", "expr", "stats", "privilege", "ddl", "table", "catalog", "sqlapi", "types", "txn"},
	"plan":           {"syntax", "exec", "expr", "stats", "privilege", "table", "catalog", "sqlapi", "types"},
	"syntax":         {},
	"exec":           {"expr", "stats", "table", "catalog", "sqlapi", "types", "txn"},
	"stats":          {"expr", "table", "catalog", "types", "txn"},
	"privilege":      {"catalog", "types", "txn"},
	"ddl":            {"table", "catalog", "types", "txn"},
	"table":          {"catalog", "fsst", "types", "txn"},
	"expr":           {"types"},
	"catalog":        {"fsst", "types", "txn"},
	"fsst":           {},
	"sqlapi":         {"types"},
	"types":          {},
	"txn":            {"kv"},
	"kv":             {"rpc", "txn/commit"},
	"rpc":            {"store", "internal/codec"},
	"store":          {"store/rowcache", "txn/commit", "replica", "placement/meta", "placement", "mvcc", "engine"},
	"store/rowcache": {},
	"replica":        {"engine", "internal/codec"},
	"placement":      {},
	"placement/meta": {"internal/codec"},

	// What the gateway does with the members of regions (docs/design/0021).
	"placement/schedule": {},

	// How passwords are hashed and verified: of bytes alone, so that wire, which verifies, knows no accounts (docs/design/0010).
	"privilege/password": {},

	"txn/commit":     {"mvcc"},
	"mvcc":           {"engine"},
	"backup":         {"engine"},
	"engine":         {"engine/wal", "engine/aio", "engine/offheap"},
	"engine/wal":     {"engine/aio"},
	"engine/aio":     {},
	"engine/offheap": {},
	"kvapi":          {},
	"keys":           {},
	"clock":          {},
	"status":         {},

	// Beside the stack: what carries bytes between nodes knows the codec of their fields, and nothing of what they mean (docs/design/0021).
	"cluster/transport": {"internal/codec"},
	"cluster/identity":  {"cluster/transport", "placement/meta", "internal/codec"},

	// An instrument over the MySQL protocol: it knows the product by its sockets only.
	"bench":        {"bench/tpcc", "bench/tpch"},
	"bench/tpcc":   {"bench/insert"},
	"bench/tpch":   {"bench/insert"},
	"bench/insert": {},
	"playground":   {},
	// A client of any server.
	"transfer": {},

	"internal/testkit":    {"engine", "mvcc"},
	"internal/clusterkit": {"store", "replica", "engine"},
	"internal/check":      {},
	"internal/explore":    {},
	"internal/sim":        {"replica"},
	"internal/assert":     {},
	"internal/codec":      {},
	"internal/script":     {},
}

// libraryGates names the packages that alone may import a library. A prefix covers its subpackages.
var libraryGates = map[string][]string{
	"github.com/cockroachdb/pebble":          {"engine", "engine/wal", "internal/testkit"},
	"go.etcd.io/raft":                        {"replica"},
	"google.golang.org/protobuf":             {"replica"},
	"vitess.io/vitess":                       {"types"},
	"github.com/spf13/cobra":                 {"cmd/pando"},
	"github.com/BurntSushi/toml":             {"server"},
	"github.com/prometheus/client_golang":    {"status"},
	"github.com/cockroachdb/datadriven":      {"internal/script"},
	"github.com/go-sql-driver/mysql":         {"bench", "bench/tpcc", "transfer"},
	"github.com/go-mysql-org/go-mysql":       {},
	"github.com/pingcap/tidb":                {},
	"github.com/anishathalye/porcupine":      {"internal/check"},
	"net/http":                               {"server", "bench", "playground"},
	"golang.org/x/sync":                      {"session"},
	"github.com/hanwen/go-fuse":              {"tests/badfs"},
	"github.com/pires/go-proxyproto":         {"wire"},
	"github.com/klauspost/compress":          {"wire"},
	"github.com/cockroachdb/errors":          {},
	"google.golang.org/grpc":                 {"rpc"},
	"github.com/pingcap/failpoint":           {},
	"github.com/cockroachdb/cockroach":       {},
	"github.com/dolthub/go-mysql-server":     {},
	"github.com/dolthub/vitess":              {},
	"github.com/go-mysql-org/go-mysql/mysql": {},
}

// sourceFile is one Go file of the repository with the imports it names.
type sourceFile struct {
	path    string // slash-separated, relative to the root
	pkg     string // its folder; "" for the root
	test    bool
	imports []string
}

// sourceFiles reads the import clauses of every Go file of the repository.
func sourceFiles(t *testing.T) []sourceFile {
	t.Helper()
	var files []sourceFile
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if name := d.Name(); path != "." && (strings.HasPrefix(name, ".") || name == "testdata" || name == "bin" || name == "data") {
				return filepath.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(path, ".go") {
			return nil
		}
		tree, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		file := sourceFile{path: filepath.ToSlash(path), test: strings.HasSuffix(path, "_test.go")}
		if dir := filepath.ToSlash(filepath.Dir(path)); dir != "." {
			file.pkg = dir
		}
		for _, spec := range tree.Imports {
			name, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				return err
			}
			file.imports = append(file.imports, name)
		}
		files = append(files, file)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// layerFault explains why pkg may not import the product package imported, or returns "".
func layerFault(pkg, imported string) string {
	allowed, known := layers[pkg]
	switch {
	case !known:
		return "package " + pkg + " is not in the import table of layers_test.go"
	case slices.Contains(vocabulary, imported), slices.Contains(allowed, imported):
		return ""
	}
	return pkg + " may not import " + imported
}

// gateFault explains why pkg may not import the library, or returns "".
func gateFault(pkg, library string) string {
	for prefix, allowed := range libraryGates {
		if (library == prefix || strings.HasPrefix(library, prefix+"/")) && !slices.Contains(allowed, pkg) {
			return pkg + " may not import " + library
		}
	}
	return ""
}

func TestLayers(t *testing.T) {
	seen := map[string]bool{}
	for _, file := range sourceFiles(t) {
		seen[file.pkg] = true
		if file.pkg != "internal/script" && slices.Contains(file.imports, "github.com/cockroachdb/datadriven") {
			t.Errorf("%s: scripts are run by internal/script", file.path)
		}
		// Tests assemble what they need from any layer; the root and tests/ are instruments.
		if file.test || file.pkg == "" || strings.HasPrefix(file.pkg, "tests") {
			continue
		}
		for _, imported := range file.imports {
			fault := ""
			if local, ok := strings.CutPrefix(imported, modulePath+"/"); ok {
				fault = layerFault(file.pkg, local)
			} else {
				fault = gateFault(file.pkg, imported)
			}
			if fault != "" {
				t.Errorf("%s: %s", file.path, fault)
			}
		}
	}
	var stale []string
	for pkg := range layers {
		if !seen[pkg] {
			stale = append(stale, pkg)
		}
	}
	sort.Strings(stale)
	if len(stale) > 0 {
		t.Errorf("the import table names packages that do not exist: %v", stale)
	}
}

// TestCodeMap keeps the code map of ARCHITECTURE.md equal to the import table.
func TestCodeMap(t *testing.T) {
	text, err := os.ReadFile("ARCHITECTURE.md")
	if err != nil {
		t.Fatal(err)
	}
	mapped := map[string]bool{}
	for _, row := range regexp.MustCompile("(?m)^\\| `([a-z/]+)` \\|").FindAllStringSubmatch(string(text), -1) {
		mapped[row[1]] = true
		if _, known := layers[row[1]]; !known {
			t.Errorf("ARCHITECTURE.md maps %s, which the import table lacks", row[1])
		}
	}
	for pkg := range layers {
		if !mapped[pkg] {
			t.Errorf("ARCHITECTURE.md does not map %s", pkg)
		}
	}
}

// TestLayersCanary proves that the checker can fail.
func TestLayersCanary(t *testing.T) {
	for _, pair := range [][2]string{{"txn", "store"}, {"kv", "types"}, {"exec", "plan"}, {"nowhere", "keys"}} {
		if layerFault(pair[0], pair[1]) == "" {
			t.Errorf("%s importing %s passed", pair[0], pair[1])
		}
	}
	if layerFault("txn", "kv") != "" || layerFault("engine", "keys") != "" {
		t.Error("an allowed import was refused")
	}
	if gateFault("store", "github.com/cockroachdb/pebble/v2") == "" || gateFault("expr", "vitess.io/vitess/go/mysql/decimal") == "" {
		t.Error("a gated library passed")
	}
}
