package ddl

// place is where an entry stands in a list, with the head of its key.
type place struct {
	head uint64
	at   int
}

// sortPlaces sorts by head, keeping the order of equal ones, and returns the slice that holds the result: places or spare, which
// is as long. It is a radix sort from the lowest byte on (Knuth, The Art of Computer Programming, volume 3, §5.2.5), which takes a
// third of the time that comparisons take for a run of a backfill. Bytes that are the same in all heads cost nothing.
func sortPlaces(places, spare []place) []place {
	if len(places) == 0 {
		return places
	}
	const bytesOfHead, values = 8, 256
	var counts [bytesOfHead][values]int
	for i := range places {
		head := places[i].head
		for b := range bytesOfHead {
			counts[b][byte(head>>(8*b))]++
		}
	}
	for b := range bytesOfHead {
		starts, at := &counts[b], 0
		if starts[byte(places[0].head>>(8*b))] == len(places) {
			continue
		}
		for v, n := range starts {
			starts[v] = at
			at += n
		}
		for i := range places {
			v := byte(places[i].head >> (8 * b))
			spare[starts[v]] = places[i]
			starts[v]++
		}
		places, spare = spare, places
	}
	return places
}
