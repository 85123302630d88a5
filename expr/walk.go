package expr

import (
	"bytes"

	"github.com/pandodb/pando/types"
)

// volatileFlags mark expressions whose value may differ between two evaluations in one statement, or whose evaluation must not be skipped.
const volatileFlags = FlagSession | FlagVolatile | FlagSideEffect | FlagOpaque

// IsConst reports whether e consists of constants and parameters only, so that it has the same value for all rows and for all executions with
// equal parameters. Range bounds are built from such expressions.
func IsConst(e Expr) bool { return e.flags&^(FlagParam|FlagTyped) == 0 }

// IsConstInStatement reports whether e has one value during a statement: NOW(), @@x and parameters are allowed, columns and RAND() are not.
func IsConstInStatement(e Expr) bool { return e.flags&(FlagColumn|volatileFlags) == 0 }

// IsDeterministic reports whether two evaluations over the same row within one statement give the same value and
// have no side effects, so that e may be moved, copied or skipped.
func IsDeterministic(e Expr) bool { return e.flags&volatileFlags == 0 }

// IsCacheable reports whether a plan that contains e may be kept in the plan cache.
func IsCacheable(e Expr) bool { return e.flags&FlagTyped == 0 }

// Walk calls visit for e and everything below it, parents first. visit returns false to skip the arguments of a node.
func Walk(e Expr, visit func(Expr) bool) {
	if e == nil || !visit(e) {
		return
	}
	for _, a := range e.args {
		Walk(a, visit)
	}
}

// Columns calls add for every column position that e reads, repeats included.
func Columns(e Expr, add func(idx int)) {
	Walk(e, func(n Expr) bool {
		if n.kind == kindColumn {
			add(n.index)
		}
		return n.flags&FlagColumn != 0
	})
}

// MapColumns returns e with every column position replaced by remap(position). Unchanged parts are shared with e.
func MapColumns(e Expr, remap func(idx int) int) Expr {
	return Replace(e, func(n Expr) Expr {
		if n.kind != kindColumn {
			return nil
		}
		to := remap(n.index)
		if to == n.index {
			return n
		}
		c := *n
		c.index = to
		return &c
	})
}

// Replace returns e with nodes replaced by what swap returns for them, parents first; where swap returns nil it goes on with the arguments.
// A replacement must have the type of what it replaces, because the operators above were compiled for it. Unchanged parts are shared with e.
func Replace(e Expr, swap func(Expr) Expr) Expr {
	if r := swap(e); r != nil {
		return r
	}
	for i, a := range e.args {
		r := Replace(a, swap)
		if r == a {
			continue
		}
		c := *e
		c.args = append([]Expr(nil), e.args...)
		c.args[i] = r
		for j := i + 1; j < len(c.args); j++ {
			c.args[j] = Replace(c.args[j], swap)
		}
		if c.kind == kindCall || c.kind == kindSubquery {
			own := e.flags
			for _, x := range e.args {
				own &^= x.flags
			}
			c.flags = own
			for _, x := range c.args {
				c.flags |= x.flags
			}
		}
		return &c
	}
	return e
}

// SplitAnd appends the conjuncts of e to dst.
func SplitAnd(dst []Expr, e Expr) []Expr {
	if e == nil {
		return dst
	}
	if e.IsCall("and") {
		for _, a := range e.args {
			dst = SplitAnd(dst, a)
		}
		return dst
	}
	return append(dst, e)
}

// JoinAnd is the opposite of SplitAnd; it returns nil for no conjuncts.
func JoinAnd(b *BuildContext, conjuncts []Expr) (Expr, error) {
	switch len(conjuncts) {
	case 0:
		return nil, nil
	case 1:
		return conjuncts[0], nil
	}
	return Call(b, "and", conjuncts...)
}

// Unwrap returns e without the conversions around it that are not in the SQL text.
func Unwrap(e Expr) Expr {
	for e.hidden && len(e.args) > 0 {
		e = e.args[0]
	}
	return e
}

// hashLevels is how many levels below an expression Hash reads, so that hashing every part of an expression takes time linear in its size.
const hashLevels = 8

// Hash returns the FNV-1a hash of e's shape, names and constants. Expressions that are Equal have the same hash.
func Hash(e Expr) uint64 { return hashTo(14695981039346656037, e, hashLevels) }

func hashTo(h uint64, e Expr, levels int) uint64 {
	const prime = 1099511628211 // FNV
	for _, n := range [...]uint64{uint64(e.kind), uint64(e.index), uint64(len(e.args)), uint64(e.value.K), uint64(e.value.N)} {
		h = (h ^ n) * prime
	}
	for i := range len(e.name) {
		h = (h ^ uint64(e.name[i])) * prime
	}
	for _, c := range e.value.B {
		h = (h ^ uint64(c)) * prime
	}
	for _, a := range e.args {
		if levels > 0 {
			h = hashTo(h, a, levels-1)
		}
	}
	return h
}

// Equal reports whether a and b are the same expression: same shape, types, constants and columns. An expression that is
// not deterministic is equal only to itself.
func Equal(a, b Expr) bool {
	if a == b {
		return true
	}
	if a == nil || b == nil || a.kind != b.kind || a.name != b.name || a.index != b.index || len(a.args) != len(b.args) ||
		a.flags != b.flags || !IsDeterministic(a) || !a.typ.Equal(&b.typ) || !sameValue(&a.value, &b.value) || !sameAux(a, b) {
		return false
	}
	for i := range a.args {
		if !Equal(a.args[i], b.args[i]) {
			return false
		}
	}
	return true
}

func sameValue(a, b *types.Value) bool {
	return a.K == b.K && a.N == b.N && a.Scale == b.Scale && a.Coll == b.Coll && bytes.Equal(a.B, b.B)
}

// Resembles reports whether e is the same expression as stored but for parameters where stored has constants, so that it may be equal to it
// once they have values. Types are not compared.
func Resembles(e, stored Expr) bool {
	if e.kind == kindParam && stored.kind == kindConst {
		return true
	}
	if e.kind != stored.kind || e.name != stored.name || e.index != stored.index || len(e.args) != len(stored.args) {
		return false
	}
	if e.kind == kindConst && !sameValue(&e.value, &stored.value) {
		return false
	}
	for i := range e.args {
		if !Resembles(e.args[i], stored.args[i]) {
			return false
		}
	}
	return true
}
