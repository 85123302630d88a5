package plan

import (
	"testing"

	"github.com/pandodb/pando/syntax"
	"github.com/pandodb/pando/types"
)

// TestDefaultText holds that the text which the catalog keeps of a DEFAULT is utf8mb4 whatever bytes a client sends; scripts are utf8mb4 themselves.
func TestDefaultText(t *testing.T) {
	for _, c := range []struct{ client, text, want string }{
		{"latin1", "CONCAT('\xe9',`t`.`\u00e9`)", "CONCAT('\u00e9', `\u00e9`)"},
		{"latin1", "CONCAT(_latin1'\xe9',_utf8mb4'\u00e9',_binary'e')", "CONCAT(_latin1 x'e9', _utf8mb4 x'c3a9', _binary 'e')"},
		{"utf8mb4", "_latin1'\u00e9'", "_latin1 x'c3a9'"},
		{"utf8mb4", "'\xe9'", ""},
		{"binary", "'\xe9'", ""},
		{"latin1", "N'\xe9'", ""},
	} {
		tree, err := syntax.ParseExpr(c.text, syntax.Options{})
		if err != nil {
			t.Fatal(err)
		}
		client, err := types.LookupCharset(c.client)
		if err != nil {
			t.Fatal(err)
		}
		got, err := DefaultText(tree, "s", "t", client)
		if got != c.want || (err != nil) != (c.want == "") {
			t.Errorf("%s from %s: %q, %v; want %q", c.text, c.client, got, err, c.want)
		}
	}
}
