package plan

import (
	"fmt"
	"strings"

	"github.com/pandodb/pando/syntax"
)

// viewNaming makes names for columns of a view that have no alias, where the text of the expression is no valid name or is taken by another column.
type viewNaming struct {
	// blocks are the blocks of the view's query itself, of which first gives the names; column counts their columns.
	first  *syntax.Select
	blocks map[*syntax.Select]bool
	column int
	// listed says that the statement lists the names.
	listed bool
}

func newViewNaming(q *syntax.Query, listed bool) *viewNaming {
	n := &viewNaming{first: topOf(q).first, blocks: map[*syntax.Select]bool{}, listed: listed}
	n.collect(q.Body)
	return n
}

func (n *viewNaming) collect(body syntax.QueryBody) {
	switch body := body.(type) {
	case *syntax.Select:
		n.blocks[body] = true
	case *syntax.Query:
		n.collect(body.Body)
	case *syntax.SetOp:
		n.collect(body.Left)
		n.collect(body.Right)
	}
}

// madeName reports whether an element has a name that was made of its text.
func madeName(it *item) bool {
	if it.syntax == nil || it.syntax.HasAlias {
		return false
	}
	_, column := unparen(it.syntax.Expr).(*syntax.ColumnRef)
	return !column
}

// nameCharsMax is the length of a column's name.
const nameCharsMax = 64

// name gives the elements of a block the names that MySQL makes.
func (n *viewNaming) name(blk *block) {
	if n == nil || !n.blocks[blk.sel] {
		return
	}
	for _, it := range blk.items {
		n.column++
		if name := it.info.Name; madeName(it) && (strings.HasSuffix(name, " ") || name == "" || len([]rune(name)) > nameCharsMax) {
			it.info.Name = fmt.Sprintf("Name_exp_%d", n.column)
		}
	}
	if blk.sel != n.first || n.listed {
		return
	}
	u := uniqueNames{own: map[*item]string{}, taken: map[string]*item{}, attempts: map[string]int{}}
	for _, it := range blk.items {
		u.own[it] = it.info.Name
		other := u.taken[strings.ToLower(it.info.Name)]
		u.taken[strings.ToLower(it.info.Name)] = it
		switch {
		case other == nil:
		case madeName(it):
			u.taken[strings.ToLower(it.info.Name)] = other
			u.rename(it)
		case madeName(other):
			u.rename(other)
		}
	}
}

// uniqueNames gives elements of a select list names that no other one has.
type uniqueNames struct {
	own      map[*item]string // before any change
	taken    map[string]*item // by their names in lower case
	attempts map[string]int   // how many names were tried for those of one own name
}

func (u *uniqueNames) rename(it *item) {
	for own := u.own[it]; ; {
		name := "Name_exp_" + own
		if n := u.attempts[own]; n > 0 {
			name = fmt.Sprintf("Name_exp_%d_%s", n, own)
		}
		u.attempts[own]++
		if key := strings.ToLower(name); u.taken[key] == nil {
			it.info.Name, u.taken[key] = name, it
			return
		}
	}
}
