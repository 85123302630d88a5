package expr

import "github.com/pandodb/pando/types"

// LikeBegin returns what the values begin with that match the LIKE call like, so that the planner can make an index range of it. begin is an
// expression without columns: each match begins with that text, compared character by character in the collation coll. It is NULL if nothing
// matches and empty if anything may. If whole, each match is equal to it. ok is false unless like is a call of "like" whose pattern has one
// value during a statement.
func LikeBegin(b *BuildContext, like Expr) (begin Expr, coll types.CollationID, whole, ok bool) {
	if !like.IsCall("like") || !IsConstInStatement(like.args[1]) || !IsDeterministic(like.args[1]) {
		return nil, 0, false, false
	}
	p, is := like.aux.(*likePattern)
	if !is || p.dynamic {
		return nil, 0, false, false
	}
	y := like.args[1]
	n := newCall("like begin", []Expr{y})
	n.typ, n.aux, n.eval = stringType(charLength(&y.typ), p.coll), p, evalLikeBegin
	if v, constant := y.ConstValue(); constant && v.K == types.KindString {
		_, whole = types.LikeBegin(v.B, p.escape, p.coll)
	}
	begin = foldHidden(b, n)
	if v, constant := begin.ConstValue(); constant {
		begin = Literal(v) // which String prints as the text, not as the call that was folded
	}
	return begin, p.coll, whole, true
}

func evalLikeBegin(ctx *Ctx, n *Node, row []types.Value) (types.Value, error) {
	y, err := ctx.text(n.args[0], row)
	if err != nil || y.IsNull() {
		return types.Null(), err
	}
	p := n.aux.(*likePattern)
	begin, _ := types.LikeBegin(y.B, p.escape, p.coll)
	return types.String(begin, p.coll), nil
}
