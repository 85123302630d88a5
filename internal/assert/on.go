//go:build expensive

package assert

// Expensive tells whether dear assertions are on.
const Expensive = true
