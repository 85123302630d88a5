package catalog

import (
	"strings"

	"github.com/pandodb/pando/types"
)

// GeneratedKeyColumn is the name of the column that sql_generate_invisible_primary_key gives a table without a primary key.
const GeneratedKeyColumn = "my_row_id"

// GeneratedKey reports whether the primary key is one of sql_generate_invisible_primary_key: the first column alone, an invisible BIGINT UNSIGNED with
// AUTO_INCREMENT by the name my_row_id. As in MySQL, the form alone tells.
func (t *Table) GeneratedKey() bool {
	if t.PK == nil || len(t.PK.Columns) != 1 || t.PK.Columns[0].Col != 0 {
		return false
	}
	c := t.Columns[0]
	return c.Invisible && c.AutoInc && c.Type.ID == types.TypeBigInt && c.Type.Unsigned && strings.EqualFold(c.Name, GeneratedKeyColumn)
}

// WithoutGeneratedKey returns a copy that lacks the key of GeneratedKey and its column. It is for showing only.
func (t *Table) WithoutGeneratedKey() *Table {
	shown := t.Clone()
	shown.RemoveIndex(t.PK.ID)
	shown.RemoveColumn(0)
	return shown
}

// HasRowKey reports whether a unique index tells every row from the others: the primary key, or one over whole NOT NULL columns.
func (t *Table) HasRowKey() bool { return t.PK != nil || t.standInKey() != nil }
