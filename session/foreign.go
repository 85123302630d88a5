package session

import (
	"github.com/pandodb/pando/catalog"
	"github.com/pandodb/pando/ddl"
	"github.com/pandodb/pando/privilege"
	"github.com/pandodb/pando/syntax"
	"github.com/pandodb/pando/types"
)

// columnForeign takes the REFERENCES clause out of a column's definition, which means what a foreign key of this column alone does, as in
// MySQL 9: 8.0 ignores it.
func columnForeign(def *syntax.ColumnDef) (*syntax.ColumnDef, *syntax.KeyDef) {
	var key *syntax.KeyDef
	rest := *def
	rest.Options = nil
	for _, o := range def.Options {
		if o.Kind != syntax.ColReferences {
			rest.Options = append(rest.Options, o)
			continue
		}
		key = &syntax.KeyDef{Pos: o.Pos, Kind: syntax.KeyForeign, Parts: []syntax.KeyPart{{Column: def.Name, Length: -1}}, Ref: o.Ref}
	}
	return &rest, key
}

// foreignSpec reads a foreign key of table of, and the index that goes with it unless another one serves.
func (s *Session) foreignSpec(of ddl.Name, def *syntax.KeyDef) (key ddl.ForeignKeySpec, index ddl.IndexSpec, err error) {
	index = ddl.IndexSpec{Name: def.Name, Generated: true}
	if def.Constraint != "" {
		key.Name, index.Name = def.Constraint, def.Constraint
	}
	for _, part := range def.Parts {
		if part.Expr != nil || part.Length >= 0 {
			return key, index, types.Errorf(types.ErCannotAddForeign)
		}
		key.Columns = append(key.Columns, part.Column.Name)
		index.Columns = append(index.Columns, ddl.IndexColumnSpec{Column: part.Column.Name})
	}
	key.Parent = catalog.TableName{Schema: firstOf(def.Ref.Table.Schema, of.Schema), Name: def.Ref.Table.Name}
	for _, part := range def.Ref.Columns {
		key.RefColumns = append(key.RefColumns, part.Column.Name)
	}
	key.OnDelete, _ = catalog.RefActionNamed(def.Ref.OnDelete) // the grammar knows no others
	key.OnUpdate, _ = catalog.RefActionNamed(def.Ref.OnUpdate)
	if def.Ref.Match != "SIMPLE" {
		key.Match = def.Ref.Match
	}
	return key, index, nil
}

// addForeign adds a foreign key to CREATE TABLE.
func (s *Session) addForeign(spec *ddl.TableSpec, def *syntax.KeyDef) error {
	key, index, err := s.foreignSpec(spec.Name, def)
	spec.ForeignKeys = append(spec.ForeignKeys, key)
	spec.Indexes = append(spec.Indexes, index)
	return err
}

// foreignActions returns the actions of ALTER TABLE … ADD FOREIGN KEY.
func (s *Session) foreignActions(of ddl.Name, def *syntax.KeyDef) ([]ddl.AlterSpec, error) {
	key, index, err := s.foreignSpec(of, def)
	return []ddl.AlterSpec{ddl.AddIndex{Index: index}, ddl.AddForeignKey{Key: key}}, err
}

// foreignReferences lists the tables that the foreign keys among elements refer to.
func foreignReferences(elements []syntax.TableElement) (refs []*syntax.References) {
	for _, element := range elements {
		switch element := element.(type) {
		case *syntax.KeyDef:
			if element.Ref != nil {
				refs = append(refs, element.Ref)
			}
		case *syntax.ColumnDef:
			if _, key := columnForeign(element); key != nil {
				refs = append(refs, key.Ref)
			}
		}
	}
	return refs
}

// alterReferences is foreignReferences for ALTER TABLE.
func alterReferences(specs []syntax.AlterSpec) (refs []*syntax.References) {
	for i := range specs {
		refs = append(refs, foreignReferences(specs[i].Elements)...)
		if key := specs[i].Key; key != nil && key.Ref != nil {
			refs = append(refs, key.Ref)
		}
		for j := range specs[i].Columns {
			if _, key := columnForeign(&specs[i].Columns[j]); key != nil {
				refs = append(refs, key.Ref)
			}
		}
	}
	return refs
}

// requireOnParents requires REFERENCES on the tables that foreign keys of a table refer to, but for itself.
func (s *Session) requireOnParents(child syntax.ObjectName, refs []*syntax.References) error {
	if len(refs) == 0 {
		return nil
	}
	own, err := s.name(child)
	if err != nil {
		return err
	}
	for _, ref := range refs {
		schema := firstOf(ref.Table.Schema, own.Schema)
		if schema == own.Schema && ref.Table.Name == own.Table {
			continue
		}
		if err := s.require(privilege.References, schema, ref.Table.Name); err != nil {
			return err
		}
	}
	return nil
}
