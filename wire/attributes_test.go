package wire

import (
	"bytes"
	"testing"

	"github.com/pandodb/pando/privilege/password"
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
