// Package explore visits every state of a small model, and holds the model of
// rule A, by which a cluster's commits get their timestamps.
//
// Place: an instrument, beside internal/check. It knows nothing of the product:
// the model is of the rules in docs/design/0020-cluster-of-one.md, written before
// the code that will follow them.
//
// Terms:
//   - A mark: the leader's note, in memory, that a commit or prewrite of a key is
//     under way. It is published before the timestamp is fetched and dropped when
//     the entry is applied.
//   - A line: the queue of a region's proposals; one is in flight at a time.
//   - An inherited entry: one of an earlier term that the new leader's log has and
//     its state does not yet.
//   - Rules: the steps of the protocol; each can be switched off for a canary.
//
// Invariants:
//
//	X1. The search is exhaustive up to its limit, and says when the limit cut it.
//	X2. A fault comes with a shortest sequence of steps that leads to it.
//	X3. Each rule has a scenario that is without fault with the rule and has one
//	    without it.
//
// The faults the model knows: a version appears at or below the timestamp of a
// read that did not see it; a transaction commits although a key that it checked
// got a version between its snapshot and its commit; an acknowledged or visible
// transaction is neither applied nor locked on one of its keys.
//
// Absent on purpose: liveness, locks in leader memory (a leader may lose them at any
// moment, so no safety may rest on them), quorums (a proposal in flight is kept
// or lost whole when the leader changes), merges, and garbage.
package explore
