//go:build race

package session_test

// raceDetector tells tests of allocations that they would measure the detector.
const raceDetector = true
