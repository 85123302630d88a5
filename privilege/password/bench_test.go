package password

import "testing"

func BenchmarkSHA256Crypt(b *testing.B) {
	stored := HashCachingSHA2([]byte("correct horse"))
	b.ReportAllocs()
	for b.Loop() {
		if !checkCachingSHA2(stored, []byte("correct horse")) {
			b.Fatal("refused")
		}
	}
}
