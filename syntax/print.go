package syntax

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// String returns the canonical text of a node: keywords in upper case, names in
// backquotes, strings in single quotes with backslash escapes. Under the default
// sql_mode it parses to the same tree, except that || of PIPES_AS_CONCAT needs that
// mode. It prints only the parentheses of the tree's Paren nodes: a tree that was
// not made by Parse needs them where precedence demands.
func String(n Node) string {
	p := printer{}
	p.node(n)
	return string(p.buf)
}

// briefBytesMax bounds the bytes that Brief returns.
const briefBytesMax = 64

// Brief returns the beginning of String's text, for error messages that name a construct. It does not hide passwords.
func Brief(n Node) string {
	p := printer{}
	p.node(n)
	return brief(p.buf)
}

// BriefType is Brief of a column's type.
func BriefType(d *DataType) string {
	p := printer{}
	p.dataType(d)
	return brief(p.buf)
}

// BriefOption is Brief of a column's attribute.
func BriefOption(o *ColumnOption) string {
	p := printer{}
	p.columnOption(o)
	return brief(p.buf)
}

// BriefAction is Brief of an action of ALTER TABLE.
func BriefAction(a *AlterSpec) string {
	p := printer{}
	p.alterSpec(a)
	return brief(p.buf)
}

func brief(b []byte) string {
	if len(b) <= briefBytesMax {
		return strings.TrimSpace(string(b))
	}
	b = b[:briefBytesMax]
	for len(b) > 0 && !utf8.Valid(b) {
		b = b[:len(b)-1]
	}
	return strings.TrimSpace(string(b)) + "…"
}

// secretText replaces strings in texts that other users may read.
const secretText = "<secret>"

// Shown returns the text of a statement for the process list and logs, which other users may read: the given text, unless the statement may contain a
// password. Then it is printed with all its strings replaced, also those that cannot be passwords, such as comments: a list of clauses with passwords
// could miss one.
func Shown(s Statement, text string) string {
	hide := false
	switch s := s.(type) {
	case *CreateUser, *SetPassword, *Grant:
		hide = true
	case *Loose: // statements on replication, servers and clones may have passwords
		hide = true
	case *Prepare:
		hide = s.Text != nil // the prepared text may contain a password and need not be valid
	}
	if !hide {
		return text
	}
	p := printer{hide: true}
	p.node(s)
	return string(p.buf)
}

// printer builds the text. Its methods separate tokens by single spaces.
type printer struct {
	buf  []byte
	hide bool // strings are secretText
}

// space ends the previous token.
func (p *printer) space() {
	if n := len(p.buf); n > 0 {
		switch p.buf[n-1] {
		case ' ', '(', '.', '@':
		default:
			p.buf = append(p.buf, ' ')
		}
	}
}

// raw appends text to the previous token.
func (p *printer) raw(s string) { p.buf = append(p.buf, s...) }

// k appends keywords, each one unless empty.
func (p *printer) k(words ...string) {
	for _, w := range words {
		if w != "" {
			p.space()
			p.raw(w)
		}
	}
}

// when appends a keyword under a condition.
func (p *printer) when(cond bool, word string) {
	if cond {
		p.k(word)
	}
}

// id appends a quoted name.
func (p *printer) id(name string) {
	p.space()
	p.buf = appendQuoted(p.buf, name)
}

// appendQuoted appends a name in backquotes.
func appendQuoted(dst []byte, name string) []byte {
	dst = append(dst, '`')
	for i := 0; i < len(name); i++ {
		if name[i] == '`' {
			dst = append(dst, '`')
		}
		dst = append(dst, name[i])
	}
	return append(dst, '`')
}

// optID appends a name unless it is empty.
func (p *printer) optID(name string) {
	if name != "" {
		p.id(name)
	}
}

// str appends a string literal.
func (p *printer) str(s string) {
	p.space()
	p.buf = appendString(p.buf, s)
}

// appendString appends a string in single quotes.
func appendString(dst []byte, s string) []byte {
	dst = append(dst, '\'')
	for i := 0; i < len(s); i++ {
		switch c := s[i]; c {
		case 0:
			dst = append(dst, '\\', '0')
		case '\n':
			dst = append(dst, '\\', 'n')
		case '\r':
			dst = append(dst, '\\', 'r')
		case 26:
			dst = append(dst, '\\', 'Z')
		case '\'', '\\':
			dst = append(dst, '\\', c)
		default:
			dst = append(dst, c)
		}
	}
	return append(dst, '\'')
}

// num appends a number.
func (p *printer) num(n int64) {
	p.space()
	p.buf = strconv.AppendInt(p.buf, n, 10)
}

// eq appends an equals sign where one was written.
func (p *printer) eq(written bool) { p.when(written, "=") }

// list appends n elements separated by commas.
func (p *printer) list(n int, each func(i int)) {
	for i := 0; i < n; i++ {
		if i > 0 {
			p.raw(",")
		}
		each(i)
	}
}

// paren appends n elements in parentheses.
func (p *printer) paren(n int, each func(i int)) {
	p.k("(")
	p.list(n, each)
	p.raw(")")
}

// idents appends names; parenIdents puts them in parentheses.
func (p *printer) idents(l []Ident) { p.list(len(l), func(i int) { p.id(l[i].Name) }) }

func (p *printer) parenIdents(l []Ident) { p.paren(len(l), func(i int) { p.id(l[i].Name) }) }

// object appends a qualified name.
func (p *printer) object(o ObjectName) {
	if o.Schema != "" {
		p.id(o.Schema)
		p.raw(".")
	}
	p.id(o.Name)
}

// objects appends qualified names.
func (p *printer) objects(l []ObjectName) { p.list(len(l), func(i int) { p.object(l[i]) }) }

// exprs appends expressions; parenExprs puts them in parentheses.
func (p *printer) exprs(l []Expr) { p.list(len(l), func(i int) { p.expr(l[i]) }) }

func (p *printer) parenExprs(l []Expr) { p.paren(len(l), func(i int) { p.expr(l[i]) }) }

// optExpr appends words and an expression unless it is nil.
func (p *printer) optExpr(words string, x Expr) {
	if x != nil {
		p.k(words)
		p.expr(x)
	}
}

// optLit appends words and a literal unless it is nil.
func (p *printer) optLit(words string, x *Literal) {
	if x != nil {
		p.k(words)
		p.expr(x)
	}
}

// userVar appends @name, quoted unless it is plain.
func (p *printer) userVar(name string) {
	p.space()
	p.raw("@")
	p.buf = appendQuoted(p.buf, name)
}

// account appends an account in backquotes.
func (p *printer) account(a Account) {
	if a.Current {
		if a.UserFunc {
			p.k("USER")
		} else {
			p.k("CURRENT_USER")
		}
		if a.Parens {
			p.raw("()")
		}
		return
	}
	if a.User == "" {
		p.str("") // An empty name exists only as a string.
	} else {
		p.id(a.User)
	}
	if a.HasHost {
		p.raw("@")
		if a.Host == "" {
			p.raw("''")
		} else {
			p.buf = appendQuoted(p.buf, a.Host)
		}
	}
}

// accounts appends a list of accounts.
func (p *printer) accounts(l []Account) { p.list(len(l), func(i int) { p.account(l[i]) }) }

// charset appends a character set or collation, which may be a reserved word.
func (p *printer) charset(name string) {
	if foldEqual(name, "DEFAULT") || foldEqual(name, "BINARY") {
		p.k(name)
		return
	}
	p.id(name)
}

// node appends any node.
func (p *printer) node(n Node) {
	switch n := n.(type) {
	case Expr:
		p.expr(n)
	case Statement:
		p.statement(n)
	case TableExpr:
		p.table(n)
	case QueryBody:
		p.body(n)
	case TableElement:
		p.element(n)
	case SetItem:
		p.setItem(n)
	}
}
