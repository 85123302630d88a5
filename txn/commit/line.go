package commit

import (
	"fmt"

	"github.com/pandodb/pando/clock"
	"github.com/pandodb/pando/kvapi"
)

// Evaluate evaluates a request that goes through a region's line: all but a CheckRequest, which changes nothing. The result may be returned once the
// change is applied, or at once if there is none. The result of a stamped change is completed by Stamp.
func Evaluate(st State, request any) (c Change, result any, err error) {
	switch r := request.(type) {
	case *kvapi.PrewriteRequest:
		c, res, err := Prewrite(st, r)
		if c.Stamped() && res == (kvapi.PrewriteResult{}) {
			return c, nil, err // Stamp makes it
		}
		return c, res, err
	case *kvapi.FinishRequest:
		return boxed(FinishKeys(st, r))
	case *kvapi.StatusRequest:
		return boxed(Status(st, r))
	case *kvapi.SecondariesRequest:
		return boxed(CheckSecondaries(st, r))
	case *kvapi.HeartbeatRequest:
		c, err = Heartbeat(st, r)
		return c, nil, err
	}
	return Change{}, nil, fmt.Errorf("commit: %T does not go through a line", request)
}

func boxed[R any](c Change, result R, err error) (Change, any, error) { return c, result, err }

// Region returns the region that a request names.
func Region(request any) kvapi.RegionRef {
	switch r := request.(type) {
	case *kvapi.PrewriteRequest:
		return r.Region
	case *kvapi.FinishRequest:
		return r.Region
	case *kvapi.StatusRequest:
		return r.Region
	case *kvapi.SecondariesRequest:
		return r.Region
	case *kvapi.CheckRequest:
		return r.Region
	case *kvapi.HeartbeatRequest:
		return r.Region
	}
	return kvapi.RegionRef{}
}

// Keys calls use with each key that a request reads, until it returns false. Of spans it passes the start only: State.Changed checks them.
func Keys(request any, use func(key []byte) bool) {
	each := func(keys ...[]byte) {
		for _, key := range keys {
			if !use(key) {
				return
			}
		}
	}
	switch r := request.(type) {
	case *kvapi.PrewriteRequest:
		for i := range r.Mutations {
			if !use(r.Mutations[i].Key) {
				return
			}
		}
		for i := range r.Checks {
			if !use(r.Checks[i].Span.Start) {
				return
			}
		}
	case *kvapi.FinishRequest:
		each(r.Keys...)
	case *kvapi.StatusRequest:
		each(r.Primary)
	case *kvapi.SecondariesRequest:
		each(r.Keys...)
	case *kvapi.CheckRequest:
		for i := range r.Checks {
			if !use(r.Checks[i].Span.Start) {
				return
			}
		}
	case *kvapi.HeartbeatRequest:
		each(r.Primary)
	}
}

// Stamp gives a stamped change the timestamp of its entry, which was fetched after its marks were published, and completes the result.
func (c *Change) Stamp(ts, maxCommit clock.Timestamp, result any) (any, error) {
	if maxCommit != 0 && ts > maxCommit {
		return nil, kvapi.ErrMaxCommit
	}
	c.TS = ts
	r, _ := result.(kvapi.PrewriteResult)
	if c.Kind == Write {
		r.Commit = ts
	} else {
		r.Least = max(r.Least, ts)
	}
	return r, nil
}
