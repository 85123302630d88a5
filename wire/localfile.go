package wire

import (
	"io"

	"github.com/pandodb/pando/sqlapi"
)

// localFile reads the file that a client sends for LOAD DATA LOCAL: packets of its bytes, and an empty one after the last.
type localFile struct {
	r    *response
	rest []byte
	err  error // io.EOF after the last packet
}

// headerLocal begins the packet that asks a client for a file, whose name follows.
const headerLocal = 0xfb

// SendsFiles implements sqlapi.FileClient.
func (r *response) SendsFiles() bool { return r.c.caps&CapLocalFiles != 0 }

// File implements sqlapi.FileClient. Reading the file overwrites the packet of the command, so the caller must have copied the statement's text.
func (r *response) File(name string) sqlapi.FileReader {
	f := &localFile{r: r}
	r.appendPayload([]byte{headerLocal}, []byte(name))
	f.err = r.flush()
	r.c.in.seq = r.seq
	return f
}

// Read implements io.Reader. A client may take net_read_timeout for each packet, and for the rest of a packet.
func (f *localFile) Read(p []byte) (int, error) {
	c := f.r.c
	for len(f.rest) == 0 {
		if f.err != nil {
			return 0, f.err
		}
		before := c.in.total
		c.setPhase(phaseFile)
		payload, err := c.in.next()
		c.setPhase(phaseBusy)
		c.count.bytesIn.Add(c.in.total - before)
		f.r.seq = c.in.seq
		switch {
		case err == io.EOF:
			f.err = io.ErrUnexpectedEOF // only an empty packet ends the file
		case err != nil:
			f.err = err
		case len(payload) == 0:
			f.err = io.EOF
		}
		f.rest = payload
	}
	n := copy(p, f.rest)
	f.rest = f.rest[n:]
	return n, nil
}

// Drain implements sqlapi.FileReader. What the client has yet to send is read and dropped. If its packets can't be read to the last one, nothing
// that follows could be understood: the connection ends, with the last words that the protocol has for it.
func (f *localFile) Drain() error {
	buf := make([]byte, 1)
	for {
		f.rest = nil
		switch _, err := f.Read(buf); {
		case err == io.EOF:
			return nil
		case err != nil:
			if f.r.err == nil {
				f.r.c.reportRead(err)
				f.r.err = err
			}
			return err
		}
	}
}
