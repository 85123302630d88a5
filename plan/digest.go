package plan

import (
	"time"

	"github.com/pandodb/pando/exec"
)

// digestBytes is what a Digest costs besides its texts.
const digestBytes = 128

// Digest tells statements apart that differ in more than literals, comments and white space. It is made once for each plan, and immutable.
type Digest struct {
	Schema string // the current database, empty without one
	Text   string
	Hash   [32]byte
	// Number decides where a session counts executions of the digest; 0 belongs to a statement whose plan is not cached.
	Number uint32
	// Sample is the beginning of the statement that the plan was made for, as it may be shown, and Seen is when.
	Sample string
	Seen   time.Time
	// Profile is how the plan reads; Reads says that there is something in it.
	Profile exec.Profile
	Reads   bool
}

// bytes is what a cached plan costs for its digest; several may share the texts.
func (d *Digest) bytes() int {
	if d == nil {
		return 0
	}
	return digestBytes + len(d.Text) + len(d.Sample)
}
