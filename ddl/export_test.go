package ddl

import "time"

// SetBuildSlice sets how long a slice of a resumed build is; the function returned sets it back. No executor may be open.
func SetBuildSlice(d time.Duration) (restore func()) {
	was := buildSlice
	buildSlice = d
	return func() { buildSlice = was }
}
