package session

import "math/bits"

// Latencies are counted in buckets whose bounds grow by an eighth of a power of two: a quantile is known to within that.
const (
	latencyParts  = 8
	latencyPowers = 42 // 2^42 ns is 73 minutes; what took longer is in the last bucket
)

// latencies counts how long executions took, in nanoseconds. Most statements need the parts of a few powers only.
type latencies [latencyPowers]*[latencyParts]uint64

// latencyBucket is the bucket of a duration.
func latencyBucket(nanos uint64) uint16 {
	if nanos < latencyParts {
		return 0
	}
	power := bits.Len64(nanos) - 1 // the place of the highest bit of nanos
	if power >= latencyPowers {
		return latencyPowers*latencyParts - 1
	}
	return uint16(power*latencyParts + int(nanos>>(power-3))&(latencyParts-1))
}

// latencyBound is the largest duration of a bucket.
func latencyBound(bucket int) uint64 {
	power, part := bucket/latencyParts, bucket%latencyParts
	if power < 3 {
		return latencyParts - 1
	}
	return uint64(latencyParts+part+1)<<(power-3) - 1
}

func (l *latencies) add(bucket uint16) {
	parts := &l[bucket/latencyParts]
	if *parts == nil {
		*parts = new([latencyParts]uint64)
	}
	(*parts)[bucket%latencyParts]++
}

// quantile is what so many thousandths of the executions did not exceed.
func (l *latencies) quantile(thousandths, count uint64) uint64 {
	want, seen := (count*thousandths+999)/1000, uint64(0)
	for power, parts := range l {
		if parts == nil {
			continue
		}
		for part, n := range parts {
			if seen += n; seen >= want && n > 0 {
				return latencyBound(power*latencyParts + part)
			}
		}
	}
	return 0
}
