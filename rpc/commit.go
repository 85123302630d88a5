package rpc

import (
	"fmt"

	"github.com/pandodb/pando/internal/codec"
	"github.com/pandodb/pando/kvapi"
)

// The requests of a cluster's commits, and their replies. Each wraps the type of kvapi that its comment names or its field has.
type (
	// Prewrite is kvapi.PrewriteRequest.
	Prewrite struct{ R kvapi.PrewriteRequest }
	// Finish is kvapi.FinishRequest.
	Finish struct{ R kvapi.FinishRequest }
	// Status is kvapi.StatusRequest.
	Status struct{ R kvapi.StatusRequest }
	// Secondaries is kvapi.SecondariesRequest.
	Secondaries struct{ R kvapi.SecondariesRequest }
	// Check is kvapi.CheckRequest.
	Check struct{ R kvapi.CheckRequest }
	// Heartbeat is kvapi.HeartbeatRequest.
	Heartbeat struct{ R kvapi.HeartbeatRequest }

	// Prewritten answers Prewrite.
	Prewritten struct{ R kvapi.PrewriteResult }
	// Finished answers Finish.
	Finished struct{ R kvapi.FinishResult }
	// StatusFound answers Status.
	StatusFound struct{ R kvapi.Status }
	// SecondariesFound answers Secondaries.
	SecondariesFound struct{ R kvapi.Secondaries }
)

// The kinds of these messages. They are part of the encoding: never change or reuse one.
const (
	KindPrewrite Kind = 32 + iota
	KindFinish
	KindStatus
	KindSecondaries
	KindCheck
	KindHeartbeat

	KindPrewritten Kind = 96 + iota
	KindFinished
	KindStatusFound
	KindSecondariesFound
)

// newCommitMessage returns an empty message of a kind of this file, nil if k is none of them.
func newCommitMessage(k Kind) Message {
	switch k {
	case KindPrewrite:
		return &Prewrite{}
	case KindFinish:
		return &Finish{}
	case KindStatus:
		return &Status{}
	case KindSecondaries:
		return &Secondaries{}
	case KindCheck:
		return &Check{}
	case KindHeartbeat:
		return &Heartbeat{}
	case KindPrewritten:
		return &Prewritten{}
	case KindFinished:
		return &Finished{}
	case KindStatusFound:
		return &StatusFound{}
	case KindSecondariesFound:
		return &SecondariesFound{}
	}
	return nil
}

// wrap returns the message for a request of kvapi.
func wrap(request any) (Message, error) {
	switch r := request.(type) {
	case *kvapi.PrewriteRequest:
		return &Prewrite{*r}, nil
	case *kvapi.FinishRequest:
		return &Finish{*r}, nil
	case *kvapi.StatusRequest:
		return &Status{*r}, nil
	case *kvapi.SecondariesRequest:
		return &Secondaries{*r}, nil
	case *kvapi.CheckRequest:
		return &Check{*r}, nil
	case *kvapi.HeartbeatRequest:
		return &Heartbeat{*r}, nil
	}
	return nil, fmt.Errorf("rpc: %T is no request", request)
}

// unwrap returns the request of kvapi in a message, nil if the message is of another kind.
func unwrap(m Message) any {
	switch m := m.(type) {
	case *Prewrite:
		return &m.R
	case *Finish:
		return &m.R
	case *Status:
		return &m.R
	case *Secondaries:
		return &m.R
	case *Check:
		return &m.R
	case *Heartbeat:
		return &m.R
	}
	return nil
}

// wrapResult returns the message for a result of kvapi. Requests without a result are answered by Done.
func wrapResult(result any) Message {
	switch r := result.(type) {
	case kvapi.PrewriteResult:
		return &Prewritten{r}
	case kvapi.FinishResult:
		return &Finished{r}
	case kvapi.Status:
		return &StatusFound{r}
	case kvapi.Secondaries:
		return &SecondariesFound{r}
	}
	return &Done{Yes: true}
}

// unwrapResult returns the result of kvapi in a message, nil if the message is of another kind.
func unwrapResult(m Message) any {
	switch m := m.(type) {
	case *Prewritten:
		return m.R
	case *Finished:
		return m.R
	case *StatusFound:
		return m.R
	case *SecondariesFound:
		return m.R
	}
	return nil
}

// Kind implements Message.
func (*Prewrite) Kind() Kind { return KindPrewrite }

// Kind implements Message.
func (*Finish) Kind() Kind { return KindFinish }

// Kind implements Message.
func (*Status) Kind() Kind { return KindStatus }

// Kind implements Message.
func (*Secondaries) Kind() Kind { return KindSecondaries }

// Kind implements Message.
func (*Check) Kind() Kind { return KindCheck }

// Kind implements Message.
func (*Heartbeat) Kind() Kind { return KindHeartbeat }

// Kind implements Message.
func (*Prewritten) Kind() Kind { return KindPrewritten }

// Kind implements Message.
func (*Finished) Kind() Kind { return KindFinished }

// Kind implements Message.
func (*StatusFound) Kind() Kind { return KindStatusFound }

// Kind implements Message.
func (*SecondariesFound) Kind() Kind { return KindSecondariesFound }

func appendChecks(b []byte, checks []kvapi.Check) []byte {
	b = codec.AppendUint(b, len(checks))
	for i := range checks {
		b = append(codec.AppendUint(codec.AppendSpan(b, checks[i].Span), checks[i].Seen), byte(checks[i].Kind))
		b = codec.AppendBool(b, checks[i].Live)
	}
	return b
}

func (d *decoder) checks() (checks []kvapi.Check) {
	for range d.Count(4) {
		checks = append(checks, kvapi.Check{Span: d.Span(), Seen: d.TS(), Kind: kvapi.RangeKind(d.Byte(byte(kvapi.RangeWhole))), Live: d.Bool()})
	}
	return checks
}

func (m *Prewrite) appendTo(b []byte) []byte {
	r := &m.R
	b = codec.AppendBytes(codec.AppendUint(appendRegion(b, r.Region), r.Start), r.Primary)
	b = codec.AppendUint(b, len(r.Mutations))
	for i := range r.Mutations {
		w := &r.Mutations[i]
		b = codec.AppendUint(append(b, byte(w.Kind), byte(w.Expect)), w.Prev)
		b = codec.AppendBytes(codec.AppendBytes(b, w.Key), w.Value)
	}
	b = appendChecks(codec.AppendBool(b, r.OnePhase), r.Checks)
	b = codec.AppendUint(b, len(r.Counters))
	for _, c := range r.Counters {
		b = codec.AppendUint(codec.AppendBytes(b, c.Key), c.Value)
	}
	b = codec.AppendUint(codec.AppendKeys(codec.AppendBool(b, r.Async), r.Secondaries), r.MaxCommit)
	return codec.AppendUint(codec.AppendUint(codec.AppendUint(b, r.Coordinator.TTL), r.Coordinator.Node), r.Coordinator.NodeEpoch)
}

func (m *Prewrite) readFrom(d *decoder) {
	r := &m.R
	*r = kvapi.PrewriteRequest{Region: d.region(), Start: d.TS(), Primary: d.Bytes()}
	for range d.Count(5) {
		r.Mutations = append(r.Mutations, kvapi.Mutation{Kind: kvapi.MutationKind(d.Byte(byte(kvapi.MutationDelete))),
			Expect: kvapi.Expect(d.Byte(byte(kvapi.ExpectVersion))), Prev: d.TS(), Key: d.Bytes(), Value: d.Bytes()})
		if d.Err() != nil {
			return
		}
	}
	r.OnePhase, r.Checks = d.Bool(), d.checks()
	for range d.Count(2) {
		r.Counters = append(r.Counters, kvapi.CounterRaise{Key: d.Bytes(), Value: d.Uint()})
	}
	r.Async, r.Secondaries, r.MaxCommit = d.Bool(), d.Keys(), d.TS()
	r.Coordinator = kvapi.Coordinator{TTL: d.Uint(), Node: d.Uint(), NodeEpoch: d.Uint()}
}

func (m *Finish) appendTo(b []byte) []byte {
	b = codec.AppendBytes(codec.AppendUint(appendRegion(b, m.R.Region), m.R.Start), m.R.Primary)
	return codec.AppendUint(codec.AppendKeys(b, m.R.Keys), m.R.Commit)
}

func (m *Finish) readFrom(d *decoder) {
	m.R = kvapi.FinishRequest{Region: d.region(), Start: d.TS(), Primary: d.Bytes(), Keys: d.Keys(), Commit: d.TS()}
}

func (m *Status) appendTo(b []byte) []byte {
	b = codec.AppendBytes(codec.AppendUint(appendRegion(b, m.R.Region), m.R.Start), m.R.Primary)
	return codec.AppendBool(codec.AppendBool(codec.AppendUint(b, m.R.Now), m.R.Dead), m.R.Missing)
}

func (m *Status) readFrom(d *decoder) {
	m.R = kvapi.StatusRequest{Region: d.region(), Start: d.TS(), Primary: d.Bytes(), Now: d.TS(), Dead: d.Bool(), Missing: d.Bool()}
}

func (m *Secondaries) appendTo(b []byte) []byte {
	return codec.AppendKeys(codec.AppendUint(appendRegion(b, m.R.Region), m.R.Start), m.R.Keys)
}

func (m *Secondaries) readFrom(d *decoder) {
	m.R = kvapi.SecondariesRequest{Region: d.region(), Start: d.TS(), Keys: d.Keys()}
}

func (m *Check) appendTo(b []byte) []byte {
	return appendChecks(codec.AppendUint(codec.AppendUint(appendRegion(b, m.R.Region), m.R.Start), m.R.At), m.R.Checks)
}

func (m *Check) readFrom(d *decoder) {
	m.R = kvapi.CheckRequest{Region: d.region(), Start: d.TS(), At: d.TS(), Checks: d.checks()}
}

func (m *Heartbeat) appendTo(b []byte) []byte {
	return codec.AppendUint(codec.AppendBytes(codec.AppendUint(appendRegion(b, m.R.Region), m.R.Start), m.R.Primary), m.R.TTL)
}

func (m *Heartbeat) readFrom(d *decoder) {
	m.R = kvapi.HeartbeatRequest{Region: d.region(), Start: d.TS(), Primary: d.Bytes(), TTL: d.Uint()}
}

func (m *Prewritten) appendTo(b []byte) []byte {
	return codec.AppendUint(codec.AppendUint(b, m.R.Least), m.R.Commit)
}
func (m *Prewritten) readFrom(d *decoder) {
	m.R = kvapi.PrewriteResult{Least: d.TS(), Commit: d.TS()}
}

func (m *Finished) appendTo(b []byte) []byte { return codec.AppendUint(b, m.R.Commit) }
func (m *Finished) readFrom(d *decoder)      { m.R = kvapi.FinishResult{Commit: d.TS()} }

func (m *StatusFound) appendTo(b []byte) []byte {
	return codec.AppendKeys(codec.AppendUint(codec.AppendUint(append(b, byte(m.R.State)), m.R.Commit), m.R.Least), m.R.Secondaries)
}

func (m *StatusFound) readFrom(d *decoder) {
	m.R = kvapi.Status{State: kvapi.TxnState(d.Byte(byte(kvapi.TxnOrphaned))), Commit: d.TS(), Least: d.TS(), Secondaries: d.Keys()}
}

func (m *SecondariesFound) appendTo(b []byte) []byte {
	return codec.AppendUint(codec.AppendBool(codec.AppendUint(b, m.R.Commit), m.R.RolledBack), m.R.Least)
}

func (m *SecondariesFound) readFrom(d *decoder) {
	m.R = kvapi.Secondaries{Commit: d.TS(), RolledBack: d.Bool(), Least: d.TS()}
}
