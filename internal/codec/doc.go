// Package codec has the fields that messages between nodes, entries of region logs and commands of the meta group are made of. Who uses it
// documents its own format in terms of these fields:
//
//	| field    | bytes |
//	|----------|-------|
//	| number   | unsigned varint, in its shortest form |
//	| bool     | 0 or 1 |
//	| bytes    | number of bytes, then these |
//	| optional | 0 for nil, or 1 and bytes |
//	| list     | number of elements, then these |
//	| span     | start as bytes, end as optional |
//	| mutation | kind, shadow; with ShadowAt the numbers Prev and PrevLen; key and value as bytes |
//
// # Invariants
//
//  1. Each value has one encoding; anything else is refused, and nothing that bytes claim makes a decoder allocate more than they could hold.
//  2. After its first fault a decoder yields zero values, so that a reader of many fields looks at Err once.
package codec
