package expr

import "github.com/pandodb/pando/types"

type randState struct{}

var stringTable, codingTable, numericTable, dateTable, jsonTable map[string]function

func buildStrcmp(b *BuildContext, n *Node) error { return buildAbsent(b, n) }

func (a *AggStates) jsonAdd(ctx *Ctx, g uint32, args []types.Value) error { return nil }
func (a *AggStates) jsonResult(ctx *Ctx, g uint32) (types.Value, error)   { return types.Null(), nil }
