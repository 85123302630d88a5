// Package testkit holds what tests of several packages share: file systems that crash and count, seeds that are
// printed, waiting for what has no event, and real servers to compare with. Product packages do not import it.
//
// # Invariants
//
//  1. Every random test takes its seed from Seed, which prints it, obeys PANDO_SEED, and without it gives the same seed at every run.
//  2. A file system that only pretends to sync (HookFS with OnSync) exists only here: the product has no switch that turns syncing off.
package testkit
