package wire

// Memory is what large buffers of connections are taken from, those of all together. Implemented by exec.MemPool.
type Memory interface {
	// Take takes n bytes, negative to give them back, or fails with the error that a client is told.
	Take(n int64) error
}

// The large buffers of a connection, by what they are for.
const (
	heldPacket = iota // the command that is being read or executed
	heldLong          // long data of prepared statements
	heldRow           // the row that is being encoded, or leaves
	heldInflow        // what inflating the packet at hand takes
	heldKinds
)

// heldMin is up to which size a buffer is taken as part of what a connection costs anyway.
const heldMin = 64 << 10

// held is what one connection has taken of Options.Memory. It belongs to the connection's goroutine. Without memory, and if nil, it counts nothing.
type held struct {
	memory Memory
	bytes  [heldKinds]int64
}

// set says that the buffer of a kind has n bytes from now on. It fails only if it grows.
func (h *held) set(kind, n int) error {
	if h == nil || h.memory == nil {
		return nil
	}
	if n <= heldMin {
		n = 0
	}
	d := int64(n) - h.bytes[kind]
	if d == 0 {
		return nil
	}
	if err := h.memory.Take(d); err != nil {
		return err
	}
	h.bytes[kind] += d
	return nil
}

// close gives everything back.
func (h *held) close() {
	for kind := range heldKinds {
		_ = h.set(kind, 0) // giving back never fails
	}
}
