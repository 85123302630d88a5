// Package aio reads and writes files past the page cache without occupying a processor of the Go runtime meanwhile: by Linux AIO,
// io_submit(2), whose completions signal an eventfd that the runtime's poller watches.
//
// A goroutine in a blocking system call occupies its processor until the runtime's monitor takes it away, 20 to 100 µs later, which
// is as long as a fast disk takes, and the monitor wakes up every 20 µs for that. On two cores a good part of one processor was thus
// lost to the log (docs/design/measured/uring.md), and no more than two reads ran at a time
// (docs/design/measured/disk-reads.md). io_uring is no alternative: it completes a write on the thread that has submitted it, which may
// be blocked in a sync of a table meanwhile; and sandboxes forbid it more often.
//
// Every request may be refused by the kernel, a sandbox or the file system: then the caller does it by blocking calls.
package aio
