// Package assert states what must hold. A broken assertion is a fault of the program, never of its input: it panics, and a panic ends
// one connection (wire W8), or the process where a goroutine of the store's own meets it.
//
// That is always on, so it is for conditions that cost a few instructions. What is dear (a walk over all keys of a commit) stands
// behind Expensive, which is false unless the program is built with the tag "expensive", as the race stage of `make test` does:
//
//	if assert.Expensive {
//		assert.That(slices.IsSortedFunc(keys, bytes.Compare), "store: keys of a commit ascend")
//	}
//
// Assertions come in pairs: a property is asserted before something is written and after it has been read back, or on both sides of a
// call between layers. What comes from a disk or a network may be damaged, and is an error there, not an assertion.
package assert

// That panics with what should have held unless it does.
func That(ok bool, what string) {
	if !ok {
		fail(what)
	}
}

// fail is apart so that That is inlined.
//
//go:noinline
func fail(what string) { panic("assertion failed: " + what) }
