package syntax

import "strings"

// account parses user[@host] or CURRENT_USER[()].
func (p *parser) account() Account {
	a := Account{Pos: p.pos()}
	if p.acceptKw(kwCurrentUser) {
		a.Current = true
		if p.accept(tLParen) {
			p.expect(tRParen)
			a.Parens = true
		}
		return a
	}
	if p.isWord("USER") && p.peek(1).kind == tLParen {
		p.next()
		p.next()
		p.expect(tRParen)
		a.Current, a.Parens, a.UserFunc = true, true, true
		return a
	}
	if p.is(tString) {
		// Unlike other names, that of a user may be empty: the anonymous account.
		a.User = stringValue(p.sql, p.next(), 0, p.lex.escapes)
	} else {
		a.User = p.nameOrString()
	}
	if p.is(tUserVar) {
		a.HasHost = true
		a.Host = userVarName(p.sql, p.next(), p.lex.escapes)
	}
	return a
}

// accounts parses a list of accounts or roles.
func (p *parser) accounts() []Account {
	list := []Account{p.account()}
	for p.accept(tComma) {
		list = append(list, p.account())
	}
	return list
}

// createUser parses CREATE USER and ALTER USER after the word USER.
func (p *parser) createUser(pos Pos, alter bool) Statement {
	p.next()
	s := &CreateUser{Pos: pos, Alter: alter}
	if alter {
		s.IfExists = p.ifExists()
	} else {
		s.IfExists = p.ifNotExists()
	}
	for {
		s.Users = append(s.Users, p.userSpec(alter))
		if !p.accept(tComma) {
			break
		}
	}
	if p.acceptWords("DEFAULT", "ROLE") {
		d := p.setRole(Pos(p.prevEnd))
		s.DefaultRole = &SetDefaultRole{Pos: d.Pos, Kind: d.Kind, Roles: d.Roles}
	}
	if p.acceptKw(kwRequire) {
		s.HasRequire = true
		s.Require, s.RequireNone = p.requirements()
	}
	if p.acceptKw(kwWith) {
		s.HasResources = true
		for {
			w := p.oneOf("MAX_QUERIES_PER_HOUR", "MAX_UPDATES_PER_HOUR", "MAX_CONNECTIONS_PER_HOUR",
				"MAX_USER_CONNECTIONS")
			if w == "" {
				break
			}
			s.Resources = append(s.Resources, UserOption{Kind: w, Value: p.number()})
		}
	}
	for {
		o, ok := p.userOption()
		if !ok {
			return s
		}
		s.Options = append(s.Options, o)
	}
}

// requirements parses NONE, or TLS demands.
func (p *parser) requirements() (list []RequireOption, none bool) {
	if p.acceptWord("NONE") {
		return nil, true
	}
	for {
		r := RequireOption{And: len(list) > 0 && p.acceptKw(kwAnd)}
		r.Kind = p.oneOf("SSL", "X509", "CIPHER", "ISSUER", "SUBJECT")
		switch r.Kind {
		case "":
			if r.And || len(list) == 0 {
				p.fail()
			}
			return list, false
		case "CIPHER", "ISSUER", "SUBJECT":
			r.Value = p.stringLiteral()
		}
		list = append(list, r)
	}
}

// userOption parses one PASSWORD, ACCOUNT, COMMENT or lock option.
func (p *parser) userOption() (o UserOption, ok bool) {
	switch {
	case p.acceptWord("ACCOUNT"):
		o.Kind = "ACCOUNT " + p.needOneOf("LOCK", "UNLOCK")
	case p.isWord("COMMENT"), p.isWord("ATTRIBUTE"):
		o.Kind = p.oneOf("COMMENT", "ATTRIBUTE")
		o.Value = p.stringLiteral()
	case p.isWord("FAILED_LOGIN_ATTEMPTS"):
		p.next()
		o.Kind, o.Value = "FAILED_LOGIN_ATTEMPTS", p.number()
	case p.acceptWord("PASSWORD_LOCK_TIME"):
		o.Kind = "PASSWORD_LOCK_TIME"
		if p.acceptWord("UNBOUNDED") {
			o.Tail = "UNBOUNDED"
		} else {
			o.Value = p.number()
		}
	case p.acceptWord("PASSWORD"):
		p.passwordOption(&o)
	default:
		return o, false
	}
	return o, true
}

// passwordOption parses what follows PASSWORD.
func (p *parser) passwordOption(o *UserOption) {
	switch w := p.needOneOf("EXPIRE", "HISTORY", "REUSE", "REQUIRE"); w {
	case "EXPIRE":
		o.Kind = "PASSWORD EXPIRE"
		if w := p.oneOf("DEFAULT", "NEVER"); w != "" {
			o.Tail = w
		} else if p.acceptKw(kwInterval) {
			o.Kind += " INTERVAL"
			o.Value = p.number()
			p.expectWord("DAY")
			o.Tail = "DAY"
		}
	case "HISTORY":
		o.Kind = "PASSWORD HISTORY"
		if p.acceptKw(kwDefault) {
			o.Tail = "DEFAULT"
		} else {
			o.Value = p.number()
		}
	case "REUSE":
		p.expectKw(kwInterval)
		o.Kind = "PASSWORD REUSE INTERVAL"
		if p.acceptKw(kwDefault) {
			o.Tail = "DEFAULT"
		} else {
			o.Value = p.number()
			p.expectWord("DAY")
			o.Tail = "DAY"
		}
	case "REQUIRE":
		p.expectWord("CURRENT")
		o.Kind = "PASSWORD REQUIRE CURRENT"
		o.Tail = p.oneOf("DEFAULT", "OPTIONAL")
	}
}

// userSpec parses an account with its authentication.
func (p *parser) userSpec(alter bool) UserSpec {
	u := UserSpec{Account: p.account()}
	if alter && p.acceptWords("DISCARD", "OLD", "PASSWORD") {
		u.Discard = true
		return u
	}
	if alter && (p.isKw(kwAdd) || p.isKw(kwDrop) || p.isWord("MODIFY") || p.is(tInt)) {
		u.Factors = p.loose(p.pos(), "FACTOR")
		return u
	}
	for p.isWord("IDENTIFIED") {
		u.Auth = append(u.Auth, p.authOption())
		if !p.isKw(kwAnd) || !p.tokenIs(p.peek(1), "IDENTIFIED") {
			break
		}
		p.next()
	}
	return u
}

// authOption parses IDENTIFIED ....
func (p *parser) authOption() AuthOption {
	p.next()
	var a AuthOption
	if p.acceptKw(kwWith) {
		a.HasWith, a.PluginStr = true, p.is(tString)
		a.Plugin = p.nameOrString()
		if p.acceptKw(kwAs) {
			a.As = p.authText()
			return a
		}
	}
	if p.isKw(kwBy) {
		p.next()
		switch {
		case p.acceptWords("RANDOM", "PASSWORD"):
			a.Random = true
		default:
			a.ByWord = p.acceptWord("PASSWORD")
			a.By = p.authText()
		}
	} else if !a.HasWith {
		p.fail()
	}
	if p.isKw(kwReplace) {
		p.next()
		a.Replace = p.stringLiteral()
	}
	a.Retain = p.acceptWords("RETAIN", "CURRENT", "PASSWORD")
	if p.acceptWords("INITIAL", "AUTHENTICATION", "IDENTIFIED", "BY") {
		a.InitialBy = p.stringLiteral()
	}
	return a
}

// authText parses an authentication string, which may be hexadecimal.
func (p *parser) authText() *Literal { return p.textLiteral().(*Literal) }

// createRole parses CREATE ROLE after the word ROLE.
func (p *parser) createRole(pos Pos) Statement {
	p.next()
	s := &CreateRole{Pos: pos, IfNotExists: p.ifNotExists()}
	s.Roles = p.accounts()
	return s
}

// dropUser parses DROP USER and DROP ROLE.
func (p *parser) dropUser(pos Pos) Statement {
	s := &DropUser{Pos: pos, Role: p.needOneOf("USER", "ROLE") == "ROLE"}
	s.IfExists = p.ifExists()
	s.Users = p.accounts()
	return s
}

// grant parses GRANT and REVOKE.
func (p *parser) grant() Statement {
	s := &Grant{Pos: p.pos(), Revoke: p.isKw(kwRevoke)}
	p.next()
	if s.Revoke {
		s.IfExists = p.ifExists()
	}
	if p.isWord("PROXY") && p.peek(1).kw == kwOn {
		p.next()
		p.next()
		a := p.account()
		s.ProxyUser = &a
		p.grantTail(s)
		return s
	}
	p.grantPrivileges(s)
	switch {
	case s.Roles == nil && p.acceptKw(kwOn):
		p.grantLevel(&s.Level)
	case s.RevokeAll || s.privsAreRoles():
	default:
		p.fail()
	}
	p.grantTail(s)
	return s
}

// privsAreRoles turns plain names without ON into roles.
func (g *Grant) privsAreRoles() bool {
	for _, priv := range g.Privs {
		if priv.Columns != nil || strings.Contains(priv.Name, " ") || IsReserved(priv.Name) {
			return false
		}
		g.Roles = append(g.Roles, Account{User: priv.Name})
	}
	g.Privs, g.IsRole = nil, true
	return true
}

// staticPrivileges are the privileges of more than one word, longest first.
var staticPrivileges = [][]string{
	{"CREATE", "TEMPORARY", "TABLES"}, {"CREATE", "ROUTINE"}, {"CREATE", "VIEW"}, {"CREATE", "USER"},
	{"CREATE", "TABLESPACE"}, {"CREATE", "ROLE"}, {"ALTER", "ROUTINE"}, {"DROP", "ROLE"},
	{"SHOW", "DATABASES"}, {"SHOW", "VIEW"}, {"LOCK", "TABLES"}, {"GRANT", "OPTION"},
	{"REPLICATION", "CLIENT"}, {"REPLICATION", "SLAVE"}, {"ALL", "PRIVILEGES"}, {"ALL"},
	{"ALTER"}, {"CREATE"}, {"DELETE"}, {"DROP"}, {"INDEX"}, {"INSERT"}, {"REFERENCES"}, {"SELECT"},
	{"TRIGGER"}, {"UPDATE"}, {"USAGE"},
}

// grantPrivileges parses the list before ON, TO or FROM.
func (p *parser) grantPrivileges(s *Grant) {
	for {
		if a, ok := p.qualifiedRole(); ok {
			s.Roles, s.IsRole = append(s.Roles, a), true
		} else {
			priv := Privilege{Name: p.privilegeName()}
			if p.is(tLParen) {
				priv.Columns = p.parenIdents()
			}
			if s.IsRole {
				s.Roles = append(s.Roles, Account{User: priv.Name})
			} else {
				s.Privs = append(s.Privs, priv)
			}
		}
		if !p.accept(tComma) {
			break
		}
	}
	if s.IsRole {
		roles := s.Roles
		s.Roles = nil
		if !s.privsAreRoles() {
			p.fail()
		}
		s.Roles = append(s.Roles, roles...)
		return
	}
	if s.Revoke && p.isKw(kwFrom) && len(s.Privs) == 2 && s.Privs[1].Name == "GRANT OPTION" {
		s.AllWord = s.Privs[0].Name == "ALL PRIVILEGES"
		s.RevokeAll = s.AllWord || s.Privs[0].Name == "ALL"
	}
}

// qualifiedRole parses role@host.
func (p *parser) qualifiedRole() (Account, bool) {
	if p.peek(1).kind != tUserVar {
		return Account{}, false
	}
	return p.account(), true
}

// privilegeName parses a static or dynamic privilege, or the name of a role.
func (p *parser) privilegeName() string {
	for _, words := range staticPrivileges {
		if p.acceptWords(words...) {
			return strings.Join(words, " ")
		}
	}
	return p.nameOrString()
}

// grantLevel parses [TABLE|FUNCTION|PROCEDURE] level.
func (p *parser) grantLevel(l *PrivLevel) {
	l.ObjectType = p.oneOf("TABLE", "FUNCTION", "PROCEDURE")
	if p.accept(tStar) {
		l.AllObjects = true
		if p.accept(tDot) {
			p.expect(tStar)
			l.AllSchemas = true
		}
		return
	}
	l.Name = p.name()
	if p.accept(tDot) {
		l.Schema, l.Name = l.Name, ""
		if l.AllObjects = p.accept(tStar); !l.AllObjects {
			l.Name = p.name()
		}
	}
}

// grantTail parses TO|FROM users and what follows them.
func (p *parser) grantTail(s *Grant) {
	if s.Revoke {
		p.expectKw(kwFrom)
		s.Users = p.accounts()
		s.IgnoreUser = p.acceptWords("IGNORE", "UNKNOWN", "USER")
		return
	}
	p.expectKw(kwTo)
	for {
		u := p.userSpec(false)
		s.Users = append(s.Users, u.Account)
		s.Specs = append(s.Specs, u)
		if !p.accept(tComma) {
			break
		}
	}
	if !hasAuth(s.Specs) {
		s.Specs = nil
	}
	if p.acceptKw(kwRequire) {
		s.Require, _ = p.requirements()
	}
	for p.acceptKw(kwWith) {
		for {
			w := p.oneOf("GRANT", "ADMIN")
			if w == "" {
				break
			}
			p.expectKw(kwOption)
			s.Options = append(s.Options, UserOption{Kind: w + " OPTION"})
		}
	}
	if p.acceptKw(kwAs) {
		a := p.account()
		s.As = &a
		if p.acceptWords("WITH", "ROLE") {
			s.WithRole = p.setRole(a.Pos)
		}
	}
}

// hasAuth reports whether any account came with authentication.
func hasAuth(specs []UserSpec) bool {
	for _, u := range specs {
		if u.Auth != nil {
			return true
		}
	}
	return false
}
