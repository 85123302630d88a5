package session

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/pandodb/pando/catalog"
	"github.com/pandodb/pando/clock"
	"github.com/pandodb/pando/ddl"
	"github.com/pandodb/pando/exec"
	"github.com/pandodb/pando/infoschema"
	"github.com/pandodb/pando/kvapi"
	"github.com/pandodb/pando/privilege"
	"github.com/pandodb/pando/stats"
	"github.com/pandodb/pando/syntax"
	"github.com/pandodb/pando/types"
)

// histogramMemory is the variable that bounds the memory that making histograms takes.
const histogramMemory = "histogram_generation_max_mem_size"

// runHistogram answers ANALYZE TABLE … UPDATE HISTOGRAM and DROP HISTOGRAM with a line per column, in the order of their names.
func (s *Session) runHistogram(stmt *syntax.TableMaintenance, more bool, out Response) error {
	buckets, err := histogramBuckets(stmt)
	if err != nil {
		return s.fail(err)
	}
	for _, object := range stmt.Tables {
		name, err := s.name(object)
		if err == nil {
			err = s.mayAnalyze(name)
		}
		if err != nil {
			return s.fail(err)
		}
	}
	table := ""
	var lines []histogramLine
	if len(stmt.Tables) > 1 {
		lines = []histogramLine{{failed: true, text: "Only one table can be specified while modifying histogram statistics."}}
	} else {
		name, _ := s.name(stmt.Tables[0])
		table = name.Schema + "." + name.Table
		if lines, err = s.changeHistograms(stmt, name, buckets); err != nil {
			return s.fail(exec.MapError(err, &s.interrupt))
		}
	}
	var rows [][]types.Value
	for _, line := range lines {
		kind := "status"
		if line.failed {
			kind = "Error"
		}
		rows = append(rows, []types.Value{types.Text(table), types.Text("histogram"), types.Text(kind), types.Text(line.text)})
	}
	return s.sendRows(maintenanceColumns, rows, more, out)
}

// histogramLine is what the answer says of a column.
type histogramLine struct {
	column string
	failed bool
	text   string
}

// histogramBuckets checks what can be told from the text alone, and returns how many buckets it asks for.
func histogramBuckets(stmt *syntax.TableMaintenance) (int, error) {
	if stmt.Data != nil {
		return 0, types.Errorf(types.ErNotSupportedYet, "ANALYZE TABLE with USING DATA; UPDATE HISTOGRAM without it reads the table")
	}
	for i, c := range stmt.Columns {
		if slices.ContainsFunc(stmt.Columns[:i], func(other syntax.Ident) bool { return strings.EqualFold(other.Name, c.Name) }) {
			return 0, types.Errorf(types.ErDupFieldName, c.Name)
		}
	}
	if stmt.Buckets == nil {
		return stats.BucketsDefault, nil
	}
	n, err := strconv.Atoi(stmt.Buckets.Value)
	if err != nil || n < 1 || n > stats.BucketsMax {
		return 0, types.Errorf(types.ErDataOutOfRange, "Number of buckets", "ANALYZE TABLE")
	}
	return n, nil
}

// mayAnalyze refuses to make or drop statistics of a table without the rights to it, or against LOCK TABLES.
func (s *Session) mayAnalyze(name ddl.Name) error {
	if err := s.require(privilege.Select|privilege.Insert, name.Schema, name.Table); err != nil {
		return err
	}
	if locks := s.tableLocks(); locks != nil {
		return locks.Reads(name.Schema, name.Table, name.Table)
	}
	return nil
}

// changeHistograms makes or drops the histograms of columns of one table. Faults of a column are reported in its line.
func (s *Session) changeHistograms(stmt *syntax.TableMaintenance, name ddl.Name, buckets int) ([]histogramLine, error) {
	refused := func(text string) ([]histogramLine, error) { return []histogramLine{{failed: true, text: text}}, nil }
	if strings.EqualFold(name.Schema, "mysql") {
		return refused("Histograms are not supported on the MySQL system schema.")
	}
	t, err := s.node.Catalog.Current().Table(name.Schema, name.Table)
	switch {
	case s.schema().Temporary(name.Schema, name.Table) != nil:
		return refused("Cannot create histogram statistics for a temporary table.")
	case err != nil:
		return refused(fmt.Sprintf("Table '%s.%s' doesn't exist", name.Schema, name.Table))
	case t.View != nil:
		return refused("Cannot create histogram statistics for a view.")
	}
	var lines []histogramLine
	var columns []int
	for _, c := range stmt.Columns {
		line, at, err := s.histogramColumn(t, c.Name, stmt.Histogram == "DROP")
		if err != nil {
			return nil, err
		}
		lines = append(lines, line)
		if at >= 0 {
			columns = append(columns, at)
		}
	}
	if len(columns) > 0 {
		memory := mustInt(s.get(histogramMemory))
		made, err := s.node.Stats.BuildHistograms(t, columns, buckets, stmt.AutoUpdate == "AUTO UPDATE", memory, clock.Now(), &s.interrupt)
		if err != nil {
			return nil, err
		}
		if err := s.node.Stats.PutHistograms(t, made); err != nil {
			return nil, err
		}
	}
	slices.SortStableFunc(lines, func(a, b histogramLine) int { return cmp.Compare(a.column, b.column) })
	return lines, nil
}

// histogramColumn is the line about a column. It drops the histogram of the column if that is asked for; otherwise at is the column if it can
// have one.
func (s *Session) histogramColumn(t *catalog.Table, name string, drop bool) (line histogramLine, at int, err error) {
	line = histogramLine{column: name, failed: true}
	at = slices.IndexFunc(t.Columns, func(c *catalog.Column) bool { return !c.Hidden && strings.EqualFold(c.Name, name) })
	if at < 0 {
		line.text = fmt.Sprintf(stats.HistogramNoColumn, name)
		return line, -1, nil
	}
	name = t.Columns[at].Name
	line.column = name
	if drop {
		found, err := s.node.Stats.DropHistogram(t, at)
		line.failed, line.text = !found, fmt.Sprintf("No histogram statistics found for column '%s'.", name)
		if found {
			line.text = fmt.Sprintf("Histogram statistics removed for column '%s'.", name)
		}
		return line, -1, err
	}
	if why := stats.HistogramRefused(t, at); why != "" {
		line.text = fmt.Sprintf(why, name)
		return line, -1, nil
	}
	line.failed, line.text = false, fmt.Sprintf("Histogram statistics created for column '%s'.", name)
	return line, at, nil
}

// dropRedefined drops the histograms of columns that an ALTER TABLE defines again, of the table as it was: MySQL does so for MODIFY, CHANGE and,
// of columns with characters, CONVERT TO, even where nothing of them changes.
func (s *Session) dropRedefined(stmt *syntax.AlterTable, before *catalog.Table) error {
	for i := range stmt.Specs {
		spec := &stmt.Specs[i]
		for at, c := range before.Columns {
			var again bool
			switch spec.Kind {
			case syntax.AlterModify:
				again = strings.EqualFold(c.Name, spec.Columns[0].Name.Name)
			case syntax.AlterChange:
				again = strings.EqualFold(c.Name, spec.Name.Name)
			case syntax.AlterConvert:
				again = c.Type.IsText()
			}
			if !again {
				continue
			}
			if _, err := s.node.Stats.DropHistogram(before, at); errors.Is(err, kvapi.ErrDiskFull) {
				return nil // the table is changed, and a histogram that stays does no harm, though MySQL would have none
			} else if err != nil {
				return err
			}
		}
	}
	return nil
}

// Histograms implements infoschema.Provider.
func (p *provider) Histograms(t *catalog.Table) []infoschema.Histogram {
	var list []infoschema.Histogram
	for i, c := range t.Columns {
		if h := p.node.Stats.Histogram(t, i); h != nil {
			list = append(list, infoschema.Histogram{Column: c.Name, Document: h.Document})
		}
	}
	return list
}
