package syntax

import (
	"runtime"
	"strings"
	"testing"
	"unicode/utf8"
)

// restore puts the lifted literals back into a normalised text.
func restore(n *Normalized) string {
	var b strings.Builder
	var l lexer
	l.init(string(n.Text), &Options{})
	end, i := 0, 0
	for t := l.next(); t.kind != tEOF && t.kind != tIllegal; t = l.next() {
		b.Write(n.Text[end:t.pos])
		if t.kind == tParam {
			b.WriteString(n.source[n.Literals[i].Start:n.Literals[i].End])
			i++
		} else {
			b.Write(n.Text[t.pos:t.end])
		}
		end = int(t.end)
	}
	return b.String()
}

// TestNormalizeRestores checks on the corpus that the text and the literals
// together are the statement, and that its placeholders parse in their order.
func TestNormalizeRestores(t *testing.T) {
	names, texts := corpus(t)
	var n Normalized
	accepted := 0
	for i, sql := range texts {
		if !Normalize(sql, Options{}, &n) {
			continue
		}
		accepted++
		if d := diffTokens(normalTokens(t, sql), normalTokens(t, restore(&n))); d != "" {
			t.Errorf("%s: %s\n\tnormalised as %s\n\t%s", names[i], sql, n.Text, d)
		}
		if _, _, err := Parse(string(n.Text), Options{}); err != nil {
			t.Errorf("%s: %s\n\tnormalised as %s\n\t%v", names[i], sql, n.Text, err)
		}
	}
	if accepted < 100 {
		t.Errorf("only %d statements of the corpus were normalised", accepted)
	}
}

// TestNormalizeGivesUp checks the limit on lifted literals.
func TestNormalizeGivesUp(t *testing.T) {
	var n Normalized
	if Normalize(bulkInsert(), Options{}, &n) {
		t.Fatal("a bulk INSERT was normalised")
	}
	if len(n.Literals) > liftedProbe {
		t.Fatalf("given up after %d literals only", len(n.Literals))
	}
	list := func(n int) string { return "SELECT a FROM t WHERE a IN (10000" + strings.Repeat(",10000", n-1) + ")" }
	if !Normalize(list(liftedMax), Options{}, &n) || len(n.Literals) != liftedMax {
		t.Errorf("%d literals of %d were lifted", len(n.Literals), liftedMax)
	}
	// Longer literals at the end than at the beginning: the estimate is wrong, and Normalize returns false though it could go on.
	if Normalize(list(2 * liftedProbe)[:6*2*liftedProbe]+strings.Repeat("1", 100_000)+")", Options{}, &n) {
		t.Error("a statement whose text grows late was lifted")
	}
	if Normalize(list(liftedMax+1), Options{}, &n) {
		t.Error("more than liftedMax literals were lifted")
	}
}

// TestNormalizeAllocations checks that Normalize does not allocate when its buffers are large enough.
func TestNormalizeAllocations(t *testing.T) {
	var n Normalized
	sql := "SELECT c FROM sbtest1 WHERE id=5031 AND c = 'x'"
	allocs := testing.AllocsPerRun(100, func() {
		if !Normalize(sql, Options{}, &n) || n.Value(1) != "x" {
			t.Fatal("refused")
		}
	})
	if allocs != 0 {
		t.Errorf("%v allocations", allocs)
	}
}

func BenchmarkNormalize(b *testing.B) {
	for _, c := range parseBenchmarks[1:] {
		b.Run(c.name, func(b *testing.B) {
			var n Normalized
			b.ReportAllocs()
			for b.Loop() {
				Normalize(c.sql, Options{}, &n)
			}
		})
	}
}

func BenchmarkDigest(b *testing.B) {
	for b.Loop() {
		Digest("SELECT c FROM sbtest1 WHERE id=5031", Options{})
	}
}

// TestDigestOfLongNames: a name that is longer than a digest is cut before it is copied; a name of 60 MB once took ten times its size.
func TestDigestOfLongNames(t *testing.T) {
	const length = 1 << 20
	for _, text := range []string{strings.Repeat("a", length), "SELECT `" + strings.Repeat("a", length) + "`", "SELECT @" + strings.Repeat("é", length/2)} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		digest, _ := Digest(text, Options{})
		runtime.ReadMemStats(&after)
		if len(digest) > 2*digestTextMax || !utf8.ValidString(digest) {
			t.Errorf("%.20s: a digest of %d bytes", text, len(digest))
		}
		if allocated := after.TotalAlloc - before.TotalAlloc; allocated > length/4 {
			t.Errorf("%.20s: %d bytes were allocated", text, allocated)
		}
	}
}
