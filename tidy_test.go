package pando

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

const (
	fileLinesMax     = 800 // a longer file is a package that wants to be two
	functionLinesMax = 70  // longer functions are listed in functionRatchet with their present length
)

// packageLinesMax bounds a package's product files together where a design note does: a scheduler had grown in wire once (docs/design/0010).
var packageLinesMax = map[string]int{"wire": 4500}

// longFiles may exceed fileLinesMax: tables, not logic.
var longFiles = map[string]bool{"types/errortable.go": true}

// functionRatchet lists functions over functionLinesMax with a ceiling. They may shrink, never grow; a listed function that
// has become short must leave the list.
var functionRatchet = map[string]int{}

// bannedCalls maps a selector to why it is banned and where it is allowed all the same.
var bannedCalls = map[string]struct {
	why   string
	where []string
}{
	"time.Now":           {"only package clock reads the wall clock", []string{"clock"}},
	"time.Since":         {"only package clock reads the wall clock", []string{"clock"}},
	"time.Sleep":         {"only package clock waits", []string{"clock"}},
	"time.After":         {"only package clock waits", []string{"clock"}},
	"time.NewTimer":      {"only package clock waits", []string{"clock"}},
	"time.NewTicker":     {"only package clock waits", []string{"clock"}},
	"time.AfterFunc":     {"only package clock waits", []string{"clock"}},
	"fmt.Println":        {"library packages log with slog or return errors", []string{"cmd/pando", "bench"}},
	"fmt.Printf":         {"library packages log with slog or return errors", []string{"cmd/pando", "bench"}},
	"log.Printf":         {"logs go through log/slog", nil},
	"log.Fatal":          {"only main exits", nil},
	"os.Exit":            {"only main exits", []string{"cmd/pando", "engine"}},
	"os.Create":          {"files belong to engine, placement, server, cmd, bench, transfer and exec's spills", []string{"engine", "placement", "server", "cmd/pando", "bench", "transfer", "exec"}},
	"os.OpenFile":        {"files belong to engine, placement, server, cmd, bench, playground and exec's spills", []string{"engine", "placement", "server", "cmd/pando", "bench", "playground", "exec"}},
	"ioutil.ReadAll":     {"ioutil is retired", nil},
	"runtime.GC":         {"the collector is steered by the memory limit", nil},
	"debug.SetGCPercent": {"the memory budget belongs to server", []string{"server"}},
}

// ownDraw finds test input that does not come from testkit.Seed and testkit.Rand: it would differ between two runs of one commit, and nobody could
// replay it. Benchmarks may draw as they like: nothing passes or fails by it.
var ownDraw = regexp.MustCompile(`\brand\.(N|New\w*|U?[Ii]nt\w*|Float\w*|NormFloat64|ExpFloat64|Perm|Shuffle|Read)\(`)

// drawFault tells whether a test file draws by itself, or returns "".
func drawFault(path string, source []byte) string {
	if filepath.Base(path) == "bench_test.go" {
		return ""
	}
	if draw := ownDraw.Find(source); draw != nil {
		return "draws with " + string(draw) + "): tests take their randomness from internal/testkit"
	}
	return ""
}

// markers of unfinished work may not be committed without an owner.
var unfinished = regexp.MustCompile(`\b(TODO|FIXME|XXX|HACK)\b`)

// tidyFaults lists what is wrong with one product file.
func tidyFaults(path, pkg string, source []byte) []string {
	var faults []string
	lines := strings.Count(string(source), "\n")
	if lines > fileLinesMax && !longFiles[path] {
		faults = append(faults, "has "+itoa(lines)+" lines, over "+itoa(fileLinesMax))
	}
	if mark := unfinished.Find(source); mark != nil {
		faults = append(faults, "holds the marker "+string(mark))
	}
	set := token.NewFileSet()
	tree, err := parser.ParseFile(set, path, source, parser.SkipObjectResolution)
	if err != nil {
		return append(faults, err.Error())
	}
	ast.Inspect(tree, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncDecl:
			if n.Body == nil {
				break
			}
			length := set.Position(n.End()).Line - set.Position(n.Pos()).Line + 1
			key := pkg + "." + receiver(n) + n.Name.Name
			if ceiling, listed := functionRatchet[key]; listed {
				if length > ceiling {
					faults = append(faults, key+" grew to "+itoa(length)+" lines, over its ceiling "+itoa(ceiling))
				}
			} else if length > functionLinesMax {
				faults = append(faults, key+" has "+itoa(length)+" lines, over "+itoa(functionLinesMax))
			}
		case *ast.CallExpr:
			if selector, ok := n.Fun.(*ast.SelectorExpr); ok {
				if base, ok := selector.X.(*ast.Ident); ok {
					name := base.Name + "." + selector.Sel.Name
					if ban, banned := bannedCalls[name]; banned && !within(pkg, ban.where) {
						faults = append(faults, set.Position(n.Pos()).String()+" calls "+name+": "+ban.why)
					}
				}
			}
		}
		return true
	})
	return faults
}

func receiver(f *ast.FuncDecl) string {
	if f.Recv == nil || len(f.Recv.List) == 0 {
		return ""
	}
	kind := f.Recv.List[0].Type
	if star, ok := kind.(*ast.StarExpr); ok {
		kind = star.X
	}
	if index, ok := kind.(*ast.IndexExpr); ok {
		kind = index.X
	}
	if name, ok := kind.(*ast.Ident); ok {
		return name.Name + "."
	}
	return ""
}

func within(pkg string, where []string) bool {
	for _, w := range where {
		if pkg == w || strings.HasPrefix(pkg, w+"/") {
			return true
		}
	}
	return false
}

func itoa(n int) string {
	digits := ""
	for ; n > 9; n /= 10 {
		digits = string(rune('0'+n%10)) + digits
	}
	return string(rune('0'+n)) + digits
}

func TestTidy(t *testing.T) {
	documented := map[string]bool{}
	packages := map[string]int{} // to lines
	for _, file := range sourceFiles(t) {
		if filepath.Base(file.path) == "doc.go" {
			documented[file.pkg] = true
		}
		source, err := os.ReadFile(file.path)
		if err != nil {
			t.Fatal(err)
		}
		if file.test || strings.HasPrefix(file.pkg, "tests") {
			if fault := drawFault(file.path, source); fault != "" {
				t.Errorf("%s: %s", file.path, fault)
			}
			continue
		}
		packages[file.pkg] += strings.Count(string(source), "\n")
		for _, fault := range tidyFaults(file.path, file.pkg, source) {
			t.Errorf("%s: %s", file.path, fault)
		}
	}
	for pkg := range packages {
		if !documented[pkg] {
			t.Errorf("package %q has no doc.go", pkg)
		}
	}
	for pkg, most := range packageLinesMax {
		if lines := packages[pkg]; lines == 0 || lines >= most {
			t.Errorf("package %q has %d lines, with a bound of %d", pkg, lines, most)
		}
	}
}

// TestTidyCanary proves that each rule can fail.
func TestTidyCanary(t *testing.T) {
	long := "package p\n\nfunc f() {\n" + strings.Repeat("\tg()\n", functionLinesMax) + "}\n"
	cases := map[string]string{
		"long function": long,
		"long file":     "package p\n" + strings.Repeat("// x\n", fileLinesMax),
		"clock":         "package p\n\nimport \"time\"\n\nvar t = time.Now()\n",
		"marker":        "package p\n// TO" + "DO\n",
	}
	for name, source := range cases {
		if len(tidyFaults("p/p.go", "p", []byte(source))) == 0 {
			t.Errorf("%s: not noticed", name)
		}
	}
	for _, draw := range []string{"New(source)", "NewPCG(1, 2)", "Uint64()", "IntN(3)", "N(3)"} {
		if source := "package p\n\nvar v = rand." + draw + "\n"; drawFault("p/p_test.go", []byte(source)) == "" {
			t.Errorf("rand.%s: not noticed", draw)
		}
	}
	if fault := drawFault("p/p_test.go", []byte("package p\n\nvar v = testkit.Rand(1, 2).IntN(3)\n")); fault != "" {
		t.Errorf("a clean test was refused: %s", fault)
	}
	if faults := tidyFaults("p/p.go", "p", []byte("package p\n\nfunc f() {}\n")); len(faults) > 0 {
		t.Errorf("a clean file was refused: %v", faults)
	}
}
