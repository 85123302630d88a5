package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"sync"
	"time"

	"github.com/pandodb/pando/clock"
	"github.com/pandodb/pando/cluster/identity"
	"github.com/pandodb/pando/infoschema"
)

// kindFacts is the call by which the gateway asks a node about its disk and its program. Nodes of an older program answer an error.
const kindFacts = identity.KindLast + 1

// factsEvery is how often the gateway asks.
const factsEvery = 10 * time.Second

// factBytesMax bounds an answer.
const factBytesMax = 4 << 10

var errFactsLong = errors.New("it is too long")

// factBook is what other nodes have told this one about themselves.
type factBook struct {
	mu   sync.Mutex // guards told; a leaf
	told map[uint64]*infoschema.StoreFacts
}

// of returns what a node has told last, nil if nothing.
func (b *factBook) of(node uint64) *infoschema.StoreFacts {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.told[node]
}

func (b *factBook) put(node uint64, f *infoschema.StoreFacts) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.told == nil {
		b.told = map[uint64]*infoschema.StoreFacts{}
	}
	b.told[node] = f
}

// ownFacts is what this node tells of itself.
func (n *Node) ownFacts() *infoschema.StoreFacts {
	m := n.engine.Metrics()
	return &infoschema.StoreFacts{SQL: n.MySQLAddr(), Status: n.StatusURL(), Version: Version, Capacity: int64(m.DiskSize), Available: int64(m.DiskFree), Start: n.start}
}

// factsMessage is the answer to kindFacts, as JSON.
type factsMessage struct {
	SQL       string `json:"sql"`
	Status    string `json:"status"`
	Version   string `json:"version"`
	Capacity  int64  `json:"capacity"`
	Available int64  `json:"available"`
	// Seconds is for how long the node has run: clocks of nodes differ.
	Seconds int64 `json:"seconds"`
}

func encodeFacts(f *infoschema.StoreFacts) ([]byte, error) {
	return json.Marshal(factsMessage{f.SQL, f.Status, f.Version, f.Capacity, f.Available, int64(clock.Now().Sub(f.Start).Seconds())})
}

func decodeFacts(b []byte) (*infoschema.StoreFacts, error) {
	var m factsMessage
	err := errFactsLong
	if len(b) <= factBytesMax {
		err = json.Unmarshal(b, &m)
	}
	if err == nil && (m.Capacity < 0 || m.Available < 0 || m.Seconds < 0 || m.Seconds > int64(math.MaxInt64/time.Second)) {
		err = errors.New("a number is out of range")
	}
	if err != nil {
		return nil, fmt.Errorf("what a node tells of itself: %w", err)
	}
	start := clock.Now().Add(-time.Duration(m.Seconds) * time.Second)
	return &infoschema.StoreFacts{SQL: m.SQL, Status: m.Status, Version: m.Version, Capacity: m.Capacity, Available: m.Available, Start: start}, nil
}

// askForFacts is a goroutine of the gateway: it asks the others again and again, and one that has just connected soon.
func (n *Node) askForFacts(ctx context.Context) {
	asked := map[uint64]time.Duration{}
	for {
		if t := n.transport(); t != nil {
			for _, node := range t.Nodes() {
				if at, before := asked[node.Node]; !node.Connected || before && clock.Since(at) < factsEvery {
					continue
				}
				asked[node.Node] = clock.Mono()
				limited, cancel := context.WithTimeout(ctx, reachMax)
				answer, err := t.Call(limited, node.Node, kindFacts, nil)
				cancel()
				if err != nil {
					continue // an older program, or it is gone again
				}
				if f, err := decodeFacts(answer); err == nil {
					n.facts.put(node.Node, f)
				}
			}
		}
		select {
		case <-ctx.Done():
			return
		case <-clock.After(membersInterval):
		}
	}
}
