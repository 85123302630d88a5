package keys

import "bytes"

// SplitKey appends the logical key at which a region may be cut, given the engine key found where the cut should be (half of
// the region's bytes, say). A cut at a logical key keeps every row and every index entry whole, with all its versions, since
// versions of one key share it. ok is false when the key is not a version or when cutting there would leave one side of
// [start, end) empty; end nil means unbounded.
func SplitKey(dst, engineKey, start, end []byte) (cut []byte, ok bool) {
	logical, _, ok := DecodeVersionKey(engineKey)
	if !ok || bytes.Compare(logical, start) <= 0 || (len(end) > 0 && bytes.Compare(logical, end) >= 0) {
		return dst, false
	}
	return append(dst, logical...), true
}
