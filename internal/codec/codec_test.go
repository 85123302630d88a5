package codec

import (
	"bytes"
	"reflect"
	"testing"

	"github.com/pandodb/pando/kvapi"
)

// TestFields: what was appended is taken; each prefix of it, and bytes behind it, are refused.
func TestFields(t *testing.T) {
	span := kvapi.Span{Start: []byte("a"), End: []byte("b")}
	list := []kvapi.Mutation{{Key: []byte("k"), Value: []byte("v"), Shadow: kvapi.ShadowAt, Prev: 7, PrevLen: 3}}
	b := AppendUint(nil, 300)
	b = AppendBool(b, true)
	b = AppendOptional(AppendBytes(b, "text"), nil)
	b = AppendSpan(AppendKeys(b, [][]byte{[]byte("x"), {}}), span)
	b = AppendMutations(b, list)
	read := func(b []byte) (got []any, err error) {
		d := NewDecoder(b)
		got = []any{d.Uint32(), d.Bool(), d.Text(4), d.Optional(), d.Keys(), d.Span(), d.Mutations()}
		return got, d.End()
	}
	got, err := read(b)
	if want := []any{uint32(300), true, "text", []byte(nil), [][]byte{[]byte("x"), {}}, span, list}; err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%v %v", got, err)
	}
	for n := range b {
		if _, err := read(b[:n]); err == nil {
			t.Errorf("%d of %d bytes are taken", n, len(b))
		}
	}
	if _, err := read(append(b, 0)); err == nil {
		t.Error("bytes behind the end are taken")
	}
}

// TestRefused: values with another encoding than theirs, and counts that the bytes can't hold.
func TestRefused(t *testing.T) {
	for name, read := range map[string]func(d *Decoder){
		"a number in a longer form": func(d *Decoder) { *d = NewDecoder([]byte{0x80, 0}); d.Uint() },
		"a number of 33 bits":       func(d *Decoder) { *d = NewDecoder(AppendUint(nil, uint64(1)<<32)); d.Uint32() },
		"a bool of 2":               func(d *Decoder) { *d = NewDecoder([]byte{2}); d.Bool() },
		"a count beyond the bytes":  func(d *Decoder) { *d = NewDecoder(append(AppendUint(nil, 5), 1, 2, 3, 4)); d.Count(1) },
		"a count beyond the limit": func(d *Decoder) {
			*d = NewDecoder(append(AppendUint(nil, listMax+1), bytes.Repeat([]byte{0}, 9)...))
			d.Count(0)
		},
		"a text that is too long": func(d *Decoder) { *d = NewDecoder(AppendBytes(nil, "12345")); d.Text(4) },
	} {
		var d Decoder
		if read(&d); d.Err() == nil {
			t.Errorf("%s is taken", name)
		}
		if d.Uint() != 0 || d.Bytes() == nil || d.Rest() != nil {
			t.Errorf("%s: fields behind the fault are not zero", name)
		}
	}
}
