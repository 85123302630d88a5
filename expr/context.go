package expr

import (
	"math/rand/v2"

	"github.com/pandodb/pando/types"
)

const (
	arenaChunkBytes = 4 << 10 // size of the first and smallest chunk of the arena
	arenaKeepBytes  = 1 << 20 // ResetArena does not keep a larger chunk
)

// SessionInfo is what expressions need of the session that runs them. It is used by one goroutine at a time.
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
	// Attribute returns the value of the query attribute of that name (in utf8mb4) that the client has sent with the statement, or of the first
	// attribute if name is empty; NULL if there is none.
	Attribute(name []byte) types.Value
	// SysVar returns the value of @@name (1193 when unknown).
	SysVar(scope VarScope, name string) (types.Value, error)

	// LoadFile returns the contents of a file on the server's machine, NULL if it may not or cannot be read.
	LoadFile(path string) (types.Value, error)
	// HasConnection reports whether there is a connection with that number.
	HasConnection(id uint64) bool
	// StatementDigest returns the normalised text of a statement and its hash in hexadecimal digits (3676 if text is no statement).
	StatementDigest(text string) (normal, hash string, err error)

	// These return the results of the SQL functions of the same names.
	GetLock(name string, timeoutSeconds float64) (types.Value, error)
	ReleaseLock(name string) (types.Value, error)
	ReleaseAllLocks() (types.Value, error)
	IsFreeLock(name string) (types.Value, error)
	IsUsedLock(name string) (types.Value, error)
}

// VarScope is the scope in the name of a system variable.
type VarScope uint8

// The scopes; ScopeAny is @@name without one.
const (
	ScopeAny VarScope = iota
	ScopeSession
	ScopeGlobal
)

// Subplans evaluates the subqueries of one execution. Package exec implements it.
type Subplans interface {
	// EvalSubplan returns the value of the subquery plan. It evaluates args by ctx over row. The value is valid as long as one that Eval returns.
	EvalSubplan(ctx *Ctx, plan any, args []Expr, row []types.Value) (types.Value, error)
}

// Ctx is the state of one execution. It is for one goroutine; parallel workers have one each. Its exported fields may be changed between
// evaluations.
type Ctx struct {
	*types.Context
	Params  []types.Value
	Session SessionInfo // nil: session functions answer with an error
	// Poll returns an error once the statement must end. nil never ends it. Long loops and SLEEP call it.
	Poll func() error
	// SleepCut is set when a SLEEP was interrupted. SLEEP itself returns 1 and no error; the executor decides whether the statement goes on.
	SleepCut bool
	// Waits is told what SLEEP waits for, and then that it waits for nothing. May be nil.
	Waits func(what string)
	// Done returns a channel that is closed when Poll begins to fail, which ends SLEEP early. May be nil.
	Done func() <-chan struct{}
	// Subplans evaluates subqueries; nil if the statement has none.
	Subplans Subplans
	// Grow counts memory that evaluation allocates, in bytes; a negative number gives it back. It returns an error if the statement has reached
	// its limit. nil counts nothing.
	Grow func(bytes int64) error
	// InsertValues is the row that VALUES(col) reads in ON DUPLICATE KEY UPDATE; nil elsewhere.
	InsertValues []types.Value
	// GroupConcatMaxLen is group_concat_max_len in bytes; 0 means MySQL's default of 1024.
	GroupConcatMaxLen int
	// RegexpLimits are regexp_time_limit and regexp_stack_limit; 0 means MySQL's defaults.
	RegexpLimits types.RegexpLimits
	// MaxAllowedPacket bounds the results of string functions; 0 means 64 MiB.
	MaxAllowedPacket int

	arena   []byte          // the current chunk; its length is how much of it is used
	owed    int             // bytes allocated and not yet passed to Grow
	held    int64           // bytes passed to Grow
	ahead   int             // bytes that fits has counted for the next allocation
	stepped int             // steps since the last poll, see steps
	failed  error           // why the statement has to end, see charge
	vectors []*types.Vector // scratch vectors for reuse, see vector
	sels    [][]uint16      // scratch selections for reuse, see takeSel
	row     []types.Value   // row buffer of the row path within batches
	rands   map[*Node]*randState
	regexes map[*Node]*regexSearch
	needles map[*Node]*types.Needle // what calls look for that is the same for all rows, see needle
}

// NewCtx returns an execution context over c.
func NewCtx(c *types.Context) *Ctx { return &Ctx{Context: c} }

// Child returns a context for a subquery, which runs within an evaluation by ctx. It has its own arena, because the subquery's operators reset
// theirs while values of ctx are in use. Its exported fields are those of ctx; call Follow before each use.
func (ctx *Ctx) Child() *Ctx {
	child := new(Ctx)
	child.Follow(ctx)
	return child
}

// Follow copies the exported fields of parent except SleepCut, because they may have changed.
func (ctx *Ctx) Follow(parent *Ctx) {
	ctx.Context, ctx.Params, ctx.Session, ctx.Subplans = parent.Context, parent.Params, parent.Session, parent.Subplans
	ctx.Poll, ctx.Done, ctx.Waits, ctx.Grow, ctx.InsertValues = parent.Poll, parent.Done, parent.Waits, parent.Grow, parent.InsertValues
	ctx.GroupConcatMaxLen, ctx.MaxAllowedPacket, ctx.RegexpLimits = parent.GroupConcatMaxLen, parent.MaxAllowedPacket, parent.RegexpLimits
}

// Reset prepares ctx for another statement and keeps its memory. The caller sets the exported fields anew.
func (ctx *Ctx) Reset() {
	ctx.Params, ctx.InsertValues, ctx.Subplans, ctx.failed = nil, nil, nil, nil
	clear(ctx.rands)
	ctx.Release()
}

// Release frees the memory of a statement that has ended. The arena keeps one chunk of up to arenaKeepBytes.
func (ctx *Ctx) Release() {
	ctx.Params = nil
	clear(ctx.regexes)
	clear(ctx.needles)
	clear(ctx.row[:cap(ctx.row)]) // they borrow from the last batch, which may have texts as long as a packet
	ctx.ResetArena()
}

// Shed drops the memory that is kept for the next statement.
func (ctx *Ctx) Shed() {
	ctx.arena, ctx.vectors, ctx.sels, ctx.row = nil, nil, nil, nil
}

// ResetArena frees all strings that expressions have returned since the last reset. The executor calls it once per row or
// batch, after it has copied or sent what it needs.
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

// alloc returns n bytes in the arena, which are not cleared. If the chunk has no room for them, a new one begins; the old one is left to the
// garbage collector, so results in it stay valid.
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

// arenaMark is a state of the arena and of the counted bytes.
type arenaMark struct {
	arena   []byte
	counted int64 // see meterMark
}

func (ctx *Ctx) mark() arenaMark { return arenaMark{ctx.arena, ctx.meterMark()} }

// rewind frees what was allocated since mark returned m.
func (ctx *Ctx) rewind(m arenaMark) {
	switch mark := m.arena; {
	case cap(mark) > 0 && cap(ctx.arena) == cap(mark) && &ctx.arena[:1][0] == &mark[:1][0]:
		ctx.arena = mark
	case cap(ctx.arena) > arenaKeepBytes: // the chunk is newer than m
		ctx.arena = nil
	default:
		ctx.arena = ctx.arena[:0]
	}
	ctx.unchargeTo(m.counted)
}

// scratch returns an empty slice at the end of the arena, to append to; keep must be called with the result before the arena is used again.
func (ctx *Ctx) scratch() []byte { return ctx.scratchFor(64) }

// scratchFor is scratch with room for n bytes.
func (ctx *Ctx) scratchFor(n int) []byte {
	if cap(ctx.arena)-len(ctx.arena) < n {
		size := max(min(2*cap(ctx.arena), arenaKeepBytes), n, arenaChunkBytes)
		ctx.chargeMade(size)
		ctx.arena = make([]byte, 0, size)
	}
	return ctx.arena[len(ctx.arena):len(ctx.arena):cap(ctx.arena)]
}

// keep allocates b, the result of appending to scratch, in the arena. If append has moved b out of the arena, its memory is counted.
func (ctx *Ctx) keep(b []byte) []byte {
	free := ctx.arena[len(ctx.arena):cap(ctx.arena)]
	if len(b) > 0 && len(free) > 0 && len(b) <= len(free) && &free[0] == &b[0] {
		ctx.arena = ctx.arena[:len(ctx.arena)+len(b)]
	} else {
		ctx.charge(len(b))
	}
	return b[:len(b):len(b)]
}

// extend appends more to b, a slice in the arena; in between the arena may have been used otherwise. When the capacity of b is used up, b is
// copied to the end of the arena with twice the capacity. If the statement may not have so much memory, b is returned without more and the statement
// fails: the memory is asked for before it is taken, or many clients at once could take more than the server has. When b is complete, call fit.
func (ctx *Ctx) extend(b, more []byte) []byte {
	if need := len(b) + len(more); need > cap(b) {
		size := max(need, 2*len(b))
		if !ctx.fits(size) {
			return b
		}
		b = append(ctx.alloc(size)[:0], b...)
	}
	return append(b, more...)
}

// fit completes a slice that extend has built: its spare capacity is freed if it is at the end of the arena.
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

// packetLimit returns max_allowed_packet in bytes.
func (ctx *Ctx) packetLimit() int {
	if ctx.MaxAllowedPacket > 0 {
		return ctx.MaxAllowedPacket
	}
	return 64 << 20
}

// random returns the next number of RAND() without a seed.
func (ctx *Ctx) random() float64 {
	if ctx.Context != nil && ctx.Context.Rand != nil {
		return ctx.Context.Rand.Float64()
	}
	return rand.Float64()
}
