package sqlapi

import "io"

// FileClient is a response whose client sends a file of its own machine when it is asked to: LOAD DATA LOCAL.
type FileClient interface {
	// SendsFiles reports whether the client knows how, and has not been told otherwise.
	SendsFiles() bool
	// File asks for a file. The reader must be drained before anything is answered.
	File(name string) FileReader
}

// FileReader is the file that a client sends.
type FileReader interface {
	io.Reader
	// Drain reads to the end of what the client sends.
	Drain() error
}
