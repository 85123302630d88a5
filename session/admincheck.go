package session

import (
	"github.com/pandodb/pando/exec"
	"github.com/pandodb/pando/sqlapi"
	"github.com/pandodb/pando/syntax"
	"github.com/pandodb/pando/types"
)

// tidbErDataInconsistent is the number that TiDB gives to an index that is not as its table.
const tidbErDataInconsistent = 8223

// adminCheck is ADMIN CHECK TABLE: CHECK TABLE whose faults are errors, and whose answer is OK without rows if there are none.
func (s *Session) adminCheck(stmt *syntax.Loose, more bool, out Response) error {
	if err := s.commit(); err != nil {
		return s.fail(err)
	}
	for _, object := range tablesOf(stmt) {
		name, err := s.name(object)
		if err != nil {
			return s.fail(err)
		}
		if _, err := s.maintain("check", name); err != nil {
			if known, is := err.(*types.Error); is && known.Number == types.ErCheckNoSuchTable {
				err = types.NewError(tidbErDataInconsistent, "data inconsistency in table: "+name.Table+", "+known.Message)
			}
			return s.fail(exec.MapError(err, &s.interrupt))
		}
	}
	return s.done(sqlapi.Result{}, more, out)
}

// tablesOf returns the tables that a statement names, one behind the other: NAME or SCHEMA.NAME.
func tablesOf(stmt *syntax.Loose) (tables []syntax.ObjectName) {
	dotted := false
	for _, p := range stmt.Parts {
		switch {
		case p.Kind == syntax.LoosePunct:
			dotted = p.Text == "."
		case p.Kind == syntax.LooseName && dotted:
			last := &tables[len(tables)-1]
			last.Schema, last.Name = last.Name, p.Text
			dotted = false
		case p.Kind == syntax.LooseName:
			tables = append(tables, syntax.ObjectName{Name: p.Text})
		}
	}
	return tables
}
