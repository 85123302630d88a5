package kv

import (
	"errors"

	"github.com/pandodb/pando/clock"
	"github.com/pandodb/pando/kvapi"
)

// Client is how the transaction layer reaches stores. This is the API; the body follows.
type Client struct{}

// Owner is what a store keeps per transaction: its locks.
type Owner struct{ n int }

// Locks returns the number of locks held.
func (o *Owner) Locks() int { return o.n }

// Snapshot is a registered timestamp.
type Snapshot struct{ ts clock.Timestamp }

// TS returns the timestamp.
func (s *Snapshot) TS() clock.Timestamp { return s.ts }

// Registered reports whether the snapshot is registered.
func (s *Snapshot) Registered() bool { return s.ts != 0 }

var errStub = errors.New("kv: not there yet")

func (c *Client) Watermark() clock.Timestamp                { return 0 }
func (c *Client) Get(r *kvapi.GetRequest) (bool, error)     { return false, errStub }
func (c *Client) Scan(r *kvapi.ScanRequest) ([]byte, error) { return nil, errStub }
func (c *Client) Lock(o *Owner, r *kvapi.LockRequest) (kvapi.LockResult, error) {
	return kvapi.LockResult{}, errStub
}
func (c *Client) Unlock(o *Owner, key []byte, tag uint32)                          {}
func (c *Client) ReleaseLocks(o *Owner)                                            {}
func (c *Client) OpenOwner(o *Owner, id uint64)                                    {}
func (c *Client) CloseOwner(o *Owner)                                              {}
func (c *Client) Commit(o *Owner, r *kvapi.CommitRequest) (clock.Timestamp, error) { return 0, errStub }
func (c *Client) WaitDurable(ts clock.Timestamp, i *kvapi.Interrupt) error         { return errStub }
func (c *Client) Register(s *Snapshot)                                             {}
func (c *Client) Unregister(s *Snapshot)                                           {}
func (c *Client) Counter(key []byte) (uint64, error)                               { return 0, errStub }
