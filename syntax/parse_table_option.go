package syntax

import (
	"math"
	"slices"
	"strconv"
	"strings"
)

// tableOptions parses the options of CREATE TABLE, separated by commas or not.
func (p *parser) tableOptions() []TableOption {
	var list []TableOption
	for {
		o := TableOption{Pos: p.pos()}
		if len(list) > 0 && p.is(tComma) {
			p.next()
			o.Comma = true
		}
		if !p.tableOption(&o) {
			if o.Comma {
				p.fail()
			}
			return list
		}
		list = append(list, o)
	}
}

// tableNumberOptions take a number, or DEFAULT where MySQL allows it; tableHexOptions are those of them whose number may be hexadecimal.
// tableStringOptions take a string, tableWordOptions a word.
var (
	tableNumberOptions = []string{
		"AUTO_INCREMENT", "AVG_ROW_LENGTH", "CHECKSUM", "TABLE_CHECKSUM", "DELAY_KEY_WRITE",
		"KEY_BLOCK_SIZE", "MAX_ROWS", "MIN_ROWS", "PACK_KEYS", "STATS_AUTO_RECALC", "STATS_PERSISTENT",
		"STATS_SAMPLE_PAGES", "AUTOEXTEND_SIZE", "AUTO_ID_CACHE", "AUTO_RANDOM_BASE", "SHARD_ROW_ID_BITS",
		"PRE_SPLIT_REGIONS", "NODEGROUP",
	}
	tableHexOptions    = []string{"CHECKSUM", "TABLE_CHECKSUM", "DELAY_KEY_WRITE", "PACK_KEYS", "STATS_AUTO_RECALC", "STATS_PERSISTENT", "STATS_SAMPLE_PAGES"}
	tableStringOptions = []string{
		"COMMENT", "COMPRESSION", "CONNECTION", "ENCRYPTION", "PASSWORD", "ENGINE_ATTRIBUTE",
		"SECONDARY_ENGINE_ATTRIBUTE",
	}
	tableWordOptions = []string{
		"ENGINE", "ROW_FORMAT", "INSERT_METHOD", "SECONDARY_ENGINE",
	}
)

// tableOption parses one option, or returns false.
func (p *parser) tableOption(o *TableOption) bool {
	if p.tok.kind != tWord {
		return false
	}
	if p.isKw(kwDefault) {
		p.next()
		o.Default = true
	}
	if o.Kind = p.charsetWord(); o.Kind != "" {
		o.Equals = p.accept(tEq)
		o.Word = p.charset(p.wordOrDefault())
		return true
	}
	switch {
	case p.acceptKw(kwCollate):
		o.Kind = "COLLATE"
		o.Equals = p.accept(tEq)
		o.Word = p.collation(p.nameOrString())
		return true
	case o.Default:
		p.fail()
	}
	if p.isKw(kwUnion) && (p.peek(1).kind == tEq || p.peek(1).kind == tLParen && !p.startsQuery(2)) {
		p.unionOption(o)
		return true
	}
	return p.valueOption(o)
}

// valueOption parses the options of the three lists, and those with a storage
// or directory.
func (p *parser) valueOption(o *TableOption) bool {
	if o.Kind = p.oneOf(tableNumberOptions...); o.Kind != "" {
		o.Equals = p.accept(tEq)
		if p.isIdent() || p.isKw(kwDefault) {
			o.Word = p.wordOrDefault() // DEFAULT, or AUTOEXTEND_SIZE=4M.
		} else {
			o.Value = p.wholeNumber(slices.Contains(tableHexOptions, o.Kind))
		}
		return true
	}
	if o.Kind = p.oneOf(tableStringOptions...); o.Kind != "" {
		o.Equals = p.accept(tEq)
		o.Value = p.stringLiteral()
		return true
	}
	if o.Kind = p.oneOf(tableWordOptions...); o.Kind != "" {
		o.Equals = p.accept(tEq)
		if p.acceptKw(kwNull) {
			o.Word = "NULL"
		} else {
			o.Word = p.wordOrDefault()
		}
		return true
	}
	if o.Kind = p.oneOf("DATA", "INDEX"); o.Kind != "" {
		p.expectWord("DIRECTORY")
		o.Kind += " DIRECTORY"
		o.Equals = p.accept(tEq)
		o.Value = p.stringLiteral()
		return true
	}
	switch {
	case p.acceptWord("TABLESPACE"):
		o.Kind = "TABLESPACE"
		o.Equals = p.accept(tEq)
		o.Word = p.nameOrString()
		if p.acceptWord("STORAGE") {
			o.Storage = p.needOneOf("DISK", "MEMORY", "DEFAULT")
		}
	case p.acceptWord("STORAGE"):
		if p.acceptWord("ENGINE") {
			o.Kind = "STORAGE ENGINE"
			o.Equals = p.accept(tEq)
			o.Word = p.nameOrString()
			return true
		}
		o.Kind, o.Word = "STORAGE", p.needOneOf("DISK", "MEMORY", "DEFAULT")
	case p.acceptWords("START", "TRANSACTION"):
		o.Kind = "START TRANSACTION"
	default:
		return false
	}
	return true
}

// wholeNumber parses the number of an option. Of one with a decimal point or an exponent the digits before it count, as in MySQL.
func (p *parser) wholeNumber(hex bool) *Literal {
	switch {
	case p.is(tDecimal) || p.is(tFloat):
		lit := p.simpleLiteral().(*Literal)
		end := strings.IndexFunc(lit.Value, func(r rune) bool { return r < '0' || r > '9' })
		lit.Kind, lit.Value = LitInt, lit.Value[:end]
		if end == 0 {
			lit.Value = "0"
		}
		return lit
	case p.is(tHex) && hex:
		lit := p.literal().(*Literal)
		n, err := strconv.ParseUint("0"+lit.Value, 16, 64)
		if err != nil {
			n = math.MaxUint64
		}
		lit.Kind, lit.Value = LitInt, strconv.FormatUint(n, 10)
		return lit
	}
	return p.number()
}

// wordOrDefault parses a name, a string or the reserved word DEFAULT.
func (p *parser) wordOrDefault() string {
	if p.isKw(kwDefault) {
		p.next()
		return "DEFAULT"
	}
	return p.nameOrString()
}

// unionOption parses UNION [=] (tables) of MERGE tables.
func (p *parser) unionOption(o *TableOption) {
	p.next()
	o.Kind = "UNION"
	o.Equals = p.accept(tEq)
	p.expect(tLParen)
	if !p.is(tRParen) {
		o.Tables = p.objectNames()
	}
	p.expect(tRParen)
}

// partitionBy parses PARTITION BY ....
func (p *parser) partitionBy() *PartitionBy {
	b := &PartitionBy{Pos: Pos(p.next().pos)}
	p.expectKw(kwBy)
	p.partitionMethod(&b.Method)
	if p.acceptWord("PARTITIONS") {
		b.Parts = p.number()
	}
	if p.acceptWords("SUBPARTITION", "BY") {
		b.Sub = new(PartitionMethod)
		p.partitionMethod(b.Sub)
		if p.acceptWord("SUBPARTITIONS") {
			b.SubParts = p.number()
		}
	}
	if p.is(tLParen) {
		b.HasDefs = true
		b.Defs = p.partitionDefs("PARTITION")
	}
	return b
}

// partitionMethod parses [LINEAR] HASH|KEY|RANGE|LIST ....
func (p *parser) partitionMethod(m *PartitionMethod) {
	m.Linear = p.acceptKw(kwLinear)
	m.Kind = p.needOneOf("HASH", "KEY", "RANGE", "LIST")
	if m.Linear && (m.Kind == "RANGE" || m.Kind == "LIST") {
		p.fail()
	}
	if m.Kind == "KEY" {
		if p.acceptWord("ALGORITHM") {
			p.expect(tEq)
			m.Algorithm = p.number()
		}
		p.expect(tLParen)
		if !p.is(tRParen) {
			m.Columns = p.identList()
		}
		p.expect(tRParen)
		return
	}
	if m.Kind != "HASH" && p.acceptWord("COLUMNS") {
		m.IsColumns = true
		m.Columns = p.parenIdents()
		return
	}
	p.expect(tLParen)
	m.Expr = p.expr()
	p.expect(tRParen)
}

// partitionDefs parses (PARTITION p ..., ...). Subpartitions use it with their
// own word.
func (p *parser) partitionDefs(word string) []PartitionDef {
	p.expect(tLParen)
	var list []PartitionDef
	for {
		p.expectWord(word)
		d := PartitionDef{Name: p.identOrString()}
		if word == "PARTITION" {
			p.partitionValues(&d)
		}
		for {
			o := TableOption{Pos: p.pos()}
			if !p.valueOption(&o) {
				break
			}
			d.Options = append(d.Options, o)
		}
		if word == "PARTITION" && p.is(tLParen) {
			d.Subs = p.partitionDefs("SUBPARTITION")
		}
		list = append(list, d)
		if !p.accept(tComma) {
			break
		}
	}
	p.expect(tRParen)
	return list
}

// identOrString parses a partition name; subpartitions may be strings.
func (p *parser) identOrString() Ident {
	return Ident{Pos: p.pos(), Name: p.nameOrString()}
}

// partitionValues parses VALUES LESS THAN and VALUES IN.
func (p *parser) partitionValues(d *PartitionDef) {
	if !p.acceptKw(kwValues) {
		return
	}
	if p.acceptKw(kwIn) {
		p.expect(tLParen)
		d.InRows = p.boundList()
		p.expect(tRParen)
		return
	}
	p.expectWord("LESS", "THAN")
	if p.acceptKw(kwMaxvalue) {
		d.MaxValue = true
		return
	}
	p.expect(tLParen)
	d.LessThan = p.boundList()
	p.expect(tRParen)
}

// boundList parses expressions, among which MAXVALUE may stand.
func (p *parser) boundList() []Expr {
	var list []Expr
	for {
		if p.isKw(kwMaxvalue) {
			list = append(list, &MaxValue{Pos: Pos(p.next().pos)})
		} else {
			list = append(list, p.expr())
		}
		if !p.accept(tComma) {
			return list
		}
	}
}
