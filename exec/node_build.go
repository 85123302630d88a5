package exec

import "github.com/pandodb/pando/types"

// Statements that change rows are run by Run itself: they yield no rows, so they are
// no operators, and they stand only at the root of a plan.

func (n *Insert) build(*builder) (operator, error) { return nil, errNotOperator }
func (n *Update) build(*builder) (operator, error) { return nil, errNotOperator }
func (n *Delete) build(*builder) (operator, error) { return nil, errNotOperator }

func (n *MultiUpdate) build(*builder) (operator, error) { return nil, errNotOperator }
func (n *MultiDelete) build(*builder) (operator, error) { return nil, errNotOperator }

var errNotOperator = types.NewError(types.ErUnknownError, "a statement that changes rows was planned as a source of rows")
