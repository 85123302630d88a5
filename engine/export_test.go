package engine

// UnflushedMayHold is what an iterator for one key asks.
func (e *Engine) UnflushedMayHold(logical []byte) bool {
	return mayHold(*e.unflushed.filters.Load(), e.unflushed.hash(logical), logical)
}

// UnflushedFilters is how many filters there are.
func (e *Engine) UnflushedFilters() int { return len(*e.unflushed.filters.Load()) }

// ForgetKeys keeps the batch's keys from the filters.
func (b *Batch) ForgetKeys() { b.hashes = b.hashes[:0] }

// MemTableBytesMin is the least size of a memtable.
const MemTableBytesMin = memTableBytesMin
