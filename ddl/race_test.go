//go:build race

package ddl_test

// scale divides row counts: Pebble records a stack per iterator under the race
// detector, which makes every point read slow.
const scale = 10
