package server

import (
	"strings"
	"testing"
	"time"

	"github.com/pandodb/pando/clock"
	"github.com/pandodb/pando/infoschema"
)

// TestFacts: what a node tells of itself arrives, its start as the time since then; what is malformed is an error.
func TestFacts(t *testing.T) {
	f := infoschema.StoreFacts{SQL: "a:1", Status: "http://a:2", Version: "v", Capacity: 5, Available: 3, Start: clock.Now().Add(-time.Hour)}
	b, err := encodeFacts(&f)
	if err != nil {
		t.Fatal(err)
	}
	got, err := decodeFacts(b)
	if err != nil {
		t.Fatal(err)
	}
	if off := got.Start.Sub(f.Start).Abs(); off > time.Minute {
		t.Errorf("the start is %v off", off)
	}
	if got.Start = f.Start; *got != f {
		t.Errorf("%+v became %+v", f, *got)
	}
	for _, text := range []string{"", "{", `{"capacity":-1}`, `{"available":-1}`, `{"seconds":-1}`, `{"seconds":9223372036854775807}`, `{"version":"` + strings.Repeat("v", factBytesMax) + `"}`} {
		if f, err := decodeFacts([]byte(text)); err == nil {
			t.Errorf("%q is %+v", text, f)
		}
	}
}
