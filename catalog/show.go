package catalog

import (
	"fmt"
	"strconv"
	"unicode/utf8"

	"github.com/pandodb/pando/types"
)

// ShowCreateTable returns the statement that SHOW CREATE TABLE prints, to the
// letter of MySQL 8. autoInc is the next AUTO_INCREMENT value, 0 or 1 to leave
// it out. ctx gives the time zone of TIMESTAMP defaults and sql_mode; nil is UTC and no mode.
func ShowCreateTable(t *Table, autoInc uint64, ctx *types.Context, quotes Quotes) string {
	p := &printer{ctx: ctx, table: t, quotes: quotes}
	if t.Temporary != nil {
		p.text("CREATE TEMPORARY TABLE ")
	} else {
		p.text("CREATE TABLE ")
	}
	p.ident(t.Name)
	p.text(" (\n")
	for i, c := range t.Visible() {
		if i > 0 {
			p.text(",\n")
		}
		p.column(c)
	}
	for _, ix := range t.Indexes {
		if ix.State == StatePublic {
			p.text(",\n")
			p.index(ix)
		}
	}
	for i := range t.ForeignKeys {
		p.text(",\n  ")
		p.foreignKey(&t.ForeignKeys[i])
	}
	for i := range t.Checks {
		p.check(&t.Checks[i])
	}
	p.text("\n)")
	if ctx == nil || ctx.SQLMode&types.ModeAnsi == 0 {
		p.options(autoInc)
	}
	return string(p.b)
}

func (p *printer) check(c *Check) {
	p.text(",\n  CONSTRAINT ")
	p.ident(c.Name)
	p.text(" CHECK (" + c.Expr + ")")
	if c.NotEnforced {
		p.text(" /*!80016 NOT ENFORCED */")
	}
}

type printer struct {
	b      []byte
	ctx    *types.Context
	table  *Table
	quotes Quotes
}

func (p *printer) text(s string) { p.b = append(p.b, s...) }

func (p *printer) ident(name string) { p.b = p.quotes.append(p.b, name) }

// quoted prints a string as MySQL's append_unescaped does.
func (p *printer) quoted(s []byte) {
	p.b = append(p.b, '\'')
	for _, c := range s {
		switch c {
		case 0:
			p.text(`\0`)
		case '\n':
			p.text(`\n`)
		case '\r':
			p.text(`\r`)
		case '\\':
			p.text(`\\`)
		case '\'':
			p.text(`''`)
		default:
			p.b = append(p.b, c)
		}
	}
	p.b = append(p.b, '\'')
}

func (p *printer) column(c *Column) {
	p.text("  ")
	p.ident(c.Name)
	p.text(" ")
	p.text(c.Type.String())
	p.charset(c)
	if g := c.Generated; g != nil {
		p.text(" GENERATED ALWAYS AS (" + g.Expr + ")")
		if g.Stored {
			p.text(" STORED")
		} else {
			p.text(" VIRTUAL")
		}
	}
	if c.NotNull {
		p.text(" NOT NULL")
	} else if c.Type.ID == types.TypeTimestamp {
		p.text(" NULL")
	}
	p.defaultValue(c)
	if c.OnUpdateNow {
		p.text(" ON UPDATE CURRENT_TIMESTAMP")
		p.fsp(c)
	}
	if c.AutoInc {
		p.text(" AUTO_INCREMENT")
	}
	if c.Invisible {
		p.text(" /*!80023 INVISIBLE */")
	}
	if c.Comment != "" {
		p.text(" COMMENT ")
		p.quoted([]byte(c.Comment))
	}
}

// charset prints the character set where it differs from the table's collation
// or was written, and the collation where it is not the character set's default
// or one of those holds.
func (p *printer) charset(c *Column) {
	if !c.Type.IsText() && c.Type.ID != types.TypeEnum && c.Type.ID != types.TypeSet {
		return
	}
	coll := c.Type.Coll
	if coll != p.table.Coll || c.ExplicitCollation {
		p.text(" CHARACTER SET ")
		p.text(coll.Charset().Name)
	}
	if !coll.IsDefault() || c.ExplicitCollation || coll == types.Utf8mb40900AICI && p.table.Coll != coll {
		p.text(" COLLATE ")
		p.text(coll.Name())
	}
}

func (p *printer) fsp(c *Column) {
	if c.Type.Scale > 0 {
		p.text("(" + strconv.Itoa(int(c.Type.Scale)) + ")")
	}
}

func (p *printer) defaultValue(c *Column) {
	d := c.Default
	if d == nil || d.Kind == DefaultNull && c.Type.IsBlob() {
		return
	}
	p.text(" DEFAULT ")
	switch d.Kind {
	case DefaultNull:
		p.text("NULL")
	case DefaultNow:
		p.text("CURRENT_TIMESTAMP")
		p.fsp(c)
	case DefaultExpr:
		p.text("(" + d.Expr + ")")
	default:
		if c.Type.IsNumeric() && d.Value.K != types.KindBit {
			p.quoted(types.AppendTyped(nil, p.ctx, &d.Value, &c.Type))
			return
		}
		p.literal(d.Value)
	}
}

func (p *printer) literal(v types.Value) {
	if v.K == types.KindBit {
		p.text("b'" + strconv.FormatUint(v.Uint64(), 2) + "'")
		return
	}
	text := types.AppendText(nil, p.ctx, &v)
	if v.IsBinary() && !utf8.Valid(text) {
		p.text(fmt.Sprintf("0x%X", text))
		return
	}
	if v.IsString() && !v.IsBinary() {
		if utf8mb4 := types.DefaultCollation.Charset(); v.Coll.Charset() != utf8mb4 {
			text, _ = types.ConvertCharset(nil, text, v.Coll.Charset(), utf8mb4)
		}
	}
	p.quoted(text)
}

func (p *printer) index(ix *Index) {
	p.text("  ")
	switch {
	case ix.Primary:
		p.text("PRIMARY KEY (")
	case ix.Unique:
		p.text("UNIQUE KEY ")
		p.ident(ix.Name)
		p.text(" (")
	default:
		p.text("KEY ")
		p.ident(ix.Name)
		p.text(" (")
	}
	for i, ic := range ix.Columns {
		if i > 0 {
			p.text(",")
		}
		if c := p.table.Columns[ic.Col]; c.Hidden {
			p.text("(" + c.Generated.Expr + ")")
		} else {
			p.ident(c.Name)
		}
		if ic.PrefixLen > 0 {
			p.text("(" + strconv.Itoa(ic.PrefixLen) + ")")
		}
		if ic.Desc {
			p.text(" DESC")
		}
	}
	p.text(")")
	if ix.Using != "" {
		p.text(" USING " + ix.Using)
	}
	if ix.Comment != "" {
		p.text(" COMMENT ")
		p.quoted([]byte(ix.Comment))
	}
	if !ix.Visible {
		p.text(" /*!80000 INVISIBLE */")
	}
}

func (p *printer) options(autoInc uint64) {
	t := p.table
	p.text(" ENGINE=" + t.Engine)
	if autoInc > 1 {
		p.text(" AUTO_INCREMENT=" + strconv.FormatUint(autoInc, 10))
	}
	p.text(" DEFAULT CHARSET=" + t.Coll.Charset().Name)
	if !t.Coll.IsDefault() || t.Coll == types.Utf8mb40900AICI {
		p.text(" COLLATE=" + t.Coll.Name())
	}
	o := &t.Options
	p.number(" MIN_ROWS=", o.MinRows)
	p.number(" MAX_ROWS=", o.MaxRows)
	p.number(" AVG_ROW_LENGTH=", o.AvgRowLength)
	p.word(" PACK_KEYS=", o.PackKeys)
	p.word(" STATS_PERSISTENT=", o.StatsPersist)
	p.word(" STATS_AUTO_RECALC=", o.StatsRecalc)
	p.number(" STATS_SAMPLE_PAGES=", o.StatsPages)
	if o.Checksum {
		p.text(" CHECKSUM=1")
	}
	if o.DelayKeyWrite {
		p.text(" DELAY_KEY_WRITE=1")
	}
	p.word(" ROW_FORMAT=", o.RowFormat)
	p.number(" KEY_BLOCK_SIZE=", o.KeyBlockSize)
	if t.Comment != "" {
		p.text(" COMMENT=")
		p.quoted([]byte(t.Comment))
	}
}

func (p *printer) number(name string, n uint64) {
	if n > 0 {
		p.text(name + strconv.FormatUint(n, 10))
	}
}

func (p *printer) word(name, s string) {
	if s != "" {
		p.text(name + s)
	}
}

// ShowCreateView returns the text of SHOW CREATE VIEW for a session whose database is db; the names in query stand in backticks. Under ANSI MySQL
// leaves the options out.
func ShowCreateView(t *Table, query string, named bool, quotes Quotes, ansi bool, db string) string {
	p := &printer{table: t, quotes: quotes}
	if ansi {
		p.text("CREATE VIEW ")
	} else {
		p.viewOptions()
	}
	if db != t.Schema {
		p.ident(t.Schema)
		p.text(".")
	}
	p.ident(t.Name)
	if named {
		p.text(" (")
		for i, c := range t.Columns {
			if i > 0 {
				p.text(",")
			}
			p.ident(c.Name)
		}
		p.text(")")
	}
	p.text(" AS " + quotes.Requote(query))
	if t.View.Check != "" {
		p.text(" WITH " + t.View.Check + " CHECK OPTION")
	}
	return string(p.b)
}

// viewOptions writes the beginning of CREATE VIEW.
func (p *printer) viewOptions() {
	t := p.table
	p.text("CREATE ALGORITHM=" + t.View.Algorithm + " DEFINER=")
	p.ident(t.View.DefinerUser)
	p.text("@")
	p.ident(t.View.DefinerHost)
	security := "DEFINER"
	if t.View.Invoker {
		security = "INVOKER"
	}
	p.text(" SQL SECURITY " + security + " VIEW ")
}
