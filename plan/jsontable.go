package plan

import "github.com/pandodb/pando/syntax"

// jsonTable resolves JSON_TABLE.
func (b *builder) jsonTable(*syntax.JSONTable, *scope) (rel, []column, error) {
	return nil, nil, unsupported("JSON_TABLE")
}
