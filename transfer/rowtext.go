package transfer

import (
	"bufio"
	"database/sql"
	"fmt"
	"strings"
)

// rowText writes rows as INSERTs, or as lines of CSV.
type rowText struct {
	insert string // how an INSERT begins
	types  []*sql.ColumnType
	csv    *CSV // nil for INSERTs
}

// write writes rows, and holds about insertBytes of them.
func (t *rowText) write(w *bufio.Writer, found *sql.Rows) error {
	values, targets := make([]sql.RawBytes, len(t.types)), make([]any, len(t.types))
	for i := range values {
		targets[i] = &values[i]
	}
	var text []byte
	flush := func() error {
		if t.csv == nil && len(text) > 0 {
			text = append(text, ";\n"...)
		}
		_, err := w.Write(text)
		text = text[:0]
		return err
	}
	for found.Next() {
		if err := found.Scan(targets...); err != nil {
			return err
		}
		switch {
		case t.csv != nil:
			text = t.appendLine(text, values)
		case len(text) == 0:
			text = t.appendRow(append(text, t.insert...), values)
		default:
			text = t.appendRow(append(text, ",\n"...), values)
		}
		if len(text) >= insertBytes {
			if err := flush(); err != nil {
				return err
			}
		}
	}
	if err := flush(); err != nil {
		return err
	}
	return found.Err()
}

// appendRow appends the values of a row in parentheses. Bytes that are no text are hexadecimal, in which no connection changes them.
func (t *rowText) appendRow(dst []byte, values []sql.RawBytes) []byte {
	dst = append(dst, '(')
	for i, v := range values {
		if i > 0 {
			dst = append(dst, ',')
		}
		switch {
		case v == nil:
			dst = append(dst, "NULL"...)
		case plainTypes[typeName(t.types[i])]:
			dst = append(dst, v...)
		case binaryTypes[typeName(t.types[i])]:
			dst = appendHex(dst, v)
		default:
			dst = appendText(dst, v)
		}
	}
	return append(dst, ')')
}

// appendLine appends a line of CSV, in which bytes are as they are.
func (t *rowText) appendLine(dst []byte, values []sql.RawBytes) []byte {
	for i, v := range values {
		if i > 0 {
			dst = append(dst, t.csv.Separator...)
		}
		switch name := typeName(t.types[i]); {
		case v == nil:
			dst = append(dst, t.csv.Null...)
		case name == "YEAR": // whose zeros the driver drops, and as a text 0 is 2000
			dst = t.csv.appendField(dst, []byte(fmt.Sprintf("%04s", v)), false)
		default:
			dst = t.csv.appendField(dst, v, !plainTypes[name])
		}
	}
	return append(dst, '\n')
}

// typeName is the name of a type, whatever its sign.
func typeName(t *sql.ColumnType) string { return strings.TrimPrefix(t.DatabaseTypeName(), "UNSIGNED ") }

func appendHex(dst, value []byte) []byte { return fmt.Appendf(dst, "X'%X'", value) }

var (
	plainTypes  = map[string]bool{"TINYINT": true, "SMALLINT": true, "MEDIUMINT": true, "INT": true, "BIGINT": true, "DECIMAL": true, "FLOAT": true, "DOUBLE": true, "YEAR": true}
	binaryTypes = map[string]bool{"BINARY": true, "VARBINARY": true, "BLOB": true, "TINYBLOB": true, "MEDIUMBLOB": true, "LONGBLOB": true, "BIT": true, "GEOMETRY": true}
)
