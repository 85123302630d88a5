package kv

import (
	"bytes"

	"github.com/pandodb/pando/kvapi"
)

// regionCache is an immutable set of regions in key order that cover the key
// space.
type regionCache struct {
	sorted []*kvapi.Region
	// cluster is nil while the store is alone.
	cluster *router
}

// find returns the position of the region that holds key.
func (c *regionCache) find(key []byte) int {
	// The last region whose start is at or below key. Written out, because a
	// closure would cost more than the search on one or two regions.
	lo, hi := 0, len(c.sorted)
	for hi-lo > 1 {
		mid := int(uint(lo+hi) / 2)
		if bytes.Compare(c.sorted[mid].Start, key) <= 0 {
			lo = mid
		} else {
			hi = mid
		}
	}
	return lo
}

// cover appends the refs of the regions that cover a span.
func (c *regionCache) cover(refs []kvapi.RegionRef, s kvapi.Span) []kvapi.RegionRef {
	at := c.find(s.Start)
	refs = append(refs, c.sorted[at].Ref())
	if s.IsPoint() {
		return refs
	}
	for {
		end := c.sorted[at].End
		if len(end) == 0 || (len(s.End) > 0 && bytes.Compare(s.End, end) <= 0) {
			return refs
		}
		at++
		refs = append(refs, c.sorted[at].Ref())
	}
}

// touch appends the refs of the regions that mutations in key order touch.
func (c *regionCache) touch(refs []kvapi.RegionRef, mutations []kvapi.Mutation) []kvapi.RegionRef {
	for i := 0; i < len(mutations); {
		r := c.sorted[c.find(mutations[i].Key)]
		refs = append(refs, r.Ref())
		if len(r.End) == 0 {
			return refs
		}
		for i < len(mutations) && bytes.Compare(mutations[i].Key, r.End) < 0 {
			i++
		}
	}
	return refs
}
