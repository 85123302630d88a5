package server

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/pandodb/pando/cluster/identity"
)

// membershipName is the file in a data directory with a node's membership of a cluster and its private key.
const membershipName = "node.json"

// membershipBytesMax bounds the size of that file.
const membershipBytesMax = 1 << 20

// membership is what a node of a cluster saves outside of its store. Until a cluster has accepted the node it has only the key: a repeated
// request with the same key gets the same node id. The file is its JSON, bytes in base64.
type membership struct {
	Cluster uint64 `json:"cluster"`
	Node    uint64 `json:"node"`
	// Seed is the node's private key; Certificate and Authority are X.509, DER.
	Seed        []byte `json:"key"`
	Certificate []byte `json:"certificate"`
	Authority   []byte `json:"authority"`
	// Members are the addresses of the other nodes when the file was written. A node with a copy of region 0 uses the addresses there.
	Members []identity.Place `json:"members"`
}

// loadMembership reads the file; it returns nil where there is none.
func loadMembership(dir string) (*membership, error) {
	path := filepath.Join(dir, membershipName)
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err == nil && (!info.Mode().IsRegular() || info.Size() > membershipBytesMax) {
		err = errors.New("it is no file of Pando's")
	}
	var text []byte
	if err == nil {
		text, err = os.ReadFile(path)
	}
	m := &membership{}
	if err == nil {
		err = json.Unmarshal(text, m)
	}
	if joined := m.Node != 0; err == nil && (len(m.Seed) == 0 || joined && (m.Cluster == 0 || len(m.Certificate) == 0 || len(m.Authority) == 0)) {
		err = errors.New("it names no key, no cluster or no certificate")
	}
	if err != nil {
		return nil, fmt.Errorf("%s, which says of which cluster this node is, cannot be read: %w", path, err)
	}
	return m, nil
}

// save writes the file durably, whole or not at all.
func (m *membership) save(dir string) error {
	text, err := json.MarshalIndent(m, "", "\t")
	if err != nil {
		return err
	}
	if err := writeDurably(dir, membershipName, append(text, '\n')); err != nil {
		return fmt.Errorf("the file that says of which cluster this node is cannot be written: %w", err)
	}
	return nil
}
