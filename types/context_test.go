package types_test

import (
	"testing"

	"github.com/pandodb/pando/types"
)

// TestStrictFailure: a warning that strict mode makes an error is taken once, comes with a fork that is absorbed, and is forgotten with the
// statement.
func TestStrictFailure(t *testing.T) {
	c := &types.Context{Strict: true}
	warn := func(c *types.Context) { c.Warn(types.LevelWarning, types.ErTruncatedWrongValue, "DOUBLE", "x") }
	warn(c)
	f := c.Fork()
	if err := f.TakeFailure(); err != nil {
		t.Errorf("a fork begins with %v", err)
	}
	if c.TakeFailure() == nil || c.TakeFailure() != nil {
		t.Error("an error is not taken once")
	}
	warn(f)
	c.Absorb(f)
	if err := f.TakeFailure(); err != nil {
		t.Errorf("an absorbed fork has %v", err)
	}
	if c.TakeFailure() == nil {
		t.Error("the error of a fork is lost")
	}
	warn(c)
	c.ResetWarnings()
	if err := c.TakeFailure(); err != nil {
		t.Errorf("the next statement has %v", err)
	}
}
