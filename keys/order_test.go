package keys_test

import (
	"bytes"
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/pandodb/pando/internal/testkit"
	"github.com/pandodb/pando/keys"
)

// randomPlaces returns places whose heads differ in the bytes of mask only.
func randomPlaces(rng *rand.Rand, n int, mask uint64) []keys.Place {
	places := make([]keys.Place, n)
	for i := range places {
		places[i] = keys.Place{Head: rng.Uint64()&mask | 0x5500000000000000&^mask, At: i}
	}
	return places
}

// sortPlaces gives what a stable sort by comparisons gives, whichever bytes decide.
func TestSortPlaces(t *testing.T) {
	rng := testkit.Rand(testkit.Seed(t), 0)
	for _, mask := range []uint64{0, 1, 0xff, 0xff00, 0xff00000000000000, 0xff00ff, 0x0300ffff00000000, 1<<64 - 1} {
		for _, n := range []int{0, 1, 2, 3, 100, 5000} {
			places := randomPlaces(rng, n, mask)
			want := slices.Clone(places)
			slices.SortStableFunc(want, func(x, y keys.Place) int { return cmp.Compare(x.Head, y.Head) })
			if got := keys.SortPlaces(places, make([]keys.Place, n)); !slices.Equal(got, want) {
				t.Errorf("%d places that differ in %#x are not in order", n, mask)
			}
		}
	}
}

// Sort gives the order of the keys, also where many have the same head or are equal, of one list after another.
func TestOrder(t *testing.T) {
	rng := testkit.Rand(testkit.Seed(t), 0)
	var o keys.Order
	for _, n := range []int{0, 1, 2, 1000, 30} {
		list := make([][]byte, n)
		for i := range list {
			list[i] = []byte("12345678"[:rng.IntN(9)])
			for range rng.IntN(4) {
				list[i] = append(list[i], byte(rng.IntN(3)))
			}
		}
		places := o.Sort(n, func(i int) uint64 { return keys.Head(list[i]) }, func(i, j int) int { return bytes.Compare(list[i], list[j]) })
		var got [][]byte
		seen := map[int]bool{}
		for _, p := range places {
			got, seen[p.At] = append(got, list[p.At]), true
		}
		if len(seen) != n || !slices.IsSortedFunc(got, bytes.Compare) {
			t.Errorf("%d keys, of which %d are in %q", n, len(seen), got)
		}
	}
}

// BenchmarkSortPlaces sorts what a run of an index build does.
func BenchmarkSortPlaces(b *testing.B) {
	places := randomPlaces(testkit.Rand(1, 2), 64<<10, 0x03ffff01ffff0000)
	b.Run("radix", func(b *testing.B) {
		for b.Loop() {
			keys.SortPlaces(slices.Clone(places), make([]keys.Place, len(places)))
		}
	})
	b.Run("comparisons", func(b *testing.B) {
		for b.Loop() {
			slices.SortFunc(slices.Clone(places), func(x, y keys.Place) int { return cmp.Compare(x.Head, y.Head) })
		}
	})
}
