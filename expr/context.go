package expr

import (
	"math/rand/v2"

	"github.com/pandodb/pando/types"
)

const (
	arenaChunkBytes = 4 << 10 // first and smallest chunk of the arena
	arenaKeepBytes  = 1 << 20 // a larger chunk is given back to the heap by ResetArena
)

// SessionInfo is what expressions may ask of the session that runs them. It is used by one goroutine at a time.
type SessionInfo interface {
	Database() string    // current database, "" for none
	User() string        // user@host as the client connected
	CurrentUser() string // user@host of the account that was authenticated
	CurrentRole() string // "NONE" without roles
	Version() string
	ConnectionID() uint64
	LastInsertID() uint64
	SetLastInsertID(id uint64) // LAST_INSERT_ID(x)
	RowCount() int64
	FoundRows() uint64

	// UserVar returns the value of @name; its bytes stay unchanged until the variable is set. ok is false if never set.
	UserVar(name string) (v types.Value, ok bool)
	// SetUserVar copies v.
	SetUserVar(name string, v types.Value)
	// Attribute returns what the client tells of the statement under a name, which is in utf8mb4; of the first name if it is empty. NULL for nothing.
	Attribute(name []byte) types.Value
	// SysVar returns the value of @@name (1193 when unknown).
	SysVar(scope VarScope, name string) (types.Value, error)

	// LoadFile returns the bytes of a file of the server, NULL for one that may not be read.
	LoadFile(path string) (types.Value, error)
	// HasConnection reports whether there is a connection of that number.
	HasConnection(id uint64) bool
	// StatementDigest returns the normalised text of a statement and its hash in hexadecimal digits (3676 for what is none).
	StatementDigest(text string) (normal, hash string, err error)

	// The user-level locks return what the SQL functions of the same names return.
	GetLock(name string, timeoutSeconds float64) (types.Value, error)
	ReleaseLock(name string) (types.Value, error)
	ReleaseAllLocks() (types.Value, error)
	IsFreeLock(name string) (types.Value, error)
	IsUsedLock(name string) (types.Value, error)
}

// VarScope is the scope named before a system variable.
type VarScope uint8

// The scopes; ScopeAny is a bare @@name.
const (
	ScopeAny VarScope = iota
	ScopeSession
	ScopeGlobal
)

// Subplans evaluates the subqueries of one execution. Implemented by exec.
type Subplans interface {
	// EvalSubplan returns the value of the subquery plan. args are evaluated by ctx over row; the value lives as long as one that Eval returns.
	EvalSubplan(ctx *Ctx, plan any, args []Expr, row []types.Value) (types.Value, error)
}

// Ctx is one execution's state. It belongs to one goroutine; parallel workers have one each.
type Ctx struct {
	*types.Context
	Params  []types.Value
	Session SessionInfo // nil: session functions answer with an error
	// Poll returns an error once the statement must end. nil never ends it. Long loops and SLEEP call it.
	Poll func() error
	// SleepCut says that a SLEEP was interrupted. It tells so by its value; whether the statement goes on, its executor decides.
	SleepCut bool
	// Done is closed when Poll would fail; it wakes SLEEP early. May be nil.
	Done func() <-chan struct{}
	// Subplans evaluates subqueries; nil where a statement has none.
	Subplans Subplans
	// Grow counts bytes that evaluating makes, negative to give them back, and returns an error when the statement may have no more of them.
	// nil counts nothing.
	Grow func(bytes int64) error
	// InsertValues is the row that VALUES(col) reads in ON DUPLICATE KEY UPDATE; nil elsewhere.
	InsertValues []types.Value
	// GroupConcatMaxLen is group_concat_max_len in bytes; 0 means MySQL's default of 1024.
	GroupConcatMaxLen int
	// RegexpLimits are regexp_time_limit and regexp_stack_limit; 0 means MySQL's defaults.
	RegexpLimits types.RegexpLimits
	// MaxAllowedPacket bounds the results of string functions; 0 means 64 MiB.
	MaxAllowedPacket int

	arena   []byte
	owed    int             // bytes made and not yet passed to Grow
	held    int64           // bytes passed to Grow
	ahead   int             // bytes that fits has counted for what is made next
	stepped int             // steps since the last look at the interrupt
	failed  error           // why the statement has to end, see charge
	vectors []*types.Vector // free scratch vectors of the batch path
	sels    [][]uint16      // free selection vectors
	row     []types.Value   // row buffer of the batch path's row loop
	rands   map[*Node]*randState
	regexes map[*Node]*regexSearch
}

// NewCtx returns an execution context over c.
func NewCtx(c *types.Context) *Ctx { return &Ctx{Context: c} }

// Child returns a context for what runs inside of an evaluation by ctx, such as a subquery: it has an arena of its own, because its leaves
// reset it while ctx holds values, and shares everything else. Follow it up before each use.
func (ctx *Ctx) Child() *Ctx {
	child := new(Ctx)
	child.Follow(ctx)
	return child
}

// Follow takes over the exported fields of parent, which may have changed since Child.
func (ctx *Ctx) Follow(parent *Ctx) {
	ctx.Context, ctx.Params, ctx.Session, ctx.Subplans = parent.Context, parent.Params, parent.Session, parent.Subplans
	ctx.Poll, ctx.Done, ctx.Grow, ctx.InsertValues = parent.Poll, parent.Done, parent.Grow, parent.InsertValues
	ctx.GroupConcatMaxLen, ctx.MaxAllowedPacket, ctx.RegexpLimits = parent.GroupConcatMaxLen, parent.MaxAllowedPacket, parent.RegexpLimits
}

// Reset prepares ctx for another statement and keeps its memory. The caller sets the exported fields anew.
func (ctx *Ctx) Reset() {
	ctx.Params, ctx.InsertValues, ctx.Subplans, ctx.failed = nil, nil, nil, nil
	clear(ctx.rands)
	ctx.Release()
}

// Release gives back what a statement that has ended took, besides a chunk of the arena.
func (ctx *Ctx) Release() {
	ctx.Params = nil
	clear(ctx.regexes)
	clear(ctx.row[:cap(ctx.row)]) // they borrow from the last batch, which may be as long as a packet
	ctx.ResetArena()
}

// ResetArena frees every string that expressions returned since the last reset. The executor calls it once per row or
// batch, after it has copied or sent what it keeps.
func (ctx *Ctx) ResetArena() {
	ctx.owed, ctx.ahead = 0, 0
	if ctx.held > 0 {
		ctx.unchargeTo(0)
	}
	if cap(ctx.arena) > arenaKeepBytes {
		ctx.arena = nil
		return
	}
	ctx.arena = ctx.arena[:0]
}

// alloc returns n bytes of the arena. Chunks that are full are left to the garbage collector, so that results
// handed out earlier stay valid.
func (ctx *Ctx) alloc(n int) []byte {
	if cap(ctx.arena)-len(ctx.arena) < n {
		size := max(min(2*cap(ctx.arena), arenaKeepBytes), n, arenaChunkBytes)
		ctx.chargeMade(size)
		ctx.arena = make([]byte, 0, size)
	}
	start := len(ctx.arena)
	ctx.arena = ctx.arena[:start+n]
	return ctx.arena[start : start+n : start+n]
}

// arenaMark is a state of the arena and of what was counted.
type arenaMark struct {
	arena []byte
	held  int64
}

func (ctx *Ctx) mark() arenaMark { return arenaMark{ctx.arena, ctx.held} }

// rewind frees what was allocated since the arena was as m says.
func (ctx *Ctx) rewind(m arenaMark) {
	switch mark := m.arena; {
	case cap(mark) > 0 && cap(ctx.arena) == cap(mark) && &ctx.arena[:1][0] == &mark[:1][0]:
		ctx.arena = mark
	case cap(ctx.arena) > arenaKeepBytes: // a chunk begun since
		ctx.arena = nil
	default:
		ctx.arena = ctx.arena[:0]
	}
	if ctx.held > m.held {
		ctx.unchargeTo(m.held)
	}
}

// scratch returns an empty slice at the arena's end to append to; keep must follow with the result.
func (ctx *Ctx) scratch() []byte { return ctx.scratchFor(64) }

// scratchFor is scratch for a result of about n bytes.
func (ctx *Ctx) scratchFor(n int) []byte {
	if cap(ctx.arena)-len(ctx.arena) < n {
		size := max(min(2*cap(ctx.arena), arenaKeepBytes), n, arenaChunkBytes)
		ctx.chargeMade(size)
		ctx.arena = make([]byte, 0, size)
	}
	return ctx.arena[len(ctx.arena):len(ctx.arena):cap(ctx.arena)]
}

// keep ends what scratch began: b stays allocated. If b outgrew the chunk it already has memory of its own.
func (ctx *Ctx) keep(b []byte) []byte {
	free := ctx.arena[len(ctx.arena):cap(ctx.arena)]
	if len(b) > 0 && len(free) > 0 && len(b) <= len(free) && &free[0] == &b[0] {
		ctx.arena = ctx.arena[:len(ctx.arena)+len(b)]
	} else {
		ctx.charge(len(b))
	}
	return b[:len(b):len(b)]
}

// extend appends to a slice of the arena that others may have used meanwhile: when its room is full it moves to the arena's end, where it
// gets twice as much, so that all its copies together take a few times its length. fit must follow with the result.
func (ctx *Ctx) extend(b, more []byte) []byte {
	if need := len(b) + len(more); need > cap(b) {
		b = append(ctx.alloc(max(need, 2*len(b)))[:0], b...)
	}
	return append(b, more...)
}

// fit ends what extend made: the room left goes back if nothing lies behind it.
func (ctx *Ctx) fit(b []byte) []byte {
	used, spare := len(ctx.arena), cap(b)-len(b)
	if spare > 0 && used > 0 && &ctx.arena[used-1] == &b[:cap(b)][cap(b)-1] {
		ctx.arena = ctx.arena[:used-spare]
	}
	return b[:len(b):len(b)]
}

// copyString copies s into the arena.
func (ctx *Ctx) copyString(s string) []byte {
	b := ctx.alloc(len(s))
	copy(b, s)
	return b
}

func (ctx *Ctx) poll() error {
	if ctx.Poll == nil {
		return nil
	}
	return ctx.Poll()
}

func (ctx *Ctx) packetLimit() int {
	if ctx.MaxAllowedPacket > 0 {
		return ctx.MaxAllowedPacket
	}
	return 64 << 20
}

// random returns the next number of RAND() without seed.
func (ctx *Ctx) random() float64 {
	if ctx.Context != nil && ctx.Context.Rand != nil {
		return ctx.Context.Rand.Float64()
	}
	return rand.Float64()
}
