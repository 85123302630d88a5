package session

import (
	"github.com/pandodb/pando/privilege"
	"github.com/pandodb/pando/types"
)

// The values of Node.readOnly beside 0: who has SUPER may write, or nobody.
const (
	readOnlyOthers = 1
	readOnlySuper  = 2
)

// applyNodeReadOnly is read_only. Switching it off ends super_read_only, too.
func applyNodeReadOnly(n *Node, value string) error {
	if value == "OFF" {
		n.readOnly.Store(0)
		n.SetGlobal("super_read_only", "OFF")
		return nil
	}
	n.readOnly.CompareAndSwap(0, readOnlyOthers)
	return nil
}

// applyNodeSuperReadOnly is super_read_only, which brings read_only.
func applyNodeSuperReadOnly(n *Node, value string) error {
	if value == "ON" {
		n.readOnly.Store(readOnlySuper)
		n.SetGlobal("read_only", "ON")
		return nil
	}
	n.readOnly.CompareAndSwap(readOnlySuper, readOnlyOthers)
	return nil
}

// mayWrite is error 1290 while the node is read-only for the session's account.
func (s *Session) mayWrite() error {
	switch mode := s.node.readOnly.Load(); {
	case mode == readOnlySuper:
		return types.Errorf(types.ErOptionPreventsStatement, "--super-read-only")
	case mode == readOnlyOthers && !s.account().Has(privilege.Super, "", ""):
		return types.Errorf(types.ErOptionPreventsStatement, "--read-only")
	}
	return nil
}
