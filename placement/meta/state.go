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
	// idsMax bounds the ids that one command allocates.
	idsMax = 1 << 20
	// textMax bounds addresses and names of services.
	textMax = 1 << 10
	// safepointsMax bounds the services with a safepoint.
	safepointsMax = 1 << 10
)

// ErrCommand is wrapped by each error about a malformed command or record.
var ErrCommand = errors.New("meta: malformed")

// kind is the second byte of a command.
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

// Safepoint is the timestamp that a service reads at, or will, until a time.
type Safepoint struct {
	Service   string
	TS, Until clock.Timestamp
}

// State is the state of region 0. The zero value is that of no cluster yet. It is not safe for concurrent use.
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

// service is the newest term in which a gateway has announced that it serves clients, and whether that gateway has released the term since.
type service struct {
	term uint64
	over bool
}

// Change is a record to be written, or deleted if Value is nil. Name lacks the prefix \x05 of the key space.
type Change struct{ Name, Value []byte }

// IDs returns the command that allocates n consecutive ids; its result is the first.
func IDs(n uint64) []byte { return codec.AppendUint(head(kindIDs), n) }

// Mark returns the command that raises the mark.
func Mark(ts clock.Timestamp) []byte { return codec.AppendUint(head(kindMark), uint64(ts)) }

// Version returns the command that raises the cluster version.
func Version(v uint64) []byte { return codec.AppendUint(head(kindVersion), v) }

// Serve returns the command with which a gateway announces, before it does, that it serves clients in a term of region 0; its result is 0 if
// a gateway of a later term has done so.
func Serve(term uint64) []byte { return serviceCommand(term, false) }

// Release returns the command with which a gateway that has stopped serving in a term releases the term; its result is 0 if a gateway of a
// later term has announced itself.
func Release(term uint64) []byte { return serviceCommand(term, true) }

func serviceCommand(term uint64, over bool) []byte {
	return codec.AppendBool(codec.AppendUint(head(kindService), term), over)
}

// Released reports whether the gateway that announced itself last has released its term. A new leader that has applied all entries from
// before its own term then knows that nobody serves.
func (s *State) Released() bool { return s.service.over }

// Begin sets s to the state of a new cluster with one store, and returns its records.
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
				return nil, s.version, nil // the store's program does not support it
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

// applyService applies Serve and Release. The result is 1, or 0 if a gateway of a later term has announced itself.
func (s *State) applyService(d *codec.Decoder) (changes []Change, result uint64, err error) {
	next := service{term: d.Uint(), over: d.Bool()}
	if err := end(d); err != nil || next.term < s.service.term {
		return nil, 0, err
	}
	s.service = next
	return []Change{{Name: []byte{'g'}, Value: codec.AppendBool(codec.AppendUint(nil, next.term), next.over)}}, 1, nil
}

// applySafepoint sets or deletes a safepoint, and deletes the expired ones. The result is 1, or 0 if there are too many.
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

// NextID returns the id that is allocated next.
func (s *State) NextID() uint64 { return s.nextID }

// Mark returns the mark.
func (s *State) Mark() clock.Timestamp { return s.mark }

// Version returns the cluster version.
func (s *State) Version() uint64 { return s.version }

// Known returns the newest version that all stores support that are not removed, at least the cluster's.
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

// Oldest returns the oldest timestamp of the safepoints that have not expired at now, or ts if that is older.
func (s *State) Oldest(ts, now clock.Timestamp) clock.Timestamp {
	for _, p := range s.safepoints {
		if p.Until > now {
			ts = min(ts, p.TS)
		}
	}
	return ts
}

// Load adds a record that a Change has written. name is Change.Name.
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

// end returns the decoder's error, or one for bytes that are left over.
func end(d *codec.Decoder) error {
	if err := d.End(); err != nil {
		return fmt.Errorf("%w: %w", ErrCommand, err)
	}
	return nil
}
