package meta

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/pandodb/pando/clock"
	"github.com/pandodb/pando/internal/codec"
)

const (
	commandVersion = 1
	// idsMax is how many ids one command gives.
	idsMax = 1 << 20
	// textMax bounds addresses and names of services.
	textMax = 1 << 10
	// safepointsMax bounds the services.
	safepointsMax = 1 << 10
)

// ErrCommand wraps whatever is wrong with the bytes of a command or a record.
var ErrCommand = errors.New("meta: malformed")

// kind names a command.
type kind byte

const (
	kindIDs kind = 1 + iota
	kindMark
	kindVersion
	kindStore
	kindSafepoint
	kindJoin
	kindStage
	kindToken
	kindAuthority
	kindCopies
	kindService
)

// Safepoint is what a service reads at, or will.
type Safepoint struct {
	Service   string
	TS, Until clock.Timestamp
}

// State is the state of region 0. The zero value is that of a cluster that has not begun.
type State struct {
	nextID, version uint64
	mark            clock.Timestamp
	stores          map[uint64]Store
	safepoints      map[string]Safepoint
	tokens          map[Hash]Token
	authority       Authority
	copies          uint64
	service         service
}

// service is what gateways have said of their serving: the newest term in which one began, and whether that one has said that it is over.
type service struct {
	term uint64
	over bool
}

// Change is a record to be written, or deleted if Value is nil. Name is without the space.
type Change struct{ Name, Value []byte }

// IDs returns the command that gives n ids; its result is the first.
func IDs(n uint64) []byte { return codec.AppendUint(head(kindIDs), n) }

// Mark returns the command that raises the mark.
func Mark(ts clock.Timestamp) []byte { return codec.AppendUint(head(kindMark), uint64(ts)) }

// Version returns the command that raises the cluster version.
func Version(v uint64) []byte { return codec.AppendUint(head(kindVersion), v) }

// Serve returns the command with which a gateway says, before it serves in a term of region 0, that it does; its result is 0 if one of a later term has.
func Serve(term uint64) []byte { return serviceCommand(term, false) }

// Release returns the command with which a gateway says, once it has stopped, that it serves in a term no more; its result is 0 if one of a later term has begun.
func Release(term uint64) []byte { return serviceCommand(term, true) }

func serviceCommand(term uint64, over bool) []byte {
	return codec.AppendBool(codec.AppendUint(head(kindService), term), over)
}

// Released reports whether the gateway that began to serve last has said that it is over: who sees that, having applied all that was committed before
// its own term, knows that nobody serves.
func (s *State) Released() bool { return s.service.over }

// Begin makes the state of a cluster that begins with one store, and returns its records.
func (s *State) Begin(nextID uint64, mark clock.Timestamp, version uint64, first Store) []Change {
	*s = State{nextID: nextID, mark: mark, version: version}
	first.Stage = Up
	return []Change{s.number('i', nextID), s.number('t', uint64(mark)), s.number('v', version), s.put(first)}
}

// Apply changes the state by a command, and returns the records that change and the command's result.
func (s *State) Apply(command []byte) (changes []Change, result uint64, err error) {
	if len(command) < 2 || command[0] != commandVersion {
		return nil, 0, fmt.Errorf("%w: a command of %d bytes or of another version", ErrCommand, len(command))
	}
	d := codec.NewDecoder(command[2:])
	switch kind(command[1]) {
	case kindIDs:
		n := d.Uint()
		if err := end(&d); err != nil {
			return nil, 0, err
		}
		if n == 0 || n > idsMax || s.nextID+n < s.nextID {
			return nil, 0, fmt.Errorf("%w: %d ids", ErrCommand, n)
		}
		result = s.nextID
		s.nextID += n
		return []Change{s.number('i', s.nextID)}, result, nil
	case kindMark:
		ts := clock.Timestamp(d.Uint())
		if err := end(&d); err != nil || ts <= s.mark {
			return nil, uint64(s.mark), err
		}
		s.mark = ts
		return []Change{s.number('t', uint64(ts))}, uint64(ts), nil
	case kindVersion:
		v := d.Uint()
		if err := end(&d); err != nil || v <= s.version {
			return nil, s.version, err
		}
		for _, st := range s.stores {
			if v > st.Newest && st.Stage != Removed {
				return nil, s.version, nil // a store does not know it yet
			}
		}
		s.version = v
		return []Change{s.number('v', v)}, v, nil
	case kindStore:
		return s.applyStore(&d)
	case kindJoin:
		return s.applyJoin(&d)
	case kindStage:
		return s.applyStage(&d)
	case kindToken:
		return s.applyToken(&d)
	case kindAuthority:
		return s.applyAuthority(&d)
	case kindCopies:
		return s.applyCopies(&d)
	case kindSafepoint:
		return s.applySafepoint(&d)
	case kindService:
		return s.applyService(&d)
	}
	return nil, 0, fmt.Errorf("%w: a command of kind %d", ErrCommand, command[1])
}

// applyService notes that a gateway serves, or does no more. The result is 1, 0 if one of a later term has begun.
func (s *State) applyService(d *codec.Decoder) (changes []Change, result uint64, err error) {
	next := service{term: d.Uint(), over: d.Bool()}
	if err := end(d); err != nil || next.term < s.service.term {
		return nil, 0, err
	}
	s.service = next
	return []Change{{Name: []byte{'g'}, Value: codec.AppendBool(codec.AppendUint(nil, next.term), next.over)}}, 1, nil
}

// applySafepoint sets or takes back a safepoint. The result is 1 if that was done.
func (s *State) applySafepoint(d *codec.Decoder) (changes []Change, result uint64, err error) {
	p := Safepoint{TS: clock.Timestamp(d.Uint()), Until: clock.Timestamp(d.Uint())}
	now := clock.Timestamp(d.Uint())
	p.Service = d.Text(textMax)
	if err := end(d); err != nil {
		return nil, 0, err
	}
	for _, old := range s.Safepoints() {
		if old.Until <= now || old.Service == p.Service && p.TS == 0 {
			delete(s.safepoints, old.Service)
			changes = append(changes, Change{Name: append([]byte{'p'}, old.Service...)})
		}
	}
	if p.TS == 0 {
		return changes, 1, nil
	}
	if len(s.safepoints) >= safepointsMax && s.safepoints[p.Service].TS == 0 {
		return changes, 0, nil
	}
	if s.safepoints == nil {
		s.safepoints = map[string]Safepoint{}
	}
	s.safepoints[p.Service] = p
	value := codec.AppendUint(codec.AppendUint(nil, uint64(p.TS)), uint64(p.Until))
	return append(changes, Change{Name: append([]byte{'p'}, p.Service...), Value: value}), 1, nil
}

// NextID, Mark and Version return the next id, the mark and the cluster version.
func (s *State) NextID() uint64 { return s.nextID }

// Mark returns the mark.
func (s *State) Mark() clock.Timestamp { return s.mark }

// Version returns the cluster version.
func (s *State) Version() uint64 { return s.version }

// Known returns the newest version that all stores know which were not removed, at least the cluster's.
func (s *State) Known() uint64 {
	known := uint64(math.MaxUint64)
	for _, st := range s.stores {
		if st.Stage != Removed {
			known = min(known, st.Newest)
		}
	}
	if known == math.MaxUint64 {
		return s.version
	}
	return max(known, s.version)
}

// Safepoints returns the services' safepoints in the order of their names.
func (s *State) Safepoints() (out []Safepoint) {
	for _, p := range s.safepoints {
		out = append(out, p)
	}
	slices.SortFunc(out, func(a, b Safepoint) int {
		if a.Service < b.Service {
			return -1
		}
		return 1
	})
	return out
}

// Oldest returns the oldest timestamp that a service wants to read at, or ts if that is older. now judges whose time is over.
func (s *State) Oldest(ts, now clock.Timestamp) clock.Timestamp {
	for _, p := range s.safepoints {
		if p.Until > now {
			ts = min(ts, p.TS)
		}
	}
	return ts
}

// Load takes in a record.
func (s *State) Load(name, value []byte) error {
	if len(name) == 0 {
		return fmt.Errorf("%w: a record without a name", ErrCommand)
	}
	d := codec.NewDecoder(value)
	switch name[0] {
	case 'i':
		s.nextID = d.Uint()
	case 't':
		s.mark = clock.Timestamp(d.Uint())
	case 'v':
		s.version = d.Uint()
	case 's':
		if len(name) != 9 {
			return fmt.Errorf("%w: record %q", ErrCommand, name)
		}
		st := Store{ID: binary.BigEndian.Uint64(name[1:])}
		st.read(&d)
		st.readStage(&d)
		s.put(st)
	case 'k':
		if len(name) != 1+len(Hash{}) {
			return fmt.Errorf("%w: record %q", ErrCommand, name)
		}
		s.loadToken(Hash(name[1:]), &d)
	case 'c':
		s.authority.read(&d)
	case 'n':
		s.copies = d.Uint()
	case 'g':
		s.service = service{term: d.Uint(), over: d.Bool()}
	case 'p':
		p := Safepoint{Service: string(name[1:]), TS: clock.Timestamp(d.Uint()), Until: clock.Timestamp(d.Uint())}
		if s.safepoints == nil {
			s.safepoints = map[string]Safepoint{}
		}
		s.safepoints[p.Service] = p
	default:
		return fmt.Errorf("%w: record %q", ErrCommand, name)
	}
	return end(&d)
}

func (s *State) number(name byte, v uint64) Change {
	return Change{Name: []byte{name}, Value: codec.AppendUint(nil, v)}
}

func head(k kind) []byte { return []byte{commandVersion, byte(k)} }

// end is the fault of what was decoded.
func end(d *codec.Decoder) error {
	if err := d.End(); err != nil {
		return fmt.Errorf("%w: %w", ErrCommand, err)
	}
	return nil
}
