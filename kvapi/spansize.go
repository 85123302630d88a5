package kvapi

import "github.com/pandodb/pando/clock"

// diskPartMin is how many bytes of tables the beginning of a span must have before the rest is judged by it: less is a block or two, whose
// size says little.
const diskPartMin = 32 << 10

// SpanSize is what a look at the beginning of a span has found, and the size of the whole span in tables.
type SpanSize struct {
	// Keys and Bytes are of the newest versions that were met, without those that are deleted; Bytes counts keys and rows as they are encoded.
	Keys, Bytes uint64
	// Newest is the highest timestamp that was met, also of a deletion; zero without any.
	Newest clock.Timestamp
	// Whole says that the look reached the end of the span.
	Whole bool
	// Disk are the bytes of the span in tables, compressed and with old versions, and DiskPart those of them that the look has passed. Memory
	// that has not been written to tables yet counts in neither.
	Disk, DiskPart uint64
}

// Estimate returns about how many keys the span has, and how many bytes it takes: exactly what is there if the look reached the end.
func (z *SpanSize) Estimate() (keys, bytes uint64) {
	switch {
	case z.Whole || z.Keys == 0:
		return z.Keys, z.Bytes
	case z.DiskPart >= diskPartMin && z.Disk > z.DiskPart:
		keys = uint64(float64(z.Keys) * float64(z.Disk) / float64(z.DiskPart))
	default:
		keys = max(z.Keys, z.Disk*z.Keys/max(z.Bytes, 1))
	}
	return keys, max(z.Disk, z.Bytes)
}
