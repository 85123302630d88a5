package syntax

// user appends a statement on accounts and privileges, or returns false.
func (p *printer) user(s Statement) bool {
	switch s := s.(type) {
	case *SetPassword:
		p.k("SET PASSWORD")
		if s.For != nil {
			p.k("FOR")
			p.account(*s.For)
		}
		p.when(s.Random, "TO RANDOM")
		p.optLit("=", s.Password)
		p.optLit("REPLACE", s.Replace)
		p.when(s.Retain, "RETAIN CURRENT PASSWORD")
	case *SetRole:
		p.k("SET ROLE", s.Kind)
		p.accounts(s.Roles)
	case *SetDefaultRole:
		p.k("SET DEFAULT ROLE", s.Kind)
		p.accounts(s.Roles)
		p.k("TO")
		p.accounts(s.To)
	case *CreateUser:
		p.createUser(s)
	case *DropUser:
		p.k("DROP")
		if s.Role {
			p.k("ROLE")
		} else {
			p.k("USER")
		}
		p.when(s.IfExists, "IF EXISTS")
		p.accounts(s.Users)
	case *RenameUser:
		p.k("RENAME USER")
		p.list(len(s.Pairs), func(i int) {
			p.account(s.Pairs[i].From)
			p.k("TO")
			p.account(s.Pairs[i].To)
		})
	case *CreateRole:
		p.k("CREATE ROLE")
		p.when(s.IfNotExists, "IF NOT EXISTS")
		p.accounts(s.Roles)
	case *Grant:
		p.grant(s)
	default:
		return false
	}
	return true
}

// createUser appends CREATE USER and ALTER USER.
func (p *printer) createUser(s *CreateUser) {
	if s.Alter {
		p.k("ALTER USER")
		p.when(s.IfExists, "IF EXISTS")
	} else {
		p.k("CREATE USER")
		p.when(s.IfExists, "IF NOT EXISTS")
	}
	p.userSpecs(s.Users)
	if d := s.DefaultRole; d != nil {
		p.k("DEFAULT ROLE", d.Kind)
		p.accounts(d.Roles)
	}
	p.requirements(s.Require, s.RequireNone)
	p.when(s.HasResources, "WITH")
	p.userOptions(s.Resources)
	p.userOptions(s.Options)
}

// requirements appends REQUIRE.
func (p *printer) requirements(l []RequireOption, none bool) {
	p.when(none, "REQUIRE NONE")
	p.when(l != nil, "REQUIRE")
	for _, r := range l {
		p.when(r.And, "AND")
		p.k(r.Kind)
		p.optLit("", r.Value)
	}
}

// userOptions appends options of accounts.
func (p *printer) userOptions(l []UserOption) {
	for _, o := range l {
		p.k(o.Kind)
		p.optLit("", o.Value)
		p.k(o.Tail)
	}
}

// userSpecs appends accounts with their authentication.
func (p *printer) userSpecs(l []UserSpec) {
	p.list(len(l), func(i int) {
		p.account(l[i].Account)
		p.when(l[i].Discard, "DISCARD OLD PASSWORD")
		if l[i].Factors != nil {
			p.loose(l[i].Factors)
		}
		for j := range l[i].Auth {
			p.when(j > 0, "AND")
			p.authOption(&l[i].Auth[j])
		}
	})
}

// authOption appends IDENTIFIED ....
func (p *printer) authOption(a *AuthOption) {
	p.k("IDENTIFIED")
	if a.HasWith {
		p.k("WITH")
		if a.PluginStr {
			p.str(a.Plugin)
		} else {
			p.id(a.Plugin)
		}
	}
	p.optLit("AS", a.As)
	p.when(a.Random, "BY RANDOM PASSWORD")
	if a.By != nil {
		p.k("BY")
		p.when(a.ByWord, "PASSWORD")
		p.expr(a.By)
	}
	p.optLit("REPLACE", a.Replace)
	p.when(a.Retain, "RETAIN CURRENT PASSWORD")
	p.optLit("INITIAL AUTHENTICATION IDENTIFIED BY", a.InitialBy)
}

// grant appends GRANT and REVOKE.
func (p *printer) grant(s *Grant) {
	to := "TO"
	if s.Revoke {
		p.k("REVOKE")
		p.when(s.IfExists, "IF EXISTS")
		to = "FROM"
	} else {
		p.k("GRANT")
	}
	switch {
	case s.ProxyUser != nil:
		p.k("PROXY ON")
		p.account(*s.ProxyUser)
	case s.IsRole:
		p.accounts(s.Roles)
	default:
		p.list(len(s.Privs), func(i int) {
			p.privilege(s.Privs[i].Name)
			if s.Privs[i].Columns != nil {
				p.parenIdents(s.Privs[i].Columns)
			}
		})
		if !s.RevokeAll {
			p.k("ON")
			p.privLevel(&s.Level)
		}
	}
	p.k(to)
	if s.Specs != nil {
		p.userSpecs(s.Specs)
	} else {
		p.accounts(s.Users)
	}
	p.when(s.IgnoreUser, "IGNORE UNKNOWN USER")
	p.requirements(s.Require, false)
	p.when(s.Options != nil, "WITH")
	p.userOptions(s.Options)
	if s.As != nil {
		p.k("AS")
		p.account(*s.As)
	}
	if s.WithRole != nil {
		p.k("WITH ROLE", s.WithRole.Kind)
		p.accounts(s.WithRole.Roles)
	}
}

// privilege appends the name of a privilege, quoted if it is no word.
func (p *printer) privilege(name string) {
	for i := 0; i < len(name); i++ {
		if name[i] != ' ' && charClass[name[i]]&classIdent == 0 {
			p.id(name)
			return
		}
	}
	p.k(name)
}

// privLevel appends what a privilege applies to.
func (p *printer) privLevel(l *PrivLevel) {
	p.k(l.ObjectType)
	switch {
	case l.AllSchemas:
		p.k("*.*")
	case l.AllObjects && l.Schema == "":
		p.k("*")
	case l.AllObjects:
		p.id(l.Schema)
		p.raw(".*")
	default:
		p.object(ObjectName{Schema: l.Schema, Name: l.Name})
	}
}
