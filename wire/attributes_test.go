package wire

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/pandodb/pando/privilege/password"
	"github.com/pandodb/pando/types"
)

// TestAttributes: query attributes of both commands reach the session with their types, for one command alone; parameters stay what they are;
// and what is malformed is refused, in a COM_STMT_EXECUTE by the end of the connection, as without attributes.
func TestAttributes(t *testing.T) {
	s, _ := fuzzServer(t)
	const (
		text     = "\xfd\x00"
		number   = "\x08\x00"
		unsigned = "\x08\x80"
		null     = "\x06\x00"
		one      = "\x01\x00\x00\x00\x00\x00\x00\x00"
	)
	execute := func(id byte, flags, rest string) string {
		return "\x17" + string([]byte{id}) + "\x00\x00\x00" + flags + "\x01\x00\x00\x00" + rest
	}
	const closed = "closed"
	for _, c := range []struct {
		payload string
		want    string // a part of the answer
	}{
		{"\x03\x00\x01ATTRIBUTES", "\x00"},
		{"\x03\x02\x01\x00\x01" + text + "\x01a" + number + "\x01b\x03xyz" + one + "ATTRIBUTES", "a=text xyz;b=int 1;"},
		{"\x03\x03\x01\x02\x01" + unsigned + "\x00" + null + "\x01n" + text + "\x02aa" + one + "\x00ATTRIBUTES", "=uint 1;n= ;aa=text ;"},
		{"\x03\x00\x01ATTRIBUTES", "\x00"},
		{execute(1, "\x00", "\x02\x00\x01"+text+"\x00"+number+"\x00\x01p"+one), "text p"}, // counted, as the statement has parameters
		{execute(1, "\x08", "\x03\x00\x01"+text+"\x01x"+number+"\x00"+text+"\x01a\x01p"+one+"\x01q"), "text p"},
		{execute(1, "\x08", "\x02\x00\x00\x01r"+one), "text r"}, // types are known from before
		{execute(2, "\x08", "\x01\x00\x01"+text+"\x01a\x01q"), "a=text q;"},
		{execute(2, "\x08", "\x00"), "\x00"},
		{execute(2, "\x00", ""), "\x00"},
		{"\x03\x01\x02\x00\x01" + text + "\x01a\x01xOK", "Malformed"},
		{"\x03\x01\x01\x00\x00OK", "Malformed"},
		{"\x03\xfc\xff\xff\x01OK", "Malformed"},
		{"\x03\xfe\xff\xff\xff\xff\xff\xff\xff\xff\x01OK", "Malformed"},
		{"\x03\x01\x01\x00\x01" + text + "\x05aOK", "Malformed"},
		{"\x03\x01\x01\x00\x01" + text + "\x01a\x63OK", "Malformed"},
		{"\x03", "Malformed"},
		{execute(1, "\x00", "\x01\x00\x01"+text+"\x00\x01p"), closed}, // fewer than the statement has
		{execute(2, "\x08", "\x01\x00\x00\x01q"), closed},             // no types
		{execute(2, "\x08", "\x01\x00\x01"+text), closed},
	} {
		script := append([]byte{0, 0, 0, 1}, handshakeResponse(rawCaps|capQueryAttributes, "root", nil, password.Native)...)
		script[0] = byte(len(script) - headerBytes)
		for _, payload := range []string{"\x16ECHO ? ?", "\x16ATTRIBUTES", execute(1, "\x00", "\x02\x00\x01"+text+"\x00"+number+"\x00\x01-"+one), c.payload, "\x03\x00\x01NAMED 5"} {
			script = append(script, withHeader([]byte(payload))...)
		}
		out := play(s, script).out.Bytes()
		checkPackets(t, out)
		_, answer, _ := bytes.Cut(out, []byte("text -")) // what is before is the same for all
		if ended := !bytes.Contains(answer, []byte("nnnnn")); ended != (c.want == closed) || !ended && !bytes.Contains(answer, []byte(c.want)) {
			t.Errorf("%q: %q, want %q", c.payload, answer, c.want)
		}
	}
	if s.Counters().Panics > 0 {
		t.Error("panics")
	}
}

// TestConnectionAttributes: of a long list as much is kept as a MySQL 9.7 keeps, which also says how much is lost; one of more than 64 KiB is refused.
func TestConnectionAttributes(t *testing.T) {
	pair := func(name string, bytes int) []byte {
		return append(appendLenencString(nil, name), appendLenencString(nil, strings.Repeat("x", bytes))...)
	}
	for _, c := range []struct {
		list []byte
		kept int    // without attrsCut
		cut  string // its value
	}{
		{bytes.Repeat(pair("k", 0), 0), 0, ""},
		{append(pair("k0", 100), pair("k1", 100)...), 2, ""},
		{slices.Concat(pair("k0", 100), pair("k1", 100), pair("k2", 100), pair("k3", 100), pair("k4", 100)), 4, "26"},
		{pair("a", 509), 0, "20"},
		{pair("a", 600), 0, "111"},
		{slices.Concat(pair("a", 480), pair("b", 40), pair("c", 2)), 1, "39"},
		{pair("a", 65000), 0, "64511"},
		{slices.Concat(pair("a", 30000), pair("b", 30000), pair("c", 5530)), -1, ""},
	} {
		p := cursor{b: appendLenencString(nil, string(c.list))}
		attrs := parseAttrs(&p)
		if p.bad != (c.kept < 0) {
			t.Errorf("%d bytes: refused %v", len(c.list), p.bad)
		}
		if p.bad {
			continue
		}
		cut := attrs[attrsCut]
		delete(attrs, attrsCut)
		if cut != c.cut || len(attrs) != c.kept {
			t.Errorf("%d bytes: %d attributes, cut by %q", len(c.list), len(attrs), cut)
		}
	}
	p := cursor{b: appendLenencString(nil, string(pair(strings.Repeat("a", 40), 1)))}
	if attrs := parseAttrs(&p); attrs[strings.Repeat("a", 32)] != "x" {
		t.Errorf("%v", attrs)
	}
}

// TestArgumentsAreCounted: lists of attributes and of parameters, which are many times as large as in their packet, are charged, and given back.
func TestArgumentsAreCounted(t *testing.T) {
	const n = 60_000
	memory := &scarce{left: 1 << 20}
	h := &held{memory: memory}
	refused := func(err error) bool { e, ok := err.(*types.Error); return ok && e.Number == 8176 }
	var a attributes
	p := cursor{b: bytes.Repeat([]byte{6, 0, 0}, n)}
	if err := a.names(&p, n, 0, h); !refused(err) || cap(a.list) >= n {
		t.Errorf("attributes: %v, %d of them allocated", err, cap(a.list))
	}
	p = cursor{b: []byte{6, 0, 0}}
	if err := a.names(&p, n, 0, h); err != errMalformed || cap(a.list) >= n {
		t.Errorf("attributes that are announced only: %v, %d of them allocated", err, cap(a.list))
	}
	s, args := &stmt{params: n, types: make([]uint16, n), bound: true}, new(Args)
	body := append(bytes.Repeat([]byte{0xff}, (n+7)/8), 0)
	if err := s.parseArgs(args, body, types.DefaultCollation, h); !refused(err) || cap(args.Values) >= n {
		t.Errorf("parameters: %v, %d of them allocated", err, cap(args.Values))
	}
	memory.left = 64 << 20
	if err := s.parseArgs(args, body, types.DefaultCollation, h); err != nil || len(args.Values) != n || memory.left > 64<<20-int64(n*argBytes) {
		t.Errorf("parameters that fit: %v, %d of them, %d bytes left", err, len(args.Values), memory.left)
	}
	if h.close(); memory.left != 64<<20 {
		t.Errorf("%d bytes are left", memory.left)
	}
}
