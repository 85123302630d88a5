package exec

import (
	"github.com/pandodb/pando/expr"
	"github.com/pandodb/pando/types"
)

// keyer evaluates expressions over a batch and encodes a row's values as one order
// key. Plain column references read the batch's own vector.
type keyer struct {
	ctx   *expr.Ctx
	exprs []expr.Expr
	desc  []bool
	// lengths[i] is set for SortKey.Lengths; nil if it is for none. warned tells that the warning was given.
	lengths []bool
	warned  bool
	own     []*types.Vector // computed expressions; nil for columns
	vecs    []*types.Vector // one per expression, of the batch at hand
	nulls   bool            // some of them may hold NULLs
	long    bool            // some of them are long
	mem     account         // of the keys of long texts, and of many keys
	wide    int             // what the keys of the batch at hand take because there are many
}

// Keys of texts of keyLong bytes and more are counted before they are made: keyCopies times the text, for a key has two bytes for most characters, and
// whoever keeps it copies it.
const (
	keyLong   = 64 << 10
	keyCopies = 4
)

func (k *keyer) init(rt *Runtime, exprs []expr.Expr) {
	k.ctx, k.exprs, k.mem = rt.Ctx, exprs, rt.account()
	k.own = make([]*types.Vector, len(exprs))
	k.vecs = make([]*types.Vector, len(exprs))
	k.desc = make([]bool, len(exprs))
	for i, e := range exprs {
		if _, ok := e.ColumnIndex(); !ok {
			k.own[i] = types.NewVector(e.Type())
		}
	}
}

// initSort is init for the keys of ORDER BY.
func (k *keyer) initSort(rt *Runtime, keys []SortKey) {
	exprs := make([]expr.Expr, len(keys))
	for i := range keys {
		exprs[i] = keys[i].Expr
	}
	k.init(rt, exprs)
	for i := range keys {
		k.desc[i] = keys[i].Desc
		if keys[i].Lengths {
			if k.lengths == nil {
				k.lengths = make([]bool, len(keys))
			}
			k.lengths[i] = true
		}
	}
}

// batch evaluates the expressions over b.
func (k *keyer) batch(b *types.Batch) error {
	k.nulls, k.wide = false, 0
	// This stands for the values, the keys and their copies in a table of groups, which counts them only after the batch.
	if k.wide = wideBytes(len(k.exprs), b.Rows()); k.wide > 0 {
		if err := k.mem.change(int64(k.wide)); err != nil {
			return err
		}
	}
	for i, e := range k.exprs {
		if col, ok := e.ColumnIndex(); ok {
			k.vecs[i] = &b.Cols[col]
		} else {
			k.own[i].Reset()
			if err := e.EvalBatch(k.ctx, b, k.own[i]); err != nil {
				return err
			}
			k.vecs[i] = k.own[i]
		}
		k.nulls = k.nulls || k.vecs[i].HasNulls()
	}
	return k.book()
}

// book counts the keys of the current batch, and long values that were computed for them.
func (k *keyer) book() error {
	bytes := k.wide
	k.long = false
	for i, v := range k.vecs {
		n := longKeys(v)
		if bytes += n; n > 0 {
			k.long = true
			if k.own[i] != nil {
				bytes += cap(v.Data)
			}
		}
	}
	return k.mem.change(int64(bytes))
}

// longKeys returns what the keys of the long texts in v take.
func longKeys(v *types.Vector) (n int) {
	if len(v.Data) < keyLong {
		return 0
	}
	for at := 1; at < len(v.Off); at++ {
		if size := int(v.Off[at] - v.Off[at-1]); size >= keyLong {
			n += keyCopies * size
		}
	}
	return n
}

// rowKeys counts the keys that appendRowKey makes of b.
func (a *account) rowKeys(b *types.Batch) error {
	long := 0
	for i := range b.Cols {
		long += longKeys(&b.Cols[i])
	}
	return a.change(int64(long))
}

// passing returns in sel the physical indexes of the live rows of b for which pass is true; the account counts the keys that pass makes of them.
func (a *account) passing(sel []uint16, b *types.Batch, pass func(*types.Batch, int) (bool, error)) ([]uint16, error) {
	if err := a.rowKeys(b); err != nil {
		return nil, err
	}
	sel = sel[:0]
	for i, n := 0, b.Rows(); i < n; i++ {
		row := b.Row(i)
		ok, err := pass(b, row)
		if err != nil {
			return nil, err
		}
		if ok {
			sel = append(sel, uint16(row))
		}
	}
	return sel, nil
}

// close gives back what the keys took.
func (k *keyer) close() { k.mem.close() }

// append appends the key of physical row i. Those of long texts take so long that the interrupt is polled meanwhile.
func (k *keyer) append(dst []byte, i int) ([]byte, error) {
	if k.long {
		return k.appendLong(dst, i)
	}
	for c, v := range k.vecs {
		x := v.Value(i)
		if k.lengths != nil && k.lengths[c] {
			dst = k.appendDocument(dst, x, c)
			continue
		}
		dst = types.AppendKey(dst, x, &v.Type, k.desc[c], 0)
	}
	return dst, nil
}

func (k *keyer) appendLong(dst []byte, i int) (_ []byte, err error) {
	for c, v := range k.vecs {
		if k.lengths != nil && k.lengths[c] {
			dst = k.appendDocument(dst, v.Value(i), c)
			continue
		}
		if dst, err = types.AppendKeyPolled(dst, v.Value(i), &v.Type, k.desc[c], 0, k.ctx.Poll); err != nil {
			return dst, err
		}
	}
	return dst, nil
}

// appendDocument appends the key of a JSON value in ORDER BY.
func (k *keyer) appendDocument(dst []byte, x types.Value, c int) []byte {
	dst, scalar := types.AppendJSONOrderKey(dst, x, k.desc[c])
	if !scalar && !k.warned {
		k.ctx.Warn(types.LevelWarning, types.ErNotSupportedYet, "sorting of non-scalar JSON values")
		k.warned = true
	}
	return dst
}

// hasNull reports whether one of the key's values in physical row i is NULL.
func (k *keyer) hasNull(i int) bool {
	if !k.nulls {
		return false
	}
	for _, v := range k.vecs {
		if v.IsNull(i) {
			return true
		}
	}
	return false
}

// appendValues appends the key's values of physical row i in the row codec.
func (k *keyer) appendValues(dst []byte, i int) []byte {
	for _, v := range k.vecs {
		x := v.Value(i)
		dst = appendValue(dst, &x)
	}
	return dst
}

// appendKey is types.AppendKey of row i of v as a value of type t, for which the interrupt is polled where it may be long.
func (rt *Runtime) appendKey(dst []byte, v *types.Vector, i int, t *types.Type) ([]byte, error) {
	if len(v.Data) < keyLong {
		return types.AppendKey(dst, v.Value(i), t, false, 0), nil
	}
	return types.AppendKeyPolled(dst, v.Value(i), t, false, 0, rt.Ctx.Poll)
}

// appendRowKey appends an order key of all columns of physical row i of b.
func (rt *Runtime) appendRowKey(dst []byte, b *types.Batch, i int) (_ []byte, err error) {
	for c := range b.Cols {
		v := &b.Cols[c]
		if dst, err = rt.appendKey(dst, v, i, &v.Type); err != nil {
			return dst, err
		}
	}
	return dst, nil
}
