package catalog

import (
	"testing"

	"github.com/pandodb/pando/types"
)

// TestMarkedOriginal: a descriptor says in its first byte whether the value of rows that lack a column is a document with marks, which versions that
// don't know them would show to clients.
func TestMarkedOriginal(t *testing.T) {
	for original, format := range map[string]byte{"[1.5]": descriptorFormat, "[\x01n1.5]": documentFormat} {
		table := NewTable(1, 1, "db", "t")
		table.AddColumn(&Column{Name: "j", Type: types.Type{ID: types.TypeJSON, Coll: types.Utf8mb4Bin}, Original: []byte(original)}, -1)
		b, err := encodeTable(table, true)
		if err != nil || b[0] != format {
			t.Errorf("%q: format %d, %v", original, b[0], err)
		}
	}
}
