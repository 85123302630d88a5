package expr

import (
	"bytes"
	"fmt"
	"math"
)

// EXTRACTVALUE and UPDATEXML parse XML as MySQL does (strings/xml.cc), not as the standard demands: an end tag may have any name, entities are not
// expanded, and error messages name tokens and positions as MySQL's do.

type xmlKind uint8

const (
	xmlTag xmlKind = iota
	xmlAttribute
	xmlText
)

// xmlNode is a node of a document. The nodes are in a slice in document order; node 0 is the document itself. name and text borrow from the
// document.
type xmlNode struct {
	kind   xmlKind
	parent int32
	next   int32 // the first node behind the descendants of this one
	name   []byte
	text   []byte // of xmlText
	// start and end are the byte positions of the node in the document, including its tags or its name.
	start, end int
}

// xmlNodesMax bounds the nodes of a document, whose numbers are 32-bit integers.
const xmlNodesMax = math.MaxInt32 / 2

// xmlNodeBytes estimates the memory of a node.
const xmlNodeBytes = 96

type xmlToken uint8

const (
	xmlEOF xmlToken = iota
	xmlString
	xmlIdent
	xmlComment
	xmlCData
	xmlUnknown
	xmlChar // a single character of ?</>=!, which is the token's text
)

// xmlParser parses a document.
type xmlParser struct {
	s     []byte
	at    int
	nodes []xmlNode
	open  []int32               // nodes that are not closed yet, the document first
	text  []byte                // of the last token
	begin int                   // position of the last token
	fault string                // the syntax error
	grow  func(nodes int) error // counts memory for more nodes; may be nil
	err   error                 // from grow
}

// parseXML returns the nodes of a document, or in fault why it is not well formed. err is what grow returned.
func parseXML(s []byte, grow func(nodes int) error) (nodes []xmlNode, fault string, err error) {
	p := &xmlParser{s: s, grow: grow}
	p.nodes = append(p.nodes, xmlNode{end: len(s)})
	p.open = append(p.open, 0)
	for p.at < len(s) && p.fault == "" && p.err == nil {
		if s[p.at] == '<' {
			p.markup()
		} else {
			end := bytes.IndexByte(s[p.at:], '<')
			if end < 0 {
				end = len(s) - p.at
			}
			p.value(p.at, p.at+end, s[p.at:p.at+end])
			p.at += end
		}
	}
	if p.fault == "" && len(p.open) > 1 {
		p.fault = "unexpected END-OF-INPUT"
	}
	if p.fault != "" {
		line := bytes.Count(s[:p.at], []byte("\n"))
		column := p.at - max(bytes.LastIndexByte(s[:p.at], '\n'), 0) + 1 // MySQL counts from the line break
		return nil, fmt.Sprintf("parse error at line %d pos %d: %s", line+1, column, p.fault), p.err
	}
	p.nodes[0].next = int32(len(p.nodes))
	return p.nodes, "", p.err
}

// enter opens a node within the innermost open one and returns its number.
func (p *xmlParser) enter(kind xmlKind, name []byte, start int) int32 {
	if len(p.nodes) >= xmlNodesMax {
		p.fault = "too many nodes"
		return 0
	}
	if p.grow != nil && len(p.nodes)&1023 == 0 {
		p.err = p.grow(1024)
	}
	n := int32(len(p.nodes))
	p.nodes = append(p.nodes, xmlNode{kind: kind, parent: p.open[len(p.open)-1], name: name, start: start})
	p.open = append(p.open, n)
	return n
}

// leave closes the innermost open node. name is that of the end tag, for the message if there is none.
func (p *xmlParser) leave(name []byte) bool {
	if len(p.open) == 1 {
		p.fault = fmt.Sprintf("'</%s>' unexpected (END-OF-INPUT wanted)", name)
		return false
	}
	n := p.open[len(p.open)-1]
	p.open = p.open[:len(p.open)-1]
	p.nodes[n].next, p.nodes[n].end = int32(len(p.nodes)), p.at
	return true
}

// value adds a text node, which in the document is from start to end.
func (p *xmlParser) value(start, end int, text []byte) {
	if start == end {
		return
	}
	n := p.enter(xmlText, nil, start)
	if p.fault == "" {
		p.open = p.open[:len(p.open)-1]
		p.nodes[n].text, p.nodes[n].end, p.nodes[n].next = text, end, n+1
	}
}

// scan reads the next token: its text is in p.text, its position in p.begin.
func (p *xmlParser) scan() xmlToken {
	for p.at < len(p.s) && (p.s[p.at] == ' ' || p.s[p.at] == '\t' || p.s[p.at] == '\r' || p.s[p.at] == '\n') {
		p.at++
	}
	p.begin = p.at
	if p.at == len(p.s) {
		return xmlEOF
	}
	rest := p.s[p.at:]
	until := func(open, end string) bool {
		if !bytes.HasPrefix(rest, []byte(open)) {
			return false
		}
		at := bytes.Index(rest[len(open):], []byte(end))
		if at < 0 {
			if p.text, p.at = rest[len(open):], len(p.s); len(end) > 1 {
				p.fault = "unexpected END-OF-INPUT"
			}
		} else {
			p.text = rest[len(open) : len(open)+at]
			p.at += len(open) + at + len(end)
		}
		return true
	}
	c := rest[0]
	switch {
	case until("<!--", "-->"):
		return xmlComment
	case until("<![CDATA[", "]]>"):
		return xmlCData
	case bytes.IndexByte([]byte("?</>=!"), c) >= 0:
		p.text, p.at = rest[:1], p.at+1
		return xmlChar
	case c == '"' || c == '\'':
		until(string(c), string(c))
		return xmlString
	case xmlNameByte(c, true):
		n := 1
		for n < len(rest) && xmlNameByte(rest[n], false) {
			n++
		}
		p.text, p.at = rest[:n], p.at+n
		return xmlIdent
	}
	return xmlUnknown
}

func xmlNameByte(c byte, first bool) bool {
	switch {
	case c|0x20 >= 'a' && c|0x20 <= 'z', c == '_', c == ':', c >= 0x80:
		return true
	}
	return !first && (c >= '0' && c <= '9' || c == '-' || c == '.')
}

func (p *xmlParser) isChar(t xmlToken, c byte) bool { return t == xmlChar && p.text[0] == c }

// unexpected sets the syntax error for a token that is not the wanted one.
func (p *xmlParser) unexpected(t xmlToken, wanted string) {
	name := map[xmlToken]string{xmlEOF: "END-OF-INPUT", xmlString: "STRING", xmlIdent: "IDENT", xmlComment: "COMMENT", xmlCData: "CDATA",
		xmlUnknown: "unknown token"}[t]
	if t == xmlChar {
		name = "'" + string(p.text) + "'"
	}
	p.fault = name + " unexpected (" + wanted + " wanted)"
}

// markup parses what begins with <: a tag, a comment, CDATA, a declaration or a processing instruction.
func (p *xmlParser) markup() {
	start := p.at
	switch t := p.scan(); t {
	case xmlComment:
		return
	case xmlCData:
		p.value(start, p.at, p.text)
		return
	}
	t := p.scan()
	declaration, instruction := p.isChar(t, '!'), p.isChar(t, '?')
	switch {
	case p.isChar(t, '/'):
		p.endTag()
		return
	case declaration || instruction:
		if t = p.scan(); t != xmlIdent {
			p.unexpected(t, "ident")
			return
		}
	case t != xmlIdent:
		p.unexpected(t, "ident or '/'")
		return
	}
	node := p.enter(xmlTag, p.text, start)
	t = p.attributes(declaration)
	if p.fault != "" {
		return
	}
	if p.isChar(t, '/') {
		p.leave(nil)
		t = p.scan()
	}
	if instruction {
		if !p.isChar(t, '?') {
			p.unexpected(t, "'?'")
			return
		}
		p.leave(nil)
		t = p.scan()
	}
	if declaration {
		p.leave(nil)
	}
	if !p.isChar(t, '>') {
		p.unexpected(t, "'>'")
		return
	}
	if p.nodes[node].end > 0 { // it is closed already, because it has no content: the > belongs to it
		p.nodes[node].end = p.at
	}
}

func (p *xmlParser) endTag() {
	t := p.scan()
	if t != xmlIdent {
		p.unexpected(t, "ident")
		return
	}
	node := p.open[len(p.open)-1]
	if !p.leave(p.text) {
		return
	}
	if t = p.scan(); !p.isChar(t, '>') {
		p.unexpected(t, "'>'")
		return
	}
	p.nodes[node].end = p.at
}

// attributes parses the attributes of a tag and returns the token behind them.
func (p *xmlParser) attributes(declaration bool) xmlToken {
	for {
		t := p.scan()
		if t != xmlIdent && !(t == xmlString && declaration) {
			return t
		}
		name, start := p.text, p.begin
		switch t = p.scan(); {
		case p.isChar(t, '='):
			if t = p.scan(); t != xmlIdent && t != xmlString {
				p.unexpected(t, "ident or string")
				return t
			}
			value, begin := p.text, p.begin
			p.enter(xmlAttribute, name, start)
			p.value(begin, p.at, value)
			p.leave(nil)
		case t == xmlIdent:
			p.enter(xmlAttribute, name, start)
			p.leave(nil)
		case t == xmlString && declaration:
		default:
			return t
		}
		if p.fault != "" || p.err != nil {
			return t
		}
	}
}
