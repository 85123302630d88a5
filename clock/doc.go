// Package clock is the only place that reads the machine's clocks and that waits for them.
//
// Everything else takes a Clock or calls the functions here, so that a test or the seeded simulator can decide what time it
// is, and so that one grep finds every dependence on time. The root's tidy test bans time.Now and its relatives elsewhere.
//
// # Terms
//
//   - Wall time: milliseconds since the Unix epoch as the operating system tells them. It may jump in both directions.
//   - Monotonic time: a duration since process start that never goes back. Timeouts and latencies use it, nothing else.
//   - Boot time: a duration since some moment of this machine that never goes back, and counts while it is suspended. Leases go by it.
//   - Timestamp: the 64-bit MVCC timestamp, physical milliseconds << 18 | logical. Bit 63 is always clear, so that a
//     timestamp survives a signed integer, and zero is never issued: it means "none".
//
// # Invariants
//
//  1. The order of timestamps is the order of their integers.
//  2. Make(t.PhysicalMillis(), t.Logical()) == t for every t up to MaxTimestamp.
//
// # Absent on purpose
//
// Issuing timestamps: the oracle with its persisted high-water mark lives with transactions. Physical time here only says
// what the machine believes.
package clock
