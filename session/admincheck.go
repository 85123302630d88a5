package session

import (
	"strings"

	"github.com/pandodb/pando/catalog"
	"github.com/pandodb/pando/ddl"
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
			return s.fail(s.inconsistent(name, err))
		}
	}
	return s.done(sqlapi.Result{}, more, out)
}

// inconsistent is what a check of a table has found, as TiDB says it.
func (s *Session) inconsistent(name ddl.Name, err error) error {
	if known, is := err.(*types.Error); is && known.Number == types.ErCheckNoSuchTable {
		return types.NewError(tidbErDataInconsistent, "data inconsistency in table: "+name.Table+", "+known.Message)
	}
	return exec.MapError(err, &s.interrupt)
}

// adminCheckIndex is ADMIN CHECK INDEX: ADMIN CHECK TABLE that compares one index with the rows.
func (s *Session) adminCheckIndex(stmt *syntax.Loose, more bool, out Response) error {
	if text := syntax.String(stmt); strings.Contains(text, "(") {
		return s.fail(types.Errorf(types.ErNotSupportedYet, "ADMIN CHECK INDEX of ranges; without them it checks the whole index"))
	}
	if err := s.commit(); err != nil {
		return s.fail(err)
	}
	words := tablesOf(stmt)
	last := len(words) - 1
	name, err := s.name(words[0])
	if err == nil && s.schema().Temporary(name.Schema, name.Table) == nil {
		err = s.mayAnalyze(name)
	}
	if err != nil {
		return s.fail(err)
	}
	t, err := s.baseTable(name)
	if err != nil {
		return s.fail(err)
	}
	index := t.Index(words[last].Name)
	if index == nil || index.State != catalog.StatePublic {
		return s.fail(types.Errorf(types.ErKeyDoesNotExist, words[last].Name, name.Table))
	}
	if err := s.checkRows(t, index); err != nil {
		return s.fail(s.inconsistent(name, err))
	}
	return s.done(sqlapi.Result{}, more, out)
}

// tablesOf returns the tables that a statement names, in order: NAME or SCHEMA.NAME.
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
