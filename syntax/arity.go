package syntax

// arity is the number of arguments that a function takes; max -1 is any number.
type arity struct{ min, max int8 }

// grammarCalls holds the functions whose number of arguments is part of MySQL's grammar: a wrong number is a syntax error, while for other functions it
// is 1582, which binding reports. Functions with a special syntax (funcRules) are not among them.
var grammarCalls = map[string]arity{
	"ASCII": {1, 1}, "CHARSET": {1, 1}, "COALESCE": {1, -1}, "COLLATION": {1, 1}, "CURDATE": {0, 0}, "CURRENT_DATE": {0, 0}, "CURRENT_USER": {0, 0},
	"CURTIME": {0, 1}, "DATABASE": {0, 0}, "DATE": {1, 1}, "DAY": {1, 1}, "FORMAT": {2, 3}, "GET_FORMAT": {1, 1}, "HOUR": {1, 1}, "IF": {3, 3}, "INSERT": {4, 4},
	"INTERVAL": {2, -1}, "LEFT": {2, 2}, "LOG": {1, 2}, "MICROSECOND": {1, 1}, "MINUTE": {1, 1}, "MOD": {2, 2}, "MONTH": {1, 1}, "NOW": {0, 1},
	"QUARTER": {1, 1}, "REPEAT": {2, 2}, "REPLACE": {3, 3}, "REVERSE": {1, 1}, "RIGHT": {2, 2}, "ROW_COUNT": {0, 0}, "SCHEMA": {0, 0},
	"SECOND": {1, 1}, "SYSDATE": {0, 1}, "TIME": {1, 1}, "TIMESTAMP": {1, 2}, "TIMESTAMPADD": {2, 2}, "TIMESTAMPDIFF": {2, 2}, "TRUNCATE": {2, 2},
	"USER": {0, 0}, "UTC_DATE": {0, 0}, "UTC_TIME": {0, 1}, "UTC_TIMESTAMP": {0, 1}, "WEEK": {1, 2}, "YEAR": {1, 1},
}

// arityOf returns the number of arguments that the grammar demands; ruled is false if it demands none.
func arityOf(name string) (a arity, ruled bool) {
	var upper [funcNameMax]byte
	if len(name) > len(upper) {
		return arity{0, -1}, false
	}
	for i := 0; i < len(name); i++ {
		upper[i] = name[i]
		if c := name[i]; c >= 'a' && c <= 'z' {
			upper[i] = c - ('a' - 'A')
		}
	}
	if a, ok := grammarCalls[string(upper[:len(name)])]; ok {
		return a, true
	}
	return arity{0, -1}, false
}

// counted parses the arguments of a call and fails at the first that is missing or too many. If call is not nil, arguments may have aliases: the
// grammar accepts them because loadable functions take them, and binding refuses them.
func (p *parser) counted(a arity, call *FuncCall) []Expr {
	if p.is(tRParen) && a.min == 0 {
		return nil
	}
	if a.max == 0 {
		p.fail()
	}
	base := len(p.slab.scratch)
	n := 0
	for {
		x := p.expr()
		p.slab.scratch = append(p.slab.scratch, x)
		if call != nil && (p.acceptKw(kwAs) || p.isIdent() || p.is(tString)) {
			if !p.isIdent() && !p.is(tString) {
				p.fail()
			}
			p.aliasName()
			call.Aliased = true
		}
		if n++; n == int(a.max) && p.is(tComma) {
			p.fail()
		}
		if !p.accept(tComma) {
			break
		}
	}
	if n < int(a.min) {
		p.fail()
	}
	return p.takeList(base)
}
