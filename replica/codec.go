package replica

import (
	"errors"
	"fmt"

	"github.com/pandodb/pando/internal/codec"
	"github.com/pandodb/pando/kvapi"
)

const (
	// entryVersion begins each entry. A higher one may add kinds and append fields, and is written only once all nodes know it.
	entryVersion = 1
	// commandBytesMin is the least size of a command: its kind and one field.
	commandBytesMin = 2
)

// ErrEntry is wrapped by every error about the bytes of an entry.
var ErrEntry = errors.New("replica: malformed entry")

// Entry is an entry of a region's log: commands, evaluated for the region at an epoch.
type Entry struct {
	Epoch    kvapi.Epoch
	Commands []Command
}

// Append appends the encoding of e.
func (e *Entry) Append(b []byte) []byte {
	b = append(b, entryVersion)
	b = codec.AppendUint(codec.AppendUint(codec.AppendUint(b, e.Epoch.Version), e.Epoch.ConfVer), len(e.Commands))
	for _, c := range e.Commands {
		b = c.appendTo(append(b, byte(c.Kind())))
	}
	return b
}

// DecodeEntry reads an entry, which takes all of b. Slices of the commands alias b.
func DecodeEntry(b []byte) (e Entry, err error) {
	d := codec.NewDecoder(b)
	if v := d.Byte(255); d.Err() == nil && v != entryVersion {
		return Entry{}, fmt.Errorf("%w: version %d, this program knows %d", ErrEntry, v, entryVersion)
	}
	e.Epoch.Version, e.Epoch.ConfVer = d.Uint32(), d.Uint32()
	for range d.Count(commandBytesMin) {
		c := newCommand(Kind(d.Byte(255)))
		if d.Err() == nil && c == nil {
			d.Fail("kind of a command")
		}
		if d.Err() != nil {
			break
		}
		c.readFrom(&d)
		e.Commands = append(e.Commands, c)
	}
	if err := d.End(); err != nil {
		return Entry{}, fmt.Errorf("%w: %w", ErrEntry, err)
	}
	return e, nil
}
