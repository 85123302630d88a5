package plan

import (
	"fmt"
	"strings"

	"github.com/pandodb/pando/syntax"
)

// viewNaming makes the names of a view's columns that nobody gave: the text of an expression may be no name, or be the name of another column.
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
	own := make([]string, len(blk.items))
	for i, it := range blk.items {
		own[i] = it.info.Name
	}
	for i, it := range blk.items {
		for k := range i {
			if !fold(blk.items[k].info.Name, it.info.Name) {
				continue
			}
			if madeName(it) {
				it.info.Name = freeName(blk.items[:i+1], i, own[i])
			} else if madeName(blk.items[k]) {
				blk.items[k].info.Name = freeName(blk.items[:i+1], k, own[k])
			}
		}
	}
}

// freeName is a name for element at that no other one has.
func freeName(items []*item, at int, own string) string {
	for attempt := 0; ; attempt++ {
		name := "Name_exp_" + own
		if attempt > 0 {
			name = fmt.Sprintf("Name_exp_%d_%s", attempt, own)
		}
		taken := false
		for i, it := range items {
			taken = taken || i != at && fold(it.info.Name, name)
		}
		if !taken {
			return name
		}
	}
}
