package wire

import (
	"unsafe"

	"github.com/pandodb/pando/sqlapi"
	"github.com/pandodb/pando/types"
)

// paramCountAvailable is the flag of COM_STMT_EXECUTE that says that the packet holds a number of parameters, even if the statement has none.
const paramCountAvailable = 8

// What one attribute and one parameter of a command take besides their bytes in the packet.
const (
	attributeBytes = int(unsafe.Sizeof(sqlapi.Attribute{})) + 2
	argBytes       = int(unsafe.Sizeof(types.Value{}))
)

// attributes are the query attributes of the current command. Both slices are reused by the next one.
type attributes struct {
	list  []sqlapi.Attribute
	types []uint16
}

// attributedQuery runs a COM_QUERY. Clients with CLIENT_QUERY_ATTRIBUTES put their attributes in front of the text.
func (c *conn) attributedQuery(body []byte) bool {
	if c.caps&capQueryAttributes == 0 {
		return c.query(body)
	}
	if len(body) >= 2 && body[0] == 0 && body[1] == 1 { // none, as nearly always
		return c.query(body[2:])
	}
	p := cursor{b: body}
	n := p.lenenc()
	err := errMalformed
	if sets := p.lenenc(); !p.bad && sets == 1 && n <= stmtParamsMax {
		err = c.attrs.parse(&p, int(n), c.sess.ParamCollation(), &c.held)
	}
	if err != nil {
		c.releaseArgs()
		if err == errMalformed { // the connection goes on, as in MySQL: some connectors encode a NULL attribute wrongly
			err = types.Errorf(types.ErMalformedPacket)
		}
		return c.fail(err)
	}
	c.sess.SetAttributes(c.attrs.list)
	keep := c.query(p.b)
	c.sess.SetAttributes(nil)
	c.releaseArgs()
	return keep
}

// parse reads n attributes.
func (a *attributes) parse(p *cursor, n int, coll types.CollationID, held *held) error {
	if n == 0 {
		return nil
	}
	nulls := p.take((n + 7) / 8)
	if p.uint8() != 1 || p.bad {
		return errMalformed
	}
	if err := a.names(p, n, 0, held); err != nil {
		return err
	}
	return a.values(p, nulls, 0, coll)
}

// names reads the types and names of n attributes, and charges for them and for own parameters, which take many times what they do in the packet.
func (a *attributes) names(p *cursor, n, own int, held *held) error {
	if n > len(p.b)/3 { // each takes that at least: n is only what the client announced, and must not decide how much is allocated (W2)
		return errMalformed
	}
	if err := held.set(heldArgs, n*attributeBytes+own*argBytes); err != nil {
		return err
	}
	if n > cap(a.list) && n > argsKeepMax { // growing, it would leave several times its size behind
		a.list, a.types = make([]sqlapi.Attribute, 0, n), make([]uint16, 0, n)
	}
	for range n {
		typ, name := p.uint16(), p.lenencBytes()
		if p.bad {
			return errMalformed
		}
		a.list, a.types = append(a.list, sqlapi.Attribute{Name: name}), append(a.types, typ)
	}
	return nil
}

// values reads the attributes' values, which follow those of the statement's own parameters, own of them.
func (a *attributes) values(p *cursor, nulls []byte, own int, coll types.CollationID) (err error) {
	for i := range a.list {
		at := own + i
		if a.list[i].Value, err = decodeParam(p, a.types[i], nulls[at>>3]>>(at&7)&1 != 0, coll); err != nil {
			return err
		}
	}
	return nil
}

// releaseArgs forgets the parameters and the attributes of the command.
func (c *conn) releaseArgs() {
	c.args.release()
	c.attrs.release()
	_ = c.held.set(heldArgs, 0) // giving back never fails
}

// release forgets the attributes, so that an idle connection does not keep a large packet alive, and their slices if they were many.
func (a *attributes) release() {
	clear(a.list)
	a.list, a.types = a.list[:0], a.types[:0]
	if cap(a.list) > argsKeepMax {
		*a = attributes{}
	}
}

// parseArgs reads what follows the iteration count of a COM_STMT_EXECUTE: the statement's parameters, and the attributes if the client sends any.
func (c *conn) parseArgs(s *stmt, body []byte, flags byte) error {
	coll := c.sess.ParamCollation()
	if c.caps&capQueryAttributes == 0 {
		return s.parseArgs(&c.args, body, coll, &c.held)
	}
	own := int(s.params)
	c.args.Values = c.args.Values[:0]
	if own == 0 && flags&paramCountAvailable == 0 {
		return nil
	}
	p := cursor{b: body}
	total := p.lenenc()
	if p.bad || total < uint64(own) || total > stmtParamsMax {
		return errMalformed
	}
	n := int(total)
	if n == 0 {
		return nil
	}
	nulls := p.take((n + 7) / 8)
	newTypes := p.uint8()
	if p.bad || newTypes > 1 || newTypes == 0 && (!s.bound || n > own) { // attributes come with their types
		return errMalformed
	}
	if newTypes == 1 {
		for i := range own {
			s.types[i] = p.uint16()
			p.lenencBytes() // a name, which means nothing
		}
		if p.bad {
			return errMalformed
		}
		if err := c.attrs.names(&p, n-own, own, &c.held); err != nil {
			return err
		}
		s.bound = true
	}
	if err := s.values(&p, nulls, &c.args, coll, &c.held); err != nil {
		return err
	}
	return c.attrs.values(&p, nulls, own, coll)
}
