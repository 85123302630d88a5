package exec

import (
	"github.com/pandodb/pando/sqlapi"
	"github.com/pandodb/pando/types"
)

// IntoVars stores the one row of its input in user variables: SELECT … INTO @a, @b. It
// stands only at the root of a plan.
type IntoVars struct {
	Base
	Input Node
	Names []string // one per column
}

// Children returns the query.
func (n *IntoVars) Children() []Node { return []Node{n.Input} }

// Describe says what EXPLAIN shows.
func (n *IntoVars) Describe() Description { return n.describe("IntoVars") }

func (n *IntoVars) outputs() []types.Type            { return nil }
func (n *IntoVars) build(*builder) (operator, error) { return nil, errNotOperator }

// runInto runs the query. More than one row is an error, none a warning that leaves the
// variables as they are.
func (rt *Runtime) runInto(n *IntoVars) (sqlapi.Result, error) {
	var row []types.Value
	err := rt.drain(n.Input, func(b *types.Batch) error {
		if row != nil || b.Rows() > 1 {
			return types.Errorf(types.ErTooManyRows)
		}
		row = make([]types.Value, len(n.Names))
		for i := range row {
			row[i] = b.Cols[i].Value(b.Row(0)).Clone()
		}
		return nil
	})
	switch {
	case err != nil:
		return sqlapi.Result{}, err
	case row == nil:
		rt.Ctx.Warn(types.LevelWarning, types.ErSPFetchNoData)
		return sqlapi.Result{}, nil
	}
	if err := rt.waitSeen(); err != nil {
		return sqlapi.Result{}, err
	}
	for i, name := range n.Names {
		rt.Ctx.Session.SetUserVar(name, row[i])
	}
	return sqlapi.Result{AffectedRows: 1}, nil
}
