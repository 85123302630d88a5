package keys

import "slices"

// Order sorts lists of keys by their heads (Head), and by comparisons where these are equal. It keeps its memory from list to list. The zero value is
// ready; one goroutine at a time.
type Order struct{ places, spare []Place }

// Place is where a key stands in a list, with its head.
type Place struct {
	Head uint64
	At   int
}

// PlaceBytes is what Sort needs for each key of a list.
const PlaceBytes = 2 * 16

// Sort returns the places of n keys in the order of the keys. compare compares two keys whose heads are equal. What it returns is valid until the next
// call. Keys that are equal stand in any order.
func (o *Order) Sort(n int, head func(i int) uint64, compare func(i, j int) int) []Place {
	o.places, o.spare = slices.Grow(o.places[:0], n)[:n], slices.Grow(o.spare[:0], n)[:n]
	for i := range o.places {
		o.places[i] = Place{head(i), i}
	}
	sorted := sortPlaces(o.places, o.spare)
	// Equal heads are rare where keys are short, and all there is where they begin alike.
	for start := 0; start < n; {
		end := start + 1
		for end < n && sorted[end].Head == sorted[start].Head {
			end++
		}
		if end > start+1 {
			slices.SortFunc(sorted[start:end], func(x, y Place) int { return compare(x.At, y.At) })
		}
		start = end
	}
	return sorted
}

// sortPlaces sorts by head, keeping the order of equal ones, and returns the slice that holds the result: places or spare, which
// is as long. It is a radix sort from the lowest byte on (Knuth, The Art of Computer Programming, volume 3, §5.2.5), which takes a
// third of the time that comparisons take for a run of an index build. Bytes that are the same in all heads cost nothing.
func sortPlaces(places, spare []Place) []Place {
	if len(places) == 0 {
		return places
	}
	const bytesOfHead, values = 8, 256
	var counts [bytesOfHead][values]int
	for i := range places {
		head := places[i].Head
		for b := range bytesOfHead {
			counts[b][byte(head>>(8*b))]++
		}
	}
	for b := range bytesOfHead {
		starts, at := &counts[b], 0
		if starts[byte(places[0].Head>>(8*b))] == len(places) {
			continue
		}
		for v, n := range starts {
			starts[v] = at
			at += n
		}
		for i := range places {
			v := byte(places[i].Head >> (8 * b))
			spare[starts[v]] = places[i]
			starts[v]++
		}
		places, spare = spare, places
	}
	return places
}
