package types_test

import (
	"runtime"
	"strings"
	"testing"

	"github.com/pandodb/pando/types"
)

// TestRegexpBytes: the estimate of what a compiled pattern takes is not below what it holds, and not many times as much.
func TestRegexpBytes(t *testing.T) {
	for _, pattern := range []string{
		"", "a", "abc", "a*", strings.Repeat("a", 1000), strings.Repeat("(a|b)", 500), strings.Repeat("[ab]", 500), strings.Repeat("[^a]", 500), `\w`, `\D`, `\s`, `\p{L}`,
		`\P{L}`, `[\p{L}]`, `[[:alpha:]]`, `[\p{L}\p{N}]`, `[^\p{Lu}\p{N}]`, strings.Repeat(`\p{L}`, 50), strings.Repeat(`[\w]`, 50), `\N{LATIN SMALL LETTER A}`, "[a-c]{1,3}",
		"(a{1,500}){1,500}", "(?<n>a)", strings.Repeat(".", 1000), strings.Repeat("[aceg]", 500), "(ab[cd]){3000}", "(?i)" + strings.Repeat("[a-z]", 50), `\h\v\R`,
	} {
		const copies = 8
		var compiled [copies]*types.Regexp
		live := func() int64 {
			var m runtime.MemStats
			runtime.GC()
			runtime.GC() // what a pool held
			runtime.ReadMemStats(&m)
			return int64(m.HeapAlloc)
		}
		if _, err := types.CompileRegexp([]rune(pattern), types.RegexpFold); err != nil { // tables of the library that are made once
			t.Fatalf("%.40q: %v", pattern, err)
		}
		before := live()
		for i := range compiled {
			var err error
			if compiled[i], err = types.CompileRegexp([]rune(pattern), types.RegexpFold); err != nil {
				t.Fatalf("%.40q: %v", pattern, err)
			}
		}
		holds := (live() - before) / copies
		runtime.KeepAlive(compiled)
		if estimate := int64(types.RegexpBytes([]rune(pattern))); holds > estimate || estimate > 16*(holds+512) {
			t.Errorf("%.40q: %d bytes for %d that it holds", pattern, estimate, holds)
		}
	}
}
