package wire

import "github.com/pandodb/pando/kvapi"

// Memory is the budget that the large buffers of all connections are charged to. Implemented by exec.MemPool.
type Memory interface {
	// Ask charges n bytes, or, if negative, gives them back, which never fails. It may wait until intr is set; holds: other bytes are charged. Its error is for the client.
	Ask(n int64, intr *kvapi.Interrupt, holds bool) error
}

// The large buffers of a connection, by what they are for.
const (
	heldPacket = iota // the command that is being read or executed
	heldLong          // long data of prepared statements
	heldRow           // the row that is being encoded or sent
	heldInflow        // the decoder of the compressed packet that is being read
	heldArgs          // the list of a command's parameters and query attributes
	heldKinds
)

// heldMin is the size in bytes up to which a buffer is not charged: it counts as part of what every connection costs. 2,000 clients that fill all of
// their buffers up to it take 160 MB.
const heldMin = 16 << 10

// held is what one connection has charged to Options.Memory. It belongs to the connection's goroutine. Without memory, and if nil, it charges nothing.
type held struct {
	memory Memory
	intr   *kvapi.Interrupt // of the session, nil before there is one
	bytes  [heldKinds]int64
}

// set charges for a buffer that has n bytes from now on. It fails only if that is more than before.
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
	if err := h.memory.Ask(d, h.intr, h.bytes != [heldKinds]int64{}); err != nil {
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
