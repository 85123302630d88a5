package expr

import (
	"bytes"
	"slices"
	"strconv"
	"unicode"
	"unicode/utf8"

	"github.com/pandodb/pando/types"
)

// jsonFinder is a JSON_SEARCH. It walks through the text of the document.
type jsonFinder struct {
	ctx   *Ctx
	what  func() (*types.Like, error) // what is looked for; nil if that is NULL. It is evaluated for the first string, as in MySQL.
	like  *types.Like
	null  bool                // what is NULL
	coll  types.CollationID   // of like
	one   bool                // stop at the first match
	path  []byte              // to the current value
	found [][]byte            // paths of the matches
	seen  map[string]struct{} // the paths in found
	// been has the positions, in document and search path, at which a ** has been evaluated. Without it, several ** would reach the same value in
	// exponentially many ways.
	been map[string]struct{}
}

// buildJSONSearch is JSON_SEARCH, which compares the texts of the document, in utf8mb4_bin, by LIKE: its pattern decides about case, unless it binds no
// stronger than they do, and may not have another binary collation then.
func buildJSONSearch(b *BuildContext, n *Node) error {
	if err := jsonFn(evalJSONSearch)(b, n); err != nil {
		return err
	}
	texts, pattern := derivation{coll: types.Utf8mb4Bin, coer: CoerCoercible}, b.derive(n.args[2])
	d, ok := texts.merge(pattern)
	if !ok || d.coer == CoerNone {
		return types.Errorf(types.ErCantAggregate2Collations, append(append(texts.shown(), pattern.shown()...), "like")...)
	}
	if d.coll == types.Binary {
		d.coll = types.Utf8mb4Bin
	}
	n.aux = d.coll
	return nil
}

func evalJSONSearch(ctx *Ctx, n *Node, row []types.Value) (types.Value, error) {
	text, ok, err := ctx.documentText(n, 0, row)
	if !ok {
		return types.Null(), err
	}
	all, ok, err := ctx.oneOrAll(n, row)
	if !ok {
		return types.Null(), err
	}
	escape := '\\'
	if len(n.args) > 3 {
		v, err := ctx.text(n.args[3], row)
		if err != nil {
			return v, err
		}
		char, _ := types.JSONText(&v)
		if utf8.RuneCount(char) > 1 {
			return types.Null(), types.Errorf(types.ErWrongArguments, "ESCAPE")
		}
		if len(char) > 0 {
			escape, _ = utf8.DecodeRune(char)
		}
	}
	coll := n.aux.(types.CollationID)
	pattern := func() (*types.Like, error) {
		what, err := ctx.text(n.args[2], row)
		if err != nil || what.IsNull() {
			return nil, err
		}
		return ctx.searchPattern(&what, escape, coll)
	}
	f := &jsonFinder{ctx: ctx, what: pattern, coll: coll, one: !all, path: []byte{'$'}, seen: map[string]struct{}{}}
	var paths [][]pathLeg
	for i := 4; i < len(n.args); i++ { // all are parsed, even if the search ends before the last one
		legs, ok, perr := ctx.path(n, i, row)
		if !ok {
			return types.Null(), perr
		}
		paths = append(paths, legs)
	}
	if len(paths) == 0 {
		err = f.search(text)
	}
	for _, legs := range paths {
		if err != nil || f.enough() {
			break
		}
		f.been = map[string]struct{}{}
		err = f.walk(text, legs)
	}
	if err != nil || len(f.found) == 0 {
		return types.Null(), err
	}
	if len(f.found) == 1 {
		return types.JSON(types.AppendJSONString(nil, f.found[0])), nil
	}
	out := []byte{'['}
	for i, p := range f.found {
		if i > 0 {
			out = append(out, ", "...)
		}
		out = types.AppendJSONString(out, p)
	}
	return types.JSON(append(out, ']')), nil
}

// searchPattern returns what JSON_SEARCH looks for, compiled.
func (ctx *Ctx) searchPattern(what *types.Value, escape rune, coll types.CollationID) (*types.Like, error) {
	pattern := what.B
	if text, ok := types.JSONText(what); ok { // else its bytes
		pattern = text
	}
	pattern, err := ctx.jsonTextIn(coll, pattern)
	if err != nil {
		return nil, err
	}
	return ctx.like(pattern, escape, coll)
}

// errJSONOneOrAll is MySQL's ER_JSON_BAD_ONE_OR_ALL_ARG.
const errJSONOneOrAll = 3154

// oneOrAll evaluates argument 1, which is 'one' or 'all'; ok is false for NULL.
func (ctx *Ctx) oneOrAll(n *Node, row []types.Value) (all, ok bool, err error) {
	v, err := ctx.text(n.args[1], row)
	if err != nil || v.IsNull() {
		return false, false, err
	}
	mode, _ := types.JSONText(&v)
	if all = bytes.EqualFold(mode, []byte("all")); !all && !bytes.EqualFold(mode, []byte("one")) {
		return false, false, types.NewError(errJSONOneOrAll, "The oneOrAll argument to "+n.name+" may take these values: 'one' or 'all'.")
	}
	return all, true, nil
}

// jsonTextIn returns a text of a document in the character set of coll.
func (ctx *Ctx) jsonTextIn(coll types.CollationID, text []byte) ([]byte, error) {
	from, to := types.Utf8mb4Bin.Charset(), coll.Charset()
	if from == to {
		return text, nil
	}
	if !ctx.fits(len(text)) {
		return nil, ctx.failed
	}
	text, _ = types.ConvertCharset(nil, text, from, to)
	return ctx.owned(text), nil
}

func (f *jsonFinder) enough() bool { return f.null || f.one && len(f.found) > 0 }

// search adds the paths of all strings in text that match.
func (f *jsonFinder) search(text []byte) error {
	if err := f.ctx.steps(len(text) + 1); err != nil {
		return err
	}
	if len(text) > 0 && text[0] == '"' {
		if f.like == nil {
			like, err := f.what()
			if f.like, f.null = like, like == nil; like == nil {
				return err
			}
		}
		text, err := f.ctx.jsonTextIn(f.coll, types.UnquoteJSON(text))
		if err != nil {
			return err
		}
		hit, err := f.like.Match(text, f.ctx.Poll)
		if err != nil || !hit {
			return err
		}
		if _, ok := f.seen[string(f.path)]; !ok {
			if !f.ctx.charge(2*len(f.path) + 64) {
				return f.ctx.failed
			}
			f.seen[string(f.path)] = struct{}{}
			f.found = append(f.found, bytes.Clone(f.path))
		}
		return nil
	}
	return f.each(text, func(_ int, value []byte) error { return f.search(value) })
}

// each calls use with each member or element of text and its position, while path leads to it.
func (f *jsonFinder) each(text []byte, use func(i int, value []byte) error) error {
	it := types.NewJSONIter(text)
	for i := 0; !f.enough(); i++ {
		key, value, ok := it.Next()
		if !ok {
			break
		}
		here := len(f.path)
		if key != nil {
			f.path = appendPathMember(f.path, key)
		} else {
			f.path = append(strconv.AppendInt(append(f.path, '['), int64(i), 10), ']')
		}
		err := use(i, value)
		f.path = f.path[:here]
		if err != nil {
			return err
		}
	}
	return nil
}

// walk searches in the values that the path legs matches in text.
func (f *jsonFinder) walk(text []byte, legs []pathLeg) error {
	if err := f.ctx.steps(1); err != nil || f.enough() {
		return err
	}
	if len(legs) == 0 {
		return f.search(text)
	}
	leg, rest := &legs[0], legs[1:]
	if leg.kind == 'e' {
		place := string(strconv.AppendInt(append(slices.Clone(f.path), 0), int64(len(legs)), 10))
		if _, ok := f.been[place]; ok {
			return nil
		}
		if !f.ctx.charge(len(place) + 32) {
			return f.ctx.failed
		}
		f.been[place] = struct{}{}
		if err := f.walk(text, rest); err != nil {
			return err
		}
		return f.each(text, func(_ int, value []byte) error { return f.walk(value, legs) })
	}
	object, array := len(text) > 0 && text[0] == '{', len(text) > 0 && text[0] == '['
	switch leg.kind {
	case '.':
		if !object {
			return nil
		}
		name := appendPathMember(nil, types.AppendJSONString(nil, []byte(leg.key)))
		return f.each(text, func(_ int, value []byte) error {
			if !bytes.HasSuffix(f.path, name) {
				return nil
			}
			return f.walk(value, rest)
		})
	case '*':
		if !object {
			return nil
		}
	default:
		if !array {
			return nil
		}
	}
	from, to := 0, math32Max
	if leg.kind == '[' {
		size := types.JSONLength(text)
		from = at(leg.index, leg.last, size)
		to = from
		if leg.span {
			to = at(leg.to, leg.toEnd, size)
		}
	}
	return f.each(text, func(i int, value []byte) error {
		if i < from || i > to {
			return nil
		}
		return f.walk(value, rest)
	})
}

// math32Max is larger than any position.
const math32Max = 1<<31 - 1

// appendPathMember appends a member with the quoted key to a path. The quotes are left out if the name is an ECMAScript identifier.
func appendPathMember(path, key []byte) []byte {
	path = append(path, '.')
	if name := types.UnquoteJSON(key); isPathName(name) {
		return append(path, name...)
	}
	return append(path, key...)
}

func isPathName(name []byte) bool {
	for i := 0; i < len(name); {
		r, n := utf8.DecodeRune(name[i:])
		if !unicode.IsLetter(r) && r != '_' && r != '$' && (i == 0 || !unicode.In(r, unicode.Nd, unicode.Mn, unicode.Mc, unicode.Pc)) {
			return false
		}
		i += n
	}
	return len(name) > 0
}
