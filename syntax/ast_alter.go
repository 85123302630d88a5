package syntax

// AlterTable is ALTER TABLE with its actions in the order written.
type AlterTable struct {
	Pos   Pos
	Table ObjectName
	Specs []AlterSpec
}

// AlterKind is the kind of an ALTER TABLE action.
type AlterKind uint8

// The actions of ALTER TABLE.
const (
	AlterAddColumn          AlterKind = iota // Columns; Paren when (a int, b int); Place.
	AlterAddKey                              // Key.
	AlterAddCheck                            // Check.
	AlterDropColumn                          // Name.
	AlterDropKey                             // Name; Word INDEX or KEY.
	AlterDropPrimary                         //
	AlterDropForeign                         // Name.
	AlterDropCheck                           // Name; Word CHECK or CONSTRAINT.
	AlterModify                              // Columns[0]; Place.
	AlterChange                              // Name, Columns[0]; Place.
	AlterRenameColumn                        // Name, NewName.
	AlterRenameKey                           // Name, NewName; Word INDEX or KEY.
	AlterRenameTable                         // NewTable; Word TO, AS, = or empty.
	AlterColumnDefault                       // Name; Expr, or DROP DEFAULT when nil.
	AlterColumnVisible                       // Name; Word VISIBLE or INVISIBLE.
	AlterIndexVisible                        // Name; Word VISIBLE or INVISIBLE.
	AlterEnforced                            // Name; Word CHECK or CONSTRAINT; Not.
	AlterConvert                             // Charset, Collate.
	AlterOptions                             // Options.
	AlterOrderBy                             // OrderBy.
	AlterKeys                                // Word ENABLE or DISABLE.
	AlterTablespace                          // Word DISCARD or IMPORT.
	AlterForce                               //
	AlterAlgorithm                           // Word; Equals.
	AlterLock                                // Word; Equals.
	AlterValidation                          // Word WITH or WITHOUT.
	AlterPartitionBy                         // Partition.
	AlterRemovePartitioning                  //
	AlterAddPartition                        // Defs or Number; NoWrite.
	AlterDropPartition                       // Names.
	AlterTruncatePartition                   // Names or All.
	AlterCoalesce                            // Number; NoWrite.
	AlterReorganize                          // Names, Defs; NoWrite.
	AlterExchange                            // Name, NewTable; Word WITH, WITHOUT or empty.
	AlterPartitionOp                         // Word ANALYZE, CHECK, OPTIMIZE, REBUILD, REPAIR, DISCARD, IMPORT; Names or All; Flags.
	AlterSecondary                           // Word SECONDARY_LOAD or SECONDARY_UNLOAD.
)

// AlterSpec is one action of ALTER TABLE; Kind says which fields are used.
type AlterSpec struct {
	Pos         Pos
	Kind        AlterKind
	ColumnWord  bool // The optional word COLUMN was written.
	IfExists    bool // MariaDB's and TiDB's IF [NOT] EXISTS.
	Name        Ident
	NewName     Ident
	NewTable    ObjectName
	Columns     []ColumnDef
	Elements    []TableElement // ADD (a int, key (a)); used instead of Columns when Paren.
	Paren       bool
	Place       ColumnPlace
	Key         *KeyDef
	Check       *CheckDef
	Word        string
	Flags       []string // QUICK, EXTENDED..., TABLESPACE, for partition operations.
	Equals      bool
	Not         bool
	NoWrite     string // NO_WRITE_TO_BINLOG, LOCAL or empty.
	Expr        Expr
	ExprParen   bool
	Default     bool // The word DEFAULT before CHARACTER SET.
	CharsetWord string
	Charset     string
	Collate     string
	Options     []TableOption
	OrderBy     []OrderItem
	Partition   *PartitionBy
	Names       []Ident
	All         bool
	Defs        []PartitionDef
	Number      *Literal
}

// ColumnPlace is FIRST or AFTER column.
type ColumnPlace struct {
	First bool
	After *Ident
}
