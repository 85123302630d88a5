package ddl

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/pandodb/pando/internal/testkit"
)

// randomPlaces returns places whose heads differ in the bytes of mask only.
func randomPlaces(rng *rand.Rand, n int, mask uint64) []place {
	places := make([]place, n)
	for i := range places {
		places[i] = place{head: rng.Uint64()&mask | 0x5500000000000000&^mask, at: i}
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
			slices.SortStableFunc(want, func(x, y place) int { return cmp.Compare(x.head, y.head) })
			if got := sortPlaces(places, make([]place, n)); !slices.Equal(got, want) {
				t.Errorf("%d places that differ in %#x are not in order", n, mask)
			}
		}
	}
}

// BenchmarkSortPlaces sorts what one run of a backfill does.
func BenchmarkSortPlaces(b *testing.B) {
	places := randomPlaces(testkit.Rand(1, 2), exclusiveRun, 0x03ffff01ffff0000)
	b.Run("radix", func(b *testing.B) {
		for b.Loop() {
			sortPlaces(slices.Clone(places), make([]place, len(places)))
		}
	})
	b.Run("comparisons", func(b *testing.B) {
		for b.Loop() {
			slices.SortFunc(slices.Clone(places), func(x, y place) int { return cmp.Compare(x.head, y.head) })
		}
	})
}
