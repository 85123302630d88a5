package exec

import (
	"fmt"

	"github.com/pandodb/pando/catalog"
	"github.com/pandodb/pando/sqlapi"
	"github.com/pandodb/pando/types"
)

// fromFile stores the lines of a file. As in MySQL, each row begins as the columns' defaults, also where a column has none; fields that a line
// lacks become the zero of their type, or NULL where that is the default.
func (in *inserter) fromFile() error {
	load, rt := in.node.Load, in.rt
	for i, c := range in.table.Columns {
		if c.Default == nil && !c.AutoInc {
			in.given[i] = true // what is not in the file is no error
		}
	}
	lines := NewLineReader(rt.File, load.Format, load.Width, rt.LineBytesMax)
	skip := load.Skip
	for ; skip > 0 && len(load.Format.LineEnd) > 0; skip-- {
		if err := rt.poll(); err != nil {
			return err
		}
		if more, _, err := lines.NextLine(); err != nil {
			return err
		} else if !more {
			skip = 1
		}
	}
	charged := 0
	for {
		if err := in.nextRow(); err != nil {
			return err
		}
		lines.StartLine()
		if n := cap(lines.text); n > charged {
			if err := rt.Mem.Grow(int64(n - charged)); err != nil {
				return err
			}
			charged = n
		}
		any, err := in.line(lines, skip > 0)
		if err != nil {
			return err
		}
		if !any {
			in.rowNo--
			return nil
		}
		rowNo := in.rowNo
		if skip > 0 {
			skip--
			in.rowNo--
		} else if err := in.finishRow(in.firstError(in.assignLoaded())); err != nil {
			return err
		}
		more, cut, err := lines.NextLine()
		if err != nil {
			return err
		}
		if !more {
			return nil
		}
		if cut && skip == 0 && in.rowNo == rowNo { // a row that was left out has its warning
			if err := in.complain(types.ErWarnTooManyRecords); err != nil {
				return err
			}
		}
	}
}

// line sets the row's columns, and variables, to the fields of a line. It reports false at the end of the file.
func (in *inserter) line(lines *LineReader, skipped bool) (bool, error) {
	load := in.node.Load
	if !skipped {
		if err := in.fillDefaults(); err != nil {
			return false, err
		}
		clear(in.asked)
	}
	if load.Format.Fixed() {
		return in.fixedLine(lines, skipped)
	}
	got := 0
	for ; got < len(load.Targets); got++ {
		f, ok, err := lines.Next()
		if err != nil {
			return false, err
		}
		if !ok {
			break
		}
		if skipped {
			continue
		}
		if err := in.field(&load.Targets[got], f.Text, f.Null); err != nil {
			return false, err
		}
	}
	if got == 0 || skipped {
		return got > 0, nil
	}
	for i := got; i < len(load.Targets); i++ {
		if err := in.missing(&load.Targets[i]); err != nil {
			return false, err
		}
	}
	return true, nil
}

// fixedLine cuts a line into fields by their widths. What is left at the end counts as one more field.
func (in *inserter) fixedLine(lines *LineReader, skipped bool) (bool, error) {
	row, ok, err := lines.Row()
	if !ok || err != nil || skipped {
		return ok, err
	}
	for i := range in.node.Load.Targets {
		target := &in.node.Load.Targets[i]
		if len(row) == 0 {
			if err := in.missingFixed(target); err != nil {
				return false, err
			}
			continue
		}
		n := min(len(row), target.Width)
		if err := in.field(target, row[:n], false); err != nil {
			return false, err
		}
		row = row[n:]
	}
	if len(row) > 0 {
		return true, in.complain(types.ErWarnTooManyRecords)
	}
	return true, nil
}

// field stores one field of the file.
func (in *inserter) field(target *LoadTarget, text []byte, null bool) error {
	cs := in.node.Load.Format.Charset
	if target.Col < 0 {
		v := types.Null()
		if !null {
			v = types.String(text, cs.Default)
		}
		in.rt.Ctx.Session.SetUserVar(target.Variable, v)
		return nil
	}
	c := in.table.Columns[target.Col]
	switch {
	case c.Generated != nil: // what the file has for it is ignored
		return nil
	case null && c.NotNull && !c.AutoInc && c.Type.ID != types.TypeTimestamp:
		if in.rt.Ctx.Strict && !in.rt.Ctx.Ignore {
			return types.Errorf(types.ErWarnNullToNotnull, c.Name, in.rowNo)
		}
		in.rt.Ctx.Warn(types.LevelWarning, types.ErWarnNullToNotnull, c.Name, in.rowNo)
		in.row[target.Col] = types.ZeroOf(&c.Type)
		return nil
	case null:
		return in.absent(c)
	case c.Type.IsBinaryString():
		return in.set(target.Col, types.String(text, types.Binary))
	}
	return in.set(target.Col, types.String(text, cs.Default))
}

// absent sets a column without a value: to NULL where that is allowed or stands for the next id, otherwise to the current time.
func (in *inserter) absent(c *catalog.Column) (err error) {
	in.row[c.Ordinal] = types.Null()
	if c.NotNull && !c.AutoInc {
		in.row[c.Ordinal], err = in.nowOf(c)
	}
	return err
}

// missing sets the column or the variable of a field that the line does not have.
func (in *inserter) missing(target *LoadTarget) error {
	if target.Col < 0 {
		in.rt.Ctx.Session.SetUserVar(target.Variable, types.Null())
		return nil
	}
	c := in.table.Columns[target.Col]
	switch {
	case c.Generated != nil:
	case c.AutoInc, c.NotNull && c.Type.ID == types.TypeTimestamp:
		if err := in.absent(c); err != nil {
			return err
		}
	case c.NotNull || c.Default != nil && c.Default.Kind != catalog.DefaultNull:
		in.row[target.Col] = types.ZeroOf(&c.Type)
	default:
		in.row[target.Col] = types.Null()
	}
	return in.complain(types.ErWarnTooFewRecords)
}

// missingFixed is missing for lines without separators: the column keeps its default, and is not NULL unless it is AUTO_INCREMENT.
func (in *inserter) missingFixed(target *LoadTarget) error {
	c := in.table.Columns[target.Col]
	if c.NotNull && c.Type.ID == types.TypeTimestamp {
		if err := in.absent(c); err != nil {
			return err
		}
	} else if v := &in.row[target.Col]; v.IsNull() && !c.AutoInc {
		*v = types.ZeroOf(&c.Type)
	}
	return in.complain(types.ErWarnTooFewRecords)
}

// assignLoaded makes the assignments of SET.
func (in *inserter) assignLoaded() error {
	for i := range in.node.Load.Set {
		a := &in.node.Load.Set[i]
		if a.Expr == nil {
			if err := in.setDefault(in.table.Columns[a.Col]); err != nil {
				return err
			}
			continue
		}
		v, err := a.Expr.EvalFull(in.rt.Ctx, in.row)
		if err != nil {
			return err
		}
		if err := in.set(a.Col, v); err != nil {
			return err
		}
	}
	return nil
}

// complain says what is wrong with the line as a warning, or as an error in strict mode.
func (in *inserter) complain(number uint16) error {
	if in.rt.Ctx.Strict && !in.rt.Ctx.Ignore {
		return types.Errorf(number, in.rowNo)
	}
	in.rt.Ctx.Warn(types.LevelWarning, number, in.rowNo)
	return nil
}

// loaded is the answer of LOAD DATA, which reports no generated id.
func (in *inserter) loaded(res sqlapi.Result) sqlapi.Result {
	if in.generated != 0 {
		in.rt.LastGeneratedID = in.generated
	}
	skipped := uint64(in.rowNo) - (in.affected - in.removed)
	res.Info = fmt.Sprintf("Records: %d  Deleted: %d  Skipped: %d  Warnings: %d", in.rowNo, in.removed, skipped, in.rt.Ctx.WarningCount())
	return res
}
