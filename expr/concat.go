package expr

import (
	"encoding/binary"
	"slices"

	"github.com/pandodb/pando/types"
)

// concat is the state of one group of GROUP_CONCAT or of a JSON aggregate. Without ORDER BY items are appended to text; with it, they are
// collected and sorted when the result is read.
type concat struct {
	text  []byte
	some  bool // text has at least one item, which may be empty
	cut   bool // group_concat_max_len was reached
	items []concatItem
	keys  []jsonPair // JSON_OBJECTAGG
}

type concatItem struct {
	text []byte
	keys []types.Value
}

type jsonPair struct{ key, value string }

func (ctx *Ctx) concatLimit() int {
	if ctx.GroupConcatMaxLen > 0 {
		return ctx.GroupConcatMaxLen
	}
	return groupConcatMax
}

func (a *AggStates) concatAdd(ctx *Ctx, g uint32, args, keys []types.Value) {
	c := &a.texts[g]
	a.count[g]++
	if len(a.spec.order) == 0 {
		a.concatText(ctx, g, c, args)
		return
	}
	item := concatItem{keys: keys}
	for i := range args {
		item.text = append(item.text, ctx.textOfTyped(&args[i], &a.spec.args[i].typ)...)
	}
	a.bytes += int64(len(item.text)) + 48
	c.items = append(c.items, item)
}

// concatText appends one item to the text, up to the limit.
func (a *AggStates) concatText(ctx *Ctx, g uint32, c *concat, args []types.Value) {
	if c.cut {
		return
	}
	before := cap(c.text)
	if c.some {
		c.text = append(c.text, a.spec.sep...)
	}
	for i := range args {
		c.text = append(c.text, ctx.textOfTyped(&args[i], &a.spec.args[i].typ)...)
	}
	c.some = true
	a.bytes += int64(cap(c.text) - before)
	c.limit(ctx, a, g)
}

// limit cuts the text at group_concat_max_len bytes, at a character boundary, with warning 1260.
func (c *concat) limit(ctx *Ctx, a *AggStates, g uint32) {
	limit := ctx.concatLimit()
	if len(c.text) <= limit {
		return
	}
	cs := a.spec.typ.Coll.Charset()
	c.text = c.text[:limit]
	c.text = c.text[:cs.ValidPrefix(c.text)]
	c.cut = true
	ctx.Warn(types.LevelWarning, errCutByGroupConcat, a.count[g])
}

// errCutByGroupConcat is MySQL's ER_CUT_VALUE_GROUP_CONCAT, "Row %u was cut by GROUP_CONCAT()".
const errCutByGroupConcat = 1260

func (a *AggStates) concatResult(ctx *Ctx, g uint32) (types.Value, error) {
	c := &a.texts[g]
	if len(c.items) > 0 {
		if err := a.sortItems(ctx, c); err != nil {
			return types.Null(), err
		}
		for _, it := range c.items {
			if c.cut {
				break
			}
			if c.some {
				c.text = append(c.text, a.spec.sep...)
			}
			c.text, c.some = append(c.text, it.text...), true
			c.limit(ctx, a, g)
		}
		c.items = nil
	}
	if !c.some {
		return types.Null(), nil
	}
	return types.String(c.text, a.spec.typ.Coll), nil
}

// sortItems sorts the items by ORDER BY. Of equal items the one added last comes first, as in MySQL. A sort cannot be aborted, but ends soon
// once all items compare equal, which they do after an interrupt.
func (a *AggStates) sortItems(ctx *Ctx, c *concat) (err error) {
	slices.Reverse(c.items)
	slices.SortStableFunc(c.items, func(x, y concatItem) int {
		if err == nil {
			err = ctx.steps(1)
		}
		if err != nil {
			return 0
		}
		for i, o := range a.spec.order {
			a, b := &x.keys[i], &y.keys[i]
			order := 0
			if a.K == b.K && (a.K == types.KindEnum || a.K == types.KindSet) { // these are sorted by number
				order = orderUints(uint64(a.N), uint64(b.N))
			} else {
				order = ctx.compare(a, b, o.Expr.typ.Coll)
			}
			if order != 0 {
				if o.Desc {
					return -order
				}
				return order
			}
		}
		return 0
	})
	return err
}

// concatMerge appends the state o of another AggStates, which has count rows, to that of group g. It keeps o's items.
func (a *AggStates) concatMerge(ctx *Ctx, g uint32, o *concat, count int64) error {
	c := &a.texts[g]
	a.count[g] += count
	c.items = append(c.items, o.items...)
	c.keys = append(c.keys, o.keys...)
	if o.some && !c.cut {
		if c.some {
			sep := a.spec.sep
			if a.spec.kind != aggGroupConcat {
				sep = []byte(", ")
			}
			c.text = append(c.text, sep...)
		}
		c.text, c.some = append(c.text, o.text...), true
		if a.spec.kind == aggGroupConcat {
			c.limit(ctx, a, g)
		}
	}
	return nil
}

func (c *concat) appendState(dst []byte) []byte {
	dst = append(dst, boolByte(c.some), boolByte(c.cut))
	dst = appendLengthed(dst, string(c.text))
	dst = binary.AppendUvarint(dst, uint64(len(c.items)))
	for _, it := range c.items {
		dst = appendLengthed(dst, string(it.text))
		dst = binary.AppendUvarint(dst, uint64(len(it.keys)))
		for i := range it.keys {
			dst = appendValue(dst, &it.keys[i])
		}
	}
	dst = binary.AppendUvarint(dst, uint64(len(c.keys)))
	for _, p := range c.keys {
		dst = appendLengthed(appendLengthed(dst, p.key), p.value)
	}
	return dst
}

func appendLengthed(dst []byte, s string) []byte {
	dst = binary.AppendUvarint(dst, uint64(len(s)))
	return append(dst, s...)
}

func (c *concat) readState(r *stateReader) {
	c.some, c.cut = r.b[0] != 0, r.b[1] != 0
	r.b = r.b[2:]
	c.text = slices.Clone(r.bytes(r.uvarint()))
	for n := r.uvarint(); n > 0; n-- {
		it := concatItem{text: slices.Clone(r.bytes(r.uvarint()))}
		for k := r.uvarint(); k > 0; k-- {
			it.keys = append(it.keys, r.value().Clone())
		}
		c.items = append(c.items, it)
	}
	for n := r.uvarint(); n > 0; n-- {
		c.keys = append(c.keys, jsonPair{string(r.bytes(r.uvarint())), string(r.bytes(r.uvarint()))})
	}
}

func boolByte(b bool) byte {
	if b {
		return 1
	}
	return 0
}
