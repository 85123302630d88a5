// Package aio reads and writes files past the page cache without holding a processor of the Go runtime meanwhile: by Linux AIO,
// io_submit(2), whose completions the runtime's poller hears of.
//
// A goroutine in a blocking system call holds its processor until the runtime's monitor takes it away, 20 to 100 µs later, which
// is as long as a fast disk takes, and the monitor wakes up every 20 µs to look. On two cores a good part of one processor was thus
// lost to the log (docs/design/measured/uring.md), and no more than two reads were under way
// (docs/design/measured/disk-reads.md). io_uring needs the thread that submitted a write to see to its end, and that thread may
// be stuck in a sync of a table meanwhile; and sandboxes forbid it more often than this.
//
// Everything is an offer: where the kernel, a sandbox or the file system refuses a request, the caller is told to do it by other
// means.
package aio
