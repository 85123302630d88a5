package syntax

import (
	"slices"
	"strings"
)

// This file interprets the grammar of loose_table.go. A rule is text:
//
//	WORD        the keyword, kept as LooseWord
//	name        (lower case) one of the atoms of looseAtoms
//	( ) , = . * + - < >   the punctuation itself
//	[ ... ]     optional; [ ... ]* any number of times
//	{ a | b }   one alternative; { ... }* a list separated by commas
//
// Rules are LL(1) up to the words: an alternative is taken when its first
// element matches the current token, without going back.

// looseOp is the kind of a compiled rule element.
type looseOp uint8

const (
	opWord looseOp = iota
	opPunct
	opAtom
	opSeq
	opAlt
	opOptional
	opRepeat
	opCommaList
)

// looseNode is an element of a compiled rule.
type looseNode struct {
	op    looseOp
	text  string
	kind  tokenKind
	atom  looseAtom
	items []*looseNode
}

// looseAtom parses one atom and appends it to the tree; starts reports whether
// the current token can begin it.
type looseAtom struct {
	starts func(p *parser) bool
	parse  func(p *parser, out *Loose)
}

// loosePunct maps the punctuation of rules to tokens.
var loosePunct = map[string]tokenKind{
	"(": tLParen, ")": tRParen, ",": tComma, "=": tEq, ".": tDot, "-": tMinus, "+": tPlus, "*": tStar,
	"<": tLt, ":": tColon, ">": tGt, "<=": tLe, ">=": tGe, ":=": tAssign,
}

// addExpr, addName and addNode append parts.
func (l *Loose) addExpr(x Expr) {
	l.Parts = append(l.Parts, LoosePart{Kind: LooseExpr, Expr: x, Pos: x.Start()})
}

func (l *Loose) addName(i Ident) {
	l.Parts = append(l.Parts, LoosePart{Kind: LooseName, Text: i.Name, Pos: i.Pos})
}

func (l *Loose) addText(kind LooseKind, text string, pos int32) {
	l.Parts = append(l.Parts, LoosePart{Kind: kind, Text: text, Pos: Pos(pos)})
}

// conditionItems are the condition information items of SIGNAL and GET DIAGNOSTICS, without SQLSTATE.
var conditionItems = []string{"CLASS_ORIGIN", "SUBCLASS_ORIGIN", "CONSTRAINT_CATALOG", "CONSTRAINT_SCHEMA", "CONSTRAINT_NAME", "CATALOG_NAME",
	"SCHEMA_NAME", "TABLE_NAME", "COLUMN_NAME", "CURSOR_NAME", "MESSAGE_TEXT", "MYSQL_ERRNO"}

// looseAtoms are the lower-case names that rules may use.
var looseAtoms map[string]looseAtom

func init() {
	isKind := func(kinds ...tokenKind) func(*parser) bool {
		return func(p *parser) bool {
			for _, k := range kinds {
				if p.is(k) {
					return true
				}
			}
			return false
		}
	}
	anything := func(p *parser) bool { return !p.is(tEOF) && !p.is(tSemi) }
	looseAtoms = map[string]looseAtom{
		"name": {func(p *parser) bool { return p.isIdent() }, func(p *parser, l *Loose) { l.addName(p.ident()) }},
		"label": {func(p *parser) bool { return p.isIdent() || p.is(tString) }, func(p *parser, l *Loose) {
			l.addName(p.identOrString())
		}},
		"table": {func(p *parser) bool { return p.isIdent() }, func(p *parser, l *Loose) {
			l.addName(p.ident())
			if p.is(tDot) {
				l.addText(LoosePunct, ".", p.next().pos)
				l.addName(p.ident())
			}
		}},
		"word": {isKind(tWord), func(p *parser, l *Loose) {
			t := p.next()
			l.addText(LooseWord, toUpperASCII(p.text(t)), t.pos)
		}},
		"str":   {isKind(tString), func(p *parser, l *Loose) { l.addExpr(p.stringLiteral()) }},
		"text":  {isKind(tString, tHex, tBit), func(p *parser, l *Loose) { l.addExpr(p.textLiteral()) }},
		"num":   {isKind(tInt), func(p *parser, l *Loose) { l.addExpr(p.number()) }},
		"expr":  {anything, func(p *parser, l *Loose) { l.addExpr(p.expr()) }},
		"value": {isKind(tInt, tDecimal, tFloat, tString, tNString, tHex, tBit, tUserVar, tAtAt, tWord, tQuoted), looseValue},
		"target": {func(p *parser) bool { return p.is(tUserVar) || p.isIdent() }, func(p *parser, l *Loose) {
			if p.is(tUserVar) {
				l.addExpr(p.userVariableName())
			} else {
				l.addName(p.ident())
			}
		}},
		"item": {func(p *parser) bool { return slices.ContainsFunc(conditionItems, p.isWord) }, func(p *parser, l *Loose) {
			t := p.next()
			l.addText(LooseWord, toUpperASCII(p.text(t)), t.pos)
		}},
		"account": {anything, looseAccount},
		"group":   {isKind(tLParen), looseGroup},
	}
}

// looseValue appends a literal, a variable or a name, where MySQL's grammar allows no other expression.
func looseValue(p *parser, l *Loose) {
	switch {
	case p.is(tUserVar):
		l.addExpr(p.userVariableName())
	case p.peek(1).kind == tLParen:
		p.next()
		p.fail()
	default:
		l.addExpr(p.primary())
	}
}

// looseAccount appends an account as a name with its host.
func looseAccount(p *parser, l *Loose) {
	pos := p.tok.pos
	a := p.account()
	if a.Current {
		l.addText(LooseWord, "CURRENT_USER", pos)
		return
	}
	l.addName(Ident{Name: a.User, Pos: a.Pos})
	if a.HasHost {
		l.addExpr(&UserVariable{Pos: a.Pos, Name: a.Host})
	}
}

// looseGroup appends a balanced parenthesis of any tokens.
func looseGroup(p *parser, l *Loose) {
	depth := 0
	for {
		t := p.tok
		switch t.kind {
		case tEOF, tSemi, tIllegal:
			p.fail()
		case tString, tHex, tBit:
			l.addExpr(p.literal())
			continue
		case tUserVar:
			l.addExpr(p.userVariable())
			continue
		case tInt, tDecimal, tFloat:
			l.addExpr(p.simpleLiteral())
			continue
		case tQuoted:
			l.addName(p.ident())
			continue
		case tLParen:
			depth++
		case tRParen:
			depth--
		}
		p.next()
		kind := LoosePunct
		if t.kind == tWord {
			kind = LooseWord
		}
		l.addText(kind, p.text(t), t.pos)
		if depth == 0 {
			return
		}
	}
}

// compileLoose compiles a rule.
func compileLoose(rule string) *looseNode {
	words := strings.Fields(rule)
	n, rest := compileSeq(words)
	if len(rest) != 0 {
		panic("syntax: unbalanced rule " + rule)
	}
	return n
}

// compileSeq compiles elements up to a closing bracket or a bar.
func compileSeq(words []string) (*looseNode, []string) {
	seq := &looseNode{op: opSeq}
	for len(words) > 0 {
		var item *looseNode
		switch w := words[0]; w {
		case "]", "]*", "}", "}*", "|":
			return seq, words
		case "[", "{":
			item, words = compileGroup(words)
		default:
			item, words = compileAtom(w), words[1:]
		}
		seq.items = append(seq.items, item)
	}
	return seq, nil
}

// compileGroup compiles [ ... ] and { ... | ... } with their stars.
func compileGroup(words []string) (*looseNode, []string) {
	optional := words[0] == "["
	alt := &looseNode{op: opAlt}
	words = words[1:]
	for {
		var item *looseNode
		item, words = compileSeq(words)
		alt.items = append(alt.items, item)
		if len(words) == 0 {
			panic("syntax: unbalanced rule")
		}
		if words[0] != "|" {
			break
		}
		words = words[1:]
	}
	n := alt
	switch words[0] {
	case "]":
		n = &looseNode{op: opOptional, items: []*looseNode{alt}}
	case "]*":
		n = &looseNode{op: opRepeat, items: []*looseNode{alt}}
	case "}*":
		n = &looseNode{op: opCommaList, items: []*looseNode{alt}}
	}
	if optional != (words[0][0] == ']') {
		panic("syntax: unbalanced rule")
	}
	return n, words[1:]
}

// compileAtom compiles a word, punctuation or atom.
func compileAtom(w string) *looseNode {
	if kind, ok := loosePunct[w]; ok {
		return &looseNode{op: opPunct, text: w, kind: kind}
	}
	if atom, ok := looseAtoms[w]; ok {
		return &looseNode{op: opAtom, atom: atom}
	}
	if w != strings.ToUpper(w) {
		panic("syntax: unknown atom " + w)
	}
	return &looseNode{op: opWord, text: w}
}

// starts reports whether the current token can begin n. A sequence may also begin
// with the element after its leading optional ones.
func (n *looseNode) starts(p *parser) bool {
	switch n.op {
	case opWord:
		return p.isWord(n.text)
	case opPunct:
		return p.is(n.kind)
	case opAtom:
		return n.atom.starts(p)
	case opSeq:
		for _, item := range n.items {
			if item.starts(p) {
				return true
			}
			if item.op != opOptional && item.op != opRepeat {
				return false
			}
		}
		return false
	case opAlt, opOptional, opRepeat, opCommaList:
		for _, item := range n.items {
			if item.starts(p) {
				return true
			}
		}
	}
	return false
}

// match parses n into out.
func (n *looseNode) match(p *parser, out *Loose) {
	switch n.op {
	case opWord:
		pos := p.tok.pos
		p.expectWord(n.text)
		out.addText(LooseWord, n.text, pos)
	case opPunct:
		out.addText(LoosePunct, n.text, p.expect(n.kind).pos)
	case opAtom:
		if !n.atom.starts(p) {
			p.fail()
		}
		n.atom.parse(p, out)
	case opSeq:
		for _, item := range n.items {
			item.match(p, out)
		}
	case opAlt:
		for _, item := range n.items {
			if item.starts(p) {
				item.match(p, out)
				return
			}
		}
		p.fail()
	case opOptional:
		if n.items[0].starts(p) {
			n.items[0].match(p, out)
		}
	case opRepeat:
		for n.items[0].starts(p) {
			n.items[0].match(p, out)
		}
	case opCommaList:
		n.items[0].match(p, out)
		for p.is(tComma) {
			out.addText(LoosePunct, ",", p.next().pos)
			n.items[0].match(p, out)
		}
	}
}

// looseRule is the grammar of one kind. prefix is the text that the caller has
// consumed and the printer must give back.
type looseRule struct {
	kind   string
	prefix string
	rule   string
	node   *looseNode
}

// looseRules indexes looseTable by kind, looseVerbs by the first word of rules
// that statements may begin with.
var (
	looseRules = map[string]*looseRule{}
	looseVerbs = map[string]*looseRule{}
)

func init() {
	for i := range looseTable {
		r := &looseTable[i]
		r.node = compileLoose(r.rule)
		looseRules[r.kind] = r
		if r.prefix == "" && r.kind != "PROFILE" && r.kind != "FACTOR" {
			looseVerbs[strings.Fields(r.kind)[0]] = r
		}
	}
}

// looseHas reports whether the rule of a kind has an alternative that begins
// with the word.
func looseHas(kind, word string) bool {
	for _, item := range looseRules[kind].node.items[0].items {
		first := item.items[0]
		if first.op == opWord && foldEqual(word, first.text) {
			return true
		}
	}
	return false
}

// loose parses the rest of a statement by the rule of a kind.
func (p *parser) loose(pos Pos, kind string) *Loose {
	r := looseRules[kind]
	l := &Loose{Pos: pos, Kind: kind}
	if r.prefix != "" {
		l.addText(LooseWord, r.prefix, int32(pos))
	}
	r.node.match(p, l)
	if kind == "CREATE" || kind == "ALTER" || kind == "DROP" || kind == "SHOW" {
		l.Kind = looseKind(l)
	}
	return l
}

// looseStatement parses a statement whose first word alone names its rule.
func (p *parser) looseStatement() Statement {
	if p.tok.kind != tWord {
		p.fail()
	}
	r := looseVerbs[toUpperASCII(p.text(p.tok))]
	if r == nil {
		p.fail()
	}
	return p.loose(p.pos(), r.kind)
}

// looseKind names a statement by its leading words, at most three.
func looseKind(l *Loose) string {
	var words []string
	for _, part := range l.Parts {
		if part.Kind != LooseWord || len(words) == 3 {
			break
		}
		words = append(words, part.Text)
	}
	return strings.Join(words, " ")
}
